/* selection.h - how well terms predict measurements that a fit has not seen; for lib/model alone
 *
 * Purpose: discover.c tries hundreds of lists of terms on the same measurements. Here these are laid out once, with the
 * values of all terms of the library, and a list is judged by the points left out and by the largest P, held back.
 */
#ifndef HRUN_MODEL_SELECTION_H
#define HRUN_MODEL_SELECTION_H

#include "fit/fit.h"
#include "model/discover.h"
#include "model/model.h"

/* Products of a power and a logarithm of N with a power and a logarithm of P. Powers of both signs stand for work that
 * is divided (1/P) or for messages, more or larger ones (ln(P), P). Order: by how P enters, the likeliest first, and
 * in it by falling powers of N: where two terms explain the same, the earlier one is meant. */

/* N^a ln(N)^l P^b ln(P)^m. Powers are in sixths, so that halves and thirds are exact. */
struct hrun_basis {
    signed char a6, l, b6, m;
};

/* All of them, and how many. */
const struct hrun_basis *hrun_library(size_t *n);

/* Is it in proportion to 1/P: work shared out among the processes? */
int hrun_basis_divided(const struct hrun_basis *t);
/* Does it not depend on P at all? */
int hrun_basis_constant(const struct hrun_basis *t);

/* Its value at N, P >= 1. */
double hrun_basis_value(const struct hrun_basis *t, double N, double P);

/* Append it as an expression of lib/expr: "N^2*ln(N)/P", "sqrt(N)", "1". */
void hrun_basis_print(const struct hrun_basis *t, struct hrun_buf *out);

/* Paper 000's Table V has ten terms for the richest of its applications. */
enum { HRUN_TERMS_MAX = 10, HRUN_LIBRARY_MAX = 128 };

/* One series: its rows in the order of P = M or not, P, N, and what the library's terms are there. */
struct hrun_series {
    const struct hrun_discover_point *at;
    size_t n, anchors;       /* the first `anchors` have P = M */
    double *x, *y, *w;       /* n by columns, row-major; n; n */
    int *point;              /* of each row: rows at one (N, P) have the same number */
    char *held;              /* 1: at the largest P, told by the others */
    size_t loo, held_at;     /* where its losses begin: points left out, and held points */
    size_t npoints, nheld;   /* how many */
};

struct hrun_selection {
    struct hrun_series *v;
    size_t nseries;
    struct hrun_basis basis[HRUN_LIBRARY_MAX];
    size_t columns;
    double *memory;
    int *ints;
    char *chars;
    size_t nloo, nheld;
    double *sub, *suby, *subw, *k, *e;   /* scratch */
};

/* Terms, and the losses of all points, those left out first. */
struct hrun_selected {
    int term[HRUN_TERMS_MAX];
    int n;
    double *loss;
    double mean;
};

/* Lay out points[n], in order of series, P = M or not, P, N. only_n: for terms over N alone. A series of one size tells
 * nothing and is left out. */
void hrun_series_init(struct hrun_selection *d, const struct hrun_discover_point *points, size_t n, int only_n,
                     const struct hrun_fit_options *o);
void hrun_series_release(struct hrun_selection *d);

/* Fit the terms of c to s; then d->e[row] is what each row is missed by when its point is left out, in units of its
 * scatter, INFINITY where it cannot be. Errors: those of hrun_fit_nnls. */
int hrun_series_leave_out(struct hrun_selection *d, const struct hrun_series *s, const struct hrun_selected *c,
                          struct hrun_error *err);

/* The losses of c and their mean. Of a series that cannot tell, for a point that is needed to know the terms, those of
 * `before`. Errors: those of hrun_fit_nnls. */
int hrun_series_judge(struct hrun_selection *d, const struct hrun_selected *before, struct hrun_selected *c,
                      struct hrun_error *err);

#endif
