/* internal.h - the inside of predictors; for lib/model alone */
#ifndef HRUN_MODEL_INTERNAL_H
#define HRUN_MODEL_INTERNAL_H

#include "model/corrections.h"
#include "model/netview.h"
#include "model/predict.h"

/* ------------------------------------------------------------------ tasking */

/* Time t in s that the whole configuration would take if all its processes were like the `processes` of this part. */
struct hrun_part_time {
    double t;
    int processes;
};

/* Returns the time of a configuration of parts[n], n >= 1; NAN if a t is NAN. A master is a process of the first
 * part. */
double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n);
/* Returns a lower bound of hrun_tasking_time if `rest` more processes have times of at least `quickest`. */
double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest);

/* Returns the divided work of a worker among P processes, relative to 1/P of the work: 1 if all processes work. */
double hrun_tasking_excess(const struct hrun_tasking *f, int P);
/* Append the text of `term` times the excess. */
void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out);

/* ------------------------------------------------------------------ predictors */

/* The functions of a family's predictor, a struct that begins with a struct hrun_predictor. Contracts are those of
 * hrun_predictor_NAME in predict.h and of the oracle, unless a comment here says more. */
struct hrun_predictor_kind {
    size_t size;               /* of the family's struct */
    /* Fill p, which hrun_predictor_create_net has begun and destroys on failure. */
    int (*init)(struct hrun_predictor *p, enum hrun_model_form form, struct hrun_error *err);
    void (*release)(struct hrun_predictor *p);          /* frees what init made; called also after init failed */
    /* The time of one sub-cluster in a configuration of P processes; see hrun_predictor_time_whole. */
    int (*time_in)(struct hrun_predictor *p, int sub, const struct hrun_config *config, int P,
                   struct hrun_interval *time, struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Contract: hrun_predictor_options below. config is NULL only if the predictor is not `is_whole`. share is NULL
     * except in a family whose shares users choose. NULL: hrun_dealer_options. */
    int (*options)(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share, double *t,
                   struct hrun_error *err);

    /* Called only while p->deals is 1. NULL: hrun_dealer_shares. */
    int (*shares)(struct hrun_predictor *p, const struct hrun_config *config, double *share, struct hrun_error *err);
    /* Set n, base_s and unit_s of each option among P processes; n = 0 if it cannot be used. config NULL: lower bounds
     * over all configurations. Called only if p->dealer is set. */
    int (*lines)(struct hrun_predictor *p, int P, const struct hrun_config *config, struct hrun_line *v,
                 struct hrun_error *err);
    /* Called once after init, in a family with has_common: multiplies the models' times by a factor. */
    void (*scale)(struct hrun_predictor *p, double factor);
    /* Called once after init, for unequal shares; NULL: the family has none. */
    void (*deal)(struct hrun_predictor *p, enum hrun_sharing how);
    /* A family has both or neither. NULL: the call fails with HRUN_EINVAL. */
    int (*balance)(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                   struct hrun_balance *out, struct hrun_error *err);
    int (*fewest)(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                  struct hrun_error *err);
};

struct hrun_predictor {
    const struct hrun_predictor_kind *kind;
    const struct hrun_app *app;
    int64_t N;
    const struct hrun_models **models;  /* nsubs; NULL: none, or made with other constants */
    const char *other;              /* other constants of left out models; NULL: none is left out */
    struct hrun_netview *net;       /* borrowed; NULL: no network */
    int *place;                     /* nsubs: index of each sub-cluster in net, -1: not there */
    int same_subs;                  /* 1: net's sub-clusters are those of the predictor */
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions, most;             /* number of options; upper bound */
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    int deals;                      /* 1: shares are unequal; 0: equal */
    struct hrun_dealer *dealer;     /* NULL: shares are not in units; owned */
    const double *pace;             /* see struct hrun_predictor_source */
    double scale;                   /* factor on the models' times (hrun_corrections_common) */
    struct hrun_tasking tasking;    /* all 0 (equal shares) except in family npt */
    double *parts;                  /* noptions: scratch */
    struct hrun_part_time *used;    /* noptions: scratch, of the options that a configuration uses */
    struct hrun_oracle oracle;      /* the family sets `times` and its optional functions */
};

/* For autorelease. */
void hrun_predictor_release(struct hrun_predictor **p);
/* Set the options: each pair (sub-cluster, M of the definition) for which bind returns 1. bind(p, o, m, err) prepares
 * p->options[o] from models m and returns 1; 0 if m has no model for it; -1 with *err. */
int hrun_predictor_bind(struct hrun_predictor *p,
                        int (*bind)(struct hrun_predictor *p, int o, const struct hrun_models *m,
                                    struct hrun_error *err), struct hrun_error *err);
/* Fail with HRUN_ENODATA: all models were made with other constants. */
int hrun_predictor_fail_constants(const struct hrun_predictor *p, struct hrun_error *err);
/* hrun_oracle.bounds from the times at each P, and hrun_oracle.whole from hrun_predictor_options. */
int hrun_predictor_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err);
int hrun_predictor_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                         struct hrun_error *err);
/* Returns the pace of a sub-cluster; 1 without a pace, or with equal shares. */
double hrun_predictor_pace_of(const struct hrun_predictor *p, int sub);
/* Returns the index of option (sub, m), or -1. */
int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m);

/* Write Ti of all options at P processes to t[noptions]. With has_network, config is one of the network's sub-clusters.
 * A process of sub-cluster i has share[i] times 1/P of the work; share NULL: the shares of the predictor. NAN: the
 * option cannot be used, or its time depends on the configuration and config is NULL. */
int hrun_predictor_options(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                           double *t, struct hrun_error *err);

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus that of one
 * run, whose weighted variance is s2. If dof is 0, s2 is assumed, and the normal distribution replaces Student's.
 * x[r->nterms]: the terms. */
double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t);

/* ------------------------------------------------------------------ shares in whole units */

/* Work in whole units, divided so that the slowest process ends as early as possible. The time of a process is linear
 * in its share. */
struct hrun_dealer {
    int64_t units, least;           /* units of all work; least share of a process */
    double unit;                    /* value of one unit in hrun_predictor_shares */
    enum hrun_sharing how;
    struct hrun_expr *memory;       /* bytes of a process as a function of its share; NULL: independent of it */
    double *memory_bytes;           /* nsubs: bytes of a PE; 0: not limited */
    int64_t *most;                  /* noptions: units that fit into the memory of a process; -1: depends on P */
    struct hrun_line *lines, *parts;    /* noptions: of each option; nsubs: of a configuration's parts */
    int64_t *share;                 /* nsubs: units of each part */
    int *sub_of;                    /* nsubs: sub-cluster of each part */
};

/* Create p->dealer, without units and memory. Requires the options of p. */
void hrun_dealer_create(struct hrun_predictor *p);
void hrun_dealer_destroy(struct hrun_dealer *d);
/* Set the functions of p->oracle for dealt shares, except rule, memory and lines_bound. */
void hrun_dealer_use(struct hrun_predictor *p);
/* Limit the units of a process by the memory of PEs: bytes[nsubs], NULL: no limits. */
int hrun_dealer_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
/* Returns the largest number of units that fit into the memory of a process of option o among P; -1 with *err. */
int64_t hrun_dealer_most(const struct hrun_predictor *p, int o, int P, struct hrun_error *err);
/* Returns the units of a process of `sub` in a configuration; -1 with *err if the configuration has no time. */
int64_t hrun_dealer_units(struct hrun_predictor *p, int sub, const struct hrun_config *config, struct hrun_error *err);
/* Functions of struct hrun_predictor_kind. */
int hrun_dealer_options(struct hrun_predictor *p, const struct hrun_config *config, double *t, struct hrun_error *err);
int hrun_dealer_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                       struct hrun_error *err);

/* ------------------------------------------------------------------ corrections */

/* Set *out to the correction of configuration i at N. */
void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out);

/* ------------------------------------------------------------------ formulas, and the families */

/* The ranks for which a formula is evaluated. */
struct hrun_formula_ranks {
    int P;
    const double *share, *perf; /* P each */
    /* Set the time of a network operation; NULL: all are 0. Returns 0, or -1 with *err. */
    int (*network)(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err);
    void *ctx;
    double latency_s, bandwidth_bytes_per_s;
};

/* Write the time of each process to time_s[P]. room: (P + 1) * (HRUN_FORMULA_VARIABLES + f->n + 1) numbers of scratch.
 * Errors: HRUN_ENONFINITE naming step, N and P (also for an invalid argument of a function), those of network. */
int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err);

extern const struct hrun_family hrun_family_npt, hrun_family_weak, hrun_family_ring, hrun_family_analytic;

#endif
