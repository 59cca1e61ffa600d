/* correct_common.c - r(N) as a Gaussian process over ln N, and its common part on several sub-clusters; see correct.h
 * for the contract */
#include "base/alloc.h"
#include "fit/fit.h"
#include "model/correct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a Gaussian process over ln N */

static double size_covariance(double var, double a, double b)
{
    return var * exp(-fabs(a - b) / HRUN_CORRECT_LENGTH);
}

double hrun_correct_condition(const struct hrun_correct_point *v, size_t npoints, double prior, double x, size_t skip,
                              double *var)
{
    double A[HRUN_CORRECTION_SIZES * HRUN_CORRECTION_SIZES], k[HRUN_CORRECTION_SIZES], r[HRUN_CORRECTION_SIZES];
    double mean = 0;
    size_t first = 0, last = npoints, use[HRUN_CORRECTION_SIZES], n = 0;

    while (last - first > HRUN_CORRECTION_SIZES) {   /* drop the farther end */
        if (fabs(v[first].x - x) > fabs(v[last - 1].x - x))
            first++;
        else
            last--;
    }
    for (size_t i = first; i < last; i++)
        if (i != skip)
            use[n++] = i;
    for (size_t a = 0; a < n; a++) {
        const struct hrun_correct_point *p = &v[use[a]];

        for (size_t b = 0; b < n; b++)
            A[a * n + b] = size_covariance(prior, p->x, v[use[b]].x);
        A[a * n + a] += p->var / (p->agree * fmax(p->trust, 1e-6)) + p->rounding;
        k[a] = size_covariance(prior, p->x, x);
        r[a] = p->own;
    }
    hrun_fit_cholesky(A, n, 0);     /* the noise on the diagonal, at least 1e-8, keeps it well conditioned */
    hrun_fit_forward(A, n, k);
    hrun_fit_forward(A, n, r);
    *var = prior;
    for (size_t a = 0; a < n; a++) {
        mean += k[a] * r[a];            /* k' A^-1 r = (L^-1 k)' (L^-1 r) */
        *var -= k[a] * k[a];
    }
    *var = fmax(*var, 0);
    return mean;
}

/* ------------------------------------------------------------------ the common part */

/* Least number of configurations at one N from which a common part is estimated. */
enum { COMMON_LEAST = 3 };

static int correct_size_order(const void *a, const void *b)
{
    int64_t x = ((const struct hrun_correct_point *)a)->N, y = ((const struct hrun_correct_point *)b)->N;

    return (x > y) - (x < y);
}

/* 1 if an entry before i has the same configuration, on several sub-clusters, at N with other shares; else 0. */
static int came_before(const struct hrun_correct_config *v, int i, int64_t N)
{
    for (int j = 0; j < i; j++)
        if (v[j].mixed && hrun_config_equal(&v[j].config, &v[i].config))
            for (size_t k = 0; k < v[j].npoints; k++)
                if (v[j].points[k].N == N)
                    return 1;
    return 0;
}

void hrun_correct_common_find(struct hrun_correct_common *c, const struct hrun_correct_config *v, int nconfigs)
{
    size_t n = 0, most = 0;

    for (int i = 0; i < nconfigs; i++)
        most += v[i].npoints;
    c->points = xcalloc(most + 1, sizeof *c->points);
    for (int i = 0; i < nconfigs; i++)
        for (size_t k = 0; k < v[i].npoints && v[i].mixed; k++)
            if (!came_before(v, i, v[i].points[k].N))
                c->points[n++] = (struct hrun_correct_point){ .x = v[i].points[k].x, .N = v[i].points[k].N };
    if (n)
        qsort(c->points, n, sizeof *c->points, correct_size_order);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && c->points[end].N == c->points[begin].N;)
            end++;
        if (end - begin >= COMMON_LEAST)
            c->points[c->npoints++] = c->points[begin];
    }
}

static struct hrun_correct_point *find_point(const struct hrun_correct_common *c, int64_t N)
{
    const struct hrun_correct_point key = { .N = N };

    return bsearch(&key, c->points, c->npoints, sizeof key, correct_size_order);
}

void hrun_correct_common_learn(struct hrun_correct_common *c, struct hrun_correct_config *v, int nconfigs,
                               double own_var)
{
    double sum = HRUN_CORRECT_WEIGHT * HRUN_CORRECT_SD * HRUN_CORRECT_SD, mean, var;

    for (size_t k = 0; k < c->npoints; k++)
        c->points[k].own = c->points[k].trust = 0;
    for (int i = 0; i < nconfigs; i++)
        for (size_t k = 0; k < v[i].npoints && v[i].mixed && c->npoints; k++) {
            const struct hrun_correct_point *p = &v[i].points[k];
            struct hrun_correct_point *all = find_point(c, p->N);
            double w = fmax(p->trust, 1e-6) / (own_var + p->var / p->agree + p->rounding);

            if (!all)
                continue;
            all->own += w * p->r;
            all->trust += w;
        }
    for (size_t k = 0; k < c->npoints; k++) {
        struct hrun_correct_point *p = &c->points[k];

        p->own /= p->trust;
        p->var = 1 / p->trust;
        p->agree = 1;
        p->trust = 1;
        sum += fmax(p->own * p->own - p->var, 0);
    }
    c->var = sum / (HRUN_CORRECT_WEIGHT + (double)c->npoints);
    for (int i = 0; i < nconfigs; i++)
        for (size_t k = 0; k < v[i].npoints; k++) {
            struct hrun_correct_point *p = &v[i].points[k];

            mean = 0;
            if (v[i].mixed)
                mean = hrun_correct_common_at(c, p->N, &var);
            p->own = hrun_shares_rest(p->r - mean, p->now - mean);
        }
}

double hrun_correct_common_at(const struct hrun_correct_common *c, int64_t N, double *var)
{
    *var = 0;
    return c->npoints ? hrun_correct_condition(c->points, c->npoints, c->var, log((double)N), c->npoints, var) : 0;
}
