/* fit.c - from measurements of one sub-cluster to models; see model.h and fit_job.h for the contracts */
#include "app/template.h"
#include "model/fit_job.h"

#include "base/alloc.h"
#include "base/units.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Set names, dates and counts of the result. */
static void describe_models(struct hrun_fit_job *job)
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
    m->app = xstrdup(job->app->name);
    m->signature = xstrdup("");
    m->subcluster = xstrdup("");
    m->fitted = xstrdup(now);
    m->newest = xstrdup(newest);
    m->consts = hrun_buf_detach(&consts);
}

/* Add the rounding of the times to their scatter *abs_s. Scratch: time_s[n]. */
static void add_rounding(const struct hrun_row *rows, size_t n, double *time_s, double *abs_s)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].kind != HRUN_ROW_SHARED && rows[i].kind != HRUN_ROW_SHARED_SINGLE)
            time_s[count++] = rows[i].T;
    *abs_s = hypot(*abs_s, hrun_times_rounding(time_s, count));
}

int hrun_fit_rows(const struct hrun_app *app, struct hrun_row *rows, size_t n,
                  const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                  struct hrun_error *err)
{
    const struct hrun_family *family = hrun_family_of(app);
    struct hrun_fit_job job = { .app = app, .options = *options, .skipped = HRUN_BUF_INIT, .rows = rows };
    int longest = app->np.n > app->nt.n ? app->np.n : app->nt.n;
    size_t terms = (size_t)((app->pt.n > longest ? app->pt.n : longest) + family->nterms), end;
    double *memory = NULL;
    int rc = -1;

    if (hrun_fit_network(&job, rows, &n, err))
        goto out;
    if (family->keep)
        n = family->keep(rows, n, options);
    job.nrows = n;
    job.models = xcalloc(1, sizeof *job.models);
    job.used = xcalloc(n, 1);
    job.sizes = xcalloc(n, sizeof *job.sizes);
    job.keep = xcalloc(terms + 1, sizeof *job.keep);
    memory = xcalloc(2 * n * terms + 5 * n + terms + terms * terms + 1, sizeof *memory);
    job.x = memory;
    job.sub = job.x + n * terms;
    job.y = job.sub + n * terms;
    job.w = job.y + n;
    job.k = job.w + n;
    job.factor = job.k + terms;
    job.wr = job.factor + n;
    job.r = job.wr + n;
    job.cov = job.r + n;
    if (options->sigma_abs_s > 0 || options->sigma_rel > 0)
        add_rounding(rows, n, job.y, &job.options.sigma_abs_s);

    for (size_t begin = 0; begin < n; begin = end) {
        for (end = begin; end < n && rows[end].M == rows[begin].M;)
            end++;
        if (family->fit(&job, rows + begin, end - begin, err))
            goto out;
    }
    if (job.models->n == 0) {
        size_t len = strcspn(job.skipped.data, "\n");
        hrun_fail(err, HRUN_ENODATA, "no model of %s can be made from %s: %.*s", app->name,
                  hrun_counted(n, "measurement").s, (int)(len > 400 ? 400 : len), job.skipped.data);
        goto out;
    }
    describe_models(&job);
    if (skipped)
        hrun_buf_add(skipped, job.skipped.data, job.skipped.len);
    *out = job.models;
    job.models = NULL;
    rc = 0;
out:
    hrun_models_destroy(job.models);
    hrun_buf_release(&job.skipped);
    hrun_fit_network_release(&job);
    free(job.used);
    free(job.sizes);
    free(job.keep);
    free(memory);
    return rc;
}

int hrun_fit_check_options(const struct hrun_fit_options *options, struct hrun_error *err)
{
    if (options->sigma_abs_s >= 0 && options->sigma_rel >= 0 && isfinite(options->sigma_abs_s + options->sigma_rel))
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "the scatter of measurements must be finite and not negative, not %g s and %g",
                     options->sigma_abs_s, options->sigma_rel);
}

int hrun_model_fit(const struct hrun_app *app, const struct hrun_sample *samples, size_t n,
                   const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                   struct hrun_error *err)
{
    autofree struct hrun_row *rows = xcalloc(n, sizeof *rows);
    size_t nrows;

    if (hrun_fit_check_options(options, err))
        return -1;
    if (hrun_family_of(app)->by_formula)
        return hrun_fail(err, HRUN_ENODATA, "%s is predicted by its formula: there is nothing to fit", app->name);
    if (hrun_rows_select(app, samples, n, options->own, rows, &nrows, err) ||
        hrun_glitches_exclude(app, options->glitches, rows, &nrows, skipped, err))
        return -1;
    return hrun_fit_rows(app, rows, nrows, options, out, skipped, err);
}
