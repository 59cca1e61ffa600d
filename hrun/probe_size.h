/* probe_size.h - sizes that are small, and that the rule accepts with given numbers of processes; of hrun/probe.c
 *
 * Invariant: a search looks at a bounded number of sizes, whatever the rule.
 */
#ifndef HRUN_PROBE_SIZE_H
#define HRUN_PROBE_SIZE_H

#include "session/decide.h"

/* Is (N, P) accepted by the rule, and does a process of it fit on each PE that may be used? 1, 0, or -1. */
int probe_size_accepts(const struct context *c, const struct decision *d, int64_t N, int P, struct hrun_error *err);

/* The first size from..to at which P and Q processes (Q = 0: P alone) are accepted: first one that both divide, of
 * those near `from`, then any near it, then doublings of it and what halving d->N gives. 1 with *N, 0: none was found,
 * or -1. */
int probe_size_find(const struct context *c, const struct decision *d, int64_t from, int64_t to, int P, int Q,
                    int64_t *N, struct hrun_error *err);

/* The size of a probe: `asked`, else the smallest of the definition's sizes, else an eighth of d->N or so; and with it
 * the most processes that the rule accepts there, one on each PE, at least one on each of the `used` sub-clusters.
 * Errors: HRUN_EINFEASIBLE, those of the rule. */
int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int used, int total,
                      int64_t *N, int *P, struct hrun_error *err);

#endif
