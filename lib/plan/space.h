/* space.h - the configurations of one problem, and what is known of them at each P
 *
 * Purpose: what counting, exhaustive and fast search share: the options grouped by sub-cluster, one row per P
 * with the rule's answer and the value of every option, and the list of the best configurations seen.
 * Invariants:
 *   - options of sub-cluster i are first[i] .. first[i+1]-1, M ascending;
 *   - a row is asked of the oracle once while rows are kept; times and memory only if the rule accepts P;
 *   - struct plan_best is sorted, best first, and holds at most `top` configurations, no two alike.
 */
#ifndef HRUN_PLAN_SPACE_H
#define HRUN_PLAN_SPACE_H

#include "plan/plan.h"

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

/* keep_rows: keep a row per P, else only the last. Errors: HRUN_EINVAL (more than PLAN_MAX_P processes); *s is safe to
 * release either way. */
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

/* Does a configuration that takes time_s keep the problem's limits? */
int plan_keeps(const struct hrun_plan_problem *problem, double time_s, const struct hrun_config *config);
/* HRUN_EINFEASIBLE: no configuration is valid, and why, as known or counted now. Result: -1. */
int plan_fail_infeasible(struct plan_space *s, const struct hrun_plan_counts *known, struct hrun_error *err);

/* HRUN_EINFEASIBLE: none keeps the problem's limits, of configurations of which known[n] have the times said. The
 * message names for each limit the least of all configurations and, of several limits, of those that keep the others;
 * err->excess is set. Or, where none is valid, as hrun_plan_search. Result: -1. */
int plan_fail_none(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                   struct hrun_error *err);

/* Gets a valid configuration with its P and npes, the times t of the options at P, and the largest of those used: a
 * more exact time is not below it. Result: 0, or -1 with *err, which ends plan_each. */
typedef int plan_visit_fn(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                          struct hrun_error *err);
/* Visit all valid configurations of a problem, and count as the search does. Errors: those of the oracle. */
int plan_each(struct plan_space *s, struct hrun_plan_counts *counts, plan_visit_fn *visit, void *ctx,
              struct hrun_error *err);
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

#endif
