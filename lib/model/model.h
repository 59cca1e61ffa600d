/* model.h - from measurements to Ti(N, P, Mi), and back to predictions
 *
 * Families (paper 000), for each sub-cluster and each M:
 *   single  Ti(N) when one PE holds all processes, P = M (section 4.1: "the case P = Mi"): N-T terms
 *   nt      Ti(N) at one P > M: N-T terms (eq. 2)
 *   pt      Ti(N,P) = sum over P-T terms, with T the N-T model at the reference P (eq. 3, Table V)
 *   npt     Ti(N,P) = sum over NP-T terms (eq. 4, Table V)
 * nt, pt and npt hold for P > M only; P = M always goes to `single`.
 * Invariants: only good measurements (ok = 1) with the definition's constants are fitted, and only homogeneous ones
 * (mixed = 0) but for joint.h, which fits a whole cluster; a prediction that is negative or not finite is never given
 * as a time.
 */
#ifndef HRUN_MODEL_H
#define HRUN_MODEL_H

#include "app/app.h"
#include "base/error.h"
#include "model/netview.h"
#include "model/oracle.h"
#include "store/store.h"

enum hrun_family { HRUN_FAMILY_NT, HRUN_FAMILY_PT, HRUN_FAMILY_NPT };
enum hrun_method { HRUN_METHOD_LS, HRUN_METHOD_NNLS };

const char *hrun_family_name(enum hrun_family f);  /* "nt", "pt", "npt" */
const char *hrun_method_name(enum hrun_method m);  /* "ls", "nnls" */
int hrun_family_parse(const char *text, enum hrun_family *out, struct hrun_error *err);
int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err);

/* Row weights 1/sqrt(sigma_abs^2 + (sigma_rel T)^2), where sigma_abs has the rounding of the times added
 * (hrun_times_rounding). Both 0: no weights, as in paper 000. */
struct hrun_fit_options {
    enum hrun_method method;
    double sigma_abs_s;
    double sigma_rel;
    int robust;        /* 1: rows that the others contradict count less (Huber, fit/robust.h) */
    double glitches;   /* k of paper 000's glitch rule (model/glitch.h), 0: off */
    struct hrun_netview *net;  /* the network of the sub-clusters, for network terms (lib/app); NULL: these are left
                                  out. Must outlive what is made with it */
    int own;           /* the sub-cluster of net that the measurements of one sub-cluster are of, where their records do
                          not tell it, -1: not known */
    struct hrun_tasking tasking;  /* of NP-T models: how the work is dealt out; hrun_model_fit_joint finds it itself */
};
/* NNLS, 1 ms (what starting and timing a run jitters by at least), 2 % (run-to-run variation of a quiet
 * node). */
#define HRUN_FIT_OPTIONS_DEFAULT { HRUN_METHOD_NNLS, 1e-3, 0.02, 1, 0, NULL, -1, { 0, 0 } }

/* In place of the 1 ms, for simulated hosts: nothing jitters there, and shorter times no program tells apart. */
#define HRUN_FIT_SIMULATED_ABS_S 1e-6

/* Fit all families for every M that has measurements; repetitions count as rows of their own. Terms that the
 * measurements cannot tell from others are dropped and noted in the record: with NNLS those that are multiples of one
 * before them (N^3 and N^3/P when there is one P); with LS all that are sums of terms before them, as with more terms
 * than different (N, P). NNLS takes any number of terms: with N^3, N^2, N, 1 and three sizes, N^3 + 1 is no other sum
 * of them with coefficients >= 0. Where several sums fit equally well, it begins with the first term of the list and
 * goes on with those that explain most of what is left (hrun_fit_nnls): a definition's first term is its main
 * computation. In either case the coefficients in use are never more than the different (N, P).
 * With NNLS and options->robust, measurements that the others contradict count less (Huber); the record's note says how
 * many are far off. LS, the reference of paper 000, does not.
 * With options->robust s2 is that of an M-estimate (fit/robust.h).
 * Network terms (lib/app) of npt are what the operation takes in the configuration of each run, told by its record, so
 * that their coefficients are counts and hold in any configuration, on other sub-clusters too. LS leaves them out, and
 * so does a fit without options->net; the record's note says so. Runs whose places the network does not know
 * (sub-clusters of other names, more PEs than there are) are not used then, and *skipped says how many. Families for
 * which there are too few measurements are left out and *skipped (may be NULL) says which and why, one line each. Too
 * few: a family needs two different N, as one size tells nothing of how time follows N; pt needs two different P > M,
 * as one tells nothing of how it follows P (so M = 1 on two PEs has no pt; it has npt, and hrun_predictor_time says
 * what its intervals are worth). T of the P-T models is the N-T model of the same method at the smallest measured P >
 * M that has one. Without degrees of freedom s2 is what the weights assume (1), or without weights the variance of the
 * default options at the mean time.
 * Result: *out with app, signature "", subcluster "", consts and dates filled; it does not depend on the
 * order of samples.
 * Errors: HRUN_ENODATA when no model at all can be made (saying what became of the measurements),
 * HRUN_ENONFINITE (a time that is not finite and positive; a term that is not finite at a measured point,
 * naming term, N and P), HRUN_EINVAL (bad options, P < M), those of lib/fit. */
int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err);

/* A model that is so far off, on average, cannot tell a number of PEs from twice as many, which halves the time at
 * best. */
#define HRUN_MODELS_MISS 0.5
/* Append to *which, separated by "; ", the models of models[n] (NULL: none) that miss their own measurements by more:
 * "npt of slow with 2 processes per PE". N-T models of single P are left out: they are not what choices are made by. */
void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which);

/* Append why samples[n] of one sub-cluster say too little for any model: their times hardly follow N. Nothing where all
 * is well. Errors: HRUN_ENOMEM. */
int hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out, struct hrun_error *err);

struct hrun_predictor;

/* A prediction of all sub-clusters for one N. models[nsubs]: NULL for a sub-cluster without a profile (its
 * options do not exist); models made with other constants than the definition's count as NULL. Options exist
 * for the M that the definition allows and that have a model of the family or `single`. The models must
 * outlive the predictor, and so must app. Terms with coefficient 0 are never evaluated for a time.
 * Errors: HRUN_EPARSE (a stored term that does not compile), HRUN_ENODATA (no sub-cluster has a model of this
 * family; `single` alone will do when nothing else was ever fitted), HRUN_ENONFINITE (a coefficient, or a
 * term over N alone, has no finite value), HRUN_ENOMEM. */
struct hrun_predictor *hrun_predictor_create(const struct hrun_app *app, struct hrun_models *const *models,
                                             int nsubs, enum hrun_family family, int64_t N,
                                             struct hrun_error *err);
void hrun_predictor_destroy(struct hrun_predictor *p);

/* The same with the network for models that have network terms, NULL: none; net must outlive the predictor.
 * place[nsubs]: which sub-cluster of net each one is, NULL: the same numbers. Where network terms are in use and
 * sub-clusters are those of net, the oracle is not separable (oracle.h): its times are lower bounds, its `whole` the
 * max over the used sub-clusters of the times in the configuration. Errors: also HRUN_ENODATA for a model with a
 * network term but without a network. */
struct hrun_predictor *hrun_predictor_create_net(const struct hrun_app *app, struct hrun_models *const *models,
                                                 int nsubs, enum hrun_family family, int64_t N,
                                                 struct hrun_netview *net, const int *place, struct hrun_error *err);

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
 * for the first such P of the interval that the rule accepts; those of the rule at a P without value;
 * HRUN_ENOMEM; b is undefined. */
const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p);

/* Ti(N, P, M) with its 95 % prediction interval (Student's t on the covariance of the fit, plus the scatter
 * of one run; of P-T models T counts as exact). *low is never below 0. The time is that of the oracle to the
 * last bit.
 * Where an NP-T model of one measured P is asked for another, how time follows P was never seen and rests on
 * the order of the terms: there the interval is wider. For each term in use, its contribution at the measured
 * P is followed to this P by each term of the record that is a multiple of it at the measured P (as 1/P, 1
 * and P are); the sums of the least and of the greatest move *low and *high outwards, and the statistical
 * part is no narrower than the scatter of one run that the weights (or the default options) assume. Terms
 * without a value there do not count.
 * Errors: HRUN_ENODATA (no model for this option and P), HRUN_ENONFINITE (also a prediction that is not above
 * 0). */
int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low,
                        double *high, struct hrun_error *err);

/* The same for sub-cluster sub of the configuration pes[nsubs], procs[nsubs] (of net's sub-clusters, where there is a
 * network; else they are not looked at but for P and procs[sub]). hrun_predictor_time takes of models with network
 * terms the configuration with P / m PEs of this sub-cluster alone; HRUN_ENODATA also when it has fewer. */
int hrun_predictor_time_in(struct hrun_predictor *p, int sub, const int *pes, const int *procs, double *time_s,
                           double *low, double *high, struct hrun_error *err);

/* The time of a configuration and its interval: those of its parts together. sub_time_s[nsubs] (may be NULL): of each
 * part; *limiting: whose is the largest. Errors: those of hrun_predictor_time_in. */
int hrun_predictor_time_whole(struct hrun_predictor *p, int nsubs, const int *pes, const int *procs, double *time_s,
                              double *low, double *high, double *sub_time_s, int *limiting, struct hrun_error *err);
/* How the program deals its work out, as its runs show. */
const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p);

/* How the work is dealt out in a configuration: share[nsubs], of each process of a sub-cluster, 0 where it is not used.
 * In the unit of the definition's family (weak: rows of the mesh), or relative to each other; all 1 where the family
 * deals out equal shares. Errors: those of hrun_predictor_time_in. */
int hrun_predictor_deals(const struct hrun_predictor *p);   /* 0: its shares are always equal */
int hrun_predictor_shares(struct hrun_predictor *p, const int *pes, const int *procs, double *share,
                          struct hrun_error *err);

/* Family ring (paper 004): how well a configuration uses the PEs npes[nsubs] that there are. s_i of eq. 11 is the work
 * per second of a PE with the number of processes that it is fastest with, at N/q points each, alike for all
 * numbers: 0 <= least <= loss, least <= rounded, and PEs of one sub-cluster, all used, lose nothing. */
struct hrun_balance {
    int q;                     /* processes */
    double loss;               /* gamma of eq. 11: what imbalance loses, 0.1 for 10 % */
    double least;              /* the least loss of all configurations with q processes, by dynamic programming; NAN:
                                  there is none, or there are too many PEs */
    double rounded;            /* the loss if each sub-cluster's PEs got the number nearest to their share of q; NAN:
                                  these are not q */
    double efficiency;         /* eq. 1: the work over what all PEs would do in the predicted time */
};
int hrun_predictor_is_ring(const struct hrun_predictor *p);
/* Errors: HRUN_ENODATA (a model without speeds), those of hrun_predictor_time_in. */
int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const int *pes, const int *procs,
                           struct hrun_balance *out, struct hrun_error *err);

/* The fewest processes q that the rule accepts with which some configuration loses at most `loss`, and what it loses.
 * Memory is not asked. The oracle then has, with q processes, only options that lose no more. Errors, which leave it
 * as it is: HRUN_EINFEASIBLE (none loses so little), HRUN_ENONFINITE, HRUN_ENOMEM. */
struct hrun_fewest {
    int q;
    double loss;
};
int hrun_predictor_fewest(struct hrun_predictor *p, const int *npes, double loss, struct hrun_fewest *out,
                          struct hrun_error *err);

/* Tell what a PE of each sub-cluster holds, bytes[nsubs], 0: not limited, before a search: shares that a family deals
 * out keep to it. Errors: those of the definition's expressions. */
int hrun_predictor_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);

/* The range of N and of P that the model used was measured at: sizes[2] and counts[2], least and greatest. 0, or -1
 * without a model. */
int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* How far v lies outside lo..hi, all above 0: 1 inside, else the ratio to the nearer end. */
double hrun_beyond(int64_t v, int64_t lo, int64_t hi);

#endif
