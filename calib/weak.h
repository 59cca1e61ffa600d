/* weak.h - the runs that the family weak is made of (paper 001, section IV)
 *
 * Purpose: for each target size, sub-cluster and number of processes per PE six runs: one process alone on all PEs of
 * the hosts (copies), and 4 and 8 processes, each with two amounts of work, a full and half of it. The length of the
 * messages is that of the target.
 * A full amount is what a process of this sub-cluster would have if it did the target alone, on all the PEs that may be
 * used (or on as many as -n asks for), or what fits into its memory.
 * Where PEs are cores of one host, processes are spread over four hosts, so that there is one between two others, whose
 * link carries messages both ways, as in the target; the other PEs of these hosts are kept busy meanwhile (copies.h).
 */
#ifndef CALIB_WEAK_H
#define CALIB_WEAK_H

#include "runs.h"

/* The points of sub-cluster i with m processes per PE for the sizes of l. What the memory or the mesh is too small for
 * is counted in g. Errors: those of the definition's expressions; HRUN_EINVAL (-n), HRUN_ENOMEM. */
int weak_points(struct context *c, const struct calib_settings *s, const struct lists *l, int i, int m,
                struct campaign *g, struct hrun_error *err);

/* The PEs that a run on npes of them uses, order[npes], ascending: over hosts as above, the slowest known one among
 * them (-1: none is known). */
void weak_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order);

/* Make a run of point i, which has work, once, and record it. 0: it ran, or could not be started (*r tells how); -1
 * with *err. */
int weak_run(struct runs *runs, int i, struct work_result *r, struct hrun_error *err);

#endif
