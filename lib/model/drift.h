/* drift.h - have the machines changed since they were measured?
 *
 * Purpose: from the residuals of runs in the order of time, one CUSUM test in each direction for each sub-cluster
 * (E. S. Page, Continuous inspection schemes, Biometrika 41, 1954) over the runs that it limits. Each run is compared
 * with what was known before it: with the earlier runs of its configuration at its N, with those at other N, which
 * tell less, and with the model, as far as models have been right so far.
 * Invariants: a model that is wrong by the same factor all the time is no drift (model/correct.h mends it); one run
 * that is far off, a glitch, never is one; runs that have gone back to what they were end it.
 */
#ifndef HRUN_MODEL_DRIFT_H
#define HRUN_MODEL_DRIFT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

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

/* Test v[n], in order of time. out[nsubs] is that of each sub-cluster. Errors: HRUN_ENOMEM; out is undefined. */
int hrun_drift_find(const struct hrun_residual *v, size_t n, int nsubs, struct hrun_drift *out,
                    struct hrun_error *err);

#endif
