/* correct.h - what runs of a configuration tell of its prediction
 *
 * Purpose: models follow all measurements at once and none exactly. A configuration that was run, on one sub-cluster
 * or on several, is known better: its prediction at N is multiplied by exp(r(N)), where r is drawn to the logarithms
 * of measured over predicted time at the N where it was run. r is a Gaussian process over ln N of mean 0 (kriging):
 * between two N it is interpolated, away from them it returns to 0, and one run counts less than several.
 * Invariants: models and predictions of other configurations are untouched.
 */
#ifndef HRUN_MODEL_CORRECT_H
#define HRUN_MODEL_CORRECT_H

#include "model/drift.h"
#include "model/joint.h"

struct hrun_corrections;

/* Runs of a configuration at more sizes than these, the nearest, tell nothing more of one. */
enum { HRUN_CORRECTION_SIZES = 24 };

/* From the runs in the logs of subs[nsubs], the sub-clusters of the cluster in their order (a signature may stand
 * several times, and options->net is of them), and models[nsubs], whose predictions are corrected: those of `family`.
 * Runs that the cluster's sub-clusters do not hold, and those that the models do not predict, do not count. Errors:
 * those of hrun_predictor_create other than HRUN_ENODATA, HRUN_ENONFINITE as hrun_oracle.times, HRUN_ENOMEM. */
int hrun_corrections_create(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs,
                            struct hrun_models *const *models, enum hrun_family family,
                            const struct hrun_fit_options *options, struct hrun_corrections **out,
                            struct hrun_error *err);
void hrun_corrections_destroy(struct hrun_corrections *c);

/* Configurations that were run: how many; c may be NULL, there are none then. */
int hrun_corrections_count(const struct hrun_corrections *c);
/* The number, from 0, of the one with pes[nsubs] and procs[nsubs], or -1; c as above. */
int hrun_corrections_find(const struct hrun_corrections *c, const int *pes, const int *procs);

/* All runs that they are made of, in order of time: *v, which stays the corrections'. Result: how many. */
size_t hrun_corrections_runs(const struct hrun_corrections *c, const struct hrun_residual **v);

/* The least and the largest N of these into sizes[2]: 1; 0 where there are none. */
int hrun_corrections_sizes(const struct hrun_corrections *c, int64_t *sizes);

struct hrun_correction {
    double factor;     /* predicted time times this */
    double sd;         /* standard deviation of ln(factor): what is not known of it */
    int runs;          /* runs at this N */
    int others;        /* runs at other N */
};

/* Standard deviation of ln(true time / prediction) of most configurations that were never run, as those that were show
 * it. */
double hrun_corrections_sd(const struct hrun_corrections *c);

/* The correction of configuration i at N. */
void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out);

/* Correct a prediction in seconds and its 95 % interval for one run, as the models give them for the configuration at
 * N, by what runs tell. A configuration that was never run keeps its interval, relative to the time, which gets no
 * narrower than what others on one sub-cluster, or on several, were missed by. Runs of it add what they tell of r to
 * this as to any prior. How much one run scatters is known from repetitions, of all configurations: of few of them the
 * interval is wider by Student's t. Whoever tells a time to people asks here. c NULL: nothing changes. Result: 1, and
 * *at (which may be NULL) its correction; 0 when it was never run, *at is untouched then. */
int hrun_corrections_tell(const struct hrun_corrections *c, const int *pes, const int *procs, int64_t N, double *time_s,
                          double *low_s, double *high_s, struct hrun_correction *at);

/* What a search at N is to know: known[hrun_corrections_count], with their doubts; their pes and procs stay the
 * corrections'. details, as many, may be NULL: the corrections themselves. */
void hrun_corrections_known(const struct hrun_corrections *c, int64_t N, struct hrun_known *known,
                            struct hrun_correction *details);

/* How a configuration with this correction compares with those that were never run, beyond its time (model/oracle.h):
 * each counts with a time that is one standard deviation longer than expected. The least of many uncertain predictions
 * is one that is too low, and which is taken for the best disappoints the more the less is known of it (Smith and
 * Winkler, "The optimizer's curse", Management Science 52, 2006: among four alternatives alike the least lies one
 * standard deviation below its own mean). Result: above 0, below 1 for a configuration that is known better. */
double hrun_correction_doubt(const struct hrun_corrections *c, const struct hrun_correction *at);

#endif
