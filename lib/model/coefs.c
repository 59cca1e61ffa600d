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
    struct hrun_lsq all = { x, job->y, job->wr, n, p }, sub = { job->sub, job->y, job->wr, n, 0 };
    int ls = job->options.method == HRUN_METHOD_LS;

    *bound = INFINITY;
    memcpy(job->wr, job->w, n * sizeof *job->wr);
    if (choose_terms(job, &all, count, err))
        return -1;
    if (*count == 0)
        return hrun_fail(err, HRUN_ERANK, "every term is 0 at every measured point");
    if (!ls && job->options.robust && reweigh(job, &all, bound, err))
        return -1;
    sub.p = gather(job, x, n, p);
    return ls ? hrun_fit_ls(&sub, result, err) : hrun_fit_nnls(&sub, result, err);
}
