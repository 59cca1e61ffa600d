/* sparse.h - non-negative least squares of systems whose rows have few entries
 *
 * Purpose: what hrun_fit_nnls solves, where nearly all entries of X are 0 and there are hundreds of columns: parameters
 * of pairs of hosts, of which each row has a few. The answer is the same to rounding, but where several are optimal.
 * Method: the factor R of X by Givens rotations, a row at a time (George and Heath, "Solution of sparse linear least
 * squares problems using Givens rotations", Linear Algebra Appl. 34, 1980), columns in the order of least degree;
 * never by normal equations. Columns leave R by rotations of one row. Lawson and Hanson's steps begin at a solution
 * nearby, if there is one; else at that of all columns, those that are not above 0 being left out until none is.
 * Conventions are those of fit.h; so are errors: HRUN_ENODATA, HRUN_ENONFINITE, HRUN_EINVAL, HRUN_ENOMEM.
 */
#ifndef HRUN_FIT_SPARSE_H
#define HRUN_FIT_SPARSE_H

#include "base/error.h"

#include <stddef.h>

struct hrun_sparse {
    size_t n, p;
    const size_t *first;       /* n + 1: entries of row i are first[i] .. first[i + 1] - 1 of the next two */
    const size_t *column;      /* 0 .. p - 1, within a row each once */
    const double *value;
    const double *y;           /* n */
    const double *w;           /* n, > 0 */
};

struct hrun_sparse_result {
    double *k;                 /* p; the caller's */
    double rss;                /* weighted residual sum of squares */
    size_t rank;               /* columns in use */
    size_t iterations;         /* how often columns came into use */
};

/* Non-negative least squares. start[p]: the columns above 0 are in use first; NULL: none is known. The result satisfies
 * the Kuhn-Tucker conditions, as that of hrun_fit_nnls does, with the residual formed from it: k >= 0, g = X'W^2(y -
 * Xk) <= tol, g_j = 0 where k_j > 0, with tol being what rounding can do to g. Where several k are optimal it depends
 * on the start. Outputs are untouched on errors. */
int hrun_sparse_nnls(const struct hrun_sparse *problem, const double *start, struct hrun_sparse_result *out,
                     struct hrun_error *err);

/* Variances of the coefficients k[p] >= 0 that hrun_sparse_nnls found, s2 being that of a weighted residual: s2 times
 * the diagonal of (X'W^2X)^-1 on the columns in use, and what the columns at 0 may be all the same. For each of
 * these, j, let u_j be what its coefficient is likely to be, and d_j the change of all coefficients when it becomes 1
 * and those in use follow: d_jj = 1, and -1 times the coefficients of least squares of column j on the columns in
 * use. u_j^2 d_j^2 is added. u_j is the root mean square of a normal distribution cut off below 0 (Johnson, Kotz,
 * Balakrishnan, Continuous Univariate Distributions 1, 2nd ed., section 13.10.1), that of the coefficient which least
 * squares gives to column j beside those in use; and at most what leaves the coefficients in use >= 0, which alone
 * limits a column that the rows cannot tell from those in use. Where columns in use depend on each other their
 * variance is NAN. variance[p]. Errors: also HRUN_EINVAL (s2 negative or not finite). */
int hrun_sparse_variance(const struct hrun_sparse *problem, const double *k, double s2, double *variance,
                         struct hrun_error *err);

#endif
