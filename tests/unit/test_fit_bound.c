/* What coefficients at 0 may be: against integrals, and against least squares with one column more. */
#include "nomem.h"
#include "fit/bound.h"
#include "fit_random.h"
#include "tap.h"

enum { N = 12, P = 4 };

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

/* Two columns at right angles: the second tells y apart from the first by itself. */
static void test_alone(void)
{
    static const double means[] = { 0, -0.5, -1, -3, -19, -21, 0.5 };
    const double x[] = { 1, 0, 0, 2, 0, 0 }, k[] = { 3, 0 };

    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double y[] = { 3, 2 * means[i], 0 }, cov[4] = { 7, 0, 0, 0 }, want = integral(means[i], 0.5);
        struct hrun_lsq q = { x, y, NULL, 3, 2 };

        is_int(hrun_fit_bound(&q, k, 1, cov, NULL), 0, "a coefficient of %g +- 0.5", means[i]);
        ok(fabs(cov[3] - want) < 0.02 * want && cov[0] == 7 && fabs(cov[1]) < 1e-12 && cov[1] == cov[2],
           "has the mean square of what is above 0, %.4g (%.4g by integration)", cov[3], want);
    }
}

/* With others in use: coefficient and variance are those of least squares with this column, too. */
static void test_against_ls(void)
{
    uint64_t seed = 7;
    double worst = 0;
    int count = 0;

    for (int trial = 0; trial < 200; trial++) {
        double x[N * P], y[N], w[N], k[P], cov[P * P] = { 0 }, want[P * P] = { 0 }, s2 = 0.1 + rnd(&seed);
        struct hrun_lsq q = { x, y, w, N, P };
        struct hrun_lsq_result out = { k, NULL, 0, 0, 0 };
        int used[P], m = 0;

        for (int i = 0; i < N; i++) {
            for (int j = 0; j < P; j++)
                x[i * P + j] = rnd(&seed) * pow(10, j);
            y[i] = x[i * P] + rnd_normal(&seed);
            w[i] = 0.5 + rnd(&seed);
        }
        if (hrun_fit_nnls(&q, &out, NULL) || hrun_fit_bound(&q, k, s2, cov, NULL))
            continue;
        for (int j = 0; j < P; j++)
            if (k[j] > 0)
                used[m++] = j;
        if (!m)
            continue;   /* y points away from all columns: least squares has nothing to compare with */
        for (int j = 0; j < P; j++) {
            double sub[N * P], column[N], b[P], c[P], v[P * P], most = INFINITY, u, d[P] = { 0 };
            struct hrun_lsq along = { sub, column, w, N, (size_t)m }, more = { sub, y, w, N, (size_t)m + 1 };
            struct hrun_lsq_result on_used = { b, NULL, 0, 0, 0 }, full = { c, v, 0, 0, 0 };

            if (k[j] > 0)
                continue;
            for (int i = 0; i < N; i++) {
                for (int l = 0; l < m; l++)
                    sub[i * m + l] = x[i * P + used[l]];
                column[i] = x[i * P + j];
            }
            hrun_fit_ls(&along, &on_used, NULL);
            for (int i = 0; i < N; i++) {
                for (int l = 0; l < m; l++)
                    sub[i * (m + 1) + l] = x[i * P + used[l]];
                sub[i * (m + 1) + m] = x[i * P + j];
            }
            hrun_fit_ls(&more, &full, NULL);
            for (int l = 0; l < m; l++)
                if (b[l] > 0)
                    most = fmin(most, k[used[l]] / b[l]);
            u = fmin(most, sqrt(integral(c[m], sqrt(s2 * v[m * (m + 1) + m]))));
            d[j] = u;
            for (int l = 0; l < m; l++)
                d[used[l]] = -u * b[l];
            for (int a = 0; a < P * P; a++)
                want[a] += d[a / P] * d[a % P];
            count++;
        }
        for (int a = 0; a < P * P; a++)
            worst = fmax(worst, fabs(cov[a] - want[a]) / sqrt(want[a / P * (P + 1)] * want[a % P * (P + 1)] + 1e-300));
    }
    ok(count > 100 && worst < 0.01, "%d columns more, as least squares has them (largest difference %.2g)", count,
       worst);
}

/* A column like one in use may take its place as a whole, and no more; that makes no difference to the rows. */
static void test_alike(void)
{
    const double x[] = { 1, 2, 2, 4, 3, 6 }, y[] = { 5, 10, 15 }, k[] = { 5, 0 };
    double cov[4] = { 0 }, other[4] = { 1, 2, 3, 4 };
    struct hrun_lsq q = { x, y, NULL, 3, 2 };
    const double both[] = { 1, 1 };
    struct hrun_error err = { 0 };

    is_int(hrun_fit_bound(&q, k, 0, cov, NULL), 0, "two columns that are multiples of each other");
    ok(fabs(cov[0] - 25) < 1e-9 && fabs(cov[3] - 6.25) < 1e-9 && fabs(cov[1] + 12.5) < 1e-9, "exchange all of 5");
    is_num(cov[0] + 4 * cov[1] + 4 * cov[3], 0, 1e-9, "and a prediction where they are alike does not change");
    is_int(hrun_fit_bound(&q, both, 0, other, &err), -1, "both in use");
    ok(err.code == HRUN_ERANK && other[0] == 1 && other[3] == 4, "are refused, and nothing is written");
    ok(hrun_fit_bound(&q, k, NAN, other, &err) && err.code == HRUN_EINVAL, "a variance that is no number");
    q.n = 1;
    ok(hrun_fit_bound(&q, both, 1, other, &err) && err.code == HRUN_ENODATA, "less rows than coefficients");
    q.n = 3;
    if (!REPLACED || calls == 0)
        return;
    for (long i = 1; i <= 2; i++) {
        long before = live;

        calls = 0;
        fail_at = i;
        ok(hrun_fit_bound(&q, k, 1, other, &err) && err.code == HRUN_ENOMEM && live == before && other[0] == 1,
           "without memory at allocation %ld", i);
        fail_at = 0;
    }
}

int main(void)
{
    test_alone();
    test_against_ls();
    test_alike();
    return tap_done();
}
