/* parallel.h - the groups of a campaign at the same time, a worker process for each
 *
 * Purpose: sub-clusters that share nothing need not wait for each other.
 * Invariants:
 *   - a worker makes its runs with runs_make and tells its events through a pipe; only this process prints;
 *   - signals that end or stop a job are passed on to every worker once for each time they come; workers have process
 *     groups of their own, so that a terminal does not signal them a second time;
 *   - no worker outlives this process (then they are killed, and their engines end their runs), nor the call;
 *   - an error of one worker ends the others (SIGTERM); one that dies without a word is reported, the others go on.
 */
#ifndef CALIB_PARALLEL_H
#define CALIB_PARALLEL_H

#include "runs.h"

/* As runs_make for all groups; r->group is not used. *dead: workers that died without a word; said on stderr.
 * Errors: those of runs_make, HRUN_EIO (no process or pipe to be had). */
int parallel_make(struct runs *r, int *dead, struct hrun_error *err);

#endif
