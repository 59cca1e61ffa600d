/* weak_family.c - measurements of mesh codes -> records; see weak_family.h */
#include "model/weak_family.h"

#include "model/weak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t hrun_weak_keep(struct hrun_row *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if ((rows[i].kind == HRUN_ROW_SINGLE || rows[i].kind == HRUN_ROW_OWN) && rows[i].sample &&
            rows[i].sample->work > 0)
            rows[kept++] = rows[i];
    return kept;
}

/* The run of a row. */
static struct hrun_weak_run run_of(const struct hrun_row *row)
{
    return (struct hrun_weak_run) { row->sample->copies ? 1 : row->P, row->sample->work, row->T };
}

/* Runs of one process that had a host for itself tell less than loaded ones: where there are these, they are left out.
 * Result: how many runs there are. */
static size_t collect(const struct hrun_row *rows, size_t n, int64_t N, struct hrun_weak_run *runs)
{
    size_t count = 0;
    int loaded = 0;

    for (size_t i = 0; i < n; i++)
        loaded |= rows[i].N == N && rows[i].sample->copies;
    for (size_t i = 0; i < n; i++)
        if (rows[i].N == N && (rows[i].P > 1 || rows[i].sample->copies || !loaded))
            runs[count++] = run_of(&rows[i]);
    return count;
}

/* Runs that are alike become one with their mean time, in place. */
static size_t average(struct hrun_weak_run *v, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct hrun_weak_run r = v[i];
        double sum = 0;
        size_t count = 0;
        int before = 0;

        for (size_t j = 0; j < kept; j++)
            before |= v[j].np == r.np && v[j].work == r.work;
        for (size_t j = i; j < n && !before; j++)
            if (v[j].np == r.np && v[j].work == r.work) {
                sum += v[j].time_s;
                count++;
            }
        if (!before)
            v[kept++] = (struct hrun_weak_run) { r.np, r.work, sum / (double)count };
    }
    return kept;
}

/* ------------------------------------------------------------------ a record */

/* The texts and numbers of a record from a fit. */
static int fill_record(const struct hrun_fit_job *job, const struct hrun_weak_fit *fit, const char *note,
                       struct hrun_fit_record *r)
{
    enum { K = HRUN_WEAK_TERMS };

    r->family = strdup("weak");
    r->method = strdup(hrun_method_name(job->options.method));
    r->note = strdup(note);
    r->terms = calloc(K, sizeof *r->terms);
    r->k = calloc(K, sizeof *r->k);
    r->cov = calloc(K * K, sizeof *r->cov);
    if (!r->family || !r->method || !r->note || !r->terms || !r->k || !r->cov)
        return -1;
    for (r->nterms = 0; r->nterms < K; r->nterms++)
        if (!(r->terms[r->nterms] = strdup(hrun_weak_terms[r->nterms])))
            return -1;
    memcpy(r->k, fit->k, sizeof fit->k);
    memcpy(r->cov, fit->cov, sizeof fit->cov);
    r->s2 = fit->s2;
    r->dof = fit->dof;
    r->train_mean = fit->mean_error;
    r->train_max = fit->max_error;
    r->sigma_abs_s = job->options.sigma_abs_s;
    r->sigma_rel = job->options.sigma_rel;
    return 0;
}

/* The paper's steps; what they leave as errors. */
static int by_steps(struct hrun_weak_run *runs, size_t n, struct hrun_weak_fit *fit, struct hrun_error *err)
{
    size_t six = average(runs, n);

    memset(fit, 0, sizeof *fit);
    fit->s2 = 1;
    if (hrun_weak_paper(runs, six, fit->k, err)) {
        if (err && err->code == HRUN_EINVAL)
            err->code = HRUN_ENODATA;
        return -1;
    }
    for (size_t i = 0; i < six; i++) {
        double off = fabs(hrun_weak_time(fit->k, runs[i].np, runs[i].work) / runs[i].time_s - 1);

        fit->mean_error += off / (double)six;
        fit->max_error = fmax(fit->max_error, off);
    }
    return 0;
}

/* What was measured, into the record and its note. */
static void measured(const struct hrun_weak_run *runs, size_t n, struct hrun_fit_record *r, double *least,
                     double *most)
{
    r->npoints = (int)n;
    r->pmin = r->pmax = runs[0].np;
    *least = *most = runs[0].work;
    for (size_t i = 1; i < n; i++) {
        r->pmin = runs[i].np < r->pmin ? runs[i].np : r->pmin;
        r->pmax = runs[i].np > r->pmax ? runs[i].np : r->pmax;
        *least = fmin(*least, runs[i].work);
        *most = fmax(*most, runs[i].work);
    }
}

/* One size; runs[n] is scratch of ours. */
static int fit_size(struct hrun_fit_job *job, int M, int64_t N, struct hrun_weak_run *runs, size_t n,
                    struct hrun_error *err)
{
    struct hrun_fit_record range = { 0 }, *r;
    struct hrun_error why = { 0 };
    struct hrun_weak_fit fit;
    double least, most;
    char note[128];

    if (!n)
        return 0;
    measured(runs, n, &range, &least, &most);
    if (job->options.method == HRUN_METHOD_LS ? by_steps(runs, n, &fit, &why)
        : hrun_weak_fit(runs, n, job->options.sigma_abs_s, job->options.sigma_rel, &fit, &why)) {
        if (why.code != HRUN_ENODATA) {
            if (err)
                *err = why;
            return hrun_fail_prefix(err, "M=%d, N=%lld, weak", M, (long long)N);
        }
        hrun_buf_addf(&job->skipped, "M=%d, N=%lld, weak: %s\n", M, (long long)N, why.text);
        return 0;
    }
    snprintf(note, sizeof note, "measured with %.10g to %.10g rows on each process", least, most);
    r = hrun_fit_add_record(job);
    if (!r)
        return hrun_fail_nomem(err);
    if (fill_record(job, &fit, note, r)) {
        hrun_fit_record_release(r);
        return hrun_fail_nomem(err);
    }
    r->M = M;
    r->nmin = r->nmax = N;
    r->pmin = range.pmin;
    r->pmax = range.pmax;
    r->npoints = range.npoints;
    job->models->n++;
    return 0;
}

int hrun_fit_weak(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    struct hrun_weak_run *runs = calloc(n, sizeof *runs);
    int rc = runs ? 0 : hrun_fail_nomem(err);

    for (size_t i = 0; i < n && !rc; i++) {
        int before = 0, records = job->models->n;

        for (size_t j = 0; j < i; j++)
            before |= rows[j].N == rows[i].N;
        if (before)
            continue;
        rc = fit_size(job, rows[i].M, rows[i].N, runs, collect(rows, n, rows[i].N, runs), err);
        for (size_t j = i; j < n && !rc; j++)
            if (rows[j].N == rows[i].N && job->models->n > records)
                job->used[&rows[j] - job->rows] = 1;
    }
    free(runs);
    return rc;
}
