/* check.c - questions about a problem: optimality of an answer, independence and likeness of columns; see
 * fit.h */
#include "fit/fit.h"
#include "fit/work.h"

#include <math.h>

double hrun_fit_kkt(const struct hrun_lsq *problem, const double *k)
{
    struct hrun_fit_work w;
    double unit, *e, worst = 0;

    if (hrun_fit_work_alloc(problem, problem->n, &w, NULL))
        return INFINITY;
    unit = w.bnorm > 0 ? w.bnorm : 1;
    e = w.extra;
    for (size_t i = 0; i < w.n; i++)
        e[i] = w.b[i];
    for (size_t j = 0; j < w.p; j++)
        for (size_t i = 0; i < w.n && k[j] != 0; i++)
            e[i] -= w.a[j * w.n + i] * (k[j] * w.scale[j] / unit);
    for (size_t j = 0; j < w.p; j++) {
        double g = 0;

        for (size_t i = 0; i < w.n; i++)
            g += w.a[j * w.n + i] * e[i];
        /* a free coefficient needs g = 0, one at its bound g <= 0; a negative one is off by itself */
        worst = fmax(worst, k[j] != 0 ? fabs(g) : g);
        worst = fmax(worst, -k[j] * w.scale[j] / unit);
        if (!isfinite(g) || !isfinite(k[j]) || (k[j] < 0 && w.scale[j] == 0))
            worst = INFINITY;
    }
    hrun_fit_work_free(&w);
    return worst;
}

int hrun_fit_independent(const struct hrun_lsq *problem, double tol, int *keep, size_t *rank,
                         struct hrun_error *err)
{
    struct hrun_lsq matrix = *problem;
    struct hrun_fit_work w;
    size_t k = 0;

    matrix.y = NULL;
    if (hrun_fit_work_alloc(&matrix, problem->n, &w, err))
        return -1;
    tol = fmax(tol, hrun_fit_roundoff(w.n, w.p));
    for (size_t j = 0; j < w.p; j++) {
        double *rest = w.a + j * w.n + k, s, beta;

        keep[j] = k < w.n && hrun_fit_norm(rest, w.n - k) > tol;
        if (!keep[j])
            continue;
        hrun_fit_householder(rest, w.n - k, w.extra, &s, &beta);
        for (size_t l = j + 1; l < w.p; l++)
            hrun_fit_reflect(w.extra, beta, w.a + l * w.n + k, w.n - k);
        k++;
    }
    *rank = k;
    hrun_fit_work_free(&w);
    return 0;
}

/* Is unit column a_j a positive multiple of unit column a_i, but for tol? */
static int alike(const double *ai, const double *aj, size_t n, double tol)
{
    double dot = 0, rest = 0;

    for (size_t l = 0; l < n; l++)
        dot += ai[l] * aj[l];
    if (dot <= 0)
        return 0;
    for (size_t l = 0; l < n; l++)
        rest += (aj[l] - dot * ai[l]) * (aj[l] - dot * ai[l]);
    return sqrt(rest) <= tol;
}

int hrun_fit_distinct(const struct hrun_lsq *problem, double tol, int *keep, size_t *count,
                      struct hrun_error *err)
{
    struct hrun_lsq matrix = *problem;
    struct hrun_fit_work w;
    size_t kept = 0;

    matrix.y = NULL;
    if (hrun_fit_work_alloc(&matrix, 0, &w, err))
        return -1;
    tol = fmax(tol, hrun_fit_roundoff(w.n, w.p));
    for (size_t j = 0; j < w.p; j++) {
        keep[j] = w.scale[j] > 0;
        for (size_t i = 0; keep[j] && i < j; i++)
            keep[j] = !(keep[i] && alike(w.a + i * w.n, w.a + j * w.n, w.n, tol));
        kept += (size_t)keep[j];
    }
    *count = kept;
    hrun_fit_work_free(&w);
    return 0;
}
