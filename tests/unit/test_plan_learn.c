/* Runs of a command make it quicker: what is tried, what is in the account, what is never tried again. */
#include "fixture.h"
#include "plan/learn_belief.h"

#include <stdlib.h>

enum { KINDS = 2, RUNS = 24 };

static const int procs[] = { 1, 2, 4 };
static const double LOSS = 0.05;

static const struct hrun_learn_sub subs[KINDS] = {
    { .npes = 6, .cores = 4, .speed = 2, .known = 1, .procs = procs, .nprocs = 3 },
    { .npes = 8, .cores = 2, .speed = 1, .known = 1, .procs = procs, .nprocs = 2 },
};
static const struct hrun_config usual = { KINDS, { 6, 8 }, { 4, 2 } };

struct past {
    struct hrun_learn_run runs[RUNS];
    int n;
};

static int near(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance;
}

static void add(struct past *h, const struct hrun_config *config, double time_s, int learnt)
{
    h->runs[h->n++] = (struct hrun_learn_run) { *config, time_s, learnt };
}

static struct hrun_learn_answer ask(const struct past *h, double loss)
{
    struct hrun_learn_question q = { subs, KINDS, usual, h->runs, h->n, loss, NULL, NULL };
    struct hrun_learn_answer a = { 0 };
    struct hrun_error err = { 0 };

    if (hrun_learn_next(&q, &a, &err))
        printf("# %s\n", err.text);
    return a;
}

static int processes(const struct hrun_config *c)
{
    return c->pes[0] * c->procs[0] + c->pes[1] * c->procs[1];
}

/* ---------------------------------------------------------------- one step */

static void test_steps(void)
{
    static const struct hrun_config small = { KINDS, { 6, 0 }, { 4, 0 } };
    struct past h = { .n = 0 };
    struct hrun_learn_answer a = ask(&h, LOSS), b;

    ok(a.why == HRUN_LEARN_USUAL && hrun_config_equal(&a.config, &usual) && a.best < 0,
       "without runs the usual configuration is run");
    add(&h, &usual, 25, 0);
    a = ask(&h, LOSS);
    ok(a.why == HRUN_LEARN_USUAL && a.best == 0, "twice, as one run may be disturbed");
    add(&h, &usual, 10, 0);
    a = ask(&h, LOSS);
    ok(near(a.usual_s, 10, 1e-9) && near(a.account_s, 1, 1e-9), "it takes what the quicker run took; two runs put in 1 s");
    b = ask(&h, LOSS);
    ok(a.why == b.why && hrun_config_equal(&a.config, &b.config) && a.expected_s == b.expected_s,
       "the same runs have the same answer");
    add(&h, &small, 13, 1);
    a = ask(&h, LOSS);
    ok(near(a.account_s, 1.5 - 3, 1e-9), "a trial takes out what it took longer");
    ok(a.why == HRUN_LEARN_DEBT && hrun_config_equal(&a.config, &usual),
       "then the best known is run until that is made up for");
    for (int i = 0; i < 3; i++)
        add(&h, &usual, 10, 0);
    a = ask(&h, LOSS);
    ok(near(a.account_s, 0, 1e-9) && a.why != HRUN_LEARN_DEBT, "which it is after three runs");
    add(&h, &small, 6, 0);
    add(&h, &small, 6, 1);
    a = ask(&h, LOSS);
    ok(near(a.account_s, 8 * 0.5 + 2 * 4, 1e-9), "a gain is credit, by the median, but not of the user's own runs");
    ok(near(a.best_s, 6, 1e-9) && a.best_runs == 3, "the median of its runs makes it the best known");
    add(&h, &small, 0, 1);
    a = ask(&h, LOSS);
    ok(near(a.account_s, 12 + 0.5 - 10, 1e-9), "a failed run takes out a usual run");
    add(&h, &usual, 14, 1);
    a = ask(&h, LOSS);
    ok(near(a.account_s, 3, 1e-9), "and the usual configuration's own scatter nothing");
}

static void test_refusals(void)
{
    static const struct hrun_config powers = { KINDS, { 4, 0 }, { 4, 0 } }, three = { KINDS, { 3, 0 }, { 1, 0 } },
                                    six = { KINDS, { 6, 0 }, { 1, 0 } };
    struct hrun_learn_sub few[KINDS] = { subs[0], subs[1] };
    struct hrun_error err = { 0 };
    struct past h = { .n = 0 };
    int tried = 0, refused = 0;

    few[1].npes = 0;
    add(&h, &powers, 10, 0);
    add(&h, &powers, 10, 0);
    add(&h, &three, 0, 0);
    add(&h, &six, 0, 0);
    for (int t = 0; t < 6; t++) {
        struct hrun_learn_question q = { few, KINDS, powers, h.runs, h.n, 1, NULL, NULL };
        struct hrun_learn_answer a;
        int P;

        if (hrun_learn_next(&q, &a, &err))
            break;
        P = processes(&a.config);
        tried += a.why == HRUN_LEARN_TRIES;
        refused += P & (P - 1);
        add(&h, &a.config, 10.1, 1);
    }
    ok(tried > 0 && !refused, "where 3 and 6 processes failed and 16 worked, powers of two are tried (%d trials)", tried);
}

static void test_errors(void)
{
    struct hrun_learn_question q = { subs, HRUN_LEARN_SUBS + 1, usual, NULL, 0, LOSS, NULL, NULL };
    struct hrun_learn_answer a = { 0 };
    struct hrun_error err = { 0 };

    ok(hrun_learn_next(&q, &a, &err) && err.code == HRUN_EINVAL && strstr(err.text, "at most 16"),
       "too many sub-clusters");
}

/* ---------------------------------------------------------------- the belief */

static void test_belief(void)
{
    struct learn_point known[2] = { { usual, 40, log(10), 40 }, { { KINDS, { 3, 4 }, { 4, 2 } }, 20, log(19), 40 } };
    struct learn_point x = { .config = { KINDS, { 1, 0 }, { 1, 0 } }, .P = 1 };
    struct learn_belief *b = learn_belief_create(subs, KINDS, known, 2);
    struct learn_outlook at[2], far;

    learn_predict(b, &known[0], 10, &at[0]);
    learn_predict(b, &known[1], 10, &at[1]);
    learn_predict(b, &x, 10, &far);
    ok(near(at[0].mean, log(10), 0.02) && near(at[1].mean, log(19), 0.02), "what was run often is known");
    ok(at[0].sd < 0.03 && far.sd > 3 * at[0].sd, "what is unlike it is less certain");
    ok(near(at[0].expected, 1, 0.05) && at[0].gain < 0.02, "and is expected to take what it took");
    ok(far.mean > log(60), "a program that halves with twice the processes is slow on one: %.0f s", exp(far.mean));
    free(b);
}

/* ---------------------------------------------------------------- many runs of made-up programs */

struct truth {
    double work[KINDS], wire[KINDS], ports, growth;
};

static double time_of(const void *ctx, const struct hrun_config *config)
{
    const struct truth *t = ctx;
    double most = 0;
    int P = processes(config);

    for (int i = 0; i < KINDS; i++)
        if (config->pes[i])
            most = fmax(most, t->work[i] * fmax(1, config->procs[i] / t->ports) / P +
                              t->wire[i] * pow(P, t->growth) * (P > 1));
    return most;
}

/* The least of a function over all configurations. */
static double least(double (*f)(const void *ctx, const struct hrun_config *config), const void *ctx)
{
    double best = INFINITY;

    for (int p = 0; p <= subs[0].npes; p++)
        for (int q = p == 0; q <= subs[1].npes; q++)
            for (int k = 0; k < (p ? 3 : 1); k++)
                for (int l = 0; l < (q ? 2 : 1); l++) {
                    const struct hrun_config c = { KINDS, { p, q }, { p ? procs[k] : 0, q ? procs[l] : 0 } };

                    best = fmin(best, f(ctx, &c));
                }
    return best;
}

static struct truth make_up(uint64_t *seed)
{
    struct truth t = { .work = { 100 * exp(0.2 * rnd_normal(seed)), 200 * exp(0.2 * rnd_normal(seed)) } };

    t.wire[0] = exp(rnd_normal(seed));
    t.wire[1] = exp(rnd_normal(seed));
    t.ports = 1 + 3 * rnd(seed);
    t.growth = 0.5 * rnd(seed);
    return t;
}

struct outlook {
    struct learn_belief *b;
    const struct learn_point *best;
};

/* What a trial does not pay, over 20 runs. */
static double minus_pays(const void *ctx, const struct hrun_config *config)
{
    const struct outlook *f = ctx;
    struct learn_point x = { .config = *config, .P = processes(config) };
    struct learn_outlook o;

    learn_predict(f->b, &x, exp(f->best->log_s), &o);
    return o.gain < 0.003 || hrun_config_equal(config, &f->best->config) ? 0 : fmax(o.expected - 1, 0) - 20 * o.gain;
}

/* Where anything may be lost, no configuration at all pays more than the one that is tried. */
static void test_oracle(void)
{
    enum { PROBLEMS = 20 };
    static const struct hrun_config run[] = { { KINDS, { 6, 8 }, { 4, 2 } }, { KINDS, { 6, 0 }, { 4, 0 } },
                                              { KINDS, { 3, 8 }, { 2, 1 } } };
    enum { POINTS = sizeof run / sizeof *run };
    uint64_t seed = 77;
    double worst = 1;
    int trials = 0;

    for (int k = 0; k < PROBLEMS; k++) {
        struct truth t = make_up(&seed);
        struct learn_point points[POINTS];
        struct past h = { .n = 0 };
        struct hrun_learn_answer a;
        struct outlook f = { .best = points };
        int n = 2 + k % 2;

        for (int i = 0; i < n; i++) {
            double s = time_of(&t, &run[i]);

            for (int r = 0; r < (i ? 1 : 2); r++)
                add(&h, &run[i], s, i > 0);
            points[i] = (struct learn_point){ run[i], processes(&run[i]), log(s), i ? 1 : 2 };
            f.best = points[i].log_s < f.best->log_s ? &points[i] : f.best;
        }
        a = ask(&h, 100);
        f.b = learn_belief_create(subs, KINDS, points, n);
        if (a.why == HRUN_LEARN_TRIES) {
            trials++;
            worst = fmin(worst, minus_pays(&f, &a.config) / least(minus_pays, &f));
        } else {
            worst = least(minus_pays, &f) < 0 ? 0 : worst;
        }
        free(f.b);
    }
    ok(trials > PROBLEMS / 2, "%d of %d problems have something to try", trials, PROBLEMS);
    ok(worst > 0.9, "a trial pays at least %.3f of what any configuration would", worst);
}

static void test_many(void)
{
    enum { PROBLEMS = 8 };
    uint64_t seed = 5;
    double lost = 0, before = 0, after = 0;
    int beyond = 0;

    for (int k = 0; k < PROBLEMS; k++) {
        struct truth t = make_up(&seed);
        double u = time_of(&t, &usual), best = least(time_of, &t), known = u, all = 0;
        struct past h = { .n = 0 };

        for (int i = 0; i < RUNS; i++) {
            struct hrun_learn_answer a = ask(&h, LOSS);
            double s = time_of(&t, &a.config);

            /* A trial is made with an even account alone. */
            beyond += a.why == HRUN_LEARN_TRIES && a.account_s < 0;
            all += s;
            known = a.best >= 0 ? a.best_s : u;
            add(&h, &a.config, s, a.why != HRUN_LEARN_USUAL);
        }
        lost = fmax(lost, all / RUNS / u - 1);
        before += u / best - 1;
        after += known / best - 1;
    }
    printf("# %d programs, %d runs of each: the usual configuration is %.0f %% from the best, the last one %.1f %%\n", PROBLEMS,
           RUNS, 100 * before / PROBLEMS, 100 * after / PROBLEMS);
    ok(!beyond, "no trial is made in debt");
    ok(lost <= LOSS, "no more is lost than allowed: at most %.1f %%", 100 * lost);
    ok(after < before / 4, "most of what there is to gain is gained");
}

int main(void)
{
    test_steps();
    test_refusals();
    test_errors();
    test_belief();
    test_oracle();
    test_many();
    return tap_done();
}
