/* Least squares, independence of columns, quantiles: known data, identities, mistakes. */
#include "fit/fit.h"
#include "fixture.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>

enum { NMAX = 64, PMAX = 12 };

/* Longley's data as published by NIST (StRD, linear regression, "Longley") with the certified results: the
 * classical ill-conditioned case, condition number about 5e9 without scaling. y, x1..x6. */
static const double longley[16][7] = {
    { 60323, 83.0, 234289, 2356, 1590, 107608, 1947 }, { 61122, 88.5, 259426, 2325, 1456, 108632, 1948 },
    { 60171, 88.2, 258054, 3682, 1616, 109773, 1949 }, { 61187, 89.5, 284599, 3351, 1650, 110929, 1950 },
    { 63221, 96.2, 328975, 2099, 3099, 112075, 1951 }, { 63639, 98.1, 346999, 1932, 3594, 113270, 1952 },
    { 64989, 99.0, 365385, 1870, 3547, 115094, 1953 }, { 63761, 100.0, 363112, 3578, 3350, 116219, 1954 },
    { 66019, 101.2, 397469, 2904, 3048, 117388, 1955 }, { 67857, 104.6, 419180, 2822, 2857, 118734, 1956 },
    { 68169, 108.4, 442769, 2936, 2798, 120445, 1957 }, { 66513, 110.8, 444546, 4681, 2637, 121950, 1958 },
    { 68655, 112.6, 482704, 3813, 2552, 123366, 1959 }, { 69564, 114.2, 502601, 3931, 2514, 125368, 1960 },
    { 69331, 115.7, 518173, 4806, 2572, 127852, 1961 }, { 70551, 116.9, 554894, 4007, 2827, 130081, 1962 },
};
static const double longley_k[7] = { -3482258.63459582, 15.0618722713733,  -0.0358191792925910,
                                     -2.02022980381683, -1.03322686717359, -0.0511041056535807,
                                     1829.15146461355 };
static const double longley_sd[7] = { 890420.383607373,  84.9149257747669,  0.0334910077722432,
                                      0.488399681651699, 0.214274163161675, 0.226073200069370,
                                      455.478499142212 };

static void test_longley(void)
{
    double x[16 * 7], y[16], k[7], cov[49];
    struct hrun_lsq q = { x, y, NULL, 16, 7 };
    struct hrun_lsq_result r = { k, cov, 0, 0, 0 };
    struct hrun_error err;
    double worst_k = 0, worst_sd = 0, asym = 0;

    for (int i = 0; i < 16; i++) {
        y[i] = longley[i][0];
        for (int j = 0; j < 7; j++)
            x[i * 7 + j] = j == 0 ? 1 : longley[i][j];
    }
    is_int(hrun_fit_ls(&q, &r, &err), 0, "Longley is fitted");
    for (int j = 0; j < 7; j++) {
        worst_k = fmax(worst_k, fabs(k[j] / longley_k[j] - 1));
        worst_sd = fmax(worst_sd, fabs(sqrt(cov[j * 7 + j] * r.rss / 9) / longley_sd[j] - 1));
        for (int i = 0; i < 7; i++)
            asym = fmax(asym, fabs(cov[i * 7 + j] - cov[j * 7 + i]));
    }
    ok(worst_k < 1e-9, "Longley: certified coefficients, worst relative error %.1e", worst_k);
    ok(worst_sd < 1e-9, "Longley: certified standard deviations, worst relative error %.1e", worst_sd);
    is_num(r.rss, 836424.055505915, 1e-10, "Longley: certified residual sum of squares");
    is_int(r.rank, 7, "Longley: full rank");
    ok(asym == 0, "the covariance is symmetric");
}

/* The mean and the line through (0,1), (1,3), (2,5): by hand. */
static void test_by_hand(void)
{
    double ones[3] = { 1, 1, 1 }, y[3] = { 1, 2, 6 }, k[2], cov[4];
    double line[6] = { 1, 0, 1, 1, 1, 2 }, yl[3] = { 1, 3, 5 };
    struct hrun_lsq mean = { ones, y, NULL, 3, 1 }, fit = { line, yl, NULL, 3, 2 };
    struct hrun_lsq_result r = { k, cov, 0, 0, 0 };
    double w[3] = { 1, 1, 2 };

    hrun_fit_ls(&mean, &r, NULL);
    is_num(k[0], 3, 1e-15, "the mean of 1, 2, 6");
    is_num(cov[0], 1.0 / 3, 1e-15, "its variance is sigma^2 / 3");
    is_num(r.rss, 14, 1e-15, "squares about the mean: 4 + 1 + 9");
    mean.w = w;
    hrun_fit_ls(&mean, &r, NULL);
    is_num(k[0], 27.0 / 6, 1e-15, "a weight w counts w^2 times: (1 + 2 + 4 * 6) / 6");
    is_num(r.rss, 12.25 + 6.25 + 4 * 2.25, 1e-14, "and in the residuals");
    hrun_fit_ls(&fit, &r, NULL);
    is_num(k[0], 1, 1e-15, "line: intercept 1");
    is_num(k[1], 2, 1e-15, "line: slope 2");
    is_num(cov[0], 5.0 / 6, 1e-14, "line: cov 00 = sum x^2 / (n sum (x - mean)^2)");
    is_num(cov[1], -0.5, 1e-14, "line: cov 01");
    is_num(cov[3], 0.5, 1e-14, "line: cov 11");
}

/* The residual is perpendicular to every column; nothing else characterises the solution. */
static void test_random(void)
{
    uint64_t seed = 11;
    double x[NMAX * PMAX], y[NMAX], w[NMAX], k[PMAX], worst = 0;
    int failed = 0;

    for (int t = 0; t < 1000; t++) {
        size_t p = (size_t)rnd_int(&seed, 1, PMAX), n = (size_t)rnd_int(&seed, (int)p, NMAX);
        struct hrun_lsq q = { x, y, w, n, p };
        struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };
        double colscale[PMAX], yn = 0;

        for (size_t j = 0; j < p; j++)
            colscale[j] = pow(10, 20 * rnd(&seed) - 10);
        for (size_t i = 0; i < n; i++) {
            w[i] = pow(10, 2 * rnd(&seed) - 1);
            y[i] = rnd_normal(&seed);
            yn += w[i] * y[i] * w[i] * y[i];
            for (size_t j = 0; j < p; j++)
                x[i * p + j] = rnd_normal(&seed) * colscale[j];
        }
        failed += hrun_fit_ls(&q, &r, NULL) != 0;
        for (size_t j = 0; j < p; j++) {
            double g = 0, norm = 0, size = sqrt(yn);
            for (size_t i = 0; i < n; i++) {
                double e = y[i];
                for (size_t l = 0; l < p; l++) {
                    e -= x[i * p + l] * k[l];
                    size += fabs(w[i] * x[i * p + l] * k[l]);
                }
                g += x[i * p + j] * w[i] * w[i] * e;
                norm += x[i * p + j] * w[i] * x[i * p + j] * w[i];
            }
            worst = fmax(worst, fabs(g) / sqrt(norm) / size);
        }
    }
    is_int(failed, 0, "1000 random problems with columns over twenty decades are solved");
    ok(worst < 1e-14, "residuals are perpendicular to the columns within %.1e", worst);
}

static void test_errors(void)
{
    double x[6] = { 1, 2, 2, 4, 3, 6 }, y[3] = { 1, 2, 3 }, w[3] = { 1, 1, 1 };
    double k[2] = { 7, 8 }, cov[4] = { 9, 9, 9, 9 };
    struct hrun_lsq q = { x, y, NULL, 3, 2 };
    struct hrun_lsq_result r = { k, cov, 5, 6, 4 };
    struct hrun_error err;

    errno = 42;
    is_int(hrun_fit_ls(&q, &r, &err), -1, "proportional columns fail");
    is_int(err.code, HRUN_ERANK, "... with HRUN_ERANK");
    has_str(err.text, "column ", "... naming a column");
    has_str(err.text, "of 2 depends on the others", "... that depends");
    is_int(errno, 42, "... errno is kept");
    x[0] = x[2] = x[4] = 0;
    hrun_fit_ls(&q, &r, &err);
    is_str(err.text, "column 1 of 2 is zero", "a zero column is named");
    x[0] = 1;
    x[3] = NAN;
    hrun_fit_ls(&q, &r, &err);
    is_int(err.code, HRUN_ENONFINITE, "NaN fails with HRUN_ENONFINITE");
    is_str(err.text, "row 2, column 2 is nan with weight 1; finite numbers are needed",
           "... naming the place");
    x[3] = 4;
    y[2] = -INFINITY;
    hrun_fit_ls(&q, &r, &err);
    is_str(err.text, "row 3 of the right side is -inf with weight 1; finite numbers are needed",
           "an infinite right side is named");
    y[2] = 3;
    q.w = w;
    w[1] = 0;
    hrun_fit_ls(&q, &r, &err);
    is_int(err.code, HRUN_EINVAL, "a weight of 0 is HRUN_EINVAL");
    is_str(err.text, "weight of row 2 is 0; it must be above 0", "... naming the row");
    w[1] = 1e300;
    x[3] = 1e300;
    hrun_fit_ls(&q, &r, &err);
    is_str(err.text, "row 2, column 2 is 1e+300 with weight 1e+300; finite numbers are needed",
           "an overflow of weight times entry is named");
    w[1] = 1;
    x[1] = x[3] = x[5] = DBL_MAX;
    hrun_fit_ls(&q, &r, &err);
    is_str(err.text, "column 2 is too large: its norm overflows", "an overflowing norm is named");
    q.n = 1;
    hrun_fit_ls(&q, &r, &err);
    is_int(err.code, HRUN_ENODATA, "fewer rows than columns");
    is_str(err.text, "1 rows cannot determine 2 coefficients", "... said");
    q.n = 0;
    hrun_fit_ls(&q, &r, &err);
    is_str(err.text, "nothing to fit: 0 rows, 2 columns", "no rows");
    ok(k[0] == 7 && k[1] == 8 && cov[0] == 9 && cov[3] == 9 && r.rss == 5 && r.rank == 6 && r.iterations == 4,
       "outputs are untouched by all of this");
}

static void test_independent(void)
{
    /* a, 2a, b, a + b, 0, c */
    double x[4 * 6];
    static const double a[4] = { 1, 2, 3, 4 }, b[4] = { 1, -1, 1, 5 }, c[4] = { 0, 0, 1e-20, 0 };
    struct hrun_lsq q = { x, NULL, NULL, 4, 6 };
    int keep[6];
    size_t rank = 99;
    struct hrun_error err;

    for (int i = 0; i < 4; i++) {
        x[i * 6] = a[i];
        x[i * 6 + 1] = 2 * a[i];
        x[i * 6 + 2] = b[i];
        x[i * 6 + 3] = a[i] + b[i];
        x[i * 6 + 4] = 0;
        x[i * 6 + 5] = c[i];
    }
    is_int(hrun_fit_independent(&q, 1e-8, keep, &rank, &err), 0,
           "independence is decided without a right side");
    ok(keep[0] && !keep[1] && keep[2] && !keep[3] && !keep[4] && keep[5],
       "multiples, sums and zero columns depend; a small column does not");
    is_int(rank, 3, "rank 3");
    q.n = 1;
    hrun_fit_independent(&q, 1e-8, keep, &rank, NULL);
    ok(rank == 1 && keep[0] && !keep[2], "one row has rank 1");
    x[2] = NAN;
    rank = 77;
    is_int(hrun_fit_independent(&q, 1e-8, keep, &rank, &err), -1, "NaN fails");
    is_str(err.text, "row 1, column 3 is nan with weight 1; finite numbers are needed",
           "... naming the place");
    is_int(rank, 77, "... leaving rank alone");

    /* A remainder of eps/sqrt(1+eps^2) of its norm: kept above the tolerance, dropped below. */
    double y[4] = { 1, 1, 0, 1e-6 };
    struct hrun_lsq near = { y, NULL, NULL, 2, 2 };
    hrun_fit_independent(&near, 0.99e-6, keep, &rank, NULL);
    is_int(rank, 2, "a remainder of 1e-6 stays at tolerance 0.99e-6");
    hrun_fit_independent(&near, 1.01e-6, keep, &rank, NULL);
    is_int(rank, 1, "and goes at tolerance 1.01e-6");
}

static void test_distinct(void)
{
    /* a, 2a, b, a + b, 0, -a, b + 1e-9 c */
    double x[4 * 7];
    static const double a[4] = { 1, 2, 3, 4 }, b[4] = { 1, -1, 1, 5 }, c[4] = { 0, 0, 1, 0 };
    struct hrun_lsq q = { x, NULL, NULL, 4, 7 };
    int keep[7];
    size_t count = 99;
    struct hrun_error err;

    for (int i = 0; i < 4; i++) {
        x[i * 7] = a[i];
        x[i * 7 + 1] = 2 * a[i];
        x[i * 7 + 2] = 1e200 * b[i];
        x[i * 7 + 3] = a[i] + b[i];
        x[i * 7 + 4] = 0;
        x[i * 7 + 5] = -a[i];
        x[i * 7 + 6] = b[i] + 1e-9 * c[i];
    }
    is_int(hrun_fit_distinct(&q, 1e-8, keep, &count, &err), 0, "likeness is decided without a right side");
    ok(keep[0] && !keep[1] && keep[2] && keep[3] && !keep[4] && keep[5] && !keep[6],
       "multiples of one column and zero columns go; sums and negative multiples stay");
    is_int(count, 4, "four are kept");
    hrun_fit_distinct(&q, 0, keep, &count, NULL);
    ok(count == 5 && keep[6], "a column that is off by 1e-9 stays when rounding alone is allowed");
    q.n = 1;
    hrun_fit_distinct(&q, 1e-8, keep, &count, NULL);
    ok(count == 2 && keep[0] && keep[5], "one row: one column of each sign");
    q.n = 3;
    q.w = (const double[]){ 1, 1e-3, 1 };
    hrun_fit_distinct(&q, 1e-8, keep, &count, NULL);
    is_int(count, 4, "fewer rows than columns: four are distinct, weighted or not");
    x[2] = NAN;
    count = 77;
    is_int(hrun_fit_distinct(&q, 1e-8, keep, &count, &err), -1, "NaN fails");
    is_str(err.text, "row 1, column 3 is nan with weight 1; finite numbers are needed",
           "... naming the place");
    is_int(count, 77, "... leaving the count alone");

    /* unit columns at an angle of 1e-6 */
    double y[4] = { 1, 1, 0, 1e-6 };
    struct hrun_lsq near = { y, NULL, NULL, 2, 2 };
    hrun_fit_distinct(&near, 0.99e-6, keep, &count, NULL);
    is_int(count, 2, "a remainder of 1e-6 stays at tolerance 0.99e-6");
    hrun_fit_distinct(&near, 1.01e-6, keep, &count, NULL);
    is_int(count, 1, "and goes at tolerance 1.01e-6");
}

static void test_quantile(void)
{
    /* F(2, n) has the tail (1 + 2 f / n)^(-n / 2); one over F turns the degrees of freedom round. */
    is_num(hrun_fit_f_tail(1.7, 2, 9), pow(1 + 2 * 1.7 / 9, -4.5), 1e-12,
           "the tail of F with 2 and 9 degrees of freedom");
    is_num(hrun_fit_f_tail(1.7, 3, 9), 1 - hrun_fit_f_tail(1 / 1.7, 9, 3), 1e-12, "and of its inverse");
    is_num(hrun_fit_f_tail(0, 3, 9), 1, 0, "all of it from 0 on");
    is_num(hrun_fit_t_quantile(0.975, 1), tan(M_PI * 0.475), 1e-9,
           "1 degree of freedom: Cauchy, tan(pi (p - 1/2))");
    is_num(hrun_fit_t_quantile(0.975, 2), 0.95 / sqrt(2 * 0.975 * 0.025), 1e-9,
           "2 degrees: (2p-1)/sqrt(2p(1-p))");
    is_num(hrun_fit_t_quantile(0.975, 1e9), 1.959963984540054, 1e-6, "many degrees: the normal distribution");
    is_num(hrun_fit_t_quantile(0.5, 7), 0, 1e-12, "the median is 0");
    is_num(hrun_fit_t_quantile(0.1, 5), -hrun_fit_t_quantile(0.9, 5), 1e-9, "symmetric");
}

int main(void)
{
    test_longley();
    test_by_hand();
    test_random();
    test_errors();
    test_independent();
    test_distinct();
    test_quantile();
    return tap_done();
}
