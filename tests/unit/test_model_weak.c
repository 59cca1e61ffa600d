/* The family weak (paper 001): its coefficients from six runs and from more, and shares that end together. */
#include "fixture.h"
#include "model/families/weak.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <unistd.h>

static const double truth[HRUN_WEAK_TERMS] = { 0.05, -0.5, 1.25, 0.375, 0.01 };

static struct hrun_weak_run exact(int np, double work)
{
    return (struct hrun_weak_run) { np, work, hrun_weak_time(truth, np, work) };
}

/* The six runs of the paper, in an order that nobody would choose. */
static void six(struct hrun_weak_run *v)
{
    v[0] = exact(8, 512);
    v[1] = exact(1, 1024);
    v[2] = exact(4, 1024);
    v[3] = exact(1, 512);
    v[4] = exact(8, 1024);
    v[5] = exact(4, 512);
}

static void is_model(const double *k, const double *want, double tolerance, const char *what)
{
    static const char *const name[] = { "b", "a", "c", "d", "gamma" };

    for (int j = 0; j < HRUN_WEAK_TERMS; j++)
        is_num(k[j], want[j], tolerance, "%s: %s", what, name[j]);
}

static void test_values(void)
{
    /* Tcomp = 0.05 * 100 - 0.5; alpha = 1.25 + 0.375 * 6; gamma work = 1 */
    is_num(hrun_weak_time(truth, 1, 100), 4.5, 1e-15, "one process: Tcomp alone");
    is_num(hrun_weak_time(truth, 64, 100), 4.5 + 3.5 + 1, 1e-15, "64 processes: eq. 1 to 4");
}

static void test_paper(void)
{
    struct hrun_weak_run v[7];
    struct hrun_error err;
    double k[HRUN_WEAK_TERMS] = { 7 };

    six(v);
    is_int(hrun_weak_paper(v, 6, k, &err), 0, "steps 1 to 6");
    is_model(k, truth, 1e-12, "of six exact runs");
    /* gamma is that of eight processes, and alpha of four keeps to its own (step 3). */
    for (int i = 0; i < 6; i++)
        v[i].time_s += v[i].np == 4 ? 0.02 * v[i].work : 0;
    is_int(hrun_weak_paper(v, 6, k, &err), 0, "another gamma on four processes");
    is_model(k, truth, 1e-12, "does not matter");

    memset(k, 0, sizeof k);
    v[6] = exact(2, 512);
    is_int(hrun_weak_paper(v, 7, k, &err), -1, "seven runs");
    has_str(err.text, "method ls needs exactly six runs", "are told apart");
    v[0] = exact(8, 500);
    is_int(hrun_weak_paper(v, 6, k, &err), -1, "other work on eight");
    six(v);
    v[1] = exact(2, 1024);
    is_int(hrun_weak_paper(v, 6, k, &err), -1, "one run on one process");
    ok(k[0] == 0 && k[4] == 0, "nothing is given then");
}

static void test_fit(void)
{
    struct hrun_weak_run v[36];
    struct hrun_weak_fit fit;
    struct hrun_error err;
    double k[HRUN_WEAK_TERMS];
    uint64_t state = 1;

    six(v);
    is_int(hrun_weak_fit(v, 6, 1e-3, 0.02, &fit, &err), 0, "least squares");
    is_model(fit.k, truth, 1e-9, "of six exact runs");
    is_int(fit.dof, 1, "six runs, five coefficients");
    ok(fit.max_error < 1e-10, "which all runs have");
    is_int(hrun_weak_fit(v, 6, 0, 0, &fit, &err), 0, "without weights");
    is_model(fit.k, truth, 1e-9, "the same");

    /* What the paper's steps give of runs that the model describes, whatever the signs. */
    for (int i = 0; i < 6; i++)
        v[i].time_s -= v[i].np > 1 ? 0.015 * v[i].work : 0;
    is_int(hrun_weak_paper(v, 6, k, &err), 0, "messages that hide behind work");
    is_int(hrun_weak_fit(v, 6, 1e-3, 0.02, &fit, &err), 0, "by least squares too");
    is_model(fit.k, k, 1e-9, "a gamma below 0");

    /* alpha cannot shrink as processes are added. */
    six(v);
    for (int i = 0; i < 6; i++)
        v[i].time_s -= v[i].np == 8 ? 1 : 0;
    is_int(hrun_weak_fit(v, 6, 1e-3, 0.02, &fit, &err), 0, "eight processes quicker than four");
    is_num(fit.k[HRUN_WEAK_LOG], 0, 1e-12, "d is 0 then");
    ok(hrun_weak_time(fit.k, 64, 512) > 20, "and 64 take no less");

    /* More runs than six, with errors of 1 %: nearer than the six are, and the scatter is found. */
    for (int i = 0; i < 36; i++) {
        static const int np[] = { 1, 4, 8 };

        v[i] = exact(np[i % 3], i % 2 ? 1024 : 512);
        v[i].time_s *= 1 + 0.01 * rnd_normal(&state);
    }
    is_int(hrun_weak_fit(v, 36, 0, 0.01, &fit, &err), 0, "36 runs with noise");
    is_num(hrun_weak_time(fit.k, 64, 1024) / hrun_weak_time(truth, 64, 1024), 1, 0.05, "64 processes are foretold");
    is_int(fit.dof, 31, "degrees of freedom");
    ok(fit.s2 > 0.4 && fit.s2 < 2.5, "the weights assume what there is (%g)", fit.s2);
    ok(fit.cov[0] > 0 && fit.cov[1] == fit.cov[HRUN_WEAK_TERMS], "with a covariance");
}

static void test_refused(void)
{
    struct hrun_weak_run v[6];
    struct hrun_weak_fit fit = { .dof = -7 };
    struct hrun_error err;

    six(v);
    v[1].np = v[3].np = 2;
    is_int(hrun_weak_fit(v, 6, 0, 0, &fit, &err), -1, "no run on one process");
    has_str(err.text, "nothing measured on one process with all PEs of its host loaded", "is said");
    is_int(err.code, HRUN_ENODATA, "as missing data");
    v[0].np = v[1].np = v[2].np = v[3].np = v[4].np = v[5].np = 1;
    is_int(hrun_weak_fit(v, 6, 0, 0, &fit, &err), -1, "none on several");
    has_str(err.text, "nothing measured on several processes", "is said");
    six(v);
    for (int i = 0; i < 6; i++)
        v[i].work = 512;
    is_int(hrun_weak_fit(v, 6, 0, 0, &fit, &err), -1, "one amount of work");
    has_str(err.text, "two are needed", "is said");
    six(v);
    v[2].time_s = 0;
    is_int(hrun_weak_fit(v, 6, 0, 0, &fit, &err), -1, "a time of 0");
    is_int(err.code, HRUN_EINVAL, "cannot be");
    is_int(hrun_weak_fit(v, 0, 0, 0, &fit, &err), -1, "nothing at all");
    is_int(fit.dof, -7, "what was there stays");
}

/* ------------------------------------------------------------------ shares */

static double at(const struct hrun_line *p, int64_t u)
{
    return p->base_s + (double)u * p->unit_s;
}

/* The least time of all shares of up to 3 parts, by looking at each. */
static double brute(const struct hrun_line *v, int n, int64_t units, int64_t used, int part, double time_s)
{
    double best = INFINITY;

    if (part == n)
        return used >= units ? time_s : INFINITY;
    for (int64_t u = 1; u <= v[part].most && u <= units; u++)
        best = fmin(best, brute(v, n, units, used + u * v[part].n, part + 1, fmax(time_s, at(&v[part], u))));
    return best;
}

static void test_balance(void)
{
    struct hrun_line v[3];
    int64_t share[3];
    int wrong = 0, excess = 0, impossible = 0, cases = 3000;
    uint64_t state = 1;

    for (int k = 0; k < cases; k++) {
        int n = 1 + (int)(rnd(&state) * 3), few = 0;
        int64_t units = 1 + (int)(rnd(&state) * 30), sum = 0, processes = 0;
        double got, want;

        for (int i = 0; i < n; i++) {
            /* Coarse numbers make for ties. */
            v[i] = (struct hrun_line) { 1 + (int)(rnd(&state) * 5), floor(rnd(&state) * 8) - 2,
                                                floor(rnd(&state) * 4), (int)(rnd(&state) * 20) };
            if (k % 2) {
                v[i].base_s = rnd(&state) * 5;
                v[i].unit_s = rnd(&state);
            }
            processes += v[i].n;
        }
        want = processes > units ? INFINITY : brute(v, n, units, 0, 0, -INFINITY);
        share[0] = share[1] = share[2] = 0;
        got = hrun_balance(v, n, units, share);
        wrong += got != want;
        impossible += isinf(want) && share[0] == 0;
        if (isinf(want))
            continue;
        for (int i = 0; i < n; i++) {
            sum += share[i] * v[i].n;
            few |= case_breaks(share[i] < 1 || share[i] > v[i].most || at(&v[i], share[i]) > got, k, i);
        }
        for (int i = 0; i < n; i++)
            few |= case_breaks(sum - units >= v[i].n && share[i] > 1, k, i);   /* a unit less of each would do */
        excess += few || sum < units;
    }
    is_int(wrong, 0, "%d cases: the time is the least of all shares", cases);
    is_int(excess, 0, "the shares are whole, enough, fit, and no part has a unit too many");
    ok(impossible > 100, "what does not fit is found so (%d)", impossible);
}

/* Units are handed back many at once: one by one this would take hours. */
static void test_many_units(void)
{
    const int64_t units = (int64_t)1 << 40;
    struct hrun_line slow[3] = { { 1, 1e9, 1e-9, INT64_MAX }, { 1, 0, 1e-9, INT64_MAX }, { 1, 0, 3e-9, INT64_MAX } };
    struct hrun_line flat[2] = { { 2, 5, 0, INT64_MAX }, { 1, 5, 0, INT64_MAX } };
    struct hrun_line hardly[2] = { { 3, 1e9, 1e-12, INT64_MAX }, { 2, 1e9, 1e-12, INT64_MAX } };
    int64_t share[3];

    is_num(hrun_balance(slow, 3, units, share), 1e9 + 1e-9, 1e-15, "a part that is late with its first unit");
    ok(share[0] == 1 && share[0] + share[1] + share[2] == units && llabs(share[1] - 3 * share[2]) <= 3,
       "gets no other, and the rest is shared by speed (%lld and %lld)", (long long)share[1], (long long)share[2]);
    is_num(hrun_balance(flat, 2, units, share), 5, 1e-15, "two parts whose work takes no time");
    ok(share[0] >= 1 && share[1] >= 1 && 2 * share[0] + share[1] == units, "share all, and no more");
    hrun_balance(hardly, 2, units, share);
    ok(3 * share[0] + 2 * share[1] - units < 2 && 3 * share[0] + 2 * share[1] >= units, "as two that it takes hardly any");
}

static void test_paper_scenario(void)
{
    /* 64 processes of A and 32 of B, which is twice as fast: as the paper has them, 512 and 1024 rows each. */
    struct hrun_line v[2] = { { 64, 10, 2.0, INT64_MAX }, { 32, 10, 1.0, INT64_MAX } };
    int64_t share[2];

    is_num(hrun_balance(v, 2, 65536, share), 10 + 1024, 1e-15, "A and B end together");
    ok(share[0] == 512 && share[1] == 1024, "with half of the mesh each");
    v[1].most = 600;
    is_num(hrun_balance(v, 2, 65536, share), 10 + 2 * 724, 1e-15, "what B has no memory for, A does");
    ok(share[0] == 724 && share[1] == 600, "in whole rows");
    v[0].most = 700;
    ok(isinf(hrun_balance(v, 2, 65536, share)) && share[0] == 724, "and where A has none for it, nobody");
    ok(isinf(hrun_balance(v, 2, 95, share)), "fewer rows than processes");
    v[0] = (struct hrun_line) { 64, 10, 0, INT64_MAX };
    is_num(hrun_balance(v, 1, 1000000, share), 10, 1e-15, "work that takes no time");
    v[0] = (struct hrun_line) { 3, 1e9, 1e-12, INT64_MAX };
    is_num(hrun_balance(v, 1, (int64_t)1 << 40, share), 1e9 + 1e-12 * 366503875926.0, 1e-15, "and hardly any");
    test_many_units();
}

/* ------------------------------------------------------------------ predictions */

enum { SUBS = 2, UNIT = 4 };

/* Two sub-clusters of which the second is half as fast, with two processes per PE a little slower than with one. */
static double own(int sub, int m, int np, double rows, double N)
{
    double k = (sub ? 2 : 1) * (m == 2 ? 1.125 : 1);
    double t = k * (0.01 * rows * N / 1000 + 0.5);

    return np > 1 ? t + k * (0.25 + 0.0001 * N + 0.125 * log2(np)) + 0.002 * rows : t;
}

static struct hrun_app *make_app(const char *memory)
{
    char *dir = temp_dir(), *text = hrun_strf("name: mesh\nfamily: weak\nrule: \"P != 5\"\nprocs_per_pe: [1, 2]\n"
                                              "weak: {unit: \"%d\", memory: \"%s\"}\n", UNIT, memory);
    struct hrun_error err;
    struct hrun_app *app = load_named(dir, "mesh", text, &err);

    if (!app)
        printf("# %s\n", err.text);
    free(text);
    free(dir);
    return app;
}

/* The models of one sub-cluster from its six exact runs at each of sizes[n]. */
static struct hrun_models *fit_models(const struct hrun_app *app, int sub, const int64_t *sizes, int nsizes)
{
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_sample v[64];
    struct hrun_models *models = NULL;
    struct hrun_error err;
    size_t n = 0;

    for (int i = 0; i < nsizes; i++)
        for (int m = 1; m <= 2; m++)
            for (int k = 0; k < 3; k++)
                for (int rows = 32; rows <= 64; rows += 32) {
                    int pes = 4 << (k == 2), np = k ? pes * m : 1;

                    v[n++] = (struct hrun_sample) { .N = sizes[i], .P = pes * m, .M = m, .pes = pes, .ok = 1,
                                                    .copies = !k, .work = rows,
                                                    .time_s = own(sub, m, np, rows, (double)sizes[i]) };
                }
    if (hrun_model_fit(app, v, n, &options, &models, NULL, &err))
        printf("# %s\n", err.text);
    return models;
}

/* The shortest time of a configuration over all shares, and whether they fit. */
static double all_shares(const struct hrun_config *config, int64_t N, const double *memory)
{
    int64_t units = N / UNIT;
    double best = INFINITY;
    int P = hrun_config_processes(config);

    for (int64_t a = config->pes[0] > 0; a <= (config->pes[0] ? units : 0); a++) {
        int64_t left = units - a * config->pes[0] * config->procs[0], n = config->pes[1] * config->procs[1];
        int64_t b = n ? (left > n ? (left + n - 1) / n : 1) : 0;
        double ta = config->pes[0] ? own(0, config->procs[0], P, (double)(a * UNIT), (double)N) : 0;
        double tb = config->pes[1] ? own(1, config->procs[1], P, (double)(b * UNIT), (double)N) : 0;

        if (!n && left > 0)
            continue;
        if ((memory[0] > 0 && config->pes[0] && (double)(a * UNIT * 100 * config->procs[0]) > memory[0]) ||
            (memory[1] > 0 && config->pes[1] && (double)(b * UNIT * 100 * config->procs[1]) > memory[1]))
            continue;
        best = fmin(best, fmax(ta, tb));
    }
    return best;
}

/* The best of all valid configurations, by looking at each. */
static double brute_best(int64_t N, const struct hrun_plan_sub *subs, const double *memory, int *valid)
{
    double best = INFINITY;

    *valid = 0;
    for (int p = 0; p <= subs[0].npes; p++)
        for (int m = 1; m <= (p ? 2 : 1); m++)
            for (int q = 0; q <= subs[1].npes; q++)
                for (int l = 1; l <= (q ? 2 : 1); l++) {
                    const struct hrun_config config = { SUBS, { p, q }, { p ? m : 0, q ? l : 0 } };
                    int P = p * m + q * l;
                    double t = P && P != 5 && P <= N / UNIT ? all_shares(&config, N, memory) : INFINITY;

                    *valid += isfinite(t);
                    best = fmin(best, t);
                }
    return best;
}

/* Models of other constants tell nothing. */
static void test_constants(const struct hrun_app *app, struct hrun_models **models)
{
    char theirs[] = "levels=6", *ours[SUBS] = { models[0]->consts, models[1]->consts };
    struct hrun_predictor *p;
    struct hrun_error err = { 0 };
    struct hrun_interval time;

    models[0]->consts = theirs;
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 400, &err);
    ok(p && hrun_predictor_time(p, 0, 1, 4, &time, &err) == -1 && err.code == HRUN_ENODATA &&
       !hrun_predictor_time(p, 1, 1, 4, &time, &err), "models of other constants are left out");
    hrun_predictor_destroy(p);
    models[1]->consts = theirs;
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 400, &err);
    ok(!p && err.code == HRUN_ENODATA, "where there are no others nothing is predicted");
    has_str(err.text, "there are some with 'levels=6'", "and it is said");
    hrun_predictor_destroy(p);
    for (int i = 0; i < SUBS; i++)
        models[i]->consts = ours[i];
}

static void test_predictor(void)
{
    static const int64_t sizes[] = { 200, 400 };
    struct hrun_app *app = make_app("100*W");
    struct hrun_models *models[SUBS];
    struct hrun_plan_sub subs[SUBS] = { { .npes = 5 }, { .npes = 4 } };
    const struct hrun_config config = { SUBS, { 3, 4 }, { 1, 2 } };
    int wrong = 0, uncounted = 0, over = 0;
    double share[SUBS], memory[SUBS] = { 0, 0 };
    struct hrun_interval time;
    struct hrun_predictor *p;
    struct hrun_error err;

    for (int i = 0; i < SUBS; i++)
        models[i] = fit_models(app, i, sizes, 2);
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 400, &err);
    ok(p && hrun_predictor_deals(p), "a predictor that deals out shares");
    is_int(hrun_predictor_shares(p, &config, share, &err), 0, "of a configuration");
    ok(3 * share[0] + 8 * share[1] >= 400 && fmod(share[0], UNIT) == 0 && share[0] > share[1],
       "they are whole units, enough, and more for the faster (%g, %g)", share[0], share[1]);
    is_int(p->kind->time_in(p, 1, &config, hrun_config_processes(&config), &time, &err), 0, "its time");
    is_num(time.mid, own(1, 2, 11, share[1], 400), 1e-9, "is that of its share");
    ok(time.low < time.mid && time.mid < time.high, "with an interval");
    hrun_predictor_destroy(p);
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 300, &err);
    is_int(p ? hrun_predictor_time(p, 0, 1, 4, &time, &err) : -1, 0, "a size between two that were measured");
    is_num(time.mid, own(0, 1, 4, 76, 300), 1e-9, "lies on the line between them");
    hrun_predictor_destroy(p);

    test_constants(app, models);
    /* Every choice against a look at all configurations and shares, with and without limits of memory. */
    for (int k = 0; k < 12; k++) {
        struct hrun_plan_problem problem = { .subs = subs };
        struct hrun_plan *plan = NULL;
        int64_t N = k % 2 ? 400 : 96;
        double want;
        int valid;

        memory[0] = k % 3 ? 100.0 * UNIT * (k + 1) : 0;
        memory[1] = k % 4 ? 100.0 * UNIT * (k + 2) : 0;
        subs[0].memory_bytes = memory[0];
        subs[1].memory_bytes = memory[1];
        p = hrun_predictor_create_net(&(struct hrun_predictor_source){ app, models, SUBS, HRUN_FORM_NPT, N,
                                                                       .memory = memory }, &err);
        if (!p)
            return (void)ok(0, "%s", err.text);
        problem.oracle = hrun_predictor_oracle(p);
        want = brute_best(N, subs, memory, &valid);
        if (hrun_plan_search(&problem, 1, &plan, &err)) {
            wrong += isfinite(want) || err.code != HRUN_EINFEASIBLE;
        } else {
            wrong += fabs(plan->v[0].time_s - want) > 1e-9 * want || !plan->exact;
            hrun_predictor_shares(p, &plan->v[0].config, share, &err);
            for (int i = 0; i < SUBS; i++)
                over += memory[i] > 0 && share[i] * 100 * plan->v[0].config.procs[i] > memory[i];
        }
        hrun_plan_destroy(plan);
        plan = NULL;
        if (!hrun_plan_exhaustive(&problem, 1, &plan, &err))
            uncounted += (int)plan->counts.valid < valid;
        hrun_plan_destroy(plan);
        hrun_predictor_destroy(p);
    }
    is_int(wrong, 0, "12 searches: each finds the best of all configurations and shares");
    is_int(over, 0, "and keeps to the memory");
    is_int(uncounted, 0, "all that are valid are counted so");
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(models[i]);
    hrun_app_destroy(app);
}

/* The bounds of intervals are below the times in them, and those below what configurations take. */
static void test_bounds(void)
{
    static const int64_t size = 200;
    struct hrun_app *app = make_app("100*W*P");
    struct hrun_models *models[SUBS];
    struct hrun_line least[4], v[4];
    double t[4], whole;
    int above = 0, below = 0, limiting;
    int64_t fewest, units;
    struct hrun_predictor *p;
    const struct hrun_oracle *o;
    struct hrun_error err;

    for (int i = 0; i < SUBS; i++)
        models[i] = fit_models(app, i, &size, 1);
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 200, &err);
    if (!p)
        return (void)ok(0, "%s", err.text);
    o = hrun_predictor_oracle(p);
    for (int lo = 1; lo <= 60; lo += 3)
        for (int hi = lo; hi <= 60; hi += 7) {
            o->lines_bound(o->ctx, lo, hi, least, &fewest, &err);
            for (int P = lo; P <= hi; P++) {
                o->lines(o->ctx, P, v, &units, &err);
                for (int i = 0; i < o->noptions; i++)
                    above += v[i].n && (!least[i].n || least[i].base_s > v[i].base_s || least[i].unit_s > v[i].unit_s ||
                                        least[i].most < v[i].most || fewest > units);
            }
        }
    is_int(above, 0, "no bound is above a line");
    for (int a = 0; a <= 6; a++)
        for (int c = 0; c <= 6; c++)
            for (int m = 1; m <= 2 && a + c; m++) {
                const struct hrun_config config = { SUBS, { a, c }, { a ? m : 0, c ? 3 - m : 0 } };
                int P = hrun_config_processes(&config);

                o->times(o->ctx, P, t, &err);
                o->whole(o->ctx, &config, P, &whole, &limiting, &err);
                for (int i = 0; i < o->noptions; i++)
                    below += config.pes[o->options[i].sub] && config.procs[o->options[i].sub] == o->options[i].m &&
                             whole < t[i] * (1 - 1e-12);
            }
    is_int(below, 0, "and no time above that of a configuration");
    hrun_predictor_destroy(p);
    p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, 201, &err);
    ok(!p && err.code == HRUN_ENODATA, "another size has no model");
    has_str(err.text, "hrun-calibrate -app mesh -N 201", "and the message says what makes one");
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(models[i]);
    hrun_app_destroy(app);
}

int main(void)
{
    test_predictor();
    test_bounds();
    test_values();
    test_paper();
    test_fit();
    test_refused();
    test_balance();
    test_paper_scenario();
    return tap_done();
}
