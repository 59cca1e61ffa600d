/* test_net_breaks.c - structural breaks: brute force over all partitions, rows that jump, exact lines, and what is
 * refused */
#include "tap.h"

#include "net/breaks.h"

#include <stdint.h>

static double draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717u) >> 11) * 0x1p-53;
}

/* The weighted sum of squares about the best line through points a..e-1, by its definition. 0 different x: INFINITY. */
static double line_rss(const double *x, const double *y, const double *w, size_t a, size_t e, double *c0, double *c1)
{
    long double s = 0, sx = 0, sy = 0, xx = 0, xy = 0, rss = 0;

    for (size_t i = a; i < e; i++) {
        long double q = w ? (long double)w[i] * w[i] : 1;

        s += q;
        sx += q * x[i];
        sy += q * y[i];
    }
    for (size_t i = a; i < e; i++) {
        long double q = w ? (long double)w[i] * w[i] : 1;

        xx += q * (x[i] - sx / s) * (x[i] - sx / s);
        xy += q * (x[i] - sx / s) * (y[i] - sy / s);
    }
    if (x[a] == x[e - 1])
        return INFINITY;
    if (xy < 0)
        xy = 0;
    *c1 = (double)(xy / xx);
    *c0 = (double)(sy / s - xy / xx * (sx / s));
    for (size_t i = a; i < e; i++) {
        long double r = (w ? w[i] : 1) * (y[i] - sy / s - xy / xx * (x[i] - sx / s));

        rss += r * r;
    }
    return (double)rss;
}

/* The least sum of squares of m pieces over points a..n-1, by trying all. */
static double brute(const double *x, const double *y, const double *w, size_t a, size_t n, size_t least, int m)
{
    double best = INFINITY, c0, c1;

    if (m == 1)
        return n - a < least ? INFINITY : line_rss(x, y, w, a, n, &c0, &c1);
    for (size_t e = a + least; e < n; e++)
        if (x[e] != x[e - 1])
            best = fmin(best, line_rss(x, y, w, a, e, &c0, &c1) + brute(x, y, w, e, n, least, m - 1));
    return best;
}

/* Everything that is promised, on one row; 1: kept. */
static int holds(const double *x, const double *y, const double *w, size_t n, size_t least, int most)
{
    struct hrun_breaks b = { 0 };
    struct hrun_error err = { 0 };
    double want = INFINITY, bic = INFINITY, sum = 0;
    int pieces = 0, good;

    for (int m = 1; m <= most; m++) {
        double rss = brute(x, y, w, 0, n, least, m);
        double one = (double)n * log(rss / (double)n) + (3 * m - 1) * log((double)n);

        if (isfinite(rss) && one < bic) {
            bic = one;
            want = rss;
            pieces = m;
        }
    }
    if (hrun_breaks_find(&(struct hrun_breaks_points){ x, y, w, n }, least, most, &b, &err))
        return printf("#   %s\n", err.text), 0;
    /* of exact lines rounding alone is left, by which brute force counts pieces all the same */
    if (want < 1e-24) {
        good = b.rss < 1e-24;
        hrun_breaks_release(&b);
        return good;
    }
    good = b.npieces == pieces && fabs(b.rss - want) <= 1e-9 * want && fabs(b.bic - bic) <= 1e-8 * (1 + fabs(bic)) &&
           b.first[0] == 0;
    for (int p = 0; p < b.npieces && good; p++) {
        size_t end = p + 1 < b.npieces ? b.first[p + 1] : n;
        double c0, c1;

        good = end - b.first[p] >= least && (!b.first[p] || x[b.first[p]] > x[b.first[p] - 1]);
        sum += good ? line_rss(x, y, w, b.first[p], end, &c0, &c1) : 0;
        good = good && fabs(c0 - b.c0[p]) <= 1e-8 * (1 + fabs(c0)) && fabs(c1 - b.c1[p]) <= 1e-8 * (1 + fabs(c1));
    }
    good = good && fabs(sum - want) <= 1e-9 * want;
    if (!good)
        printf("#   n %zu least %zu most %d: %d pieces, rss %.17g; want %d, %.17g\n", n, least, most, b.npieces, b.rss,
               pieces, want);
    hrun_breaks_release(&b);
    return good;
}

static void test_brute(void)
{
    enum { ROUNDS = 400, NMAX = 14, SEED = 12 };
    uint64_t rng = SEED;
    int good = 0, several = 0;

    for (int r = 0; r < ROUNDS; r++) {
        size_t n = 4 + (size_t)(draw(&rng) * (NMAX - 3)), least = 2 + (size_t)(draw(&rng) * 2);
        int most = 1 + (int)(draw(&rng) * 4);
        double x[NMAX], y[NMAX], w[NMAX], level = 0, slope = draw(&rng);

        for (size_t i = 0; i < n; i++) {
            /* repetitions of x now and then, jumps now and then */
            x[i] = i ? x[i - 1] + (draw(&rng) < 0.3 ? 0 : draw(&rng)) : draw(&rng);
            if (draw(&rng) < 0.15) {
                level += 10 * draw(&rng);
                slope = 5 * draw(&rng);
            }
            y[i] = level + slope * x[i] + 0.1 * draw(&rng);
            w[i] = 0.1 + draw(&rng);
        }
        if (x[0] == x[n - 1])
            x[n - 1] += 1;
        good += holds(x, y, r % 2 ? w : NULL, n, least, most);
        several += most > 1;
    }
    is_int(good, ROUNDS, "as brute force over all partitions finds them (seed %d)", SEED);
    ok(several > ROUNDS / 2, "of several pieces mostly (%d)", several);
}

/* Near to normal, of variance 1: twelve uniform numbers. */
static double noise(uint64_t *rng)
{
    double sum = -6;

    for (int k = 0; k < 12; k++)
        sum += draw(rng);
    return sum;
}

/* A row that jumps twice, as times of gathers do, is cut where it jumps; without jumps it is not. */
static void test_jumps(void)
{
    enum { N = 120, ROWS = 100, SEED = 3 };
    struct hrun_breaks b = { 0 };
    double x[N], y[N], w[N];
    uint64_t rng = SEED;
    int cut = 0;

    for (int i = 0; i < N; i++) {
        x[i] = 512.0 * i;
        y[i] = i < 40 ? 1e-4 + 2e-9 * x[i] : i < 85 ? 0.2 + 2e-9 * x[i] : 3e-4 + 5e-9 * x[i];
        y[i] *= 1 + 0.002 * noise(&rng);
        w[i] = 1 / y[i];
    }
    ok(!hrun_breaks_find(&(struct hrun_breaks_points){ x, y, w, N }, 5, 6, &b, NULL), "a row that jumps");
    ok(b.npieces == 3 && b.first[1] == 40 && b.first[2] == 85, "is cut where it jumps");
    is_num(b.c1[2] * 1e9, 5, 0.05, "the slope behind");
    hrun_breaks_release(&b);
    /* BIC sees a break where there is none in some 4 of 100 such rows. */
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < N; i++) {
            double line = 1e-4 + 2e-9 * x[i];

            y[i] = line * (1 + 0.01 * noise(&rng));
            w[i] = 1 / line;
        }
        cut += hrun_breaks_find(&(struct hrun_breaks_points){ x, y, w, N }, 5, 6, &b, NULL) || b.npieces > 1;
        hrun_breaks_release(&b);
    }
    ok(cut <= ROWS / 10, "rows that do not jump are hardly ever cut (%d of %d)", cut, ROWS);
    hrun_breaks_release(&b);
}

/* What simulators print has no noise: rounding must not look like breaks, and the smallest true ones are found. */
static void test_exact(void)
{
    enum { N = 60, ROUNDS = 50, SEED = 9 };
    uint64_t rng = SEED;
    int one = 0, two = 0, constant = 0;

    for (int r = 0; r < ROUNDS; r++) {
        double x[N], y[N], c0 = draw(&rng) * pow(10, -6 * draw(&rng)), c1 = draw(&rng) * pow(10, -9 * draw(&rng));
        int k = 10 + (int)(draw(&rng) * 40);
        struct hrun_breaks b = { 0 };

        for (int i = 0; i < N; i++) {
            x[i] = i * 1000.0 / 3;
            y[i] = c0 + c1 * x[i];
        }
        one += !hrun_breaks_find(&(struct hrun_breaks_points){ x, y, NULL, N }, 4, 5, &b, NULL) && b.npieces == 1;
        hrun_breaks_release(&b);
        for (int i = k; i < N; i++)
            y[i] += 1e-6 * (c0 + 1e4 * c1);
        two += !hrun_breaks_find(&(struct hrun_breaks_points){ x, y, NULL, N }, 4, 5, &b, NULL) && b.npieces == 2 && b.first[1] == (size_t)k;
        hrun_breaks_release(&b);
        for (int i = 0; i < N; i++)
            y[i] = r ? c0 : 0;
        constant += !hrun_breaks_find(&(struct hrun_breaks_points){ x, y, NULL, N }, 4, 5, &b, NULL) && b.npieces == 1 && b.c1[0] == 0;
        hrun_breaks_release(&b);
    }
    is_int(one, ROUNDS, "an exact line is one piece");
    is_int(two, ROUNDS, "a step of a millionth makes two");
    is_int(constant, ROUNDS, "what does not change at all is one piece");
}

static void test_refused(void)
{
    const double x[] = { 1, 2, 3, 4 }, y[] = { 1, 2, 4, 8 }, same[] = { 2, 2, 2, 2 };
    const struct {
        struct hrun_breaks_points points;
        size_t least;
        const char *say;
    } cases[] = {
        { { x, y, NULL, 4 }, 5, "4 points, and a piece has at least 5" },
        { { x, y, NULL, 0 }, 2, "0 points" },
        { { same, y, NULL, 4 }, 2, "all points have the same x" },
    };
    struct hrun_breaks b = { 7, NULL, NULL, NULL, 0, 0 };
    struct hrun_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&err, 0, sizeof err);
        ok(hrun_breaks_find(&cases[i].points, cases[i].least, 2, &b, &err) == -1 && err.code == HRUN_ENODATA &&
           b.npieces == 7, "refused: %s", cases[i].say);
        has_str(err.text, cases[i].say, "which is said");
    }
    ok(!hrun_breaks_find(&(struct hrun_breaks_points){ x, y, NULL, 4 }, 4, 100, &b, NULL) && b.npieces == 1, "more pieces than fit: as many as do");
    hrun_breaks_release(&b);
}

int main(void)
{
    test_brute();
    test_jumps();
    test_exact();
    test_refused();
    return tap_done();
}
