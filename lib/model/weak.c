/* weak.c - the family `weak`; see weak.h */
#include "model/weak.h"

#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of non-negative least squares a coefficient of either sign is two columns, one the negative of the other. */
enum { COLUMNS = HRUN_WEAK_TERMS + 3 };
static const int twin[COLUMNS - HRUN_WEAK_TERMS] = { HRUN_WEAK_FIXED, HRUN_WEAK_ALPHA, HRUN_WEAK_GAMMA };

const char *const hrun_weak_terms[HRUN_WEAK_TERMS] = { "W", "1", "[P>1]", "[P>1]*log2(P)", "[P>1]*W" };

void hrun_weak_values(int np, double work, double *x)
{
    int many = np > 1;

    x[HRUN_WEAK_WORK] = work;
    x[HRUN_WEAK_FIXED] = 1;
    x[HRUN_WEAK_ALPHA] = many;
    x[HRUN_WEAK_LOG] = many ? log2(np) : 0;
    x[HRUN_WEAK_GAMMA] = many ? work : 0;
}

double hrun_weak_time(const double *k, int np, double work)
{
    double x[HRUN_WEAK_TERMS], sum = 0;

    hrun_weak_values(np, work, x);
    for (int j = 0; j < HRUN_WEAK_TERMS; j++)
        sum += k[j] * x[j];
    return sum;
}

/* ------------------------------------------------------------------ as in the paper */

static int run_order(const void *pa, const void *pb)
{
    const struct hrun_weak_run *a = pa, *b = pb;

    return a->np != b->np ? (a->np > b->np) - (a->np < b->np) : (a->work > b->work) - (a->work < b->work);
}

int hrun_weak_paper(const struct hrun_weak_run *runs, size_t n, double *k, struct hrun_error *err)
{
    struct hrun_weak_run v[6];
    double half, full, comp[2], alpha[2], gamma[2];
    int good = n == 6;

    if (good) {
        memcpy(v, runs, sizeof v);
        qsort(v, 6, sizeof *v, run_order);
    }
    for (int i = 0; i < 6 && good; i++)
        good = v[i].np == v[i / 2 * 2].np && v[i].work == v[i % 2].work && v[i].work > 0;
    if (!good || v[0].np != 1 || v[2].np == 1 || v[4].np == v[2].np || v[0].work == v[1].work)
        return hrun_fail(err, HRUN_EINVAL, "paper 001 takes six runs: on 1, 4 and 8 processes (or two other numbers) "
                         "with two amounts of work for each process; these are others");
    half = v[0].work;
    full = v[1].work;
    comp[0] = v[0].time_s;                                             /* step 1 */
    comp[1] = v[1].time_s;
    for (int j = 0; j < 2; j++) {
        const struct hrun_weak_run *r = &v[2 + 2 * j];
        double comm[2] = { r[0].time_s - comp[0], r[1].time_s - comp[1] }; /* step 2 */

        gamma[j] = (comm[1] - comm[0]) / (full - half);                /* step 3 */
        alpha[j] = comm[1] - gamma[j] * full;
    }
    k[HRUN_WEAK_LOG] = (alpha[1] - alpha[0]) / (log2(v[4].np) - log2(v[2].np));  /* step 4 */
    k[HRUN_WEAK_ALPHA] = alpha[1] - k[HRUN_WEAK_LOG] * log2(v[4].np);
    k[HRUN_WEAK_GAMMA] = gamma[1];                                     /* step 5 */
    k[HRUN_WEAK_WORK] = (comp[1] - comp[0]) / (full - half);           /* step 6, at any work */
    k[HRUN_WEAK_FIXED] = comp[1] - k[HRUN_WEAK_WORK] * full;
    return 0;
}

/* ------------------------------------------------------------------ all runs */

static int check_runs(const struct hrun_weak_run *runs, size_t n, struct hrun_error *err)
{
    int alone = 0, together = 0, works = 0;

    for (size_t i = 0; i < n; i++) {
        const struct hrun_weak_run *r = &runs[i];

        if (r->np < 1 || !(r->work > 0) || !isfinite(r->work) || !(r->time_s > 0) || !isfinite(r->time_s))
            return hrun_fail(err, HRUN_EINVAL, "a run of %d processes with %g rows each takes %g s: all must be above "
                             "0", r->np, r->work, r->time_s);
        alone |= r->np == 1;
        together |= r->np > 1;
        works |= r->work != runs[0].work;
    }
    if (alone && together && works)
        return 0;
    return hrun_fail(err, HRUN_ENODATA, "%s", !alone ? "nothing measured on one process with all PEs of its host loaded"
                     : !together ? "nothing measured on several processes"
                     : "measured with one amount of work for each process, two are needed");
}

/* The rows of the problem into x[n by COLUMNS], y and w. */
static void fill_rows(const struct hrun_weak_run *runs, size_t n, double sigma_abs_s, double sigma_rel, double *x,
                      double *y, double *w)
{
    for (size_t i = 0; i < n; i++, x += COLUMNS) {
        hrun_weak_values(runs[i].np, runs[i].work, x);
        for (int j = HRUN_WEAK_TERMS; j < COLUMNS; j++)
            x[j] = -x[twin[j - HRUN_WEAK_TERMS]];
        y[i] = runs[i].time_s;
        w[i] = sigma_abs_s > 0 || sigma_rel > 0 ? 1 / hypot(sigma_abs_s, sigma_rel * runs[i].time_s) : 1;
    }
}

/* From the coefficients of the columns to those of the terms. */
static void join(const double *k, const double *cov, struct hrun_weak_fit *out)
{
    int of[COLUMNS];

    memset(out, 0, sizeof *out);
    for (int j = 0; j < COLUMNS; j++)
        of[j] = j < HRUN_WEAK_TERMS ? j : twin[j - HRUN_WEAK_TERMS];
    for (int i = 0; i < COLUMNS; i++) {
        int sign = i < HRUN_WEAK_TERMS ? 1 : -1;

        out->k[of[i]] += sign * k[i];
        for (int j = 0; j < COLUMNS; j++)
            out->cov[of[i] * HRUN_WEAK_TERMS + of[j]] += (j < HRUN_WEAK_TERMS ? sign : -sign) * cov[i * COLUMNS + j];
    }
}

static void judge(const struct hrun_weak_run *runs, size_t n, const struct hrun_lsq_result *r,
                  struct hrun_weak_fit *out)
{
    for (size_t i = 0; i < n; i++) {
        double off = fabs(hrun_weak_time(out->k, runs[i].np, runs[i].work) / runs[i].time_s - 1);

        out->mean_error += off / (double)n;
        out->max_error = fmax(out->max_error, off);
    }
    out->dof = (int)(n - r->rank);
    out->s2 = out->dof ? r->rss / out->dof : 1;
}

int hrun_weak_fit(const struct hrun_weak_run *runs, size_t n, double sigma_abs_s, double sigma_rel,
                  struct hrun_weak_fit *out, struct hrun_error *err)
{
    double k[COLUMNS], cov[COLUMNS * COLUMNS];
    struct hrun_lsq_result r = { .k = k, .cov = cov };
    struct hrun_lsq problem;
    double *x;
    int rc;

    if (check_runs(runs, n, err))
        return -1;
    x = calloc(n * (COLUMNS + 2), sizeof *x);
    if (!x)
        return hrun_fail_nomem(err);
    problem = (struct hrun_lsq) { x, x + n * COLUMNS, x + n * (COLUMNS + 1), n, COLUMNS };
    fill_rows(runs, n, sigma_abs_s, sigma_rel, x, x + n * COLUMNS, x + n * (COLUMNS + 1));
    rc = hrun_fit_nnls(&problem, &r, err);
    if (!rc) {
        join(k, cov, out);
        judge(runs, n, &r, out);
    }
    free(x);
    return rc;
}
