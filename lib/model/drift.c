/* drift.c - detect that machines have changed since they were measured; see corrections.h */
#include "model/correct.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CUSUM tests of z = (r - expected) / deviation and of -z. A sum grows by z - SLACK, with |z| at most LIMIT: one glitch
 * adds 1.75. A sum of ALARM is an alarm: 5 runs that are far off, or 9 that are off by 1.7 deviations. Values are from
 * simulation (tests/unit/test_model_drift.c): with 2 % noise and 5 % glitches of up to three times the time, about one
 * of 100 histories of 400 runs has an alarm. The sum is at most CEILING, so that few normal runs end an alarm. */
static const double SLACK = 0.75, LIMIT = 2.5, ALARM = 8.75, CEILING = 10.5;

/* Normal distribution: median of |x| over the standard deviation; variance of a median over that of a mean. */
static const double MAD = 0.6744897501960817, MEDIAN = 1.5707963267948966;

/* The expected r of a cell is the median of its first FIRST runs, which a glitch does not move; later runs change it as
 * in a mean. With at least PAIRS pairs of runs the scatter is estimated, else it is assumed. */
enum { FIRST = 8, PAIRS = 8 };

/* Least number of runs of a drift. */
enum { LEAST = 5 };

/* One configuration at one N. */
struct cell {
    int64_t N;
    int config;
    double first[FIRST];    /* r of the first runs, sorted */
    int n;                  /* number of runs in m */
    double m, var;          /* mean and variance of the expected r */
    double last;            /* r of the last run, if `seen`; see find_scatter */
    int seen;
};

struct cusum {
    double up, down;
    int up_runs, down_runs; /* number of runs since the sum was 0 */
};

struct drift {
    const struct hrun_residual *v;
    size_t n;
    struct cell *cells;     /* in order of configuration and N */
    size_t ncells;
    size_t *cell;           /* n: cell of each run */
    double *e;              /* n: r - expected, of tested runs */
    double scatter;         /* standard deviation of runs, estimated; 0: too few pairs */
    double sum[2], weight[2]; /* sum of squares of r of first runs, its weight; [1]: on several sub-clusters */
    struct cusum *sums;     /* of each sub-cluster */
};

static int drift_cell_order(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;

    return x->config != y->config ? (x->config > y->config) - (x->config < y->config) : (x->N > y->N) - (x->N < y->N);
}

static void make_cells(struct drift *d)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->n; i++)
        d->cells[i] = (struct cell) { .N = d->v[i].N, .config = d->v[i].config };
    if (d->n)
        qsort(d->cells, d->n, sizeof *d->cells, drift_cell_order);
    for (size_t i = 0; i < d->n; i++)
        if (!kept || drift_cell_order(&d->cells[kept - 1], &d->cells[i]))
            d->cells[kept++] = d->cells[i];
    d->ncells = kept;
    for (size_t i = 0; i < d->n; i++) {
        struct cell key = { .N = d->v[i].N, .config = d->v[i].config };
        const struct cell *found = bsearch(&key, d->cells, kept, sizeof key, drift_cell_order);

        d->cell[i] = (size_t)(found - d->cells);
    }
}

/* Estimate the scatter from the median difference of consecutive runs of a cell, which neither a drift nor a glitch
 * moves. Scratch: d->e. */
static void find_scatter(struct drift *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        struct cell *c = &d->cells[d->cell[i]];

        if (c->seen)
            d->e[n++] = fabs(d->v[i].r - c->last);
        c->last = d->v[i].r;
        c->seen = 1;
    }
    if (n < PAIRS)
        return;
    hrun_sort(d->e, n);
    d->scatter = d->e[n / 2] / (MAD * sqrt(2));
}

/* Set m and var of a cell without runs from the cell with the nearest N of its configuration, if there is one. */
static void expect_by_neighbour(const struct drift *d, struct cell *c, int mixed)
{
    const struct cell *near = NULL;
    double prior = d->sum[mixed] / d->weight[mixed], x = log((double)c->N), same;

    for (const struct cell *at = c; at > d->cells && at[-1].config == c->config && !near; at--)
        near = at[-1].n ? &at[-1] : NULL;
    for (const struct cell *at = c + 1; at < d->cells + d->ncells && at->config == c->config; at++) {
        if (!at->n)
            continue;
        if (!near || fabs(log((double)at->N) - x) < fabs(log((double)near->N) - x))
            near = at;
        break;
    }
    same = near ? exp(-fabs(log((double)near->N) - x) / HRUN_CORRECT_LENGTH) : 0;
    c->m = near ? same * near->m : 0;
    c->var = prior * (1 - same * same) + (near ? same * same * near->var : 0);
}

/* Update m and var of a cell by a run. */
static void add_residual(struct drift *d, struct cell *c, const struct hrun_residual *r, double deviation,
                         double scatter)
{
    double bound = LIMIT * deviation, e = fmax(-bound, fmin(bound, r->r - c->m)), var = scatter * scatter, middle;
    int i = c->n;

    if (!c->n) {
        d->sum[r->mixed] += fmax(e * e - var, 0);
        d->weight[r->mixed]++;
    }
    if (c->n >= FIRST) {
        c->m += e / (c->n + 1);
        c->var = var / ++c->n;
        return;
    }
    for (; i > 0 && c->first[i - 1] > r->r; i--)
        c->first[i] = c->first[i - 1];
    c->first[i] = r->r;
    c->n++;
    middle = c->first[(c->n - 1) / 2];       /* the lower of two: glitches make runs longer */
    expect_by_neighbour(d, c, r->mixed);    /* the prior */
    var *= MEDIAN / c->n;
    c->m = (c->m * var + middle * c->var) / (c->var + var);
    c->var = c->var * var / (c->var + var);
}

static void add_cusum_step(double *sum, int *runs, double step)
{
    *sum = fmin(*sum + step, CEILING);
    *runs = *sum > 0 ? *runs + 1 : 0;
    *sum = fmax(*sum, 0);
}

static void test_runs(struct drift *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct hrun_residual *r = &d->v[i];
        struct cell *c = &d->cells[d->cell[i]];
        struct cusum *s = &d->sums[r->sub];
        double scatter = fmax(r->sigma, d->scatter), deviation, z;

        if (!c->n)
            expect_by_neighbour(d, c, r->mixed);
        deviation = sqrt(c->var + scatter * scatter);
        d->e[i] = r->r - c->m;
        if (r->real) {
            z = fmax(-LIMIT, fmin(LIMIT, d->e[i] / deviation));
            add_cusum_step(&s->up, &s->up_runs, z - SLACK);
            add_cusum_step(&s->down, &s->down_runs, -z - SLACK);
        }
        /* Runs that may show a drift do not change the expectation. */
        if (fmax(s->up, s->down) <= ALARM / 2)
            add_residual(d, c, r, deviation, scatter);
    }
}

/* Find the runs since the change among the last `runs` tested runs that `sub` limits: the last n for which
 * |median| sqrt(n) is largest, with n >= LEAST so that glitches do not decide. Scratch: space[n]. */
static void locate_change(const struct drift *d, int sub, int runs, double *space, struct hrun_drift *out)
{
    double most = -1;
    int n = 0;

    for (size_t i = d->n; i-- > 0 && n < runs; ) {
        double middle;
        int at = n;

        if (!d->v[i].real || d->v[i].sub != sub)
            continue;
        for (; at > 0 && space[at - 1] > d->e[i]; at--)
            space[at] = space[at - 1];
        space[at] = d->e[i];
        middle = space[n++ / 2];
        if (fabs(middle) * sqrt(n) <= most || (n < LEAST && n < runs))
            continue;
        most = fabs(middle) * sqrt(n);
        out->runs = n;
        out->factor = exp(middle);
        memcpy(out->since, d->v[i].date, sizeof out->since);
    }
}

void hrun_drift_find(const struct hrun_residual *v, size_t n, int nsubs, struct hrun_drift *out)
{
    autofree struct cell *cells = xcalloc(n + 1, sizeof *cells);
    autofree size_t *cell = xcalloc(n + 1, sizeof *cell);
    autofree double *e = xcalloc(2 * n + 1, sizeof *e);
    autofree struct cusum *sums = xcalloc((size_t)nsubs + 1, sizeof *sums);
    struct drift d = { .v = v, .n = n, .cells = cells, .cell = cell, .e = e, .sums = sums };

    memset(out, 0, (size_t)nsubs * sizeof *out);
    for (int m = 0; m < 2; m++) {
        d.sum[m] = HRUN_CORRECT_WEIGHT * HRUN_CORRECT_SD * HRUN_CORRECT_SD;
        d.weight[m] = HRUN_CORRECT_WEIGHT;
    }
    make_cells(&d);
    find_scatter(&d);
    test_runs(&d);
    for (int i = 0; i < nsubs; i++) {
        const struct cusum *s = &d.sums[i];

        if (fmax(s->up, s->down) >= ALARM)
            locate_change(&d, i, s->up > s->down ? s->up_runs : s->down_runs, e + n, &out[i]);
    }
}
