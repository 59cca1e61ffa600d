/* check.c - questions about a problem: optimality of an answer, independence of columns; see fit.h */
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
