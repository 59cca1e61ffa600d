/* predictor.h - what a family of models gives; not for other rooms
 *
 * Purpose: callers have one kind of predictor (model.h); behind it are formulas in N and P (formulas.h: N-T, P-T,
 * NP-T) or the family that the definition names (app->family). Each is a row of functions here.
 * Invariants: the first member of a family's own structure is a struct hrun_predictor; a function that is NULL stands
 * for what is said beside it.
 */
#ifndef HRUN_MODEL_PREDICTOR_H
#define HRUN_MODEL_PREDICTOR_H

#include "model/model.h"

/* What a family makes a predictor from; the arguments of hrun_predictor_create_net. */
struct hrun_predictor_source {
    const struct hrun_app *app;
    struct hrun_models *const *models;
    int nsubs;
    enum hrun_family family;
    int64_t N;
    struct hrun_netview *net;
    const int *place;
};

struct hrun_predictor_kind {
    void (*destroy)(struct hrun_predictor *p);
    int (*time)(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low, double *high,
                struct hrun_error *err);
    int (*time_in)(struct hrun_predictor *p, int sub, const int *pes, const int *procs, double *time_s, double *low,
                   double *high, struct hrun_error *err);
    int (*measured)(const struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);
    /* Ti of all options at P, t[noptions], in a configuration (of the network's sub-clusters where has_network); NAN
     * where an option cannot be used there. NULL: those of the oracle. */
    int (*options)(struct hrun_predictor *p, int P, const int *pes, const int *procs, double *t,
                   struct hrun_error *err);
    /* See hrun_predictor_shares. NULL: all are equal. */
    int (*shares)(struct hrun_predictor *p, const int *pes, const int *procs, double *share, struct hrun_error *err);
    /* See hrun_predictor_limit_memory. NULL: times do not depend on it. */
    int (*limit_memory)(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);
};

struct hrun_predictor {
    const struct hrun_predictor_kind *kind;
    const struct hrun_app *app;
    int64_t N;
    struct hrun_option *options;    /* in order of sub-cluster and M; owned */
    int noptions;
    int has_network;                /* 1: network terms are in use */
    int is_whole;                   /* 1: times depend on the configuration, not on P alone */
    struct hrun_tasking tasking;    /* families that deal out shares: equal ones */
    struct hrun_oracle oracle;
};

/* Begin p, which is zeroed: all but options, has_network and is_whole; of the oracle ctx, nsubs, rule and memory. */
void hrun_predictor_start(struct hrun_predictor *p, const struct hrun_predictor_kind *kind,
                          const struct hrun_predictor_source *from);
/* The number of the option, -1: there is none. */
int hrun_predictor_find(const struct hrun_predictor *p, int sub, int m);
/* How many processes a configuration of its sub-clusters has. */
int hrun_predictor_count(const struct hrun_predictor *p, const int *pes, const int *procs);

/* Ti of all options in a configuration of P processes; NaN where it depends on where they run, and pes is NULL. */
int hrun_predictor_options(struct hrun_predictor *p, int P, const int *pes, const int *procs, double *t,
                           struct hrun_error *err);

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus
 * that of one run, whose weighted variance is s2. dof 0: s2 was assumed and not estimated, so the normal
 * distribution. x[r->nterms]: the terms. */
double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t);

/* Makers, by app->family. */
struct hrun_predictor *hrun_formulas_create(const struct hrun_predictor_source *from, struct hrun_error *err);

#endif
