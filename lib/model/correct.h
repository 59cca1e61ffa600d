/* correct.h - what correct.c learns r = ln(measured / predicted) of configurations with; for lib/model alone
 *
 * Purpose: at a size all configurations on several sub-clusters may be off alike, which tells of those that were never
 * run, and a configuration that is off at one size is so at those near (correct_common.c).
 * Invariant: points are in order of N, one for each.
 */
#ifndef HRUN_MODEL_CORRECT_H
#define HRUN_MODEL_CORRECT_H

#include "model/corrections.h"

/* What r is expected to be before there are runs, 5 %: the mean error that predictions are to have (DESIGN, section
 * 10); it counts as much as this many measured values. */
#define HRUN_CORRECT_SD 0.05
#define HRUN_CORRECT_WEIGHT 4.0

/* r(N) at sizes whose ratio is e^HRUN_CORRECT_LENGTH are correlated by 1/e: what a model misses (blocks that do not
 * divide, caches) changes when the size doubles. */
#define HRUN_CORRECT_LENGTH 0.6931471805599453

struct hrun_correct_point { /* runs of one configuration at one N */
    double x;               /* ln N */
    int64_t N;
    double r;               /* mean of ln(measured / predicted) of the runs that agree */
    double now;             /* the same where the prediction is that for the shares of now */
    double own;             /* of it what is not common to all at this N */
    double var;             /* of one run's, by the scatter of runs */
    double rounding;        /* the variance of what rounding does to the time, alike in all runs */
    int agree;              /* how many agree */
    int runs;
    double trust;           /* probability that they were not slowed down */
};

struct hrun_correct_config {
    struct hrun_config config;
    struct hrun_correct_point *points;
    size_t npoints;
    int runs;
    int mixed;              /* 1: on several sub-clusters */
};

/* The mean of `own` at x, and its variance into *var, given the points v[npoints] without number `skip` (npoints: with
 * all). Without points the mean is 0 and the variance `prior`. If there are more than HRUN_CORRECTION_SIZES points, the
 * nearest count. */
double hrun_correct_condition(const struct hrun_correct_point *v, size_t npoints, double prior, double x, size_t skip,
                              double *var);

struct hrun_correct_common {
    struct hrun_correct_point *points;  /* `own` is what is common there, with its own variance; freed by the owner */
    size_t npoints;
    double var;                         /* prior variance of that */
};

/* The sizes at which enough of v[nconfigs] on several sub-clusters were run, with whatever shares, into *c,
 * which is zeroed. */
void hrun_correct_common_find(struct hrun_correct_common *c, const struct hrun_correct_config *v, int nconfigs);

/* Learn what is common at each of them: the mean of r there, as far as runs can be trusted, of which each of
 * v[nconfigs] has a part of its own, which varies by own_var. What remains becomes `own` of all points of v. */
void hrun_correct_common_learn(struct hrun_correct_common *c, struct hrun_correct_config *v, int nconfigs,
                               double own_var);

/* What is common at N, ln, and its variance; 0 and 0 where there are no such sizes. */
double hrun_correct_common_at(const struct hrun_correct_common *c, int64_t N, double *var);

#endif
