/* bench_plan.c - how long the search takes: medians of several repetitions, on made-up separable models
 *
 * Ti(N, P, M) = w_i(M) N^3/P + a_i N^2 M + b_i N P + c_i P: the shape of the NP-T model of HPL (paper 000,
 * Table V) with coefficients of the order that its cluster had; M processes share one PE, so w grows a little
 * faster than M.
 */
#include "plan/plan.h"
#include "plan/search.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUBS = 16, M_MAX = 64, REPEAT = 7 };

enum rule { FREE, DIVIDES, SQUARE };
static const char *const rule_names[] = { "free", "N%P==0", "N%(P*P)==0 && ispow2(P)" };

struct model {
    struct hrun_oracle oracle;
    struct hrun_option options[SUBS * M_MAX];
    struct hrun_plan_sub subs[SUBS];
    int64_t N;
    enum rule rule;
    double k[SUBS * M_MAX][4];   /* coefficients of 1/P, 1, P, and of P = M; of shares: of 1, P, a unit */
    int64_t units;               /* of shares */
};

static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int model_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++) {
        int m = x->options[o].m;
        t[o] = P < m ? NAN : P == m ? x->k[o][3] : x->k[o][0] / P + x->k[o][1] + x->k[o][2] * P;
    }
    return 0;
}

/* A tree over the sub-clusters used, and the slowest of them once more: what depends on the whole. */
static int model_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                       struct hrun_error *err)
{
    const struct model *x = ctx;
    double most = 0, t;
    int used = 0;

    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++) {
        int i = x->options[o].sub, m = x->options[o].m;

        if (!config->pes[i] || config->procs[i] != m)
            continue;
        used++;
        t = P == m ? x->k[o][3] : x->k[o][0] / P + x->k[o][1] + x->k[o][2] * P;
        if (t > most) {
            most = t;
            *limiting = i;
        }
    }
    *time_s = most * (1 + 0.005 * (used - 1));
    return 0;
}

/* Of the sub-clusters that are known. */
static int model_part(void *ctx, const struct hrun_config *config, int known, int P, double *time_s,
                      struct hrun_error *err)
{
    int limiting;

    (void)known;
    if (model_whole(ctx, config, P, time_s, &limiting, err))
        return -1;
    *time_s *= 1 - 1e-12;
    return 0;
}

static int model_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++) {
        int m = x->options[o].m;
        b[o] = x->k[o][0] / hi + x->k[o][1] + x->k[o][2] * lo;
        if (lo <= m && m <= hi && x->k[o][3] < b[o])
            b[o] = x->k[o][3];
        if (hi < m)
            b[o] = INFINITY;
    }
    return 0;
}

static int model_rule(void *ctx, int P, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)err;
    switch (x->rule) {
    case DIVIDES: return x->N % P == 0;
    case SQUARE: return (P & (P - 1)) == 0 && x->N % ((int64_t)P * P) == 0;
    default: return 1;
    }
}

static int model_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)err;
    *bytes = 8.0 * (double)x->N * (double)x->N / P;
    return 0;
}

/* m_max[i] processes per PE and npes[i] PEs in sub-cluster i. */
static void model_init(struct model *x, int nsubs, const int *npes, const int *m_max, int64_t N,
                       enum rule rule)
{
    uint64_t state = 5;
    int pes = 0;

    memset(x, 0, sizeof *x);
    x->N = N;
    x->rule = rule;
    x->oracle = (struct hrun_oracle){ .ctx = x, .nsubs = nsubs, .options = x->options, .times = model_times,
                                      .bounds = model_bounds, .rule = model_rule, .memory = model_memory };
    for (int i = 0; i < nsubs; i++)
        pes += npes[i];
    for (int i = 0; i < nsubs; i++) {
        double speed = (1 + 5 * uniform(&state)) * 1e9, latency = (1 + uniform(&state)) * 1e-6;
        double n = (double)N;
        x->subs[i].npes = npes[i];
        for (int m = 1; m <= m_max[i]; m++) {
            int o = x->oracle.noptions++;
            double share = m * (1 + 0.01 * (m - 1) * uniform(&state));
            x->options[o] = (struct hrun_option){ i, m };
            x->k[o][0] = 2.0 / 3.0 * n * n * n * share / speed;
            x->k[o][1] = n * n * 1e-11 * m;
            x->k[o][2] = n * latency / (100.0 + pes);
            x->k[o][3] = 0.9 * (x->k[o][0] / m + x->k[o][1]);
        }
    }
}

/* ------------------------------------------------- shares: base + c P + u units, on each process */

static int shares_lines(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)hi;
    (void)err;
    *units = x->units;
    for (int o = 0; o < x->oracle.noptions; o++)
        v[o] = (struct hrun_line) { lo > x->units ? 0 : x->options[o].m, x->k[o][0] + x->k[o][1] * lo, x->k[o][2],
                                    INT64_MAX };
    return 0;
}

static int shares_at(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    return shares_lines(ctx, P, P, v, units, err);
}

static int shares_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++)
        t[o] = P > x->units ? NAN : x->k[o][0] + x->k[o][1] * P + x->k[o][2];
    return 0;
}

static int shares_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    const struct model *x = ctx;

    (void)hi;
    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++)
        b[o] = lo > x->units ? INFINITY : x->k[o][0] + x->k[o][1] * lo + x->k[o][2];
    return 0;
}

static int shares_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                        struct hrun_error *err)
{
    const struct model *x = ctx;
    struct hrun_line v[SUBS];
    int64_t share[SUBS];
    int n = 0;

    (void)err;
    for (int o = 0; o < x->oracle.noptions; o++)
        if (config->pes[x->options[o].sub] && config->procs[x->options[o].sub] == x->options[o].m)
            v[n++] = (struct hrun_line) { (int64_t)config->pes[x->options[o].sub] * x->options[o].m,
                                          x->k[o][0] + x->k[o][1] * P, x->k[o][2], INT64_MAX };
    *time_s = hrun_balance(v, n, x->units, share);
    *limiting = 0;
    while (!config->pes[*limiting])
        ++*limiting;
    return 0;
}

/* Processes that share a PE take a little longer than in proportion; 16 sub-clusters of `pes` PEs, m_max on each. With
 * `gain` above 1 two and more on a PE do more than one. */
static void shares_init(struct model *x, int pes, int m_max, int64_t units, double gain, enum rule rule)
{
    uint64_t state = 11;

    memset(x, 0, sizeof *x);
    x->N = 4838400;
    x->rule = rule;
    x->units = units;
    x->oracle = (struct hrun_oracle){ .ctx = x, .nsubs = SUBS, .options = x->options, .times = shares_times,
                                      .bounds = shares_bounds, .rule = model_rule, .whole = shares_whole,
                                      .lines = shares_at, .lines_bound = shares_lines };
    for (int i = 0; i < SUBS; i++) {
        double unit = 1e-3 * (1 + 5 * uniform(&state)), base = 0.01 * (1 + uniform(&state));
        double each = 20e-6 * (1 + uniform(&state));

        x->subs[i].npes = pes;
        for (int m = 1; m <= m_max; m++) {
            int o = x->oracle.noptions++;

            x->options[o] = (struct hrun_option){ i, m };
            x->k[o][0] = base * (1 + 0.1 * (m - 1));
            x->k[o][1] = each;
            x->k[o][2] = unit * (m > 1 ? m / gain : 1) * (1 + 0.02 * (m - 1) * uniform(&state));
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Median seconds of hrun_plan_search; *out is the last plan. Short searches are repeated in batches. */
static double measure(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out)
{
    double seconds[REPEAT];
    struct hrun_error err;
    struct timespec from, to;
    int batch = 1;

    for (int k = 0; k < REPEAT; k++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int j = 0; j < batch; j++) {
            hrun_plan_destroy(*out);
            *out = NULL;
            if (hrun_plan_search(problem, top, out, &err)) {
                printf("failed: %s\n", err.text);
                exit(1);
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        seconds[k] = ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec)) / batch;
        if (k == 0 && batch == 1 && seconds[0] < 1e-3) {
            batch = (int)(2e-3 / (seconds[0] + 1e-7)) + 1;
            k = -1;  /* the first one only told the batch */
            continue;
        }
    }
    qsort(seconds, REPEAT, sizeof *seconds, by_value);
    return seconds[REPEAT / 2];
}

/* Print one instance; P > 0: only configurations with P processes. */
static void row(const char *what, const struct model *x, int P)
{
    struct hrun_plan_problem problem = { &x->oracle, x->subs, NULL, P, NULL };
    struct hrun_plan *plan = NULL, *again = NULL;
    int pes = 0;
    double one = measure(&problem, 1, &plan), three = measure(&problem, 3, &again);

    for (int i = 0; i < x->oracle.nsubs; i++)
        pes += x->subs[i].npes;
    hrun_plan_destroy(again);
    printf("%-24s %2d %6d %5d  %-24s %9.3f %9.3f  %9.3g %7d %10.4g\n", what, x->oracle.nsubs, pes,
           x->oracle.noptions, rule_names[x->rule], 1e3 * one, 1e3 * three, plan->counts.total, plan->v[0].P,
           plan->v[0].value);
    fflush(stdout);
    hrun_plan_destroy(plan);
}

/* The same instance when its time depends on the whole configuration, with bounds of parts and without. */
static void whole_row(const char *what, struct model *x, int parts)
{
    struct hrun_plan_problem problem = { &x->oracle, x->subs, NULL, 0, NULL };
    struct hrun_plan *plan = NULL, *whole = NULL;
    double separable = measure(&problem, 1, &plan), looked;

    x->oracle.whole = model_whole;
    x->oracle.part = parts ? model_part : NULL;
    looked = measure(&problem, 1, &whole);
    x->oracle.whole = NULL;
    x->oracle.part = NULL;
    printf("%-24s %2d %5d  %9.3f %9.3f %7.1f  %6ld  %s", what, x->oracle.nsubs, x->oracle.noptions, 1e3 * separable,
           1e3 * looked, looked / separable, whole->evaluated, whole->exact ? "exact\n" : "");
    if (!whole->exact)
        printf("within %.2g %%\n", 100 * whole->gap);
    hrun_plan_destroy(plan);
    hrun_plan_destroy(whole);
}

static void shares_row(const char *what, int pes, int64_t units, double gain, enum rule rule)
{
    static struct model x;
    struct hrun_plan_problem problem = { &x.oracle, x.subs, NULL, 0, NULL };
    struct hrun_plan *one = NULL, *three = NULL;
    double first, ms;

    shares_init(&x, pes, 8, units, gain, rule);
    first = measure(&problem, 1, &one);
    ms = measure(&problem, 3, &three);
    printf("%-24s %2d %5d %8ld %-24s %9.3f %9.3f %7d %10.6g %6ld  %s", what, x.oracle.nsubs, x.oracle.noptions,
           (long)units, rule_names[rule], 1e3 * first, 1e3 * ms, three->v[0].P, three->v[0].value, three->evaluated,
           three->exact ? "exact\n" : "");
    if (!three->exact)
        printf("within %.2g %%\n", 100 * three->gap);
    hrun_plan_destroy(one);
    hrun_plan_destroy(three);
}

int main(void)
{
    static struct model x;
    static const int table_pes[] = { 4, 4, 4 }, table_m[] = { 2, 2, 1 };
    /* A size with many divisors: 2^10 3^3 5^2 7. */
    const int64_t N = 4838400;
    int npes[SUBS], m_max[SUBS];

    printf("%-24s %2s %6s %5s  %-24s %9s %9s  %9s %7s %10s\n", "instance", "G", "PEs", "opts",
           "rule", "ms top 1", "ms top 3", "configs", "P", "value s");
    for (int64_t n = 800; n <= 9600; n *= 12) {
        model_init(&x, 3, table_pes, table_m, n, FREE);
        row(n == 800 ? "Table VI, N=800" : "Table VI, N=9600", &x, 0);
    }
    for (int rule = FREE; rule <= SQUARE; rule++) {
        for (int pes = 100; pes <= 10000; pes *= 10) {
            for (int i = 0; i < SUBS; i++) {
                npes[i] = pes * (i + 1) / SUBS - pes * i / SUBS;
                m_max[i] = M_MAX;
            }
            model_init(&x, SUBS, npes, m_max, N, (enum rule)rule);
            row("growth with PEs", &x, 0);
        }
        for (int subs = 2; subs <= SUBS; subs *= 2) {
            for (int i = 0; i < subs; i++) {
                npes[i] = 10000 * (i + 1) / subs - 10000 * i / subs;
                m_max[i] = M_MAX;
            }
            model_init(&x, subs, npes, m_max, N, (enum rule)rule);
            row("growth with sub-clusters", &x, 0);
        }
    }
    /* The optimum at small P, where intervals tell little; and a flat one. */
    for (int i = 0; i < SUBS; i++) {
        npes[i] = 625;
        m_max[i] = M_MAX;
    }
    for (int64_t n = 5040; n <= 50400000; n *= 10) {
        char name[32];
        snprintf(name, sizeof name, "growth with N, %g", (double)n);
        model_init(&x, SUBS, npes, m_max, n, FREE);
        row(name, &x, 0);
    }
    /* Alike sub-clusters (ties), a time that P does not change (a tie of thousands of P), uneven
     * coefficients, even M alone, memory that binds. */
    for (int kind = 0; kind < 5; kind++) {
        static const char *const names[] = { "alike", "no P in the model", "uneven", "even M only",
                                             "memory binds" };
        uint64_t state = 9;
        int n = 0;
        model_init(&x, SUBS, npes, m_max, N, FREE);
        for (int o = 0; o < x.oracle.noptions; o++) {
            if (kind == 0)
                memcpy(x.k[o], x.k[o % M_MAX], sizeof *x.k);
            if (kind == 1) {
                x.k[o][1] += x.k[o][0] / 1000;
                x.k[o][0] = x.k[o][2] = 0;
                x.k[o][3] = x.k[o][1];
            }
            for (int j = 0; kind == 2 && j < 4; j++)
                x.k[o][j] *= 0.7 + 0.6 * uniform(&state);
        }
        for (int o = 0; kind == 3 && o < x.oracle.noptions; o++) {
            if (x.options[o].m % 2)
                continue;
            x.options[n] = x.options[o];
            memcpy(x.k[n++], x.k[o], sizeof *x.k);
        }
        if (n)
            x.oracle.noptions = n;
        for (int i = 0; kind == 4 && i < SUBS; i++)
            x.subs[i].memory_bytes = (2 + i) * 8.0 * (double)N * (double)N / 40000;
        row(names[kind], &x, 0);
    }
    model_init(&x, SUBS, npes, m_max, N, FREE);
    for (int P = 7; P < 640000; P = 9 * P + 4) {
        char name[32];
        snprintf(name, sizeof name, "P = %d only", P);
        row(name, &x, P);
    }
    printf("\n%-24s %2s %5s  %9s %9s %7s  %6s\n", "not separable", "G", "opts", "ms sep.", "ms whole", "ratio",
           "looks");
    model_init(&x, 3, table_pes, table_m, 800, FREE);
    whole_row("Table VI, N=800", &x, 1);
    for (int subs = 2; subs <= SUBS; subs *= 2) {
        for (int i = 0; i < subs; i++) {
            npes[i] = 64;
            m_max[i] = 2;
        }
        model_init(&x, subs, npes, m_max, N, DIVIDES);
        whole_row("64 PEs each", &x, 0);
        whole_row("64 PEs each, with parts", &x, 1);
    }
    printf("\n%-24s %2s %5s %8s %-24s %9s %9s %7s %10s %6s\n", "unequal shares", "G", "opts", "units", "rule",
           "ms top 1", "ms top 3", "P", "value s", "looks");
    for (int64_t units = 40000; units <= 2000000; units *= 50)
        for (int rule = FREE; rule <= DIVIDES; rule++) {
            shares_row("64 PEs each", 64, units, 1, (enum rule)rule);
            shares_row("625 PEs each", 625, units, 1, (enum rule)rule);
            shares_row("625, two do more", 625, units, 1.2, (enum rule)rule);
        }
    return 0;
}
