/* suspect.h - measurements that should be made again before they are believed or dropped
 *
 * Purpose: one run in twenty is hit by something that has nothing to do with the application. Repetitions of one point
 * that differ by more than those of others, and single runs that the model of all others does not explain, are worth
 * another run; what repetitions agree on is no accident, however far off the model.
 */
#ifndef HRUN_MODEL_SUSPECT_H
#define HRUN_MODEL_SUSPECT_H

#include "model/model.h"

struct hrun_suspect {
    int64_t N;
    int P, M;
    int runs;            /* measurements there are of the point */
    double time_s;       /* the one that is farthest off */
    double deviation;    /* how far, in scales of what is usual (hrun_fit_scale): above 0 when it took longer */
};

/* Residuals beyond this many scales are suspicious: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993),
 * for distances in units of the median one. */
#define HRUN_SUSPICIOUS 3.5

/* Suspicious points among samples[n] of one sub-cluster, from which m was fitted with options, the farthest off first,
 * into *out[*count], which the caller frees (NULL when there are none). Points of two and more runs are compared with
 * their median, those of one with the model of P = M or npt; the scale is that of all such distances of this M, and not
 * below what the weights take for usual. Where times do not scatter (hrun_times_repeat) none is suspicious. Errors: HRUN_ENODATA as hrun_model_fit, HRUN_ENONFINITE, HRUN_ENOMEM. */
int hrun_model_suspects(const struct hrun_app *app, const struct hrun_models *m, const struct hrun_sample *samples,
                        size_t n, const struct hrun_fit_options *options, struct hrun_suspect **out, size_t *count,
                        struct hrun_error *err);

#endif
