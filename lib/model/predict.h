/* predict.h - times, shares and balance that models predict; the theory is in hrun-model(7) */
#ifndef HRUN_MODEL_PREDICT_H
#define HRUN_MODEL_PREDICT_H

#include "base/interval.h"
#include "model/model.h"

struct hrun_predictor;
struct hrun_corrections;

/* Create the predictor of all sub-clusters for one N. models[nsubs]: NULL for a sub-cluster without a profile (its
 * options do not exist); models made with other constants than the definition's count as NULL. Options exist for the M
 * that the definition allows and that have a model of the family or `single`. The models and app must outlive the
 * predictor. Terms with coefficient 0 are never evaluated for a time.
 * Errors: HRUN_EPARSE (a stored term that does not compile), HRUN_ENODATA (no sub-cluster has a model of this family;
 * `single` alone suffices if nothing else was fitted), HRUN_ENONFINITE (a coefficient, or a term over N alone, has no
 * finite value). */
struct hrun_predictor *hrun_predictor_create(const struct hrun_app *app, struct hrun_models *const *models,
                                             int nsubs, enum hrun_model_form form, int64_t N,
                                             struct hrun_error *err);
void hrun_predictor_destroy(struct hrun_predictor *p);

/* The source of a predictor. The first five members are the arguments of hrun_predictor_create. */
struct hrun_predictor_source {
    const struct hrun_app *app;
    struct hrun_models *const *models;
    int nsubs;
    enum hrun_model_form form;
    int64_t N;
    struct hrun_netview *net;   /* for network terms; must outlive the predictor; NULL: there is none */
    const int *place;           /* nsubs: index of each sub-cluster in net; NULL: sub-cluster i has index i */

    /* How the work is divided; 0: equally. Ignored for definitions without `shares`, forms other than NP-T, and
     * programs whose tasking ignores shares or is dynamic. */
    enum hrun_sharing sharing;
    const double *memory;       /* nsubs: bytes of a PE, which limit the shares that a family deals out; 0, or NULL:
                                   no limit */
    const struct hrun_corrections *common;  /* made for the same sharing: predictions are multiplied by
                                               hrun_corrections_common; NULL: by 1 */
    const double *pace;         /* nsubs: factors on the times of unequal shares (hrun_waits_pace); must outlive the
                                   predictor; NULL: 1 */
};

/* hrun_predictor_create with all members of a source. Predictions of a predictor never change, except by
 * hrun_predictor_fewest. If network terms are in use and the sub-clusters are those of net, the oracle is not separable
 * (oracle.h): its times are lower bounds, and its `whole` is the max over the used sub-clusters of the times in the
 * configuration. Errors: also HRUN_ENODATA for a model with a network term but without a network. */
struct hrun_predictor *hrun_predictor_create_net(const struct hrun_predictor_source *from, struct hrun_error *err);

/* Append the network terms in use whose operation at N and P has irregular times (hrun_net_irregular), separated by ",
 * ": "gather(8*N/P)". Nothing is appended if there are none. */
void hrun_models_irregular(const struct hrun_app *app, struct hrun_models *const *models, int nsubs,
                           const struct hrun_net *net, int64_t N, int P, struct hrun_buf *which);

/* 1 if the models have network terms in use, else 0. */
int hrun_predictor_has_network(const struct hrun_predictor *p);
/* 1 if one of models[nsubs] (NULL: none) has network terms, else 0. used = 1: only terms with coefficients that are not
 * 0; used = 0: also terms that the fit dropped. */
int hrun_models_have_network(const struct hrun_app *app, struct hrun_models *const *models, int nsubs, int used);

/* The table for lib/plan; valid as long as the predictor. Its bounds are the sums of the least values of the
 * terms over an interval: a term known to behave as c P^a ln(P)^b has its least value at an end of the
 * interval, others are tabulated. For lo = hi they are the times themselves. Errors of times: HRUN_ENONFINITE
 * naming term, N and P when a term in use has no value at this P; t is undefined. Errors of bounds: the same
 * for the first P without value that the rule accepts; those of the rule at a P without value; b is undefined. */
const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p);

/* Ti(N, P, M) of a sub-cluster alone, with its 95 % prediction interval (hrun-model(7), "Intervals"); its low end is
 * never below 0, and the time equals the oracle's to the last bit. Errors: HRUN_ENODATA (no model for this option
 * and P, or with network terms fewer PEs than P / m), HRUN_ENONFINITE (also a prediction that is not above 0). */
int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, struct hrun_interval *time,
                        struct hrun_error *err);

/* Time of a configuration in s, from the times of its parts. sub_time_s[nsubs] (may be NULL): time of each part;
 * *limiting (may be NULL): the sub-cluster with the longest time. On failure all are undefined. Errors: those of
 * hrun_predictor_time. */
int hrun_predictor_time_whole(struct hrun_predictor *p, const struct hrun_config *config, struct hrun_interval *time,
                              double *sub_time_s, int *limiting, struct hrun_error *err);
/* Returns how the program divides its work, estimated from its runs. */
const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p);

/* Write the share of each process of each sub-cluster in a configuration to share[nsubs]; 0 if it is not used. Shares
 * are in the unit of the definition (weak: rows of the mesh; npt: units; if their sum is above the work, the last
 * processes have one less), or relative to each other; all are 1 if shares are equal. Errors: those of
 * hrun_predictor_time. */
int hrun_predictor_deals(const struct hrun_predictor *p);   /* 0: its shares are always equal */
int hrun_predictor_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                          struct hrun_error *err);

/* Time in s of a configuration if each process of sub-cluster i has the part share[i] of all work (NULL: equal parts),
 * without an interval. Errors: those of hrun_predictor_time. */
int hrun_predictor_time_shared(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                               double *time_s, struct hrun_error *err);

/* A run whose shares differ by more than this from the present ones does not correct predictions. */
#define HRUN_SHARES_FAR 0.15
/* Returns ln(measured / predicted) for the present shares, from a run with similar shares: `then` is for the run's
 * own shares, `now` for the present shares. If the prediction `then` was too
 * long, new shares gain no more than predicted. */
double hrun_shares_rest(double then, double now);
/* Set *out to the distance of share[nsubs], as above, from the predictor's shares: the larger of the largest change of
 * a part's time, relative to the longest part, and the largest relative change of a share beyond one unit. INFINITY if
 * the configuration cannot be predicted. */
void hrun_predictor_share_change(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                                double *out);

/* How well a configuration uses npes[nsubs] PEs, in families with a balance (hrun-model(7), "ring"). */
struct hrun_balance {
    int q;                     /* processes */
    double loss;               /* gamma of eq. 11: loss by imbalance, 0.1 for 10 % */
    double least;              /* least loss of all configurations with q processes, by dynamic programming; NAN: none,
                                  or too many PEs */
    double rounded;            /* loss if each sub-cluster's PEs had the number nearest to their share of q; NAN: the
                                  sum is not q */
    double efficiency;         /* eq. 1: work over what all PEs can do in the predicted time */
};
int hrun_predictor_has_balance(const struct hrun_predictor *p);   /* 0: the next two fail with HRUN_EINVAL */
/* Errors: HRUN_ENODATA (a model without speeds), those of hrun_predictor_time. */
int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                           struct hrun_balance *out, struct hrun_error *err);

/* Find the fewest processes q that the rule accepts and with which some configuration loses at most `loss`. *out: q and
 * its least loss. Memory is ignored. At q, the oracle then has only options that lose no more. Errors, which leave the
 * oracle unchanged: HRUN_EINFEASIBLE (no such q), HRUN_ENONFINITE. */
struct hrun_fewest {
    int q;
    double loss;
};
int hrun_predictor_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                          struct hrun_error *err);

/* Write the least and greatest N and P at which the model in use was measured to sizes[2] and counts[2]. Returns 0, or
 * -1 without a model. */
int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* Returns how far v is outside lo..hi, all above 0: 1 inside, else the ratio to the nearer end. */
double hrun_beyond(int64_t v, int64_t lo, int64_t hi);

#endif
