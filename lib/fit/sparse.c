/* sparse.c - non-negative least squares of sparse systems, and variances of the answer; see fit.h */
#include "fit/fit.h"
#include "fit/internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- Lawson and Hanson's steps */

struct nnls {
    struct hrun_sparse_qr q;
    double *x, *z;             /* p: accepted, and of the present subproblem; scaled, by position */
    double *g, *rest;          /* p: gradient; n: what x leaves of the right side */
    char *aside;               /* p: may not enter until another has */
    size_t entered;
};

static int nnls_make(const struct hrun_sparse *problem, struct nnls *s, struct hrun_error *err)
{
    if (hrun_sparse_qr_make(problem, &s->q, err))
        return -1;
    s->x = calloc(3 * problem->p + problem->n, sizeof *s->x);
    s->aside = calloc(problem->p, 1);
    if (!s->x || !s->aside)
        return hrun_fail_nomem(err);
    s->z = s->x + problem->p;
    s->g = s->z + problem->p;
    s->rest = s->g + problem->p;
    return 0;
}

static void nnls_free(struct nnls *s)
{
    hrun_sparse_qr_free(&s->q);
    free(s->x);
    free(s->aside);
}

static double at(const struct hrun_sparse_qr *q, const double *by_column, size_t column)
{
    return by_column[column] * q->scale[q->position[column]];
}

static void factor(struct nnls *s)
{
    hrun_sparse_qr_factor(&s->q);
    for (size_t i = 0; i < s->q.p; i++)
        s->x[i] = s->q.in[i] ? s->x[i] : 0;
}

/* From x towards the solution of the subproblem, each column leaving whose coefficient reaches 0 first, until all are
 * above 0. Every turn takes one out. */
static void solve_inner(struct nnls *s)
{
    struct hrun_sparse_qr *q = &s->q;

    for (;;) {
        double alpha = 2;
        size_t first = q->p;

        hrun_sparse_qr_solve(q, q->d, s->z);
        for (size_t i = 0; i < q->p; i++) {
            double step = q->in[i] && s->z[i] <= 0 ? s->x[i] / (s->x[i] - s->z[i]) : 2;

            if (q->in[i] && s->z[i] <= 0 && (!(step >= 0) || step < alpha)) {
                alpha = step >= 0 ? step : 0;  /* not a number: both are 0 */
                first = i;
            }
        }
        for (size_t i = 0; i < q->p; i++)
            s->x[i] = first == q->p ? s->z[i] : s->x[i] + alpha * (s->z[i] - s->x[i]);
        if (first == q->p)
            return;
        s->x[first] = 0;
        for (size_t i = 0; i < q->p; i++)
            if (q->in[i] && s->x[i] <= 0 && (i == first || s->z[i] <= 0)) {
                s->x[i] = 0;
                hrun_sparse_qr_leave(q, i);
            }
    }
}

/* What x leaves, its square, and the gradient. */
static double find_residual(struct nnls *s)
{
    double sum = 0;

    memcpy(s->rest, s->q.b, s->q.n * sizeof *s->rest);
    hrun_sparse_qr_subtract(&s->q, s->x, s->rest);
    hrun_sparse_qr_gradient(&s->q, s->rest, s->g);
    for (size_t i = 0; i < s->q.n; i++)
        sum += s->rest[i] * s->rest[i];
    return sum;
}

/* The first columns in use: those of a start, or all but those that are not above 0 beside the others. */
static void begin(struct nnls *s, const double *start)
{
    struct hrun_sparse_qr *q = &s->q;
    int again = !start;

    for (size_t j = 0; j < q->p; j++) {
        size_t i = q->position[j];

        q->in[i] = q->scale[i] > 0 && (!start || start[j] > 0);
        s->x[i] = q->in[i] && start && q->bnorm > 0 ? at(q, start, j) / q->bnorm : 0;
        s->x[i] = isfinite(s->x[i]) ? s->x[i] : 0;
    }
    factor(s);
    while (again) {
        again = 0;
        hrun_sparse_qr_solve(q, q->d, s->z);
        for (size_t i = 0; i < q->p; i++)
            if (q->in[i] && s->z[i] <= 0) {
                hrun_sparse_qr_leave(q, i);
                again = 1;
            }
        memcpy(s->x, s->z, q->p * sizeof *s->x);
        for (size_t i = 0; i < q->p; i++)
            s->x[i] = q->in[i] ? s->x[i] : 0;
    }
    solve_inner(s);
}

/* Let columns in whose gradient rounding cannot explain: all, or that with the largest; how many. */
static size_t enter(struct nnls *s, double tol, int all)
{
    struct hrun_sparse_qr *q = &s->q;
    size_t count = 0, best = q->p;

    for (size_t i = 0; i < q->p; i++) {
        if (q->in[i] || s->aside[i] || !(s->g[i] > tol))
            continue;
        if (all) {
            q->in[i] = 1;
            count++;
        }
        best = best == q->p || s->g[i] > s->g[best] ? i : best;
    }
    if (all || best == q->p)
        return count;
    q->in[best] = 1;
    factor(s);
    hrun_sparse_qr_solve(q, q->d, s->z);
    /* A new coefficient has the sign of its gradient, unless rounding rules: then it waits for another to enter. */
    s->aside[best] = !q->in[best] || s->z[best] <= 0;
    if (s->aside[best] && q->in[best])
        hrun_sparse_qr_leave(q, best);
    if (!s->aside[best])
        memset(s->aside, 0, q->p);
    return 1;
}

/* As long as it helps all columns with a positive gradient enter at once, of which settle takes out what it must; then
 * one by one, where no set comes twice but for rounding; for that the tolerance grows tenfold every 3 p entries (as in
 * nnls.c). */
static void iterate(struct nnls *s)
{
    size_t p = s->q.p, single = 0;
    double c = hrun_fit_roundoff(s->q.n, p), least = find_residual(s);
    int all = 1;

    for (;;) {
        double size = 1, found;
        size_t count;

        for (size_t i = 0; i < p; i++)
            size += s->x[i];
        count = enter(s, c * size, all);
        if (count == 0)
            return;
        s->entered += count;
        if (all)
            factor(s);
        solve_inner(s);
        found = find_residual(s);
        all = all && found < least * (1 - 1e-6);
        least = found;
        if (!all && ++single % (3 * p) == 0)
            c *= 10;
    }
}

int hrun_sparse_nnls(const struct hrun_sparse *problem, const double *start, struct hrun_sparse_result *out,
                     struct hrun_error *err)
{
    struct nnls s = { 0 };
    struct hrun_sparse_qr *q = &s.q;
    double rss;
    int rc = -1;

    if (nnls_make(problem, &s, err))
        goto out;
    begin(&s, start);
    iterate(&s);
    rss = find_residual(&s) * q->bnorm * q->bnorm;
    for (size_t j = 0; j < q->p; j++) {
        size_t i = q->position[j];

        if (q->in[i] && !isfinite(s.x[i] * (q->bnorm / q->scale[i]))) {
            hrun_fail(err, HRUN_ENONFINITE, "the coefficient of column %zu overflows", j + 1);
            goto out;
        }
    }
    if (!isfinite(rss)) {
        hrun_fail(err, HRUN_ENONFINITE, "the sum of squared residuals overflows");
        goto out;
    }
    out->rss = rss;
    out->rank = 0;
    out->iterations = s.entered;
    for (size_t j = 0; j < q->p; j++) {
        size_t i = q->position[j];

        out->k[j] = q->in[i] ? s.x[i] * (q->bnorm / q->scale[i]) : 0;
        out->rank += (size_t)q->in[i];
    }
    rc = 0;
out:
    nnls_free(&s);
    return rc;
}

/* ---------------------------------------------------------------- variances */

/* Column `position` into rest[n], scaled. */
static void spread(const struct hrun_sparse_qr *q, size_t position, double *rest)
{
    memset(rest, 0, q->n * sizeof *rest);
    for (size_t l = 0; l < q->first[q->n]; l++)
        if (q->at[l] == position) {
            size_t low = 0, high = q->n;

            while (high - low > 1)
                *(q->first[(low + high) / 2] <= l ? &low : &high) = (low + high) / 2;
            rest[low] = q->value[l];
        }
}

/* The least squares solution along[p] of a column by those in use, which leaves rest[n]: by R alone, and once more of
 * what is left (Bjorck, "Stability analysis of the method of seminormal equations", Linear Algebra Appl. 88/89,
 * 1987). */
static void project(struct nnls *s, size_t position, double *along, double *step)
{
    spread(&s->q, position, s->rest);
    memset(along, 0, s->q.p * sizeof *along);
    for (int turn = 0; turn < 2; turn++) {
        hrun_sparse_qr_gradient(&s->q, s->rest, step);
        hrun_sparse_qr_solve_transposed(&s->q, step, step);
        hrun_sparse_qr_solve(&s->q, step, step);
        hrun_sparse_qr_subtract(&s->q, step, s->rest);
        for (size_t i = 0; i < s->q.p; i++)
            along[i] += step[i];
    }
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

/* What the coefficient of a column at 0 is likely to be (fit.h), at most `most`: norm is that of its part outside
 * the span of the columns in use, the column having norm 1; product that part's with the residual. */
static double likely(double product, double norm, double s2, double most)
{
    if (!(norm > sqrt(DBL_EPSILON)))   /* what is left drowns in the rounding of its square */
        return most;
    return s2 > 0 ? fmin(most, sqrt(mean_square(product / (norm * norm), sqrt(s2) / norm))) : 0;
}

/* What a column at 0 adds to the variances of all, v[p] (scaled: times bnorm squared). left[n]: what x leaves. */
static void add_bound(struct nnls *s, size_t position, double s2, const double *left, double *v)
{
    struct hrun_sparse_qr *q = &s->q;
    double most = INFINITY, product = 0, u, *along = s->z;

    project(s, position, along, s->g);
    for (size_t i = 0; i < q->p; i++)
        if (q->in[i] && along[i] > hrun_fit_roundoff(q->n, q->p))
            most = fmin(most, s->x[i] / along[i]);
    for (size_t i = 0; i < q->n; i++)
        product += s->rest[i] * left[i];
    u = likely(product, hrun_fit_norm(s->rest, q->n), s2, most);
    if (!isfinite(u))
        return;
    v[position] += u * u;
    for (size_t i = 0; i < q->p; i++)
        v[i] += q->in[i] ? u * u * along[i] * along[i] : 0;
}

int hrun_sparse_variance(const struct hrun_sparse *problem, const double *k, double s2, double *variance,
                         struct hrun_error *err)
{
    struct nnls s = { 0 };
    struct hrun_sparse_qr *q = &s.q;
    double *v = NULL, *left, unit;
    int rc = -1;

    if (!(s2 >= 0) || !isfinite(s2))
        return hrun_fail(err, HRUN_EINVAL, "the variance of residuals is %g; it must be finite and not negative", s2);
    if (nnls_make(problem, &s, err))
        goto out;
    v = calloc(q->p + q->n, sizeof *v);
    if (!v) {
        hrun_fail_nomem(err);
        goto out;
    }
    left = v + q->p;
    unit = q->bnorm > 0 ? q->bnorm : 1;
    for (size_t j = 0; j < q->p; j++) {
        q->in[q->position[j]] = k[j] > 0;
        s.x[q->position[j]] = at(q, k, j) / unit;
    }
    hrun_sparse_qr_factor(q);
    memcpy(left, q->b, q->n * sizeof *left);
    hrun_sparse_qr_subtract(q, s.x, left);
    for (size_t i = 0; i < q->p; i++) {        /* column i of the inverse of R', and what is at 0 */
        if (!q->in[i]) {
            if (s.x[i] == 0 && q->scale[i] > 0)
                add_bound(&s, i, s2 / unit / unit, left, v);
            continue;
        }
        memset(s.z, 0, q->p * sizeof *s.z);
        s.z[i] = 1;
        hrun_sparse_qr_solve_transposed(q, s.z, s.z);
        for (size_t l = i; l < q->p; l++)
            v[i] += s2 / unit / unit * s.z[l] * s.z[l];
    }
    for (size_t j = 0; j < q->p; j++) {
        size_t i = q->position[j];
        double scale = q->scale[i] / unit;

        variance[j] = s.x[i] > 0 && !q->in[i] ? NAN : q->scale[i] > 0 ? v[i] / scale / scale : 0;
    }
    rc = 0;
out:
    free(v);
    nnls_free(&s);
    return rc;
}
