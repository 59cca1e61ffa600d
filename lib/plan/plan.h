/* plan.h - configurations, the exact search, objectives
 *
 * Order of configurations ("better"): smaller objective value, then fewer PEs in all, then lexicographically
 * smaller (P1,M1,P2,M2,...). This order is total, so each answer is unique; exhaustive and fast search must
 * agree on it.
 * A configuration is valid when the rule accepts P, every used option has a usable time at P, and Mi
 * processes fit into the memory of a PE.
 */
#ifndef HRUN_PLAN_H
#define HRUN_PLAN_H

#include "base/buf.h"
#include "base/config.h"
#include "base/error.h"
#include "model/oracle.h"

struct hrun_plan_sub {
    int npes;               /* |Gi|: PEs that may be used */
    double memory_bytes;    /* per PE; 0: not limited */
    double cost_per_hour, power_w; /* per PE, for objectives other than time */
};

/* What is minimised. One row per objective; value() gets the predicted time and the
 * configuration. A value that is not finite makes the configuration one without a usable time. A separable
 * value() never falls when the time grows, and is asked with no PE in use. */
struct hrun_objective {
    const char *name;       /* "time" */
    const char *unit;       /* "s" */
    double (*value)(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);
    int separable;          /* 1: value depends on time alone and grows with it; the fast search is exact */
    double (*rate)(const struct hrun_plan_sub *sub);  /* what a PE costs: must be above 0. NULL: time alone counts */
    const char *rate_key;   /* the key of a cluster file that gives it */
};
enum { HRUN_OBJECTIVE_TIME, HRUN_OBJECTIVE_COST, HRUN_OBJECTIVE_ENERGY, HRUN_OBJECTIVES };
extern const struct hrun_objective hrun_objectives[HRUN_OBJECTIVES];
/* The one with this name; NULL: there is none. */
const struct hrun_objective *hrun_objective_find(const char *name);

/* The money and the energy (J) that a run takes: time times PEs times what each costs and draws. */
double hrun_plan_cost(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);
double hrun_plan_energy(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);

/* What a configuration must keep, as predicted; 0: no such limit. */
struct hrun_plan_limits {
    double time_s, cost, energy_j;
    int pes;
};

struct hrun_plan_problem {
    const struct hrun_oracle *oracle;
    const struct hrun_plan_sub *subs;  /* oracle->nsubs entries */
    const struct hrun_objective *objective; /* NULL: time */
    int P;                             /* > 0: only configurations with this many processes (-n); 0: any */
    const struct hrun_plan_limits *limits; /* NULL: none. They do not change what is counted as valid */
};

struct hrun_choice {
    struct hrun_config config;
    int P;                  /* processes */
    int npes;               /* sum Pi */
    double time_s;          /* max Ti; of a model that is not separable, its time of the whole */
    double value;           /* of the objective */
    double ranked_s;        /* of a search: the time that ranks it, where rank factors (struct hrun_known) are relative
                             * to that of v[0]: v[0].time_s for v[0], above time_s for what is less certain */
    int limiting;           /* the sub-cluster with the largest Ti, the first of several */
};

struct hrun_plan_counts {   /* all as double: they may be astronomically many */
    int counted;            /* 1: all are known; 0: too many to count, all but total are 0 */
    double total;           /* configurations over the options that exist: those with problem->P processes, or
                             * all with P > 0 when none is given; if not counted, always all */
    double valid;
    double excluded_rule;   /* each excluded configuration counts once, under its first reason */
    double excluded_memory;
    double excluded_model;  /* no usable time at its P */
};

struct hrun_plan {
    struct hrun_choice *v;  /* best first; owned */
    int n;                  /* min(top, number of valid configurations), at least 1 */
    struct hrun_plan_counts counts;
    int exact;              /* 1: proven; where work is dealt out in unequal shares, for the value of v[0] */
    double gap;             /* not exact: no configuration is better than v[0] by more than this fraction, 0.03 for
                             * value >= v[0].value / 1.03; INFINITY when nothing is known. Exact: 0 */
    long evaluated;         /* configurations looked at as a whole; 0 of a separable model */
    double search_s;        /* time the search took */
};

/* The `top` best configurations (top >= 1), in their order. Exact, but for models that are not separable where that
 * takes too long (search_nonseparable.h): then exact = 0, and gap says how much better another configuration may be. Of
 * unequal shares of work (oracle->lines) the value of v[0] is proven first; then others of its value may come before
 * it, and behind it there may be better ones than those listed. Objectives that are not separable, and limits other
 * than of the time, are served by hrun_plan_exhaustive.
 * Errors: HRUN_EINFEASIBLE (none is valid or keeps the limits; the message says why), HRUN_EINVAL (more than 2^30
 * processes possible, too many configurations for this objective), errors of the oracle, whose bounds must not exceed a
 * usable Ti by more than a fraction of 1e-9, which leaves room for rounding. */
int hrun_plan_search(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                     struct hrun_error *err);

/* hrun_plan_search where known[n], which differ from each other, have the times said, and the places that their rank
 * factors give them; as exact, and with the same counts. Times and values in *out are without rank factors. Known
 * configurations that are not valid here do not matter. Errors: the same. */
int hrun_plan_search_known(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                           struct hrun_plan **out, struct hrun_error *err);

/* 1 if v[k] is behind one whose value is larger, because its time is less certain. */
int hrun_plan_is_doubted(const struct hrun_plan *p, int k);
/* Append how much longer than base_s something takes, "-1.7 %"; doubted: also the time that ranks it, "-1.7 % (less
 * certain: ranked as +31 %)". */
void hrun_plan_print_behind(double time_s, int doubted, double ranked_s, double base_s, struct hrun_buf *out);

/* The same as hrun_plan_search by looking at every configuration (paper 000, Fig. 1): the reference. For small
 * instances. */
int hrun_plan_exhaustive(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                         struct hrun_error *err);
void hrun_plan_destroy(struct hrun_plan *p);

/* The configurations than which none is both quicker and better by the problem's objective (cost, energy), known[n] as
 * above without rank factors: quickest first, so that each further one is better by the objective. Of equals the first
 * in the order of configurations. Exact, by a look at every configuration, up to 5 million. Errors: those of
 * hrun_plan_search. */
int hrun_plan_pareto(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                     struct hrun_plan **out, struct hrun_error *err);

/* Count configurations, without looking at each: limit is about how many additions that may take (one per
 * option and P for each set of options that is usable at some P, 16 per time evaluated); 1e8 is about 0.1 s.
 * Beyond it, and beyond 2^53 configurations, only the total is known. hrun_plan_search does the same with a
 * limit of some ms. */
int hrun_plan_count(const struct hrun_plan_problem *problem, double limit, struct hrun_plan_counts *out,
                    struct hrun_error *err);

/* Evaluate one given configuration. Errors: HRUN_EINVAL naming what is wrong (more PEs than the sub-cluster
 * has, M without PEs, rule, memory, no model); with check = 0 rule and memory are not asked. */
int hrun_plan_evaluate(const struct hrun_plan_problem *problem, const struct hrun_config *config, int check,
                       struct hrun_choice *out, struct hrun_error *err);

#endif
