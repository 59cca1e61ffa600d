/* Designs that choose runs of made-up applications whose true times are known: what they ask for, when they end, and
 * whether what they choose is the best of all configurations. */
#include "plan/design/internal.h"
#include "fixture.h"
#include "model.h"

enum { SUBS = 2, PES = 4, MOST = 2, RUNS_MAX = 400, NSIZES = 5 };

static const char *const np[] = { "N^3/P", "N^2", "N*P", "1", NULL };
static const char *const nt[] = { "N^3", "N^2", "1", NULL };
static const int64_t sizes[NSIZES] = { 100, 150, 200, 300, 400 };
static const struct hrun_design_sub subs[SUBS] = {
    { "fast", "fast", PES, 0, 0 }, { "slow", "slow", PES, 0, 0 },
};
/* More than 200 configurations at each size. */
static const struct hrun_design_sub many[SUBS] = {
    { "fast", "fast", 3 * PES, 0, 0 }, { "slow", "slow", 3 * PES, 0, 0 },
};
static const struct hrun_design_sub *used = subs;
static const struct hrun_design_settings plain = { .sizes = sizes, .nsizes = NSIZES, .seed = 1,
                                                   .fit = HRUN_FIT_OPTIONS_DEFAULT };

/* How much slower the slow sub-cluster is, and how much of each configuration's time no model knows. */
static double slowness = 1.4, unknown = 0;

/* Ti of a sub-cluster: a family the models can follow. Two processes on a PE help a little. */
static double part(int sub, int m, double N, int P)
{
    double flop = (sub ? slowness : 1) * 1e-7 * (m == 2 ? 1.8 : 1);

    return flop * N * N * N / P + 2e-7 * N * N + 1e-6 * N * P + 1e-3;
}

/* T = max Ti; 0 where nothing is used. */
static double truth(const struct hrun_config *config, int64_t N, int *P)
{
    double t = 0;

    *P = 0;
    for (int i = 0; i < SUBS; i++)
        *P += config->pes[i] * config->procs[i];
    for (int i = 0; i < SUBS; i++)
        if (config->pes[i])
            t = fmax(t, part(i, config->procs[i], (double)N, *P));
    /* A factor of the configuration, the same each time. */
    return t * exp(unknown * sin(1 + config->pes[0] + 7 * config->pes[1] + 31 * config->procs[0] +
                                 57 * config->procs[1]));
}

static double best_of_all(int64_t N, int *P)
{
    double best = INFINITY;

    for (int code = 1; code < (1 + PES * MOST) * (1 + PES * MOST); code++) {
        int a = code % (1 + PES * MOST), b = code / (1 + PES * MOST), p;
        struct hrun_config c = { SUBS, { (a + 1) / 2, (b + 1) / 2 }, { a ? 1 + a % 2 : 0, b ? 1 + b % 2 : 0 } };
        double t = truth(&c, N, &p);

        if (p % 3 != 2 && t < best) {
            best = t;
            *P = p;
        }
    }
    return best;
}

/* A design at work, and all it asked for. */
struct trial {
    struct ma m;
    struct hrun_design *d;
    int n, mixed, invalid, again_after_failure, repeats;
    struct hrun_config config[RUNS_MAX];
    int64_t N[RUNS_MAX];
    enum hrun_design_stage stage[RUNS_MAX];
    double spent_s;
    uint64_t noise;
    double sigma;
    int (*fails)(const int *pes, int64_t N);
    double hang_s;              /* what a run takes that fails */
    struct hrun_error err;
};

static void start(struct trial *t, const struct hrun_design_settings *s)
{
    memset(t, 0, sizeof *t);
    ma_init(&t->m, np, nt, NULL, MOST);
    t->noise = 7;
    t->d = hrun_design_create(&t->m.app, used, SUBS, s, &t->err);
}

static void finish(struct trial *t)
{
    hrun_design_destroy(t->d);
    ma_release(&t->m);
}

static int failed_before(const struct trial *t, const struct hrun_design_run *r)
{
    for (int i = 0; i < t->n && t->fails; i++)
        if (t->N[i] == r->N && hrun_config_equal(&t->config[i], &r->config) && t->fails(r->config.pes, r->N))
            return 1;
    return 0;
}

/* Make one run. Result as hrun_design_next. */
static int step(struct trial *t)
{
    struct hrun_design_run r;
    int rc = hrun_design_next(t->d, &r, &t->err), P, k = t->n;
    double time_s, wall_s;

    if (rc != 1 || k == RUNS_MAX)
        return rc == 1 ? 0 : rc;
    t->config[k] = r.config;
    t->N[k] = r.N;
    t->stage[k] = r.stage;
    time_s = truth(&r.config, r.N, &P) * (1 + t->sigma * rnd_normal(&t->noise));
    t->invalid += P % 3 == 2 || P != r.P || r.config.pes[0] > PES || r.config.pes[1] > PES ||
                  r.config.procs[0] > MOST || r.config.procs[1] > MOST;
    t->mixed += r.config.pes[0] && r.config.pes[1];
    t->again_after_failure += failed_before(t, &r);
    wall_s = time_s + 0.01;
    if (t->fails && t->fails(r.config.pes, r.N)) {
        time_s = 0;
        wall_s = t->hang_s + 0.01;
    }
    t->n++;
    t->spent_s += wall_s;
    return hrun_design_add(t->d, &(struct hrun_design_result){ r.config, NULL, r.N, time_s, wall_s, 1 }, &t->err)
           ? -1 : 1;
}

/* Give a design a run with equal shares. */
static int add_run(struct hrun_design *d, const struct hrun_config *config, int64_t N, double time_s, int counts)
{
    return hrun_design_add(d, &(struct hrun_design_result){ *config, NULL, N, time_s, time_s, counts }, NULL);
}

static int go(struct trial *t, int most)
{
    int rc = 1;

    while (most-- > 0 && (rc = step(t)) == 1)
        ;
    if (rc < 0)
        printf("# %s\n", t->err.text);
    return rc;
}

/* The choice at size number i: 1 and where it is, how long and how often it was run; 0 when there is none (yet). */
static int choice_at(const struct hrun_design *d, int i, const struct hrun_config **config, double *time_s,
                     double *low_s, double *high_s, int *runs)
{
    const struct design_size *s = &d->sizes[i];
    const struct design_belief *b;

    if (s->choice < 0)
        return 0;
    b = &s->v[s->choice];
    *config = &b->config.c;
    *time_s = exp(b->mean);
    *low_s = exp(b->mean - s->half);
    *high_s = exp(b->mean + s->half);
    *runs = b->runs;
    return 1;
}

/* The largest estimation error over the sizes. */
static double worst_error(const struct trial *t)
{
    double worst = 0;

    for (int i = 0; i < NSIZES; i++) {
        const struct hrun_config *config;
        double time_s, low_s, high_s;
        int runs, P;

        if (!choice_at(t->d, i, &config, &time_s, &low_s, &high_s, &runs))
            return INFINITY;
        worst = fmax(worst, truth(config, sizes[i], &P) / best_of_all(sizes[i], &P) - 1);
    }
    return worst;
}

/* ------------------------------------------------------------------ */

static void chooses_the_best(void)
{
    struct trial t;
    double grid = 0;
    int P;

    for (int i = 0; i < NSIZES; i++)
        for (int sub = 0; sub < SUBS; sub++)
            for (int m = 1; m <= MOST; m++)
                for (int pes = 1; pes <= PES; pes++)
                    grid += part(sub, m, (double)sizes[i], pes * m);
    start(&t, &plain);
    is_int(go(&t, RUNS_MAX), 0, "it comes to an end");
    is_int(hrun_design_state(t.d)->end, HRUN_DESIGN_STABLE, "as the choice is stable");
    ok(worst_error(&t) < 1e-9, "the choice is the best of all configurations at each size (%.1e)", worst_error(&t));
    ok(t.spent_s < 0.7 * (grid + 0.01 * NSIZES * SUBS * MOST * PES), "for less than the homogeneous grid takes once "
       "(%.1f s of %.1f)", t.spent_s, grid);
    ok(t.mixed > 0 && t.mixed < t.n, "%d of %d runs are mixed", t.mixed, t.n);
    is_int(t.invalid, 0, "every run satisfies rule and sub-clusters");
    is_int(hrun_design_state(t.d)->runs, t.n, "the runs are counted");
    is_num(hrun_design_state(t.d)->spent_s, t.spent_s, 1e-12, "and their time");
    best_of_all(sizes[NSIZES - 1], &P);
    ok(P > PES * MOST, "at the largest size the best P (%d) lies beyond every homogeneous run", P);
    finish(&t);
}

static void bears_noise(void)
{
    double worst = 0, mean = 0;
    enum { SEEDS = 10 };

    for (int seed = 1; seed <= SEEDS; seed++) {
        struct hrun_design_settings s = plain;
        struct trial t;

        s.seed = (uint64_t)seed;
        s.budget_s = 5;
        start(&t, &s);
        t.sigma = 0.02;
        t.noise = (uint64_t)seed * 1000;
        go(&t, RUNS_MAX);
        worst = fmax(worst, worst_error(&t));
        mean += worst_error(&t) / SEEDS;
        finish(&t);
    }
    ok(worst < 0.05 && mean < 0.03, "with 2 %% noise the worst choice of %d designs is off by %.2f %%, the worst of "
       "each by %.2f %% in the mean", SEEDS, 100 * worst, 100 * mean);
}

static int same_runs(const struct trial *a, const struct trial *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a->N[i] != b->N[i] || !hrun_config_equal(&a->config[i], &b->config[i]))
            return 0;
    return 1;
}

static int64_t sum_of_first(const struct trial *t, int n)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++) {
        const struct hrun_config *c = &t->config[i];

        sum += t->N[i] * (1 + c->pes[0] + 10 * c->procs[0] + 100 * c->pes[1] + 1000 * c->procs[1]);
    }
    return sum;
}

static void is_repeatable(void)
{
    static struct trial a, b, c;
    struct hrun_design_settings s = plain;
    int first = 0;

    start(&a, &plain);
    start(&b, &plain);
    s.seed = 2;
    start(&c, &s);
    go(&a, 60);
    go(&b, 60);
    go(&c, 60);
    ok(a.n == b.n && same_runs(&a, &b, a.n), "the same seed asks for the same %d runs", a.n);
    while (a.stage[first] == HRUN_DESIGN_SCREEN && a.N[first] == a.N[0])
        first++;
    ok(first > 3 && !same_runs(&a, &c, first), "another seed for another order within the first stage");
    ok(sum_of_first(&a, first) == sum_of_first(&c, first), "of the same %d runs", first);
    finish(&a);
    finish(&b);
    finish(&c);
}

static void keeps_limits(void)
{
    struct hrun_design_settings s = plain;
    struct trial t;

    s.budget_s = 1.5;
    start(&t, &s);
    t.sigma = 0.02;
    go(&t, RUNS_MAX);
    is_int(hrun_design_state(t.d)->end, HRUN_DESIGN_BUDGET, "a budget ends it");
    ok(t.spent_s > 1 && t.spent_s < 1.05 * 1.5, "about when it is spent: %.2f of 1.5 s", t.spent_s);
    finish(&t);
    s.budget_s = 0;
    s.runs = 11;
    start(&t, &s);
    t.sigma = 0.02;
    go(&t, 8);
    ok(hrun_design_state(t.d)->left_s > 0, "with a number of runs the time left is foretold");
    go(&t, RUNS_MAX);
    ok(t.n == 11 && hrun_design_state(t.d)->end == HRUN_DESIGN_RUNS, "a number of runs ends it");
    ok(t.d->fit.models != NULL && hrun_design_state(t.d)->sizes == NSIZES, "and all that was run is fitted");
    finish(&t);
    s.runs = 0;
    s.target = 0.2;
    start(&t, &s);
    t.sigma = 0.02;
    go(&t, RUNS_MAX);
    is_int(hrun_design_state(t.d)->end, HRUN_DESIGN_TARGET, "a target ends it");
    ok(hrun_design_state(t.d)->interval <= 0.2 && hrun_design_state(t.d)->loss <= 0.2, "when it is reached");
    ok(worst_error(&t) < 0.2, "and holds (%.1f %%)", 100 * worst_error(&t));
    finish(&t);
}

/* All but one PE of the slow sub-cluster is broken. */
static int slow_is_broken(const int *pes, int64_t N)
{
    (void)N;
    return pes[1] > 1;
}

static void goes_round_failures(void)
{
    struct trial t;

    start(&t, &plain);
    t.fails = slow_is_broken;
    is_int(go(&t, RUNS_MAX), 0, "it ends although runs fail");
    ok(hrun_design_state(t.d)->failed > 0, "%d failed", hrun_design_state(t.d)->failed);
    is_int(t.again_after_failure, 0, "none that failed is asked for again");
    for (int i = 0; i < NSIZES; i++) {
        const struct hrun_config *config;
        double time_s, low_s, high_s;
        int runs;

        ok(choice_at(t.d, i, &config, &time_s, &low_s, &high_s, &runs) && config->pes[1] <= 1 && runs > 0,
           "what was run at N = %lld without failing is chosen", (long long)sizes[i]);
    }
    finish(&t);
}

static void goes_on(void)
{
    static struct trial a, b;
    int again = 0;

    start(&a, &plain);
    go(&a, 40);
    start(&b, &plain);
    for (int i = 0; i < a.n; i++) {
        int P;
        double t = truth(&a.config[i], a.N[i], &P);

        add_run(b.d, &a.config[i], a.N[i], t, 0);
    }
    go(&b, RUNS_MAX);
    for (int i = 0; i < b.n; i++)
        again += b.stage[i] == HRUN_DESIGN_SCREEN;
    is_int(again, 0, "what the log holds is not screened again");
    ok(worst_error(&b) < 1e-9, "and the end is the same");
    is_int(hrun_design_state(b.d)->runs, b.n, "known runs cost nothing");
    finish(&a);
    finish(&b);
}

static void doubts(void)
{
    struct trial t;
    const struct hrun_config config = { SUBS, { 3, 0 }, { 1, 0 } };
    int P, repeated = 0;
    double x = 3 * truth(&config, 300, &P);

    start(&t, &plain);
    t.sigma = 1e-3;
    go(&t, 16);
    add_run(t.d, &config, 300, x, 1);   /* three times as long as it should */
    go(&t, 30);
    for (int i = 16; i < t.n; i++)
        repeated += t.stage[i] == HRUN_DESIGN_REPEAT && t.N[i] == 300 && t.config[i].pes[0] == 3 &&
                    !t.config[i].pes[1];
    ok(repeated > 0, "a run far from the fit is made again");
    finish(&t);
}

static void refuses(void)
{
    const struct hrun_config idle = { SUBS, { 1 }, { 0 } }, one = { SUBS, { 1 }, { 1 } };
    const struct hrun_design_result none = { { .nsubs = SUBS }, NULL, 100, 1, 1, 1 };
    struct trial t;

    start(&t, &plain);
    ok(hrun_design_add(t.d, &none, &t.err) == -1 && t.err.code == HRUN_EINVAL,
       "a run of nothing is refused (%s)", t.err.text);
    ok(add_run(t.d, &idle, 100, 1, 1) == -1, "PEs without processes are refused");
    ok(add_run(t.d, &one, 100, NAN, 1) == -1, "a time that is none is refused");
    is_int(hrun_design_state(t.d)->runs, 0, "and nothing changed");
    finish(&t);
}

static void points(void)
{
    int64_t v[HRUN_DESIGN_PES];
    struct ma m;

    is_int(hrun_design_pes(13, v), 8, "13 PEs: 1 2 3 4 6 8 12 and all");
    ok(v[3] == 4 && v[4] == 6 && v[5] == 8 && v[6] == 12 && v[7] == 13, "in this order");
    is_int(hrun_design_pes(1, v), 1, "one PE");
    ma_init(&m, np, nt, NULL, MOST);
    is_int(hrun_design_size(&m.app, 100, 4, NULL), 100, "a rule without N moves no size");
    is_int(hrun_design_size(&m.app, 100, 5, NULL), 0, "and no size suits a P that it refuses");
    ma_release(&m);
}

/* What was never run may prove much slower than predicted, and the last fit may choose it. */
static void test_reserve(void)
{
    enum { DESIGNS = 100 };
    int unseen = 0, choices = 0;
    double spent = 0;

    for (int k = 0; k < DESIGNS; k++) {
        struct hrun_design_settings s = plain;
        struct trial t;

        s.seed = (uint64_t)k + 1;
        s.budget_s = 6 + 0.02 * k;
        start(&t, &s);
        t.sigma = 0.05;
        t.noise = (uint64_t)k * 1000 + 1;
        go(&t, RUNS_MAX);
        for (int i = 0; i < NSIZES; i++) {
            const struct hrun_config *config;
            double time_s, low_s, high_s;
            int runs;

            if (!choice_at(t.d, i, &config, &time_s, &low_s, &high_s, &runs))
                continue;
            choices++;
            unseen += !runs;
        }
        spent += t.spent_s / s.budget_s / DESIGNS;
        finish(&t);
    }
    /* The last fit may choose what was never run, when nothing is left of the budget. */
    ok(choices == DESIGNS * NSIZES && unseen <= choices / 100, "at the end of a budget %d of %d choices were never run", unseen,
       choices);
    ok(spent < 1, "which takes no more than the budget in the mean (%.3f of it)", spent);
}

/* How many runs are made again of times that scatter so, where two runs take three times as long as they should; of
 * times that do not scatter one of them does so twice. */
static int made_again(double sigma)
{
    struct trial t;
    int n = 0;

    start(&t, &plain);
    t.sigma = sigma;
    go(&t, 16);
    for (int k = 2; k <= 3; k++) {
        const struct hrun_config config = { SUBS, { k, 0 }, { 1, 0 } };
        int P;
        double x = 3 * truth(&config, 300, &P);

        for (int again = 0; again < (sigma > 0 || k > 2 ? 1 : 2); again++)
            add_run(t.d, &config, 300, x, 1);
    }
    go(&t, 60);
    for (int i = 16; i < t.n; i++)
        n += t.stage[i] == HRUN_DESIGN_REPEAT;
    finish(&t);
    return n;
}

static void test_exact(void)
{
    int noisy = made_again(1e-3), exact = made_again(0);

    ok(noisy > 1, "of times that scatter each run that is far off is made again (%d)", noisy);
    is_int(exact, 0, "of exact ones none");
}

/* What the choice leaves out is added to it, at the smallest size, with all PEs. */
static void test_adds(void)
{
    struct hrun_design_settings s = plain;
    const struct hrun_config *config;
    double time_s, low_s, high_s;
    int runs, added = 0;
    struct trial t;

    s.own_budget = 1;
    slowness = 4;
    start(&t, &s);
    go(&t, RUNS_MAX);
    ok(choice_at(t.d, 0, &config, &time_s, &low_s, &high_s, &runs) && !config->pes[1],
       "a slow sub-cluster is left out");
    for (int i = 0; i < t.n; i++)
        added += t.N[i] == sizes[0] && t.config[i].pes[1] == PES && t.config[i].procs[1] == MOST &&
                 t.config[i].pes[0] == config->pes[0] && t.config[i].procs[0] == config->procs[0];
    is_int(added, 1, "but was tried with the choice");
    finish(&t);
    slowness = 1.4;
}

/* What it takes to run the choices at all sizes. */
static double round_of(const struct trial *t)
{
    double round_s = 0;

    for (int i = 0; i < NSIZES; i++) {
        const struct hrun_config *config;
        double time_s, low_s, high_s;
        int runs;

        if (choice_at(t->d, i, &config, &time_s, &low_s, &high_s, &runs))
            round_s += time_s + 0.01;
    }
    return round_s;
}

/* A budget that is found, in rounds: the most while more than 2 % may be lost, and at the end. */
static void rounds_found(double odd, double *doubtful, double *at_end)
{
    struct hrun_design_settings s = plain;
    struct trial t;

    *doubtful = 0;
    s.own_budget = 1;
    unknown = odd;
    start(&t, &s);
    while (step(&t) == 1)
        if (hrun_design_state(t.d)->loss > 0.02)
            *doubtful = fmax(*doubtful, hrun_design_state(t.d)->budget_s / round_of(&t));
    *at_end = hrun_design_state(t.d)->budget_s / round_of(&t);
    unknown = 0;
    finish(&t);
}

/* hrun-calibrate(1): 12 rounds and 8 runs for each model, here 4 at 5 sizes; twice where the loss is above 2 %. */
static void test_found(void)
{
    const double usual = 12 + 8 * SUBS * MOST / (double)NSIZES;
    double doubtful, at_end;

    rounds_found(0, &doubtful, &at_end);
    ok(at_end < 0.8 * usual, "the budget that is found is small where configurations are few: %.1f rounds", at_end);
    used = many;
    rounds_found(0, &doubtful, &at_end);
    ok(fabs(at_end / usual - 1) < 0.1, "a budget is found by what runs of the choices take: %.1f rounds", at_end);
    rounds_found(0.3, &doubtful, &at_end);
    ok(fabs(doubtful / usual - 2) < 0.4, "and is twice as much while more than 2 %% may be lost: %.1f", doubtful);
    ok(fabs(at_end / usual - 1) < 0.1, "which may prove needless: %.1f at the end", at_end);
    used = subs;
}

/* The budget that is found for one size, at most, and what its choice takes. A first look at one PE would take as long
 * as the rest. */
static double found_at(int64_t N, double *choice_s)
{
    const int64_t all = 3 * PES;
    struct hrun_design_settings s = plain;
    const struct hrun_config *config;
    double low_s, high_s, most_s = 0;
    struct trial t;
    int runs;

    s.own_budget = 1;
    s.sizes = &N;
    s.nsizes = 1;
    s.pes = &all;
    s.npes = 1;
    start(&t, &s);
    t.m.app.fixed = 1;      /* models of one size will do */
    while (step(&t) == 1)
        most_s = fmax(most_s, hrun_design_state(t.d)->budget_s);
    if (!choice_at(t.d, 0, &config, choice_s, &low_s, &high_s, &runs))
        *choice_s = 0;
    finish(&t);
    return most_s;
}

/* Of a size whose choice takes some 1.5 s. */
enum { SHORT_N = 680 };

static void test_found_short(void)
{
    double short_s, long_s, budget_s;

    used = many;
    unknown = 0.3;
    budget_s = found_at(SHORT_N, &short_s);
    ok(short_s > 1 && short_s < 2.4 && budget_s < 120, "runs of %.1f s: two minutes at most, %.0f s", short_s,
       budget_s);
    budget_s = found_at(2 * SHORT_N, &long_s);
    ok(long_s > 2.5 && budget_s > 40 * long_s, "longer ones get more: of %.1f s %.0f s", long_s, budget_s);
    unknown = 0;
    used = subs;
}

static int is_mixed(const int *pes, int64_t N)
{
    (void)N;
    return pes[0] && pes[1] && pes[0] + pes[1] > PES;
}

/* A program that hangs on many PEs of both sub-clusters, which the models like best: each run tells only of itself. */
static void test_hangs(void)
{
    struct hrun_design_settings s = plain;
    struct trial t;
    double round_s;

    s.own_budget = 1;
    start(&t, &s);
    t.fails = is_mixed;
    t.hang_s = 50;
    go(&t, RUNS_MAX);
    round_s = round_of(&t);
    ok(hrun_design_state(t.d)->end != HRUN_DESIGN_GOES_ON && t.spent_s < 12 * t.hang_s,
       "runs that hang end a budget of its own: %.0f s, where a round takes %.2f s", t.spent_s, round_s);
    finish(&t);
}

/* Of one size: a slow kind, on one PE of which the work takes 12 times as long as on all of them. */
static void test_one_size(void)
{
    static const char *const one_np[] = { "1/P", "1", "P", NULL }, *const one_n[] = { "1", NULL };
    static const int64_t size[] = { 1 };
    struct hrun_design_settings s = plain;
    struct hrun_design_run r;
    struct hrun_error err = { 0 };
    struct hrun_design *d;
    struct ma m;
    double best = INFINITY, whole = INFINITY, spent = 0;
    int n = 0, first_is_whole = 0, late = 0, slow = 0;

    s.sizes = size;
    s.nsizes = s.own_budget = 1;
    ma_init(&m, one_np, one_n, NULL, MOST);
    m.app.fixed = 1;
    d = hrun_design_create(&m.app, many, SUBS, &s, &err);
    for (; d && n < RUNS_MAX && hrun_design_next(d, &r, &err) == 1; n++) {
        double t = (r.config.pes[1] ? 20 : 1) * 24. / r.P + 0.1;

        first_is_whole |= !n && r.config.pes[0] && r.config.pes[1];
        whole = n ? whole : t;
        late += r.limit_s > 0 && fabs(r.limit_s - 4 * best) > 1e-9;
        slow += r.limit_s > 0 && t > r.limit_s;
        if (r.limit_s > 0 && t > r.limit_s) {
            hrun_design_add(d, &(struct hrun_design_result){ r.config, NULL, r.N, 0, r.limit_s, 1 }, &err);
            spent += r.limit_s;
            continue;
        }
        add_run(d, &r.config, r.N, t, 1);
        spent += t;
        best = fmin(best, t);
    }
    ok(first_is_whole, "of one size the whole cluster comes first");
    ok(!late && slow > 1, "what takes four times as long as the quickest so far may be ended: %d of %d runs", slow, n);
    ok(fabs(best - 1.1) < 1e-9 && spent - whole < 100 * best, "the best is found in %.0f times what it takes", spent / best);
    hrun_design_destroy(d);
    ma_release(&m);
}

int main(void)
{
    test_one_size();
    test_hangs();
    test_adds();
    test_found();
    test_found_short();
    test_exact();
    test_reserve();
    chooses_the_best();
    bears_noise();
    is_repeatable();
    keeps_limits();
    goes_round_failures();
    goes_on();
    doubts();
    refuses();
    points();
    return tap_done();
}
