/* copies.h - runs of one process each at the same time, on many PEs (paper 001, section V.A)
 *
 * Purpose: what a process takes on a host whose PEs are all busy, and runs of several processes whose hosts' other PEs
 * are busy meanwhile. Each copy is a run of its own, in a process of its own.
 * Invariants: none of these processes outlives a call that ends them, nor this process; copies are never recorded one
 * by one.
 */
#ifndef CALIB_COPIES_H
#define CALIB_COPIES_H

#include "runs.h"

#include "session/placement.h"
#include "session/work.h"

/* Run a copy on each of pes[n] of the point's sub-cluster, *r tells of the slowest, or of one that failed, and
 * *slowest which that was (index into pes). Simulated hosts do not disturb each other: there the copies are run a few
 * at a time. 0: they ran, or could not be started (*r tells); -1 with *err. */
int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct work_result *r, int *slowest,
               struct hrun_error *err);

/* Keep pes[n] busy with copies of the point's work until copies_end. Errors: HRUN_EIO, HRUN_ENOMEM. */
struct copies;
struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err);
void copies_end(struct copies *c);

#endif
