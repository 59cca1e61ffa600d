/* weak_fit.c - the family weak: measurements -> records; see weak.h */
#include "base/alloc.h"
#include "model/families/weak.h"
#include "model/fit_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For non-negative least squares, a coefficient of either sign has two columns, one the negative of the other. */
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

/* ------------------------------------------------------------------ the steps of the paper */

static int weak_run_order(const void *pa, const void *pb)
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
        qsort(v, 6, sizeof *v, weak_run_order);
    }
    for (int i = 0; i < 6 && good; i++)
        good = v[i].np == v[i / 2 * 2].np && v[i].work == v[i % 2].work && v[i].work > 0;
    if (!good || v[0].np != 1 || v[2].np == 1 || v[4].np == v[2].np || v[0].work == v[1].work)
        return hrun_fail(err, HRUN_EINVAL, "method ls needs exactly six runs: on 1, 4 and 8 processes (or two other "
                         "numbers), each with the same two amounts of work per process");
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

/* Set coefficients and covariance of the terms from k and cov of the columns. */
static void join_columns(const double *k, const double *cov, struct hrun_weak_fit *out)
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

static void set_errors(struct hrun_weak_fit *fit, const struct hrun_weak_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double off = fabs(hrun_weak_time(fit->k, runs[i].np, runs[i].work) / runs[i].time_s - 1);

        fit->mean_error += off / (double)n;
        fit->max_error = fmax(fit->max_error, off);
    }
}

int hrun_weak_fit(const struct hrun_weak_run *runs, size_t n, double sigma_abs_s, double sigma_rel,
                  struct hrun_weak_fit *out, struct hrun_error *err)
{
    double k[COLUMNS], cov[COLUMNS * COLUMNS];
    struct hrun_lsq_result r = { .k = k, .cov = cov };
    autofree double *x = xcalloc(n * (COLUMNS + 2), sizeof *x);
    double *y = x + n * COLUMNS, *w = y + n;
    struct hrun_lsq problem = { x, y, w, n, COLUMNS };

    if (check_runs(runs, n, err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        double *row = x + i * COLUMNS;

        hrun_weak_values(runs[i].np, runs[i].work, row);
        for (int j = HRUN_WEAK_TERMS; j < COLUMNS; j++)
            row[j] = -row[twin[j - HRUN_WEAK_TERMS]];
        y[i] = runs[i].time_s;
        w[i] = sigma_abs_s > 0 || sigma_rel > 0 ? 1 / hypot(sigma_abs_s, sigma_rel * runs[i].time_s) : 1;
    }
    if (hrun_fit_nnls(&problem, &r, err))
        return -1;
    join_columns(k, cov, out);
    set_errors(out, runs, n);
    out->dof = (int)(n - r.rank);
    out->s2 = out->dof ? r.rss / out->dof : 1;
    return 0;
}

/* ------------------------------------------------------------------ rows */

/* Only runs on this sub-cluster alone with a known work are fitted. */
size_t hrun_weak_keep(struct hrun_row *rows, size_t n, const struct hrun_fit_options *options)
{
    size_t kept = 0;

    (void)options;
    for (size_t i = 0; i < n; i++)
        if ((rows[i].kind == HRUN_ROW_SINGLE || rows[i].kind == HRUN_ROW_OWN) && rows[i].sample &&
            rows[i].sample->work > 0)
            rows[kept++] = rows[i];
    return kept;
}

/* Copy the runs of size N to runs[]. If runs of one process on loaded hosts exist, those on idle hosts are left out.
 * Result: number of runs. */
static size_t collect_weak_runs(const struct hrun_row *rows, size_t n, int64_t N, struct hrun_weak_run *runs)
{
    size_t count = 0;
    int loaded = 0;

    for (size_t i = 0; i < n; i++)
        loaded |= rows[i].N == N && rows[i].sample->copies;
    for (size_t i = 0; i < n; i++)
        if (rows[i].N == N && (rows[i].P > 1 || rows[i].sample->copies || !loaded))
            runs[count++] = (struct hrun_weak_run){ rows[i].sample->copies ? 1 : rows[i].P, rows[i].sample->work,
                                                    rows[i].T };
    return count;
}

/* Replace runs of equal processes and work by one with their mean time, in place. Result: the number of runs left. */
static size_t average(struct hrun_weak_run *v, size_t n)
{
    size_t kept = 0, end;

    if (n)
        qsort(v, n, sizeof *v, weak_run_order);
    for (size_t i = 0; i < n; i = end) {
        double sum = 0;

        for (end = i; end < n && !weak_run_order(&v[end], &v[i]); end++)
            sum += v[end].time_s;
        v[kept++] = (struct hrun_weak_run){ v[i].np, v[i].work, sum / (double)(end - i) };
    }
    return kept;
}

/* ------------------------------------------------------------------ a record */

/* Fill a record from a fit. */
static void fill_weak_record(const struct hrun_fit_job *job, const struct hrun_weak_fit *fit, const char *note,
                       struct hrun_fit_record *r)
{
    enum { K = HRUN_WEAK_TERMS };

    r->family = xstrdup("weak");
    r->method = xstrdup(hrun_method_name(job->options.method));
    r->note = xstrdup(note);
    r->terms = xcalloc(K, sizeof *r->terms);
    r->k = xcalloc(K, sizeof *r->k);
    r->cov = xcalloc(K * K, sizeof *r->cov);
    for (r->nterms = 0; r->nterms < K; r->nterms++)
        r->terms[r->nterms] = xstrdup(hrun_weak_terms[r->nterms]);
    memcpy(r->k, fit->k, sizeof fit->k);
    memcpy(r->cov, fit->cov, sizeof fit->cov);
    r->s2 = fit->s2;
    r->dof = fit->dof;
    r->train_mean = fit->mean_error;
    r->train_max = fit->max_error;
    r->sigma_abs_s = job->options.sigma_abs_s;
    r->sigma_rel = job->options.sigma_rel;
}

/* Fit by the paper's steps. */
static int fit_weak_by_steps(struct hrun_weak_run *runs, size_t n, struct hrun_weak_fit *fit, struct hrun_error *err)
{
    size_t six = average(runs, n);

    memset(fit, 0, sizeof *fit);
    fit->s2 = 1;
    if (hrun_weak_paper(runs, six, fit->k, err)) {
        if (err && err->code == HRUN_EINVAL)
            err->code = HRUN_ENODATA;
        return -1;
    }
    set_errors(fit, runs, six);
    return 0;
}

/* Set the range of processes and the number of runs in r, and the range of work in *least and *most. */
static void weak_range_of(const struct hrun_weak_run *runs, size_t n, struct hrun_fit_record *r, double *least,
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

/* Fit the runs of one size; may change runs[]. */
static int fit_weak_size(struct hrun_fit_job *job, int M, int64_t N, struct hrun_weak_run *runs, size_t n,
                         struct hrun_error *err)
{
    struct hrun_fit_record range = { 0 }, *r;
    struct hrun_error why = { 0 };
    struct hrun_weak_fit fit;
    double least, most;
    char note[128];

    if (!n)
        return 0;
    weak_range_of(runs, n, &range, &least, &most);
    if (job->options.method == HRUN_METHOD_LS ? fit_weak_by_steps(runs, n, &fit, &why)
        : hrun_weak_fit(runs, n, job->options.sigma_abs_s, job->options.sigma_rel, &fit, &why)) {
        if (why.code != HRUN_ENODATA) {
            hrun_fail_as(err, &why);
            return hrun_fail_prefix(err, "M=%d, N=%lld, weak", M, (long long)N);
        }
        hrun_buf_addf(&job->skipped, "M=%d, N=%lld, weak: %s\n", M, (long long)N, why.text);
        return 0;
    }
    snprintf(note, sizeof note, "measured with %.10g to %.10g rows on each process", least, most);
    r = hrun_fit_add_record(job);
    fill_weak_record(job, &fit, note, r);
    r->M = M;
    r->nmin = r->nmax = N;
    r->pmin = range.pmin;
    r->pmax = range.pmax;
    r->npoints = range.npoints;
    job->models->n++;
    return 0;
}

int hrun_weak_fit_rows(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err)
{
    autofree struct hrun_weak_run *runs = xcalloc(n, sizeof *runs);

    for (size_t i = 0; i < n; i++) {
        int before = 0, records = job->models->n;

        for (size_t j = 0; j < i; j++)
            before |= rows[j].N == rows[i].N;
        if (before)
            continue;
        if (fit_weak_size(job, rows[i].M, rows[i].N, runs, collect_weak_runs(rows, n, rows[i].N, runs), err))
            return -1;
        for (size_t j = i; j < n; j++)
            if (rows[j].N == rows[i].N && job->models->n > records)
                job->used[&rows[j] - job->rows] = 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ points to measure */

/* Numbers of PEs to measure. One process per PE: FEW and MORE, as in the paper. Several: FEW_PES, the fewest with a PE
 * between two others, and MORE_PES, enough for a difference in the logarithm. */
enum { FEW = 4, MORE = 8, FEW_PES = 3, MORE_PES = 5 };

/* Set the two numbers of PEs; 0: none. */
static void choose_pes(int npes, int m, int *few, int *more)
{
    int want_few = m > 1 ? FEW_PES : FEW, want_more = m > 1 ? MORE_PES : MORE;

    *more = npes < want_more ? npes : want_more;
    *few = want_few < *more ? want_few : *more > 2 ? (*more + 1) / 2 : 0;
    if (*more < 2)
        *more = m > 1 ? 1 : 0;   /* at least one PE with several processes */
}

int hrun_weak_points(const struct hrun_app *app, int64_t N, const struct hrun_family_place *place,
                     struct hrun_family_point *v, struct hrun_error *err)
{
    int64_t own = (int64_t)place->npes * place->M, P = place->P && place->P < own ? place->P : own;
    int64_t units, unit, full, most;
    int pes[3] = { place->npes, 0, 0 }, n = 0;

    if (hrun_app_mesh(app, N, &units, &unit, err))
        return -1;
    full = (units + P - 1) / P;
    most = hrun_app_units_fitting(app, N, P, units, place->memory_bytes, err);
    if (most < 0)
        return -1;
    if (most < 2)
        return HRUN_POINTS_MEMORY;
    full = full < most ? full : most;
    if (full < 2 || units < 2)
        return HRUN_POINTS_RULE;
    choose_pes(place->npes, place->M, &pes[1], &pes[2]);
    for (int k = 0; k < 3; k++)
        for (int half = 0; half < 2 && pes[k]; half++)
            v[n++] = (struct hrun_family_point){ pes[k], (double)((half ? full / 2 : full) * unit), k == 0 };
    return n;
}
