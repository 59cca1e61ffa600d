/* search_shares.h - the least time of all configurations whose processes get unequal shares of work
 *
 * Purpose: where the oracle tells how long a process takes by its share (oracle->lines), the least time by which some
 * configuration with the best shares of its own (hrun_balance) does all units, and that configuration; and for other
 * searches, how many units can be done at most by a time.
 * Invariants: bounds are not above what they are of, whatever is rounded. The least time is exact, or a lower bound
 * where effort or room ends or numbers are too large. A configuration counts with the times of its options, too, where
 * these are above that of its shares.
 */
#ifndef HRUN_PLAN_SEARCH_SHARES_H
#define HRUN_PLAN_SEARCH_SHARES_H

#include "plan/intervals.h"
#include "plan/search.h"
#include "plan/space.h"

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
    struct plan_space *space;  /* borrowed */
    struct plan_intervals intervals;
    const struct plan_row *row;  /* of the P that is looked at, else NULL */
    int hi;                    /* no option with more processes on a PE is used */
    struct hrun_line *line;    /* nopt, at this P or of an interval */
    int64_t units;             /* to be done */
    double limit;              /* what takes longer does not matter; may be lowered at any time */
    double least;              /* the result: no time is below it */
    long effort;               /* ns that are left, about */
    int (*look)(void *ctx, int P, struct hrun_error *err);
    int (*found)(void *ctx, const struct plan_row *row, const struct hrun_choice *c, struct hrun_error *err);
    void *look_ctx, *found_ctx;
    struct plan_pack pack[2];  /* within the limit, and better */
    int *hull;                 /* nopt: scratch */
    struct plan_piece *piece;  /* npieces: the envelopes at that time */
    int npieces;
    long *queue;
    size_t queued;
    struct hrun_line *used;    /* nsubs: scratch, as share */
    int64_t *share;
};

/* For an oracle with lines. */
void plan_dealt_init(struct plan_dealt *d, struct plan_space *s);
void plan_dealt_release(struct plan_dealt *d);

/* Set d->least, of all configurations, with about this effort in ns; INFINITY when none does all units. d->found gets
 * each that is better than those before: pes, procs, P and npes. Errors: those of d->found and of the oracle. */
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

#endif
