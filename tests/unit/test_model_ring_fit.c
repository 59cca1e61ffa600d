/* Models of rings (paper 004): what is fitted predicts, of one sub-cluster and of several; balance, and the search. */
#include "fixture.h"
#include "model.h"
#include "model/families/ring.h"
#include "plan/plan.h"

enum { SUBS = 3, MOST = 4, SAMPLES = 400 };

/* Seconds per unit of work on a PE with one process; a step and its bytes, between PEs too. */
static const double speed[SUBS] = { 3.0, 2.0, 1.0 };
static const double UNIT = 1e-7, STEP = 2e-4, BYTE = 1e-9, FAR = 5e-4, FAR_BYTE = 1e-8, ONCE = 3e-3;
static const int npes[SUBS] = { 2, 3, 2 };

static void ring_app(struct ma *a)
{
    static const char *const vars[] = { "n", "N", "P" };

    ma_init(a, NULL, NULL, NULL, MOST);
    hrun_expr_destroy(a->app.rule);
    a->app.rule = ma_compile(&a->app, "P <= N", (const char *const[]){ "N", "P" }, 2);
    a->app.family = HRUN_APP_RING;
    a->app.law.ring.local = ma_compile(&a->app, "n*(n-1)/2", vars, 3);
    a->app.law.ring.step = ma_compile(&a->app, "n^2", vars, 3);
    a->app.law.ring.bytes = ma_compile(&a->app, "80*n", vars, 3);
}

static void release_app(struct ma *a)
{
    hrun_expr_destroy(a->app.law.ring.local);
    hrun_expr_destroy(a->app.law.ring.step);
    hrun_expr_destroy(a->app.law.ring.bytes);
    ma_release(a);
}

/* Two numbers of PEs do not tell apart what is done once, in a step, and in a step between PEs: of 3 ms and 0.7 ms in
 * seconds. */
static const double UNKNOWN = 2e-3;

/* What a PE of sub-cluster i does with m processes, P in all. */
static struct hrun_ring_stage truth(int i, int m, double N, int P)
{
    double n = N / P, far = P > m, inner = P > m ? (m - 1.0) / m : 1;

    return (struct hrun_ring_stage){
        .procs = m, .local_s = m * UNIT / speed[i] * n * (n - 1) / 2 + ONCE,
        .step_s = m * UNIT / speed[i] * n * n + inner * (STEP + BYTE * 80 * n) + far * (FAR + FAR_BYTE * 80 * n),
    };
}

static double true_time(int i, int m, int pes, double N)
{
    struct hrun_ring_stage s = truth(i, m, N, pes * m);

    return s.local_s + hrun_ring_run_steps(pes * m, m) * s.step_s;
}

/* Runs of sub-cluster i alone, on all numbers of its PEs but for single = 1 on one only. */
static struct hrun_models *fit(const struct ma *a, int i, const int *ms, int nms, int single)
{
    static struct hrun_sample v[SAMPLES];
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_models *m = NULL;
    struct hrun_error err = { 0 };
    size_t n = 0;

    for (int k = 0; k < nms; k++)
        for (int p = 1; p <= (single ? 1 : npes[i]); p++)
            for (int N = 2000; N <= 16000; N *= 2)
                v[n++] = (struct hrun_sample){ .N = N, .P = p * ms[k], .M = ms[k], .pes = p, .ok = 1,
                                               .time_s = true_time(i, ms[k], p, N) };
    if (hrun_model_fit(&a->app, v, n, &options, &m, NULL, &err))
        printf("# %s\n", err.text);
    return m;
}

static struct hrun_predictor *predictor(const struct ma *a, struct hrun_models **models, int64_t N)
{
    struct hrun_error err = { 0 };
    struct hrun_predictor *p = hrun_predictor_create(&a->app, models, SUBS, HRUN_FORM_NPT, N, &err);

    if (!p) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return p;
}

/* The ring of a configuration as it is in truth. */
static double play(const struct hrun_config *config, double N)
{
    struct hrun_ring_stage s[16];
    double elapsed[16];
    int n = 0, P = hrun_config_processes(config);

    for (int i = 0; i < SUBS; i++)
        for (int k = 0; k < config->pes[i]; k++)
            s[n++] = truth(i, config->procs[i], N, P);
    return hrun_ring_play(s, n, HRUN_RING_BEFORE, elapsed, NULL, NULL);
}

static const int all[] = { 1, 2, 3, 4 };

static void test_predictions(void)
{
    struct ma a;
    struct hrun_models *m[SUBS];
    struct hrun_predictor *p;
    int alone = 0, mixed = 0, tried = 0, covered = 0;
    int64_t sizes[2], counts[2];

    ring_app(&a);
    for (int i = 0; i < SUBS; i++)
        m[i] = fit(&a, i, all, MOST, 0);
    ok(m[0] && m[1] && m[2] && m[0]->n == MOST && !strcmp(m[0]->v[0].family, "ring"), "a record for each M");
    p = predictor(&a, m, 20000);
    for (int i = 0; i < SUBS; i++)
        for (int k = 1; k <= MOST; k++)
            for (int pes = 1; pes <= npes[i]; pes++, tried++) {
                double want = true_time(i, k, pes, 20000);
                struct hrun_interval time = { 0 };

                hrun_predictor_time(p, i, k, pes * k, &time, NULL);
                alone += fabs(time.mid / want - 1) < 1e-6;
                covered += time.low <= want && want <= time.high && time.low < time.mid && time.mid < time.high;
            }
    is_int(alone, tried, "runs on one sub-cluster, beyond the measured sizes");
    is_int(covered, tried, "within their intervals");
    tried = 0;
    for (int c = 0; c < 1000; c += 7) {
        struct hrun_config config = { SUBS, { c % 3, c / 3 % 4, c / 12 % 3 },
                                      { 1 + c % 4, 1 + c / 5 % 4, 1 + c / 11 % 4 } };
        double t = 0, want, latest = 0;
        int limiting, P;

        for (int i = 0; i < SUBS; i++)
            config.procs[i] = config.pes[i] ? config.procs[i] : 0;
        P = hrun_config_processes(&config);
        if (!P)
            continue;
        tried++;
        want = play(&config, 20000);
        hrun_predictor_oracle(p)->whole(hrun_predictor_oracle(p)->ctx, &config, P, &t, &limiting, NULL);
        for (int i = 0; i < SUBS; i++) {
            struct hrun_interval own;

            if (config.pes[i] && !p->kind->time_in(p, i, &config, hrun_config_processes(&config), &own, NULL))
                latest = fmax(latest, own.mid);
        }
        mixed += fabs(t / want - 1) < UNKNOWN && fabs(latest - t) < 1e-9 * t && config.pes[limiting] > 0;
    }
    is_int(mixed, tried, "configurations of several take what the ring takes step by step");
    is_int(hrun_predictor_measured(p, 1, 2, 6, sizes, counts), 0, "what was measured");
    ok(sizes[0] == 2000 && sizes[1] == 16000 && counts[0] == 2 && counts[1] == 6, "is known");
    is_int(hrun_predictor_measured(p, 1, 2, 20, sizes, counts), 0, "of more processes than ran on it alone");
    is_int(counts[1], 20, "the steps are counted: that is no extrapolation");
    is_int(hrun_predictor_measured(p, 1, 5, 6, sizes, counts), -1, "and where nothing was");
    ok(!hrun_predictor_deals(p) && hrun_predictor_has_balance(p) && hrun_predictor_oracle(p)->whole &&
       !hrun_predictor_has_network(p), "shares are equal, times those of whole configurations");
    hrun_predictor_destroy(p);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    release_app(&a);
}

/* M between measured ones; messages between PEs of one that was never run on two. */
static void test_filled(void)
{
    static const int ends[] = { 1, 4 };
    struct ma a;
    struct hrun_models *m[SUBS];
    struct hrun_predictor *p;
    const struct hrun_config config = { SUBS, { 2, 3, 1 }, { 3, 2, 1 } };
    double t = 0, want;
    int limiting;

    ring_app(&a);
    for (int i = 0; i < SUBS; i++)
        m[i] = fit(&a, i, ends, 2, i == 2);
    p = predictor(&a, m, 20000);
    is_int(hrun_predictor_oracle(p)->noptions, SUBS * MOST, "M between those that were measured are known");
    want = play(&config, 20000);
    is_int(hrun_predictor_oracle(p)->whole(hrun_predictor_oracle(p)->ctx, &config, 13, &t, &limiting, NULL), 0,
           "and messages between PEs from others");
    ok(fabs(t / want - 1) < UNKNOWN, "as right as the measured ones: %.6f s, in truth %.6f s", t, want);
    hrun_predictor_destroy(p);
    hrun_models_destroy(m[1]);
    m[1] = NULL;
    p = predictor(&a, m, 20000);
    is_int(hrun_predictor_oracle(p)->noptions, 2 * MOST, "a sub-cluster without models has no options");
    hrun_predictor_destroy(p);
    hrun_models_destroy(m[0]);
    hrun_models_destroy(m[2]);
    release_app(&a);
}

/* The paper's procedure begins with one small instance on each node, which tells the speeds. */
static void test_one_size(void)
{
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    const struct hrun_config config = { SUBS, { 2, 3, 2 }, { 1, 1, 1 } };
    struct ma a;
    struct hrun_models *m[SUBS] = { NULL };
    struct hrun_error err = { 0 };
    struct hrun_predictor *p;
    double t = 0, want;
    int limiting;

    ring_app(&a);
    for (int i = 0; i < SUBS; i++) {
        struct hrun_sample one = { .N = 4000, .P = 1, .M = 1, .pes = 1, .ok = 1 };

        one.time_s = true_time(i, 1, 1, 4000);
        is_int(hrun_model_fit(&a.app, &one, 1, &options, &m[i], NULL, &err), 0, "one run makes a model %s", err.text);
    }
    p = predictor(&a, m, 20000);
    want = play(&config, 20000);
    hrun_predictor_oracle(p)->whole(hrun_predictor_oracle(p)->ctx, &config, 7, &t, &limiting, NULL);
    ok(fabs(t / want - 1) < 0.02, "of five times the size on all PEs it tells all but the messages: %.3f s, in truth "
       "%.3f s", t, want);
    is_int(limiting, 2, "and who limits it");
    hrun_predictor_destroy(p);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    release_app(&a);
}

/* 2 ms and 10 ns per byte from host to host, whoever they are. */
static int message(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err)
{
    (void)ctx;
    (void)err;
    *time_s = call->op == HRUN_NET_P2P && ranks->n == 2 && ranks->host[0] != ranks->host[1] ? 2e-3 + 1e-8 * call->bytes
                                                                                          : 1e9;
    return 0;
}

/* Where messages between PEs were never measured the network tells what they take. */
static void test_network(void)
{
    static const struct hrun_netview_pe hosts[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } };
    static const struct hrun_netview_sub subs[] = { { "c", 2, hosts }, { "a", 1, hosts + 2 }, { "b", 1, hosts + 3 } };
    static const struct hrun_netview_source source = { NULL, 4, message, NULL };
    const struct hrun_config config = { SUBS, { 1, 1, 2 }, { 1, 1, 1 } };
    const int place[] = { 1, 2, 0 };
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_netview *view = hrun_netview_of(&source, subs, SUBS, NULL);
    struct hrun_models *m[SUBS] = { NULL };
    struct hrun_predictor *p;
    struct hrun_error err = { 0 };
    struct ma a;
    double t[2] = { 0, 0 };
    int limiting;

    ring_app(&a);
    for (int i = 0; i < SUBS; i++) {
        struct hrun_sample one = { .N = 4000, .P = 1, .M = 1, .pes = 1, .ok = 1, .time_s = true_time(i, 1, 1, 4000) };

        hrun_model_fit(&a.app, &one, 1, &options, &m[i], NULL, &err);
    }
    for (int k = 0; k < 2; k++) {
        p = hrun_predictor_create_net(&(struct hrun_predictor_source){ &a.app, m, SUBS, HRUN_FORM_NPT, 20000,
                                                                       .net = k ? view : NULL, .place = place }, &err);
        hrun_predictor_oracle(p)->whole(hrun_predictor_oracle(p)->ctx, &config, 4, &t[k], &limiting, &err);
        hrun_predictor_destroy(p);
    }
    /* Two steps, the second one that of the opposites, of 5000 points. */
    is_num(t[1] - t[0], 2 * (2e-3 + 1e-8 * 80 * 5000), 1e-9, "messages by the network");
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    hrun_netview_destroy(view);
    release_app(&a);
}

/* Its coefficients, of which the last may not be there. */
static double rate_of(const struct hrun_fit_record *r, double n)
{
    double k[HRUN_RING_TERMS] = { 0 };

    for (int j = 0; j < r->nterms; j++)
        k[hrun_ring_term(r->terms[j])] = r->k[j];
    return hrun_ring_rate(k, n);
}

/* Repetitions that most contradict do not count; a speed that falls with the data is seen where it is plain. */
static void test_rows(void)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_sample v[64];
    struct ma a;
    struct hrun_models *m = NULL;
    struct hrun_error err = { 0 };
    uint64_t seed = 3;
    int n = 0;

    ring_app(&a);
    for (int N = 1000; N <= 16000; N *= 4)
        for (int k = 0; k < 3; k++) {
            v[n] = (struct hrun_sample){ .N = N, .P = 4, .M = 4, .pes = 1, .ok = 1 };
            v[n++].time_s = true_time(0, 4, 1, N) * (1 + 0.01 * rnd_normal(&seed)) * (k == 1 && N > 1000 ? 3 : 1);
        }
    is_int(hrun_model_fit(&a.app, v, (size_t)n, &options, &m, NULL, &err), 0, "two glitches among nine runs %s",
           err.text);
    is_num(rate_of(&m->v[0], 4000) / (4 * UNIT / speed[0]), 1, 0.03, "leave the speed as it is");
    is_int(m->v[0].npoints, 7, "for they do not count");
    is_int(m->v[0].nterms, HRUN_RING_TERMS - 1, "noise makes no speed that falls");
    hrun_models_destroy(m);
    m = NULL;
    for (int i = 0; i < n; i++)
        v[i].time_s = true_time(0, 4, 1, (double)v[i].N) * (1 + 0.2 * log((double)v[i].N / 4)) *
                      (1 + 0.01 * rnd_normal(&seed));
    is_int(hrun_model_fit(&a.app, v, (size_t)n, &options, &m, NULL, &err), 0, "work that slows down %s", err.text);
    is_int(m->v[0].nterms, HRUN_RING_TERMS, "does");
    is_num(rate_of(&m->v[0], 4000) / (4 * UNIT / speed[0] * (1 + 0.2 * log(4000))), 1, 0.03, "as it is");
    hrun_models_destroy(m);
    release_app(&a);
}

static void test_search(void)
{
    static const struct hrun_plan_sub subs[SUBS] = { { 2, 0, 0, 0 }, { 3, 0, 0, 0 }, { 2, 0, 0, 0 } };
    const struct hrun_config balanced = { SUBS, { 2, 3, 2 }, { 3, 2, 1 } }, ones = { SUBS, { 2, 3, 2 }, { 1, 1, 1 } };
    struct ma a;
    struct hrun_models *m[SUBS];
    struct hrun_predictor *p;
    struct hrun_plan_problem problem = { .subs = subs };
    struct hrun_plan *fast = NULL, *slow = NULL;
    struct hrun_fewest few;
    struct hrun_balance balance;
    struct hrun_error err = { 0 };
    int good = 0, less = 0;

    ring_app(&a);
    for (int i = 0; i < SUBS; i++)
        m[i] = fit(&a, i, all, MOST, 0);
    p = predictor(&a, m, 9000);
    problem.oracle = hrun_predictor_oracle(p);
    for (int P = 0; P <= 20; P++) {
        problem.P = P;
        if (hrun_plan_search(&problem, 3, &fast, &err) || hrun_plan_exhaustive(&problem, 3, &slow, &err))
            continue;
        good += fast->exact && fast->v[0].time_s == slow->v[0].time_s && fast->v[2].time_s == slow->v[2].time_s &&
                hrun_config_equal(&fast->v[0].config, &slow->v[0].config);
        hrun_plan_destroy(fast);
        hrun_plan_destroy(slow);
    }
    is_int(good, 21, "the search finds what a look at every configuration finds, and knows that it is the best");
    /* S = 2 3 + 3 2 + 2 1 = 14; in proportion, gamma = 0, with 14 processes. */
    is_int(hrun_predictor_fewest(p, npes, 1e-6, &few, &err), 0, "without loss");
    ok(few.q == 14 && few.loss < 1e-6, "14 processes for speeds 3 3 2 2 2 1 1 (%d, %g)", few.q, few.loss);
    is_int(hrun_predictor_fewest(p, npes, 0.2, &few, &err), 0, "with a loss of 20 %%");
    ok(few.q < 14 && few.loss <= 0.2, "fewer do: %d, %.3f", few.q, few.loss);
    for (int q = 1; q < few.q; q++) {
        static const int ms[MOST] = { 1, 2, 3, 4 };
        double rates[SUBS][MOST], rate;
        struct hrun_ring_group g[SUBS];
        int used[SUBS], on[SUBS];

        for (int i = 0; i < SUBS; i++) {
            for (int k = 0; k < MOST; k++)
                rates[i][k] = ms[k] / speed[i];
            g[i] = (struct hrun_ring_group){ npes[i], rates[i], ms, MOST };
        }
        less += !hrun_ring_allocate_groups(g, SUBS, q, used, on, &rate, NULL) && 1 - q / (rate * 14) <= 0.2;
    }
    is_int(less, 0, "and no smaller number");
    is_int(hrun_predictor_balance(p, npes, &balanced, &balance, &err), 0, "their balance");
    ok(balance.q == 14 && fabs(balance.loss) + fabs(balance.least) + fabs(balance.rounded) < 1e-6 &&
       balance.efficiency > 0.8 && balance.efficiency < 1,
       "no loss, efficiency %.3f", balance.efficiency);
    hrun_predictor_balance(p, npes, &ones, &balance, &err);
    is_num(balance.loss, 0.5, 1e-6, "one process each: gamma = 1 - 1 7 / (1 14)");
    is_int(hrun_predictor_fewest(p, (int[]){ 2, 0, 1 }, -1, &few, &err), -1, "a loss that nothing keeps");
    is_int(err.code, HRUN_EINFEASIBLE, "is refused: %s", err.text);
    hrun_predictor_destroy(p);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    release_app(&a);
}

/* Measured, a PE is quickest with two processes and slow with one: it has one speed all the same. */
static struct hrun_models *fit_uneven(const struct ma *a, int i)
{
    static const double slower[MOST + 1] = { 0, 1.3, 1, 1.1, 1.15 };
    const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_sample v[SAMPLES];
    struct hrun_models *m = NULL;
    struct hrun_error err = { 0 };
    size_t n = 0;

    for (int k = 1; k <= MOST; k++)
        for (int p = 1; p <= npes[i]; p++)
            for (int N = 2000; N <= 16000; N *= 2)
                v[n++] = (struct hrun_sample){ .N = N, .P = p * k, .M = k, .pes = p, .ok = 1,
                                               .time_s = slower[k] * true_time(i, k, p, N) };
    if (hrun_model_fit(&a->app, v, n, &options, &m, NULL, &err))
        printf("# %s\n", err.text);
    return m;
}

/* The k-th configuration of the sub-clusters with all[]: 0 when there are no more. */
static int nth_config(int k, struct hrun_config *out)
{
    out->nsubs = SUBS;
    for (int i = 0; i < SUBS; i++) {
        out->pes[i] = k % (npes[i] + 1);
        k /= npes[i] + 1;
        out->procs[i] = out->pes[i] ? 1 + k % MOST : 0;
        k /= MOST;
    }
    return k == 0;
}

static void test_balance(void)
{
    struct hrun_models *m[SUBS];
    struct hrun_predictor *p;
    struct hrun_balance b;
    struct hrun_error err = { 0 };
    struct hrun_fewest few;
    struct ma a;
    struct hrun_config config;
    int wrong = 0, above = 0, rounded = 0, looked = 0;
    static const int one[SUBS] = { 0, 3, 0 };

    ring_app(&a);
    for (int i = 0; i < SUBS; i++)
        m[i] = fit_uneven(&a, i);
    p = predictor(&a, m, 9000);
    for (int k = 1; nth_config(k, &config); k++) {
        if (!hrun_config_all_pes(&config) || hrun_predictor_balance(p, npes, &config, &b, &err))
            continue;
        looked++;
        wrong += !(b.least >= 0 && b.least <= b.loss && b.loss < 1);
        rounded += isfinite(b.rounded);
        above += b.rounded < b.least;
    }
    is_int(wrong, 0, "0 <= least <= loss < 1 in %d configurations", looked);
    ok(looked > 1000 && rounded > 100 && above == 0, "and least <= rounded in the %d that have it", rounded);
    for (int k = 1; k <= MOST; k++) {
        config = hrun_config_alone(SUBS, 1, 3, k);
        hrun_predictor_balance(p, one, &config, &b, &err);
        ok(b.q == 3 * k && b.loss < 1e-12 && b.least < 1e-12 && b.rounded < 1e-12,
           "equal PEs with %d processes each lose nothing (%g %g %g)", k, b.loss, b.least, b.rounded);
    }
    is_int(hrun_predictor_fewest(p, one, 0.1, &few, &err), 0, "equal PEs, a loss of 10 %%");
    ok(few.q == 3 && few.loss < 1e-12, "one process each keeps it (%d, %g)", few.q, few.loss);
    hrun_predictor_destroy(p);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    release_app(&a);
}

static void test_refusals(void)
{
    struct ma a;
    struct hrun_models *m[SUBS] = { NULL, NULL, NULL };
    struct hrun_error err = { 0 };

    ring_app(&a);
    ok(!hrun_predictor_create(&a.app, m, SUBS, HRUN_FORM_NPT, 100, &err), "no models");
    is_int(err.code, HRUN_ENODATA, "are refused: %s", err.text);
    m[0] = fit(&a, 0, all, MOST, 0);
    free(m[0]->v[1].terms[0]);
    m[0]->v[1].terms[0] = strdup("N^3");
    ok(!hrun_predictor_create(&a.app, m, SUBS, HRUN_FORM_NPT, 100, &err), "a term of another kind");
    has_str(err.text, "'N^3'", "is refused: %s", err.text);
    hrun_models_destroy(m[0]);
    release_app(&a);
}

int main(void)
{
    test_predictions();
    test_filled();
    test_one_size();
    test_network();
    test_rows();
    test_search();
    test_balance();
    test_refusals();
    return tap_done();
}
