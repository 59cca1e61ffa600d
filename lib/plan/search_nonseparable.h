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

/* ------------------------------------------------------------------ the least time by unequal shares of work
 *
 * Where the oracle tells how long a process takes by its share (oracle->lines): the least time by which some
 * configuration with the best shares of its own (hrun_balance) does all units, and that configuration; and for other
 * searches, how many units can be done at most by a time.
 * Invariants: bounds are not above what they are of, whatever is rounded. The least time is exact, or a lower bound
 * where effort or room ends or numbers are too large. A configuration counts with the times of its options, too, where
 * these are above that of its shares.
 */

/* A straight piece of the concave envelopes: `slope` units by each of `width` processes. */
struct plan_piece {
    double slope, width;
};

/* A sub-cluster of the knapsack, and the sums of processes on it and on the later ones that matter. */
struct plan_layer {
    int skip;                  /* 1: it may be left out */
    long low, high;            /* processes on it */
    long from, to;
    size_t at;                 /* cell of sum `from` */
};

/* What can be done at one P by one time. */
struct plan_pack {
    int met;                   /* 1: all units; 0: the rest is of no use */
    int64_t *u;                /* nopt: units of one process; 0: not usable */
    int *fewest, *most;        /* nopt: PEs that are left as a choice; none if fewest > most */
    struct plan_layer *layer;  /* nsubs + 1 */
    int64_t *cell;             /* the most units; below 0: the sum cannot be met */
    size_t cells;
};

struct plan_dealt {
    struct plan_walk *w;       /* borrowed; gets what is found */
    struct plan_space *space;  /* of w */
    struct plan_intervals intervals;
    const struct plan_row *row;  /* of the P that is looked at, else NULL */
    int hi;                    /* no option with more processes on a PE is used */
    struct hrun_line *line;    /* nopt, at this P or of an interval */
    int64_t units;             /* to be done */
    double limit;              /* what takes longer does not matter; may be lowered at any time */
    double least;              /* the result: no time is below it */
    long effort;               /* ns that are left, about */
    int (*look)(void *ctx, int P, struct hrun_error *err);
    void *look_ctx;
    struct plan_pack pack[2];  /* within the limit, and better */
    int *hull;                 /* nopt: scratch */
    struct plan_piece *piece;  /* npieces: the envelopes at that time */
    int npieces;
    long *queue;
    size_t queued;
};

/* For an oracle with lines. */
void plan_dealt_init(struct plan_dealt *d, struct plan_walk *w);
void plan_dealt_release(struct plan_dealt *d);

/* Set d->least, of all configurations, with about this effort in ns; INFINITY when none does all units. The walk looks
 * at each that is better than those before. Errors: those of the oracle. */
int plan_dealt_search(struct plan_dealt *d, long effort, struct hrun_error *err);

/* Give each P at which all may be done by d->limit to `at`, about those of the least bound first, with row, line and
 * units set, until the effort is used up. Then all that was not looked at, or last, is not below d->intervals.least.
 * Errors: those of `at` and of the oracle. */
int plan_dealt_each(struct plan_dealt *d, int (*at)(void *ctx, int P, struct hrun_error *err), void *ctx,
                    struct hrun_error *err);

/* The most units by time_s with P processes, whose row d->row is. Result: 0; 1: there are too many cells, or sums are
 * too large. */
int plan_dealt_pack(struct plan_dealt *d, int P, double time_s, struct plan_pack *x);
/* By sub-clusters k.., which have `sum` processes; below 0: they cannot. */
int64_t plan_pack_after(const struct plan_pack *x, int k, long sum);
/* The choice at sub-cluster k by which that is reached: *pes of *option, or none, which is -1. */
void plan_dealt_best(const struct plan_dealt *d, const struct plan_pack *x, int k, long sum, int *option, int *pes);

/* The list of w is made the best one, by about so much effort and w->most looks. *least: no time is
 * below it, raised as far as was proven. *done: the list is proven, with its order. Errors: those of the oracle. */
int plan_dealt_list(struct plan_walk *w, struct plan_dealt *d, long effort, int *done, double *least,
                    struct hrun_error *err);

#endif
