/* search.h - the exact search with other limits than the usual ones, for lib/plan, tests and the bench */
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

/* hrun_plan_search, of which known[n] may be missing; the list has at least `top` others, as far as there are. */
int plan_search_without(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                        struct hrun_plan **out, struct hrun_error *err);

#endif
