/* search_nonseparable.h - the search of a model that is not separable
 *
 * Purpose: configurations are evaluated as a whole, in an order in which bounds exclude most of them. The files of this
 * search share its state, the walk. A look is the evaluation of one configuration.
 */
#ifndef HRUN_PLAN_SEARCH_NONSEPARABLE_H
#define HRUN_PLAN_SEARCH_NONSEPARABLE_H

#include "plan/search.h"

/* Limits of the search. */
struct plan_looks {
    int first;      /* length of the first list by lower bound; each further list is four times as long */
    long bounded;   /* limit of looks in the order of the bounds; at least `top` */
    long local;     /* limit of further looks, at neighbours of the best configuration, if there is no proof */
    long parts;     /* limit of bounds of parts of configurations, if the oracle has them; a list with unequal shares
                       may take the time of a quarter of them */
    const struct hrun_known *known; /* nknown configurations that the search leaves out */
    int nknown;
};

/* A look simulates one or two network operations: about 0.1 ms with 16 processes, growing with the square of their
 * number. 2000 looks take no longer than a launch: half for the proof, half for neighbours if the proof fails. A bound
 * of a part takes 0.1 us, all of them 0.1 s. */
#define PLAN_LOOKS_DEFAULT { .first = 16, .bounded = 1000, .local = 1000, .parts = 1000000 }

/* The state of the search. */
struct plan_walk {
    struct plan_space space;
    struct plan_best best;
    struct hrun_choice c;       /* the configuration to look at */
    struct hrun_choice from;    /* the configuration whose neighbours are searched */
    const struct plan_looks *looks;
    long n;                     /* looks so far */
    long most;                  /* limit of n at present */
    int moved;
};

/* Evaluate w->c, with the row of its P, and add it to the list if it is good enough. Errors: those of the oracle. */
int plan_walk_look(struct plan_walk *w, const struct plan_row *row, struct hrun_error *err);
/* 1 if w->c is in the list of the best, else 0. */
int plan_walk_is_listed(const struct plan_walk *w);
/* 1 if a configuration may enter the list that has the pairs of w->c on sub-clusters 0..known-1, `rest` more processes
 * on the others, at most most_m on a PE, and at least this value; else 0. */
int plan_walk_may_enter(const struct plan_walk *w, int known, long rest, int most_m, double value);

/* hrun_plan_search for a model that is not separable; for separable objectives only. */
int plan_search_whole(const struct hrun_plan_problem *problem, int top, const struct plan_looks *looks,
                      struct hrun_plan **out, struct hrun_error *err);

/* Search with unequal shares of work (needs oracle->lines), within w->most looks: find the least time in which some
 * configuration with its optimal shares (hrun_balance) does all units, then the rest of the list. *least: lower bound
 * of all times, INFINITY if no configuration does all units. *done: 1 if the list and its order are proven. Errors:
 * those of the oracle. */
int plan_search_shares(struct plan_walk *w, int *done, double *least, struct hrun_error *err);

#endif
