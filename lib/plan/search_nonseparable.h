/* search_nonseparable.h - the search of a model that is not separable
 *
 * Purpose: configurations are looked at as a whole, in an order that lets bounds leave out most of them. The files of
 * this search share its state, the walk.
 */
#ifndef HRUN_PLAN_SEARCH_NONSEPARABLE_H
#define HRUN_PLAN_SEARCH_NONSEPARABLE_H

#include "plan/search.h"

/* How far the search of a model that is not separable goes. */
struct plan_looks {
    int first;      /* configurations that are listed first, by their lower bound; then four times as many, ... */
    long bounded;   /* most looks at whole configurations in the order of their bounds; not below `top` */
    long local;     /* further looks at neighbours of the best one found, where these do not suffice */
    long parts;     /* most bounds of parts of configurations, where the oracle has them; a list of configurations with
                       unequal shares takes as much effort as a quarter of them */
    const struct hrun_known *known; /* nknown configurations that are not looked at */
    int nknown;
};

/* A look plays a network operation or two: some 0.1 ms with 16 processes, and as the square of their number. 2000 looks
 * are within what a launch takes. Half of them are for proving, half for finding where that does not end. Bounds of
 * parts are for 0.1 s where one takes 0.1 us. */
#define PLAN_LOOKS_DEFAULT { .first = 16, .bounded = 1000, .local = 1000, .parts = 1000000 }

/* Where a search of a model that is not separable is. */
struct plan_walk {
    struct plan_space space;
    struct plan_best best;
    struct hrun_choice c;       /* the one that is looked at */
    struct hrun_choice from;    /* where the walk is */
    const struct plan_looks *looks;
    long n;                     /* looks taken */
    long most;                  /* as many as may be taken now */
    int moved;
};

/* Look at w->c, whose row this is, for the list. Errors: those of the oracle. */
int plan_walk_look(struct plan_walk *w, const struct plan_row *row, struct hrun_error *err);
/* Is w->c in the list of the best? */
int plan_walk_is_listed(const struct plan_walk *w);
/* May a configuration that begins with sub-clusters 0..known-1 of w->c, needs `rest` processes more, at most most_m on
 * a PE, and is of no less than this value enter the list? */
int plan_walk_may_enter(const struct plan_walk *w, int known, long rest, int most_m, double value);

/* hrun_plan_search of a model that is not separable; separable objectives only. */
int plan_search_whole(const struct hrun_plan_problem *problem, int top, const struct plan_looks *looks,
                      struct hrun_plan **out, struct hrun_error *err);

/* Where the oracle knows unequal shares of work (oracle->lines): find the least time by which some configuration with
 * the best shares of its own (hrun_balance) does all units, then what else belongs to the list, within w->most looks.
 * *least: no time is below it, INFINITY: none does all units. *done: the list is proven, with its order. Errors: those
 * of the oracle. */
int plan_search_shares(struct plan_walk *w, int *done, double *least, struct hrun_error *err);

#endif
