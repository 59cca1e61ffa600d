/* space.h - the configurations of one problem, with the state of each option at each P
 *
 * Purpose: data that counting, exhaustive and fast search share: the options grouped by sub-cluster, one row per P
 * with the result of the rule and the value of every option, and the list of the best configurations found.
 * Invariants:
 *   - options of sub-cluster i are first[i] .. first[i+1]-1, M ascending;
 *   - if rows are kept, each is computed once; times and memory are computed only if the rule accepts P;
 *   - struct plan_best is sorted, best first, and has at most `top` configurations, no two of them equal.
 */
#ifndef HRUN_PLAN_SPACE_H
#define HRUN_PLAN_SPACE_H

#include "plan/plan.h"

/* The count that a configuration with this option goes to. */
enum plan_state { PLAN_USABLE, PLAN_MEMORY, PLAN_MODEL };

struct plan_row {
    int P;
    int rule;               /* 0: P is refused, and the rest of the row is unset */
    double *t;              /* nopt: Ti in seconds */
    double *v;              /* nopt: value of a separable objective at Ti, otherwise Ti; +infinity: not usable */
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
    struct plan_row *last;  /* the only row if rows are not kept */
};

/* The largest P that is supported: the sum of two P fits into an int. */
enum { PLAN_MAX_P = 1 << 30 };

/* keep_rows: 1 to keep a row per P, 0 to keep only the last. Errors: HRUN_EINVAL (more than PLAN_MAX_P processes);
 * plan_space_release is safe after success and failure. */
int plan_space_init(struct plan_space *s, const struct hrun_plan_problem *problem, int keep_rows,
                    struct hrun_error *err);
void plan_space_release(struct plan_space *s);

/* Number of cells of kept rows: max_P * nopt. */
double plan_space_cells(const struct plan_space *s);
/* Number of configurations with P > 0: prod(1 + |Gi| |options of i|) - 1. */
double plan_space_total(const struct plan_space *s);

/* The row of P, 1 <= P <= max_P, owned by the space; NULL on errors, which are those of the oracle. */
const struct plan_row *plan_space_row(struct plan_space *s, int P, struct hrun_error *err);

/* The value of a separable objective at time_s. */
double plan_value(const struct plan_space *s, double time_s);

/* Begin with { .top = top }. */
struct plan_best {
    int top, n, cap;
    struct hrun_choice **v;     /* owned; pointers, because choices are large and the list is sorted */
};

void plan_best_release(struct plan_best *b);
/* The value of the last choice of a full list: larger values do not enter. +infinity if the list is not full. */
double plan_best_worst(const struct plan_best *b);
/* 1 if the list is not full or c is better than its last choice, else 0. */
int plan_best_takes(const struct plan_best *b, const struct hrun_choice *c);
/* Copy c into the list if plan_best_takes accepts it. c must not be in the list. */
void plan_best_add(struct plan_best *b, const struct hrun_choice *c);
/* The entry of known[n] with this configuration, or NULL. */
const struct hrun_known *plan_known_find(const struct hrun_known *known, int n, const struct hrun_config *config);
/* Negative when a comes before b: value, PEs, then (P1,M1,P2,M2,...). */
int plan_choice_compare(const struct hrun_choice *a, const struct hrun_choice *b);
/* Set time_s and limiting of c from t, the times of the options at c->P. */
void plan_choice_time(const struct plan_space *s, const double *t, struct hrun_choice *c);

/* Set time_s and limiting of c by the oracle's `whole`; if `whole` is NULL, as plan_choice_time does. Set value,
 * INFINITY if the time is infinite. Errors: those of the oracle; HRUN_ENONFINITE (`whole` gives no positive time). */
int plan_choice_look(const struct plan_space *s, const double *t, struct hrun_choice *c, struct hrun_error *err);

/* 1 if a configuration with this time is within the problem's limits, else 0. */
int plan_keeps(const struct hrun_plan_problem *problem, double time_s, const struct hrun_config *config);
/* Fail with HRUN_EINFEASIBLE: no configuration is valid. The message gives counts by reason. The counts are those of
 * *known; if known->counted is 0, they are computed here. Result: -1. */
int plan_fail_infeasible(struct plan_space *s, const struct hrun_plan_counts *known, struct hrun_error *err);

/* Fail with HRUN_EINFEASIBLE: no configuration is within the problem's limits. known[n]: see hrun_plan_search_known.
 * The message names for each limit the least value of all configurations and, with several limits, the least value of
 * configurations within the other limits. Sets err->excess. If none is valid, fails as hrun_plan_search. Result: -1. */
int plan_fail_none(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                   struct hrun_error *err);

/* Visit a valid configuration c, whose P and npes are set. t: times of the options at P. time_s: the largest time of
 * the options that c uses, a lower bound of the time of c. Result: 0, or -1 with *err, which ends plan_each. */
typedef int plan_visit_fn(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                          struct hrun_error *err);
/* Visit all valid configurations of a problem, and add to *counts. Errors: those of the oracle and of visit. */
int plan_each(struct plan_space *s, struct hrun_plan_counts *counts, plan_visit_fn *visit, void *ctx,
              struct hrun_error *err);
/* Fail with HRUN_EINVAL if plan_each would take too long. */
int plan_few_enough(const struct hrun_plan_problem *problem, struct hrun_error *err);

/* Move the list into p->v and p->n; overwrites both. */
void plan_best_move(struct plan_best *b, struct hrun_plan *p);
/* Move the list into a new plan. Errors: HRUN_EINFEASIBLE if the list is empty. */
int plan_finish(struct plan_space *s, struct plan_best *best, const struct hrun_plan_counts *counts,
                double started_s, struct hrun_plan **out, struct hrun_error *err);
/* A monotonic clock, seconds. */
double plan_clock(void);

/* Like hrun_plan_count, for the problem of an existing space. */
int plan_count(struct plan_space *s, double limit, struct hrun_plan_counts *out, struct hrun_error *err);

#endif
