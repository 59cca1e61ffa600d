/* bound.c - what coefficients at 0 may be; see bound.h for the contract */
#include "fit/bound.h"
#include "fit/work.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* What is left of a unit column below this drowns in the rounding of its square. */
static double least_remainder(void)
{
    return sqrt(DBL_EPSILON);
}

/* The mean square of a normal distribution of this mean and standard deviation, cut off below 0: with z = mean / sd and
 * l = phi(z) / Phi(z) it is sd^2 (1 + z^2 + z l). Far below 0 that is 2 (sd / z)^2 (1 - O(z^-2)), but for rounding. */
static double mean_square(double mean, double sd)
{
    double z = mean / sd;

    if (z < -20)
        return 2 * (sd / z) * (sd / z);
    return sd * sd * (1 + z * z + z * sqrt(2 / acos(-1)) * exp(-z * z / 2) / erfc(-z / sqrt(2)));
}

double hrun_fit_likely(double product, double norm, double s2, double most)
{
    if (!(norm > least_remainder()))
        return most;
    return s2 > 0 ? fmin(most, sqrt(mean_square(product / (norm * norm), sqrt(s2) / norm))) : 0;
}

/* Transform all columns and the right side by the Q of the columns in use, cols[m]: R is on top of these. v[n]:
 * scratch. */
static int triangulate(struct hrun_fit_work *w, const size_t *cols, size_t m, double *v, struct hrun_error *err)
{
    size_t n = w->n;

    for (size_t l = 0; l < m; l++) {
        double *col = w->a + cols[l] * n + l, diag, beta;

        if (!(hrun_fit_norm(col, n - l) > least_remainder()))
            return hrun_fail(err, HRUN_ERANK, "column %zu depends on those before it", cols[l] + 1);
        hrun_fit_householder(col, n - l, v, &diag, &beta);
        for (size_t j = 0; j < w->p; j++)
            hrun_fit_reflect(v, beta, w->a + j * n + l, n - l);
        hrun_fit_reflect(v, beta, w->b + l, n - l);
    }
    return 0;
}

/* What the coefficient of the scaled column j may be, whose part among the columns in use is along[m]. */
static double likely(const struct hrun_fit_work *w, size_t j, const size_t *cols, size_t m, const double *k, double s2,
                     const double *along)
{
    const double *rest = w->a + j * w->n + m, *left = w->b + m;
    double product = 0, most = INFINITY;

    for (size_t l = 0; l < m; l++)
        if (along[l] > hrun_fit_roundoff(w->n, w->p))
            most = fmin(most, k[cols[l]] * w->scale[cols[l]] / along[l]);
    for (size_t i = 0; i < w->n - m; i++)
        product += rest[i] * left[i];
    return hrun_fit_likely(product * w->bnorm, hrun_fit_norm(rest, w->n - m), s2, most);
}

/* Add u^2 d d' of column j to sum[p by p]; d[p]: scratch. */
static void add_direction(const struct hrun_fit_work *w, size_t j, const size_t *cols, size_t m, const double *along,
                          double u, double *d, double *sum)
{
    for (size_t i = 0; i < w->p; i++)
        d[i] = i == j ? u / w->scale[j] : 0;
    for (size_t l = 0; l < m; l++)
        d[cols[l]] = -u * along[l] / w->scale[cols[l]];
    for (size_t i = 0; i < w->p; i++)
        for (size_t l = 0; l < w->p && d[i] != 0; l++)
            sum[i * w->p + l] += d[i] * d[l];
}

int hrun_fit_bound(const struct hrun_lsq *problem, const double *k, double s2, double *cov, struct hrun_error *err)
{
    size_t n = problem->n, p = problem->p, m = 0, *cols = NULL;
    struct hrun_fit_work w;
    double *v, *along, *d, *sum;
    int rc = -1;

    if (!(s2 >= 0) || !isfinite(s2))
        return hrun_fail(err, HRUN_EINVAL, "the variance of residuals is %g; it must be finite and not negative", s2);
    if (hrun_fit_work_alloc(problem, n + 2 * p + p * p, &w, err))
        return -1;
    v = w.extra;
    along = v + n;
    d = along + p;
    sum = d + p;
    cols = calloc(p, sizeof *cols);
    if (!cols) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (size_t j = 0; j < p; j++)
        if (k[j] > 0)
            cols[m++] = j;
    if (m > n) {
        hrun_fail(err, HRUN_ENODATA, "%zu rows cannot determine %zu coefficients", n, m);
        goto out;
    }
    if (triangulate(&w, cols, m, v, err))
        goto out;
    for (size_t j = 0; j < p; j++) {
        double u;

        if (k[j] > 0 || w.scale[j] == 0)
            continue;
        /* R is spread over the columns in use: back substitution here, not in hrun_fit_backsolve. */
        for (size_t l = m; l-- > 0;) {
            along[l] = w.a[j * n + l];
            for (size_t i = l + 1; i < m; i++)
                along[l] -= w.a[cols[i] * n + l] * along[i];
            along[l] /= w.a[cols[l] * n + l];
        }
        u = likely(&w, j, cols, m, k, s2, along);
        if (isfinite(u))
            add_direction(&w, j, cols, m, along, u, d, sum);
    }
    for (size_t i = 0; i < p * p; i++)
        if (!isfinite(sum[i])) {
            hrun_fail(err, HRUN_ENONFINITE, "the variance of coefficients at 0 overflows");
            goto out;
        }
    for (size_t i = 0; i < p * p; i++)
        cov[i] += sum[i];
    rc = 0;
out:
    free(cols);
    hrun_fit_work_free(&w);
    return rc;
}
