/* scratch.h - folders of their own for runs
 *
 * Purpose: what a run writes that only measures is removed with its folder, so the user's folder does not change. A
 * user's run gets a folder if hrun would replace an input file of the user's; what else the run writes is then moved to
 * the user's folder.
 * Invariants: the folder of a measuring run is made beside the working folder (so that "../x" leads to the same file),
 * or in it if that fails; both are on one file system. It is removed when the next one is made and its process is gone,
 * if others cannot rename it, and by the launch's guard if hrun is killed while the job runs. The folder of a user's
 * run is in the working folder, on the same hosts and file system. Only scratch_return empties it: what the run wrote
 * is always there or in the working folder.
 */
#ifndef HRUN_SESSION_SCRATCH_H
#define HRUN_SESSION_SCRATCH_H

#include "session/context.h"

struct scratch {
    char *home;                /* absolute path of the working folder; NULL: runs are made in it */
    char *base;                /* folder that holds the scratch folders */
    char *kept;                /* where the folder of the last failed run is kept; NULL: none is kept */
    int copy;                  /* 1: every file is copied; 0: see scratch_create */
    char *users;               /* of a user's run: the template of its name; nothing is copied. NULL: measures */
};

/* Decide where runs of c->app get their folders, once for many runs; needs cluster and engine. keep = 1: the folder of
 * the last failed run stays as hrun-failed-APP in the working folder. If no folder can be made that all hosts see, home
 * is NULL and *why the reason, which the caller frees. Errors: HRUN_EIO. */
int scratch_find(struct scratch *s, const struct context *c, int keep, char **why, struct hrun_error *err);
/* The same for one run of the user's. */
int scratch_for_user(struct scratch *s, const struct context *c, struct hrun_error *err);
void scratch_release(struct scratch *s);

/* Make an empty folder. Result: its absolute path, which the caller frees; NULL with HRUN_EIO. */
char *scratch_create(const struct scratch *s, struct hrun_error *err);
/* Fill it with the names of the working folder that it does not have. Linked are files above a MiB or beyond 32 MiB in
 * all that the file system cannot clone, hidden folders, and folders beyond the first thousand names; the rest is
 * copied. With copy = 1 only what is neither file nor folder is linked. Errors: HRUN_EIO. */
int scratch_fill(const struct scratch *s, const char *folder, struct hrun_error *err);
/* Move what a user's run has made to the working folder: all but links and inputs, which are names in the folder. Then
 * remove the folder. Errors: HRUN_EIO; the folder stays with the rest. */
int scratch_return(const struct scratch *s, const char *folder, const struct hrun_strvec *inputs,
                   struct hrun_error *err);
/* Keep the folder of a failed run and the end of its output, in place of an earlier one. Result: 1, or 0 if it cannot
 * be kept, or none is to be. */
int scratch_keep(const struct scratch *s, const char *folder, const struct hrun_buf *output,
                 const struct hrun_buf *errors);

#endif
