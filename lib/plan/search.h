/* search.h - the parts of the exact search, for lib/plan, tests and the bench
 *
 * intervals.c orders the P to be searched, search_one_P.c finds the best configurations of one P, and search.c combines
 * them.
 */
#ifndef HRUN_PLAN_SEARCH_H
#define HRUN_PLAN_SEARCH_H

#include "plan/space.h"

struct plan_tuning {
    double keep_cells;  /* with at most this many (P, option) cells all are evaluated, kept and counted */
    int rule_block;     /* the rule is evaluated for all P of an interval of at most this length */
    int leaf;           /* intervals with at most this many accepted P are searched P by P */
};

/* keep_cells: 200,000 doubles are 1.6 MB, which stays in a cache; evaluating them costs a few ms.
 * rule_block: at about 50 ns per rule a block costs about as much as the two bounds of its halves.
 * leaf: bounds cost about as much as the times at two P, and seldom exclude single ones. */
extern const struct plan_tuning plan_tuning_default;

/* Limit of the additions for the counts of the report, about 4 ms. */
#define PLAN_COUNT_LIMIT 4e6

/* hrun_plan_search with other tuning, which does not change the answer. For separable objectives only. */
int plan_search_tuned(const struct hrun_plan_problem *problem, int top, const struct plan_tuning *tuning,
                      struct hrun_plan **out, struct hrun_error *err);

/* ------------------------------------------------------------------ intervals of P
 *
 * Intervals of P are processed by ascending lower bound and split down to single P, for which look() is called. The
 * search ends when wants() refuses the least bound that is left.
 * Invariants: look() is called for a P that the rule refuses only if there are no bounds or the problem has this P
 * only; `least` is a lower bound of the P whose look() is running or still to come.
 */
struct plan_intervals {
    const struct plan_space *space;
    struct plan_tuning tuning;
    int again;              /* 1: an interval gets a new bound after the rule was evaluated for its P (scanned) */
    void *ctx;
    /* Set *bound for lo..hi; INFINITY drops the interval. NULL: there are no bounds, every P is looked at. 0 or -1. */
    int (*bound)(void *ctx, int lo, int hi, int scanned, double *bound, struct hrun_error *err);
    int (*wants)(void *ctx, double bound);
    int (*look)(void *ctx, int P, struct hrun_error *err);   /* 0 or -1 */
    double least;
    uint64_t *accepted;     /* a bit per P */
    struct plan_node *open; /* remaining intervals, the least bound last */
    int nopen, open_cap;
};

/* Call look() for all P that bound() and wants() leave. Result: 0, or -1 on errors of the callbacks and of the rule. */
int plan_intervals_run(struct plan_intervals *v, struct hrun_error *err);
void plan_intervals_release(struct plan_intervals *v);
/* 1 if the rule accepts P, else 0; P must be in a scanned interval. */
int plan_intervals_accept(const struct plan_intervals *v, int P);

/* ------------------------------------------------------------------ one P
 *
 * T(C) = max of Ti(N, P, Mi) over the used sub-clusters (paper 000, section 4.1). At a fixed P the best value is
 * therefore the least threshold ("level") for which Pi exist with sum Pi Mi = P and options of value <= level only.
 * Invariant: after plan_solve of some P, the list contains the best configurations of all P solved so far.
 */
struct plan_solver;
struct plan_solver *plan_solver_create(struct plan_space *s, struct plan_best *best);
void plan_solver_destroy(struct plan_solver *S);

/* Add the best configurations of P to the list. Result: 0, or -1 on errors of the oracle. */
int plan_solve(struct plan_solver *S, int P, struct hrun_error *err);

/* 1 if options of value v[o] <= limit and M <= hi have room for at least lo processes on all PEs, else 0. */
int plan_has_capacity(const struct plan_space *s, const double *v, double limit, int lo, int hi);

#endif
