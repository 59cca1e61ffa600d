/* anchor.c - NP-T terms where one P was measured beside P = M; see anchor.h for the contract */
#include "model/anchor.h"

#include "model/terms.h"

#include <math.h>

/* How a term follows P, as far as values at P, 2P and M tell. */
enum follows { DIVIDED, CONSTANT, OTHER };

static int equal(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static enum follows follows(const struct hrun_terms *terms, int j, const struct hrun_row *rows, size_t n,
                            size_t anchors, const double *x)
{
    int divided = 1, constant = 1;

    if (hrun_term_is_network(terms->v[j].expr))
        return OTHER;

    for (size_t i = anchors; i < n && (divided || constant); i++) {
        const struct hrun_row *r = &rows[i];
        double here = x[i * (size_t)terms->n + (size_t)j], twice, alone;

        if (hrun_term_eval(terms->v[j].expr, HRUN_TERM_NP, (double)r->N, 2.0 * r->P, 0, &twice, NULL) ||
            hrun_term_eval(terms->v[j].expr, HRUN_TERM_NP, (double)r->N, r->M, 0, &alone, NULL))
            return OTHER;
        divided &= equal(2 * twice, here) && equal(alone * r->M, here * r->P);
        constant &= equal(twice, here) && equal(alone, here);
    }
    return divided ? DIVIDED : constant ? CONSTANT : OTHER;
}

/* Is column j at rows first..n-1 of x[n by p] a positive multiple of column k? */
static int is_multiple(const double *x, size_t n, size_t p, size_t first, size_t j, size_t k)
{
    double ratio = x[first * p + j] / x[first * p + k];

    if (!(ratio > 0))
        return 0;
    for (size_t i = first + 1; i < n; i++)
        if (!equal(x[i * p + j], ratio * x[i * p + k]))
            return 0;
    return 1;
}

void hrun_anchor(const struct hrun_terms *terms, const struct hrun_row *rows, size_t n, size_t anchors, double *x)
{
    size_t p = (size_t)terms->n;

    for (int j = 0; j < terms->n; j++) {
        enum follows f = follows(terms, j, rows, n, anchors, x);
        size_t clear = f == DIVIDED ? 0 : anchors;

        if (hrun_term_is_network(terms->v[j].expr))
            continue;   /* known on one PE as on several */
        for (int k = 0; k < terms->n && f == OTHER && clear == anchors; k++)
            if (k != j && is_multiple(x, n, p, anchors, (size_t)j, (size_t)k) &&
                follows(terms, k, rows, n, anchors, x) == CONSTANT)
                clear = n;
        for (size_t i = 0; i < clear; i++)
            x[i * p + (size_t)j] = 0;
    }
}
