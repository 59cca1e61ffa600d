/* work.c - checking, weighting and scaling a problem, and the steps that all solvers share; see internal.h */
#include "base/alloc.h"
#include "fit/internal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double hrun_fit_roundoff(size_t n, size_t p)
{
    return 10.0 * (double)(n > p ? n : p) * DBL_EPSILON;
}

double hrun_fit_norm(const double *v, size_t n)
{
    double max = 0, sum = 0;

    for (size_t i = 0; i < n; i++)   /* fmax is a call, too slow for this hot loop */
        max = fabs(v[i]) > max ? fabs(v[i]) : max;
    if (max == 0)
        return 0;
    /* Within these limits no square overflows, and underflow is negligible beside the largest. */
    if (max > 1e-140 && max < 1e140) {
        for (size_t i = 0; i < n; i++)
            sum += v[i] * v[i];
        return sqrt(sum);
    }
    for (size_t i = 0; i < n; i++)
        sum += (v[i] / max) * (v[i] / max);
    return max * sqrt(sum);
}

/* Write column j of the weighted problem to out[n]; y if j == p. */
static int weighted(const struct hrun_lsq *q, size_t j, double *out, struct hrun_error *err)
{
    for (size_t i = 0; i < q->n; i++) {
        double value = j < q->p ? q->x[i * q->p + j] : q->y[i];
        double w = q->w ? q->w[i] : 1;

        out[i] = value * w;
        if (isfinite(out[i]))
            continue;
        if (j == q->p)
            return hrun_fail(err, HRUN_ENONFINITE, "row %zu of the right side is %g with weight %g; finite numbers are "
                             "needed", i + 1, value, w);
        return hrun_fail(err, HRUN_ENONFINITE, "row %zu, column %zu is %g with weight %g; finite numbers are needed",
                         i + 1, j + 1, value, w);
    }
    return 0;
}

/* Divide v[n] by its norm, which *norm receives. */
static int normalise(double *v, size_t n, double *norm)
{
    *norm = hrun_fit_norm(v, n);
    if (!isfinite(*norm))
        return -1;
    if (*norm > 0)
        for (size_t i = 0; i < n; i++)
            v[i] /= *norm;
    return 0;
}

int hrun_fit_work_alloc(const struct hrun_lsq *problem, size_t extra, struct hrun_fit_work *out,
                        struct hrun_error *err)
{
    struct hrun_fit_work w = { problem->n, problem->p, NULL, NULL, NULL, NULL, 0 };
    size_t limit = SIZE_MAX / sizeof(double) / 4;

    if (w.n == 0 || w.p == 0)
        return hrun_fail(err, HRUN_ENODATA, "nothing to fit: %zu rows, %zu columns", w.n, w.p);
    if (w.n > limit / w.p || extra > limit)
        return hrun_fail(err, HRUN_EINVAL, "a problem of %zu rows and %zu columns is too large", w.n, w.p);
    for (size_t i = 0; problem->w && i < w.n; i++)
        if (!(problem->w[i] > 0))
            return hrun_fail(err, isnan(problem->w[i]) ? HRUN_ENONFINITE : HRUN_EINVAL,
                             "weight of row %zu is %g; it must be above 0", i + 1, problem->w[i]);
    w.a = xcalloc(w.n * w.p + w.n + w.p + extra, sizeof *w.a);
    w.b = w.a + w.n * w.p;
    w.scale = w.b + w.n;
    w.extra = w.scale + w.p;

    for (size_t j = 0; j < w.p; j++) {
        if (weighted(problem, j, w.a + j * w.n, err))
            goto fail;
        if (normalise(w.a + j * w.n, w.n, &w.scale[j])) {
            hrun_fail(err, HRUN_ENONFINITE, "column %zu is too large: its norm overflows", j + 1);
            goto fail;
        }
    }
    if (problem->y) {
        if (weighted(problem, w.p, w.b, err))
            goto fail;
        if (normalise(w.b, w.n, &w.bnorm)) {
            hrun_fail(err, HRUN_ENONFINITE, "the right side is too large: its norm overflows");
            goto fail;
        }
    }
    *out = w;
    return 0;
fail:
    free(w.a);
    return -1;
}

void hrun_fit_work_free(struct hrun_fit_work *w)
{
    free(w->a);
}

void hrun_fit_householder(const double *u, size_t len, double *v, double *s, double *beta)
{
    double norm = hrun_fit_norm(u, len);

    for (size_t i = 0; i < len; i++)
        v[i] = u[i];
    *s = u[0] > 0 ? -norm : norm;   /* the sign that does not cancel */
    v[0] -= *s;
    *beta = 1 / (*s * v[0]);
}

void hrun_fit_reflect(const double *v, double beta, double *y, size_t len)
{
    double sum = 0;

    for (size_t i = 0; i < len; i++)
        sum += v[i] * y[i];
    sum *= beta;
    for (size_t i = 0; i < len; i++)
        y[i] += sum * v[i];
}

void hrun_fit_backsolve(const double *r, size_t ld, size_t k, const double *d, double *z)
{
    for (size_t i = 0; i < k; i++)
        z[i] = d[i];
    for (size_t j = k; j-- > 0;) {
        z[j] /= r[j * ld + j];
        for (size_t i = 0; i < j; i++)
            z[i] -= z[j] * r[j * ld + i];
    }
}

/* Invert upper triangular R in place. */
static void invert_triangle(double *r, size_t ld, size_t k)
{
    for (size_t j = 0; j < k; j++) {
        double d = 1 / r[j * ld + j];

        /* Column j of the inverse: -(inverse of the leading part) R(0..j-1, j) d, from the top, as row i needs only
         * entries at and below row i. */
        for (size_t i = 0; i < j; i++) {
            double sum = 0;
            for (size_t l = i; l < j; l++)
                sum += r[l * ld + i] * r[j * ld + l];
            r[j * ld + i] = -sum * d;
        }
        r[j * ld + j] = d;
    }
}

/* Entry (i,j) of inv(R) inv(R)', of the inverted R. */
static double gram(const struct hrun_fit_solution *s, size_t i, size_t j)
{
    double sum = 0;

    for (size_t l = i > j ? i : j; l < s->k; l++)
        sum += s->r[l * s->ld + i] * s->r[l * s->ld + j];
    return sum;
}

int hrun_fit_deliver(const struct hrun_fit_work *w, const struct hrun_fit_solution *s, struct hrun_lsq_result *out,
                     struct hrun_error *err)
{
    const size_t *cols = s->cols;
    double rss = 0;

    for (size_t i = 0; i < s->k; i++)
        if (!isfinite(s->z[i] * (w->bnorm / w->scale[cols[i]])))
            return hrun_fail(err, HRUN_ENONFINITE, "the coefficient of column %zu overflows", cols[i] + 1);
    if (out->cov) {
        invert_triangle(s->r, s->ld, s->k);
        /* The entries of a covariance matrix are bounded by those of its diagonal. */
        for (size_t i = 0; i < s->k; i++)
            if (!isfinite(gram(s, i, i) / w->scale[cols[i]] / w->scale[cols[i]]))
                return hrun_fail(err, HRUN_ENONFINITE, "the variance of column %zu overflows", cols[i] + 1);
    }
    for (size_t i = 0; i < w->n; i++) {
        double e = w->b[i];

        for (size_t j = 0; j < s->k; j++)
            e -= w->a[cols[j] * w->n + i] * s->z[j];
        rss += e * e;
    }
    rss *= w->bnorm * w->bnorm;
    if (!isfinite(rss))
        return hrun_fail(err, HRUN_ENONFINITE, "the sum of squared residuals overflows");

    memset(out->k, 0, w->p * sizeof *out->k);
    for (size_t i = 0; i < s->k; i++)
        out->k[cols[i]] = s->z[i] * (w->bnorm / w->scale[cols[i]]);
    if (out->cov) {
        memset(out->cov, 0, w->p * w->p * sizeof *out->cov);
        for (size_t i = 0; i < s->k; i++)
            for (size_t j = i; j < s->k; j++)
                out->cov[cols[i] * w->p + cols[j]] = out->cov[cols[j] * w->p + cols[i]] =
                    gram(s, i, j) / w->scale[cols[i]] / w->scale[cols[j]];
    }
    out->rss = rss;
    out->rank = s->k;
    out->iterations = s->iterations;
    return 0;
}
