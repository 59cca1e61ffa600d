/* Scatter and comparison of samples, against figures that were published or worked out by hand. */
#include "fit/fit.h"
#include "tap.h"

static void test_spread(void)
{
    const double v[] = { 5, 1, 4, 2, 3, 6, 7, 8, 9, 10, 11 }, one[] = { 3 }, bad[] = { 1, NAN };
    struct hrun_spread s = { .median = -1 };
    struct hrun_error err = { 0 };

    ok(!hrun_spread_of(v, 11, &s, &err), "eleven samples");
    is_num(s.median, 6, 1e-15, "their median");
    is_num(s.low, 2, 1e-15, "first decile");
    is_num(s.high, 10, 1e-15, "ninth decile");
    is_num(s.mad, 3 * 1.482602218505602, 1e-9, "MAD: the deviations are 0 1 1 2 2 3 3 4 4 5 5");
    ok(s.least == 1 && s.most == 11, "least and most");
    is_num(v[0], 5, 0, "the samples stay as they are");
    ok(!hrun_spread_of(one, 1, &s, &err) && s.median == 3 && s.high == 3 && s.mad == 0, "a single one");
    ok(hrun_spread_of(one, 0, &s, &err) && err.code == HRUN_ENODATA, "none");
    ok(hrun_spread_of(bad, 2, &s, &err) && err.code == HRUN_ENONFINITE && s.median == 3,
       "not finite; result untouched");
}

/* H from its definition, without the shortcut and without sorting: 12/(N(N+1)) sum n_g (mean rank_g - (N+1)/2)^2 over
 * 1 - sum(t^3 - t)/(N^3 - N). */
static double slow_h(const double *const *v, const size_t *n, size_t k)
{
    double N = 0, sum = 0, ties = 0;

    for (size_t g = 0; g < k; g++)
        N += (double)n[g];
    for (size_t g = 0; g < k; g++) {
        double mean = 0;

        for (size_t i = 0; i < n[g]; i++) {
            double below = 0, equal = 0;

            for (size_t a = 0; a < k; a++)
                for (size_t b = 0; b < n[a]; b++) {
                    below += v[a][b] < v[g][i];
                    equal += v[a][b] == v[g][i];
                }
            mean += (below + (equal + 1) / 2) / (double)n[g];
            ties += equal * equal - 1;       /* each of t tied ones adds t^2 - 1: together t^3 - t */
        }
        sum += (double)n[g] * (mean - (N + 1) / 2) * (mean - (N + 1) / 2);
    }
    return 12 / (N * (N + 1)) * sum / (1 - ties / (N * N * N - N));
}

static void test_kruskal(void)
{
    /* Without a tie, in order: ranks 1..3, 4..6, 7..9, so that H is 7.2, and chi-square's tail is exp(-H/2) for two
     * degrees of freedom. */
    const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, c[] = { 7, 8, 9 };
    const double t1[] = { 2, 2, 1, 5, 7 }, t2[] = { 2, 5, 6, 6 }, same[] = { 4, 4, 4 };
    const double *const apart[] = { a, b, c }, *const tied[] = { t1, t2, a }, *const equal[] = { same, same };
    const size_t n[] = { 3, 3, 3 }, m[] = { 5, 4, 3 };
    struct hrun_error err = { 0 };
    double h = -1, p = -1;

    ok(!hrun_kruskal_wallis(apart, n, 3, &h, &p, &err), "three groups apart");
    is_num(h, 7.2, 1e-12, "H");
    is_num(p, exp(-3.6), 1e-12, "p");
    ok(!hrun_kruskal_wallis(tied, m, 3, &h, &p, &err), "groups with ties");
    is_num(h, slow_h(tied, m, 3), 1e-12, "H as by its definition");
    ok(!hrun_kruskal_wallis(equal, n, 2, &h, &p, &err) && h == 0 && p == 1, "all samples equal");
    ok(hrun_kruskal_wallis(apart, n, 1, &h, &p, &err) && err.code == HRUN_EINVAL && p == 1, "a single group");
}

static void test_repeating(void)
{
    const int thing[] = { 1, 2, 1, 3 };
    const double exact[] = { 0.123456, 2.5, 0.123456, 1.75 }, coarse[] = { 0.31, 2.5, 0.31, 1.75 };
    const double differ[] = { 0.123456, 2.5, 0.123457, 1.75 }, long_ones[] = { 310.25, 2.5, 310.25, 1.75 };
    const double stored[] = { 1.0 / 3, 2.5, 0.333333333333, 1.75 };
    const int apart[] = { 1, 2, 3, 4 }, all[] = { 1, 1, 1, 1 };

    is_int(hrun_times_repeat(exact, thing, 4), 1, "two equal times of six digits");
    is_int(hrun_times_repeat(coarse, thing, 4), 0, "of a clock of 10 ms equal times of 0.31 s say nothing");
    is_int(hrun_times_repeat(long_ones, thing, 4), 1, "those of 310 s do");
    is_int(hrun_times_repeat(differ, thing, 4), 0, "times that differ in the last digit");
    is_int(hrun_times_repeat(exact, apart, 4), 0, "times of different things");
    is_int(hrun_times_repeat(exact, all, 4), 0, "one pair that differs is enough");
    is_int(hrun_times_repeat(stored, thing, 4), 1, "a time that was written and read is equal to itself");
    is_int(hrun_times_repeat(NULL, NULL, 0), 0, "no times");
}

static void test_steps(void)
{
    const double coarse[] = { 0.31, 2.5, 0.02, 0.005, 0.1 }, fine[] = { 0.31, 2.5, 0.02, 0.007, 0.1 };
    const double one[] = { 0.25 }, simulated[] = { 1.0 / 3, 2, 3, 4, 5 };

    is_num(hrun_times_step(coarse, 3), 0.01, 0, "steps of 10 ms");
    is_num(hrun_times_step(coarse, 5), 0.01, 0, "half a step is a time that was told as 0");
    is_num(hrun_times_step(fine, 5), 0.001, 0, "another time is a finer step");
    is_num(hrun_times_step(one, 1), 0.01, 0, "of one time");
    ok(isinf(hrun_times_step(NULL, 0)), "no times, no step");
    is_num(hrun_times_rounding(coarse, 5), 0.01 / sqrt(12), 1e-12, "what rounding to it does");
    is_num(hrun_times_rounding(coarse, 4), 0, 0, "four times may end in zeros by accident");
    ok(hrun_times_rounding(simulated, 5) < 1e-15, "all digits");
}

static void test_least(void)
{
    enum { N = 40 };
    double proportional[N], started[N], coarse[N], least = -1;
    int thing[N];

    for (int i = 0; i < N; i++) {
        double t = 0.05 * pow(1.2, i / 2), off = i % 2 ? 1 : -1;   /* pairs, from 50 ms to 1.6 s */

        thing[i] = i / 2;
        proportional[i] = t * (1 + 0.0212345 * off);
        started[i] = 0.3 + t * (1 + 0.001012345 * off) + 0.0102345 * off;
        coarse[i] = round(100 * t) / 100;
    }
    is_num(hrun_times_least(coarse, thing, N), 0.5, 1e-9, "50 steps of 10 ms");
    least = hrun_times_least(proportional, thing, N);
    ok(least < 1e-6, "a scatter in proportion allows short runs (%g)", least);
    least = hrun_times_least(started, thing, N);
    ok(least > 0.2 && least < 0.6, "one of 15 ms whatever the time asks for 0.3 s (%g)", least);
    least = hrun_times_least(started, thing, 8);
    ok(least < 1e-6, "a few pairs do not tell (%g)", least);
}

int main(void)
{
    test_least();
    test_steps();
    test_spread();
    test_repeating();
    test_kruskal();
    return tap_done();
}
