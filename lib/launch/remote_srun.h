/* remote_srun.h - hrun_remote_run inside a Slurm allocation (internal) */
#ifndef HRUN_LAUNCH_REMOTE_SRUN_H
#define HRUN_LAUNCH_REMOTE_SRUN_H

#include "launch/launch.h"

/* hrun_remote_run by steps of srun, when this is a Slurm allocation that has all these hosts and srun is in PATH.
 * Result: 1 when it is not, and nothing has been done; else as hrun_remote_run. */
int hrun_remote_srun(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                     struct hrun_error *errors, struct hrun_error *err);

/* Take srun's labels and the shim's folds out of a stream ("03: text." a line, "03: text\" a piece of one, "03: =0" the
 * end with the command's status). */
struct hrun_unfold {
    int n;                      /* tasks */
    struct hrun_buf *outputs;   /* n: what their commands printed */
    int *status;                /* n: how their commands ended; -1: not yet */
    struct hrun_buf line;
};
void hrun_unfold(struct hrun_unfold *u, const char *data, size_t len);

#endif
