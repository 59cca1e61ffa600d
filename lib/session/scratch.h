/* scratch.h - folders of their own for runs
 *
 * Purpose: what a run writes that only measures is removed with its folder, and the user's folder stays as it was. A
 * run of the user's has a folder where hrun would write an input over a file of the user's: what else the run writes
 * there is moved to the user's folder.
 * Invariants: the folder of a run that measures stands beside the working folder (so that "../x" leads to the same
 * file), or, where none can be made there, in it; both are on one file system. One whose process is gone is removed
 * when the next one is made, where others cannot rename it, and by the launch's guard when hrun is killed while the job
 * runs. The folder of a user's run stands in the working folder, so hosts, groups and file systems are the same. Only
 * scratch_return empties it: whatever happens, what the run wrote is there or in the working folder.
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

/* Decide where runs of c->app have their folders, once for many runs; needs cluster and engine. keep = 1: that of the
 * last failed run stays as hrun-failed-APP in the working folder. home stays NULL, and *why (the caller frees it; else
 * NULL) says the reason, where no folder can be made that all hosts see. Errors: HRUN_EIO. */
int scratch_find(struct scratch *s, const struct context *c, int keep, char **why, struct hrun_error *err);
/* The same for one run of the user's beside inputs of the user's. */
int scratch_for_user(struct scratch *s, const struct context *c, struct hrun_error *err);
void scratch_release(struct scratch *s);

/* Make an empty folder. Result: its absolute path, which the caller frees, or NULL. Errors: HRUN_EIO. */
char *scratch_create(const struct scratch *s, struct hrun_error *err);
/* Put into it what the working folder has, but for names that it has already. Symbolic links stand for files that are
 * large (above a MiB, or beyond 32 MiB in all) and cannot be cloned by the file system, for hidden folders, and for
 * folders beyond the first thousand names; the rest is copied. With copy only what is no file or folder is linked.
 * Errors: HRUN_EIO. */
int scratch_fill(const struct scratch *s, const char *folder, struct hrun_error *err);
/* Move what a user's run has made to the working folder: all but the links and the inputs, names in the folder. Then
 * the folder is removed. Errors: HRUN_EIO; the rest is still in the folder, which stays. */
int scratch_return(const struct scratch *s, const char *folder, const struct hrun_strvec *inputs,
                   struct hrun_error *err);
/* Keep the folder of a failed run, with the end of its output, in place of the one kept before. Result: 1; 0 when it
 * cannot be kept, or none is to be. */
int scratch_keep(const struct scratch *s, const char *folder, const struct hrun_buf *output,
                 const struct hrun_buf *errors);

#endif
