/* discover.h - which terms an application has, found from its measurements
 *
 * Purpose: a definition needs terms; of an application that nobody knows the theory of they are taken from the library
 * (selection.h), one after the other, as long as measurements that were not looked at are told better for it.
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
#ifndef HRUN_MODEL_DISCOVER_H
#define HRUN_MODEL_DISCOVER_H

#include "model/model.h"

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

#endif
