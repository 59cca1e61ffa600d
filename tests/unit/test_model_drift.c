/* Drift of machines: how often it is told where there is none, how soon where there is one, and when it ends. */
#include "fixture.h"
#include "model/corrections.h"

enum { RUNS = 400, HISTORIES = 200 };

/* Made-up histories. */
struct made {
    struct hrun_residual v[2 * RUNS];
    size_t n;
    uint64_t seed;
    double noise;           /* standard deviation of ln T */
    double glitches;        /* how many of the runs take up to three times their time */
    int configs, sizes;     /* so many are run, at random */
    double bias;            /* standard deviation of what the model misses of a configuration at one N */
    double missed[16][16];
};

static void begin(struct made *m, uint64_t seed, int configs, int sizes)
{
    m->n = 0;
    m->seed = seed;
    m->noise = 0.02;
    m->glitches = 0.05;
    m->configs = configs;
    m->sizes = sizes;
    m->bias = 0.05;
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            m->missed[i][k] = rnd_normal(&m->seed);
}

/* One more run whose time is `factor` times what it was. */
static void add(struct made *m, double factor, int real)
{
    struct hrun_residual *r = &m->v[m->n];
    int config = rnd_int(&m->seed, 0, m->configs - 1), size = rnd_int(&m->seed, 0, m->sizes - 1);
    double glitch = rnd(&m->seed) < m->glitches ? log(1 + 2 * rnd(&m->seed)) : 0;

    *r = (struct hrun_residual) { .N = 1000 + 500 * size, .config = config, .sub = config % 2, .mixed = config % 3 > 0,
                                  .real = real, .sigma = 0.02 };
    snprintf(r->date, sizeof r->date, "2026-11-20T10:%02d:%02dZ", (int)(m->n / 60 % 60), (int)(m->n % 60));
    r->r = m->bias * m->missed[config][size] + log(factor) + m->noise * rnd_normal(&m->seed) + glitch;
    m->n++;
}

static int found(const struct made *m, struct hrun_drift *out)
{
    hrun_drift_find(m->v, m->n, 2, out);
    return (out[0].runs > 0) + (out[1].runs > 0);
}

/* Histories without a drift: how many have an alarm at any of their 400 runs; asked after every tenth, as an
 * alarm stands for some runs. */
static int false_alarms(int configs, int sizes, double noise, int histories)
{
    static struct made m;
    struct hrun_drift out[2];
    int alarms = 0;

    for (int h = 0; h < histories; h++) {
        int told = 0;

        begin(&m, (uint64_t)h + 1, configs, sizes);
        m.noise = noise;
        for (int i = 0; i < RUNS; i++) {
            add(&m, 1, 1);
            if (i % 10 == 9)
                told |= found(&m, out) != 0;
        }
        alarms += told;
    }
    return alarms;
}

static void test_false_alarms(void)
{
    static const struct { int configs, sizes; double noise; const char *what; } cases[] = {
        { 1, 1, 0.02, "one configuration at one N, noise of 2 %" },
        { 8, 1, 0.02, "8 configurations" },
        { 8, 9, 0.02, "8 configurations at 9 N" },
        { 1, 1, 0.08, "noise of 8 %, where 2 % are assumed" },
        { 4, 3, 0.002, "noise of 0.2 %" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = false_alarms(cases[i].configs, cases[i].sizes, cases[i].noise, HISTORIES);

        ok(n <= HISTORIES / 50, "%s: false alarms in %d of %d histories of %d runs", cases[i].what, n, HISTORIES, RUNS);
    }
}

/* Runs from a change on until it is told; medians over seeds. 100: it was not. */
static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int delay(int configs, int sizes, int before, double factor)
{
    enum { SEEDS = 101 };
    static struct made m;
    struct hrun_drift out[2];
    int told[SEEDS];

    for (int s = 0; s < SEEDS; s++) {
        begin(&m, 1000 + (uint64_t)s, configs, sizes);
        for (int i = 0; i < before; i++)
            add(&m, 1, i % 2);
        for (told[s] = 0; told[s] < 100 && !found(&m, out); told[s]++)
            add(&m, factor, 1);
    }
    qsort(told, SEEDS, sizeof *told, by_value);
    return told[SEEDS / 2];
}

static void test_delay(void)
{
    static const struct { int configs, sizes, before; double factor; int at_most; } cases[] = {
        { 1, 1, 20, 1.3, 5 }, { 1, 1, 20, 1.1, 5 }, { 1, 1, 20, 0.9, 6 }, { 1, 1, 20, 1.05, 9 },
        { 1, 1, 6, 1.15, 6 }, { 4, 3, 60, 1.15, 12 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = delay(cases[i].configs, cases[i].sizes, cases[i].before, cases[i].factor);

        ok(n <= cases[i].at_most, "%d configurations at %d N run %d times: %+.0f %% is told after %d runs",
           cases[i].configs, cases[i].sizes, cases[i].before, 100 * (cases[i].factor - 1), n);
    }
}

static void test_told(void)
{
    static struct made m;
    struct hrun_drift out[2];
    int left = 0;

    begin(&m, 7, 1, 1);
    m.glitches = 0;
    for (int i = 0; i < 20; i++)
        add(&m, 1, i >= 10);
    for (int i = 0; i < 3; i++)
        add(&m, 3, 1);
    is_int(found(&m, out), 0, "three runs of three times the time are not yet one");
    for (int i = 0; i < 7; i++)
        add(&m, 1.2, 1);
    is_int(found(&m, out), 1, "ten runs that take longer are");
    ok(out[0].runs >= 9 && out[0].runs <= 11, "it says how many, give or take one: %d", out[0].runs);
    is_str(out[0].since, m.v[m.n - (size_t)out[0].runs].date, "and since when");
    is_num(out[0].factor, 1.2, 0.03, "and by how much, whatever three of them were");
    is_int(out[1].runs, 0, "the other sub-cluster is not blamed");
    for (int i = 0; i < 200; i++)
        add(&m, 1.2, 1);
    is_int(found(&m, out), 1, "it does not become what is expected");
    while (left < 50 && found(&m, out)) {
        add(&m, 1, 1);
        left++;
    }
    ok(left <= 6, "runs like before end it, after %d", left);
}

static void test_wrong_model(void)
{
    static struct made m;
    struct hrun_drift out[2];

    begin(&m, 3, 1, 1);
    m.glitches = 0;
    m.bias = 0;
    for (int i = 0; i < 60; i++)
        add(&m, 1.4, 1);
    is_int(found(&m, out), 0, "a model that is wrong by 40 %% from the beginning is no drift");
    m.n = 0;
    for (int i = 0; i < 8; i++)
        add(&m, 1, 0);
    for (int i = 0; i < 60; i++)
        add(&m, 1.4, 0);
    is_int(found(&m, out), 0, "nor are runs of a calibration");
}

static void test_no_runs(void)
{
    static struct made m;
    struct hrun_drift out[2];

    begin(&m, 5, 3, 2);
    is_int(found(&m, out), 0, "no runs");
}

int main(void)
{
    test_false_alarms();
    test_delay();
    test_told();
    test_wrong_model();
    test_no_runs();
    return tap_done();
}
