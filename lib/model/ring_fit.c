/* ring_fit.c - one record of family ring; see ring_family.h for the contracts */
#include "model/ring_family.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* By number, as in ring_family.h; texts are what is stored and shown. */
enum { WORK, WORK_LN, STEPS, STEP_BYTES, FAR, FAR_BYTES, ONCE };

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

/* Less than a point has no logarithm that would slow it down. */
static double ln_points(double n)
{
    return n > 1 ? log(n) : 0;
}

void hrun_ring_terms_at(const struct hrun_ring_work *w, int far, struct hrun_ring_terms *out)
{
    *out = (struct hrun_ring_terms){
        .once = { [WORK] = w->local, [WORK_LN] = w->local * ln_points(w->n), [ONCE] = 1 },
        .step = { [WORK] = w->step, [WORK_LN] = w->step * ln_points(w->n), [STEPS] = 1, [STEP_BYTES] = w->bytes,
                  [FAR] = far, [FAR_BYTES] = far * w->bytes },
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

size_t hrun_ring_keep(struct hrun_row *rows, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].kind != HRUN_ROW_MIXED || rows[i].P % 2)
            rows[kept++] = rows[i];
    return kept;
}

static int evaluate(const struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    for (size_t i = 0; i < n; i++) {
        double steps = hrun_ring_run_steps(rows[i].P, rows[i].M), *x = job->x + i * HRUN_RING_TERMS;
        struct hrun_ring_terms t;
        struct hrun_ring_work w;

        if (hrun_app_ring_work(job->app, rows[i].N, rows[i].P, &w, err))
            return -1;
        hrun_ring_terms_at(&w, rows[i].P > rows[i].M, &t);
        for (int j = 0; j < HRUN_RING_TERMS; j++)
            x[j] = t.once[j] + steps * t.step[j];
    }
    return 0;
}

int hrun_fit_ring(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    struct hrun_term v[HRUN_RING_TERMS] = { { NULL, NULL } };
    const struct hrun_terms terms = { v, HRUN_RING_TERMS };
    struct hrun_fit_record *record;

    for (int j = 0; j < HRUN_RING_TERMS; j++) {
        v[j].text = (char *)(uintptr_t)texts[j];   /* it is copied, never written */
        job->may[j] = j == WORK_LN;
    }
    return evaluate(job, rows, n, err) ||
           hrun_fit_family(job, "ring", 0, &terms, job->x, rows, n, 0, &record, err) ? -1 : 0;
}
