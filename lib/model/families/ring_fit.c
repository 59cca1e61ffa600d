/* ring_fit.c - the family ring: measurements -> records; see ring.h */
#include "model/families/ring.h"
#include "model/fit_job.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Indices of the terms. Their texts are part of records and reports. */
enum { WORK, FAR, FAR_BYTES, STEPS, STEP_BYTES, ONCE, WORK_LN };

/* Significance level of the F test for a further term. */
static const double CHANCE = 0.01;

static const char *const texts[HRUN_RING_TERMS] = {
    [WORK] = "work", [WORK_LN] = "work*ln(n)", [STEPS] = "steps", [STEP_BYTES] = "steps*bytes", [FAR] = "far*steps",
    [FAR_BYTES] = "far*steps*bytes", [ONCE] = "1",
};

int hrun_ring_term(const char *text)
{
    for (int j = 0; j < HRUN_RING_TERMS; j++)
        if (!strcmp(texts[j], text))
            return j;
    return -1;
}

int hrun_ring_is_far(int term)
{
    return term == FAR || term == FAR_BYTES;
}

/* ln(n), 0 for less than one point. */
static double ln_points(double n)
{
    return n > 1 ? log(n) : 0;
}

void hrun_ring_terms_at(const struct hrun_ring_work *w, int P, int M, struct hrun_ring_terms *out)
{
    const double far = P > M, inner = P > M ? (M - 1.0) / M : 1;

    *out = (struct hrun_ring_terms){
        .once = { [WORK] = w->local, [WORK_LN] = w->local * ln_points(w->n), [ONCE] = 1 },
        .step = { [WORK] = w->step, [WORK_LN] = w->step * ln_points(w->n), [STEPS] = inner,
                  [STEP_BYTES] = inner * w->bytes, [FAR] = far, [FAR_BYTES] = far * w->bytes },
    };
}

double hrun_ring_run_steps(int P, int M)
{
    return P == M ? (P - 1) / 2.0 : P / 2;
}

double hrun_ring_rate(const double *k, double n)
{
    return k[WORK] + k[WORK_LN] * ln_points(n);
}

size_t hrun_ring_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options)
{
    size_t kept = 0, end;

    for (size_t first = 0; first < n; first = end) {
        const struct hrun_row at = rows[first];
        double middle, far = INFINITY;

        for (end = first; end < n && rows[end].M == at.M && rows[end].kind == at.kind && rows[end].P == at.P &&
                          rows[end].N == at.N;)
            end++;
        if (at.kind == HRUN_ROW_MIXED && at.P % 2 == 0)
            continue;
        middle = (rows[(first + end - 1) / 2].T + rows[(first + end) / 2].T) / 2;   /* they are in order of time */
        if (options->robust && end - first > 2)
            far = HRUN_SUSPICIOUS * hypot(options->sigma_abs_s, options->sigma_rel * middle);
        for (size_t i = first; i < end; i++)
            if (!(fabs(rows[i].T - middle) > far && far > 0))
                rows[kept++] = rows[i];
    }
    return kept;
}

/* Set job->x to the values of the first `terms` terms at rows[n], row-major. */
static int evaluate_ring_terms(const struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, int terms,
                               struct hrun_error *err)
{
    for (size_t i = 0; i < n; i++) {
        double steps = hrun_ring_run_steps(rows[i].P, rows[i].M), *x = job->x + i * (size_t)terms;
        struct hrun_ring_terms t;
        struct hrun_ring_work w;

        if (hrun_app_ring_work(job->app, rows[i].N, rows[i].P, &w, err))
            return -1;
        hrun_ring_terms_at(&w, rows[i].P, rows[i].M, &t);
        for (int j = 0; j < terms; j++)
            x[j] = t.once[j] + steps * t.step[j];
    }
    return 0;
}

/* Fit the first `count` terms. *record: NULL if there are too few measurements. */
static int fit_ring_terms(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, int count,
                          struct hrun_fit_record **record, struct hrun_error *err)
{
    struct hrun_term v[HRUN_RING_TERMS] = { { NULL, NULL } };
    const struct hrun_terms terms = { v, count };

    for (int j = 0; j < count; j++)
        v[j].text = (char *)(uintptr_t)texts[j];   /* the text is copied and not changed */
    return evaluate_ring_terms(job, rows, n, count, err) ||
           hrun_fit_family(job, "ring", 0, &(struct hrun_fit_data){ &terms, rows, n, 0, job->x }, record, err) ? -1 : 0;
}

/* 1 if one more term is significant by an F test, else 0. */
static int is_significant(double s2, int dof, const struct hrun_fit_record *with)
{
    double more = s2 * dof - with->s2 * with->dof;

    return dof > with->dof && with->dof > 0 && with->s2 > 0 && more > 0 &&
           hrun_fit_f_tail(more / (dof - with->dof) / with->s2, dof - with->dof, with->dof) < CHANCE;
}

/* 1 if there are runs on this sub-cluster alone, or at two sizes, else 0: mixed runs of one size do not reveal which
 * sub-cluster limits them. */
static int has_enough_groups(const struct hrun_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind != HRUN_ROW_MIXED || rows[i].N != rows[0].N)
            return 1;
    return 0;
}

int hrun_ring_fit(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    struct hrun_fit_record *record, *with, kept;

    if (!has_enough_groups(rows, n)) {
        hrun_buf_addf(&job->skipped, "M=%d, ring: measured with others only, at N=%lld alone\n", rows[0].M,
                      (long long)rows[0].N);
        return 0;
    }
    if (fit_ring_terms(job, rows, n, WORK_LN, &record, err))
        return -1;
    if (!record)
        return 0;
    kept = *record;
    if (fit_ring_terms(job, rows, n, HRUN_RING_TERMS, &with, err))
        return -1;
    if (!with)
        return 0;
    /* Keep one of the two records, which are the last ones of job->models. */
    if (is_significant(kept.s2, kept.dof, with)) {
        with[-1] = *with;
        *with = kept;
    }
    hrun_fit_record_release(with);
    job->models->n--;
    return 0;
}
