/* Huber's re-weighting and cross-validation: conditions of the optimum, plain refits, and what glitches do. */
#include "fit/fit.h"
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

enum { N = 60, P = 4 };

struct made {
    double x[N * P], y[N], w[N], truth[P];
    struct hrun_lsq lsq;
};

/* Rows like those of a model: times over two decades with relative scatter, weighted by it; `glitches` of a hundred
 * rows take up to three times as long. */
static void make(struct made *m, uint64_t seed, double scatter, int glitches)
{
    for (int j = 0; j < P; j++)
        m->truth[j] = 0.5 + rnd(&seed);
    for (int i = 0; i < N; i++) {
        double u = 1 + 9 * rnd(&seed), *x = m->x + i * P, t = 0;

        x[0] = u * u;
        x[1] = u;
        x[2] = 1;
        x[3] = 10 / u;
        for (int j = 0; j < P; j++)
            t += m->truth[j] * x[j];
        m->w[i] = 1 / (0.02 * t);
        m->y[i] = t * (1 + scatter * rnd_normal(&seed));
        if (rnd_int(&seed, 1, 100) <= glitches)
            m->y[i] *= 1.2 + 1.8 * rnd(&seed);
    }
    m->lsq = (struct hrun_lsq){ m->x, m->y, m->w, N, P };
}

static double residual(const struct made *m, const double *k, int i)
{
    double r = m->y[i];

    for (int j = 0; j < P; j++)
        r -= k[j] * m->x[i * P + j];
    return r * m->w[i];
}

/* The objective is convex, so its gradient tells: 0 for a free coefficient, none that lets one at 0 grow. Largest
 * violation, columns at norm 1, in units of the bound. */
static double violation(const struct made *m, const double *k, double bound)
{
    double worst = 0;

    for (int j = 0; j < P; j++) {
        double g = 0, norm = 0;

        for (int i = 0; i < N; i++) {
            double x = m->w[i] * m->x[i * P + j];

            g += x * fmax(-bound, fmin(bound, residual(m, k, i)));
            norm = hypot(norm, x);
        }
        g /= norm * bound;
        worst = fmax(worst, k[j] != 0 ? fabs(g) : g);
    }
    return worst;
}

static void test_optimum(hrun_fit_solver *solve, const char *name)
{
    struct hrun_huber options = HRUN_HUBER_DEFAULT;
    double k[P], factor[N], worst = 0, off = 0, ratio = 0;
    int converged = 0, kept = 1;

    options.tol = 1e-10;
    options.rounds_max = 500;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct hrun_lsq_result out = { k, NULL, 0, 0, 0 };
        struct hrun_huber_result robust = { factor, 0, 0, 0 };
        struct hrun_error err;
        struct made m;

        make(&m, seed, 0.02, 15);
        if (hrun_fit_huber(solve, &m.lsq, &options, &out, &robust, &err))
            continue;
        converged += robust.converged;
        worst = fmax(worst, violation(&m, k, options.k * robust.scale));
        for (int i = 0; i < N; i++) {
            double r = fabs(residual(&m, k, i)), bound = options.k * robust.scale;

            ratio = fabs(factor[i] - (r > bound ? sqrt(bound / r) : 1));
            off = fmax(off, ratio);
            kept &= case_holds(factor[i] > 0 && factor[i] <= 1, i);
        }
    }
    is_int(converged, 20, "%s: the weights settle", name);
    ok(worst < 1e-7, "%s: the gradient of Huber's objective vanishes (%.1e)", name, worst);
    ok(off < 1e-7 && kept, "%s: each factor is the root of bound over residual, at most 1 (%.1e)", name, off);
}

static void test_glitches(void)
{
    static const struct hrun_huber options = HRUN_HUBER_DEFAULT;
    double plain = 0, robust_error = 0, clean = 0, k[P], factor[N];
    int rounds = 0;

    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct hrun_lsq_result out = { k, NULL, 0, 0, 0 };
        struct hrun_huber_result robust = { factor, 0, 0, 0 };
        struct made m;
        double *sums[] = { &plain, &robust_error, &clean };

        for (int way = 0; way < 3; way++) {
            make(&m, seed, 0.02, way == 2 ? 0 : 8);
            if (way == 1)
                hrun_fit_huber(hrun_fit_nnls, &m.lsq, &options, &out, &robust, NULL);
            else
                hrun_fit_nnls(&m.lsq, &out, NULL);
            for (int i = 0; i < N; i++) {
                double t = 0, fit = 0;

                for (int j = 0; j < P; j++) {
                    t += m.truth[j] * m.x[i * P + j];
                    fit += k[j] * m.x[i * P + j];
                }
                *sums[way] += fabs(fit / t - 1) / N / 50;
            }
        }
        rounds = robust.rounds > rounds ? robust.rounds : rounds;
    }
    ok(clean < 0.006, "without glitches the mean error is that of the scatter (%.4f)", clean);
    ok(robust_error < 2.5 * clean, "8 %% glitches make it no worse than 2.5 times that (%.4f)", robust_error);
    ok(plain > 4 * robust_error, "where the plain fit is off by more than 4 times as much (%.4f)", plain);
    ok(rounds <= options.rounds_max, "in at most %d rounds", rounds);
}

static void test_quiet(void)
{
    static const struct hrun_huber options = HRUN_HUBER_DEFAULT;
    double k[P], plain[P], factor[N], r[N], rss = 0;
    struct hrun_lsq_result out = { k, NULL, 0, 0, 0 }, ref = { plain, NULL, 0, 0, 0 };
    struct hrun_huber_result robust = { factor, 0, 0, 0 };
    struct made m;
    int same = 1;

    make(&m, 7, 0.001, 0);
    hrun_fit_huber(hrun_fit_ls, &m.lsq, &options, &out, &robust, NULL);
    hrun_fit_ls(&m.lsq, &ref, NULL);
    for (int j = 0; j < P; j++)
        same &= case_holds(k[j] == plain[j], j);
    ok(same && robust.rounds == 1 && robust.scale == 1,
       "rows that scatter less than their weights allow for are fitted once, as they are");
    for (int i = 0; i < N; i++) {
        r[i] = residual(&m, k, i);
        rss += r[i] * r[i];
    }
    is_num(rss, ref.rss, 1e-10, "residuals as the solver has them");
    is_num(hrun_fit_huber_variance(r, N, P, INFINITY), rss / (N - P), 1e-12, "their variance is the usual one");
    is_num(hrun_fit_huber_variance(r, N, N, 1), 0, 0, "none is left without degrees of freedom");
}

static void test_scale(void)
{
    double a[] = { 3, -1, 0, 2, -5 }, b[] = { -4, 1, 2, 0 };
    const double quartile = 0.67448975019608174;
    double many[4000];
    uint64_t seed = 3;

    is_num(hrun_fit_scale(a, 5, 0), 2 / quartile, 1e-15, "the median of the absolute values");
    is_num(hrun_fit_scale(a, 5, 2), 3 / quartile, 1e-15, "without the p smallest");
    is_num(hrun_fit_scale(b, 4, 0), 1.5 / quartile, 1e-15, "an even number: the mean of the middle two");
    is_num(hrun_fit_scale(b, 4, 4), 0, 0, "nothing left: 0");
    for (int i = 0; i < 4000; i++)
        many[i] = 0.3 * rnd_normal(&seed);
    is_num(hrun_fit_scale(many, 4000, 0) / 0.3, 1, 0.05, "the standard deviation of normal residuals");
}

/* Leave-one-group-out against making every fit anew; groups of 1 to 5 rows. */
static void test_leave_out(void)
{
    double worst = 0;
    int infinite = 0;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct made m;
        int group[N];
        double e[N];
        uint64_t state = seed;

        make(&m, seed, 0.1, 10);
        for (int i = 0, left = 0, g = 0; i < N; i++, left--) {
            if (!left) {
                left = rnd_int(&state, 1, 5);
                g++;
            }
            group[i] = g;
        }
        is_int(hrun_fit_leave_out(&m.lsq, group, e, NULL), 0, "left out one by one");
        for (int first = 0, end; first < N; first = end) {
            double x[N * P], y[N], w[N], k[P];
            struct hrun_lsq rest = { x, y, w, 0, P };
            struct hrun_lsq_result out = { k, NULL, 0, 0, 0 };

            for (end = first; end < N && group[end] == group[first];)
                end++;
            for (int i = 0; i < N; i++) {
                if (i >= first && i < end)
                    continue;
                memcpy(x + rest.n * P, m.x + i * P, P * sizeof *x);
                y[rest.n] = m.y[i];
                w[rest.n++] = m.w[i];
            }
            hrun_fit_ls(&rest, &out, NULL);
            for (int i = first; i < end; i++) {
                worst = fmax(worst, fabs(residual(&m, k, i) - e[i]) / (1 + fabs(e[i])));
                infinite += !isfinite(e[i]);
            }
        }
    }
    ok(worst < 1e-9 && !infinite, "residuals of rows left out are those of fits made without them (%.1e)", worst);
}

static void test_needed(void)
{
    /* Column 2 is seen by the last two rows alone. */
    const double x[] = { 1, 0, 1, 0, 1, 0, 1, 1, 1, 2 }, y[] = { 1, 2, 3, 4, 5 };
    const double twice[] = { 1, 2, 2, 4, 3, 6, 4, 8, 5, 10 };
    const struct hrun_lsq lsq = { x, y, NULL, 5, 2 }, few = { x, y, NULL, 1, 2 }, dependent = { twice, y, NULL, 5, 2 };
    const int together[] = { 1, 2, 3, 4, 4 }, apart[] = { 1, 2, 3, 4, 5 };
    double e[5];
    struct hrun_error err = { .text = "" };

    hrun_fit_leave_out(&lsq, together, e, &err);
    ok(isinf(e[3]) && isinf(e[4]) && isfinite(e[0]), "a group without which a column is not seen: infinity");
    hrun_fit_leave_out(&lsq, apart, e, &err);
    ok(isfinite(e[3]) && isfinite(e[4]), "one of its rows is enough to know it by");
    is_num(e[0], 1 - 28 / 11.0, 1e-12, "row 1 against the line through the others, 28/11 + 14/11 z");
    is_int(hrun_fit_leave_out(&few, apart, e, &err), -1, "fewer rows than columns");
    is_int(err.code, HRUN_ENODATA, "is said: %s", err.text);
    is_int(hrun_fit_leave_out(&dependent, apart, e, &err), -1, "dependent columns");
    is_int(err.code, HRUN_ERANK, "are said: %s", err.text);
}

static void test_options(void)
{
    static const struct hrun_huber bad[] = { { 0, 1, 9, 0.1 }, { NAN, 1, 9, 0.1 }, { 1.345, -1, 9, 0.1 },
                                             { 1.345, 1, 0, 0.1 }, { 1.345, 1, 9, NAN } };
    double k[P], factor[N];
    struct hrun_lsq_result out = { k, NULL, 0, 0, 0 };
    struct hrun_huber_result robust = { factor, 0, 0, 0 };
    struct hrun_huber one = HRUN_HUBER_DEFAULT;
    struct hrun_error err;
    struct made m;
    int refused = 0;

    make(&m, 1, 0.02, 10);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused += hrun_fit_huber(hrun_fit_ls, &m.lsq, &bad[i], &out, &robust, &err) && err.code == HRUN_EINVAL;
    is_int(refused, 5, "options that make no sense are refused");
    one.rounds_max = 1;
    is_int(hrun_fit_huber(hrun_fit_ls, &m.lsq, &one, &out, &robust, &err), 0, "one round");
    ok(robust.rounds == 1 && !robust.converged && factor[0] == 1, "is the plain fit, and says that it is not done");
    m.lsq.n = 2;
    is_int(hrun_fit_huber(hrun_fit_ls, &m.lsq, &one, &out, &robust, &err), -1, "what the solver refuses");
    is_int(err.code, HRUN_ENODATA, "is passed on: %s", err.text);
}

int main(void)
{
    test_optimum(hrun_fit_ls, "LS");
    test_optimum(hrun_fit_nnls, "NNLS");
    test_glitches();
    test_quiet();
    test_scale();
    test_leave_out();
    test_needed();
    test_options();
    return tap_done();
}
