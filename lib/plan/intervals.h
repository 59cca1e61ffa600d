/* intervals.h - the P that may matter, best first
 *
 * Purpose: intervals of P go by ascending lower bound and are split until single P are looked at. The search ends when
 * nothing is wanted of the least bound that is left.
 * Invariants: a P that the rule refuses is looked at only where no bounds are known, or no other P is asked for;
 * `least` is a lower bound of all that was not looked at yet, and of what is being looked at.
 */
#ifndef HRUN_PLAN_INTERVALS_H
#define HRUN_PLAN_INTERVALS_H

#include "plan/search.h"
#include "plan/space.h"

struct plan_intervals {
    const struct plan_space *space;
    struct plan_tuning tuning;
    int again;              /* 1: an interval is bounded again once the rule's answers for it are known (scanned) */
    void *ctx;
    /* NULL: none are known, and every P is looked at. *bound = INFINITY: nothing there matters. 0 or -1. */
    int (*bound)(void *ctx, int lo, int hi, int scanned, double *bound, struct hrun_error *err);
    int (*wants)(void *ctx, double bound);
    int (*look)(void *ctx, int P, struct hrun_error *err);   /* 0 or -1 */
    double least;
    uint64_t *accepted;     /* a bit per P */
    struct plan_node *heap; /* least bound first */
    int nheap, heap_cap;
};

/* Look at all P of the problem that matter. 0, or -1: errors of what it calls and of the rule. */
int plan_intervals_run(struct plan_intervals *v, struct hrun_error *err);
void plan_intervals_release(struct plan_intervals *v);
/* Of an interval that is scanned: does the rule accept P? */
int plan_intervals_accept(const struct plan_intervals *v, int P);

#endif
