/* test_model_network.c - terms of the network: times of configurations, fits whose coefficients are counts, predictions
 * and choices that know the whole configuration; on a made-up network of two switches with a thin link between them */
#include "model/internal.h"
#include "model/terms.h"
#include "model.h"
#include "net.h"
#include "plan/plan.h"

enum { HOSTS = 7, SUBS = 2, NPES = 3 };   /* host 6 is in no sub-cluster */

/* ------------------------------------------------------------------ the network */

static struct {
    long asked, bounded;
    struct hrun_net_ranks last;
    int host[64], kind[64];
    int fails;
} net;

/* Every rank sends to each other one by one: 10 us, and 1 ns a byte, 20 ns from hosts 0-2 to 3-5; in one host
 * nothing. */
static int predict(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err)
{
    double most = 0;

    (void)ctx;
    net.asked++;
    net.last = *ranks;
    memcpy(net.host, ranks->host, (size_t)ranks->n * sizeof *net.host);
    memcpy(net.kind, ranks->kind, (size_t)ranks->n * sizeof *net.kind);
    if (net.fails)
        return hrun_fail(err, HRUN_ENODATA, "no pair");
    for (int r = 0; r < ranks->n; r++) {
        double own = 0;

        for (int s = 0; s < ranks->n; s++)
            if (ranks->host[r] != ranks->host[s])
                own += 1e-5 + call->bytes * ((ranks->host[r] < 3) == (ranks->host[s] < 3) ? 1e-9 : 2e-8);
        most = own > most ? own : most;
    }
    *time_s = most * (call->op == HRUN_NET_BARRIER ? 2 : 1);
    return 0;
}

/* A rank sends to all that are not on its host, where two at most are. */
static double bound(const void *ctx, const struct hrun_net_call *call, int n, const struct hrun_net_ranks *some,
                    int beside, struct hrun_error *err)
{
    (void)ctx;
    (void)err;
    net.bounded += beside == 0 ? some->n : 0;
    return n > 2 ? (n - 2) * (1e-5 + call->bytes * 1e-9) : 0;
}

static struct hrun_netview *make_view(struct hrun_error *err)
{
    static const struct hrun_netview_pe a[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } };
    static const struct hrun_netview_pe b[] = { { 3, 1, 0 }, { 4, 1, 0 }, { 5, 1, 0 } };
    static const struct hrun_netview_sub subs[] = { { "fast", NPES, a }, { "slow", NPES, b } };
    static const struct hrun_netview_source source = { NULL, HOSTS, predict, bound };

    return hrun_netview_of(&source, subs, SUBS, err);
}

static void test_view(void)
{
    static const struct hrun_netview_pe mixed[] = { { 5, 0, 1 }, { 4, 0, 0 } }, bad[] = { { 9, 0, 0 } };
    static const struct hrun_netview_sub two[] = { { "x", 2, mixed } }, outside[] = { { "x", 1, bad } };
    static const struct hrun_netview_source source = { NULL, HOSTS, predict, bound };
    struct hrun_error err = { 0 };
    struct hrun_netview *v = make_view(&err);
    const struct hrun_config config = { SUBS, { 2, 1 }, { 2, 1 } }, ones = { SUBS, { 2, 1 }, { 1, 1 } };
    const struct hrun_config one = { SUBS, { 0, 1 }, { 0, 1 } }, many = { SUBS, { 4, 0 }, { 1, 0 } };
    const struct hrun_config both = { 1, { 2 }, { 1 } };
    double t = 0, again = 1;

    for (int i = 0; i < hrun_app_nfunctions; i++)
        is_str(hrun_app_functions[i].name, hrun_net_op_name((enum hrun_net_op)i),
               "lib/app and lib/net know operation %d", i);
    is_int(hrun_app_nfunctions, HRUN_NET_NOPS, "and no other");
    ok(v && hrun_netview_nsubs(v) == 2 && hrun_netview_npes(v, 1) == 3 && hrun_netview_find(v, "slow") == 1 &&
       hrun_netview_find(v, "none") == -1 && hrun_netview_find(v, NULL) == -1, "sub-clusters by name");
    is_int(hrun_netview_time(v, HRUN_NET_ALLTOALL, 1000, &config, &t, &err), 0, "five ranks on three hosts");
    ok(net.last.n == 5 && net.host[0] == 0 && net.host[1] == 0 && net.host[2] == 1 && net.host[3] == 1 &&
       net.host[4] == 3 && net.kind[0] == 0 && net.kind[4] == 1, "ranks as lib/layout lays them");
    ok(fabs(t - 4 * (1e-5 + 2e-5)) < 1e-15, "the time is the network's");
    net.asked = 0;
    ok(!hrun_netview_time(v, HRUN_NET_ALLTOALL, 1000, &config, &again, &err) && again == t && !net.asked,
       "it is remembered");
    hrun_netview_time(v, HRUN_NET_ALLTOALL, 1001, &config, &again, &err);
    hrun_netview_time(v, HRUN_NET_BARRIER, 1000, &config, &again, &err);
    ok(net.asked == 2 && again == 2 * t, "others are not taken for it");
    for (int i = 0; i < 3000; i++)
        hrun_netview_time(v, HRUN_NET_RING, i, &ones, &again, &err);
    net.asked = 0;
    for (int i = 0; i < 3000; i++)
        hrun_netview_time(v, HRUN_NET_RING, i, &ones, &again, &err);
    is_int(net.asked, 0, "nor thousands");
    ok(!hrun_netview_time(v, HRUN_NET_RING, 8, &one, &t, &err) && t == 0 && !net.asked, "one rank takes no time");
    is_int(hrun_netview_time(v, HRUN_NET_RING, 8, &many, &t, &err), -1, "more PEs than there are");
    is_str(err.text, "sub-cluster fast has 3 PEs, not 4", "are refused");
    net.fails = 1;
    is_int(hrun_netview_time(v, HRUN_NET_RING, 12345, &config, &t, &err), -1, "what the network cannot tell");
    is_int(err.code, HRUN_ENODATA, "is its error");
    net.fails = 0;
    hrun_netview_destroy(v);
    v = hrun_netview_of(&source, two, 1, &err);
    hrun_netview_time(v, HRUN_NET_RING, 8, &both, &t, &err);
    ok(net.host[0] == 4 && net.host[1] == 5, "component by component");
    hrun_netview_destroy(v);
    ok(!hrun_netview_of(&source, outside, 1, &err) && err.code == HRUN_EINVAL, "a host that the network has not got");
}

static void test_config(void)
{
    static const struct {
        const char *config, *cluster;
        int mixed, own, P, M, found, pes[2];
    } v[] = {
        { "(2,1,1,1)", "fast,slow", 1, -1, 3, 1, 1, { 2, 1 } }, { "(1,1,2,1)", "slow,fast", 1, -1, 3, 1, 1, { 2, 1 } },
        { "(2,1,0,0,1,1)", "fast,gone,slow", 1, -1, 3, 1, 1, { 2, 1 } },
        { "(2,1,1,1)", "fast,gone", 1, -1, 3, 1, 0, { 0, 0 } }, { "(2,1,1,1)", "fast,slow", 1, -1, 4, 1, 0, { 0, 0 } },
        { "(4,1,0,0)", "fast,slow", 0, 0, 4, 1, 0, { 0, 0 } }, { "(0,0,2,1)", "fast,slow", 0, 0, 2, 1, 1, { 0, 2 } },
        { "(2,1)", "renamed", 0, 1, 2, 1, 1, { 0, 2 } }, { "(2,1)", "renamed", 0, -1, 2, 1, 0, { 0, 0 } },
        { NULL, NULL, 0, 1, 2, 1, 1, { 0, 2 } }, { "", "", 0, 0, 6, 2, 1, { 3, 0 } },
        { "", "", 0, 0, 8, 2, 0, { 0, 0 } },
        { "(2,1", "fast", 0, 0, 2, 1, 0, { 0, 0 } }, { NULL, NULL, 0, -1, 2, 1, 0, { 0, 0 } },
    };
    struct hrun_netview *view = make_view(NULL);

    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct hrun_sample s = { .P = v[i].P, .M = v[i].M, .mixed = v[i].mixed };
        struct hrun_config config;
        char text[32], cluster[32];
        int found;

        snprintf(text, sizeof text, "%s", v[i].config ? v[i].config : "");
        snprintf(cluster, sizeof cluster, "%s", v[i].cluster ? v[i].cluster : "");
        s.config = v[i].config ? text : NULL;
        s.cluster = v[i].cluster ? cluster : NULL;
        found = hrun_netview_config(view, &s, v[i].own, &config);
        ok(found == v[i].found && (!found || (config.pes[0] == v[i].pes[0] && config.pes[1] == v[i].pes[1])),
           "the configuration of a run, %zu", i);
    }
    hrun_netview_destroy(view);
}

/* ------------------------------------------------------------------ fits and predictions */

static const char *const NP[] = { "N^2/P", "1", "alltoall(8*N/P)", NULL }, *const NT[] = { "N^2", "1", NULL };
static const int64_t SIZES[] = { 1000, 2000, 4000, 8000 };
enum { COUNT = 3 };   /* so many all-to-alls make a run */

/* What sub-cluster i takes in a configuration: fast and slow, and the network's part. */
static double truth(struct hrun_netview *view, int i, int64_t N, const struct hrun_config *config)
{
    double P = hrun_config_processes(config), t;

    hrun_netview_time(view, HRUN_NET_ALLTOALL, 8 * (double)N / P, config, &t, NULL);
    return (i ? 3e-8 : 1e-8) * config->procs[i] * (double)(N * N) / P + COUNT * t;
}

struct runs {
    struct hrun_sample v[SUBS][MAX];
    size_t n[SUBS];
};

/* All homogeneous runs. */
static void measure(struct hrun_netview *view, struct runs *r)
{
    memset(r, 0, sizeof *r);
    for (int i = 0; i < SUBS; i++)
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
            for (int p = 1; p <= NPES; p++)
                for (int m = 1; m <= 2; m++) {
                    struct hrun_config alone = hrun_config_alone(SUBS, i, p, m);

                    r->v[i][r->n[i]++] = sample(SIZES[s], p * m, m, truth(view, i, SIZES[s], &alone));
                }
}

static double coefficient(const struct hrun_models *m, int M, const char *term)
{
    const struct hrun_fit_record *r = find(m, "npt", M, 0);

    for (int j = 0; r && j < r->nterms; j++)
        if (!strcmp(r->terms[j], term))
            return r->k[j];
    return NAN;
}

/* Through a view, an operation's bound is that of the hosts it surely uses: on one switch, of an all-to-all, almost
 * what it takes, and never more. */
static void test_view_bound(void)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    static const struct hrun_netview_pe one[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } };
    static const struct hrun_netview_pe two[] = { { 3, 0, 0 }, { 3, 0, 0 }, { 4, 0, 0 } };
    static const struct hrun_netview_pe big[] = { { 5, 0, 0 }, { 5, 0, 0 } }, little[] = { { 5, 0, 0 } };
    static const struct hrun_netview_sub subs[] = { { "one", 3, one }, { "two", 3, two }, { "big", 2, big },
                                                    { "little", 1, little } };
    enum { N = 4 };
    struct hrun_net *network = net_blank(names, 6);
    struct hrun_netview_source source = hrun_netview_source_of(network);
    struct hrun_netview *v;
    int above = 0, tight = 0;
    uint64_t seed = 11;

    for (int i = 0; i < 36; i++)
        network->pairs[i] = (struct hrun_net_pair){ { 5e-5, NAN }, { 1e8, NAN } };
    for (int i = 0; i < 6; i++)
        network->classes[i].out_bytes_per_s.v = network->classes[i].in_bytes_per_s.v = 1e8;
    v = hrun_netview_of(&source, subs, N, NULL);
    for (int run = 0; run < 500; run++) {
        struct hrun_config config = { .nsubs = N };
        int P;
        const struct hrun_net_call call = { .op = (enum hrun_net_op)(run % HRUN_NET_NOPS),
                                            .bytes = 1 + 1e5 * rnd(&seed) };
        double time = 0;

        for (int i = 0; i < N; i++) {
            config.pes[i] = rnd_int(&seed, 0, subs[i].npes);
            config.procs[i] = config.pes[i] ? rnd_int(&seed, 1, 2) : 0;
        }
        P = hrun_config_processes(&config);
        if (P < 2 || hrun_netview_time(v, call.op, call.bytes, &config, &time, NULL))
            continue;
        for (int known = N; known > 0; known--) {
            struct hrun_config first = config;

            for (int i = known; i < N; i++)
                first.pes[i] = first.procs[i] = 0;
            above += hrun_config_all_pes(&first) > 0 && !(hrun_netview_part(v, &call, &first, known, P, NULL) <= time);
        }
        for (int i = 0; i < N; i++)
            above += config.pes[i] &&
                     !(hrun_netview_bound(v, &call, &(struct hrun_option){ i, config.procs[i] }, P, NULL) <= time);
    }
    for (int sub = 0; sub < N; sub++) {
        const struct hrun_config config = { N, { 3, 1 }, { 1, 1 } };   /* on each of four hosts one */
        const struct hrun_net_call call = { .op = HRUN_NET_ALLTOALL, .bytes = 1e5 };
        double time = 0, b = hrun_netview_bound(v, &call, &(struct hrun_option){ sub, 1 }, 4, NULL);

        if (!hrun_netview_time(v, HRUN_NET_ALLTOALL, 1e5, &config, &time, NULL))
            tight += sub == 0 ? b > 0.95 * time : sub == 1 ? b > 0.6 * time && b < 0.7 * time : b == 0;
    }
    is_int(above, 0, "no bound through a view is above the time");
    is_int(tight, N, "it is close where a host has one PE, less so where it has more, nothing where others share it");
    hrun_netview_destroy(v);
    hrun_net_destroy(network);
}

/* All configurations by hand against a search of the predictor's oracle. */
static void check_choice(const struct ma *a, struct hrun_netview *view, struct hrun_models *const *models, int64_t N,
                         double within)
{
    struct hrun_plan_sub subs[SUBS] = { { .npes = NPES }, { .npes = NPES } };
    const struct hrun_predictor_source from = { &a->app, models, SUBS, HRUN_FORM_NPT, N, .net = view };
    struct hrun_predictor *p = hrun_predictor_create_net(&from, NULL);
    const struct hrun_oracle *o = hrun_predictor_oracle(p);
    struct hrun_plan_problem problem = { o, subs, NULL, 0, NULL };
    struct hrun_plan *plan = NULL;
    double best = INFINITY, off = 0, t[8];
    int above = 0, unlike = 0;

    ok(o->whole && hrun_predictor_has_network(p), "N=%d: the model is not separable", (int)N);
    for (int c = 1; c < 49; c++) {
        struct hrun_config config = { .nsubs = SUBS };
        struct hrun_interval own;
        double most = 0, one;
        int P, limiting, x[SUBS] = { c % 7, c / 7 };

        for (int i = 0; i < SUBS; i++) {
            config.pes[i] = (x[i] + 1) / 2;
            config.procs[i] = x[i] ? 1 + x[i] % 2 : 0;
        }
        P = hrun_config_processes(&config);
        for (int i = 0; i < SUBS; i++)
            if (config.pes[i])
                most = fmax(most, truth(view, i, N, &config));
        if (o->whole(o->ctx, &config, P, &one, &limiting, NULL) || o->times(o->ctx, P, t, NULL)) {
            unlike++;
            continue;
        }
        off = fmax(off, fabs(one / most - 1));
        for (int known = config.pes[0] ? 1 : 2; known <= SUBS; known++) {
            struct hrun_config first = config;
            double part = INFINITY;

            if (known == 1)
                first.pes[1] = first.procs[1] = 0;
            above += o->part(o->ctx, &first, known, P, &part, NULL) || !(part <= one);
        }
        for (int k = 0; k < o->noptions; k++)
            if (config.pes[o->options[k].sub] && config.procs[o->options[k].sub] == o->options[k].m)
                above += !(t[k] <= one);
        unlike += p->kind->time_in(p, limiting, &config, P, &own, NULL) || own.mid != one ||
                  !(own.low <= one && one <= own.high);
        if (P % 3 != 2 && one < best)
            best = one;
    }
    ok(off < within, "N=%d: all configurations are predicted: worst %g", (int)N, off);
    is_int(above, 0, "the separable times are bounds");
    is_int(unlike, 0, "one by one the same, with an interval about it");
    net.bounded = 0;
    ok(!hrun_plan_search(&problem, 1, &plan, NULL) && plan->exact && plan->v[0].time_s == best,
       "the best one is found");
    ok(net.bounded > 0 && plan->evaluated < 30, "by %ld looks, as there are bounds", plan ? plan->evaluated : 0);
    hrun_plan_destroy(plan);
    hrun_predictor_destroy(p);
}

static void test_fit(void)
{
    static struct runs r;
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_netview *view = make_view(NULL);
    struct hrun_models *m[SUBS] = { NULL }, *without = NULL;
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    struct hrun_predictor *p;
    struct ma a;
    struct hrun_interval time;
    const struct hrun_config slow = { SUBS, { 0, 3 }, { 0, 2 } };

    ma_init(&a, NP, NT, NULL, 2);
    measure(view, &r);
    options.sigma_abs_s = 1e-7;
    options.net = view;
    for (int i = 0; i < SUBS; i++) {
        options.own = i;
        is_int(hrun_model_fit(&a.app, r.v[i], r.n[i], &options, &m[i], NULL, &err), 0, "fitted %s", err.text);
        ok(fabs(coefficient(m[i], 1, NP[2]) - COUNT) < 1e-4 && fabs(coefficient(m[i], 2, NP[2]) - COUNT) < 1e-4,
           "the coefficient is how often it happens: %g, %g", coefficient(m[i], 1, NP[2]), coefficient(m[i], 2, NP[2]));
    }
    ok(hrun_models_have_network(&a.app, m, SUBS, 1), "the models ask the network");
    check_choice(&a, view, m, 3000, 1e-5);
    check_choice(&a, view, m, 20000, 1e-5);

    p = hrun_predictor_create_net(&(struct hrun_predictor_source){ &a.app, m, SUBS, HRUN_FORM_NPT, 3000, .net = view },
                                  &err);
    ok(!hrun_predictor_time(p, 1, 2, 6, &time, &err) && fabs(time.mid / truth(view, 1, 3000, &slow) - 1) < 1e-5,
       "without a configuration that of the sub-cluster alone");
    is_int(hrun_predictor_time(p, 1, 2, 8, &time, &err), -1, "which it may not have");
    is_int(err.code, HRUN_ENODATA, "so nothing is known");
    hrun_predictor_destroy(p);
    ok(!hrun_predictor_create(&a.app, m, SUBS, HRUN_FORM_NPT, 3000, &err) && err.code == HRUN_ENODATA,
       "without a network they predict nothing");
    has_str(err.text, "hrun-calibrate network", "and say what to do");

    options.net = NULL;
    is_int(hrun_model_fit(&a.app, r.v[0], r.n[0], &options, &without, NULL, &err), 0, "a fit without a network");
    ok(isnan(coefficient(without, 1, NP[2])) && !hrun_models_have_network(&a.app, &without, 1, 0),
       "leaves the term out");
    has_str(find(without, "npt", 1, 0)->note, "left out alltoall(8*N/P): the network of these hosts was not measured",
            "and says so");
    hrun_models_destroy(without);
    options.net = view;
    options.own = -1;
    is_int(hrun_model_fit(&a.app, r.v[0], r.n[0], &options, &without, &skipped, &err), -1, "runs of unknown places");
    is_int(err.code, HRUN_ENODATA, "are not used: %s", err.text);
    hrun_buf_release(&skipped);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    hrun_netview_destroy(view);
    ma_release(&a);
}

/* Runs on both sub-clusters take part with what the network takes there. */
static void test_joint(void)
{
    static struct runs r;
    static char text[] = "(2,1,3,1)", names[] = "fast,slow", date[] = "2026-01-01T00:00:00Z";
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_netview *view = make_view(NULL);
    struct hrun_joint_sub subs[SUBS] = { { .name = "fast", .signature = "fast" },
                                          { .name = "slow", .signature = "slow" } };
    struct hrun_models *m[SUBS] = { NULL };
    const struct hrun_config config = { SUBS, { 2, 3 }, { 1, 1 } };
    struct hrun_error err = { 0 };
    struct ma a;

    ma_init(&a, NP, NT, NULL, 2);
    measure(view, &r);
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
        for (int i = 0; i < SUBS; i++) {
            double t = fmax(truth(view, 0, SIZES[s], &config), truth(view, 1, SIZES[s], &config));
            struct hrun_sample *x = &r.v[i][r.n[i]++];

            *x = sample(SIZES[s], 5, 1, t);
            x->pes = config.pes[i];
            x->mixed = 1;
            x->config = text;
            x->cluster = x->signatures = names;
            x->date = date;
        }
    for (int i = 0; i < SUBS; i++) {
        subs[i].samples = r.v[i];
        subs[i].n = r.n[i];
    }
    options.sigma_abs_s = 1e-7;
    options.net = view;
    is_int(hrun_model_fit_joint(&a.app, subs, SUBS, &options, m, NULL, &err), 0, "fitted together %s", err.text);
    ok(m[0] && m[1] && fabs(coefficient(m[1], 1, NP[2]) - COUNT) < 5e-3, "mixed runs agree with the others: %g",
       coefficient(m[1], 1, NP[2]));
    is_int(find(m[1], "npt", 1, 0)->npoints, 12, "and count: 8 of its own and 4 of both");
    check_choice(&a, view, m, 5000, 1e-3);
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(m[i]);
    hrun_netview_destroy(view);
    ma_release(&a);
}

/* A factor or bytes below 0 are mistakes of the definition. */
static void test_mistakes(void)
{
    static const char *const texts[][2] = { { "(1 - P)*ring(8)", "has a factor of -3 at N=10, P=4: below 0" },
                                            { "ring(8*(N-50))", "sends bytes of -320 at N=10, P=4: below 0" },
                                            { "ring(8/(P-4))", "'8/(P-4)' divides by zero at P=4" } };
    static const char *const vars[] = { "N", "P" };
    struct ma a;

    ma_init(&a, NULL, NULL, NULL, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hrun_expr *e = ma_compile(&a.app, texts[i][0], vars, 2);
        struct hrun_error err = { 0 };
        struct hrun_net_call call;
        double v = 7;

        is_int(hrun_term_network_call(e, 10, 4, &v, &call, &err), -1, "%s is refused", texts[i][0]);
        has_str(err.text, texts[i][1], "with words");
        ok(v == 7, "the output is untouched");
        hrun_expr_destroy(e);
    }
    ma_release(&a);
}

int main(void)
{
    test_view();
    test_view_bound();
    test_config();
    test_fit();
    test_joint();
    test_mistakes();
    return tap_done();
}
