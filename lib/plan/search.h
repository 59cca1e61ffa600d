/* search.h - the parts of the exact search, for lib/plan, tests and the bench
 *
 * intervals.c says which P are looked at and in which order, search_one_P.c finds the best configurations of one P, and
 * search.c puts them together.
 */
#ifndef HRUN_PLAN_SEARCH_H
#define HRUN_PLAN_SEARCH_H

#include "plan/space.h"

struct plan_tuning {
    double keep_cells;  /* with at most this many (P, option) cells all are looked at, kept and counted */
    int rule_block;     /* the rule is asked for all P of an interval of at most this length */
    int leaf;           /* intervals with at most this many accepted P are looked at P by P */
};

/* keep_cells: 200,000 doubles are 1.6 MB, which stays in a cache; evaluating them costs a few ms.
 * rule_block: at some 50 ns per rule a block costs about as much as the two bounds that its split would.
 * leaf: bounds cost about as much as the times at two P, and seldom exclude single ones. */
extern const struct plan_tuning plan_tuning_default;

/* Counting for the report may cost this many additions, about 4 ms. */
#define PLAN_COUNT_LIMIT 4e6

/* hrun_plan_search with other sizes (the answer is the same). For separable objectives only. */
int plan_search_tuned(const struct hrun_plan_problem *problem, int top, const struct plan_tuning *tuning,
                      struct hrun_plan **out, struct hrun_error *err);

/* ------------------------------------------------------------------ intervals of P
 *
 * Intervals of P go by ascending lower bound and are split until single P are looked at. The search ends when
 * nothing is wanted of the least bound that is left.
 * Invariants: a P that the rule refuses is looked at only where no bounds are known, or no other P is asked for;
 * `least` is a lower bound of all that was not looked at yet, and of what is being looked at.
 */
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
    struct plan_node *open; /* intervals that are left, the least bound last */
    int nopen, open_cap;
};

/* Look at all P of the problem that matter. 0, or -1: errors of what it calls and of the rule. */
int plan_intervals_run(struct plan_intervals *v, struct hrun_error *err);
void plan_intervals_release(struct plan_intervals *v);
/* Of an interval that is scanned: does the rule accept P? */
int plan_intervals_accept(const struct plan_intervals *v, int P);

/* ------------------------------------------------------------------ one P
 *
 * T(C) = max of Ti(N, P, Mi) over the used sub-clusters (paper 000, section 4.1). At a fixed P the best value is
 * therefore the least threshold ("level") for which Pi exist with sum Pi Mi = P and options of value <= level only.
 * Invariant: after plan_solve of some P, the list holds the best of all configurations of all P solved so far.
 */
struct plan_solver;
struct plan_solver *plan_solver_create(struct plan_space *s, struct plan_best *best);
void plan_solver_destroy(struct plan_solver *S);

/* Add to the list what P has to offer. 0, or -1: errors of the oracle. */
int plan_solve(struct plan_solver *S, int P, struct hrun_error *err);

/* Is there the capacity for lo processes with options of value v[o] <= limit, when P <= hi? */
int plan_has_capacity(const struct plan_space *s, const double *v, double limit, int lo, int hi);

#endif
