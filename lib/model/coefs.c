/* coefs.c - which terms, and their coefficients; see coefs.h for the contract */
#include "model/coefs.h"

#include "fit/robust.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What is left of a column below this part of its length drowns when squared, that is in every variance. */
static double least_remainder(void)
{
    return sqrt(DBL_EPSILON);
}

/* The columns with job->keep = 1 of x[n by p] into job->sub; how many. */
static size_t gather(struct hrun_fit_job *job, const double *x, size_t n, size_t p)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            if (job->keep[j])
                job->sub[kept++] = x[i * p + j];
    return kept / n;
}

/* Which terms to offer: for LS those that are independent, for NNLS those that are distinct. A term that
 * other terms span is no other way to the same sums there: its part may be one that they reach only with
 * negative coefficients (the constant, with three sizes and N^3, N^2, N before it). */
static int choose_terms(struct hrun_fit_job *job, const struct hrun_lsq *all, size_t *count, struct hrun_error *err)
{
    if (job->options.method == HRUN_METHOD_LS)
        return hrun_fit_independent(all, least_remainder(), job->keep, count, err);
    return hrun_fit_distinct(all, least_remainder(), job->keep, count, err);
}

/* Mark the columns in use after NNLS (job->in_use) and tell whether they are all but dependent. */
static int look_at_used(struct hrun_fit_job *job, const struct hrun_lsq *all, int *dependent, struct hrun_error *err)
{
    struct hrun_lsq used = { job->sub, NULL, all->w, all->n, 0 };
    size_t rank, at = 0, to = 0;

    *dependent = 0;
    for (size_t j = 0; j < all->p; j++) {
        job->in_use[j] = job->keep[j] && job->k[at++] > 0;
        used.p += (size_t)job->in_use[j];
    }
    for (size_t i = 0; i < all->n; i++)
        for (size_t j = 0; j < all->p; j++)
            if (job->in_use[j])
                job->sub[to++] = all->x[i * all->p + j];
    if (used.p < 2)
        return 0;
    if (hrun_fit_independent(&used, least_remainder(), job->good, &rank, err))
        return -1;
    *dependent = rank < used.p;
    return 0;
}

/* Set keep = 0 for the last of those in use without which the fit is as good as it can be without one. Where
 * they depend on each other some one can always be spared (Caratheodory), but not any one: what 2 (N + 1) + N
 * + 2 makes, 3 (N + 1) + 1 does as well, but no sum of N + 1 and N. */
static int spare_one(struct hrun_fit_job *job, const struct hrun_lsq *all, struct hrun_error *err)
{
    struct hrun_lsq sub = { job->sub, all->y, all->w, all->n, 0 };
    struct hrun_lsq_result result = { job->k, NULL, 0, 0, 0 };
    double least = INFINITY, size = 0;
    size_t j;

    for (size_t i = 0; i < all->n; i++)
        size = hypot(size, all->y[i] * all->w[i]);
    for (j = 0; j < all->p; j++) {
        if (!job->in_use[j])
            continue;
        job->keep[j] = 0;
        sub.p = gather(job, all->x, all->n, all->p);
        if (hrun_fit_nnls(&sub, &result, err))
            return -1;
        job->keep[j] = 1;
        job->left[j] = sqrt(result.rss);
        least = fmin(least, job->left[j]);
    }
    while (j-- > 0)
        if (job->in_use[j] && job->left[j] <= least + least_remainder() * size)
            break;
    job->keep[j] = 0;
    return 0;
}

/* Fit the terms chosen; *count: how many. Errors: those of lib/fit, in *err. */
static int solve(struct hrun_fit_job *job, const struct hrun_lsq *all, size_t *count, struct hrun_lsq_result *result,
                 struct hrun_error *err)
{
    struct hrun_lsq sub = { job->sub, all->y, all->w, all->n, 0 };
    int dependent;

    if (*count == 0)
        return hrun_fail(err, HRUN_ERANK, "every term is 0 at every measured point");
    for (;;) {
        sub.p = *count = gather(job, all->x, all->n, all->p);
        if (job->options.method == HRUN_METHOD_LS)
            return hrun_fit_ls(&sub, result, err);
        if (hrun_fit_nnls(&sub, result, err) || look_at_used(job, all, &dependent, err))
            return -1;
        if (!dependent)
            return 0;
        if (spare_one(job, all, err))
            return -1;
    }
}

/* Huber's weights, from the unchanged ones, for the terms kept. */
static int reweigh(struct hrun_fit_job *job, const struct hrun_lsq *all, double *bound, struct hrun_error *err)
{
    static const struct hrun_huber huber = HRUN_HUBER_DEFAULT;
    struct hrun_lsq sub = { job->sub, all->y, job->w, all->n, gather(job, all->x, all->n, all->p) };
    struct hrun_lsq_result result = { job->k, NULL, 0, 0, 0 };
    struct hrun_huber_result robust = { job->factor, 0, 0, 0 };

    if (hrun_fit_huber(hrun_fit_nnls, &sub, &huber, &result, &robust, err))
        return -1;
    for (size_t i = 0; i < all->n; i++)
        job->wr[i] = job->w[i] * job->factor[i];
    *bound = huber.k * robust.scale;
    return 0;
}

int hrun_fit_coefs(struct hrun_fit_job *job, const double *x, size_t n, size_t p, size_t *count, double *bound,
                   struct hrun_lsq_result *result, struct hrun_error *err)
{
    struct hrun_lsq all = { x, job->y, job->wr, n, p };
    int nnls = job->options.method == HRUN_METHOD_NNLS;

    *bound = INFINITY;
    memcpy(job->wr, job->w, n * sizeof *job->wr);
    if (choose_terms(job, &all, count, err))
        return -1;
    if (*count && nnls && job->options.robust && reweigh(job, &all, bound, err))
        return -1;
    return solve(job, &all, count, result, err);
}
