/* test_fit_sparse.c - sparse non-negative least squares against the dense solver and the conditions of optimality */
#include "fit/fit.h"
#include "model.h"
#include "fixture.h"
#include "unit/nomem.h"

#include <float.h>

enum { NMAX = 160, PMAX = 48, NSMALL = 12, PSMALL = 4 };

/* The same system twice. */
struct problem {
    double x[NMAX * PMAX], y[NMAX], w[NMAX], value[NMAX * PMAX];
    size_t first[NMAX + 1], column[NMAX * PMAX];
    struct hrun_lsq dense;
    struct hrun_sparse sparse;
};

enum kind { PAIRS, POSITIVE, DEFICIENT, ZEROES, WIDE, SCALED, NKINDS };
static const char *const kind_names[NKINDS] = { "rows of hosts and pairs", "positive entries", "columns that depend",
                                                "zero columns", "fewer rows than columns",
                                                "columns and rows over ten decades" };

/* Is there one optimum? */
static int unique(enum kind kind)
{
    return kind == PAIRS || kind == POSITIVE || kind == SCALED || kind == ZEROES;
}

static void take(struct problem *m)
{
    size_t at = 0;

    for (size_t i = 0; i < m->dense.n; i++) {
        m->first[i] = at;
        for (size_t j = 0; j < m->dense.p; j++)
            if (m->x[i * m->dense.p + j] != 0) {
                m->column[at] = j;
                m->value[at++] = m->x[i * m->dense.p + j];
            }
    }
    m->first[m->dense.n] = at;
    m->sparse = (struct hrun_sparse){ m->dense.n, m->dense.p, m->first, m->column, m->value, m->y, m->w };
}

static void make(struct problem *m, enum kind kind, uint64_t *seed)
{
    size_t p = (size_t)rnd_int(seed, 2, PMAX), n = p + (size_t)rnd_int(seed, 5, NMAX - PMAX);

    n = kind == WIDE ? p / 2 + 1 : n;
    m->dense = (struct hrun_lsq){ m->x, m->y, m->w, n, p };
    memset(m->x, 0, sizeof m->x);
    for (size_t i = 0; i < n; i++) {
        double *row = m->x + i * p;
        int entries = rnd_int(seed, 1, 6);

        for (int e = 0; e < entries; e++) {
            double v = rnd_normal(seed);

            row[rnd_int(seed, 0, e < 2 ? (int)p - 1 : (int)p / 4)] = kind == POSITIVE ? fabs(v) : v;
        }
        row[i % p] += 2;       /* none is without a row */
        m->y[i] = rnd_normal(seed) + 0.5;
        m->w[i] = 0.1 + rnd(seed);
        if (kind == SCALED)
            m->w[i] *= pow(10, rnd_int(seed, -1, 1));
    }
    for (size_t j = 0; j < p; j++) {
        double f = kind == SCALED ? pow(10, rnd_int(seed, -10, 10)) : 1;

        f = kind == ZEROES && j % 3 == 1 ? 0 : f;
        for (size_t i = 0; i < n; i++) {
            double *row = m->x + i * p;

            row[j] *= f;
            if (kind == DEFICIENT && j % 4 == 3)
                row[j] = row[j - 1] - 2 * row[j - 2];
        }
    }
    take(m);
}

static double allowance(const struct hrun_lsq *q, const double *k)
{
    double size = 0, yn = 0;

    for (size_t j = 0; j < q->p; j++) {
        double norm = 0;

        for (size_t i = 0; i < q->n; i++)
            norm = hypot(norm, q->x[i * q->p + j] * q->w[i]);
        size += norm * k[j];
    }
    for (size_t i = 0; i < q->n; i++)
        yn = hypot(yn, q->y[i] * q->w[i]);
    return 2 * (double)(q->n > q->p ? q->n : q->p) * DBL_EPSILON * (1 + (yn > 0 ? size / yn : 0));
}

static double size_of_y(const struct problem *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->dense.n; i++)
        sum = hypot(sum, m->y[i] * m->w[i]);
    return sum;
}

/* Starts: none, anything, everything, the solution, one column. */
enum { STARTS = 5 };

static const double *start_of(int which, const double *k, size_t p, double *room, uint64_t *seed)
{
    for (size_t j = 0; j < p; j++) {
        double chance = rnd_int(seed, 0, 1) ? pow(10, 4 * rnd_normal(seed)) : 0;

        room[j] = which == 1 ? chance : which == 2 ? 1 : which == 3 ? k[j] : j == 0;
    }
    return which ? room : NULL;
}

static void test_dense(void)
{
    static struct problem m;
    double k[PMAX], mine[PMAX], room[PMAX];

    for (int kind = 0; kind < NKINDS; kind++) {
        uint64_t seed = 300 + (uint64_t)kind;
        double worst = 0, off = 0, rss = 0;
        size_t most = 0;
        int failed = 0, bad = 0;

        for (int t = 0; t < 300; t++) {
            struct hrun_lsq_result d = { k, NULL, 0, 0, 0 };
            struct hrun_sparse_result s = { mine, 0, 0, 0 };

            make(&m, (enum kind)kind, &seed);
            failed += hrun_fit_nnls(&m.dense, &d, NULL) != 0;
            for (int which = 0; which < STARTS; which++) {
                size_t positive = 0;
                double norm = 0, diff = 0;

                if (hrun_sparse_nnls(&m.sparse, start_of(which, k, m.dense.p, room, &seed), &s, NULL)) {
                    failed++;
                    continue;
                }
                for (size_t j = 0; j < m.dense.p; j++) {
                    double scale = 0;

                    for (size_t i = 0; i < m.dense.n; i++)
                        scale = hypot(scale, m.x[i * m.dense.p + j] * m.w[i]);
                    bad += !(mine[j] >= 0);
                    positive += mine[j] > 0;
                    norm = hypot(norm, k[j] * scale);
                    diff = hypot(diff, (mine[j] - k[j]) * scale);
                }
                bad += s.rank != positive;
                most = s.iterations > most ? s.iterations : most;
                worst = fmax(worst, fit_kkt(&m.dense, mine) / allowance(&m.dense, mine));
                rss = fmax(rss, fabs(sqrt(s.rss) - sqrt(d.rss)) / size_of_y(&m));
                off = fmax(off, unique((enum kind)kind) && norm > 0 ? diff / norm : 0);
            }
        }
        ok(!failed && !bad, "%s: solved from every start, k >= 0, and the rank is what is above 0", kind_names[kind]);
        ok(worst <= 1, "%s: Kuhn-Tucker conditions hold, worst %.2f of what rounding explains", kind_names[kind],
           worst);
        ok(rss < 1e-12, "%s: as much is left as by the dense solver: %.1e of ||y||", kind_names[kind], rss);
        if (unique((enum kind)kind))
            ok(off < 1e-12, "%s: its solution, too: %.1e", kind_names[kind], off);
        ok(most <= 6 * PMAX, "%s: at most %zu columns were entered", kind_names[kind], most);
    }
}

/* The mean square of a normal distribution cut off below 0, by the trapezium rule. */
static double integral(double mean, double sd)
{
    double zero = fmax(-mean / sd, 0), top = 0, bottom = 0;

    for (int i = 0; i <= 40000; i++) {
        double t = i * 1e-3, x = fmax(mean, 0) + (t - (mean > 0 ? 20 : 0)) * sd, z = (x - mean) / sd;
        double density = (i ? 1 : 0.5) * (x < 0 ? 0 : exp((zero * zero - z * z) / 2));

        top += x * x * density;
        bottom += density;
    }
    return top / bottom;
}

/* Variances of coefficients k[p] of a small dense system by least squares: of those in use, and with one column more
 * for each at 0. */
static void variance_by_ls(const struct hrun_lsq *q, const double *k, const double *cov, double s2, double *out)
{
    size_t p = q->p, m = 0, used[PMAX];

    for (size_t j = 0; j < p; j++) {
        out[j] = s2 * cov[j * p + j];
        if (k[j] > 0)
            used[m++] = j;
    }
    for (size_t j = 0; j < p; j++) {
        double sub[NSMALL * PSMALL], column[NSMALL], b[PSMALL], c[PSMALL], v[PSMALL * PSMALL], most = INFINITY, u;
        struct hrun_lsq along = { sub, column, q->w, q->n, m }, more = { sub, q->y, q->w, q->n, m + 1 };
        struct hrun_lsq_result on_used = { b, NULL, 0, 0, 0 }, full = { c, v, 0, 0, 0 };

        if (k[j] > 0)
            continue;
        for (size_t i = 0; i < q->n; i++) {
            for (size_t l = 0; l < m; l++)
                sub[i * m + l] = q->x[i * p + used[l]];
            column[i] = q->x[i * p + j];
        }
        hrun_fit_ls(&along, &on_used, NULL);
        for (size_t i = 0; i < q->n; i++) {
            for (size_t l = 0; l < m; l++)
                sub[i * (m + 1) + l] = q->x[i * p + used[l]];
            sub[i * (m + 1) + m] = column[i];
        }
        hrun_fit_ls(&more, &full, NULL);
        for (size_t l = 0; l < m; l++)
            if (b[l] > 0)
                most = fmin(most, k[used[l]] / b[l]);
        u = fmin(most, sqrt(integral(c[m], sqrt(s2 * v[m * (m + 1) + m]))));
        out[j] += u * u;
        for (size_t l = 0; l < m; l++)
            out[used[l]] += u * u * b[l] * b[l];
    }
}

static void test_variance(void)
{
    static struct problem m;
    uint64_t seed = 7;
    double worst = 0;
    int count = 0, failed = 0;

    for (int t = 0; t < 200; t++) {
        double k[PSMALL], cov[PSMALL * PSMALL], v[PSMALL], want[PSMALL], s2 = 0.1 + rnd(&seed);
        struct hrun_lsq_result d = { k, cov, 0, 0, 0 };

        m.dense = (struct hrun_lsq){ m.x, m.y, m.w, NSMALL, PSMALL };
        for (int i = 0; i < NSMALL; i++) {
            for (int j = 0; j < PSMALL; j++)
                m.x[i * PSMALL + j] = rnd(&seed) * pow(10, j);
            m.y[i] = m.x[i * PSMALL] + rnd_normal(&seed);
            m.w[i] = 0.5 + rnd(&seed);
        }
        take(&m);
        failed += hrun_fit_nnls(&m.dense, &d, NULL) || hrun_sparse_variance(&m.sparse, k, s2, v, NULL);
        if (!d.rank)
            continue;   /* y points away from all columns: least squares has nothing to compare with */
        variance_by_ls(&m.dense, k, cov, s2, want);
        for (int j = 0; j < PSMALL; j++)
            worst = fmax(worst, fabs(v[j] / want[j] - 1));
        count += d.rank < PSMALL;
    }
    ok(!failed && count > 100 && worst < 0.02, "variances are those of least squares, of %d with a column at 0 with one "
       "column more (largest difference %.2g)", count, worst);
}

/* A column at right angles to the other is told by itself; one like another may take its place, and no more. */
static void test_at_zero(void)
{
    static const double means[] = { 0, -0.5, -1, -3, -19, -21, 0.5 };
    static struct problem m;
    double k[] = { 3, 0 }, v[2];

    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double want = integral(means[i], 0.5);

        m = (struct problem){ .x = { 1, 0, 0, 2, 0, 0 }, .y = { 3, 2 * means[i], 0 }, .w = { 1, 1, 1 } };
        m.dense = (struct hrun_lsq){ m.x, m.y, m.w, 3, 2 };
        take(&m);
        ok(!hrun_sparse_variance(&m.sparse, k, 1, v, NULL) && fabs(v[1] - want) < 0.02 * want &&
           fabs(v[0] - 1) < 1e-12,
           "a coefficient of %g +- 0.5 has the mean square of what is above 0, %.4g (%.4g by integration)", means[i],
           v[1], want);
    }
    m = (struct problem){ .x = { 1, 2, 2, 4, 3, 6 }, .y = { 5, 10, 15 }, .w = { 1, 1, 1 } };
    m.dense = (struct hrun_lsq){ m.x, m.y, m.w, 3, 2 };
    take(&m);
    k[0] = 5;
    ok(!hrun_sparse_variance(&m.sparse, k, 0, v, NULL) && fabs(v[0] - 25) < 1e-9 && fabs(v[1] - 6.25) < 1e-9,
       "two columns that are multiples of each other exchange all of 5");
}

/* Rows in another order, from another start. */
static void test_order(void)
{
    static struct problem m, r;
    double k[PMAX], back[PMAX], worst = 0;
    uint64_t seed = 4;

    for (int t = 0; t < 100; t++) {
        struct hrun_sparse_result a = { k, 0, 0, 0 }, b = { back, 0, 0, 0 };

        make(&m, PAIRS, &seed);
        r.dense = (struct hrun_lsq){ r.x, r.y, r.w, m.dense.n, m.dense.p };
        for (size_t i = 0; i < m.dense.n; i++) {
            size_t to = m.dense.n - 1 - i;

            memcpy(r.x + to * m.dense.p, m.x + i * m.dense.p, m.dense.p * sizeof *r.x);
            r.y[to] = m.y[i];
            r.w[to] = m.w[i];
        }
        take(&r);
        hrun_sparse_nnls(&m.sparse, NULL, &a, NULL);
        hrun_sparse_nnls(&r.sparse, NULL, &b, NULL);
        for (size_t j = 0; j < m.dense.p; j++)
            worst = fmax(worst, fabs(k[j] - back[j]) / (1 + fabs(k[j])));
    }
    ok(worst < 1e-12, "the order of rows does not matter: %.1e", worst);
}

static void test_errors(void)
{
    static struct problem m;
    double k[PMAX] = { -1 }, v[PMAX] = { -1 };
    struct hrun_sparse_result s = { k, -1, 0, 0 };
    struct hrun_error err = { 0 };
    struct hrun_sparse none;
    uint64_t seed = 5;

    make(&m, PAIRS, &seed);
    none = m.sparse;
    none.n = 0;
    ok(hrun_sparse_nnls(&none, NULL, &s, &err) && err.code == HRUN_ENODATA, "no rows");
    m.w[2] = 0;
    ok(hrun_sparse_nnls(&m.sparse, NULL, &s, &err) && err.code == HRUN_EINVAL, "a weight of 0");
    has_str(err.text, "weight of row 3", "its row is named");
    m.w[2] = 1;
    m.value[0] = NAN;
    ok(hrun_sparse_nnls(&m.sparse, NULL, &s, &err) && err.code == HRUN_ENONFINITE, "an entry that is no number");
    has_str(err.text, "row 1, column", "its place is named");
    m.value[0] = 1;
    m.y[1] = INFINITY;
    ok(hrun_sparse_nnls(&m.sparse, NULL, &s, &err) && err.code == HRUN_ENONFINITE, "an infinite right side");
    ok(k[0] == -1 && s.rss == -1, "outputs are untouched");
    m.y[1] = 1;
    ok(hrun_sparse_variance(&m.sparse, k, -1, v, &err) && err.code == HRUN_EINVAL && v[0] == -1,
       "a negative variance of residuals");
}

static void test_memory(void)
{
    static struct problem m;
    double k[PMAX], v[PMAX];
    struct hrun_sparse_result s = { k, 0, 0, 0 };
    struct hrun_error err = { 0 };
    uint64_t seed = 6;
    long before;
    int bad = 0, tries = 0, done = 0;

    if (!REPLACEABLE) {
        ok(1, "# SKIP allocations are the sanitizer's");
        return;
    }
    make(&m, PAIRS, &seed);
    before = live;
    while (!done && tries < 100) {
        calls = 0;
        fail_at = ++tries;
        err.code = HRUN_OK;
        done = !hrun_sparse_nnls(&m.sparse, NULL, &s, &err) && !hrun_sparse_variance(&m.sparse, k, 1, v, &err);
        fail_at = 0;
        bad += (!done && err.code != HRUN_ENOMEM) || live != before;
    }
    ok(done && tries > 15 && !bad, "each of %d allocations that fails is told, and nothing is lost", tries - 1);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_dense();
    test_variance();
    test_at_zero();
    test_order();
    test_errors();
    test_memory();
    return tap_done();
}
