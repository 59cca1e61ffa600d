/* fit.c - from measurements to models; see model.h for the contract
 *
 * Rows are the measurements of one M in order of P, then N, so that the rows of each family are neighbours:
 * first P = M (`single`), then one group per P (`nt`), all groups with P > M together (`pt`, `npt`). Each
 * term is evaluated once per row and serves all families that use it.
 */
#include "fit/fit.h"
#include "model/model.h"
#include "model/rows.h"
#include "model/terms.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all fits of one call share. */
struct job {
    const struct hrun_app *app;
    struct hrun_fit_options options;
    struct hrun_models *models;     /* records are appended */
    int cap;
    struct hrun_buf skipped;
    char *used;                     /* of each row: did a model use it? */
    const struct hrun_row *rows;
    size_t nrows;
    /* scratch for nrows rows and the longest list of terms */
    double *x, *sub, *y, *w, *k, *cov, *left;
    int64_t *sizes;
    int *keep, *in_use, *good;
};

/* Least number of different N in a family: with one size nothing is known of how the time follows N, and
 * every term would fit as well as any other. */
enum { SIZES_MIN = 2 };

/* Likewise the least number of different P > M of pt: with one, P is a constant, and which of P*T, T/P and T
 * is kept would be decided by their order in the list alone. */
enum { COUNTS_MIN = 2 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int count_sizes(struct job *job, const struct hrun_row *rows, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        job->sizes[i] = rows[i].N;
    qsort(job->sizes, n, sizeof *job->sizes, by_value);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || job->sizes[i] != job->sizes[i - 1];
    return count;
}

/* ------------------------------------------------------------------ one fit */

/* Weight of a row: one over the standard deviation that the options expect. */
static double weight(const struct hrun_fit_options *o, double T)
{
    return o->sigma_abs_s > 0 || o->sigma_rel > 0 ? 1 / hypot(o->sigma_abs_s, o->sigma_rel * T) : 1;
}

/* Room for one more record, zeroed. */
static struct hrun_fit_record *add_record(struct job *job)
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
static void drop_record(struct job *job)
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
static double variance(const struct job *job, const struct hrun_row *rows, size_t n, double rss, int dof)
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
static size_t gather(struct job *job, const double *x, size_t n, size_t p)
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
static int choose_terms(struct job *job, const struct hrun_lsq *all, size_t *count, struct hrun_error *err)
{
    if (job->options.method == HRUN_METHOD_LS)
        return hrun_fit_independent(all, least_remainder(), job->keep, count, err);
    return hrun_fit_distinct(all, least_remainder(), job->keep, count, err);
}

/* Mark the columns in use after NNLS (job->in_use) and tell whether they are all but dependent. */
static int look_at_used(struct job *job, const struct hrun_lsq *all, int *dependent, struct hrun_error *err)
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
static int spare_one(struct job *job, const struct hrun_lsq *all, struct hrun_error *err)
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
static int solve(struct job *job, const struct hrun_lsq *all, size_t *count, struct hrun_lsq_result *result,
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

/* Fit terms to rows[n], whose values x[n by terms->n] are given, and append a record. 0 also when there are
 * too few measurements: then a line goes to job->skipped and *record becomes NULL. */
static int fit_family(struct job *job, const char *family, int P, const struct hrun_terms *terms,
                      const double *x, const struct hrun_row *rows, size_t n, struct hrun_fit_record **record,
                      struct hrun_error *err)
{
    size_t p = (size_t)terms->n, count;
    int M = rows[0].M, sizes = count_sizes(job, rows, n);
    struct hrun_lsq all = { x, job->y, job->w, n, p };
    struct hrun_lsq_result result = { job->k, job->cov, 0, 0, 0 };
    struct hrun_buf note = HRUN_BUF_INIT;
    struct hrun_error failure;
    struct hrun_fit_record *r;
    double total = 0;

    *record = NULL;
    if (sizes < SIZES_MIN) {
        if (P)
            hrun_buf_addf(&job->skipped, "M=%d, %s at P=%d: ", M, family, P);
        else
            hrun_buf_addf(&job->skipped, "M=%d, %s: ", M, family);
        hrun_buf_addf(&job->skipped, "measured at N=%lld only, at least %d sizes are needed\n",
                      (long long)rows[0].N, SIZES_MIN);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        job->y[i] = rows[i].T;
        job->w[i] = weight(&job->options, rows[i].T);
        total += rows[i].T;
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
    note_dropped(&note, terms, job->keep);
    r->family = strdup(family);
    r->method = strdup(hrun_method_name(job->options.method));
    r->note = hrun_buf_detach(&note);
    r->terms = calloc(p, sizeof *r->terms);
    r->k = calloc(p, sizeof *r->k);
    r->cov = calloc(p * p, sizeof *r->cov);
    if (!r->family || !r->method || !r->note || !r->terms || !r->k || !r->cov)
        goto nomem;
    r->M = M;
    r->P = P;
    r->nterms = terms->n;
    for (size_t j = 0, at = 0; j < p; j++) {
        r->terms[j] = strdup(terms->v[j].text);
        if (!r->terms[j])
            goto nomem;
        if (!job->keep[j])
            continue;
        r->k[j] = job->k[at];
        for (size_t l = 0, to = 0; l < p; l++)
            if (job->keep[l])
                r->cov[j * p + l] = job->cov[at * count + to++];
        at++;
    }
    r->dof = (int)(n - result.rank);
    r->s2 = variance(job, rows, n, result.rss, r->dof);
    r->sigma_abs_s = job->options.sigma_abs_s;
    r->sigma_rel = job->options.sigma_rel;
    measured_range(r, rows, n);
    training_error(r, x, rows, n);
    for (size_t i = 0; i < n; i++)
        job->used[rows - job->rows + (ptrdiff_t)i] = 1;
    job->models->n++;
    *record = r;
    return 0;
nomem:
    drop_record(job);
    return hrun_fail_nomem(err);
}

/* ------------------------------------------------------------------ the families of one M */

/* Values of terms at rows[n] into x[n by terms->n]; T is looked at for P-T terms only. */
static int evaluate(const struct job *job, const struct hrun_terms *terms, enum hrun_term_kind kind,
                    const struct hrun_row *rows, size_t n, const double *T, double *x, struct hrun_error *err)
{
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < terms->n; j++)
            if (hrun_term_eval(terms->v[j].expr, kind, (double)rows[i].N, rows[i].P, T ? T[i] : 0, x++, err))
                return hrun_fail_prefix(err, "term '%s' of %s at a measured point (N=%lld, P=%d)",
                                        terms->v[j].text, job->app->name, (long long)rows[i].N, rows[i].P);
    return 0;
}

/* single and, for each P, nt. *ref: the index of the nt model at the smallest P, or -1. */
static int fit_nt(struct job *job, const struct hrun_row *rows, size_t n, int *ref, struct hrun_error *err)
{
    const struct hrun_terms *terms = &job->app->nt;
    struct hrun_fit_record *record;
    size_t begin = 0, end;

    *ref = -1;
    if (terms->n == 0) {
        hrun_buf_addf(&job->skipped, "M=%d, single and nt: the definition has no terms under 'n'\n",
                      rows[0].M);
        return 0;
    }
    if (rows[0].P != rows[0].M)
        hrun_buf_addf(&job->skipped, "M=%d, single: nothing measured with P=%d\n", rows[0].M, rows[0].M);
    if (evaluate(job, terms, HRUN_TERM_N, rows, n, NULL, job->x, err))
        return -1;
    for (begin = 0; begin < n; begin = end) {
        int one_pe = rows[begin].P == rows[begin].M;

        for (end = begin; end < n && rows[end].P == rows[begin].P;)
            end++;
        if (fit_family(job, one_pe ? "single" : "nt", one_pe ? 0 : rows[begin].P, terms,
                       job->x + begin * (size_t)terms->n, rows + begin, end - begin, &record, err))
            return -1;
        if (record && !one_pe && *ref < 0)
            *ref = job->models->n - 1;
    }
    return 0;
}

/* P-T on rows with P > M, before which `at` rows of this M stand; job->x holds the N-T values of all of them.
 * Rows are in order of P. T is the N-T model at the smallest P that has one: of all measured P it is nearest
 * to the case that needs no communication, and it is measured at the least cost. */
static int fit_pt(struct job *job, const struct hrun_row *rows, size_t n, size_t at, int ref,
                  struct hrun_error *err)
{
    const struct hrun_terms *terms = &job->app->pt, *nt = &job->app->nt;
    struct hrun_fit_record *record;
    double *T = NULL;
    int rc = -1, P, counts = 1;

    if (terms->n == 0 || ref < 0) {
        hrun_buf_addf(&job->skipped, "M=%d, pt: %s\n", rows[0].M, terms->n == 0 ?
                      "the definition has no terms under 'p'" : "there is no nt model to build on");
        return 0;
    }
    for (size_t i = 1; i < n; i++)
        counts += rows[i].P != rows[i - 1].P;
    if (counts < COUNTS_MIN) {
        hrun_buf_addf(&job->skipped,
                      "M=%d, pt: measured at P=%d only of the P > %d, at least %d are needed to see how time "
                      "follows P\n", rows[0].M, rows[0].P, rows[0].M, COUNTS_MIN);
        return 0;
    }
    T = calloc(n, sizeof *T);
    if (!T)
        return hrun_fail_nomem(err);
    P = job->models->v[ref].P;
    for (size_t i = 0; i < n; i++) {
        const double *x = job->x + (at + i) * (size_t)nt->n;

        for (int j = 0; j < nt->n; j++)
            T[i] += job->models->v[ref].k[j] * x[j];
        if (!isfinite(T[i]) || T[i] <= 0) {
            hrun_buf_addf(&job->skipped, "M=%d, pt: the nt model at P=%d predicts %g s at N=%lld\n",
                          rows[0].M, P, T[i], (long long)rows[i].N);
            rc = 0;
            goto out;
        }
    }
    if (evaluate(job, terms, HRUN_TERM_TPN, rows, n, T, job->x, err))
        goto out;
    rc = fit_family(job, "pt", 0, terms, job->x, rows, n, &record, err);
    if (!rc && record)
        record->P = P;
out:
    free(T);
    return rc;
}

static int fit_npt(struct job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    const struct hrun_terms *terms = &job->app->np;
    struct hrun_fit_record *record;

    if (terms->n == 0) {
        hrun_buf_addf(&job->skipped, "M=%d, npt: the definition has no terms under 'np'\n", rows[0].M);
        return 0;
    }
    if (evaluate(job, terms, HRUN_TERM_NP, rows, n, NULL, job->x, err))
        return -1;
    return fit_family(job, "npt", 0, terms, job->x, rows, n, &record, err);
}

static int fit_m(struct job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    size_t first = 0;
    int ref;

    while (first < n && rows[first].P == rows[first].M)
        first++;
    if (fit_nt(job, rows, n, &ref, err))
        return -1;
    if (first == n) {
        hrun_buf_addf(&job->skipped, "M=%d, nt, pt and npt: nothing measured with P > %d\n", rows[0].M,
                      rows[0].M);
        return 0;
    }
    if (fit_pt(job, rows + first, n - first, first, ref, err))
        return -1;
    return fit_npt(job, rows + first, n - first, err);
}

/* ------------------------------------------------------------------ all */

static int max3(int a, int b, int c)
{
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

/* Names, dates and counts of the result. */
static int finish(struct job *job, struct hrun_error *err)
{
    struct hrun_models *m = job->models;
    struct hrun_buf consts = HRUN_BUF_INIT;
    const char *newest = "";
    char now[21];

    for (size_t i = 0; i < job->nrows; i++) {
        m->nsamples += job->used[i];
        if (job->used[i] && strcmp(job->rows[i].date, newest) > 0)   /* ISO 8601 in UTC sorts as text */
            newest = job->rows[i].date;
    }
    hrun_date_now(now);
    hrun_app_consts_text(job->app, &consts);
    m->app = strdup(job->app->name);
    m->signature = strdup("");
    m->subcluster = strdup("");
    m->fitted = strdup(now);
    m->newest = strdup(newest);
    m->consts = hrun_buf_detach(&consts);
    if (!m->app || !m->signature || !m->subcluster || !m->fitted || !m->newest || !m->consts)
        return hrun_fail_nomem(err);
    return 0;
}

int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err)
{
    struct job job = { .app = app, .options = *options, .skipped = HRUN_BUF_INIT };
    size_t terms = (size_t)max3(app->np.n, app->nt.n, app->pt.n), end;
    struct hrun_row *rows = NULL;
    double *memory = NULL;
    int rc = -1;

    if (!(options->sigma_abs_s >= 0 && options->sigma_rel >= 0) ||
        !isfinite(options->sigma_abs_s + options->sigma_rel))
        return hrun_fail(err, HRUN_EINVAL,
                         "the scatter of measurements must be finite and not negative, not %g s and "
                         "%g",
                         options->sigma_abs_s, options->sigma_rel);
    rows = calloc(n ? n : 1, sizeof *rows);
    if (!rows)
        return hrun_fail_nomem(err);
    if (hrun_rows_select(app, samples, n, rows, &job.nrows, err))
        goto out;
    n = job.nrows;
    job.rows = rows;
    job.models = calloc(1, sizeof *job.models);
    job.used = calloc(n, 1);
    job.sizes = calloc(n, sizeof *job.sizes);
    job.keep = calloc(3 * terms + 1, sizeof *job.keep);
    memory = calloc(2 * n * terms + 2 * n + 2 * terms + terms * terms + 1, sizeof *memory);
    if (!job.models || !job.used || !job.sizes || !job.keep || !memory) {
        hrun_fail_nomem(err);
        goto out;
    }
    job.x = memory;
    job.sub = job.x + n * terms;
    job.y = job.sub + n * terms;
    job.w = job.y + n;
    job.k = job.w + n;
    job.left = job.k + terms;
    job.cov = job.left + terms;
    job.in_use = job.keep + terms;
    job.good = job.in_use + terms;

    for (size_t begin = 0; begin < n; begin = end) {
        for (end = begin; end < n && rows[end].M == rows[begin].M;)
            end++;
        if (fit_m(&job, rows + begin, end - begin, err))
            goto out;
    }
    if (job.skipped.failed) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (job.models->n == 0) {
        size_t len = strcspn(job.skipped.data, "\n");
        hrun_fail(err, HRUN_ENODATA, "no model of %s can be made from %zu measurement%s: %.*s", app->name, n,
                  n == 1 ? "" : "s", (int)(len > 400 ? 400 : len), job.skipped.data);
        goto out;
    }
    if (finish(&job, err))
        goto out;
    if (skipped)
        hrun_buf_add(skipped, job.skipped.data, job.skipped.len);
    *out = job.models;
    job.models = NULL;
    rc = 0;
out:
    hrun_models_destroy(job.models);
    hrun_buf_release(&job.skipped);
    free(job.used);
    free(job.sizes);
    free(job.keep);
    free(memory);
    free(rows);
    return rc;
}
