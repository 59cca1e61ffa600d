/* fit_kkt.h - is a solution of non-negative least squares optimal? */
#ifndef FIT_KKT_H
#define FIT_KKT_H

#include "fit/fit.h"
#include "fit/internal.h"

#include <math.h>

/* Largest violation of the Kuhn-Tucker conditions by k[p], relative: columns scaled to norm 1, divided by
 * ||W y||. 0 for an exact optimum; rounding leaves about max(n,p) 1e-16 (1 + sum k_j ||W x_j|| / ||W y||).
 * Infinity when it cannot be computed (bad input, no memory). */
static inline double fit_kkt(const struct hrun_lsq *problem, const double *k)
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

#endif
