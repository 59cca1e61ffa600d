/* Optimal design against inverses and determinants made from scratch, and greedy choices against all subsets. */
#include "fit/optimal.h"
#include "fit_random.h"
#include "tap.h"

#include <stdlib.h>

enum { P = 4, N = 9, PICK = 3 };

static const double sd[P] = { 2, 0.5, 1, 3 };

/* S^-2 + sum of a a' over the rows in `set` (a bit each) of x[N by P]. */
static void information(const double *x, unsigned set, double m[P][P])
{
    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++) {
            m[i][j] = i == j ? 1 / (sd[i] * sd[i]) : 0;
            for (int r = 0; r < N; r++)
                if (set >> r & 1)
                    m[i][j] += x[r * P + i] * x[r * P + j];
        }
}

/* Inverse by Gauss and Jordan (positive definite: no pivoting); result: the determinant of m. */
static double invert(double m[P][P], double inv[P][P])
{
    double det = 1;

    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++)
            inv[i][j] = i == j;
    for (int c = 0; c < P; c++) {
        double pivot = m[c][c];

        det *= pivot;
        for (int j = 0; j < P; j++) {
            m[c][j] /= pivot;
            inv[c][j] /= pivot;
        }
        for (int i = 0; i < P; i++) {
            double f = i == c ? 0 : m[i][c];

            for (int j = 0; j < P; j++) {
                m[i][j] -= f * m[c][j];
                inv[i][j] -= f * inv[c][j];
            }
        }
    }
    return det;
}

static double quadratic(double inv[P][P], const double *a)
{
    double sum = 0;

    for (int i = 0; i < P; i++)
        for (int j = 0; j < P; j++)
            sum += a[i] * inv[i][j] * a[j];
    return sum;
}

static void draw(uint64_t *state, double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] = 2 * rnd(state) - 1;
}

static double near(double a, double b)
{
    return fabs(a - b) / (fabs(a) + fabs(b) + 1e-300);
}

/* Rows one by one: variances, and what each row was said to gain before it was taken in. */
static void against_inverses(void)
{
    double worst_v = 0, worst_d = 0, worst_a = 0;
    uint64_t state = 1;

    for (int round = 0; round < 100; round++) {
        struct hrun_optimal *o = hrun_optimal_create(P, sd, NULL);
        double x[N * P], targets[3 * P], m[P][P], inv[P][P], next[P][P];

        draw(&state, x, N * P);
        draw(&state, targets, 3 * P);
        for (int r = 0; r < N; r++) {
            const double *a = x + r * P;
            double det, det_next, fall = 0;

            information(x, (1u << r) - 1, m);
            det = invert(m, inv);
            information(x, (2u << r) - 1, m);
            det_next = invert(m, next);
            for (int t = 0; t < 3; t++)
                fall += quadratic(inv, targets + t * P) - quadratic(next, targets + t * P);
            worst_v = fmax(worst_v, near(hrun_optimal_variance(o, a), quadratic(inv, a)));
            worst_d = fmax(worst_d, near(hrun_optimal_gain_d(o, a), log(det_next / det)));
            worst_a = fmax(worst_a, near(hrun_optimal_gain_a(o, a, targets, 3), fall));
            hrun_optimal_add(o, a, NULL);
        }
        hrun_optimal_destroy(o);
    }
    ok(worst_v < 1e-12, "a'C a is that of the inverse made from scratch (%.0e)", worst_v);
    ok(worst_d < 1e-10, "the D-optimal gain is the growth of the logarithm of the determinant (%.0e)", worst_d);
    ok(worst_a < 1e-9, "the A-optimal gain is the fall of the targets' variances (%.0e)", worst_a);
}

static double log_det_gain(const double *x, unsigned set)
{
    double m[P][P], inv[P][P], base;

    information(x, 0, m);
    base = invert(m, inv);
    information(x, set, m);
    return log(invert(m, inv) / base);
}

/* Greedy choices of PICK rows against all subsets of PICK rows. */
static void against_subsets(void)
{
    double worst = 1;
    int first = 0;
    uint64_t state = 2;

    for (int round = 0; round < 200; round++) {
        struct hrun_optimal *o = hrun_optimal_create(P, sd, NULL);
        double x[N * P], gain[N], cost[N], best = 0, best_one = 0, mine;
        unsigned set = 0;

        draw(&state, x, N * P);
        for (int k = 0; k < PICK; k++) {
            size_t i;

            for (int r = 0; r < N; r++) {
                gain[r] = set >> r & 1 ? 0 : hrun_optimal_gain_d(o, x + r * P);
                cost[r] = 1;
            }
            i = hrun_optimal_best(gain, cost, N);
            hrun_optimal_add(o, x + i * P, NULL);
            set |= 1u << i;
            if (!k) {
                for (int r = 0; r < N; r++)
                    best_one = fmax(best_one, log_det_gain(x, 1u << r));
                first += near(log_det_gain(x, set), best_one) < 1e-12;
            }
        }
        mine = log_det_gain(x, set);
        for (unsigned s = 0; s < 1u << N; s++)
            if (__builtin_popcount(s) == PICK)
                best = fmax(best, log_det_gain(x, s));
        worst = fmin(worst, mine / best);
        hrun_optimal_destroy(o);
    }
    ok(first == 200, "the first greedy row is the best single one");
    ok(worst >= 1 - exp(-1) && worst <= 1 + 1e-12, "greedy rows gain at least 1 - 1/e of the best subset (%.3f)",
       worst);
}

static void per_cost(void)
{
    const double gain[] = { 3, 2, NAN, 0, 2, 5, 1 }, cost[] = { 3, 1, 1, 0.1, 1, INFINITY, 0 };

    ok(hrun_optimal_best(gain, cost, 7) == 1, "the gain per cost decides, of equal ones the first");
    ok(hrun_optimal_best(gain + 2, cost + 2, 2) == 2, "what gains nothing is not chosen");
}

static void errors(void)
{
    struct hrun_error err = { 0 };
    double row[P] = { 1, NAN, 0, 0 }, good[P] = { 1, 1, 1, 1 }, bad_sd[P] = { 1, 0, 1, 1 }, before;
    struct hrun_optimal *o = hrun_optimal_create(P, sd, &err);

    before = hrun_optimal_variance(o, good);
    ok(hrun_optimal_add(o, row, &err) == -1 && err.code == HRUN_ENONFINITE && strstr(err.text, "entry 2"),
       "a row that is not finite is refused (%s)", err.text);
    ok(hrun_optimal_variance(o, good) == before, "and changes nothing");
    ok(isnan(hrun_optimal_gain_d(o, row)) && isnan(hrun_optimal_gain_a(o, row, good, 1)), "its gains are no numbers");
    hrun_optimal_destroy(o);
    ok(!hrun_optimal_create(P, bad_sd, &err) && err.code == HRUN_EINVAL, "a standard deviation of 0 is refused (%s)",
       err.text);
    ok(!hrun_optimal_create(0, sd, &err) && err.code == HRUN_ENODATA, "no coefficients are refused (%s)", err.text);
    hrun_optimal_destroy(NULL);
}

int main(void)
{
    against_inverses();
    against_subsets();
    per_cost();
    errors();
    return tap_done();
}
