/* fit.h - least squares on matrices, nothing else (the only room that knows GSL)
 *
 * Purpose: solve min || W (X k - y) ||_2, plain (LS) or with k >= 0 (NNLS).
 * Conventions: X is n by p, row-major; y has n entries; w has n row weights > 0 (NULL: all 1) that multiply
 * rows of X and y. Columns are scaled to unit 2-norm (after weighting) before solving, results are given in
 * the caller's scale.
 * Errors common to all: HRUN_ENODATA (n or p is 0; LS: n < p), HRUN_ENONFINITE (naming row and column; also a
 * result that overflows), HRUN_EINVAL (a weight that is not above 0), HRUN_ERANK (LS: naming a column that
 * depends on the others), HRUN_ENOMEM. Rows and columns are numbered from 1 in messages. Outputs are
 * untouched then.
 */
#ifndef HRUN_FIT_H
#define HRUN_FIT_H

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

#endif
