/* record.c - fit one model to its rows: terms, coefficients and their errors; see fit_job.h */
#include "model/fit_job.h"
#include "model/internal.h"

#include "base/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ coefficients */

/* Copy the columns with job->keep = 1 of x[n by p] to job->sub. Returns their number. */
static size_t gather_kept_columns(struct hrun_fit_job *job, const double *x, size_t n, size_t p)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++)
            if (job->keep[j])
                job->sub[kept++] = x[i * p + j];
    return kept / n;
}

/* Choose the terms to fit: independent ones for LS, distinct ones for NNLS. NNLS may need a term that others span, if
 * they replace it only with negative coefficients (the constant, with three sizes and N^3, N^2, N before it). */
static int choose_terms(struct hrun_fit_job *job, const struct hrun_lsq *all, size_t *count, struct hrun_error *err)
{
    /* A remainder below this part of a column's norm is lost in rounding when squared, as in every variance. */
    double least = sqrt(DBL_EPSILON);

    if (job->options.method == HRUN_METHOD_LS)
        return hrun_fit_independent(all, least, job->keep, count, err);
    return hrun_fit_distinct(all, least, job->keep, count, err);
}

/* Set job->wr to Huber's weights for the terms kept, starting from job->w. */
static int fit_robust(struct hrun_fit_job *job, const struct hrun_lsq *all, double *bound, struct hrun_error *err)
{
    static const struct hrun_huber huber = HRUN_HUBER_DEFAULT;
    struct hrun_lsq sub = { job->sub, all->y, job->w, all->n, 0 };
    struct hrun_lsq_result result = { job->k, NULL, 0, 0, 0 };
    struct hrun_huber_result robust = { job->factor, 0, 0, 0 };

    sub.p = gather_kept_columns(job, all->x, all->n, all->p);
    if (hrun_fit_huber(hrun_fit_nnls, &sub, &huber, &result, &robust, err))
        return -1;
    for (size_t i = 0; i < all->n; i++)
        job->wr[i] = job->w[i] * job->factor[i];
    *bound = huber.k * robust.scale;
    return 0;
}

/* Solve for data->x, job->y and job->w. LS, the reference of paper 000, is never robust. Sets job->keep of each term,
 * job->wr (the weights that counted in the end), *result with coefficients and covariances of the *count terms with
 * keep = 1, and *bound: weighted residuals beyond it counted less; INFINITY if all counted in full. Errors: those of
 * lib/fit; HRUN_ERANK: these measurements make no model. */
static int fit_coefficients(struct hrun_fit_job *job, const struct hrun_fit_data *data, size_t *count, double *bound,
                            struct hrun_lsq_result *result, struct hrun_error *err)
{
    size_t n = data->n, p = (size_t)data->terms->n;
    struct hrun_lsq all = { data->x, job->y, job->wr, n, p }, sub = { job->sub, job->y, job->wr, n, 0 };
    int ls = job->options.method == HRUN_METHOD_LS;

    *bound = INFINITY;
    memcpy(job->wr, job->w, n * sizeof *job->wr);
    if (choose_terms(job, &all, count, err))
        return -1;
    if (*count == 0)
        return hrun_fail(err, HRUN_ERANK, "every term is 0 at every measured point");
    if (!ls && job->options.robust && fit_robust(job, &all, bound, err))
        return -1;
    sub.p = gather_kept_columns(job, data->x, n, p);
    return ls ? hrun_fit_ls(&sub, result, err) : hrun_fit_nnls(&sub, result, err);
}

/* ------------------------------------------------------------------ a record */

/* Least number of different N in a family: one size does not show how the time follows N, and all terms would fit
 * alike. */
enum { SIZES_MIN = 2 };

/* Weight of shared rows: their times are computed from runs elsewhere, to 10 % or so, five times the scatter that the
 * default options expect of a run. */
static const double ANCHOR_WEIGHT = 0.2;

static int size_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int count_sizes(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        job->sizes[i] = rows[i].N;
    qsort(job->sizes, n, sizeof *job->sizes, size_order);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || job->sizes[i] != job->sizes[i - 1];
    return count;
}

/* Weight of a row: one over the standard deviation that the options expect. */
static double weight(const struct hrun_fit_options *o, double T)
{
    return o->sigma_abs_s > 0 || o->sigma_rel > 0 ? 1 / hypot(o->sigma_abs_s, o->sigma_rel * T) : 1;
}

struct hrun_fit_record *hrun_fit_add_record(struct hrun_fit_job *job)
{
    struct hrun_models *m = job->models;

    hrun_grow(m->v, m->n + 1, job->cap);
    memset(&m->v[m->n], 0, sizeof m->v[m->n]);
    return &m->v[m->n];
}

static void set_training_error(struct hrun_fit_record *r, const double *x, const struct hrun_row *rows, size_t n)
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

/* Write the residuals of rows first..n-1 with their original weights to job->r. */
static void record_residuals(const struct hrun_fit_job *job, const struct hrun_fit_record *r, const double *x,
                             size_t first, size_t n)
{
    for (size_t i = first; i < n; i++) {
        double e = job->y[i];

        for (int j = 0; j < r->nterms; j++)
            if (r->k[j] != 0)
                e -= r->k[j] * x[i * (size_t)r->nterms + (size_t)j];
        job->r[i - first] = job->w[i] * e;
    }
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

/* The variance if there are no degrees of freedom: 1 for weighted residuals, as their weights assume; else that of the
 * default options at the mean time. */
static double assumed_variance(const struct hrun_fit_job *job, const struct hrun_row *rows, size_t n)
{
    static const struct hrun_fit_options expected = HRUN_FIT_OPTIONS_DEFAULT;
    double mean = 0;

    if (job->options.sigma_abs_s > 0 || job->options.sigma_rel > 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        mean += rows[i].T / (double)n;
    return pow(weight(&expected, mean), -2);
}

/* Append the names of the terms with keep = 0. */
static void note_dropped(struct hrun_buf *note, const struct hrun_terms *terms, const struct hrun_fit_job *job)
{
    size_t before = note->len;

    for (int j = 0; j < terms->n; j++)
        if (!job->keep[j])
            hrun_buf_addf(note, "%s%s", note->len > before ? ", " : before ? "; dropped " : "dropped ",
                          terms->v[j].text);
    if (note->len > before)
        hrun_buf_adds(note, ": these measurements cannot tell it from the other terms");
}

/* Append the number of measurements that count much less than others. */
static void note_distrusted(struct hrun_buf *note, const struct hrun_fit_job *job, size_t n, double bound)
{
    static const struct hrun_huber huber = HRUN_HUBER_DEFAULT;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += fabs(job->r[i]) > bound / huber.k * HRUN_SUSPICIOUS;
    if (count)
        hrun_buf_addf(note, "%s%zu of %zu measurements %s far from the fit and count%s less", note->len ? "; " : "",
                      count, n, count == 1 ? "is" : "are", count == 1 ? "s" : "");
}

/* 1, with a line in job->skipped, if there are fewer than SIZES_MIN sizes; else 0. One size is enough for family ring,
 * whose definition gives the work at each N, and for work that does not depend on N. */
static int too_few(struct hrun_fit_job *job, const char *family, int P, const struct hrun_row *rows, size_t n)
{
    if (count_sizes(job, rows, n) >= SIZES_MIN || !strcmp(family, "ring") || job->app->fixed)
        return 0;
    if (P)
        hrun_buf_addf(&job->skipped, "M=%d, %s at P=%d: ", rows[0].M, family, P);
    else
        hrun_buf_addf(&job->skipped, "M=%d, %s: ", rows[0].M, family);
    hrun_buf_addf(&job->skipped, "measured at N=%lld only, at least %d sizes are needed\n",
                  (long long)rows[0].N, SIZES_MIN);
    return 1;
}

/* Set the texts of a record, and allocate its coefficients. */
static void name_record(const struct hrun_fit_job *job, struct hrun_fit_record *r, const char *family,
                        const struct hrun_terms *terms)
{
    size_t p = (size_t)terms->n;

    r->family = xstrdup(family);
    r->method = xstrdup(hrun_method_name(job->options.method));
    r->terms = xcalloc(p, sizeof *r->terms);
    r->k = xcalloc(p, sizeof *r->k);
    r->cov = xcalloc(p * p, sizeof *r->cov);
    r->nterms = terms->n;
    for (size_t j = 0; j < p; j++)
        r->terms[j] = xstrdup(terms->v[j].text);
}

/* Copy the coefficients of the `count` terms kept, and their covariances, to their places among all terms. */
static void spread_coefficients(const struct hrun_fit_job *job, struct hrun_fit_record *r, size_t count)
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

int hrun_fit_family(struct hrun_fit_job *job, const char *family, int P, const struct hrun_fit_data *data,
                    struct hrun_fit_record **record, struct hrun_error *err)
{
    const struct hrun_row *rows = data->rows, *own = rows + data->anchors;
    size_t n = data->n, anchors = data->anchors, nown = n - anchors, count;
    struct hrun_lsq_result result = { job->k, job->cov, 0, 0, 0 };
    struct hrun_buf note = HRUN_BUF_INIT;
    struct hrun_error failure;
    struct hrun_fit_record *r;
    double bound;
    int M = rows[0].M, shared = rows[0].kind == HRUN_ROW_SHARED || rows[0].kind == HRUN_ROW_SHARED_SINGLE;

    *record = NULL;
    if (too_few(job, family, P, shared ? rows : own, shared ? n : nown))
        return 0;
    for (size_t i = 0; i < n; i++) {
        job->y[i] = rows[i].T;
        job->w[i] = weight(&job->options, rows[i].T) * rows[i].weight * (i < anchors ? ANCHOR_WEIGHT : 1);
    }
    if (fit_coefficients(job, data, &count, &bound, &result, &failure)) {
        if (failure.code == HRUN_ERANK) {
            hrun_buf_addf(&job->skipped, "M=%d, %s: %s\n", M, family, failure.text);
            return 0;
        }
        hrun_fail_as(err, &failure);
        return hrun_fail_prefix(err, "M=%d, %s", M, family);
    }

    r = hrun_fit_add_record(job);
    name_record(job, r, family, data->terms);
    r->M = M;
    r->P = P;
    spread_coefficients(job, r, count);
    record_residuals(job, r, data->x, anchors, n);
    r->dof = nown > result.rank ? (int)(nown - result.rank) : 0;
    r->s2 = r->dof ? hrun_fit_huber_variance(job->r, nown, result.rank, bound) :
            assumed_variance(job, nown ? own : rows, nown ? nown : n);
    r->sigma_abs_s = job->options.sigma_abs_s / (shared && !r->dof ? ANCHOR_WEIGHT : 1);
    r->sigma_rel = job->options.sigma_rel / (shared && !r->dof ? ANCHOR_WEIGHT : 1);
    measured_range(r, nown ? own : rows, nown ? nown : n);
    r->npoints = (int)nown;
    set_training_error(r, data->x + (nown ? anchors * (size_t)data->terms->n : 0), nown ? own : rows, nown ? nown : n);
    if (!strcmp(family, "npt") && job->left_out.len)
        hrun_buf_addf(&note, "%s", job->left_out.data);
    note_dropped(&note, data->terms, job);
    note_distrusted(&note, job, nown, bound);
    r->note = hrun_buf_detach(&note);
    for (size_t i = 0; i < n; i++)
        job->used[rows - job->rows + (ptrdiff_t)i] |= rows[i].kind != HRUN_ROW_SHARED &&
                                                      rows[i].kind != HRUN_ROW_SHARED_SINGLE;
    job->models->n++;
    *record = r;
    return 0;
}

/* ------------------------------------------------------------------ network terms */

/* Make the term of divided work times the tasking's excess; the caller owns it. */
static int make_dealt_term(struct hrun_fit_job *job, const char *text, struct hrun_term *out, struct hrun_error *err)
{
    struct hrun_buf dealt = HRUN_BUF_INIT;
    int owned;

    hrun_tasking_term(&job->options.tasking, text, &dealt);
    out->text = hrun_buf_detach(&dealt);
    out->expr = hrun_term_find(job->app, HRUN_TERM_NP, out->text, &owned, err);
    if (out->expr && owned)
        return 0;
    free(out->text);
    return out->expr ? hrun_fail(err, HRUN_EINVAL, "the term '%s' stands twice", text) : -1;
}

int hrun_fit_network(struct hrun_fit_job *job, struct hrun_row *rows, size_t *n, struct hrun_error *err)
{
    const struct hrun_terms *all = &job->app->np;
    int ls = job->options.method == HRUN_METHOD_LS;
    size_t kept = 0;

    job->left_out = (struct hrun_buf)HRUN_BUF_INIT;
    job->net = hrun_app_has_network(job->app) && !ls ? job->options.net : NULL;
    job->np.v = xcalloc((size_t)all->n + 1, sizeof *job->np.v);
    for (int j = 0; j < all->n; j++) {
        if (job->options.tasking.master && hrun_term_is_divided(all->v[j].expr)) {
            if (make_dealt_term(job, all->v[j].text, &job->np.v[job->np.n], err))
                return -1;
            job->np.n++;
        } else if (job->net || !hrun_term_is_network(all->v[j].expr))
            job->np.v[job->np.n++] = all->v[j];
        else
            hrun_buf_addf(&job->left_out, "%s%s", job->left_out.len ? ", " : "left out ", all->v[j].text);
    }
    if (job->left_out.len)
        hrun_buf_adds(&job->left_out, ls ? ": method ls does not fit network terms"
                      : ": the network of these hosts was not measured (hrun-calibrate network)");
    if (!job->net)
        return 0;
    for (size_t i = 0; i < *n; i++) {
        struct hrun_config config;

        if (rows[i].sample && hrun_netview_config(job->net, rows[i].sample, rows[i].own, &config))
            rows[kept++] = rows[i];
    }
    if (kept < *n)
        hrun_buf_addf(&job->skipped, "%zu of %zu measurements: on hosts that the network does not know\n", *n - kept,
                      *n);
    *n = kept;
    return 0;
}

void hrun_fit_network_release(struct hrun_fit_job *job)
{
    for (int j = 0; j < job->np.n; j++) {
        int given = 0;

        for (int k = 0; k < job->app->np.n && !given; k++)
            given = job->np.v[j].text == job->app->np.v[k].text;
        if (given)
            continue;
        hrun_expr_destroy(job->np.v[j].expr);
        free(job->np.v[j].text);
    }
    free(job->np.v);
    hrun_buf_release(&job->left_out);
}

int hrun_fit_term(const struct hrun_fit_job *job, struct hrun_expr *e, const struct hrun_row *row, double *out,
                  struct hrun_error *err)
{
    struct hrun_config config;
    struct hrun_net_call call;
    double factor, t;

    if (!hrun_term_is_network(e)) {
        if (hrun_term_eval(e, HRUN_TERM_NP, (double)row->N, row->P, 0, out, err))
            return -1;
        *out *= hrun_app_term_is_shared(job->app, e) ? row->share : 1;
        return 0;
    }
    if (!hrun_netview_config(job->net, row->sample, row->own, &config))
        return hrun_fail(err, HRUN_EINVAL, "the network does not know where a run was");
    if (hrun_term_network_call(e, (double)row->N, row->sample->P, &factor, &call, err) ||
        hrun_netview_time(job->net, call.op, call.bytes, &config, &t, err))
        return -1;
    *out = factor * t;
    return 0;
}
