/* npt_fit.c - the family npt: measurements -> records; see npt.h
 *
 * Rows are sorted by M, kind, P, N, so the rows of each model are consecutive: first runs on one PE (`single`), then
 * one group per P (`nt`); `pt` and `npt` use all rows with P > M. Each term is evaluated once per row for all
 * models that use it.
 */
#include "base/alloc.h"
#include "model/families/npt.h"
#include "model/fit_job.h"
#include "model/rows.h"
#include "model/terms.h"

#include <math.h>
#include <stdlib.h>

/* Least number of different P > M for pt. With one, P is constant, and P*T, T/P and T cannot be distinguished. */
enum { COUNTS_MIN = 2 };

/* ------------------------------------------------------------------ the models of one M */

/* Set data->x to the values of the terms. T[data->n]: for P-T terms; others ignore it. */
static int evaluate_terms(const struct hrun_fit_job *job, enum hrun_term_kind kind, const struct hrun_fit_data *data,
                          const double *T, struct hrun_error *err)
{
    double *x = data->x;

    for (size_t i = 0; i < data->n; i++)
        for (int j = 0; j < data->terms->n; j++) {
            const struct hrun_term *term = &data->terms->v[j];
            const struct hrun_row *row = &data->rows[i];

            if (kind == HRUN_TERM_NP ? hrun_fit_term(job, term->expr, row, x++, err)
                : hrun_term_eval(term->expr, kind, (double)row->N, row->P, T ? T[i] : 0, x++, err))
                return hrun_fail_prefix(err, "term '%s' of %s at a measured point (N=%lld, P=%d)", term->text,
                                        job->app->name, (long long)row->N, row->P);
        }
    return 0;
}

/* The rows of one M, in the order of their kinds. */
struct parts {
    const struct hrun_row *rows;
    size_t n, alone, single, shared, own;   /* numbers of rows: all, HRUN_ROW_SHARED_SINGLE, ...; the rest is mixed */
};

static struct parts rows_by_kind(const struct hrun_row *rows, size_t n)
{
    struct parts p = { rows, n, 0, 0, 0, 0 };

    for (size_t i = 0; i < n; i++) {
        p.alone += rows[i].kind == HRUN_ROW_SHARED_SINGLE;
        p.single += rows[i].kind == HRUN_ROW_SINGLE;
        p.shared += rows[i].kind == HRUN_ROW_SHARED;
        p.own += rows[i].kind == HRUN_ROW_OWN;
    }
    return p;
}

/* Fit single and, for each P, nt. *ref: index of the nt model with the smallest P, or -1. Leaves the N-T values of all
 * rows in job->x. */
static int fit_nt(struct hrun_fit_job *job, const struct parts *p, int *ref, struct hrun_error *err)
{
    const struct hrun_terms *terms = &job->app->nt;
    const struct hrun_row *rows = p->rows;
    struct hrun_fit_data data = { terms, rows, p->n, p->alone, job->x };
    struct hrun_fit_record *record;
    size_t begin, end, last = p->alone + p->single + p->shared + p->own;

    *ref = -1;
    if (terms->n == 0) {
        hrun_buf_addf(&job->skipped, "M=%d, single and nt: the definition has no terms under 'n'\n",
                      rows[0].M);
        return 0;
    }
    if (!p->single)
        hrun_buf_addf(&job->skipped, "M=%d, single: nothing measured with P=%d\n", rows[0].M, rows[0].M);
    if (evaluate_terms(job, HRUN_TERM_N, &data, NULL, err))
        return -1;
    data.n = p->alone + p->single;
    if (p->single && hrun_fit_family(job, "single", 0, &data, &record, err))
        return -1;
    for (begin = p->alone + p->single; begin < last; begin = end) {
        for (end = begin; end < last && rows[end].P == rows[begin].P && rows[end].kind == rows[begin].kind;)
            end++;
        if (rows[begin].kind == HRUN_ROW_SHARED)
            continue;
        data = (struct hrun_fit_data){ terms, rows + begin, end - begin, 0, job->x + begin * (size_t)terms->n };
        if (hrun_fit_family(job, "nt", rows[begin].P, &data, &record, err))
            return -1;
        if (record && *ref < 0)
            *ref = job->models->n - 1;
    }
    return 0;
}

/* 1 if all rows have the same P, else 0. */
static int one_count(const struct hrun_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (rows[i].P != rows[0].P)
            return 0;
    return 1;
}

/* Fit pt to rows[n] with P > M, which follow `at` other rows of this M; job->x has the N-T values of all rows of this
 * M. T is by N-T model `ref`, whose P is the smallest: it has the least communication, and its runs cost least. */
static int fit_pt(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, size_t at, int ref,
                  struct hrun_error *err)
{
    const struct hrun_terms *terms = &job->app->pt, *nt = &job->app->nt;
    const struct hrun_fit_data data = { terms, rows, n, 0, job->x };
    struct hrun_fit_record *record;
    autofree double *T = NULL;
    int P;

    if (terms->n == 0 || ref < 0) {
        hrun_buf_addf(&job->skipped, "M=%d, pt: %s\n", rows[0].M, terms->n == 0 ?
                      "the definition has no terms under 'p'" : "there is no nt model to build on");
        return 0;
    }
    if (one_count(rows, n)) {
        hrun_buf_addf(&job->skipped,
                      "M=%d, pt: measured at P=%d only of the P > %d, at least %d are needed to see how time "
                      "follows P\n", rows[0].M, rows[0].P, rows[0].M, COUNTS_MIN);
        return 0;
    }
    T = xcalloc(n, sizeof *T);
    P = job->models->v[ref].P;
    for (size_t i = 0; i < n; i++) {
        const double *x = job->x + (at + i) * (size_t)nt->n;

        for (int j = 0; j < nt->n; j++)
            T[i] += job->models->v[ref].k[j] * x[j];
        if (!isfinite(T[i]) || T[i] <= 0) {
            hrun_buf_addf(&job->skipped, "M=%d, pt: the nt model at P=%d predicts %g s at N=%lld\n",
                          rows[0].M, P, T[i], (long long)rows[i].N);
            return 0;
        }
    }
    if (evaluate_terms(job, HRUN_TERM_TPN, &data, T, err) || hrun_fit_family(job, "pt", 0, &data, &record, err))
        return -1;
    if (record)
        record->P = P;
    return 0;
}

/* Fit npt to rows with P > M, and to rows that other sub-clusters share. */
static int fit_npt(struct hrun_fit_job *job, const struct parts *p, struct hrun_error *err)
{
    size_t before = p->alone + p->single;
    const struct hrun_fit_data data = { &job->np, p->rows + before, p->n - before, p->shared, job->x };
    struct hrun_fit_record *record;

    if (job->np.n == 0) {
        hrun_buf_addf(&job->skipped, "M=%d, npt: the definition has no terms under 'np'%s%s\n", p->rows[0].M,
                      job->left_out.len ? "; " : "", job->left_out.data);
        return 0;
    }
    if (evaluate_terms(job, HRUN_TERM_NP, &data, NULL, err))
        return -1;
    return hrun_fit_family(job, "npt", 0, &data, &record, err);
}

int hrun_formulas_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    struct parts p = rows_by_kind(rows, n);
    size_t first = p.alone + p.single + p.shared;
    int ref;

    if (fit_nt(job, &p, &ref, err))
        return -1;
    if (p.alone + p.single == n) {
        hrun_buf_addf(&job->skipped, "M=%d, nt, pt and npt: nothing measured with P > %d\n", rows[0].M,
                      rows[0].M);
        return 0;
    }
    if (first < n && fit_pt(job, rows + first, n - first, first, ref, err))
        return -1;
    return fit_npt(job, &p, err);
}
