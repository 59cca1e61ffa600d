/* robust.h - least squares that a few bad rows cannot spoil, and how well a fit tells rows that it has not seen
 *
 * Purpose: Huber's M-estimate around either solver of fit.h, by re-weighting; leave-one-out cross-validation.
 * Conventions and errors are those of fit.h. Residuals are weighted ones, w_i (y_i - x_i k): where the weights are one
 * over the scatter that a row is expected to have, they are in units of it.
 */
#ifndef HRUN_FIT_ROBUST_H
#define HRUN_FIT_ROBUST_H

#include "fit/fit.h"

typedef int hrun_fit_solver(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err);

struct hrun_huber {
    double k;              /* residuals beyond k scales count as if they were there */
    double least_scale;    /* the scale is never below this, however well the rows agree; >= 0 */
    int rounds_max;        /* solutions at most, >= 1 */
    double tol;            /* done when no weight changes by more */
};
/* 1.345: 95 % of the efficiency of least squares when the scatter is normal (Huber and Ronchetti, Robust Statistics,
 * 2nd ed., section 7.8; Holland and Welsch 1977). Scale 1: what scatters less than the weights allow for is no glitch.
 * Weights settle to a hundredth in some ten rounds; more only polish a number that the scatter blurs. */
#define HRUN_HUBER_DEFAULT { 1.345, 1, 30, 1e-2 }

struct hrun_huber_result {
    double *factor;        /* n, the caller's: what each row's weight was multiplied by, in 0..1 */
    double scale;          /* of the residuals: see hrun_fit_scale */
    int rounds;
    int converged;
};

/* Fit by `solve` with rows re-weighted until the weights stand (Huber and Ronchetti, section 7.8: w = psi(r)/r). *out
 * is the last solution, made with the weights w_i factor_i, and so are its cov and rss.
 * Errors: HRUN_EINVAL (options), those of `solve`; *out may then hold an earlier solution. */
int hrun_fit_huber(hrun_fit_solver *solve, const struct hrun_lsq *problem, const struct hrun_huber *options,
                   struct hrun_lsq_result *out, struct hrun_huber_result *robust, struct hrun_error *err);

/* The variance of one residual that stands in place of rss / (n - p) in the covariance of an M-estimate with p columns
 * in use: K^2 [sum psi^2 / (n - p)] / m^2, with psi = r within +-bound and the bound beyond, m the part of residuals
 * within it, K = 1 + (p / n) (1 - m) / m (Huber and Ronchetti, section 7.6). r[n]: residuals under the unchanged
 * weights. Without one beyond the bound it is rss / (n - p). 0 where n <= p. */
double hrun_fit_huber_variance(const double *r, size_t n, size_t p, double bound);

/* Scale of residuals r[n] of a fit with p columns in use: the median of their absolute values, of which the p smallest
 * are left out, over 0.6745, the same of a normal distribution (Maronna, Martin, Yohai, Robust Statistics, section
 * 4.4.2: p residuals are 0 whatever the scatter is). r is sorted by absolute value. 0 where n <= p. */
double hrun_fit_scale(double *r, size_t n, size_t p);

/* Leave-one-group-out residuals of least squares over all columns: e[i] is the weighted residual of row i under the fit
 * that has not seen any row of its group. group[n]: rows of one group have the same number and are neighbours. No fit
 * is made anew: with Q from the QR of all rows, e_g = (I - Q_g Q_g')^-1 r_g (Allen's PRESS; Cook and Weisberg,
 * Residuals and Influence in Regression, 1982, section 3.8). Infinity for a group without which the columns depend on
 * each other. For NNLS give the columns in use: it is then the cross-validation of the model that they make.
 * Errors: HRUN_ENODATA (n < p), HRUN_ERANK. */
int hrun_fit_leave_out(const struct hrun_lsq *problem, const int *group, double *e, struct hrun_error *err);

#endif
