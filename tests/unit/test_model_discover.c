/* Terms of applications that nobody wrote any down for: the library, known models recovered, noise, few processes. */
#include "fixture.h"
#include "expr/expr.h"
#include "fit/fit.h"
#include "model/basis.h"
#include "model/discover.h"

enum { SIZES = 7, PES = 8, MOST = 2 * SIZES * PES };

static const int64_t sizes[SIZES] = { 200, 300, 500, 800, 1200, 1600, 2400 };
static const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
static const char *const vars[] = { "N", "P" };

/* Codes as paper 000's Table V and the library's comments have them; a process alone sends nothing. */
static double stencil(double N, double P)
{
    return 2e-7 * N * N / P * N / 40 + (P > 1 ? 2e-6 * N + 3e-4 * log(P) : 0);
}

static double broadcast(double N, double P)
{
    return 4e-10 * N * N * N / P + 2e-8 * N * N * log(P);
}

static double transform(double N, double P)
{
    return 1e-6 * N * log(N) / P + (P > 1 ? 4e-5 * P : 0);
}

static const struct code {
    const char *name;
    double (*time)(double N, double P);
    const char *first;         /* divided work */
} codes[] = { { "stencil", stencil, "N^3/P" }, { "broadcast", broadcast, "N^3/P" }, { "transform", transform,
              "N*ln(N)/P" } };
enum { CODES = sizeof codes / sizeof codes[0] };

/* Runs on 1 to `pes` PEs of two kinds, the second half as fast. */
static size_t runs(const struct code *c, int pes, double noise, int glitches, uint64_t *seed,
                   struct hrun_discover_point *v)
{
    size_t n = 0;

    for (int kind = 0; kind < 2; kind++)
        for (int P = 1; P <= pes; P++)
            for (int i = 0; i < SIZES; i++) {
                double T = (1 + kind) * c->time((double)sizes[i], P) * (1 + noise * rnd_normal(seed));

                if (rnd_int(seed, 1, 100) <= glitches)
                    T *= 1.2 + 1.8 * rnd(seed);
                v[n++] = (struct hrun_discover_point){ kind, sizes[i], P, 1, T };
            }
    return n;
}

/* What the terms, fitted to the runs of the first kind with P > 1, say of (N, P), against the truth: relative. */
static double miss(const struct code *c, const struct hrun_discovery *d, const struct hrun_discover_point *v, size_t n,
                   double N, double P)
{
    double x[MOST * 16], y[MOST], w[MOST], k[16], values[2], at, sum = 0;
    struct hrun_lsq problem = { x, y, w, 0, d->np.n };
    struct hrun_lsq_result result = { k, NULL, 0, 0, 0 };
    struct hrun_expr *e[16];
    struct hrun_error err = { 0 };

    for (size_t j = 0; j < d->np.n; j++)
        e[j] = hrun_expr_compile(d->np.v[j], vars, 2, NULL, 0, &err);
    for (size_t i = 0; i < n; i++) {
        if (v[i].series || v[i].P == 1)
            continue;
        values[0] = (double)v[i].N;
        values[1] = v[i].P;
        for (size_t j = 0; j < d->np.n; j++)
            hrun_expr_eval(e[j], values, &x[problem.n * d->np.n + j], &err);
        y[problem.n] = v[i].time_s;
        w[problem.n++] = 1 / (0.02 * v[i].time_s);
    }
    if (hrun_fit_nnls(&problem, &result, &err))
        return INFINITY;
    values[0] = N;
    values[1] = P;
    for (size_t j = 0; j < d->np.n; j++) {
        hrun_expr_eval(e[j], values, &at, &err);
        sum += at * k[j];
        hrun_expr_destroy(e[j]);
    }
    return fabs(sum / c->time(N, P) - 1);
}

static int has(const struct hrun_strvec *v, const char *term)
{
    for (size_t i = 0; i < v->n; i++)
        if (!strcmp(v->v[i], term))
            return 1;
    return 0;
}

/* Each term reads as an expression of the same value, and no two are the same. */
static void test_library(void)
{
    static const double at[][2] = { { 1, 1 }, { 64, 2 }, { 1000, 7 }, { 123456, 64 } };
    size_t n, wrong = 0, twice = 0, divided = 0;
    const struct hrun_basis *all = hrun_library(&n);
    struct hrun_error err = { 0 };

    for (size_t j = 0; j < n; j++) {
        struct hrun_buf b = HRUN_BUF_INIT;
        struct hrun_expr *e;
        double got = 0;

        hrun_basis_print(&all[j], &b);
        e = hrun_expr_compile(b.data, vars, 2, NULL, 0, &err);
        for (size_t i = 0; i < 4; i++) {
            double want = hrun_basis_value(&all[j], at[i][0], at[i][1]);

            if (!e || hrun_expr_eval(e, at[i], &got, &err) || fabs(got - want) > 1e-12 * fabs(want)) {
                printf("# '%s' is %g, not %g\n", b.data, got, want);
                wrong++;
            }
        }
        for (size_t i = 0; i < j; i++)
            twice += !memcmp(&all[i], &all[j], sizeof all[i]);
        divided += (size_t)hrun_basis_divided(&all[j]);
        hrun_expr_destroy(e);
        hrun_buf_release(&b);
    }
    ok(n > 40 && wrong == 0, "all %zu terms are expressions of the same value", n);
    ok(twice == 0, "none is there twice");
    ok(divided > 5 && hrun_basis_divided(&all[0]), "%zu are divided work, the first of all is", divided);
}

/* Without noise the generating terms come out, and what they say of twice the processes is right. */
static void test_exact(void)
{
    struct hrun_discover_point v[MOST];
    uint64_t seed = 1;

    for (int i = 0; i < CODES; i++) {
        struct hrun_discovery d = { 0 };
        struct hrun_error err = { 0 };
        size_t n = runs(&codes[i], PES, 0, 0, &seed, v);

        ok(!hrun_discover(v, n, &options, &d, &err), "%s: terms are found", codes[i].name);
        ok(has(&d.np, codes[i].first), "%s: %s is one", codes[i].name, codes[i].first);
        ok(d.error < 0.002 && d.beyond < 0.004, "%s: points left out are told (%.2g), P=%d by fewer, too (%.2g)",
           codes[i].name, d.error, PES, d.beyond);
        ok(miss(&codes[i], &d, v, n, 2000, 16) < 0.02, "%s: twice the processes within 2 %% (%.2g)", codes[i].name,
           miss(&codes[i], &d, v, n, 2000, 16));
        ok(d.n.n >= 2 && d.p.n == 3, "%s: there are terms of N and of T, too", codes[i].name);
        ok(d.points == 2 * (PES - 1) * SIZES, "%s: all points with P > M count", codes[i].name);
        hrun_discovery_release(&d);
    }
}

/* 2 % noise and 5 % glitches of single runs, as on ground truth: predictions stay near. */
static void test_noise(void)
{
    enum { SEEDS = 10 };
    struct hrun_discover_point v[MOST];

    for (int i = 0; i < CODES; i++) {
        double sum = 0, worst = 0;

        for (uint64_t s = 1; s <= SEEDS; s++) {
            struct hrun_discovery d = { 0 };
            struct hrun_error err = { 0 };
            uint64_t seed = s;
            size_t n = runs(&codes[i], PES, 0.02, 5, &seed, v);
            double off = INFINITY;

            if (!hrun_discover(v, n, &options, &d, &err))
                off = miss(&codes[i], &d, v, n, 2000, PES);
            sum += off / SEEDS;
            worst = fmax(worst, off);
            hrun_discovery_release(&d);
        }
        ok(sum < 0.10 && worst < 0.25, "%s under noise: the mean over %d seeds is %.3f off, the worst %.3f",
           codes[i].name, SEEDS, sum, worst);
    }
}

/* Two PEs: P is 1 or 2. What both tell of work is told apart from what is left over. */
static void test_two(void)
{
    struct hrun_discover_point v[MOST];
    struct hrun_discovery d = { 0 };
    struct hrun_error err = { 0 };
    uint64_t seed = 1;
    size_t n = runs(&codes[0], 2, 0, 0, &seed, v);

    ok(!hrun_discover(v, n, &options, &d, &err), "with P of 1 and 2 terms are found");
    ok(has(&d.np, "N^3/P") && isnan(d.beyond), "work is divided, and nothing is said of larger P");
    ok(has(&d.n, "N^3"), "with P fixed it is N^3");
    hrun_discovery_release(&d);
    n = runs(&codes[2], 2, 0, 0, &seed, v);
    for (size_t i = 0; i < n; i++) {
        v[i].M = v[i].P;            /* all on one PE */
        v[i].series = 2 * v[i].series + v[i].M;
        v[i].time_s = transform((double)v[i].N, 1);
    }
    ok(!hrun_discover(v, n, &options, &d, &err), "one PE alone tells terms, too");
    is_str(d.np.n ? d.np.v[0] : "none", "N*ln(N)/P", "as divided work");
    ok(d.error < 1e-9, "with the error of what was measured (%.2g)", d.error);
    hrun_discovery_release(&d);
}

static void test_order_and_errors(void)
{
    struct hrun_discover_point v[MOST], turned[MOST];
    struct hrun_fit_options bad = options;
    struct hrun_discovery d = { 0 }, e = { 0 };
    struct hrun_error err = { 0 };
    uint64_t seed = 3;
    size_t n = runs(&codes[1], PES, 0.02, 5, &seed, v);
    int same;

    for (size_t i = 0; i < n; i++)
        turned[n - 1 - i] = v[i];
    ok(!hrun_discover(v, n, &options, &d, &err) && !hrun_discover(turned, n, &options, &e, &err), "any order");
    same = d.np.n == e.np.n && d.n.n == e.n.n;
    for (size_t i = 0; same && i < d.np.n; i++)
        same = !strcmp(d.np.v[i], e.np.v[i]);
    ok(same && d.error == e.error, "gives the same terms");
    hrun_discovery_release(&d);
    hrun_discovery_release(&e);

    ok(hrun_discover(v, 0, &options, &d, &err) && err.code == HRUN_ENODATA, "no measurements");
    ok(hrun_discover(v, 1, &options, &d, &err) && err.code == HRUN_ENODATA, "one size");
    has_str(err.text, "two or more sizes", "says what is missing");
    turned[0].time_s = NAN;
    ok(hrun_discover(turned, n, &options, &d, &err) && err.code == HRUN_EINVAL, "a time that is none");
    turned[0] = v[0];
    turned[0].P = 0;
    ok(hrun_discover(turned, n, &options, &d, &err) && err.code == HRUN_EINVAL, "no processes");
    bad.sigma_rel = -1;
    ok(hrun_discover(v, n, &bad, &d, &err) && err.code == HRUN_EINVAL, "a negative scatter");
    ok(d.np.n == 0, "the result is untouched");
}

int main(void)
{
    test_library();
    test_exact();
    test_noise();
    test_two();
    test_order_and_errors();
    return tap_done();
}
