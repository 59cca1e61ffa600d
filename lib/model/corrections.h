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
    int real;              /* 1: run of a user; 0: run of a calibration: not tested, but changes the expectation */
    double r;              /* ln(measured / predicted by the models alone) */
    double sigma;          /* standard deviation of r by the scatter of runs; a lower bound */
};

struct hrun_drift {
    int runs;              /* number of tested runs since it began; 0: no drift */
    double factor;         /* median of their measured over expected times */
    char since[21];        /* date of the first of them */
};

/* Find the drift of each sub-cluster, out[nsubs], in v[n], which is in order of time. */
void hrun_drift_find(const struct hrun_residual *v, size_t n, int nsubs, struct hrun_drift *out);

/* ------------------------------------------------------------------ corrections by runs */

/* At most this many sizes, the nearest, have runs that correct a prediction. */
enum { HRUN_CORRECTION_SIZES = 24 };

/* The source of corrections. */
struct hrun_correction_source {
    const struct hrun_app *app;
    const struct hrun_joint_sub *subs;      /* nsubs: the sub-clusters of the cluster in their order, with their logs; a
                                               signature may occur several times */
    struct hrun_models *const *models;      /* nsubs: the models whose predictions are corrected */
    int nsubs;
    enum hrun_model_form form;              /* of the predictions */
    enum hrun_sharing sharing;
};

/* Make corrections from the runs in the logs. If the definition has shares, a run on several sub-clusters corrects only
 * configurations with the same kind of shares: equal, or unequal ones that differ from the present shares by at most
 * HRUN_SHARES_FAR. All runs count for the errors of the models. Runs that do not fit into the cluster, and runs that
 * the models do not predict, are ignored. options->net is the network of the cluster. Errors: those of
 * hrun_predictor_create other than HRUN_ENODATA, HRUN_ENONFINITE as hrun_oracle.times. */
int hrun_corrections_create(const struct hrun_correction_source *from, const struct hrun_fit_options *options,
                            struct hrun_corrections **out, struct hrun_error *err);
void hrun_corrections_destroy(struct hrun_corrections *c);

/* Returns the number of configurations with a correction; 0 if c is NULL. */
int hrun_corrections_count(const struct hrun_corrections *c);
/* Returns the index of the configuration, or -1. */
int hrun_corrections_find(const struct hrun_corrections *c, const struct hrun_config *config);

/* Returns the common factor of runs on several sub-clusters at N (hrun-model(7), "Corrections"); 1 if c is NULL. A
 * predictor multiplies its times by it (`common` of struct hrun_predictor_source). */
double hrun_corrections_common(const struct hrun_corrections *c, int64_t N);

/* Set *v to all runs that correct predictions, in order of time, owned by c. Returns their number. */
size_t hrun_corrections_runs(const struct hrun_corrections *c, const struct hrun_residual **v);

/* Write the least and the largest N of these runs to sizes[2]. Returns 1, or 0 without runs. */
int hrun_corrections_sizes(const struct hrun_corrections *c, int64_t *sizes);

struct hrun_correction {
    double factor;     /* on the predicted time, which contains the common factor */
    double sd;         /* standard deviation of ln(factor) */
    int runs;          /* runs at this N */
    int others;        /* runs at other N */
};

/* Returns the standard deviation of ln(true time / prediction) of configurations on several sub-clusters that never
 * ran, estimated from configurations that ran. */
double hrun_corrections_sd(const struct hrun_corrections *c);

/* Correct the predicted time of one run, in seconds, by the runs of the configuration (hrun-model(7), "Corrections").
 * The prediction is that of a predictor with `common` = c. All times shown to users are corrected here. c NULL: nothing
 * changes. Result: 1, with the correction in *at (may be NULL); 0 if the configuration was never run. */
int hrun_corrections_tell(const struct hrun_corrections *c, const struct hrun_config *config, int64_t N,
                          struct hrun_interval *time, struct hrun_correction *at);

/* Set pace[nsubs] (struct hrun_predictor_source) from the last traced run at p's N with unequal shares. The new time of
 * a part is the longest part's time times (T - w) / T, within the interval of the run's configuration: T is the time of
 * the run, w the MPI wait of the part beyond the least one. Other sub-clusters have pace 1. p: without pace, deals out
 * shares. Returns 1; 0: no such run, or no model of it; -1 with *err. */
int hrun_waits_pace(struct hrun_predictor *p, const struct hrun_joint_sub *subs, int nsubs,
                    const struct hrun_corrections *known, double *pace, struct hrun_error *err);

/* Fill known[hrun_corrections_count] for a search at N. details[] (may be NULL) receives the corrections. */
void hrun_corrections_known(const struct hrun_corrections *c, int64_t N, struct hrun_known *known,
                            struct hrun_correction *details);

/* Returns the `rank_factor` (oracle.h) of a configuration with this correction. Configurations are compared by times
 * one standard deviation longer than expected: the factor is below 1 if runs made the configuration better known. */
double hrun_correction_doubt(const struct hrun_corrections *c, const struct hrun_correction *at);

#endif
