/* model.h - from measurements to Ti(N, P, Mi), and back to predictions; the theory is in hrun-model(7)
 *
 * Purpose: fit models to the measurements of each sub-cluster, alone or together with those of others; predict times
 * and shares of work; correct predictions by runs of the same configuration; find drift of the machines. How times
 * follow from measurements is the definition's family, a row of one table.
 * Invariants: only good measurements (ok = 1) with the definition's constants are fitted; a prediction that is negative
 * or not finite is never given as a time; times of the network that are remembered change no answer.
 */
#ifndef HRUN_MODEL_MODEL_H
#define HRUN_MODEL_MODEL_H

#include "app/app.h"
#include "base/buf.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "model/oracle.h"
#include "net/net.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ the network of a cluster */

/* Ranks are as lib/layout lays them: component by component of a heterogeneous job, in these sub-cluster by
 * sub-cluster, the first Pi PEs of sub-cluster i, the Mi ranks of a PE next to each other. A view is for one thread at
 * a time. */
struct hrun_netview;

/* The view of the sub-clusters of a cluster, in its order, on a network, which must outlive it. Errors: HRUN_ENODATA (a
 * host that the network has not got, named). */
struct hrun_netview *hrun_netview_create(const struct hrun_net *net, const struct hrun_cluster *cluster,
                                         struct hrun_error *err);
void hrun_netview_destroy(struct hrun_netview *v);

int hrun_netview_nsubs(const struct hrun_netview *v);
/* The sub-cluster with this name, -1. */
int hrun_netview_find(const struct hrun_netview *v, const char *name);
int hrun_netview_npes(const struct hrun_netview *v, int sub);

/* ------------------------------------------------------------------ families, forms and methods */

enum hrun_model_form { HRUN_FORM_NT, HRUN_FORM_PT, HRUN_FORM_NPT };
enum hrun_method { HRUN_METHOD_LS, HRUN_METHOD_NNLS };

const char *hrun_model_form_name(enum hrun_model_form f);  /* "nt", "pt", "npt" */
const char *hrun_method_name(enum hrun_method m);  /* "ls", "nnls" */
int hrun_method_parse(const char *text, enum hrun_method *out, struct hrun_error *err);

/* How a program of whose definition `shares` are part gets its work: equal shares, those in proportion to the speeds,
 * or those by which the slowest process ends as early as can be, in whole units. */
enum hrun_sharing { HRUN_SHARES_EQUAL, HRUN_SHARES_PROPORTIONAL, HRUN_SHARES_BEST };

/* What a family wants to know of a sub-cluster to say what is measured there. */
struct hrun_family_place {
    int npes, M;               /* PEs to use, and processes on each */
    int64_t P;                 /* processes of the run that is prepared, on this sub-cluster or on others too */
    double memory_bytes;       /* of a process */
};
/* A run to measure: on so many PEs with M processes each. */
struct hrun_family_point {
    int pes;
    double work;               /* units of each process */
    int copies;                /* 1: as many runs of one process at the same time */
};
enum { HRUN_FAMILY_POINTS = 6 };
enum { HRUN_POINTS_MEMORY = -2, HRUN_POINTS_RULE = -3 };

struct hrun_fit_options;
struct hrun_fit_job;
struct hrun_row;
struct hrun_predictor_source;

/* A family: in which way times follow from measurements. One row for each, in families/NAME.c. */
struct hrun_family {
    const char *(*describe)(enum hrun_model_form form);   /* of predictions, for reports */
    int by_formula;            /* 1: nothing of the application is measured: a formula in speeds of PEs and network */
    int has_forms;             /* 1: models single, nt, pt and npt, of which one form predicts */
    int uses_network;          /* 1: also where no term of the definition names it */
    int deals_units;           /* 1: shares are whole units of a mesh (hrun_app_mesh), of which runs tell how many */
    int is_of_sizes;           /* 1: a model is of one N, and others follow from two */
    int is_joint;              /* 1: runs of other sub-clusters, and on several, help to fit those of one */
    int has_common;            /* 1: predictions on several sub-clusters are off in common (hrun_predictor_correct) */
    /* The runs that its models are made of at size N, into v[HRUN_FAMILY_POINTS]: how many, or HRUN_POINTS_MEMORY or
     * HRUN_POINTS_RULE where there can be none, -1 with *err. NULL: sizes and PEs are chosen by others. */
    int (*points)(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                  struct hrun_family_point *v, struct hrun_error *err);
    /* lib/model's own (internal.h). */
    size_t (*keep)(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options);   /* NULL: all rows */
    int nterms;                /* the most terms of a record, besides those of the definition */
    int (*fit)(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n,
               struct hrun_error *err);        /* NULL: nothing is fitted */
    struct hrun_predictor *(*predict)(const struct hrun_predictor_source *from, struct hrun_error *err);
};
const struct hrun_family *hrun_family_of(const struct hrun_app *app);

/* ------------------------------------------------------------------ fitting */

/* Row weights 1/sqrt(sigma_abs^2 + (sigma_rel T)^2), where sigma_abs has the rounding of the times added
 * (hrun_times_rounding). Both 0: no weights, as in paper 000. */
struct hrun_fit_options {
    enum hrun_method method;
    double sigma_abs_s;
    double sigma_rel;
    int robust;        /* 1: rows that the others contradict count less (Huber, fit/fit.h) */
    double glitches;   /* k of the glitch rule (hrun-model(7)), 0: off */
    struct hrun_netview *net;  /* the network of the sub-clusters, for network terms (lib/app); NULL: these are left
                                  out. Must outlive what is made with it */
    int own;           /* the sub-cluster of net that the measurements of one sub-cluster are of, where their records do
                          not tell it, -1: not known */
    struct hrun_tasking tasking;  /* of NP-T models: how the work is dealt out; hrun_model_fit_joint finds it itself */
};
/* NNLS, 1 ms (what starting and timing a run jitters by at least), 2 % (run-to-run variation of a quiet
 * node). */
#define HRUN_FIT_OPTIONS_DEFAULT { HRUN_METHOD_NNLS, 1e-3, 0.02, 1, 0, NULL, -1, { 0, 0, 0 } }

/* In place of the 1 ms, for simulated hosts: nothing jitters there, and shorter times no program tells apart. */
#define HRUN_FIT_SIMULATED_ABS_S 1e-6

/* Fit the models of one sub-cluster for every M that has measurements; repetitions are rows of their own. Terms that
 * the measurements cannot tell from others are dropped, and the record's note says so (hrun-model(7), "Fitting").
 * Models for which there are too few measurements are left out; *skipped (may be NULL) says which and why, one line
 * each, and how many runs the network does not know the places of. The result does not depend on the order of samples;
 * *out has app, signature "", subcluster "", consts and dates.
 * Errors: HRUN_ENODATA when no model at all can be made (saying what became of the measurements), HRUN_ENONFINITE (a
 * time that is not finite and positive; a term that is not finite at a measured point, naming term, N and P),
 * HRUN_EINVAL (bad options, P < M), those of lib/fit. */
int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err);

/* One sub-cluster, or several alike: its signature stands once. */
struct hrun_joint_sub {
    const char *name;                   /* for the models and for messages */
    const char *signature;
    const struct hrun_sample *samples;  /* all of its log that still count, homogeneous and mixed ones */
    size_t n;
    double memory_bytes;                /* of a PE, to which the shares of corrections keep; 0: not limited */
};

/* Fit the models of subs[nsubs], out[i] those of subs[i] with name and signature, NULL where none can be made;
 * *skipped (may be NULL) tells then why, and what hrun_model_fit left out, each line with the sub-cluster's name.
 * A mixed run is found again in the logs of all that took part by its date, configuration, N and times; where one of
 * these is not in subs it counts only as a bound. A model that knows from others alone how time follows P says so in
 * its record's note, "shared with others", and has wider intervals. With LS, the reference of paper 000, each
 * sub-cluster is fitted alone.
 * Errors: HRUN_ENODATA when no model at all can be made, and those of hrun_model_fit; then out is untouched. */
int hrun_model_fit_joint(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                         const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                         struct hrun_error *err);

/* A model that is so far off, on average, cannot tell a number of PEs from twice as many, which halves the time at
 * best. */
#define HRUN_MODELS_MISS 0.5
/* Append to *which, separated by "; ", the models of models[n] (NULL: none) that miss their own measurements by more:
 * "npt of slow with 2 processes per PE". N-T models of single P are left out: they are not what choices are made by. */
void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which);

/* Append why samples[n] of one sub-cluster say too little for any model: their times hardly follow N. Nothing where all
 * is well. */
void hrun_samples_vague(const struct hrun_sample *samples, size_t n, struct hrun_buf *out);

/* ------------------------------------------------------------------ predicting */

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

/* The same with the network for models that have network terms, NULL: none; net must outlive the predictor.
 * place[nsubs]: which sub-cluster of net each one is, NULL: the same numbers. Where network terms are in use and
 * sub-clusters are those of net, the oracle is not separable (oracle.h): its times are lower bounds, its `whole` the
 * max over the used sub-clusters of the times in the configuration. Errors: also HRUN_ENODATA for a model with a
 * network term but without a network. */
struct hrun_predictor *hrun_predictor_create_net(const struct hrun_app *app, struct hrun_models *const *models,
                                                 int nsubs, enum hrun_model_form form, int64_t N,
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
 * for the first such P of the interval that the rule accepts; those of the rule at a P without value; b
 * is undefined. */
const struct hrun_oracle *hrun_predictor_oracle(struct hrun_predictor *p);

/* Ti(N, P, M) of a sub-cluster alone, with its 95 % prediction interval (hrun-model(7), "Intervals"); *low is never
 * below 0, and the time is that of the oracle to the last bit. Errors: HRUN_ENODATA (no model for this option and P, or
 * with network terms fewer PEs than P / m), HRUN_ENONFINITE (also a prediction that is not above 0). */
int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low,
                        double *high, struct hrun_error *err);

/* The time of a configuration and its interval: those of its parts together. sub_time_s[nsubs] (may be NULL): of each
 * part; *limiting: whose is the largest. Errors: those of hrun_predictor_time. */
int hrun_predictor_time_whole(struct hrun_predictor *p, int nsubs, const int *pes, const int *procs, double *time_s,
                              double *low, double *high, double *sub_time_s, int *limiting, struct hrun_error *err);
/* How the program deals its work out, as its runs show. */
const struct hrun_tasking *hrun_predictor_tasking(const struct hrun_predictor *p);

/* From now on predictions, the oracle among them, are of such shares; before, of equal ones. Of other definitions, of
 * forms but NP-T, and where work goes to who is free, nothing changes. Errors: those of hrun_app_units. */
int hrun_predictor_deal(struct hrun_predictor *p, enum hrun_sharing how, struct hrun_error *err);

/* From now on predictions of the shares that c is for, equal or dealt, have what runs on several sub-clusters at p's N
 * have in common (hrun-model(7), "Corrections"), which c, made of the same models, takes for granted. NULL: all are as
 * the models say. */
void hrun_predictor_correct(struct hrun_predictor *p, const struct hrun_corrections *c);

/* Predictions of unequal shares from now on take pace[nsubs] times as long (NULL: as the models say); it must outlive
 * p. */
void hrun_predictor_pace(struct hrun_predictor *p, const double *pace);

/* How the work is dealt out in a configuration: share[nsubs], of each process of a sub-cluster, 0 where it is not used.
 * In the unit of the definition (weak: rows of the mesh; npt: units, of which the last processes may have one less
 * where all together are too many), or relative to each other; all 1 where shares are equal. Errors: those of
 * hrun_predictor_time. */
int hrun_predictor_deals(const struct hrun_predictor *p);   /* 0: its shares are always equal */
int hrun_predictor_shares(struct hrun_predictor *p, const int *pes, const int *procs, double *share,
                          struct hrun_error *err);

/* The time of a configuration each process of which has share[nsubs] of the whole of the work (NULL: equal), without
 * an interval. Errors: those of hrun_predictor_time. */
int hrun_predictor_time_shared(struct hrun_predictor *p, const int *pes, const int *procs, const double *share,
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
void hrun_predictor_share_change(struct hrun_predictor *p, const int *pes, const int *procs, const double *share,
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
int hrun_predictor_balance(struct hrun_predictor *p, const int *npes, const int *pes, const int *procs,
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

/* Tell what a PE of each sub-cluster holds, bytes[nsubs], 0: not limited, before a search: shares that a family deals
 * out keep to it. Errors: those of the definition's expressions. */
int hrun_predictor_limit_memory(struct hrun_predictor *p, const double *bytes, struct hrun_error *err);

/* The range of N and of P that the model used was measured at: sizes[2] and counts[2], least and greatest. 0, or -1
 * without a model. */
int hrun_predictor_measured(struct hrun_predictor *p, int sub, int m, int P, int64_t *sizes, int64_t *counts);

/* How far v lies outside lo..hi, all above 0: 1 inside, else the ratio to the nearer end. */
double hrun_beyond(int64_t v, int64_t lo, int64_t hi);

/* ------------------------------------------------------------------ drift of the machines */

/* One run and how its time compares to its model. */
struct hrun_residual {
    char date[21];         /* of its end */
    int64_t N;
    int config;            /* number of its configuration, from 0 */
    int sub;               /* the sub-cluster that limits it, from 0 */
    int mixed;             /* 1: on several sub-clusters */
    int real;              /* 1: a user's run, 0: of a calibration, which makes what is known but is not tested */
    double r;              /* ln(measured / predicted by the models alone) */
    double sigma;          /* standard deviation of r by the scatter of runs, as far as nothing tells more */
};

struct hrun_drift {
    int runs;              /* 0: none; else how many runs, the last ones, were tested since it began */
    double factor;         /* their times over what was expected of them: the median */
    char since[21];        /* date of the first of them */
};

/* Test v[n], in order of time. out[nsubs] is that of each sub-cluster. */
void hrun_drift_find(const struct hrun_residual *v, size_t n, int nsubs, struct hrun_drift *out);

/* ------------------------------------------------------------------ corrections by runs */

/* Runs of a configuration at more sizes than these, the nearest, tell nothing more of one. */
enum { HRUN_CORRECTION_SIZES = 24 };

/* From the runs in the logs of subs[nsubs], the sub-clusters of the cluster in their order (a signature may stand
 * several times, and options->net is of them), and models[nsubs], whose predictions are corrected: of this `form`. Of a
 * definition with shares runs on several sub-clusters correct only configurations of their own kind: those with equal
 * shares, or others, as far as they are near those of now (HRUN_SHARES_FAR); all tell how far models are off.
 * Runs that the cluster's sub-clusters do not hold, and those that the models do not predict, do not count. Errors:
 * those of hrun_predictor_create other than HRUN_ENODATA, HRUN_ENONFINITE as hrun_oracle.times. */
int hrun_corrections_create(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                            struct hrun_models *const *models, enum hrun_model_form form, enum hrun_sharing how,
                            const struct hrun_fit_options *options, struct hrun_corrections **out,
                            struct hrun_error *err);
void hrun_corrections_destroy(struct hrun_corrections *c);

/* Configurations that were run: how many; c may be NULL, there are none then. */
int hrun_corrections_count(const struct hrun_corrections *c);
/* The number, from 0, of the one with pes[nsubs] and procs[nsubs], or -1; c as above. */
int hrun_corrections_find(const struct hrun_corrections *c, const int *pes, const int *procs);

/* What predictions on more than one PE are multiplied by at N before all else (hrun_predictor_correct); c as above. */
double hrun_corrections_common(const struct hrun_corrections *c, int64_t N);

/* All runs that they are made of, in order of time: *v, which stays the corrections'. Result: how many. */
size_t hrun_corrections_runs(const struct hrun_corrections *c, const struct hrun_residual **v);

/* The least and the largest N of these into sizes[2]: 1; 0 where there are none. */
int hrun_corrections_sizes(const struct hrun_corrections *c, int64_t *sizes);

struct hrun_correction {
    double factor;     /* predicted time, with what is common, times this */
    double sd;         /* standard deviation of ln(factor): what is not known of it */
    int runs;          /* runs at this N */
    int others;        /* runs at other N */
};

/* Standard deviation of ln(true time / prediction) of most configurations that were never run, as those that were show
 * it. */
double hrun_corrections_sd(const struct hrun_corrections *c);

/* Correct a prediction in seconds and its 95 % interval for one run, as a predictor that has what is common
 * (hrun_predictor_correct) gives them for the configuration at N, by what runs tell (hrun-model(7), "Corrections").
 * Whoever tells a time to people asks here. c NULL: nothing changes. Result: 1, and *at (which may be NULL) its
 * correction; 0 when it was never run, *at is untouched then. */
int hrun_corrections_tell(const struct hrun_corrections *c, const int *pes, const int *procs, int64_t N, double *time_s,
                          double *low_s, double *high_s, struct hrun_correction *at);

/* The pace (hrun_predictor_pace) by which the parts of the last watched run of p's N with unequal shares took as long
 * as their waits say, where that is within the interval of its configuration; the longest of its parts, by the models,
 * is as long as before. 1 for other sub-clusters. p has no pace, and deals. Result: 1, 0 where there is no such run or
 * no model of it, -1 with *err. */
int hrun_waits_pace(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_predictor *p,
                    const struct hrun_corrections *known, double *pace, struct hrun_error *err);

/* What a search at N is to know: known[hrun_corrections_count], with their doubts; their pes and procs stay the
 * corrections'. details, as many, may be NULL: the corrections themselves. */
void hrun_corrections_known(const struct hrun_corrections *c, int64_t N, struct hrun_known *known,
                            struct hrun_correction *details);

/* How a configuration with this correction compares with those that were never run, beyond its time (`doubt` in
 * oracle.h): each counts with a time that is one standard deviation longer than expected. Above 0, below 1 for one
 * that is known better. */
double hrun_correction_doubt(const struct hrun_corrections *c, const struct hrun_correction *at);

/* ---------------------------------------------------------------- discover
 *
 * Which terms an application has, told from its measurements
 *
 * Purpose: a definition needs terms; of an application that nobody knows the theory of they are taken from the library
 * (internal.h), one after the other, as long as measurements that were not looked at are told better for it.
 * How: forward selection. All series (a sub-cluster with a number of processes per PE) have the same terms and
 * coefficients >= 0 of their own (NNLS on weighted rows, as in model.h). What is made small is the mean absolute error
 * at points that a fit has not seen, in units of a run's scatter: each (N, P) left out once (hrun_fit_leave_out), and,
 * where there are three P > M, the largest P told by the smaller ones, as hrun will have to. The first term is divided
 * work, c f(N) / P. Of the selections met on the way the shortest is taken that is no worse than the best by a standard
 * error of the difference (Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, section 7.10).
 * Measurements that the selection contradicts count less in a second one (Huber, fit/fit.h).
 * Compare Calotoiu et al., "Using automated performance modeling to find scalability bugs in complex codes" (SC'13):
 * their normal form has the same products, of exponents >= 0 and with coefficients of either sign.
 */

struct hrun_discover_point {
    int series;              /* 0, 1, ...: points of one number have coefficients in common */
    int64_t N;               /* >= 1 */
    int P, M;                /* P >= M >= 1; runs on one PE have P = M */
    double time_s;           /* finite, > 0 */
};

struct hrun_discovery {
    struct hrun_strvec np;   /* terms over N and P, divided work first */
    struct hrun_strvec n;    /* terms over N, with P fixed */
    struct hrun_strvec p;    /* terms over T and P */
    double error;            /* mean |fit - T| / T at points left out */
    double beyond;           /* the same at the largest P, told by smaller ones; NaN where there were too few P */
    int points;              /* different (series, N, P) that were told: with P > M if there are any */
};

/* Choose terms by points[n], in any order. Where a series has but one P > M, its runs on one PE (P = M) take part, of
 * which all but constants is divided work, so that this can be told from what is not; where there are only such runs,
 * all work counts as divided. options: the weights (sigma_abs_s, sigma_rel); the rest is not looked at.
 * Errors: HRUN_ENODATA (fewer than two sizes N), HRUN_EINVAL (a point that breaks an invariant). Release
 * *out. */
int hrun_discover(const struct hrun_discover_point *points, size_t n, const struct hrun_fit_options *options,
                  struct hrun_discovery *out, struct hrun_error *err);
void hrun_discovery_release(struct hrun_discovery *d);

/* ---------------------------------------------------------------- speeds
 *
 * From the speeds of PEs: predictions without a profile, and records for formulas
 *
 * Purpose: the search's table of functions for an application of which nothing is known but the speeds of the PEs under
 * it (paper 004, section 5.2: a small instance with one process per node tells them; then processes are given out by
 * speed). Where a run of P0 processes at another size had a process of sub-cluster i compute Ci seconds,
 *
 *     Ti(P, Mi) = Ci (P0/P) max(1, Mi/ci) (1 + s (Mi - 1)/ci) + K max(1, P/P0)
 *
 * for work that P processes share evenly; ci is how many processes a PE holds before they slow each other down (its
 * cores), and K what the process spent in MPI that spent least there: messages become as many more as there are
 * processes, and no fewer. Processes of a PE share its memory and its network all the same: s = 0.001 is no measure of
 * that, and lets what else is equal go to more PEs. The times are those of the small run's size: their ratios are what
 * counts. At a larger size the part of the messages is rarely larger, so a gain that is predicted from them is rarely
 * too large.
 * Invariants: each time is finite and > 0 or NAN (a sub-cluster whose speed is not known); bounds hold exactly.
 */

struct hrun_speed {            /* of one sub-cluster */
    double compute_s;          /* Ci; not > 0: not known, and the sub-cluster is not used */
    double unsure;             /* 0.05: the true one lies within 5 % of it; >= 0 */
    int cores;                 /* ci, at least 1 */
    const int *procs;          /* Mi that are allowed, nprocs of them, ascending, distinct */
    int nprocs;
};

struct hrun_speeds;

/* Predictions for size N of app, whose rule and memory count there. v[nsubs], copied; P0 >= 1; comm_s: K, >= 0.
 * NULL with HRUN_EINVAL (a value). The application must outlive the result. */
struct hrun_speeds *hrun_speeds_create(const struct hrun_app *app, int64_t N, const struct hrun_speed *v, int nsubs,
                                       int P0, double comm_s, struct hrun_error *err);
void hrun_speeds_destroy(struct hrun_speeds *s);
const struct hrun_oracle *hrun_speeds_oracle(const struct hrun_speeds *s);

/* From now on no more than P processes; 0: any number. */
void hrun_speeds_limit(struct hrun_speeds *s, int P);

struct hrun_speeds_range {
    double compute_s;          /* the largest Ti of the sub-clusters used without K */
    double low_s, high_s;      /* between which that lies, for speeds as unsure as they are */
    double comm_s;             /* K max(1, P/P0) */
};

/* The parts of the time of configuration (pes, procs), nsubs each, whatever rule and memory say. Errors: HRUN_EINVAL (a
 * sub-cluster without a speed, no process); *out is as before. */
int hrun_speeds_range(const struct hrun_speeds *s, const int *pes, const int *procs, struct hrun_speeds_range *out,
                      struct hrun_error *err);

/* How much longer than an even share the largest of P shares of N rows is: ceil(N/P) P/N - 1. What is measured at one
 * size with shares that are uneven there says so much less about another. */
double hrun_speeds_uneven(int64_t N, int P);

/* ------------------------------------------------------------------ how quick PEs are */

/* Paper 003's Perf(p) (section 3.2: "processing performance"), as records of the family "speed" in a struct
 * hrun_models, so that they are stored and looked up as models are: term "perf", coefficient s per operation of one
 * process on a PE that has M of them, cov over s2 its variance from PE to PE and run to run. A measurement of a speed
 * is a sample whose N is the order of the product that was timed, on all PEs of the sub-cluster at once with M
 * processes on each; time_s is what one product takes. */

/* Under this name the store keeps speeds; no definition can have it. */
#define HRUN_PERF_APP "pe-Speeds"
/* And under this one the speeds of kinds of cores by hrun_topo_benchmark: time_s is that of one round on one core. */
#define HRUN_KINDS_APP "pe-Kinds"

/* Operations of a product of order n: 2 n^3. */
double hrun_perf_flops(double n);

/* Of samples[n], all that are good: of each M the newest date's. Errors: HRUN_ENODATA (there are none). */
int hrun_perf_of(const struct hrun_sample *samples, size_t n, const char *signature, const char *subcluster,
                 struct hrun_models **out, struct hrun_error *err);

/* Of simulated hosts whose cores do so many operations a second, with M = procs[nprocs] processes on the cores of a PE.
 * */
struct hrun_models *hrun_perf_simulated(double core_flops, int cores, const int *procs, int nprocs);

/* The record for M, or NULL. */
const struct hrun_fit_record *hrun_perf_find(const struct hrun_models *m, int M);

#endif
