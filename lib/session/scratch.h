/* scratch.h - scratch folders for runs
 *
 * Purpose: a measuring run gets a scratch folder that is removed with all that the run writes, so the user's folder
 * does not change. A user's run gets one if hrun would otherwise replace an input file of the user; all other files
 * that this run writes are then moved to the user's folder.
 * Invariants: the folder of a measuring run is made beside the working folder, so that "../x" is the same file; if this
 * fails, inside. Both are on one file system. If hrun is killed while the job runs, the launch's guard removes the
 * folder, else the next run that makes one (if other users cannot rename it). The folder of a user's run is in the
 * working folder. Only scratch_return empties this folder, so each file that the run wrote is in one of the two.
 */
#ifndef HRUN_SESSION_SCRATCH_H
#define HRUN_SESSION_SCRATCH_H

#include "session/context.h"

struct scratch {
    char *home;                /* absolute path of the working folder; NULL: runs start there, without scratch folder */
    char *base;                /* folder in which the scratch folders are made */
    char *kept;                /* path to which the folder of a failed run is moved; NULL: it is removed */
    int copy;                  /* 1: every file is copied; 0: see scratch_fill */
    char *users;               /* for a user's run: mkdtemp template of the path; no file is copied. NULL: measuring */
};

/* Choose where the measuring runs of c->app get their folders; needs cluster and engine. keep = 1: the folder of the
 * last failed run stays as hrun-failed-APP in the working folder. If no folder can be made that all hosts see, home is
 * NULL and *why the reason, which the caller frees. Errors: HRUN_EIO. */
int scratch_find(struct scratch *s, const struct context *c, int keep, char **why, struct hrun_error *err);
/* Choose where one user's run gets its folder. Errors: HRUN_EIO. */
int scratch_for_user(struct scratch *s, const struct context *c, struct hrun_error *err);
void scratch_release(struct scratch *s);

/* Make an empty folder. Result: its absolute path, which the caller frees; NULL with HRUN_EIO. */
char *scratch_create(const struct scratch *s, struct hrun_error *err);
/* Copy or link the names of the working folder that are not in `folder` yet. Symbolic links are made for hidden
 * folders, for folders after the first thousand names, and for files over 1 MiB or after 32 MiB in all that the file
 * system cannot clone. With copy = 1 all files and folders are copied. Errors: HRUN_EIO. */
int scratch_fill(const struct scratch *s, const char *folder, struct hrun_error *err);
/* Move the files that a user's run wrote from its folder to the working folder, except links and inputs (paths in the
 * folder). Then remove the folder. Errors: HRUN_EIO; the folder and the remaining files stay. */
int scratch_return(const struct scratch *s, const char *folder, const struct hrun_strvec *inputs,
                   struct hrun_error *err);
/* Move the folder of a failed run to s->kept, in place of an earlier one, with the end of its output in two files.
 * Result: 1, or 0 if s->kept is NULL or this fails. */
int scratch_keep(const struct scratch *s, const char *folder, const struct hrun_buf *output,
                 const struct hrun_buf *errors);

#endif
