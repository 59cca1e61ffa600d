/* fit.h - least squares on matrices (the only room that uses GSL)
 *
 * Purpose: solve min || W (X k - y) ||_2, plain (LS) or with k >= 0 (NNLS).
 * Conventions: X is n by p, row-major; y has n entries; w has n row weights > 0 (NULL: all 1) that multiply rows of X
 * and y. After weighting, the solvers scale each column to 2-norm 1. Results are in the caller's scale.
 * Errors common to all: HRUN_ENODATA (n or p is 0; LS: n < p), HRUN_ENONFINITE (naming row and column; also a
 * result that overflows), HRUN_EINVAL (a weight that is not above 0; a size beyond any memory), HRUN_ERANK
 * (LS: naming a column that depends on the others). Rows and columns are numbered from 1 in messages. After an
 * error the outputs are untouched.
 */
#ifndef HRUN_FIT_FIT_H
#define HRUN_FIT_FIT_H

#include "base/error.h"

#include <stddef.h>

struct hrun_lsq {
    const double *x;       /* n by p, row-major */
    const double *y;       /* n */
    const double *w;       /* n, or NULL */
    size_t n, p;
};

struct hrun_lsq_result {   /* arrays are the caller's: k[p], cov[p*p] */
    double *k;
    double *cov;           /* (X'W^2X)^-1 on the columns in use, 0 elsewhere; NULL if not wanted */
    double rss;            /* weighted residual sum of squares */
    size_t rank;           /* columns in use: LS p, NNLS the size of the passive set */
    size_t iterations;     /* NNLS: columns moved into the passive set */
};

/* Ordinary least squares by QR with column pivoting (GSL). */
int hrun_fit_ls(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err);

/* Non-negative least squares by Lawson and Hanson's active set method (Solving Least Squares Problems, ch. 23; paper
 * 000, section 5.8 and reference 31). Householder QR of the columns in use (the passive set) solves each subproblem.
 * Any rank and n < p are allowed; a column that depends on the passive set stays out. The result satisfies the
 * Kuhn-Tucker conditions k >= 0, g = X'W^2(y - Xk) <= tol, k_j g_j = 0; tol bounds the rounding error of g. The passive
 * set alone determines k, not the order of the steps. If several k are optimal, the order of columns decides: the first
 * step adds the first column with g > 0, so put the most important column first. Each later step adds the column with
 * the largest g at norm 1; among equals (up to rounding) the first. */
int hrun_fit_nnls(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err);

/* keep[j] = 1 if column j is independent of the kept columns before it, else 0: Householder QR of the scaled
 * columns from left to right; a column depends if its remainder is at most tol of its norm, or within rounding
 * errors. problem->y is not used. *rank: number of columns kept. */
int hrun_fit_independent(const struct hrun_lsq *problem, double tol, int *keep, size_t *rank,
                         struct hrun_error *err);

/* keep[j] = 0 if column j is 0 or a positive multiple of a kept column before it, else 1. At norm 1, a_j is a multiple
 * of a_i when a_i.a_j > 0 and ||a_j - (a_i.a_j) a_i|| is at most tol, or within rounding errors. The kept columns span
 * the same cone as all columns (within tol), so NNLS fits as well with the kept columns. More columns than rows may be
 * kept. problem->y is not used. *count: number of columns kept. */
int hrun_fit_distinct(const struct hrun_lsq *problem, double tol, int *keep, size_t *count,
                      struct hrun_error *err);

/* Replace the lower triangle of the symmetric s[p by p] by its Cholesky factor. 0; -1 if s is not positive definite
 * within tol. hrun_fit_forward replaces b[p] by the solution b' of L b' = b. */
int hrun_fit_cholesky(double *s, size_t p, double tol);
void hrun_fit_forward(const double *l, size_t p, double *b);

/* Quantile of Student's t distribution: the x with P(T <= x) = prob. dof >= 1. */
double hrun_fit_t_quantile(double prob, double dof);

/* Probability of an F ratio of at least f with dof1 and dof2 degrees of freedom, each > 0. */
double hrun_fit_f_tail(double f, double dof1, double dof2);

/* ---------------------------------------------------------------- robust
 *
 * Purpose: Huber's M-estimate around either solver of fit.h, by re-weighting; leave-one-out cross-validation.
 * Conventions and errors are those of fit.h. Residuals are weighted: w_i (y_i - x_i k). If w_i is 1 / (expected scatter
 * of row i), a residual of 1 is one expected scatter.
 */

typedef int hrun_fit_solver(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err);

struct hrun_huber {
    double k;              /* residuals beyond k scales are limited to k scales */
    double least_scale;    /* lower bound of the scale, >= 0 */
    int rounds_max;        /* largest number of solutions, >= 1 */
    double tol;            /* converged when no factor changes by more than tol */
};
/* 1.345: 95 % of the efficiency of least squares when the scatter is normal (Huber and Ronchetti, Robust Statistics,
 * 2nd ed., section 7.8; Holland and Welsch 1977). Least scale 1: a residual within 1.345 expected scatters is no
 * outlier. Factors settle to 0.01 within about ten rounds; the scatter has a far larger effect. */
#define HRUN_HUBER_DEFAULT { 1.345, 1, 30, 1e-2 }

struct hrun_huber_result {
    double *factor;        /* n, the caller's: factor on each row's weight, in 0..1 */
    double scale;          /* of the residuals: see hrun_fit_scale */
    int rounds;
    int converged;
};

/* Fit by `solve`, re-weighting rows until the weights converge (Huber and Ronchetti, section 7.8: w = psi(r)/r). *out
 * is the last solution, computed with weights w_i factor_i.
 * Errors: HRUN_EINVAL (options), those of `solve`; *out may then contain an earlier solution. */
int hrun_fit_huber(hrun_fit_solver *solve, const struct hrun_lsq *problem, const struct hrun_huber *options,
                   struct hrun_lsq_result *out, struct hrun_huber_result *robust, struct hrun_error *err);

/* The residual variance for the covariance of an M-estimate with p columns in use, in place of rss / (n - p):
 * K^2 [sum psi^2 / (n - p)] / m^2, where psi is r clipped to +-bound, m the part of residuals within the bound, and
 * K = 1 + (p / n) (1 - m) / m (Huber and Ronchetti, section 7.6). r[n]: residuals with the original weights. If no
 * residual is beyond the bound, the result is rss / (n - p). 0 if n <= p. */
double hrun_fit_huber_variance(const double *r, size_t n, size_t p, double bound);

/* Scale of residuals r[n] of a fit with p columns in use: the median of their absolute values without the p smallest,
 * over 0.6745, the median of the absolute standard normal (Maronna, Martin, Yohai, Robust Statistics, section 4.4.2: a
 * fit can make p residuals 0). Sorts r by absolute value. 0 if n <= p. */
double hrun_fit_scale(double *r, size_t n, size_t p);

/* Leave-one-group-out residuals of least squares over all columns: e[i] is the weighted residual of row i under the fit
 * without the rows of its group. group[n]: rows of one group are neighbours with the same number. Computed without
 * refitting: with Q from the QR of all rows, e_g = (I - Q_g Q_g')^-1 r_g (Allen's PRESS; Cook and Weisberg, Residuals
 * and Influence in Regression, 1982, section 3.8). Infinity if the columns are dependent without the group. To
 * cross-validate an NNLS fit, pass only the columns in use.
 * Errors: HRUN_ENODATA (n < p), HRUN_ERANK. */
int hrun_fit_leave_out(const struct hrun_lsq *problem, const int *group, double *e, struct hrun_error *err);

/* ---------------------------------------------------------------- spread
 *
 * Scatter of samples, and comparison of groups of samples
 *
 * Conventions: samples are finite, in any order, and not modified. Errors of all: HRUN_ENODATA (no sample),
 * HRUN_ENONFINITE; outputs are untouched then.
 */

struct hrun_spread {
    double median;
    double low, high;      /* first and ninth decile, interpolated */
    double mad;            /* median absolute deviation from the median, as a standard deviation: times 1.4826 (Maronna,
                              Martin, Yohai, Robust Statistics, section 2.4) */
    double least, most;
};

/* Sort v[n] in ascending order. */
void hrun_sort(double *v, size_t n);

/* The spread of v[n], n >= 1. */
int hrun_spread_of(const double *v, size_t n, struct hrun_spread *out, struct hrun_error *err);

/* The step of the clock that reported time_s[n], all above 0, judged by the last decimal digits: 0.01 for 0.31 and 2.5;
 * INFINITY if n is 0. A time of half a step stands for one reported as 0. */
double hrun_times_step(const double *time_s, size_t n);
/* The standard deviation of rounding times to steps (a uniform distribution one step wide). 0 if n < 5: the last digits
 * of few times may be zeros by accident. */
double hrun_times_rounding(const double *time_s, size_t n);

/* The shortest time that can be measured well: the larger of 50 clock steps and 20 standard deviations of the absolute
 * scatter, the part that does not grow with the time. Absolute scatter is found if there are six pairs of consecutive
 * times of one thing, and the shorter half scatters by more than twice its proportion of the longer half. 0: any time.
 * Arguments: see hrun_times_repeat. */
double hrun_times_least(const double *time_s, const int *thing, size_t n);

/* 1 if times do not scatter at all, as in a simulation that counts operations, else 0: all times of one thing are
 * equal, some thing has two times, and the clock step is at most 1e-4 of the longest repeated time. (Two times that
 * scatter by 1 % agree to 1e-4 once in 350.) time_s[n] are above 0; thing[i] identifies what time_s[i] measured. Times
 * are compared to nine digits, as stored in files. */
int hrun_times_repeat(const double *time_s, const int *thing, size_t n);

/* Test whether k groups of samples, v[i][0..n[i]-1], have one distribution (W. Kruskal, W. Wallis, "Use of ranks in
 * one-criterion variance analysis", J. Amer. Statist. Assoc. 47, 1952). *h: H on mean ranks, corrected for ties. *p:
 * the probability of at least this H for one distribution, the upper tail of chi-square with k - 1 degrees of freedom;
 * accurate for five or more samples in each group. If all samples are equal, H is 0 and p is 1.
 * Errors: HRUN_EINVAL (k < 2). */
int hrun_kruskal_wallis(const double *const *v, const size_t *n, size_t k, double *h, double *p,
                        struct hrun_error *err);

#endif
