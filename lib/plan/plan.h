/* plan.h - configurations, the exact search, objectives
 *
 * Order of configurations ("better"): smaller objective value, then fewer PEs in all, then lexicographically
 * smaller (P1,M1,P2,M2,...). This order is total, so each answer is unique, and the exhaustive and the fast search give
 * the same answer.
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

/* A quantity to minimise. value() maps a predicted time and a configuration to it. A configuration whose value is not
 * finite has no usable time. A separable value() never decreases when the time grows, and may get an empty config. */
struct hrun_objective {
    const char *name;       /* "time" */
    const char *unit;       /* "s" */
    double (*value)(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);
    int separable;          /* 1: the value depends on the time alone and grows with it: the fast search is exact */
    double (*rate)(const struct hrun_plan_sub *sub);  /* of a PE, must be > 0; NULL: the value has no rate */
    const char *rate_key;   /* the key of the rate in a cluster file */
};
enum { HRUN_OBJECTIVE_TIME, HRUN_OBJECTIVE_COST, HRUN_OBJECTIVE_ENERGY, HRUN_OBJECTIVES };
extern const struct hrun_objective hrun_objectives[HRUN_OBJECTIVES];
/* Find an objective by its name. Result: NULL if none has it. */
const struct hrun_objective *hrun_objective_find(const char *name);

/* Cost and energy (J) of a run: its time times the sum of cost_per_hour or power_w over the PEs used. */
double hrun_plan_cost(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);
double hrun_plan_energy(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs);

/* Upper limits of the predicted values of a configuration; 0: not limited. */
struct hrun_plan_limits {
    double time_s, cost, energy_j;
    int pes;
};

struct hrun_plan_problem {
    const struct hrun_oracle *oracle;
    const struct hrun_plan_sub *subs;  /* oracle->nsubs entries */
    const struct hrun_objective *objective; /* NULL: time */
    int P;                             /* > 0: only configurations with this many processes (-n); 0: any */
    const struct hrun_plan_limits *limits; /* NULL: none. Configurations beyond them count as valid */
};

struct hrun_choice {
    struct hrun_config config;
    int P;                  /* processes */
    int npes;               /* sum Pi */
    double time_s;          /* max Ti; if the model is not separable, the time of the whole configuration */
    double value;           /* of the objective */
    double ranked_s;        /* the time by which a search ranks it: time_s times its rank factor (struct hrun_known)
                             * over that of v[0]; above time_s if it is less certain than v[0] */
    int limiting;           /* the sub-cluster with the largest Ti, the first one if several are equal */
};

struct hrun_plan_counts {   /* double, because numbers of configurations can exceed any integer type */
    int counted;            /* 1: all members are set; 0: too many to count, all members but total are 0 */
    double total;           /* configurations of the options: those with problem->P processes, or all with P > 0 if
                             * problem->P is 0 or counted is 0 */
    double valid;
    double excluded_rule;   /* each excluded configuration counts once, under its first reason */
    double excluded_memory;
    double excluded_model;  /* no usable time at its P */
};

struct hrun_plan {
    struct hrun_choice *v;  /* best first; owned */
    int n;                  /* min(top, number of valid configurations), at least 1 */
    struct hrun_plan_counts counts;
    int exact;              /* 1: the list is proven; with unequal shares of work, only the value of v[0] is */
    double gap;             /* no valid configuration has a value below v[0].value / (1 + gap); 0 if exact, INFINITY if
                             * no bound is known */
    long evaluated;         /* configurations evaluated as a whole; 0 for a separable model */
    double search_s;        /* time the search took */
};

/* Find the `top` best configurations (top >= 1), best first. For a model that is not separable the search may end
 * before its proof (search_nonseparable.h): then exact is 0 and gap is set. With unequal shares of work (oracle->lines)
 * exact proves the value of v[0] only: others of this value may precede it, and the rest of the list may miss better
 * ones. Objectives that are not separable and limits other than of time make the search exhaustive.
 * Errors: HRUN_EINFEASIBLE (none is valid or within the limits; the message says why), HRUN_EINVAL (more than 2^30
 * processes possible, too many configurations for this objective), errors of the oracle. Bounds of the oracle must not
 * exceed a usable Ti by more than a fraction of 1e-9, which is for rounding. */
int hrun_plan_search(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                     struct hrun_error *err);

/* hrun_plan_search with known[n], n different configurations: their factors scale their times, their rank factors their
 * places in the order. Times and values in *out exclude rank factors. Known configurations that are not valid here are
 * ignored. Errors: those of hrun_plan_search. */
int hrun_plan_search_known(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                           struct hrun_plan **out, struct hrun_error *err);

/* 1 if v[k] follows a choice of larger value, because the time of v[k] is less certain; else 0. */
int hrun_plan_is_doubted(const struct hrun_plan *p, int k);
/* Append the difference of time_s from base_s, "-1.7 %"; if doubted also that of ranked_s, "-1.7 % (less certain:
 * ranked as +31 %)". */
void hrun_plan_print_behind(double time_s, int doubted, double ranked_s, double base_s, struct hrun_buf *out);

/* The result of hrun_plan_search by evaluation of every configuration (paper 000, Fig. 1): the reference for tests, for
 * small instances. */
int hrun_plan_exhaustive(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                         struct hrun_error *err);
void hrun_plan_destroy(struct hrun_plan *p);

/* Find the Pareto front of time and the problem's objective (cost, energy), quickest first. Of configurations that are
 * equal in both the first in order is kept. known[n]: see hrun_plan_search_known; rank factors are ignored. Exact:
 * evaluates every configuration, at most 5 million. Errors: those of hrun_plan_search. */
int hrun_plan_pareto(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                     struct hrun_plan **out, struct hrun_error *err);

/* Count configurations without enumeration. limit: approximate limit of the additions (one per option and P for each
 * set of options that is usable at some P, 16 per evaluated time); 1e8 take about 0.1 s. Beyond it, and beyond 2^53
 * configurations, only the total is set. hrun_plan_search counts with a limit of a few ms. */
int hrun_plan_count(const struct hrun_plan_problem *problem, double limit, struct hrun_plan_counts *out,
                    struct hrun_error *err);

/* Evaluate one configuration. check: 0 to ignore problem->P, rule and memory. Errors: HRUN_EINVAL naming the reason
 * (more PEs than the sub-cluster has, M without PEs, rule, memory, no model). */
int hrun_plan_evaluate(const struct hrun_plan_problem *problem, const struct hrun_config *config, int check,
                       struct hrun_choice *out, struct hrun_error *err);

#endif
