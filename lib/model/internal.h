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

/* What a family makes a predictor from; the arguments of hrun_predictor_create_net. */
struct hrun_predictor_source {
    const struct hrun_app *app;
    struct hrun_models *const *models;
    int nsubs;
    enum hrun_model_form form;
    int64_t N;
    struct hrun_netview *net;
    const int *place;
};

/* The functions of a family's predictor, which begins with a struct hrun_predictor. NULL: the family has no such
 * function, and predictor.c does what is said beside it. */
struct hrun_predictor_kind {
    void (*destroy)(struct hrun_predictor *p);
    int (*time)(struct hrun_predictor *p, int sub, int m, int P, struct hrun_interval *time, struct hrun_error *err);
    int (*time_in)(struct hrun_predictor *p, int sub, const struct hrun_config *config, struct hrun_interval *time,
                   struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Ti of all options at P, t[noptions], in a configuration (of the network's sub-clusters where has_network); NAN
     * where an option cannot be used there. NULL: those of the oracle. */
    int (*options)(struct hrun_predictor *p, int P, const struct hrun_config *config, double *t,
                   struct hrun_error *err);
    /* Ti of all options at P with share[nsubs] of the work, over a P-th. NULL: as `options`. */
    int (*options_shared)(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share,
                          double *t, struct hrun_error *err);
    /* See hrun_predictor_deal. NULL: there is one way. */
    int (*deal)(struct hrun_predictor *p, enum hrun_sharing how, struct hrun_error *err);
    /* See hrun_predictor_shares. NULL: all are equal. */
    int (*shares)(struct hrun_predictor *p, const struct hrun_config *config, double *share, struct hrun_error *err);
    /* See hrun_predictor_limit_memory. NULL: times do not depend on it. */
    int (*limit_memory)(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
    /* Times are those of the models times p->scale, in a family that has_common. */
    void (*rescale)(struct hrun_predictor *p);
    /* See hrun_predictor_balance and hrun_predictor_fewest. NULL: nothing is known of it. */
    int (*balance)(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                   struct hrun_balance *out, struct hrun_error *err);
    int (*fewest)(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                  struct hrun_error *err);
};

struct hrun_predictor {
    const struct hrun_predictor_kind *kind;
    const struct hrun_app *app;
    int64_t N;
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions;
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    int deals;                      /* 1: shares are those of kind->shares; else equal */
    const double *pace;             /* see hrun_predictor_pace */
    double scales[2], scale;        /* see hrun_predictor_correct: of equal and of dealt shares; the one in use */
    struct hrun_tasking tasking;    /* families that deal out shares: equal ones */
    struct hrun_oracle oracle;
};

/* Begin p, which is zeroed: all but options, has_network and is_whole; of the oracle ctx, nsubs, rule and memory. */
void hrun_predictor_start(struct hrun_predictor *p, const struct hrun_predictor_kind *kind,
                          const struct hrun_predictor_source *from);
/* What times of a sub-cluster are multiplied by. */
double hrun_predictor_pace_of(const struct hrun_predictor *p, int sub);
/* The number of the option, -1: there is none. */
int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m);

/* Ti of all options in a configuration of P processes; NaN where it depends on where they run, and config is NULL. */
int hrun_predictor_options(struct hrun_predictor *p, int P, const struct hrun_config *config, double *t,
                           struct hrun_error *err);
/* The same where each process of sub-cluster i has share[i] of the work, over a P-th; NULL: equal shares. */
int hrun_predictor_options_shared(struct hrun_predictor *p, int P, const struct hrun_config *config,
                                  const double *share, double *t, struct hrun_error *err);

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus
 * that of one run, whose weighted variance is s2. dof 0: s2 was assumed and not estimated, so the normal
 * distribution. x[r->nterms]: the terms. */
double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t);

/* Are they for unequal shares? */
int hrun_corrections_deal(const struct hrun_corrections *c);

/* The correction of configuration i at N. */
void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out);

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
