/* internal.h - what the files of lib/fit share */
#ifndef HRUN_FIT_INTERNAL_H
#define HRUN_FIT_INTERNAL_H

#include "fit/fit.h"

#include <stddef.h>

/* ---------------------------------------------------------------- work
 *
 * Invariants of struct hrun_fit_work: a holds the weighted columns, column-major. Each column is divided by its 2-norm,
 * `scale`; a column of zeros has scale 0. b is the weighted right side divided by its norm, `bnorm`; a right side of
 * zeros has bnorm 0. All entries are finite.
 */

struct hrun_fit_work {
    size_t n, p;
    double *a;          /* n by p, column-major */
    double *b;          /* n; zeros when the problem has no y */
    double *scale;      /* p */
    double *extra;      /* the doubles requested from hrun_fit_work_alloc, all 0 */
    double bnorm;
};

/* Check, weight and scale the problem. extra: number of doubles of work memory.
 * Errors: those common to all in fit.h. On success the caller frees with hrun_fit_work_free. */
int hrun_fit_work_alloc(const struct hrun_lsq *problem, size_t extra, struct hrun_fit_work *out,
                        struct hrun_error *err);
void hrun_fit_work_free(struct hrun_fit_work *w);

/* A bound of the rounding error in entries of Householder-transformed unit columns: 10 max(n,p) times the unit roundoff
 * (Higham, Accuracy and Stability of Numerical Algorithms, theorem 19.4; 10 replaces its constant). */
double hrun_fit_roundoff(size_t n, size_t p);

/* 2-norm without overflow or underflow. */
double hrun_fit_norm(const double *v, size_t n);

/* Make the Householder reflection that maps u[len] to (s, 0, ..., 0): v[len] receives its vector, *s the
 * value and *beta the factor for hrun_fit_reflect. u must not be 0. */
void hrun_fit_householder(const double *u, size_t len, double *v, double *s, double *beta);
/* y += beta (v . y) v */
void hrun_fit_reflect(const double *v, double beta, double *y, size_t len);

/* Solve R z = d for upper triangular R[k by k], entry (i,j) at r[j * ld + i]. */
void hrun_fit_backsolve(const double *r, size_t ld, size_t k, const double *d, double *z);

/* A solution in scaled columns. */
struct hrun_fit_solution {
    const size_t *cols;        /* k: the columns in use; the coefficients of all others are 0 */
    size_t k;
    const double *z;           /* k: coefficients of the columns in use */
    double *r;                 /* R as for hrun_fit_backsolve; hrun_fit_deliver may invert it in place */
    size_t ld;
    size_t iterations;
};

/* Write the solution into *out. Nothing is written on failure.
 * Errors: HRUN_ENONFINITE when a result overflows, naming the column. */
int hrun_fit_deliver(const struct hrun_fit_work *w, const struct hrun_fit_solution *s, struct hrun_lsq_result *out,
                     struct hrun_error *err);

#endif
