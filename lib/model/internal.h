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

/* The functions of a family's predictor, which begins with a struct hrun_predictor. Their contracts are those of
 * hrun_predictor_NAME in predict.h, unless a comment here says more. */
struct hrun_predictor_kind {
    /* Every family has these. */
    void (*destroy)(struct hrun_predictor *p);
    int (*time)(struct hrun_predictor *p, int sub, int m, int P, struct hrun_interval *time, struct hrun_error *err);
    /* The time of one sub-cluster in a configuration; see hrun_predictor_time_whole. */
    int (*time_in)(struct hrun_predictor *p, int sub, const struct hrun_config *config, struct hrun_interval *time,
                   struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Contract: hrun_predictor_options below. config is NULL only if the predictor is not `is_whole`. share is NULL
     * except in a family whose shares users choose. */
    int (*options)(struct hrun_predictor *p, int P, const struct hrun_config *config, const double *share, double *t,
                   struct hrun_error *err);

    /* Called only while p->deals is 1; a family with equal shares alone has NULL. */
    int (*shares)(struct hrun_predictor *p, const struct hrun_config *config, double *share, struct hrun_error *err);
    /* Called only in a family with has_common: multiplies the models' times by p->scale. */
    void (*rescale)(struct hrun_predictor *p);

    /* NULL: the call succeeds and changes nothing. */
    int (*deal)(struct hrun_predictor *p, enum hrun_sharing how, struct hrun_error *err);
    int (*limit_memory)(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
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
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions;
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    int deals;                      /* 1: kind->shares gives the shares; 0: they are equal */
    const double *pace;             /* see hrun_predictor_pace */
    double scales[2], scale;        /* see hrun_predictor_correct: of equal and of dealt shares; the one in use */
    struct hrun_tasking tasking;    /* families that deal out shares: equal ones */
    struct hrun_oracle oracle;
};

/* Sets the members of p, which is zeroed, but options, has_network, is_whole and deals. Of the oracle it sets ctx,
 * nsubs, rule and memory. */
void hrun_predictor_start(struct hrun_predictor *p, const struct hrun_predictor_kind *kind,
                          const struct hrun_predictor_source *from);
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
