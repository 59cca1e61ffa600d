/* corrections.h - drift of the machines, and corrections of predictions by runs */
#ifndef HRUN_MODEL_CORRECTIONS_H
#define HRUN_MODEL_CORRECTIONS_H

#include "model/predict.h"

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

/* What corrections are made from. */
struct hrun_correction_source {
    const struct hrun_app *app;
    const struct hrun_joint_sub *subs;      /* nsubs: the sub-clusters of the cluster in their order, with their logs; a
                                               signature may stand several times */
    struct hrun_models *const *models;      /* nsubs: the models whose predictions are corrected */
    int nsubs;
    enum hrun_model_form form;              /* of these predictions */
    enum hrun_sharing sharing;
};

/* Make corrections from the runs in the logs. If the definition has shares, a run on several sub-clusters corrects only
 * configurations with the same kind of shares: equal ones, or unequal ones that differ from those of now by at most
 * HRUN_SHARES_FAR. All runs tell how far the models are off. Runs that do not fit into the cluster, and runs that the
 * models do not predict, do not count. options->net is the network of the cluster. Errors: those of
 * hrun_predictor_create other than HRUN_ENODATA, HRUN_ENONFINITE as hrun_oracle.times. */
int hrun_corrections_create(const struct hrun_correction_source *from, const struct hrun_fit_options *options,
                            struct hrun_corrections **out, struct hrun_error *err);
void hrun_corrections_destroy(struct hrun_corrections *c);

/* Configurations that were run: how many; c may be NULL, there are none then. */
int hrun_corrections_count(const struct hrun_corrections *c);
/* The number of this one, from 0, or -1; c as above. */
int hrun_corrections_find(const struct hrun_corrections *c, const struct hrun_config *config);

/* The factor that runs on several sub-clusters have in common at N (hrun-model(7), "Corrections"), by which a predictor
 * multiplies its times (`common` of struct hrun_predictor_source); c NULL: 1. */
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

/* Correct the predicted time of one run, in seconds, by the runs of the configuration (hrun-model(7), "Corrections").
 * The prediction is that of a predictor with `common` = c. All times shown to users are corrected here. c NULL: nothing
 * changes. Result: 1, with the correction in *at (may be NULL); 0 if the configuration was never run. */
int hrun_corrections_tell(const struct hrun_corrections *c, const struct hrun_config *config, int64_t N,
                          struct hrun_interval *time, struct hrun_correction *at);

/* The pace of each sub-cluster (struct hrun_predictor_source): p's parts of the last traced run of its N with unequal
 * shares then take as long as their waits show, if that lies within the interval of the run's configuration; the
 * longest part keeps its time. 1 for other sub-clusters. p has no pace, and deals out shares. Result: 1; 0: no such
 * run, or no model of it; -1 with *err. */
int hrun_waits_pace(struct hrun_predictor *p, const struct hrun_joint_sub *subs, int nsubs,
                    const struct hrun_corrections *known, double *pace, struct hrun_error *err);

/* What a search at N is to know: known[hrun_corrections_count], with their doubts. details, as many, may be NULL:
 * the corrections themselves. */
void hrun_corrections_known(const struct hrun_corrections *c, int64_t N, struct hrun_known *known,
                            struct hrun_correction *details);

/* How a configuration with this correction compares with those that were never run, beyond its time (`rank_factor` in
 * oracle.h): each counts with a time that is one standard deviation longer than expected. Above 0, below 1 for one
 * that is known better. */
double hrun_correction_doubt(const struct hrun_corrections *c, const struct hrun_correction *at);

#endif
