/* test_net_least_squares.c - net_nnls against the dense solver of lib/fit */
#include "fixture.h"
#include "fit/fit.h"
#include "net/fitting.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 160, COLUMNS_MAX = 48 };

/* The same system twice. */
struct problem {
    double x[ROWS_MAX * COLUMNS_MAX], y[ROWS_MAX], w[ROWS_MAX], value[ROWS_MAX * COLUMNS_MAX];
    size_t first[ROWS_MAX + 1], column[ROWS_MAX * COLUMNS_MAX];
    struct hrun_lsq dense;
    struct net_rows rows;
};

enum kind { PAIRS, POSITIVE, ZEROES, SCALED, DEFICIENT, WIDE, NKINDS };
static const struct {
    const char *name;
    int unique;                /* is there one optimum? */
} kinds[NKINDS] = { { "rows of hosts and pairs", 1 }, { "positive entries", 1 }, { "zero columns", 1 },
                    { "columns and rows over ten decades", 1 }, { "columns that depend", 0 },
                    { "fewer rows than columns", 0 } };

static void make(struct problem *m, enum kind kind, uint64_t *seed)
{
    size_t p = (size_t)rnd_int(seed, 2, COLUMNS_MAX), n = p + (size_t)rnd_int(seed, 5, ROWS_MAX - COLUMNS_MAX), at = 0;

    n = kind == WIDE ? p / 2 + 1 : n;
    m->dense = (struct hrun_lsq){ m->x, m->y, m->w, n, p };
    m->rows = (struct net_rows){ n, p, m->first, m->column, m->value, m->y, m->w };
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
        m->w[i] = (0.1 + rnd(seed)) * (kind == SCALED ? pow(10, rnd_int(seed, -1, 1)) : 1);
    }
    for (size_t j = 0; j < p; j++) {
        double f = kind == SCALED ? pow(10, rnd_int(seed, -10, 10)) : 1;

        f = kind == ZEROES && j % 3 == 1 ? 0 : f;
        for (size_t i = 0; i < n; i++) {
            double *row = m->x + i * p;

            row[j] = kind == DEFICIENT && j % 4 == 3 ? row[j - 1] - 2 * row[j - 2] : row[j] * f;
        }
    }
    for (size_t i = 0; i < n; i++) {
        m->first[i] = at;
        for (size_t j = 0; j < p; j++)
            if (m->x[i * p + j] != 0) {
                m->column[at] = j;
                m->value[at++] = m->x[i * p + j];
            }
    }
    m->first[n] = at;
}

static double sum_of_squares(const struct problem *m, const double *k)
{
    double sum = 0;

    for (size_t i = 0; i < m->dense.n; i++) {
        double e = m->y[i];

        for (size_t j = 0; j < m->dense.p; j++)
            e -= m->x[i * m->dense.p + j] * k[j];
        sum += e * e * m->w[i] * m->w[i];
    }
    return sum;
}

/* Starts: all columns, any, one. */
static const double *start_of(int which, size_t p, double *room, uint64_t *seed)
{
    for (size_t j = 0; j < p; j++)
        room[j] = which == 1 ? rnd_int(seed, 0, 1) : j == 0;
    return which ? room : NULL;
}

static void test_dense(enum kind kind)
{
    static struct problem m;
    static double cov[COLUMNS_MAX * COLUMNS_MAX];
    double want[COLUMNS_MAX], got[COLUMNS_MAX], variance[COLUMNS_MAX], room[COLUMNS_MAX];
    const double none[COLUMNS_MAX] = { 0 };
    double rss_off = 0, off = 0, variance_off = 0;
    uint64_t seed = 300 + (uint64_t)kind;
    int bad = 0;

    for (int t = 0; t < 300; t++) {
        struct hrun_lsq_result dense = { .k = want, .cov = cov };

        make(&m, kind, &seed);
        bad += hrun_fit_nnls(&m.dense, &dense, NULL) != 0;
        for (int which = 0; which < 3; which++) {
            size_t p = m.dense.p, rank, positive = 0;
            const double *start = start_of(which, p, room, &seed);

            net_nnls(&m.rows, start, got, &rank, variance);
            for (size_t j = 0; j < p; j++) {
                bad += !(got[j] >= 0);
                positive += got[j] > 0;
                off = fmax(off, want[j] > 0 ? fabs(got[j] / want[j] - 1) : got[j] > 0);
                variance_off = fmax(variance_off, want[j] > 0 ? fabs(variance[j] / cov[j * p + j] - 1) : variance[j]);
            }
            bad += rank != positive;
            rss_off = fmax(rss_off, fabs(sum_of_squares(&m, got) - sum_of_squares(&m, want)) / sum_of_squares(&m, none));
        }
    }
    is_int(bad, 0, "%s: solved", kinds[kind].name);
    ok(rss_off < 1e-9, "%s: what is left is that of the dense solver (%.2g)", kinds[kind].name, rss_off);
    if (kinds[kind].unique)
        ok(off < 1e-6 && variance_off < 1e-6, "%s: so are solution and variances (%.2g, %.2g)", kinds[kind].name, off,
           variance_off);
}

int main(void)
{
    for (int kind = 0; kind < NKINDS; kind++)
        test_dense((enum kind)kind);
    return tap_done();
}
