/* test_kinds.c - kinds of cores of one host: the benchmark of them, what is kept, and the choice against brute force */
#include "fixture.h"
#include "model/speeds.h"
#include "session/core_kinds.h"
#include "session/decide.h"

enum { SUBS = 3, PES = 6, CASES = 400 };

/* A made-up host: sub-cluster i has npes[i] cores. */
struct host {
    struct hrun_cluster cl;
    struct hrun_host host;
    struct hrun_subcluster subs[SUBS];
    struct hrun_pe pes[SUBS][PES];
    struct settings set;
    struct context c;
    struct decision d;
    struct sub_view views[SUBS];
};

static void make(struct host *h, const int *npes)
{
    static char model[] = "Made", kinds[SUBS][8] = { "fast", "middle", "slow" };
    static char cores[] = "7";

    memset(h, 0, sizeof *h);
    h->cl = (struct hrun_cluster){ .hosts = &h->host, .nhosts = 1, .subs = h->subs, .nsubs = SUBS };
    h->host.is_local = 1;
    for (int i = 0; i < SUBS; i++) {
        h->subs[i] = (struct hrun_subcluster){ .name = kinds[i], .core_kind = kinds[i], .cpu_model = model, .kind = i,
                                               .level = HRUN_LEVEL_CORE, .cores_per_pe = 1, .pus_per_pe = 1,
                                               .pes = h->pes[i], .npes = npes[i] };
        for (int k = 0; k < PES; k++)
            h->pes[i][k] = (struct hrun_pe){ .cores = cores, .ncores = 1, .npus = 1 };
        h->views[i].npes = npes[i];
    }
    h->c.set = &h->set;
    h->c.cluster = &h->cl;
    h->d = (struct decision){ .by = BY_DEFAULT, .nsubs = SUBS, .subs = h->views, .config.nsubs = SUBS };
}

/* ---------------------------------------------------------------- the benchmark */

static void test_benchmark(void)
{
    struct hrun_error err = { 0 };
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, &err);
    struct hrun_topo_pe *pes = NULL;
    struct hrun_topo_rate rates[2];
    int n = 0;

    if (!t || hrun_topo_pes(t, HRUN_LEVEL_CORE, 1, &pes, &n, &err) || n != 1)
        bail("no core");
    {
        const char *same[] = { pes[0].cpuset, pes[0].cpuset }, *bad[] = { pes[0].cpuset, "4095" };

        ok(!hrun_topo_benchmark(t, same, 2, 0.3, rates, &err), "two processes time one core: %s", err.text);
        ok(rates[0].rate > 0 && rates[1].rate > 0, "each has done something");
        ok(rates[0].share > 0 && rates[0].share + rates[1].share < pes[0].npus + 0.2,
           "they are bound: together they had the core %.2f of the time", rates[0].share + rates[1].share);
        is_int(hrun_topo_benchmark(t, bad, 2, 0.3, rates, &err), -1, "a core that there is not is an error");
        is_int(err.code, HRUN_EINVAL, "of the caller");
        has_str(err.text, "4095", "which names it");
    }
    hrun_topo_pes_free(pes, n);
    hrun_topo_destroy(t);
}

static void test_judge(void)
{
    static const int npes[SUBS] = { 2, 1, 1 };
    struct hrun_topo_rate rates[] = { { 110, 1 }, { 90, 0.95 }, { 70, 1 }, { 50, 1 } };
    struct host h;
    double speed[SUBS];
    char why[256] = "";

    make(&h, npes);
    ok(kinds_average_rates(&h.cl, rates, speed, why, sizeof why), "good rates are trusted");
    ok(speed[0] == 100 && speed[1] == 70 && speed[2] == 50, "a kind is as quick as the mean of its cores");
    rates[3].share = 0.5;
    ok(!kinds_average_rates(&h.cl, rates, speed, why, sizeof why), "a core that others used is not");
    has_str(why, "other programs had core 7 for 50 %", "and which is said");
    rates[3].share = 1;
    rates[1].rate = 80;
    ok(!kinds_average_rates(&h.cl, rates, speed, why, sizeof why), "nor are cores of one kind that differ");
    has_str(why, "one core of fast was 1.4 times as quick", "by much");
}

/* ---------------------------------------------------------------- the choice */

/* The least time of all configurations that the rule accepts with up to M processes on a core, by the formula of
 * lib/model/speeds.c. */
static double least_time(const struct host *h, const double *speed, int most, struct hrun_app *app)
{
    int v[2 * SUBS] = { 0 };
    double best = INFINITY;

    for (;;) {
        double t = 0;
        int k = 0, P = 0;

        while (k < 2 * SUBS && v[k] == (k % 2 ? most - 1 : h->views[k / 2].npes))
            v[k++] = 0;
        if (k == 2 * SUBS)
            return best;
        v[k]++;
        for (int i = 0; i < SUBS; i++) {
            int M = 1 + v[2 * i + 1];

            P += v[2 * i] * M;
            t = v[2 * i] ? fmax(t, M * (1 + 1e-3 * (M - 1)) / speed[i]) : t;
        }
        if (P && (!app || hrun_app_rule(app, h->d.N, P, NULL) == 1))
            best = fmin(best, t / P);
    }
}

/* What the header says: two on a core where that is 30 % quicker, and a definition allows it. */
static double expected(const struct host *h, const double *speed, struct hrun_app *app)
{
    double one = least_time(h, speed, 1, app), shared = least_time(h, speed, app ? 2 : 1, app);

    return isinf(one) || shared * 1.3 < one ? shared : one;
}

static double time_of(const struct host *h, const double *speed)
{
    double t = 0;

    for (int i = 0; i < SUBS; i++)
        if (h->d.config.pes[i])
            t = fmax(t, h->d.config.procs[i] * (1 + 1e-3 * (h->d.config.procs[i] - 1)) / speed[i]);
    return t / h->d.P;
}

static void test_choice(const char *dir)
{
    struct hrun_error err;
    struct hrun_app *app = load_text(dir, "name: app\nprograms: [x]\nprocs_per_pe: [1, 2]\nrule: \"P % 3 != 1\"\n"
                                          "terms: {np: [\"1/P\"], n: [\"1\"], p: [\"T/P\"]}\n", &err);
    uint64_t seed = 5;
    int wrong = 0, shares = 0, alone = 0, every = 0;

    ok(app != NULL, "a definition with a rule %s", err.text);
    for (int k = 0; k < CASES; k++) {
        int npes[SUBS] = { rnd_int(&seed, 1, 4), rnd_int(&seed, 1, PES), rnd_int(&seed, 1, PES) };
        double speed[SUBS];
        struct host h;

        make(&h, npes);
        for (int i = 0; i < SUBS; i++) {
            speed[i] = 100 / (1 + rnd_int(&seed, 0, 8) * 0.25);
            h.views[i].npes = rnd_int(&seed, i == 0, npes[i]);  /* others have some */
        }
        h.c.kinds.speed = speed;
        h.c.app = k % 2 ? app : NULL;
        h.d.N = k % 2;
        if (kinds_decide(&h.c, 1, &h.d, NULL))
            bail("no decision");
        if (isinf(expected(&h, speed, h.c.app))) {
            wrong += h.d.by != BY_DEFAULT;
            continue;
        }
        wrong += h.d.by != BY_KINDS ||
                 fabs(time_of(&h, speed) / expected(&h, speed, h.c.app) - 1) > 1e-9;
        shares += h.d.P > h.d.config.pes[0] + h.d.config.pes[1] + h.d.config.pes[2];
        alone += !h.d.config.pes[1] && !h.d.config.pes[2] && h.views[1].npes + h.views[2].npes;
        every += h.d.P == h.views[0].npes + h.views[1].npes + h.views[2].npes;
    }
    is_int(wrong, 0, "%d choices are those of brute force", CASES);
    ok(shares > 10 && alone > 10 && every > 10, "shares %d, the quickest alone %d, all %d times", shares, alone, every);
    hrun_app_destroy(app);
}

/* ---------------------------------------------------------------- what is kept */

static void append(struct host *h, const char *app, int sub, struct hrun_sample s, const char *config)
{
    struct hrun_buf sig = HRUN_BUF_INIT;
    char text[] = "x", good[] = "ok", date[21], mixed[64];
    struct hrun_error err;

    hrun_date_now(date);
    snprintf(mixed, sizeof mixed, "%s", config);
    s.N = 1;
    s.wall_s = 1;
    s.P = s.M * s.pes + s.mixed;
    s.status = s.ok ? good : text;
    s.origin = s.cluster = s.launcher.engine = text;
    s.config = mixed;
    s.date = s.date ? s.date : date;
    if (strcmp(app, HRUN_KINDS_APP))
        hrun_buf_adds(&sig, h->c.signatures.v[sub]);
    else
        profiles_speed_signature(&h->subs[sub], &sig);
    if (hrun_store_append(h->c.store, app, sig.data, &s, &err))
        bail(err.text);
    hrun_buf_release(&sig);
}

static void keep_speeds(struct host *h, double fast, double middle, double slow)
{
    const double speed[] = { fast, middle, slow };

    for (int i = 0; i < SUBS; i++)
        append(h, HRUN_KINDS_APP, i, (struct hrun_sample){ .M = 1, .pes = 1, .time_s = 1 / speed[i], .ok = 1 }, "");
}

static void find(struct host *h)
{
    free(h->c.kinds.speed);
    memset(&h->c.kinds, 0, sizeof h->c.kinds);
    kinds_load_speeds(&h->c, "nothing is measured here");
}

static const char *words(const struct host *h)
{
    static char text[512];
    struct hrun_buf b = HRUN_BUF_INIT;

    kinds_print(&h->c, &b);
    snprintf(text, sizeof text, "%s", b.data);
    hrun_buf_release(&b);
    return text;
}

static void test_kept(char *dir)
{
    static const int npes[SUBS] = { 6, 4, 2 };
    char old[] = "2020-01-01T00:00:00Z";
    struct host h;

    make(&h, npes);
    h.c.store = hrun_store_open(dir, NULL);
    find(&h);
    ok(!h.c.kinds.speed, "nothing is known at first");
    is_str(words(&h), "the speeds of the kinds of cores are not known: nothing is measured here", "and why is said");
    for (int i = 0; i < SUBS; i++)
        append(&h, HRUN_KINDS_APP, i, (struct hrun_sample){ .M = 1, .pes = 1, .date = old }, "");
    find(&h);
    has_str(words(&h), "nothing is measured here", "an old benchmark that was disturbed does not count");
    append(&h, HRUN_KINDS_APP, 0, (struct hrun_sample){ .M = 1, .pes = 1 }, "");
    find(&h);
    has_str(words(&h), "less than an hour ago", "a new one does");
    keep_speeds(&h, 100, 95, 50);
    find(&h);
    ok(h.c.kinds.speed && h.c.kinds.speed[0] == h.c.kinds.speed[1], "kinds within 10 %% are one");
    is_num(h.c.kinds.speed ? h.c.kinds.speed[0] : 0, 98, 1e-9, "with the mean over their cores");
    is_str(words(&h), "cores of fast and middle (10) are 2.0 times as quick as those of slow (2)", "which is said");
    keep_speeds(&h, 100, 50, 40);
    find(&h);
    is_str(words(&h), "cores of fast (6) are 2.5 times, of middle (4) are 1.2 times as quick as those of slow (2)",
           "three kinds");
    keep_speeds(&h, 100, 98, 96);
    find(&h);
    is_str(words(&h), "cores of fast and middle and slow (12) are equally quick", "one");
    free(h.c.kinds.speed);
    hrun_store_close(h.c.store);
}

/* Runs of a command say more than speeds. */
static void test_runs(const char *dir, char *data)
{
    static const int npes[SUBS] = { 2, 1, 1 };
    struct hrun_error err;
    struct hrun_app *app = load_named(dir, "cmd", "name: cmd\nsize: fixed\nterms: {np: [\"1/P\"], n: [\"1\"], "
                                                  "p: [\"T/P\"]}\n", &err);
    double speed[] = { 100, 30, 20 };
    struct host h;

    make(&h, npes);
    h.c.store = hrun_store_open(data, NULL);
    h.c.app = app;
    h.d.N = 1;
    for (int i = 0; i < SUBS; i++)
        hrun_strvec_pushf(&h.c.signatures, "sig%d", i);
    h.c.kinds.speed = speed;
    ok(app && !kinds_decide(&h.c, 1, &h.d, NULL) && h.d.config.pes[0] == 2 && !h.d.config.pes[1],
       "speeds want the quickest alone");
    append(&h, "cmd", 0, (struct hrun_sample){ .M = 1, .pes = 2, .time_s = 9, .ok = 1 }, "");
    h.d.by = BY_DEFAULT;
    ok(!kinds_decide(&h.c, 1, &h.d, NULL) && h.d.config.pes[0] == 2 && !h.d.config.pes[1] &&
       !h.d.fallback.kinds_run, "one configuration is no comparison");
    append(&h, "cmd", 0, (struct hrun_sample){ .M = 1, .pes = 2, .time_s = 5, .ok = 1, .mixed = 1 }, "(2,1,1,1,1,1)");
    h.d.by = BY_DEFAULT;
    ok(!kinds_decide(&h.c, 1, &h.d, NULL) && h.d.config.pes[1] == 1 && h.d.config.pes[2] == 1 &&
       h.d.fallback.kinds_run == 2,
       "the quickest of two that were run");
    is_int(h.d.P, 4, "has 4 processes");
    for (int k = 0; k < 2; k++)
        append(&h, "cmd", 0, (struct hrun_sample){ .M = 1, .pes = 2, .time_s = 50, .ok = 1, .mixed = 1 },
               "(2,1,1,1,1,1)");
    h.d.by = BY_DEFAULT;
    ok(!kinds_decide(&h.c, 1, &h.d, NULL) && h.d.P == 2, "by its median");
    hrun_strvec_release(&h.c.signatures);
    hrun_app_destroy(app);
    hrun_store_close(h.c.store);
}

static void test_matter(char *data)
{
    static const int npes[SUBS] = { 2, 1, 1 };
    struct question q = { 0 };
    struct host h;

    make(&h, npes);
    h.c.store = hrun_store_open(data, NULL);
    h.host.topo = hrun_topo_load(HRUN_TOPO_SYNTHETIC, "core:4 pu:1", NULL);
    ok(!kinds_matter(&h.c, &q, &h.d), "nothing is asked of a host that is only described");
    hrun_topo_destroy(h.host.topo);
    h.host.topo = hrun_topo_load(HRUN_TOPO_THIS, NULL, NULL);
    ok(kinds_matter(&h.c, &q, &h.d), "of this host it is");
    h.views[1].npes = h.views[2].npes = 0;
    ok(!kinds_matter(&h.c, &q, &h.d), "not where one kind alone is free");
    h.views[1].npes = 1;
    q.use = "fast";
    ok(!kinds_matter(&h.c, &q, &h.d), "nor with --use");
    q.use = NULL;
    h.d.by = BY_USER;
    ok(!kinds_matter(&h.c, &q, &h.d), "nor where the user has decided");
    h.d.by = BY_DEFAULT;
    h.host.cpu_quota = 1.5;
    ok(!kinds_matter(&h.c, &q, &h.d), "nor with a quota");
    h.host.cpu_quota = 0;
    h.subs[0].level = HRUN_LEVEL_PACKAGE;
    ok(!kinds_matter(&h.c, &q, &h.d), "nor where PEs are no cores");
    h.subs[0].level = HRUN_LEVEL_CORE;
    h.cl.nhosts = 2;
    ok(!kinds_matter(&h.c, &q, &h.d), "nor on several hosts");
    hrun_topo_destroy(h.host.topo);
    hrun_store_close(h.c.store);
}

int main(void)
{
    char *dir = temp_dir(), *data = temp_dir(), *runs = temp_dir();

    test_benchmark();
    test_judge();
    test_choice(dir);
    test_kept(data);
    test_runs(dir, runs);
    test_matter(data);
    free(dir);
    free(data);
    free(runs);
    return tap_done();
}
