/* check.c - select independent or distinct columns; see fit.h */
#include "base/alloc.h"
#include "fit/internal.h"

#include <math.h>

int hrun_fit_independent(const struct hrun_lsq *problem, double tol, int *keep, size_t *rank,
                         struct hrun_error *err)
{
    struct hrun_lsq matrix = *problem;
    autorelease(hrun_fit_work_free) struct hrun_fit_work w = { 0 };
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
    return 0;
}

/* 1 if unit column a_j is a positive multiple of unit column a_i within tol, else 0. */
static int columns_alike(const double *ai, const double *aj, size_t n, double tol)
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
    autorelease(hrun_fit_work_free) struct hrun_fit_work w = { 0 };
    size_t kept = 0;

    matrix.y = NULL;
    if (hrun_fit_work_alloc(&matrix, 0, &w, err))
        return -1;
    tol = fmax(tol, hrun_fit_roundoff(w.n, w.p));
    for (size_t j = 0; j < w.p; j++) {
        keep[j] = w.scale[j] > 0;
        for (size_t i = 0; keep[j] && i < j; i++)
            keep[j] = !(keep[i] && columns_alike(w.a + i * w.n, w.a + j * w.n, w.n, tol));
        kept += (size_t)keep[j];
    }
    *count = kept;
    return 0;
}
