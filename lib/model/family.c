/* family.c - one model: which terms, their coefficients, how well they fit; see family.h for the contract */
#include "model/family.h"

#include "fit/fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least number of different N in a family: with one size nothing is known of how the time follows N, and
 * every term would fit as well as any other. */
enum { SIZES_MIN = 2 };

/* Runs on one PE tell the divided work of runs on several to 10 % or so (caches, memory bandwidth), five times the
 * scatter that the default options expect of a run. */
static const double ANCHOR_WEIGHT = 0.2;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int count_sizes(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        job->sizes[i] = rows[i].N;
    qsort(job->sizes, n, sizeof *job->sizes, by_value);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || job->sizes[i] != job->sizes[i - 1];
    return count;
}

/* Weight of a row: one over the standard deviation that the options expect. */
static double weight(const struct hrun_fit_options *o, double T)
{
    return o->sigma_abs_s > 0 || o->sigma_rel > 0 ? 1 / hypot(o->sigma_abs_s, o->sigma_rel * T) : 1;
}

/* Room for one more record, zeroed. */
static struct hrun_fit_record *add_record(struct hrun_fit_job *job)
{
    struct hrun_models *m = job->models;

    if (m->n == job->cap) {
        int cap = job->cap ? job->cap * 2 : 16;
        struct hrun_fit_record *v = realloc(m->v, (size_t)cap * sizeof *v);
        if (!v)
            return NULL;
        m->v = v;
        job->cap = cap;
    }
    memset(&m->v[m->n], 0, sizeof m->v[m->n]);
    return &m->v[m->n];
}

/* Take back the record that add_record gave, with all that hangs on it. */
static void drop_record(struct hrun_fit_job *job)
{
    hrun_fit_record_release(&job->models->v[job->models->n]);
}

static void training_error(struct hrun_fit_record *r, const double *x, const struct hrun_row *rows, size_t n)
{
    double sum = 0, max = 0;

    for (size_t i = 0; i < n; i++) {
        double t = 0, e;
        for (int j = 0; j < r->nterms; j++)
            t += r->k[j] * x[i * (size_t)r->nterms + (size_t)j];
        e = fabs(t / rows[i].T - 1);
        sum += e;
        max = fmax(max, e);
    }
    r->train_mean = sum / (double)n;
    r->train_max = max;
}

/* Weighted residual sum of squares of rows first..n-1. */
static double residual(const struct hrun_fit_job *job, const struct hrun_fit_record *r, const double *x, size_t first,
                       size_t n)
{
    double rss = 0;

    for (size_t i = first; i < n; i++) {
        double e = job->y[i];

        for (int j = 0; j < r->nterms; j++)
            e -= r->k[j] * x[i * (size_t)r->nterms + (size_t)j];
        rss += job->w[i] * job->w[i] * e * e;
    }
    return rss;
}

static void measured_range(struct hrun_fit_record *r, const struct hrun_row *rows, size_t n)
{
    r->npoints = (int)n;
    r->nmin = r->nmax = rows[0].N;
    r->pmin = r->pmax = rows[0].P;
    for (size_t i = 1; i < n; i++) {
        r->nmin = rows[i].N < r->nmin ? rows[i].N : r->nmin;
        r->nmax = rows[i].N > r->nmax ? rows[i].N : r->nmax;
        r->pmin = rows[i].P < r->pmin ? rows[i].P : r->pmin;
        r->pmax = rows[i].P > r->pmax ? rows[i].P : r->pmax;
    }
}

/* Without degrees of freedom the data do not tell how much they scatter: then weighted residuals are taken to
 * have the variance for which the weights were made, 1, and unweighted ones that of the default options at
 * the mean time. */
static double variance(const struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, double rss, int dof)
{
    static const struct hrun_fit_options expected = HRUN_FIT_OPTIONS_DEFAULT;
    double mean = 0;

    if (dof > 0)
        return rss / dof;
    if (job->options.sigma_abs_s > 0 || job->options.sigma_rel > 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        mean += rows[i].T / (double)n;
    return pow(weight(&expected, mean), -2);
}

/* Names of the terms with keep = 0, after text that says why. */
static void note_dropped(struct hrun_buf *note, const struct hrun_terms *terms, const int *keep)
{
    const char *sep = "dropped ";

    for (int j = 0; j < terms->n; j++) {
        if (keep[j])
            continue;
        hrun_buf_addf(note, "%s%s", sep, terms->v[j].text);
        sep = ", ";
    }
    if (note->len)
        hrun_buf_adds(note, ": these measurements cannot tell it from the other terms");
}

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

/* With fewer than SIZES_MIN sizes there is no model: a line into job->skipped says so. 1 then, else 0. */
static int too_few(struct hrun_fit_job *job, const char *family, int P, const struct hrun_row *rows, size_t n)
{
    if (count_sizes(job, rows, n) >= SIZES_MIN)
        return 0;
    if (P)
        hrun_buf_addf(&job->skipped, "M=%d, %s at P=%d: ", rows[0].M, family, P);
    else
        hrun_buf_addf(&job->skipped, "M=%d, %s: ", rows[0].M, family);
    hrun_buf_addf(&job->skipped, "measured at N=%lld only, at least %d sizes are needed\n",
                  (long long)rows[0].N, SIZES_MIN);
    return 1;
}

/* Texts and room for p terms. -1: memory ran out. */
static int name_record(const struct hrun_fit_job *job, struct hrun_fit_record *r, const char *family,
                       const struct hrun_terms *terms)
{
    struct hrun_buf note = HRUN_BUF_INIT;
    size_t p = (size_t)terms->n;

    note_dropped(&note, terms, job->keep);
    r->family = strdup(family);
    r->method = strdup(hrun_method_name(job->options.method));
    r->note = hrun_buf_detach(&note);
    r->terms = calloc(p, sizeof *r->terms);
    r->k = calloc(p, sizeof *r->k);
    r->cov = calloc(p * p, sizeof *r->cov);
    if (!r->family || !r->method || !r->note || !r->terms || !r->k || !r->cov)
        return -1;
    r->nterms = terms->n;
    for (size_t j = 0; j < p; j++) {
        r->terms[j] = strdup(terms->v[j].text);
        if (!r->terms[j])
            return -1;
    }
    return 0;
}

/* The coefficients of the `count` terms kept, and their covariances, at their places among all terms. */
static void spread(const struct hrun_fit_job *job, struct hrun_fit_record *r, size_t count)
{
    size_t p = (size_t)r->nterms;

    for (size_t j = 0, at = 0; j < p; j++) {
        if (!job->keep[j])
            continue;
        r->k[j] = job->k[at];
        for (size_t l = 0, to = 0; l < p; l++)
            if (job->keep[l])
                r->cov[j * p + l] = job->cov[at * count + to++];
        at++;
    }
}

int hrun_fit_family(struct hrun_fit_job *job, const char *family, int P, const struct hrun_terms *terms,
                    const double *x, const struct hrun_row *rows, size_t n, size_t anchors,
                    struct hrun_fit_record **record, struct hrun_error *err)
{
    struct hrun_lsq all = { x, job->y, job->w, n, (size_t)terms->n };
    const struct hrun_row *own = rows + anchors;
    size_t nown = n - anchors;
    struct hrun_lsq_result result = { job->k, job->cov, 0, 0, 0 };
    struct hrun_error failure;
    struct hrun_fit_record *r;
    int M = rows[0].M, shared = rows[0].kind == HRUN_ROW_SHARED;
    size_t count;

    *record = NULL;
    if (too_few(job, family, P, shared ? rows : own, shared ? n : nown))
        return 0;
    for (size_t i = 0; i < n; i++) {
        job->y[i] = rows[i].T;
        job->w[i] = weight(&job->options, rows[i].T) * rows[i].weight * (i < anchors ? ANCHOR_WEIGHT : 1);
    }
    if (choose_terms(job, &all, &count, err))
        return hrun_fail_prefix(err, "M=%d, %s", M, family);
    if (solve(job, &all, &count, &result, &failure)) {
        if (failure.code == HRUN_ERANK) {
            hrun_buf_addf(&job->skipped, "M=%d, %s: %s\n", M, family, failure.text);
            return 0;
        }
        if (err)
            *err = failure;
        return hrun_fail_prefix(err, "M=%d, %s", M, family);
    }

    r = add_record(job);
    if (!r)
        return hrun_fail_nomem(err);
    if (name_record(job, r, family, terms)) {
        drop_record(job);
        return hrun_fail_nomem(err);
    }
    r->M = M;
    r->P = P;
    spread(job, r, count);
    r->dof = nown > result.rank ? (int)(nown - result.rank) : 0;
    r->s2 = variance(job, nown ? own : rows, nown ? nown : n,
                     anchors ? residual(job, r, x, anchors, n) : result.rss, r->dof);
    r->sigma_abs_s = job->options.sigma_abs_s / (shared && !r->dof ? ANCHOR_WEIGHT : 1);
    r->sigma_rel = job->options.sigma_rel / (shared && !r->dof ? ANCHOR_WEIGHT : 1);
    measured_range(r, shared ? rows : own, shared ? n : nown);
    r->npoints = (int)nown;
    training_error(r, nown ? x + anchors * (size_t)terms->n : x, nown ? own : rows, nown ? nown : n);
    for (size_t i = 0; i < n; i++)
        job->used[rows - job->rows + (ptrdiff_t)i] |= rows[i].kind != HRUN_ROW_SHARED;
    job->models->n++;
    *record = r;
    return 0;
}
