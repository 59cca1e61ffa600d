/* predict.h - times, shares and balance that models predict; the theory is in hrun-model(7) */
#ifndef HRUN_MODEL_PREDICT_H
#define HRUN_MODEL_PREDICT_H

#include "base/interval.h"
#include "model/model.h"

struct hrun_predictor;
struct hrun_corrections;

/* A prediction of all sub-clusters for one N. models[nsubs]: NULL for a sub-cluster without a profile (its
 * options do not exist); models made with other constants than the definition's count as NULL. Options exist
 * for the M that the definition allows and that have a model of the family or `single`. The models must
 * outlive the predictor, and so must app. Terms with coefficient 0 are never evaluated for a time.
 * Errors: HRUN_EPARSE (a stored term that does not compile), HRUN_ENODATA (no sub-cluster has a model of this
 * family; `single` alone will do when nothing else was ever fitted), HRUN_ENONFINITE (a coefficient, or a
 * term over N alone, has no finite value). */
struct hrun_predictor *hrun_predictor_create(const struct hrun_app *app, struct hrun_models *const *models,
                                             int nsubs, enum hrun_model_form form, int64_t N,
                                             struct hrun_error *err);
void hrun_predictor_destroy(struct hrun_predictor *p);

/* What a predictor is made from. The first five members are the arguments of hrun_predictor_create. */
struct hrun_predictor_source {
    const struct hrun_app *app;
    struct hrun_models *const *models;
    int nsubs;
    enum hrun_model_form form;
    int64_t N;
    struct hrun_netview *net;   /* for network terms; must outlive the predictor; NULL: there is none */
    const int *place;           /* nsubs: the number of each sub-cluster in net; NULL: the same numbers */

    /* How the work is divided: equally (0) or otherwise. Definitions without `shares`, forms other than NP-T, and
     * programs whose tasking ignores shares or is dynamic always divide it in their own way. */
    enum hrun_sharing sharing;
    const double *memory;       /* nsubs: bytes of a PE, which limit the shares that a family deals out; 0, or NULL:
                                   no limit */
    const struct hrun_corrections *common;  /* made for the same sharing: predictions are multiplied by
                                               hrun_corrections_common; NULL: by 1 */
    const double *pace;         /* nsubs: factors on the times of unequal shares (hrun_waits_pace); must outlive the
                                   predictor; NULL: 1 */
};

/* hrun_predictor_create with all that a source may have. Nothing changes a predictor's predictions afterwards, except
 * hrun_predictor_fewest. If network terms are in use and the sub-clusters are those of net, the oracle
 * is not separable (oracle.h): its times are lower bounds, and its `whole` is the max over the used sub-clusters of the
 * times in the configuration. Errors: also HRUN_ENODATA for a model with a network term but without a network. */
struct hrun_predictor *hrun_predictor_create_net(const struct hrun_predictor_source *from, struct hrun_error *err);

/* Append the network terms in use whose operation at N with P processes is one whose times jump (hrun_net_irregular),
 * with blanks and commas between them: "gather(8*N/P)". Nothing: there is none. */
void hrun_models_irregular(const struct hrun_app *app, struct hrun_models *const *models, int nsubs,
                           const struct hrun_net *net, int64_t N, int P, struct hrun_buf *which);

/* Do the models have network terms in use? 1 or 0. */
int hrun_predictor_has_network(const struct hrun_predictor *p);
/* Does one of models[nsubs] (NULL: none) have network terms? used = 1: with a coefficient that is not 0; used = 0: were
 * they looked at when it was fitted? */
int hrun_models_have_network(const struct hrun_app *app, struct hrun_models *const *models, int nsubs, int used);

/* The table for lib/plan; valid as long as the predictor. Its bounds are the sums of the least values of the
 * terms over an interval: a term known to behave as c P^a ln(P)^b has its least value at an end of the
 * interval, others are tabulated. For lo = hi they are the times themselves. Errors of times: HRUN_ENONFINITE
 * naming term, N and P when a term in use has no value at this P; t is undefined. Errors of bounds: the same
 * for the first such P of the interval that the rule accepts; those of the rule at a P without value; b
 * is undefined. */
const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p);

/* Ti(N, P, M) of a sub-cluster alone, with its 95 % prediction interval (hrun-model(7), "Intervals"); its low end is
 * never below 0, and the time is that of the oracle to the last bit. Errors: HRUN_ENODATA (no model for this option
 * and P, or with network terms fewer PEs than P / m), HRUN_ENONFINITE (also a prediction that is not above 0). */
int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, struct hrun_interval *time,
                        struct hrun_error *err);

/* The time of a configuration, in s: that of its parts together. sub_time_s[nsubs] (may be NULL): of each part;
 * *limiting (may be NULL): whose is the largest. All are undefined on failure. Errors: those of hrun_predictor_time. */
int hrun_predictor_time_whole(struct hrun_predictor *p, const struct hrun_config *config, struct hrun_interval *time,
                              double *sub_time_s, int *limiting, struct hrun_error *err);
/* How the program deals its work out, as its runs show. */
const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p);

/* How the work is dealt out in a configuration: share[nsubs], of each process of a sub-cluster, 0 where it is not used.
 * In the unit of the definition (weak: rows of the mesh; npt: units, of which the last processes may have one less
 * where all together are too many), or relative to each other; all 1 where shares are equal. Errors: those of
 * hrun_predictor_time. */
int hrun_predictor_deals(const struct hrun_predictor *p);   /* 0: its shares are always equal */
int hrun_predictor_shares(struct hrun_predictor *p, const struct hrun_config *config, double *share,
                          struct hrun_error *err);

/* The time of a configuration each process of which has share[nsubs] of the whole of the work (NULL: equal), without
 * an interval. Errors: those of hrun_predictor_time. */
int hrun_predictor_time_shared(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                               double *time_s, struct hrun_error *err);

/* Runs with shares that are this far from those of now say little of these. */
#define HRUN_SHARES_FAR 0.15
/* ln(measured / predicted) of a configuration with the shares of now after a run with others that are near, by what
 * this says, `then`, with the prediction for its own shares, and `now` with that for those of now. Where models told
 * too long a time then, dealing anew gains no more than they say. */
double hrun_shares_rest(double then, double now);
/* How far shares, as above, are from those that the predictor deals out: the largest change of a part's own time,
 * relative to the longest, or of its share, as far as it is more than a unit, whichever is more; INFINITY where the
 * configuration cannot be predicted. */
void hrun_predictor_share_change(struct hrun_predictor *p, const struct hrun_config *config, const double *share,
                                double *out);

/* How well a configuration uses the PEs npes[nsubs] that there are, where the family tells (hrun-model(7), "ring"). */
struct hrun_balance {
    int q;                     /* processes */
    double loss;               /* gamma of eq. 11: what imbalance loses, 0.1 for 10 % */
    double least;              /* the least loss of all configurations with q processes, by dynamic programming; NAN:
                                  there is none, or there are too many PEs */
    double rounded;            /* the loss if each sub-cluster's PEs got the number nearest to their share of q; NAN:
                                  these are not q */
    double efficiency;         /* eq. 1: the work over what all PEs would do in the predicted time */
};
int hrun_predictor_has_balance(const struct hrun_predictor *p);   /* 0: the next two fail with HRUN_EINVAL */
/* Errors: HRUN_ENODATA (a model without speeds), those of hrun_predictor_time. */
int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const struct hrun_config *config,
                           struct hrun_balance *out, struct hrun_error *err);

/* The fewest processes q that the rule accepts with which some configuration loses at most `loss`, and what it loses.
 * Memory is not asked. The oracle then has, with q processes, only options that lose no more. Errors, which leave it
 * as it is: HRUN_EINFEASIBLE (none loses so little), HRUN_ENONFINITE. */
struct hrun_fewest {
    int q;
    double loss;
};
int hrun_predictor_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                          struct hrun_error *err);

/* The range of N and of P that the model used was measured at: sizes[2] and counts[2], least and greatest. 0, or -1
 * without a model. */
int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* How far v lies outside lo..hi, all above 0: 1 inside, else the ratio to the nearer end. */
double hrun_beyond(int64_t v, int64_t lo, int64_t hi);

#endif
