/* loaded.h - runs whose processes have a given share of the work, on hosts of which all PEs are kept busy
 *
 * Purpose: a family that tells which points it wants (struct hrun_family, model/model.h) may ask for copies of a run of
 * one process on all PEs of the hosts, and for runs of few processes (paper 001, section IV). Where PEs are cores of
 * one host, processes are spread over four hosts, so that there is one between two others, whose link carries messages
 * both ways, as in a large run; the other PEs of these hosts are kept busy meanwhile (copies.h).
 */
#ifndef CALIB_LOADED_H
#define CALIB_LOADED_H

#include "runs.h"

/* The PEs that a run on npes of them uses, order[npes], ascending: over hosts as above, the slowest known one among
 * them (-1: none is known). */
void loaded_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order);

/* Make a run of point i, which has work, once, and record it. 0: it ran, or could not be started (*r tells how); -1
 * with *err. */
int loaded_run(struct runs *runs, int i, struct work_result *r, struct hrun_error *err);

#endif
