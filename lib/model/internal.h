/* internal.h - the inside of predictors; for lib/model alone */
#ifndef HRUN_MODEL_INTERNAL_H
#define HRUN_MODEL_INTERNAL_H

#include "model/corrections.h"
#include "model/netview.h"
#include "model/predict.h"

/* ------------------------------------------------------------------ how work is dealt out */

/* What a part of a configuration would take if all its processes were as those of this part. */
struct hrun_part_time {
    double t;
    int processes;
};

/* The time of a configuration of n parts, n >= 1; the master, where there is one, is a process of the first. NAN where
 * a t is. */
double hrun_tasking_time(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n);
/* A lower bound of it, where `rest` more processes take `quickest` at least. */
double hrun_tasking_least(const struct hrun_tasking *f, const struct hrun_part_time *parts, int n, int rest,
                          double quickest);

/* Divided work of P processes: how much more than a P-th a worker has of it. 1 where all work. */
double hrun_tasking_excess(const struct hrun_tasking *f, int P);
/* The same as the text of a term: append `term`, times the excess. */
void hrun_tasking_term(const struct hrun_tasking *f, const char *term, struct hrun_buf *out);

/* ------------------------------------------------------------------ predictors */

/* The functions of a family's predictor, a struct that begins with a struct hrun_predictor. Contracts are those of
 * hrun_predictor_NAME in predict.h and of the oracle, unless a comment here says more. */
struct hrun_predictor_kind {
    size_t size;               /* of the family's struct */
    /* Fill p, which hrun_predictor_create_net has begun and destroys on failure. */
    int (*init)(struct hrun_predictor *p, enum hrun_model_form form, struct hrun_error *err);
    void (*release)(struct hrun_predictor *p);          /* what init made, or a part of it */
    /* The time of one sub-cluster in a configuration of P processes; see hrun_predictor_time_whole. */
    int (*time_in)(struct hrun_predictor *p, int sub, const struct hrun_config *config, int P,
                   struct hrun_interval *time, struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Contract: hrun_predictor_options below. config is NULL only if the predictor is not `is_whole`. share is NULL
     * except in a family whose shares users choose. NULL: those of the dealer. */
    int (*options)(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share, double *t,
                   struct hrun_error *err);

    /* Called only while p->deals is 1. NULL: those of the dealer. */
    int (*shares)(struct hrun_predictor *p, const struct hrun_config *config, double *share, struct hrun_error *err);
    /* base_s and unit_s of the processes of each option among P, for shares in units; n = 0 where it cannot be used.
     * config NULL: lower bounds for all configurations. Only with a dealer. */
    int (*lines)(struct hrun_predictor *p, int P, const struct hrun_config *config, struct hrun_line *v,
                 struct hrun_error *err);
    /* Called once after init, in a family with has_common: multiplies the models' times by a factor. */
    void (*scale)(struct hrun_predictor *p, double factor);
    /* Called once after init, for unequal shares; NULL: the family has none. */
    void (*deal)(struct hrun_predictor *p, enum hrun_sharing how);
    /* Both or neither. NULL: the call fails with HRUN_EINVAL. */
    int (*balance)(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                   struct hrun_balance *out, struct hrun_error *err);
    int (*fewest)(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                  struct hrun_error *err);
};

struct hrun_predictor {
    const struct hrun_predictor_kind *kind;
    const struct hrun_app *app;
    int64_t N;
    const struct hrun_models **models;  /* nsubs: NULL also where they were made with other constants */
    const char *other;              /* such constants; NULL: there are none */
    struct hrun_netview *net;       /* borrowed; NULL: there is none */
    int *place;                     /* nsubs: which sub-cluster of net each is, -1: none */
    int same_subs;                  /* 1: net's sub-clusters are those of the predictor */
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions, most;             /* how many; at most */
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    int deals;                      /* 1: shares are dealt out; 0: they are equal */
    struct hrun_dealer *dealer;     /* NULL: shares are not in units; owned */
    const double *pace;             /* see struct hrun_predictor_source */
    double scale;                   /* hrun_corrections_common, by which models are multiplied */
    struct hrun_tasking tasking;    /* families that deal out shares: equal ones */
    double *parts;                  /* noptions: scratch */
    struct hrun_part_time *used;    /* noptions: scratch, of the options that a configuration uses */
    struct hrun_oracle oracle;      /* `times`, and what else the family has, are set by it */
};

/* For autorelease. */
void hrun_predictor_release(struct hrun_predictor **p);
/* Set the options: each (sub-cluster, M of the definition) for which bind gives 1. bind(p, o, m, err) prepares
 * p->options[o], by models m: 1; 0: they have none for it; -1 with *err. */
int hrun_predictor_bind(struct hrun_predictor *p,
                        int (*bind)(struct hrun_predictor *p, int o, const struct hrun_models *m,
                                    struct hrun_error *err), struct hrun_error *err);
/* Fail: there are only models with other constants. */
int hrun_predictor_fail_constants(const struct hrun_predictor *p, struct hrun_error *err);
/* hrun_oracle.bounds by the times at each P, and hrun_oracle.whole by `options`. */
int hrun_predictor_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err);
int hrun_predictor_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                         struct hrun_error *err);
/* What times of a sub-cluster are multiplied by. */
double hrun_predictor_pace_of(const struct hrun_predictor *p, int sub);
/* The number of the option, -1: there is none. */
int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m);

/* Ti of all options at P into t[noptions], in a configuration (of the network's sub-clusters if has_network). A process
 * of sub-cluster i has share[i] times a P-th of the work; share NULL: the shares that the predictor deals out. NAN: the
 * option cannot be used there, or its time depends on the configuration and config is NULL. */
int hrun_predictor_options(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                           double *t, struct hrun_error *err);

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus
 * that of one run, whose weighted variance is s2. dof 0: s2 was assumed and not estimated, so the normal
 * distribution. x[r->nterms]: the terms. */
double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t);

/* ------------------------------------------------------------------ shares in whole units */

/* Work that is dealt out in whole units, so that the slowest process ends as early as can be. What a process takes is a
 * line in its share. */
struct hrun_dealer {
    int64_t units, least;           /* in all, and of a process */
    double unit;                    /* what hrun_predictor_shares gives for one */
    enum hrun_sharing how;
    struct hrun_expr *memory;       /* bytes of a process by its share; NULL: they do not depend on it */
    double *memory_bytes;           /* nsubs: of a PE, 0: not limited */
    int64_t *most;                  /* noptions: units that fit into the memory of a process; -1: P decides */
    struct hrun_line *lines, *parts;    /* noptions; nsubs: those of a configuration */
    int64_t *share;                 /* nsubs: units of each part */
    int *sub_of;                    /* nsubs: of each part */
};

/* Make p->dealer, which has neither units nor memory yet. The options of p are there. */
void hrun_dealer_create(struct hrun_predictor *p);
void hrun_dealer_destroy(struct hrun_dealer *d);
/* Let the oracle be that of dealt shares, but for rule, memory and lines_bound. */
void hrun_dealer_use(struct hrun_predictor *p);
/* Limit the units of a process by the memory of PEs: bytes[nsubs], NULL: no limits. */
int hrun_dealer_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
/* The most units that a process of option o among P has memory for, or -1. */
int64_t hrun_dealer_most(const struct hrun_predictor *p, int o, int P, struct hrun_error *err);
/* What a process of `sub` has in a configuration, in units; -1 with *err where there is no such time. */
int64_t hrun_dealer_units(struct hrun_predictor *p, int sub, const struct hrun_config *config, struct hrun_error *err);
/* Rows of struct hrun_predictor_kind. */
int hrun_dealer_options(struct hrun_predictor *p, const struct hrun_config *config, double *t, struct hrun_error *err);
int hrun_dealer_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                       struct hrun_error *err);

/* ------------------------------------------------------------------ corrections */

/* The correction of configuration i at N. */
void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out);

/* ------------------------------------------------------------------ formulas, and the families */

/* What a formula is evaluated with. */
struct hrun_formula_ranks {
    int P;
    const double *share, *perf; /* P each */
    /* What an operation of the network takes, in s; NULL: nothing. 0, or -1 with *err. */
    int (*network)(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err);
    void *ctx;
    double latency_s, bandwidth_bytes_per_s;
};

/* The seconds of each process into time_s[P]. room: (P + 1) * (HRUN_FORMULA_VARIABLES + f->n + 1) numbers of scratch.
 * Errors: HRUN_ENONFINITE naming step, N and P (also a function's argument that has no sense), those of network. */
int hrun_formula_eval(const struct hrun_formula *f, double N, const struct hrun_formula_ranks *ranks, double *room,
                      double *time_s, struct hrun_error *err);

extern const struct hrun_family hrun_family_npt, hrun_family_weak, hrun_family_ring, hrun_family_analytic;

#endif
