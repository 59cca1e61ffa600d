/* fit.h - least squares on matrices, nothing else (the only room that knows GSL)
 *
 * Purpose: solve min || W (X k - y) ||_2, plain (LS) or with k >= 0 (NNLS).
 * Conventions: X is n by p, row-major; y has n entries; w has n row weights > 0 (NULL: all 1) that multiply
 * rows of X and y. Columns are scaled to unit 2-norm (after weighting) before solving, results are given in
 * the caller's scale.
 * Errors common to all: HRUN_ENODATA (n or p is 0; LS: n < p), HRUN_ENONFINITE (naming row and column; also a
 * result that overflows), HRUN_EINVAL (a weight that is not above 0; a size that no memory holds), HRUN_ERANK
 * (LS: naming a column that depends on the others). Rows and columns are numbered from 1 in messages. Outputs
 * are untouched then.
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

/* Non-negative least squares: Lawson and Hanson's active set method (Solving Least Squares Problems, ch. 23;
 * paper 000, section 5.8 and reference 31), each subproblem solved by Householder QR on the passive columns,
 * never by normal equations. Works for any rank and for n < p; a column that depends on the passive ones
 * stays out. The result satisfies the Kuhn-Tucker conditions: k >= 0, g = X'W^2(y - Xk) <= tol, k_j g_j = 0,
 * with tol being what rounding can do to g. It depends on the passive set alone, not on the way to it.
 * Where several k are optimal (their X k is the same) the steps decide: the first takes in the first column
 * with g > 0, so put first what matters most; each later one takes in the column that has the largest g at
 * norm 1, and of those equal but for rounding the first. */
int hrun_fit_nnls(const struct hrun_lsq *problem, struct hrun_lsq_result *out, struct hrun_error *err);

/* Which columns are independent of the kept ones before them: keep[j] = 1 or 0 (Householder QR of the scaled
 * columns from left to right; a column whose remainder is at most tol of its norm, or what rounding explains,
 * depends). problem->y is not looked at. *rank: how many are kept. */
int hrun_fit_independent(const struct hrun_lsq *problem, double tol, int *keep, size_t *rank,
                         struct hrun_error *err);

/* Which columns are neither 0 nor a positive multiple of a kept one before them: keep[j] = 1 or 0. Of columns
 * at norm 1, a_j is a multiple of a_i when a_i.a_j > 0 and ||a_j - (a_i.a_j) a_i|| is at most tol, or what
 * rounding explains. The kept columns span the same cone as all (but for tol), so that nothing is lost to
 * NNLS; they may be more than there are rows. problem->y is not looked at. *count: how many are kept. */
int hrun_fit_distinct(const struct hrun_lsq *problem, double tol, int *keep, size_t *count,
                      struct hrun_error *err);

/* Quantile of Student's t distribution: the x with P(T <= x) = prob. dof >= 1. */
double hrun_fit_t_quantile(double prob, double dof);

/* The probability of an F ratio of at least f with dof1 and dof2 degrees of freedom, each > 0. */
double hrun_fit_f_tail(double f, double dof1, double dof2);

/* ---------------------------------------------------------------- robust
 *
 * Least squares that a few bad rows cannot spoil, and how well a fit tells rows that it has not seen
 *
 * Purpose: Huber's M-estimate around either solver of fit.h, by re-weighting; leave-one-out cross-validation.
 * Conventions and errors are those of fit.h. Residuals are weighted ones, w_i (y_i - x_i k): where the weights are one
 * over the scatter that a row is expected to have, they are in units of it.
 */

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

/* ---------------------------------------------------------------- spread
 *
 * How much samples of one thing scatter, and whether samples of several things differ
 *
 * Conventions: samples are finite, in any order, and untouched. Errors of all: HRUN_ENODATA (no sample),
 * HRUN_ENONFINITE; outputs are untouched then.
 */

struct hrun_spread {
    double median;
    double low, high;      /* first and ninth decile, interpolated */
    double mad;            /* median absolute deviation from the median, as a standard deviation: times 1.4826 (Maronna,
                              Martin, Yohai, Robust Statistics, section 2.4) */
    double least, most;
};

/* Put v[n] into ascending order. */
void hrun_sort(double *v, size_t n);

/* Of v[n], n >= 1. */
int hrun_spread_of(const double *v, size_t n, struct hrun_spread *out, struct hrun_error *err);

/* The steps in which a clock tells time_s[n], all above 0, as far as their digits show: 0.01 of 0.31 and 2.5; INFINITY
 * without any. A time of half a step stands for one that the clock told as 0. */
double hrun_times_step(const double *time_s, size_t n);
/* The standard deviation of what rounding to such steps does to a time (of a uniform distribution one step wide). 0
 * where fewer than five times are known: their last digits may be zeros by accident. */
double hrun_times_rounding(const double *time_s, size_t n);

/* The shortest time that tells more of a thing than of its clock: 50 steps, and 20 standard deviations of what
 * repetitions scatter by whatever their time is. The latter shows where the shorter half of six pairs or more scatters
 * by more than in proportion to the longer half. 0: any time. Arguments as below. */
double hrun_times_least(const double *time_s, const int *thing, size_t n);

/* Do times not scatter at all, as those of a simulation that counts operations? 1 when two of one thing are equal, none
 * of one thing differ, and the clock would have shown it: its step is at most a ten-
 * thousandth of an equal pair's time. (Two of times that scatter by 1 % agree so once in 350.) 0 otherwise. time_s[n]
 * are above 0, thing[i] says of what time_s[i] is. Equal are times to nine digits, which is what files keep. */
int hrun_times_repeat(const double *time_s, const int *thing, size_t n);

/* Are k groups of samples, v[i][0..n[i]-1], of one distribution? W. Kruskal, W. Wallis, "Use of ranks in one-criterion
 * variance analysis", J. Amer. Statist. Assoc. 47, 1952: H on mean ranks, corrected for ties. *h gets H, *p the
 * probability of an H that large if they are: the upper tail of chi-square with k - 1 degrees of freedom, good from
 * five samples a group on. All samples equal: H is 0 and p is 1.
 * Errors: HRUN_EINVAL (k < 2). */
int hrun_kruskal_wallis(const double *const *v, const size_t *n, size_t k, double *h, double *p,
                        struct hrun_error *err);

#endif
