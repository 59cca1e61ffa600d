/* robust.c - Huber's re-weighting around a solver; see fit.h for the contracts */
#include "base/alloc.h"
#include "fit/internal.h"

#include <math.h>
#include <stdlib.h>

/* The upper quartile of the standard normal distribution. */
static const double NORMAL_QUARTILE = 0.67448975019608174;

static int magnitude_order(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

double hrun_fit_scale(double *r, size_t n, size_t p)
{
    size_t left = n > p ? n - p : 0;

    if (!left)
        return 0;
    qsort(r, n, sizeof *r, magnitude_order);
    r += p;
    return (left % 2 ? fabs(r[left / 2]) : (fabs(r[left / 2 - 1]) + fabs(r[left / 2])) / 2) / NORMAL_QUARTILE;
}

/* Residuals of k with the caller's weights. */
static void weighted_residuals(const struct hrun_lsq *problem, const double *k, double *r)
{
    for (size_t i = 0; i < problem->n; i++) {
        const double *x = problem->x + i * problem->p;

        r[i] = problem->y[i];
        for (size_t j = 0; j < problem->p; j++)
            if (k[j] != 0)
                r[i] -= k[j] * x[j];
        if (problem->w)
            r[i] *= problem->w[i];
    }
}

double hrun_fit_huber_variance(const double *r, size_t n, size_t p, double bound)
{
    double sum = 0, inside = 0, K;

    if (n <= p)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double psi = fmin(fabs(r[i]), bound);

        sum += psi * psi;
        inside += fabs(r[i]) <= bound;
    }
    inside /= (double)n;
    if (inside == 0)
        return sum / (double)(n - p);
    K = 1 + (double)p / (double)n * (1 - inside) / inside;
    return K * K * sum / (double)(n - p) / (inside * inside);
}

int hrun_fit_huber(hrun_fit_solver *solve, const struct hrun_lsq *problem, const struct hrun_huber *options,
                   struct hrun_lsq_result *out, struct hrun_huber_result *robust, struct hrun_error *err)
{
    size_t n = problem->n;
    struct hrun_lsq weighted = *problem;
    struct hrun_huber_result state = { robust->factor, 0, 0, 0 };
    autofree double *r = xcalloc(4 * n + 1, sizeof *r);
    double *sorted = r + n, *w = sorted + n, *factor = w + n;

    if (!(options->k > 0) || !(options->least_scale >= 0) || options->rounds_max < 1 || !(options->tol >= 0))
        return hrun_fail(err, HRUN_EINVAL, "re-weighting with k = %g, a least scale of %g, %d rounds and a tolerance "
                         "of %g", options->k, options->least_scale, options->rounds_max, options->tol);
    for (size_t i = 0; i < n; i++) {
        factor[i] = 1;
        w[i] = problem->w ? problem->w[i] : 1;
    }
    weighted.w = w;
    for (;;) {
        double bound, change = 0;

        if (solve(&weighted, out, err))
            return -1;
        state.rounds++;
        weighted_residuals(problem, out->k, r);
        for (size_t i = 0; i < n; i++)
            sorted[i] = r[i];
        state.scale = fmax(hrun_fit_scale(sorted, n, out->rank), options->least_scale);
        bound = options->k * state.scale;
        for (size_t i = 0; i < n; i++) {
            double f = fabs(r[i]) > bound ? sqrt(bound / fabs(r[i])) : 1;

            change = fmax(change, fabs(f - factor[i]));
            sorted[i] = f;
        }
        state.converged = change <= options->tol;
        if (state.converged || state.rounds == options->rounds_max)
            break;
        for (size_t i = 0; i < n; i++) {
            /* The solvers accept only weights above 0. */
            factor[i] = fmax(sorted[i], 1e-6);
            w[i] = (problem->w ? problem->w[i] : 1) * factor[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        robust->factor[i] = factor[i];
    *robust = state;
    return 0;
}

/* ------------------------------------------------------------------ cross-validation */

/* Replace the columns of w->a, which must be independent, by Q, n by p, column-major. Modified Gram-Schmidt, twice for
 * each column, loses orthogonality only by rounding (Giraud, Langou, Rozloznik 2005). */
static int orthonormal(struct hrun_fit_work *w, struct hrun_error *err)
{
    double tol = hrun_fit_roundoff(w->n, w->p);

    for (size_t j = 0; j < w->p; j++) {
        double *a = w->a + j * w->n, norm;

        for (size_t l = 0; l < 2 * j; l++) {
            const double *q = w->a + l % j * w->n;
            double dot = 0;

            for (size_t i = 0; i < w->n; i++)
                dot += q[i] * a[i];
            for (size_t i = 0; i < w->n; i++)
                a[i] -= dot * q[i];
        }
        norm = hrun_fit_norm(a, w->n);
        if (!(norm > tol))
            return hrun_fail(err, HRUN_ERANK, "column %zu of %zu depends on those before it", j + 1, w->p);
        for (size_t i = 0; i < w->n; i++)
            a[i] /= norm;
    }
    return 0;
}

int hrun_fit_cholesky(double *s, size_t p, double tol)
{
    for (size_t j = 0; j < p; j++) {
        for (size_t l = 0; l < j; l++)
            s[j * p + j] -= s[j * p + l] * s[j * p + l];
        if (!(s[j * p + j] > tol))
            return -1;
        s[j * p + j] = sqrt(s[j * p + j]);
        for (size_t i = j + 1; i < p; i++) {
            for (size_t l = 0; l < j; l++)
                s[i * p + j] -= s[i * p + l] * s[j * p + l];
            s[i * p + j] /= s[j * p + j];
        }
    }
    return 0;
}

void hrun_fit_forward(const double *l, size_t p, double *b)
{
    for (size_t i = 0; i < p; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= l[i * p + k] * b[k];
        b[i] /= l[i * p + i];
    }
}

/* Residuals e of rows first..end - 1. e_g = r_g + Q_g (I - Q_g'Q_g)^-1 Q_g' r_g (Woodbury): the matrix is p by p for
 * groups of any size. w->extra: the residuals r[n] of all rows, then work memory. */
static void leave_out_group(const struct hrun_fit_work *w, size_t first, size_t end, double *e)
{
    size_t n = w->n, p = w->p;
    double *r = w->extra, *s = r + n, *v = s + p * p;
    int known;

    if (end == first + 1) {   /* scalar case */
        double rest = 1;

        for (size_t j = 0; j < p; j++)
            rest -= w->a[j * n + first] * w->a[j * n + first];
        e[first] = rest > hrun_fit_roundoff(n, p) ? r[first] / rest * w->bnorm : INFINITY;
        return;
    }
    for (size_t j = 0; j < p; j++) {
        const double *qj = w->a + j * n;

        v[j] = 0;
        for (size_t i = first; i < end; i++)
            v[j] += qj[i] * r[i];
        for (size_t l = 0; l <= j; l++) {
            const double *ql = w->a + l * n;

            s[j * p + l] = j == l;
            for (size_t i = first; i < end; i++)
                s[j * p + l] -= qj[i] * ql[i];
        }
    }
    known = !hrun_fit_cholesky(s, p, hrun_fit_roundoff(n, p));
    if (known)
        hrun_fit_forward(s, p, v);
    for (size_t j = p; known && j-- > 0;) {
        for (size_t l = j + 1; l < p; l++)
            v[j] -= s[l * p + j] * v[l];
        v[j] /= s[j * p + j];
    }
    for (size_t i = first; i < end; i++) {
        e[i] = known ? r[i] : INFINITY;
        for (size_t j = 0; known && j < p; j++)
            e[i] += w->a[j * n + i] * v[j];
        e[i] *= w->bnorm;
    }
}

int hrun_fit_leave_out(const struct hrun_lsq *problem, const int *group, double *e, struct hrun_error *err)
{
    size_t n = problem->n, p = problem->p, end;
    autorelease(hrun_fit_work_free) struct hrun_fit_work w = { 0 };
    double *r;

    if (n && p && n < p)
        return hrun_fail(err, HRUN_ENODATA, "%zu rows cannot determine %zu coefficients", n, p);
    if (hrun_fit_work_alloc(problem, n + p * p + p, &w, err))
        return -1;
    r = w.extra;
    if (orthonormal(&w, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        r[i] = w.b[i];
    for (size_t j = 0; j < p; j++) {
        double dot = 0;

        for (size_t i = 0; i < n; i++)
            dot += w.a[j * n + i] * r[i];
        for (size_t i = 0; i < n; i++)
            r[i] -= dot * w.a[j * n + i];
    }
    for (size_t first = 0; first < n; first = end) {
        for (end = first; end < n && group[end] == group[first];)
            end++;
        leave_out_group(&w, first, end, e);
    }
    return 0;
}
