/* search.h - inside lib/plan: the sizes at which the search changes its ways, for tests and the bench */
#ifndef HRUN_PLAN_SEARCH_H
#define HRUN_PLAN_SEARCH_H

#include "plan/plan.h"

struct plan_tuning {
    double keep_cells;  /* with at most this many (P, option) cells all are looked at, kept and counted */
    int rule_block;     /* the rule is asked for all P of an interval of at most this length */
    int leaf;           /* intervals with at most this many accepted P are looked at P by P */
};

/* keep_cells: 200,000 doubles are 1.6 MB, which stays in a cache; evaluating them costs a few ms.
 * rule_block: at some 50 ns per rule a block costs about as much as the two bounds that its split would.
 * leaf: bounds cost about as much as the times at two P, and seldom exclude single ones. */
#define PLAN_TUNING_DEFAULT { 200000, 1024, 8 }

/* What a search did. */
struct plan_effort {
    long bounds, rows, levels;  /* intervals bounded, P evaluated, levels built */
};

/* hrun_plan_search with other sizes (the answer is the same); effort may be NULL. For
 * separable objectives only. */
int plan_search_tuned(const struct hrun_plan_problem *problem, int top, const struct plan_tuning *tuning,
                      struct plan_effort *effort, struct hrun_plan **out, struct hrun_error *err);

/* How far the search of a model that is not separable goes. */
struct plan_looks {
    int first;      /* so many configurations of the least lower bound are listed first, then four times as many, ... */
    long bounded;   /* so many are looked at as a whole; no fewer than are asked for */
    long local;     /* and where that does not suffice so many more, from the best one found to its neighbours */
    long parts;     /* so many bounds of parts of configurations are asked for, where the oracle has them */
};

/* A look plays a network operation or two: some 0.1 ms with 16 processes, and as the square of their number. 2000 looks
 * are within what a launch takes. Half of them are for proving, half for finding where that does not end. Bounds of
 * parts are for 0.1 s where one takes 0.1 us. */
#define PLAN_LOOKS_DEFAULT { 16, 1000, 1000, 1000000 }

/* hrun_plan_search of a model that is not separable, without known[n]; separable objectives only. */
int plan_search_whole(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                      const struct plan_looks *looks, struct hrun_plan **out, struct hrun_error *err);

/* hrun_plan_search, of which known[n] may be missing; the list has at least `top` others, as far as there are. */
int plan_search_without(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                        struct hrun_plan **out, struct hrun_error *err);

#endif
