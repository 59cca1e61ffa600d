/* sparse_qr.h - the triangular factor of a sparse matrix, by rotations; not for other rooms
 *
 * Purpose: what lib/fit/sparse.c solves with. Columns are known by their positions in the order of elimination,
 * weighted and scaled to norm 1 (or all 0), the right side likewise.
 * Invariants: R of the columns that are in (and filled) is upper triangular; row i has room for the columns that meet
 * column i in a row of X or because of columns before it, whichever of them are in, so that no row ever outgrows its
 * room. Entries of columns that are out are not looked at.
 */
#ifndef HRUN_FIT_SPARSE_QR_H
#define HRUN_FIT_SPARSE_QR_H

#include "fit/sparse.h"

struct hrun_sparse_qr {
    size_t n, p;
    size_t *position;          /* p: of each column of the problem */
    size_t *first, *at;        /* X: entries of row i, positions; owned */
    double *value, *b;         /* its entries, weighted and scaled; n: the right side */
    double *scale, bnorm;      /* p, by position: norms of columns, 0: all entries are 0 */
    size_t *row, *column;      /* R: entries of row i are row[i] .. row[i + 1] - 1, the diagonal first */
    double *r, *d;             /* p: its right side */
    size_t *parent;            /* p: the next column of row i after the diagonal, p: none */
    char *in, *filled;         /* p: is column i in; has row i been set */
    double *work;              /* p, all 0 between calls */
};

/* Check the problem, weight and scale it, order its columns, make room for R. in[] is all 0. Errors: those of sparse.h.
 * The caller frees, also after an error. */
int hrun_sparse_qr_make(const struct hrun_sparse *problem, struct hrun_sparse_qr *out, struct hrun_error *err);
void hrun_sparse_qr_free(struct hrun_sparse_qr *q);

/* R and its right side, of the columns that are in, afresh. A column whose part outside the span of those before it
 * rounding explains goes out. */
void hrun_sparse_qr_factor(struct hrun_sparse_qr *q);

/* Take a column out of R. */
void hrun_sparse_qr_leave(struct hrun_sparse_qr *q, size_t position);

/* Solve R z = d; R' z = d. z[p] and d[p] by position, z is 0 where a column is out; they may be the same. */
void hrun_sparse_qr_solve(const struct hrun_sparse_qr *q, const double *d, double *z);
void hrun_sparse_qr_solve_transposed(const struct hrun_sparse_qr *q, const double *d, double *z);

/* rest[n] -= X z; g[p] = X' rest, of all columns. */
void hrun_sparse_qr_subtract(const struct hrun_sparse_qr *q, const double *z, double *rest);
void hrun_sparse_qr_gradient(const struct hrun_sparse_qr *q, const double *rest, double *g);

#endif
