/* bound.h - what coefficients that non-negative least squares left at 0 may be all the same
 *
 * Purpose: the covariance of a fit is that of the coefficients in use, as if all others were known to be 0. They are
 * only not needed: where one of them could be above 0, predictions away from the rows may be off by more than the
 * covariance tells. Conventions and errors are those of fit.h.
 */
#ifndef HRUN_FIT_BOUND_H
#define HRUN_FIT_BOUND_H

#include "fit/fit.h"

/* For each column j with k_j = 0, let u_j be what its coefficient is likely to be (below), and d_j the change of all
 * coefficients when it becomes 1 and those in use follow: d_jj = 1, and -1 times the coefficients of least squares of
 * column j on the columns in use. The sum over j of u_j^2 d_j d_j' is added to cov[p by p] (row-major, symmetric): x'
 * cov x grows by the squares of what these columns, one at a time, may change of a prediction x'k. Near the rows that
 * is little, for there the columns in use make up for it.
 * u_j is the root mean square of a normal distribution cut off below 0 (Johnson, Kotz, Balakrishnan, Continuous
 * Univariate Distributions 1, 2nd ed., section 13.10.1), that of the coefficient which least squares gives to column j
 * beside those in use, s2 being the variance of one weighted residual; and at most what leaves the coefficients in use
 * >= 0. A column that the rows cannot tell from those in use has this limit alone.
 * k[p]: the solution, >= 0. Errors: HRUN_EINVAL (s2 negative or not finite), HRUN_ENODATA (more coefficients in use
 * than rows), HRUN_ERANK (columns in use that depend on each other), HRUN_ENONFINITE (a result overflows); cov is
 * untouched then. */
int hrun_fit_bound(const struct hrun_lsq *problem, const double *k, double s2, double *cov, struct hrun_error *err);

#endif
