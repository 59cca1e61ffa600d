/* suspect.c - measurements that should be made again; see suspect.h for the contract */
#include "model/suspect.h"

#include "fit/robust.h"
#include "fit/spread.h"
#include "model/family.h"
#include "model/terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int farthest_first(const void *a, const void *b)
{
    double x = fabs(((const struct hrun_suspect *)a)->deviation), y = fabs(((const struct hrun_suspect *)b)->deviation);

    return (x < y) - (x > y);
}

/* What the model of this place says; 0 where there is none. */
static int predict(const struct hrun_fit_job *job, const struct hrun_models *m, const struct hrun_row *row, double *t,
                   struct hrun_error *err)
{
    const struct hrun_app *app = job->app;
    int single = row->kind == HRUN_ROW_SINGLE;
    enum hrun_term_kind kind = single ? HRUN_TERM_N : HRUN_TERM_NP;
    const struct hrun_fit_record *r = NULL;

    *t = 0;
    for (int i = 0; i < m->n && !r; i++)
        if (m->v[i].M == row->M && !strcmp(m->v[i].family, single ? "single" : "npt"))
            r = &m->v[i];
    for (int j = 0; r && j < r->nterms; j++) {
        struct hrun_expr *e;
        double v;
        int owned, rc;

        if (r->k[j] == 0)
            continue;
        e = hrun_term_find(app, kind, r->terms[j], &owned, err);
        if (!e)
            return -1;
        if (hrun_term_is_network(e) && !job->net) {
            if (owned)
                hrun_expr_destroy(e);
            *t = 0;
            return 0;
        }
        rc = single ? hrun_term_eval(e, kind, (double)row->N, row->P, 0, &v, err) : hrun_fit_term(job, e, row, &v, err);
        if (owned)
            hrun_expr_destroy(e);
        if (rc)
            return hrun_fail_prefix(err, "term '%s' of %s", r->terms[j], app->name);
        *t += r->k[j] * v;
    }
    return 0;
}

static size_t point_end(const struct hrun_row *rows, size_t n, size_t first)
{
    size_t end = first;

    while (end < n && rows[end].N == rows[first].N && rows[end].P == rows[first].P && rows[end].M == rows[first].M)
        end++;
    return end;
}

/* Distances of rows[n], all of one M, in units of the scatter that the options give them: r[i] from what it is compared
 * with. Of a point that cannot be compared they are NAN. */
static int distances(const struct hrun_fit_job *job, const struct hrun_models *m, const struct hrun_row *rows,
                     size_t n, double *r, struct hrun_error *err)
{
    static const struct hrun_fit_options expected = HRUN_FIT_OPTIONS_DEFAULT;
    const struct hrun_fit_options *o = &job->options;

    if (o->sigma_abs_s == 0 && o->sigma_rel == 0)
        o = &expected;
    for (size_t first = 0, end; first < n; first = end) {
        double t;

        end = point_end(rows, n, first);
        if (end - first > 1)
            t = (rows[first + (end - first - 1) / 2].T + rows[first + (end - first) / 2].T) / 2;
        else if (predict(job, m, &rows[first], &t, err))
            return -1;
        for (size_t i = first; i < end; i++)
            r[i] = t > 0 ? (rows[i].T - t) / hypot(o->sigma_abs_s, o->sigma_rel * fmin(t, rows[i].T)) : NAN;
    }
    return 0;
}

/* The scale of the distances of points of one run, or of those of several; at least 1. */
static double scale(const struct hrun_row *rows, size_t n, const double *r, int several, double *scratch)
{
    size_t count = 0, middles = 0;

    for (size_t first = 0, end; first < n; first = end) {
        end = point_end(rows, n, first);
        if (several != (end - first > 1))
            continue;
        for (size_t i = first; i < end; i++)
            if (!isnan(r[i]))
                scratch[count++] = r[i];
        middles += several && (end - first) % 2;   /* an odd number's median is 0 from itself */
    }
    return fmax(hrun_fit_scale(scratch, count, middles), 1);
}

static void judge(const struct hrun_row *rows, size_t n, const double *r, double *scratch, struct hrun_suspect *out,
                  size_t *count)
{
    double scales[2] = { scale(rows, n, r, 0, scratch), scale(rows, n, r, 1, scratch) };

    for (size_t first = 0, end; first < n; first = end) {
        size_t worst = first;
        double deviation;

        end = point_end(rows, n, first);
        for (size_t i = first; i < end; i++)
            if (fabs(r[i]) >= fabs(r[worst]))   /* of two as far off: the longer one, which stands behind */
                worst = i;
        deviation = r[worst] / scales[end - first > 1];
        if (fabs(deviation) > HRUN_SUSPICIOUS)
            out[(*count)++] = (struct hrun_suspect){ rows[first].N, rows[first].P, rows[first].M, (int)(end - first),
                                                     rows[worst].T, deviation };
    }
}

/* Do the repetitions of points agree to all digits? Scratch: time_s[n], point[n]. */
static int are_exact(const struct hrun_row *rows, size_t n, double *time_s, int *point)
{
    for (size_t first = 0, end; first < n; first = end) {
        end = point_end(rows, n, first);
        for (size_t i = first; i < end; i++) {
            time_s[i] = rows[i].T;
            point[i] = (int)first;
        }
    }
    return hrun_times_repeat(time_s, point, n);
}

int hrun_model_suspects(const struct hrun_app *app, const struct hrun_models *m, const struct hrun_sample *samples,
                        size_t n, const struct hrun_fit_options *options, struct hrun_suspect **out, size_t *count,
                        struct hrun_error *err)
{
    struct hrun_row *rows = calloc(n ? n : 1, sizeof *rows);
    struct hrun_suspect *found = calloc(n ? n : 1, sizeof *found);
    struct hrun_fit_job job = { .app = app, .options = *options, .skipped = HRUN_BUF_INIT };
    double *r = calloc(2 * n + 1, sizeof *r);
    int *point = calloc(n + 1, sizeof *point), rc = -1;
    size_t nrows, nfound = 0, end;

    if (!rows || !found || !r || !point) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (hrun_rows_select(app, samples, n, options->own, rows, &nrows, err) ||
        hrun_fit_network(&job, rows, &nrows, err))
        goto out;
    for (size_t begin = are_exact(rows, nrows, r, point) ? nrows : 0; begin < nrows; begin = end) {
        for (end = begin; end < nrows && rows[end].M == rows[begin].M;)
            end++;
        if (distances(&job, m, rows + begin, end - begin, r + begin, err))
            goto out;
        judge(rows + begin, end - begin, r + begin, r + nrows, found, &nfound);
    }
    if (nfound) {
        qsort(found, nfound, sizeof *found, farthest_first);
        *out = found;
        found = NULL;
    } else {
        *out = NULL;
    }
    *count = nfound;
    rc = 0;
out:
    hrun_fit_network_release(&job);
    hrun_buf_release(&job.skipped);
    free(rows);
    free(found);
    free(point);
    free(r);
    return rc;
}
