/* Non-negative least squares against its optimality conditions, enumeration and identities.
 *
 * With the argument "solve" it is the peer of tests/cli/nnls_scipy.t instead: it reads problems from standard
 * input, each "n p" and n rows of p entries and the right side, and prints "k_1 ... k_p norm-of-the-residual
 * kkt".
 */
#include "fit/fit.h"
#include "model.h"
#include "fixture.h"

#include <float.h>
#include <stdlib.h>

enum { NMAX = 200, PMAX = 24 };

struct problem {
    double x[NMAX * PMAX], y[NMAX], w[NMAX];
    struct hrun_lsq q;
};

static void begin(struct problem *m, size_t n, size_t p)
{
    m->q = (struct hrun_lsq) { m->x, m->y, NULL, n, p };
}

/* Rounding allows the conditions to be off by the size of what cancels: sum |k_j| ||a_j|| against ||y||. */
static double allowance(const struct hrun_lsq *q, const double *k)
{
    double size = 0, yn = 0;

    for (size_t j = 0; j < q->p; j++) {
        double norm = 0;
        for (size_t i = 0; i < q->n; i++)
            norm = hypot(norm, q->x[i * q->p + j] * (q->w ? q->w[i] : 1));
        size += norm * k[j];
    }
    for (size_t i = 0; i < q->n; i++)
        yn = hypot(yn, q->y[i] * (q->w ? q->w[i] : 1));
    return 2 * (double)(q->n > q->p ? q->n : q->p) * DBL_EPSILON * (1 + (yn > 0 ? size / yn : 0));
}

static double objective(const struct hrun_lsq *q, const double *k)
{
    double sum = 0;

    for (size_t i = 0; i < q->n; i++) {
        double e = q->y[i];
        for (size_t j = 0; j < q->p; j++)
            e -= q->x[i * q->p + j] * k[j];
        e *= q->w ? q->w[i] : 1;
        sum += e * e;
    }
    return sum;
}

/* Least objective over all supports whose unconstrained solution is feasible: the definition. */
static double enumerate(const struct hrun_lsq *q)
{
    static double sub[NMAX * PMAX];
    double k[PMAX], zero[PMAX] = { 0 }, best = objective(q, zero);

    for (unsigned set = 1; set < 1u << q->p; set++) {
        struct hrun_lsq s = { sub, q->y, q->w, q->n, 0 };
        struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };
        int good = 1;

        for (size_t j = 0; j < q->p; j++)
            s.p += set >> j & 1;
        for (size_t i = 0, at = 0; i < q->n; i++)
            for (size_t j = 0; j < q->p; j++)
                if (set >> j & 1)
                    sub[at++] = q->x[i * q->p + j];
        /* A dependent set adds nothing: by Caratheodory some independent part of it does as well. */
        if (s.p > s.n || hrun_fit_ls(&s, &r, NULL))
            continue;
        for (size_t j = 0; j < s.p; j++)
            good &= case_holds(k[j] >= 0, set, j);
        if (good && r.rss < best)
            best = r.rss;
    }
    return best;
}

enum kind {
    NORMAL,
    POSITIVE,
    DEFICIENT,
    DUPLICATES,
    ZEROES,
    WIDE,
    SCALED,
    HILBERT,
    VANDERMONDE,
    TERMS,
    NKINDS
};
static const char *const kind_names[NKINDS] = { "normal entries",
                                                "positive entries",
                                                "rank deficient",
                                                "duplicate columns",
                                                "zero columns",
                                                "fewer rows than columns",
                                                "columns and rows over ten decades",
                                                "Hilbert-like, condition up to 1e12",
                                                "powers of N, condition up to 1e12",
                                                "ten terms of paper 000, Table V (HPL)" };

static void make(struct problem *m, enum kind kind, int pmax, uint64_t *seed)
{
    size_t p = (size_t)rnd_int(seed, 1, pmax), n = p + (size_t)rnd_int(seed, 0, 30);
    static const double sizes[9] = { 400, 800, 1600, 2400, 3200, 4800, 6400, 8000, 9600 };

    if (kind == WIDE) {
        p = (size_t)rnd_int(seed, 2, pmax);
        n = (size_t)rnd_int(seed, 1, (int)p - 1);
    } else if (kind == HILBERT) {
        p = (size_t)rnd_int(seed, 2, pmax < 9 ? pmax : 9);
        n = p + (size_t)rnd_int(seed, 0, 4);
    } else if (kind == VANDERMONDE) {
        p = 4;
        n = (size_t)rnd_int(seed, 4, 30);
    } else if (kind == TERMS) {
        p = 10;
        n = 63;
    }
    begin(m, n, p);
    for (size_t i = 0; i < n; i++) {
        double size = kind == TERMS ? sizes[i % 9] : floor(1000 + 9000 * rnd(seed)), P = (double)(2 + i / 9);
        double row[10] = { pow(size, 3) / P, size * size / P, size / P, 1 / P, P * size * size, P * size, P,
                           size * size, size, 1 };

        m->y[i] = rnd_normal(seed);
        for (size_t j = 0; j < p; j++) {
            double *e = &m->x[i * p + j];

            *e = kind == POSITIVE ? rnd(seed) : rnd_normal(seed);
            if (kind == HILBERT)
                *e = 1.0 / (double)(i + j + 1);
            else if (kind == VANDERMONDE)
                *e = pow(size, 3.0 - (double)j);
            else if (kind == TERMS)
                *e = row[j];
            else if (kind == ZEROES && j % 3 == 1)
                *e = 0;
        }
        if (kind == TERMS)
            m->y[i] = 1e-9 * row[0] + 1e-7 * row[7] + 0.05 * (1 + 0.02 * m->y[i]);
        else if (kind == VANDERMONDE)
            m->y[i] = 1e-10 * pow(size, 3) * (1 + 0.1 * m->y[i]);
    }
    /* A positive combination keeps nearly dependent columns in use together. */
    for (size_t i = 0; kind == HILBERT && n % 2 && i < n; i++) {
        m->y[i] *= 1e-13;
        for (size_t j = 0; j < p; j++)
            m->y[i] += m->x[i * p + j] * (double)(1 + (j * 5 + p) % 3);
    }
    if (kind == DUPLICATES)
        for (size_t j = 1; j < p; j += 2)
            for (size_t i = 0; i < n; i++)
                m->x[i * p + j] = m->x[i * p + j - 1] * (j % 4 == 1 ? 1 : 3.7);
    if (kind == DEFICIENT)
        for (size_t j = 2; j < p; j++)
            for (size_t i = 0; i < n; i++)
                m->x[i * p + j] = (double)(j % 3) * m->x[i * p] + (1 - (double)(j % 5)) * m->x[i * p + 1];
    if (kind == SCALED) {
        for (size_t j = 0; j < p; j++) {
            double scale = pow(10, 10 * rnd(seed) - 5);
            for (size_t i = 0; i < n; i++)
                m->x[i * p + j] *= scale;
        }
        for (size_t i = 0; i < n; i++)
            m->w[i] = pow(10, 10 * rnd(seed) - 5);
        m->q.w = m->w;
    }
    if (rnd_int(seed, 0, 40) == 0)
        for (size_t i = 0; i < n; i++)
            m->y[i] = 0;
}

static void test_kkt(void)
{
    static struct problem m;
    double k[PMAX], cov[PMAX * PMAX];

    for (int kind = 0; kind < NKINDS; kind++) {
        uint64_t seed = 1000 + (uint64_t)kind;
        int failed = 0, negative = 0, bad_rank = 0, bad_cov = 0;
        double worst = 0;
        size_t entered = 0;

        for (int t = 0; t < 600; t++) {
            struct hrun_lsq_result r = { k, cov, 0, 0, 0 };
            size_t positive = 0;

            make(&m, (enum kind)kind, PMAX, &seed);
            if (hrun_fit_nnls(&m.q, &r, NULL)) {
                failed++;
                continue;
            }
            for (size_t j = 0; j < m.q.p; j++) {
                negative += !(k[j] >= 0);
                positive += k[j] > 0;
                for (size_t l = 0; l < m.q.p; l++) {
                    double v = cov[j * m.q.p + l];
                    bad_cov += v != cov[l * m.q.p + j] || (v != 0 && (k[j] == 0 || k[l] == 0)) ||
                               (j == l && k[j] > 0 && !(v > 0));
                }
            }
            bad_rank += r.rank != positive;
            entered = r.iterations > entered ? r.iterations : entered;
            worst = fmax(worst, fit_kkt(&m.q, k) / allowance(&m.q, k));
        }
        ok(!failed && !negative && !bad_rank && !bad_cov, "%s: solved, k >= 0, rank and covariance fit k",
           kind_names[kind]);
        ok(worst <= 1, "%s: Kuhn-Tucker conditions hold, worst %.2f of what rounding explains",
           kind_names[kind], worst);
        ok(entered <= 3 * PMAX, "%s: at most %zu columns were entered", kind_names[kind], entered);
    }
}

static void test_enumeration(void)
{
    static struct problem m;
    double k[PMAX];

    for (int kind = 0; kind < NKINDS; kind++) {
        uint64_t seed = 77 + (uint64_t)kind;
        double worst = 0;

        for (int t = 0; t < 40; t++) {
            struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };
            double yy, best;

            make(&m, (enum kind)kind, t % 10 ? 6 : 10, &seed);
            hrun_fit_nnls(&m.q, &r, NULL);
            memset(k, 0, sizeof k);
            yy = objective(&m.q, k);
            hrun_fit_nnls(&m.q, &r, NULL);
            best = enumerate(&m.q);
            /* both ways: better than the best support is as wrong as worse */
            if (yy > 0)
                worst = fmax(worst, fabs(sqrt(r.rss) - sqrt(best)) / sqrt(yy));
            if (yy > 0)
                worst = fmax(worst, fabs(sqrt(r.rss) - sqrt(objective(&m.q, k))) / sqrt(yy));
        }
        ok(worst < 1e-9, "%s: the best of all supports, residual norms differ by %.1e of ||y||",
           kind_names[kind], worst);
    }
}

static void test_by_hand(void)
{
    double eye[4] = { 1, 0, 0, 1 }, y[2] = { 3, -2 }, k[2], cov[4];
    double dup[4] = { 1, 1, 1, 1 }, plane[6] = { 1, 1, 1, -1, 0, 0 }, yp[3] = { 1, 3, 2 };
    struct hrun_lsq q = { eye, y, NULL, 2, 2 };
    struct hrun_lsq_result r = { k, cov, 0, 0, 0 };

    hrun_fit_nnls(&q, &r, NULL);
    ok(k[0] == 3 && k[1] == 0, "identity: negative parts are cut");
    is_num(r.rss, 4, 1e-15, "identity: the cut part remains");
    ok(r.rank == 1 && cov[0] == 1 && cov[1] == 0 && cov[3] == 0, "identity: covariance on the passive set "
                                                                 "only");
    q = (struct hrun_lsq) { plane, yp, NULL, 3, 2 };
    hrun_fit_nnls(&q, &r, NULL);
    /* unconstrained (2,-1); with k2 = 0: k1 = (1 + 3) / 2 = 2, residual (-1, 1, 2) */
    is_num(k[0], 2, 1e-15, "a constrained plane: k1 = 2");
    ok(k[1] == 0, "a constrained plane: k2 = 0 exactly");
    is_num(r.rss, 6, 1e-14, "a constrained plane: residual 1 + 1 + 4");
    is_num(fit_kkt(&q, k), 0, 1e-15, "its Kuhn-Tucker conditions hold");
    k[1] = 0.5;
    ok(fit_kkt(&q, k) > 0.1, "and are violated elsewhere");
    k[0] = 2;
    k[1] = -1;
    ok(fit_kkt(&q, k) > 0.1, "also at the unconstrained solution, by its negative coefficient");
    k[0] = 2;
    k[1] = NAN;
    ok(isinf(fit_kkt(&q, k)), "and infinitely by NaN");
    q = (struct hrun_lsq) { dup, y, NULL, 2, 2 };
    hrun_fit_nnls(&q, &r, NULL);
    is_num(k[0], 0.5, 1e-15, "of two equal columns");
    ok(r.rank == 1 && k[1] == 0, "the first is used");
    y[0] = y[1] = 0;
    hrun_fit_nnls(&q, &r, NULL);
    ok(k[0] == 0 && k[1] == 0 && r.rss == 0 && r.rank == 0, "a zero right side gives zero");
    is_num(fit_kkt(&q, k), 0, 0, "... which is optimal");
    y[0] = y[1] = -1;
    hrun_fit_nnls(&q, &r, NULL);
    ok(k[0] == 0 && k[1] == 0 && r.rank == 0, "a negative right side gives zero");
}

/* Fewer rows than columns: which of several optima is found. */
static void test_underdetermined(void)
{
    /* N^3, N^2, N, 1 at N = 1, 2, 4 */
    static const double sizes[3] = { 1, 2, 4 };
    double x[12], y[3], k[4], z[6] = { 1, 3, 0.1, 1, 3, 1 };
    struct hrun_lsq q = { x, y, NULL, 3, 4 };
    struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++)
            x[i * 4 + j] = pow(sizes[i], 3 - j);
        y[i] = 2 * x[i * 4] + 5;
    }
    hrun_fit_nnls(&q, &r, NULL);
    /* (N-1)(N-2)(N-4) has the signs + - + -, so no other sum with k >= 0 goes through the points */
    is_num(k[0], 2, 1e-13, "three rows, four columns: the cubic part comes back");
    is_num(k[3], 5, 1e-12, "... and the constant");
    ok(k[1] == 0 && k[2] == 0 && r.rank == 2, "... and nothing else");

    /* columns (1,1), (3,3), (0.1,1): the second is the first again */
    q = (struct hrun_lsq) { z, y, NULL, 2, 3 };
    y[0] = 2;
    y[1] = 3.5;
    hrun_fit_nnls(&q, &r, NULL);
    ok(k[0] > 0 && k[1] == 0 && k[2] > 0, "of columns equal but for scale the first is used");

    /* 1, P and 1/P at P = 2, 3: y lies between 1 and P, and 1 between 1/P and P, so that P with either of the
     * others gives y */
    {
        double c[6] = { 1, 2, 0.5, 1, 3, 1.0 / 3 }, d[6] = { 0.5, 1, 2, 1.0 / 3, 1, 3 };
        struct hrun_lsq one = { c, y, NULL, 2, 3 }, other = { d, y, NULL, 2, 3 };

        y[0] = 1.5;
        y[1] = 1.6;
        hrun_fit_nnls(&one, &r, NULL);
        ok(k[0] > 0 && k[1] > 0 && k[2] == 0 && r.rss < 1e-28, "1, P, 1/P: the first and what it leaves");
        hrun_fit_nnls(&other, &r, NULL);
        ok(k[0] > 0 && k[2] > 0 && k[1] == 0 && r.rss < 1e-28, "1/P, 1, P: likewise");
    }
    {
        double e[15], ye[5];
        uint64_t seed = 21;
        int used = 0, second = 0;

        q = (struct hrun_lsq) { e, ye, NULL, 5, 3 };
        for (int t = 0; t < 300; t++) {
            double scale = 0.1 + rnd(&seed);

            for (int i = 0; i < 5; i++) {
                e[i * 3] = 0.5 + rnd(&seed);
                e[i * 3 + 1] = rnd(&seed);
                e[i * 3 + 2] = scale * e[i * 3 + 1];
                ye[i] = e[i * 3] + e[i * 3 + 1] + 0.01 * rnd(&seed);
            }
            hrun_fit_nnls(&q, &r, NULL);
            used += k[1] > 0;
            second += k[2] > 0;
        }
        ok(used == 300 && !second, "of columns that rounding makes unequal, too, the first is used");
    }
}

/* The objective knows no order of rows or columns, and no scale. */
static void test_invariance(void)
{
    static struct problem m, c;
    uint64_t seed = 5;
    double k[PMAX], kc[PMAX], perm = 0, scaled = 0, weights = 0, coef = 0;

    for (int t = 0; t < 400; t++) {
        struct hrun_lsq_result r = { k, NULL, 0, 0, 0 }, rc = { kc, NULL, 0, 0, 0 };
        size_t n, p;
        double yy = 0, s[PMAX], f = pow(10, 10 * rnd(&seed) - 5);

        make(&m, t % 2 ? NORMAL : POSITIVE, 12, &seed);
        n = m.q.n;
        p = m.q.p;
        for (size_t i = 0; i < n; i++)
            yy += m.y[i] * m.y[i];
        if (yy == 0)
            continue;
        hrun_fit_nnls(&m.q, &r, NULL);

        begin(&c, n, p);
        for (size_t i = 0; i < n; i++) {
            c.y[n - 1 - i] = m.y[i];
            for (size_t j = 0; j < p; j++)
                c.x[(n - 1 - i) * p + (j + 1) % p] = m.x[i * p + j];
        }
        hrun_fit_nnls(&c.q, &rc, NULL);
        perm = fmax(perm, fabs(sqrt(rc.rss) - sqrt(r.rss)) / sqrt(yy));
        for (size_t j = 0; j < p; j++)
            coef = fmax(coef, fabs(kc[(j + 1) % p] - k[j]) / (1 + fabs(k[j])));

        for (size_t j = 0; j < p; j++)
            s[j] = pow(10, 10 * rnd(&seed) - 5);
        for (size_t i = 0; i < n; i++) {
            c.y[i] = m.y[i] * f;
            for (size_t j = 0; j < p; j++)
                c.x[i * p + j] = m.x[i * p + j] * s[j];
        }
        hrun_fit_nnls(&c.q, &rc, NULL);
        scaled = fmax(scaled, fabs(sqrt(rc.rss) / f - sqrt(r.rss)) / sqrt(yy));
        for (size_t j = 0; j < p; j++)
            coef = fmax(coef, fabs(kc[j] * s[j] / f - k[j]) / (1 + fabs(k[j])));

        /* weights are nothing but a scaling of rows */
        for (size_t i = 0; i < n; i++) {
            m.w[i] = pow(10, 2 * rnd(&seed) - 1);
            c.y[i] = m.y[i] * m.w[i];
            for (size_t j = 0; j < p; j++)
                c.x[i * p + j] = m.x[i * p + j] * m.w[i];
        }
        m.q.w = m.w;
        hrun_fit_nnls(&m.q, &r, NULL);
        hrun_fit_nnls(&c.q, &rc, NULL);
        weights = fmax(weights, fabs(rc.rss - r.rss) / (1 + r.rss));
        for (size_t j = 0; j < p; j++)
            weights = fmax(weights, fabs(kc[j] - k[j]) / (1 + fabs(k[j])));
    }
    ok(perm < 1e-13, "order of rows and columns does not matter (%.1e)", perm);
    ok(scaled < 1e-13, "scale of columns and right side does not matter (%.1e)", scaled);
    ok(coef < 1e-9, "coefficients follow (%.1e)", coef);
    ok(weights < 1e-12, "weights are a scaling of rows (%.1e)", weights);
}

/* Consistent data: the coefficients come back, down to those that matter little. */
static void test_recovery(void)
{
    static struct problem m;
    double k[PMAX], want[PMAX], worst = 0;
    uint64_t seed = 9;

    for (int t = 0; t < 400; t++) {
        struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };
        double size = 0;

        make(&m, TERMS, PMAX, &seed);
        for (size_t j = 0; j < 10; j++)
            want[j] = 0;
        want[0] = 1e-9 * (0.5 + rnd(&seed));
        want[7] = t % 2 ? 1e-7 * rnd(&seed) : 0;
        want[5] = t % 3 ? 1e-6 * rnd(&seed) : 0;
        want[9] = 0.05 * rnd(&seed);
        for (size_t i = 0; i < m.q.n; i++) {
            m.y[i] = 0;
            for (size_t j = 0; j < 10; j++)
                m.y[i] += want[j] * m.x[i * 10 + j];
            m.w[i] = 1 / m.y[i];
        }
        m.q.w = m.w;
        hrun_fit_nnls(&m.q, &r, NULL);
        for (size_t i = 0; i < m.q.n; i++)
            for (size_t j = 0; j < 10; j++)
                size = fmax(size, fabs(k[j] - want[j]) * m.x[i * 10 + j] * m.w[i]);
        worst = fmax(worst, size);
    }
    ok(worst < 1e-9, "coefficients of the ten HPL terms are recovered: contributions within %.1e of T",
       worst);
}

static void test_errors(void)
{
    double x[4] = { 1, 0, 0, 1 }, y[2] = { 1, 1 }, k[2] = { 7, 8 }, cov[4] = { 9, 9, 9, 9 };
    struct hrun_lsq q = { x, y, NULL, 2, 2 };
    struct hrun_lsq_result r = { k, cov, 5, 6, 4 };
    struct hrun_error err;

    x[3] = INFINITY;
    is_int(hrun_fit_nnls(&q, &r, &err), -1, "infinity fails");
    is_int(err.code, HRUN_ENONFINITE, "... with HRUN_ENONFINITE");
    is_str(err.text, "row 2, column 2 is inf with weight 1; finite numbers are needed",
           "... naming the place");
    x[3] = 1e-310;
    y[1] = 1;
    is_int(hrun_fit_nnls(&q, &r, &err), -1, "a coefficient that overflows fails");
    is_str(err.text, "the coefficient of column 2 overflows", "... naming the column");
    x[3] = y[1] = 1e-200;
    y[0] = 0;
    is_int(hrun_fit_nnls(&q, &r, &err), -1, "a variance that overflows fails");
    is_str(err.text, "the variance of column 2 overflows", "... naming the column");
    q.p = 0;
    is_int(hrun_fit_nnls(&q, &r, &err), -1, "no columns fail");
    is_int(err.code, HRUN_ENODATA, "... with HRUN_ENODATA");
    q.p = (size_t)-1 / 8;
    is_int(hrun_fit_nnls(&q, &r, &err), -1, "a size that no memory holds fails");
    is_int(err.code, HRUN_EINVAL, "... with HRUN_EINVAL");
    ok(k[0] == 7 && k[1] == 8 && cov[0] == 9 && r.rss == 5 && r.rank == 6 && r.iterations == 4,
       "outputs are untouched by all of this");
}

static int solve(void)
{
    static struct problem m;
    size_t n, p;
    double k[PMAX];

    while (scanf("%zu %zu", &n, &p) == 2) {
        struct hrun_lsq_result r = { k, NULL, 0, 0, 0 };
        struct hrun_error err;

        if (n < 1 || n > NMAX || p < 1 || p > PMAX)
            return 2;
        begin(&m, n, p);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= p; j++)
                if (scanf("%lf", j < p ? &m.x[i * p + j] : &m.y[i]) != 1)
                    return 2;
        if (hrun_fit_nnls(&m.q, &r, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        for (size_t j = 0; j < p; j++)
            printf("%.17g ", k[j]);
        printf("%.17g %.17g\n", sqrt(r.rss), fit_kkt(&m.q, k));
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "solve"))
        return solve();
    test_kkt();
    test_enumeration();
    test_by_hand();
    test_underdetermined();
    test_invariance();
    test_recovery();
    test_errors();
    return tap_done();
}
