/* optimal.h - optimal design: what one more row would tell of a least squares fit
 *
 * Purpose: keep C = (S^-2 + X'W^2X)^-1, the covariance of p coefficients in units of the variance of a weighted row,
 * while rows come one by one, and say what a row that is not there yet would change. S is diagonal: what is known of
 * the coefficients before the first row (their prior standard deviations).
 * Method: a row a (weighted, p entries) changes C by rank one (Sherman and Morrison):
 *     C' = C - (C a)(C a)' / (1 + a'C a),    det C = (1 + a'C a) det C',
 * so D-optimal gain (the growth of log det C^-1) is ln(1 + a'C a), and the A-optimal gain for targets t (the fall of
 * sum t'C t, the variances of predictions that matter) is sum (t'C a)^2 / (1 + a'C a). Both never fall below 0. The
 * D-optimal gain of a set of rows is submodular: a greedy choice of k rows gains at least 1 - 1/e of what the best k
 * rows do (Nemhauser, Wolsey, Fisher 1978).
 * Invariants: C is symmetric and positive definite; rows and targets hold p entries each, targets row-major.
 */
#ifndef HRUN_FIT_OPTIMAL_H
#define HRUN_FIT_OPTIMAL_H

#include "base/error.h"

#include <stddef.h>

struct hrun_optimal;

/* sd: p prior standard deviations, finite and above 0. Errors: HRUN_ENODATA (p is 0), HRUN_EINVAL (an sd),
 * HRUN_ENOMEM. */
struct hrun_optimal *hrun_optimal_create(size_t p, const double *sd, struct hrun_error *err);
void hrun_optimal_destroy(struct hrun_optimal *o);

/* Take a row in. Errors: HRUN_ENONFINITE naming the entry; nothing changes then. */
int hrun_optimal_add(struct hrun_optimal *o, const double *a, struct hrun_error *err);

/* a'C a: the variance of a prediction with these terms, in units of that of a weighted row. NaN for a row that is not
 * finite; so do the gains. */
double hrun_optimal_variance(const struct hrun_optimal *o, const double *a);
double hrun_optimal_gain_d(const struct hrun_optimal *o, const double *a);
double hrun_optimal_gain_a(const struct hrun_optimal *o, const double *a, const double *targets, size_t ntargets);

/* Which of n rows gains most per cost? gain[n] is given, cost[n] > 0; entries that are not finite do not count. n when
 * none gains anything; of equal ones the first. */
size_t hrun_optimal_best(const double *gain, const double *cost, size_t n);

#endif
