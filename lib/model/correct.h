/* correct.h - estimate r = ln(measured / predicted) of configurations from runs; for lib/model alone
 *
 * Purpose: at one size all configurations on several sub-clusters, run or not, may have a common error. The
 * error of a configuration is similar at similar sizes (correct_common.c).
 * Invariant: points are in order of N, one for each N.
 */
#ifndef HRUN_MODEL_CORRECT_H
#define HRUN_MODEL_CORRECT_H

#include "model/corrections.h"

/* Prior standard deviation of r: 5 %, the mean error that predictions should have. It counts as 4 measured values. */
#define HRUN_CORRECT_SD 0.05
#define HRUN_CORRECT_WEIGHT 4.0

/* The correlation of r at two sizes is 1/e if their ratio is e^HRUN_CORRECT_LENGTH = 2: effects outside a model (blocks
 * that do not divide, caches) change when the size doubles. */
#define HRUN_CORRECT_LENGTH 0.6931471805599453

struct hrun_correct_point { /* runs of one configuration at one N */
    double x;               /* ln N */
    int64_t N;
    double r;               /* mean of ln(measured / predicted) of the runs that agree */
    double now;             /* mean of ln(measured / predicted for the present shares) of these runs */
    double own;             /* r without the common part at this N */
    double var;             /* variance of r of one run, by the scatter of runs */
    double rounding;        /* variance of r by the rounding of times, which is the same in all runs */
    int agree;              /* number of runs that agree */
    int runs;
    double trust;           /* probability that nothing slowed these runs down */
};

struct hrun_correct_config {
    struct hrun_config config;
    struct hrun_correct_point *points;
    size_t npoints;
    int runs;
    int mixed;              /* 1: on several sub-clusters */
};

/* Returns the mean of `own` at x and sets *var to its variance, given v[npoints] without point `skip` (npoints: all
 * points). Without points the mean is 0 and the variance `prior`. At most the HRUN_CORRECTION_SIZES nearest points
 * count. */
double hrun_correct_condition(const struct hrun_correct_point *v, size_t npoints, double prior, double x, size_t skip,
                              double *var);

struct hrun_correct_common {
    struct hrun_correct_point *points;  /* `own`, `var`: common part of r and its variance; freed by the owner */
    size_t npoints;
    double var;                         /* prior variance of the common part */
};

/* Set c->points to the sizes at which enough configurations of v[nconfigs] on several sub-clusters ran, with any
 * shares. The caller zeroes *c. */
void hrun_correct_common_find(struct hrun_correct_common *c, const struct hrun_correct_config *v, int nconfigs);

/* Estimate the common part of r at each of these sizes: the mean of r, weighted by trust. own_var: variance of r of a
 * single configuration about it. Sets `own` of all points of v to the rest of r. */
void hrun_correct_common_learn(struct hrun_correct_common *c, struct hrun_correct_config *v, int nconfigs,
                               double own_var);

/* Returns the common part of r at N and sets *var to its variance; both are 0 if c has no points. */
double hrun_correct_common_at(const struct hrun_correct_common *c, int64_t N, double *var);

#endif
