/* internal.h - what the files of lib/plan share: spaces of configurations, and ways to search them */
#ifndef HRUN_PLAN_INTERNAL_H
#define HRUN_PLAN_INTERNAL_H

#include "plan/learn.h"
#include "plan/plan.h"

#include <stdint.h>

/* ---------------------------------------------------------------- explore
 *
 * Which configuration to try, so that repeated runs find the best one
 *
 * Purpose: several configurations may be the best as far as predictions go. After a run of the best predicted one, one
 * of those whose predicted loss is bounded may be tried: the one that may be the quickest by its interval (Kaufmann,
 * Cappe and Garivier, On Bayesian upper confidence bounds for bandit problems, AISTATS 2012). What was run is known
 * better, so its interval shrinks, and the best one remains.
 * Invariants: the answer depends on nothing but the arguments.
 */

struct hrun_explore_arm {
    double value;          /* predicted value of the objective, > 0 */
    double sd;             /* standard deviation of ln(true value / predicted): what is not known of it */
    int runs;              /* runs of it at this N that made the prediction */
};

/* The one of v[n] to run, v[0] being the best predicted one (n >= 1). loss: the predicted loss that is allowed, 0.05
 * for 5 %; runs: of any configuration at this N so far; last: the one that was run last at this N, -1: none of them.
 * Result: 0 when the best is to be run: because it was not the last, because nothing else may be quicker, or because
 * that would cost too much. */
int hrun_explore_pick(const struct hrun_explore_arm *v, int n, double loss, int runs, int last);

/* So many of v[n] may be quicker than v[0] at an allowed loss, and were not tried often enough to tell. */
int hrun_explore_open(const struct hrun_explore_arm *v, int n, double loss, int runs);

/* ---------------------------------------------------------------- learn
 *
 * The belief behind learn.h
 *
 * Purpose: what runs tell of configurations that were not run, as a sample of particles and a Gaussian process.
 * Invariants: points differ from each other; particles are equally likely.
 */

enum { LEARN_PARTICLES = 256, LEARN_POINTS = 40 };   /* of points the most */

struct learn_point {       /* a configuration */
    struct hrun_config config;
    int P;
    double log_s;          /* of the median of its runs */
    int runs;
};

struct learn_belief;

/* Of points[n], 1 <= n <= LEARN_POINTS, borrowed as subs are. */
struct learn_belief *learn_belief_create(const struct hrun_learn_sub *subs, int nsubs, struct learn_point *points,
                                         int n);
void learn_belief_destroy(struct learn_belief *b);

/* By particle k the time of an option, but for its unit; of a particle for whose program the largest of these is the
 * time of a configuration, but for what lies between two sides of the network. */
double learn_option_time(const struct learn_belief *b, int k, int i, int m, int P);
int learn_is_separable(const struct learn_belief *b, int k);
struct learn_outlook {
    double mean, sd;       /* of ln of the time */
    double expected;       /* the mean of the time over best_s */
    double gain;           /* the mean of what is less than best_s, over it */
};
void learn_predict(const struct learn_belief *b, const struct learn_point *x, double best_s, struct learn_outlook *out);

/* ---------------------------------------------------------------- space
 *
 * Inside lib/plan: the configurations of one problem, and what is known of them at each P
 *
 * Purpose: what counting, exhaustive and fast search share: the options grouped by sub-cluster, one row per P
 * with the rule's answer and the value of every option, and the list of the best configurations seen.
 * Invariants:
 *   - options of sub-cluster i are first[i] .. first[i+1]-1, M ascending;
 *   - a row is asked of the oracle once while rows are kept; times and memory only if the rule accepts P;
 *   - struct plan_best is sorted, best first, and holds at most `top` configurations, no two alike.
 */

/* What a configuration that uses this option is counted under. */
enum plan_state { PLAN_USABLE, PLAN_MEMORY, PLAN_MODEL };

struct plan_row {
    int P;
    int rule;               /* 0: P is refused, and the rest of the row is unset */
    double *t;              /* nopt: Ti in seconds */
    double *v;              /* nopt: value of the objective at Ti (separable only), +infinity when not
                             * usable */
    unsigned char *state;   /* nopt: enum plan_state */
};

struct plan_space {
    const struct hrun_plan_problem *problem;
    const struct hrun_oracle *oracle;
    const struct hrun_objective *objective;
    const struct hrun_plan_sub *subs;
    int nsubs, nopt;
    int max_P;              /* all PEs with their largest M */
    int *first;             /* nsubs + 1 */
    long *full;             /* nopt: |Gi| M */
    struct plan_row **rows; /* max_P + 1 when rows are kept, else NULL */
    struct plan_row *last;  /* the only row otherwise */
};

/* The largest P that is handled: sums of two stay within an int. */
enum { PLAN_MAX_P = 1 << 30 };

/* keep_rows: keep a row per P, else only the last. Errors: HRUN_EINVAL (options out of order, negative PEs,
 * more than PLAN_MAX_P processes); *s is safe to release either way. */
int plan_space_init(struct plan_space *s, const struct hrun_plan_problem *problem, int keep_rows,
                    struct hrun_error *err);
void plan_space_release(struct plan_space *s);

/* Memory that kept rows would take: max_P * nopt, as a number of cells. */
double plan_space_cells(const struct plan_space *s);
/* Configurations with P > 0: prod(1 + |Gi| |options of i|) - 1. */
double plan_space_total(const struct plan_space *s);

/* The row of P, 1 <= P <= max_P; owned by the space. NULL: errors of the oracle. */
const struct plan_row *plan_space_row(struct plan_space *s, int P, struct hrun_error *err);

/* The value of a separable objective at time_s. */
double plan_value(const struct plan_space *s, double time_s);

/* Begin with { .top = top }. */
struct plan_best {
    int top, n, cap;
    struct hrun_choice **v;     /* owned; pointers, as choices are large and the list is kept sorted */
};

void plan_best_release(struct plan_best *b);
/* Above this value nothing enters the list any more; +infinity while it is not full. */
double plan_best_worst(const struct plan_best *b);
/* Could a configuration of this value still enter the list? */
int plan_best_wants(const struct plan_best *b, double value);
/* Would c enter the list? */
int plan_best_takes(const struct plan_best *b, const struct hrun_choice *c);
/* Copy c into the list if it is good enough. */
void plan_best_add(struct plan_best *b, const struct hrun_choice *c);
/* The one of known[n] that is of this configuration, or NULL. */
const struct hrun_known *plan_known_find(const struct hrun_known *known, int n, const struct hrun_config *config);
/* Negative when a comes before b: value, PEs, then (P1,M1,P2,M2,...). */
int plan_choice_compare(const struct hrun_choice *a, const struct hrun_choice *b);
/* Set time_s and limiting of c from t, the times of the options at c->P. */
void plan_choice_time(const struct plan_space *s, const double *t, struct hrun_choice *c);

/* The same from the oracle's `whole`, where it has one; and the value of the objective, INFINITY for a configuration
 * that cannot be used. Errors: those of the oracle; HRUN_ENONFINITE for a time that is none. */
int plan_choice_look(const struct plan_space *s, const double *t, struct hrun_choice *c, struct hrun_error *err);

/* Does a configuration that takes so long keep the problem's limits? */
int plan_keeps(const struct hrun_plan_problem *problem, double time_s, const struct hrun_config *config);
/* HRUN_EINFEASIBLE: no configuration is valid, and why, as known or counted now. Result: -1. */
int plan_fail_infeasible(struct plan_space *s, const struct hrun_plan_counts *known, struct hrun_error *err);

/* HRUN_EINFEASIBLE: none keeps the problem's limits, of configurations of which known[n] have the times said. The
 * message names for each limit the least of all configurations and, of several limits, of those that keep the others;
 * err->excess is set. Or, where none is valid, as hrun_plan_search. Result: -1. */
int plan_fail_none(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                   struct hrun_error *err);

/* Look at every configuration of a problem: those that are valid are given to visit, with their P and npes, the times t
 * of the options at P, and the largest of those used, which no more exact time is below. visit returns 0, or -1 with
 * *err, which ends it. Counts as the search does. Errors: those of the oracle. */
int plan_each(struct plan_space *s, struct hrun_plan_counts *counts,
              int (*visit)(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                           struct hrun_error *err), void *ctx, struct hrun_error *err);
/* HRUN_EINVAL when there are too many for that. */
int plan_few_enough(const struct hrun_plan_problem *problem, struct hrun_error *err);

/* Move the list into p->v and p->n, which are overwritten. */
void plan_best_move(struct plan_best *b, struct hrun_plan *p);
/* Move the list into a fresh plan. HRUN_EINFEASIBLE when it is empty. */
int plan_finish(struct plan_space *s, struct plan_best *best, const struct hrun_plan_counts *counts,
                double started_s, struct hrun_plan **out, struct hrun_error *err);
/* A monotonic clock, seconds. */
double plan_clock(void);

/* hrun_plan_count on a space that exists already. */
int plan_count(struct plan_space *s, double limit, struct hrun_plan_counts *out, struct hrun_error *err);
/* "rule 12, memory 3, model 0" */
void plan_counts_print(const struct hrun_plan_counts *c, struct hrun_buf *out);

/* ---------------------------------------------------------------- level
 *
 * Inside lib/plan: all configurations with P processes and one given value, in their order
 *
 * Purpose: for one P and one threshold ("level"), over the options of value <= level: can sum Pi Mi = P be
 * met, with how few PEs, by which configurations. Configurations of value exactly `level` are paths through
 * the sub-clusters that take at least one option of that value; they come out by PEs, then lexicographically.
 *
 * Method: free[k][s] and need[k][s], the fewest PEs by which sub-clusters k.. can hold s processes; `need`
 * with an option of value = level among them. Of the sums s only those matter from which P can still be met:
 * at least P minus what sub-clusters before k can hold, and at most what those from k on can hold. So a
 * window is never wider than the capacity exceeds P, which near the least feasible level is little.
 */

struct plan_level {
    const struct plan_space *s;
    int P;
    const double *v;          /* nopt values at P, +infinity: not usable */
    double level;
    int *lo, *width;          /* nsubs + 1: the window of sums of each layer */
    uint32_t **free, **need;  /* nsubs + 1 layers; `need` only if asked for */
    uint32_t *pool;
    int *queue;               /* positions of a sliding minimum */
    struct plan_path *paths;  /* candidates of the enumeration */
    int *pairs;               /* of the candidates: 2 nsubs each */
    size_t pool_cap, queue_cap, pairs_cap;
    int npaths, paths_cap;
};

void plan_level_init(struct plan_level *l, const struct plan_space *s);
void plan_level_release(struct plan_level *l);

/* Compute the layers; with_need: also those that plan_level_add uses. Result: 1 if some configuration of value <= level
 * has P processes. */
int plan_level_build(struct plan_level *l, int P, const double *v, double level, int with_need);

/* Add the configurations of value exactly `level` to best, in their order, until one is not good enough.
 * row is that of P. */
void plan_level_add(struct plan_level *l, const struct plan_row *row, struct plan_best *best);

/* ---- search: inside lib/plan: the sizes at which the search changes its ways, for tests and the bench */

struct plan_tuning {
    double keep_cells;  /* with at most this many (P, option) cells all are looked at, kept and counted */
    int rule_block;     /* the rule is asked for all P of an interval of at most this length */
    int leaf;           /* intervals with at most this many accepted P are looked at P by P */
};

/* keep_cells: 200,000 doubles are 1.6 MB, which stays in a cache; evaluating them costs a few ms.
 * rule_block: at some 50 ns per rule a block costs about as much as the two bounds that its split would.
 * leaf: bounds cost about as much as the times at two P, and seldom exclude single ones. */
#define PLAN_TUNING_DEFAULT { 200000, 1024, 8 }

/* ---------------------------------------------------------------- intervals
 *
 * Inside lib/plan: the P that may matter, best first
 *
 * Purpose: intervals of P go by ascending lower bound and are split until single P are looked at. The search ends when
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
    struct plan_node *heap; /* least bound first */
    int nheap, heap_cap;
};

/* Look at all P of the problem that matter. 0, or -1: errors of what it calls and of the rule. */
int plan_intervals_run(struct plan_intervals *v, struct hrun_error *err);
void plan_intervals_release(struct plan_intervals *v);
/* Of an interval that is scanned: does the rule accept P? */
int plan_intervals_accept(const struct plan_intervals *v, int P);

/* ---------------------------------------------------------------- dealt
 *
 * Inside lib/plan: the least time of all configurations whose processes get unequal shares of work
 *
 * Purpose: where the oracle tells how long a process takes by its share (oracle->lines), the least time by which some
 * configuration with the best shares of its own (hrun_balance) does all units, and that configuration; and for other
 * searches, how many units can be done at most by a time.
 * Invariants: bounds are not above what they are of, whatever is rounded. The least time is exact, or a lower bound
 * where effort or room ends or numbers are too large. A configuration counts with the times of its options, too, where
 * these are above that of its shares.
 */

/* A straight piece of the concave envelopes: so many units by each of so many processes. */
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
    long effort;               /* about so many ns are left */
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

/* d->least of all configurations, with about so much effort; INFINITY when none does all units. found gets each that is
 * better than those before: pes, procs, P and npes. Errors: those of found and of the oracle. */
int plan_dealt_search(struct plan_dealt *d, long effort,
                      int (*found)(void *ctx, const struct plan_row *row, const struct hrun_choice *c,
                                   struct hrun_error *err), void *ctx, struct hrun_error *err);

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
    long parts;     /* so many bounds of parts of configurations are asked for, where the oracle has them; and as much
                       effort goes into a list of configurations with unequal shares as a quarter of them takes */
};

/* A look plays a network operation or two: some 0.1 ms with 16 processes, and as the square of their number. 2000 looks
 * are within what a launch takes. Half of them are for proving, half for finding where that does not end. Bounds of
 * parts are for 0.1 s where one takes 0.1 us. */
#define PLAN_LOOKS_DEFAULT { 16, 1000, 1000, 1000000 }

/* Where a search of a model that is not separable is. */
struct plan_walk {
    struct plan_space space;
    struct plan_best best;
    struct hrun_choice c;       /* the one that is looked at */
    struct hrun_choice from;    /* where the walk is */
    const struct plan_looks *looks;
    const struct hrun_known *known; /* nknown that are not wanted */
    int nknown;
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

/* The list of w is made the best one, by about so much effort and w->most looks. *least: no time is
 * below it, raised as far as was proven. *done: the list is proven, with its order. Errors: those of the oracle. */
int plan_dealt_list(struct plan_walk *w, struct plan_dealt *d, long effort, int *done, double *least,
                    struct hrun_error *err);

/* hrun_plan_search of a model that is not separable, without known[n]; separable objectives only. */
int plan_search_whole(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                      const struct plan_looks *looks, struct hrun_plan **out, struct hrun_error *err);

/* hrun_plan_search, of which known[n] may be missing; the list has at least `top` others, as far as there are. */
int plan_search_without(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                        struct hrun_plan **out, struct hrun_error *err);

/* ---------------------------------------------------------------- solve
 *
 * Inside lib/plan: the best configurations of one P, for separable objectives
 *
 * Purpose: T(C) = max of Ti(N, P, Mi) over the used sub-clusters (paper 000, section 4.1). At a fixed P the
 * best value is therefore the least threshold ("level") for which Pi exist with sum Pi Mi = P and options of
 * value <= level only. Invariant: after plan_solve of some P, the list holds the best of all configurations
 * of all P solved so far.
 */

struct plan_solver {
    struct plan_space *space;  /* borrowed */
    struct plan_best *best;    /* borrowed */
    struct plan_level level;
    double *levels;            /* nopt: different values at P, ascending */
    int *order;                /* nopt: options at P by value */
    long *held;                /* nsubs: scratch */
    long nrows, nbuilt;        /* P looked at, levels built */
};

void plan_solver_init(struct plan_solver *S, struct plan_space *s, struct plan_best *best);
void plan_solver_release(struct plan_solver *S);

/* Add to the list what P has to offer. 0, or -1: errors of the oracle. */
int plan_solve(struct plan_solver *S, int P, struct hrun_error *err);

/* Is there the capacity for lo processes with options of value v[o] <= limit, when P <= hi? */
int plan_has_capacity(const struct plan_space *s, const double *v, double limit, int lo, int hi);

#endif
