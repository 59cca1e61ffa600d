/* test_model_analytic.c - formulas over speeds and network: the functions against brute force, predictions, shares,
 * bounds and choices against all configurations, and speeds from measurements */
#include "tap.h"

#include "model/internal.h"
#include "model/speeds.h"
#include "plan/plan.h"

#include <stdlib.h>

enum { RANKS = 7, SUBS = 2, NPES = 4 };

static const double shares[RANKS] = { 0.05, 0.25, 0.1, 0.2, 0.15, 0.05, 0.2 };
static const double perfs[RANKS] = { 3, 1, 2, 1, 2, 3, 1 };

/* ------------------------------------------------------------------ the language */

/* The network as the tests have it: 1 ms and 1 us a byte, whatever the operation; barriers take 5 ms. */
static int network(void *ctx, int function, double bytes, double *time_s, struct hrun_error *err)
{
    (void)ctx;
    (void)err;
    *time_s = hrun_app_functions[function].arguments ? 1e-3 + 1e-6 * bytes : 5e-3;
    return 0;
}

static int eval(const char *where_name, const char *where, const char *formula, double *time_s, struct hrun_error *err)
{
    const struct hrun_formula_ranks ranks = { .P = RANKS, .share = shares, .perf = perfs, .network = network,
                                              .latency_s = 0.5, .bandwidth_bytes_per_s = 4 };
    struct hrun_named_expr named = { (char *)(uintptr_t)where_name, (char *)(uintptr_t)where };
    struct hrun_formula_source source = { &named, where_name != NULL, formula, NULL, 0 };
    char place[HRUN_FORMULA_PLACE];
    struct hrun_formula *f = hrun_formula_compile(&source, place, err);
    double room[(RANKS + 1) * (HRUN_FORMULA_VARIABLES + 3)];
    int rc;

    if (!f)
        return -1;
    rc = hrun_formula_eval(f, 100, &ranks, room, time_s, err);
    hrun_formula_destroy(f);
    return rc;
}

static double sum_of(int from, int to, int step)
{
    double sum = 0;

    for (int r = from; r < to; r += step)
        sum += shares[r];
    return sum;
}

static void test_language(void)
{
    struct hrun_error err = { 0 };
    double t[RANKS], want;
    int same[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    ok(!eval(NULL, NULL, "N*share*perf + root*P + rank", t, &err), "variables: %s", err.text);
    for (int r = 0; r < RANKS; r++)
        same[0] &= fabs(t[r] - (100 * shares[r] * perfs[r] + (r ? 0 : RANKS) + r)) < 1e-12;
    ok(same[0], "have their values on every rank");
    ok(!eval(NULL, NULL, "upto(rank + 1) - upto(rank) + 100*upto(rank)", t, &err), "upto");
    for (int r = 0; r < RANKS; r++)
        same[1] &= fabs(t[r] - shares[r] - 100 * sum_of(0, r, 1)) < 1e-10;
    ok(same[1], "sums the shares of the ranks below");
    ok(!eval(NULL, NULL, "upto(2.5) + upto(-3) + upto(99)", t, &err), "upto between ranks and beyond them");
    is_num(t[3], 0.05 + 0.25 + 0.05 + 0 + 1, 1e-12, "is linear, 0 and 1");
    for (int k = 1; k <= RANKS + 1; k++) {
        char text[32];

        snprintf(text, sizeof text, "every(%d)", k);
        ok(!eval(NULL, NULL, text, t, &err), "%s", text);
        for (int r = 0; r < RANKS; r++)
            same[2] &= fabs(t[r] - sum_of(r % k, RANKS, k)) < 1e-12;
    }
    ok(same[2], "every sums the ranks of one remainder");
    for (int n = 1; n <= 60; n++) {
        char text[32];
        int d = 1;

        snprintf(text, sizeof text, "squarest(%d)", n);
        for (int k = 1; k * k <= n; k++)
            d = n % k ? d : k;
        same[3] &= !eval(NULL, NULL, text, t, &err) && t[4] == d;
    }
    ok(same[3], "squarest is the greatest divisor up to the root");
    ok(!eval("x", "share*perf", "total(x) + 10*most(x) + 100*before(x)", t, &err), "sums over processes: %s", err.text);
    want = 0;
    for (int r = 0; r < RANKS; r++)
        want += shares[r] * perfs[r];
    for (int r = 0; r < RANKS; r++) {
        double before = 0;

        for (int k = 0; k < r; k++)
            before += shares[k] * perfs[k];
        same[4] &= fabs(t[r] - (want + 10 * 0.3 + 100 * before)) < 1e-10;
    }
    ok(same[4], "total, most and before");
    ok(!eval(NULL, NULL, "latency + 8/bandwidth + p2p(1000) + barrier()", t, &err), "the network");
    is_num(t[6], 0.5 + 2 + 2e-3 + 5e-3, 1e-12, "is asked");
    ok(eval("x", "P - 7", "N/x", t, &err), "a division by zero");
    has_str(err.text, "formula", "says where");
    ok(eval("x", "N/(P - 7)", "x", t, &err), "one in a value");
    has_str(err.text, "where x at N=100, P=7", "says in which");
    ok(eval(NULL, NULL, "every(0)", t, &err), "every(0)");
    has_str(err.text, "'every' takes a whole number from 1 on, not 0", "message");
    ok(eval(NULL, NULL, "squarest(10^18 + 9)", t, &err), "a grid of more processes than there are anywhere");
    has_str(err.text, "'squarest(10^18 + 9)' takes 0/0, or a logarithm, root or squarest() of a number that has none",
            "message");
    ok(eval(NULL, NULL, "p2p(-1)", t, &err), "bytes below 0");
    has_str(err.text, "'p2p' is called with -1 bytes", "message");
}

/* ------------------------------------------------------------------ the predictor */

static int predict(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err)
{
    (void)ctx;
    (void)err;
    *time_s = 0.01 * ranks->n + 1e-3 * call->bytes;
    return 0;
}

struct bed {
    struct hrun_app app;
    struct hrun_netview *view;
    struct hrun_models *models[SUBS];
};

static int bed_make(struct bed *b, const char *formula, struct hrun_error *err)
{
    static int procs[] = { 1, 2 };
    const struct hrun_netview_source source = { NULL, SUBS * NPES, predict, NULL };
    struct hrun_netview_pe pes[SUBS][NPES] = { 0 };
    struct hrun_netview_sub subs[SUBS] = { { "a", NPES, pes[0] }, { "b", NPES, pes[1] } };
    static const char *const vars[] = { "N", "P" };
    char place[HRUN_FORMULA_PLACE];

    memset(b, 0, sizeof *b);
    b->app.name = (char *)(uintptr_t)"made";
    b->app.family = HRUN_APP_ANALYTIC;
    b->app.procs_per_pe = procs;
    b->app.nprocs_per_pe = 2;
    for (int i = 0; i < SUBS * NPES; i++)
        pes[i / NPES][i % NPES].host = i;
    b->app.rule = hrun_expr_compile("1", vars, 2, NULL, 0, err);
    b->view = hrun_netview_of(&source, subs, SUBS, err);
    b->models[0] = hrun_perf_simulated(1e3, 1, procs, 2);
    b->models[1] = hrun_perf_simulated(2e3, 1, procs, 2);
    b->app.law.formula = hrun_formula_compile(&(struct hrun_formula_source){ .formula = formula }, place, err);
    return !b->app.rule || !b->view || !b->app.law.formula ? -1 : 0;
}

static void bed_release(struct bed *b)
{
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(b->models[i]);
    hrun_netview_destroy(b->view);
    hrun_formula_destroy(b->app.law.formula);
    hrun_expr_destroy(b->app.rule);
}

static struct hrun_predictor *make(struct bed *b, int64_t N, struct hrun_error *err)
{
    return hrun_predictor_create_net(&(struct hrun_predictor_source){ &b->app, b->models, SUBS, HRUN_FORM_NPT, N,
                                                                      .net = b->view }, err);
}

/* 2 N^3 operations, shared in proportion to speed: 1 / (2 N^3 sum of speeds); a PE of two gives each half. */
static void test_predictor(void)
{
    struct hrun_error err = { 0 };
    struct bed b;
    struct hrun_predictor *p = bed_make(&b, "2*N^3*share*perf + p2p(N)", &err) ? NULL : make(&b, 10, &err);
    const struct hrun_oracle *o = p ? hrun_predictor_oracle(p) : NULL;
    struct hrun_config config = { SUBS, { 3, 2 }, { 1, 2 } };
    const struct hrun_config alone = { SUBS, { 0, 2 }, { 0, 1 } };
    struct hrun_interval time;
    int limiting = -1;
    double t = 0, share[SUBS], speed = 3 * 1e3 + 4 * 1e3, bounds[8], row[8];
    int64_t sizes[2], counts[2];

    if (!ok(p != NULL, "a predictor: %s", err.text))
        goto out;
    is_int(o->noptions, 4, "as many options as speeds");
    ok(!o->whole(o->ctx, &config, 7, &t, &limiting, &err), "a configuration: %s", err.text);
    is_num(t, 2000 / speed + 0.01 * 7 + 1e-3 * 10, 1e-9, "takes what the formula says");
    is_int(limiting, 0, "all end together: the first limits");
    ok(!p->kind->time_in(p, 1, &config, 7, &time, &err) && time.low == t && time.mid == t && time.high == t,
       "simulated speeds leave no doubt");
    ok(hrun_predictor_deals(p) && !hrun_predictor_shares(p, &config, share, &err), "it deals out the work");
    ok(share[0] == 1 && share[1] == 1, "two processes share a PE of twice the speed");
    config.procs[1] = 1;
    ok(!hrun_predictor_shares(p, &config, share, &err) && share[1] == 2, "alone they are twice as quick");
    ok(!hrun_predictor_time(p, 1, 1, 2, &time, &err), "a sub-cluster alone");
    is_num(time.mid, 2000 / 4e3 + 0.02 + 0.01, 1e-9, "takes what its configuration takes");
    ok(hrun_predictor_time(p, 1, 2, 3, &time, &err), "3 processes by twos are none");
    ok(!hrun_predictor_measured(p, 0, 1, 5, sizes, counts) && sizes[0] == 1 && sizes[1] == INT64_MAX,
       "a formula holds everywhere");
    is_int(hrun_predictor_has_network(p), 1, "it asks for the network");
    ok(!o->times(o->ctx, 2, row, &err) && !o->bounds(o->ctx, 1, 3, bounds, &err), "bounds");
    ok(!o->whole(o->ctx, &alone, 2, &t, &limiting, &err) && row[2] <= t && bounds[2] <= row[2], "are below times");
    is_num(row[2], 2000 / 4e3, 1e-9, "by what the quickest PEs do without messages");
    config.procs[1] = 3;
    ok(!o->whole(o->ctx, &config, 9, &t, &limiting, &err) && isinf(t), "a speed that is not known: it cannot be used");
    ok(p->kind->time_in(p, 1, &config, 9, &time, &err), "and has no time");
    has_str(err.text, "the speed of sub-cluster 2 with 3 processes on a PE is not known", "message");
out:
    hrun_predictor_destroy(p);
    bed_release(&b);
}

/* The search against all configurations, with formulas for which few or many processes are best. */
static void test_search(void)
{
    static const char *const formulas[] = {
        "2*N^3*share*perf + p2p(N)", "2*N^3*share*perf + P*p2p(8)", "2*N^3/P*perf + 10*latency", "N*perf*P",
        "2*N^3*upto(1)*most(perf)", "2*N^3*share*perf + N^3/bandwidth",
    };

    for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++)
        for (int64_t N = 2; N <= 32; N *= 4) {
            struct hrun_error err = { 0 };
            struct bed b;
            struct hrun_predictor *p = bed_make(&b, formulas[k], &err) ? NULL : make(&b, N, &err);
            struct hrun_plan_sub subs[SUBS] = { { .npes = NPES }, { .npes = NPES } };
            struct hrun_plan_problem problem = { .oracle = p ? hrun_predictor_oracle(p) : NULL, .subs = subs };
            struct hrun_plan *plan = NULL;
            double best = INFINITY, t;
            int limiting, below = 0;

            ok(p && !hrun_plan_search(&problem, 1, &plan, &err), "%s at N=%d: %s", formulas[k], (int)N, err.text);
            for (int c = 1; p && c < 9 * 9; c++) {
                struct hrun_config config = { .nsubs = SUBS };
                int P;
                double row[4];

                for (int i = 0, code = c; i < SUBS; i++, code /= 9) {
                    config.procs[i] = code % 9 ? 1 + (code % 9 > NPES) : 0;
                    config.pes[i] = code % 9 ? (code % 9 - 1) % NPES + 1 : 0;
                }
                P = hrun_config_processes(&config);
                if (!P || problem.oracle->whole(problem.oracle->ctx, &config, P, &t, &limiting, &err))
                    continue;
                best = fmin(best, t);
                below |= case_breaks(problem.oracle->times(problem.oracle->ctx, P, row, &err) || row[0] > t, k, N, c);
            }
            ok(plan && plan->n == 1 && plan->v[0].time_s == best, "finds the best of all");
            ok(!below, "and no bound is above a time");
            hrun_plan_destroy(plan);
            hrun_predictor_destroy(p);
            bed_release(&b);
        }
}

static void test_missing(void)
{
    struct hrun_error err = { 0 };
    struct bed b;
    struct hrun_models *none[SUBS] = { NULL, NULL };

    ok(!bed_make(&b, "2*N^3*share*perf + p2p(N)", &err), "a formula with a message");
    ok(!hrun_predictor_create_net(&(struct hrun_predictor_source){ &b.app, none, SUBS, HRUN_FORM_NPT, 9,
                                                                   .net = b.view }, &err), "without speeds");
    is_int(err.code, HRUN_ENODATA, "code");
    has_str(err.text, "hrun-calibrate speeds", "says what measures them");
    ok(!hrun_predictor_create_net(&(struct hrun_predictor_source){ &b.app, b.models, SUBS, HRUN_FORM_NPT, 9,
                                                                   .net = NULL }, &err), "without a network");
    has_str(err.text, "hrun-calibrate network", "says what measures it");
    bed_release(&b);
}

/* ------------------------------------------------------------------ speeds */

static void test_perf(void)
{
    static char old[] = "2026-01-01T00:00:00Z", date[] = "2026-02-01T00:00:00Z", library[] = "libblas.so.3";
    struct hrun_sample v[] = {
        { .N = 100, .P = 2, .M = 1, .time_s = 9, .ok = 1, .date = old },
        { .N = 100, .P = 2, .M = 1, .time_s = 0.9e-3, .ok = 1, .date = date, .program = library },
        { .N = 100, .P = 2, .M = 1, .time_s = 1.1e-3, .ok = 1, .date = date, .program = library },
        { .N = 100, .P = 4, .M = 2, .time_s = 4e-3, .ok = 1, .date = old },
        { .N = 100, .P = 6, .M = 3, .ok = 0, .date = date },
    };
    struct hrun_error err = { 0 };
    struct hrun_models *m = NULL;
    const struct hrun_fit_record *r;

    ok(!hrun_perf_of(v, 5, "sig", "name", &m, &err), "speeds from measurements");
    r = hrun_perf_find(m, 1);
    is_num(r ? r->k[0] * 1e9 : 0, 1e-3 / 2e6 * 1e9, 1e-12, "the mean of the newest date");
    is_num(r ? sqrt(r->s2 * r->cov[0]) / r->k[0] : 0, 0.1, 1e-9, "and how they scatter");
    is_str(r ? r->note : NULL, "libblas.so.3", "and what measured them");
    r = hrun_perf_find(m, 2);
    is_num(r ? r->k[0] * 1e9 : 0, 2.0, 1e-12, "each M has its own newest date");
    ok(!hrun_perf_find(m, 3), "failed runs tell nothing");
    is_str(m ? m->newest : NULL, date, "the newest of all");
    hrun_models_destroy(m);
    m = NULL;
    ok(hrun_perf_of(v + 4, 1, "sig", "name", &m, &err) && !m, "without a good one there are none");
    is_int(err.code, HRUN_ENODATA, "code");
}

int main(void)
{
    test_language();
    test_predictor();
    test_search();
    test_missing();
    test_perf();
    return tap_done();
}
