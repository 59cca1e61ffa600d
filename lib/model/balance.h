/* balance.h - shares of the work by which the slowest process ends as early as may be
 *
 * Purpose: one job spans sub-clusters, and T = max over them of Ti(its share), as in eq. 5 of paper 001. The paper
 * takes the shares as given; here they are chosen. Each process of a part gets the same whole number of units, at least
 * one, and all together get what there is, or a little more: less than a unit for each process of a part that could do
 * with one less.
 * Invariants: exact, no configuration of whole units is quicker; of two that are, the one with fewer units in all.
 */
#ifndef HRUN_MODEL_BALANCE_H
#define HRUN_MODEL_BALANCE_H

#include <stdint.h>

struct hrun_balance_part {
    int64_t n;              /* processes, >= 1 */
    double base_s;          /* a process with u units takes base_s + u unit_s; finite */
    double unit_s;          /* finite, >= 0 */
    int64_t most;           /* so many units fit into its memory, at least 0 */
};

/* Shares of units (>= 1) for v[n] (n >= 1). share[n]: the units of each process of a part. Result: the time of the
 * slowest process; INFINITY, with share untouched, when there are more processes than units or they do not fit. */
double hrun_balance(const struct hrun_balance_part *v, int n, int64_t units, int64_t *share);

#endif
