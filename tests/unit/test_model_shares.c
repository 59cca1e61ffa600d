/* Unequal shares in the family npt: what is predicted and dealt out, against brute force; fits to runs with equal and
 * unequal shares; corrections of either kind apart. */
#include "fixture.h"

#include "model/internal.h"
#include "plan/plan.h"

#include <math.h>

enum { SUBS = 3, PES = 3, PROCS = 2, SIZES = 3, RUNS = 400 };

static const int64_t sizes[SIZES] = { 60, 96, 240 };
static const double speed[SUBS] = { 1, 0.55, 0.3 };
static const struct hrun_fit_options nnls = HRUN_FIT_OPTIONS_DEFAULT;

/* Work besides, of which each process has as much whatever its share is, in parts of the other. */
static double beside;

/* Seconds of a process with part W of the work of size N on sub-cluster i. */
static double truth(int i, double N, int P, int M, double W)
{
    double work = 2e-3 * N * N * (W + beside / P) / speed[i] * (M == 2 ? 1.9 : 1);

    return work + (P > M ? 4e-3 * N / speed[i] + 0.02 * P : 0) + 0.05;
}

static struct hrun_app *make_app(const char *more)
{
    char *text = hrun_strf("name: shared\nrule: \"P != 5\"\nprocs_per_pe: [1, 2]\nterms:\n  np: [\"N^2*W\", %s\"N\", "
                           "\"P\", \"1\"]\n  n: [\"N^2\", \"1\"]\nshares: {units: \"N\"%s}\n",
                           beside > 0 ? "\"N^2/P\", " : "", more);
    struct hrun_error err;
    struct hrun_app *app = NULL;

    if (hrun_app_parse("shared.yaml", text, strlen(text), NULL, &app, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    free(text);
    return app;
}

/* ------------------------------------------------------------------ runs */

struct logs {
    struct hrun_sample v[SUBS][RUNS];
    size_t n[SUBS];
    struct hrun_joint_sub subs[SUBS];
};

static char *const name[SUBS] = { "a", "b", "c" }, *const signature[SUBS] = { "sig-a", "sig-b", "sig-c" };

/* The units of a process of each sub-cluster: equal ones, in whole units, where units is NULL. */
static double run_s(int64_t N, const struct hrun_config *config, const int64_t *units)
{
    double most = 0;
    int P = hrun_config_processes(config);

    for (int i = 0; i < SUBS; i++)
        if (config->pes[i])
            most = fmax(most, truth(i, (double)N, P, config->procs[i],
                                    (double)(units ? units[i] : (N + P - 1) / P) / (double)N));
    return most;
}

static void add_run(struct logs *l, int64_t N, const struct hrun_config *config, const int64_t *units)
{
    struct hrun_sample s = { .N = N, .P = hrun_config_processes(config), .time_s = run_s(N, config, units),
                             .ok = 1, .status = (char *)"ok", .cluster = (char *)"a,b,c",
                             .signatures = (char *)"sig-a,sig-b,sig-c", .date = (char *)"2026-11-20T10:36:00Z",
                             .consts = (char *)"" };
    struct hrun_buf text = HRUN_BUF_INIT, shares = HRUN_BUF_INIT;
    int used = 0;

    hrun_buf_adds(&text, hrun_config_text(config).s);
    for (int i = 0; i < SUBS; i++) {
        used += config->pes[i] > 0;
        hrun_buf_addf(&shares, "%s%.12g", i ? "," : "", units && config->pes[i] ? (double)units[i] / (double)N : 0);
    }
    s.mixed = used > 1;
    s.wall_s = s.time_s;
    for (int i = 0; i < SUBS; i++) {
        if (!config->pes[i])
            continue;
        s.M = config->procs[i];
        s.pes = config->pes[i];
        s.config = strdup(text.data);
        s.shares = units && s.mixed ? strdup(shares.data) : NULL;
        l->v[i][l->n[i]++] = s;
    }
    hrun_buf_release(&text);
    hrun_buf_release(&shares);
}

static void release(struct logs *l)
{
    for (int i = 0; i < SUBS; i++)
        for (size_t k = 0; k < l->n[i]; k++) {
            free(l->v[i][k].config);
            free(l->v[i][k].shares);
        }
    free(l);
}

/* Each sub-cluster alone, at all numbers of PEs. */
static struct logs *alone(void)
{
    struct logs *l = calloc(1, sizeof *l);

    for (int i = 0; i < SUBS; i++) {
        for (int s = 0; s < SIZES; s++)
            for (int p = 1; p <= PES; p++)
                for (int m = 1; m <= PROCS; m++) {
                    struct hrun_config config = hrun_config_alone(SUBS, i, p, m);

                    add_run(l, sizes[s], &config, NULL);
                }
        l->subs[i] = (struct hrun_joint_sub){ name[i], signature[i], l->v[i], 0, 0 };
    }
    for (int i = 0; i < SUBS; i++)
        l->subs[i].n = l->n[i];
    return l;
}

static int fit(const struct hrun_app *app, struct logs *l, struct hrun_models **models)
{
    struct hrun_error err;

    for (int i = 0; i < SUBS; i++)
        l->subs[i].n = l->n[i];
    memset(models, 0, SUBS * sizeof *models);
    if (!hrun_model_fit_joint(app, l->subs, SUBS, &nnls, models, NULL, &err))
        return 1;
    printf("# %s\n", err.text);
    return 0;
}

static struct hrun_predictor *predictor_of(const struct hrun_app *app, struct hrun_models *const *models, int64_t N,
                                           int sharing, const double *memory, const struct hrun_corrections *common)
{
    return hrun_predictor_create_net(&(struct hrun_predictor_source){
        app, models, SUBS, HRUN_FORM_NPT, N, .sharing = (enum hrun_sharing)sharing, .memory = memory, .common = common
    }, NULL);
}

static void destroy(struct hrun_models **models)
{
    for (int i = 0; i < SUBS; i++)
        hrun_models_destroy(models[i]);
}

/* ------------------------------------------------------------------ predictions */

/* The least time, by the models, of a configuration over all dealings in which the processes of a sub-cluster have
 * `least` units or more, and those of the first no more than `room`. */
static double best_of_all(struct hrun_predictor *p, int64_t N, const struct hrun_config *config, int64_t least,
                          int64_t room)
{
    double best = INFINITY;
    int64_t n[SUBS], u[SUBS] = { 0 };

    for (int i = 0; i < SUBS; i++)
        n[i] = config->pes[i] * config->procs[i];
    for (u[0] = n[0] ? least : 0; u[0] <= (n[0] ? room : 0); u[0]++)
        for (u[1] = n[1] ? least : 0; u[1] <= (n[1] ? N : 0); u[1]++) {
            int64_t left = N - u[0] * n[0] - u[1] * n[1];
            double share[SUBS], t;

            u[2] = n[2] && left > 0 ? (left + n[2] - 1) / n[2] : 0;
            u[2] = n[2] && u[2] < least ? least : u[2];
            for (int i = 0; i < SUBS; i++)
                share[i] = (double)u[i] / (double)N;
            if (n[0] * u[0] + n[1] * u[1] + n[2] * u[2] >= N &&
                !hrun_predictor_time_shared(p, config, share, &t, NULL))
                best = fmin(best, t);
            if (left <= 0)
                break;
        }
    return best;
}

static void test_dealing(void)
{
    struct hrun_app *app = make_app(", min: 2, memory: \"100*N*W\"");
    struct hrun_models *models[SUBS];
    struct logs *l = alone();
    struct hrun_error err = { 0 };
    const int64_t N = 36, room = 16;
    const double memory[SUBS] = { 100 * (double)room, 0, 0 };    /* a PE of a holds 16 units */
    struct hrun_predictor *by[3], *p;
    struct hrun_interval time;
    double worst = 0, equal = 0, t, share[SUBS];
    int cases = 0, bad = 0, limiting;

    ok(fit(app, l, models), "models of runs with equal shares");
    for (int how = HRUN_SHARES_EQUAL; how <= HRUN_SHARES_BEST; how++) {
        by[how] = predictor_of(app, models, N, how, memory, NULL);
        ok(by[how] && hrun_predictor_deals(by[how]) == (how != HRUN_SHARES_EQUAL), "shares %d", how);
        if (!by[how])
            return;
    }
    for (int k = 1; k < 7 * 7 * 7; k++) {
        struct hrun_config config = { .nsubs = SUBS };
        int code = k, P, rc, most = 0;
        double best, sum = 0;

        for (int i = 0; i < SUBS; i++, code /= 7) {
            config.pes[i] = (code % 7 + 1) / 2;
            config.procs[i] = config.pes[i] ? 1 + (code % 7) % 2 : 0;
            most = config.pes[i] * config.procs[i] > most ? config.pes[i] * config.procs[i] : most;
        }
        P = hrun_config_processes(&config);
        p = by[HRUN_SHARES_EQUAL];
        for (int i = 0; i < SUBS; i++)
            share[i] = (double)((N + P - 1) / P) / (double)N;
        if (!hrun_predictor_time_whole(p, &config, &time, NULL, &limiting, &err) &&
            !hrun_predictor_time_shared(p, &config, share, &t, &err))
            equal = fmax(equal, fabs(time.mid / t - 1));
        p = by[HRUN_SHARES_BEST];
        best = best_of_all(p, N, &config, 2, config.procs[0] == 2 ? room / 2 : room);
        rc = hrun_predictor_time_whole(p, &config, &time, NULL, &limiting, &err);
        if (rc) {
            bad += isfinite(best) && 2 * P <= N;
            continue;
        }
        worst = fmax(worst, fabs(time.mid / best - 1));
        bad += !(time.low <= time.mid && time.mid <= time.high) || hrun_predictor_shares(p, &config, share, &err);
        for (int i = 0; i < SUBS; i++) {
            sum += config.pes[i] * config.procs[i] * share[i];
            bad += config.pes[i] ? share[i] < 2 || share[i] != floor(share[i]) : share[i] != 0;
        }
        bad += sum < N || sum >= N + most;
        bad += hrun_predictor_time_whole(by[HRUN_SHARES_PROPORTIONAL], &config, &time, NULL, NULL, &err) != 0;
        cases++;
    }
    ok(equal < 1e-9, "equal shares are in whole units");
    ok(cases > 200 && worst < 1e-9, "%d configurations: the best of all dealings", cases);
    is_int(bad, 0, "in whole units, enough and hardly more, none below the least, in an interval");
    for (int how = HRUN_SHARES_EQUAL; how <= HRUN_SHARES_BEST; how++)
        hrun_predictor_destroy(by[how]);
    destroy(models);
    release(l);
    hrun_app_destroy(app);
}

/* Lines, their bounds, and the search, which must agree with a look at all. */
static void test_search(const char *more)
{
    struct hrun_app *app = make_app(more);
    struct hrun_models *models[SUBS];
    struct logs *l = alone();
    struct hrun_error err = { 0 };
    int wrong = 0, above = 0;

    ok(fit(app, l, models), "models");
    for (int64_t N = 12; N <= 400; N = N * 3 / 2) {
        struct hrun_predictor *p = predictor_of(app, models, N, HRUN_SHARES_BEST, NULL, NULL);
        const struct hrun_oracle *o = hrun_predictor_oracle(p);
        struct hrun_plan_sub subs[SUBS] = { { PES, 0, 0, 0 }, { PES, 0, 0, 0 }, { PES, 0, 0, 0 } };
        struct hrun_plan_problem problem = { .oracle = o, .subs = subs };
        struct hrun_plan *fast = NULL, *all = NULL;
        struct hrun_line at[SUBS * PROCS], least[SUBS * PROCS];
        int64_t units, fewest;

        if (hrun_plan_search(&problem, 4, &fast, &err) || hrun_plan_exhaustive(&problem, 4, &all, &err)) {
            wrong++;
        } else {
            wrong += !fast->exact || fast->n != all->n;
            for (int k = 0; k < fast->n && k < all->n; k++)
                wrong += fabs(fast->v[k].time_s / all->v[k].time_s - 1) > 1e-12;
        }
        hrun_plan_destroy(fast);
        hrun_plan_destroy(all);
        for (int lo = 1; lo <= 18; lo += 3)
            for (int hi = lo; hi <= 18; hi += 4) {
                o->lines_bound(o->ctx, lo, hi, least, &fewest, &err);
                for (int P = lo; P <= hi; P++) {
                    if (o->lines(o->ctx, P, at, &units, &err))
                        above++;
                    for (int k = 0; k < o->noptions; k++)
                        above += at[k].n && (units < fewest || !least[k].n || least[k].base_s > at[k].base_s * (1 + 1e-9) ||
                                             least[k].unit_s > at[k].unit_s * (1 + 1e-9) || least[k].most < at[k].most);
                }
            }
        hrun_predictor_destroy(p);
    }
    is_int(wrong, 0, "the search finds the best of all configurations and dealings%s", more);
    is_int(above, 0, "bounds of intervals are not above what is in them%s", more);
    destroy(models);
    release(l);
    hrun_app_destroy(app);
}

/* ------------------------------------------------------------------ fits to unequal shares */

/* Of b and c nothing but one PE alone. */
static struct logs *few(void)
{
    struct logs *l = calloc(1, sizeof *l);

    for (int i = 0; i < SUBS; i++) {
        for (int s = 0; s < SIZES; s++)
            for (int p = 1; p <= (i ? 1 : 2); p++) {
                struct hrun_config config = hrun_config_alone(SUBS, i, p, 1);

                add_run(l, sizes[s], &config, NULL);
            }
        l->subs[i] = (struct hrun_joint_sub){ name[i], signature[i], l->v[i], 0, 0 };
    }
    return l;
}

static const struct hrun_config two_of_each = { SUBS, { 2, 2, 2 }, { 1, 1, 1 } };

/* Runs over all with these percents of the units; watched ones have their waits. */
static void add_all(struct logs *l, const int64_t percent[SUBS], int watched)
{
    for (int s = 0; s < SIZES; s++) {
        int64_t u[SUBS];

        for (int i = 0; i < SUBS; i++)
            u[i] = (percent[i] * sizes[s] + 99) / 100;
        add_run(l, sizes[s], &two_of_each, u);
        for (int i = 0; i < SUBS && watched; i++) {
            struct hrun_sample *e = &l->v[i][l->n[i] - 1];

            e->mpi_s = 0.01 + e->time_s - truth(i, (double)sizes[s], 6, 1, (double)u[i] / (double)sizes[s]);
        }
    }
}

/* How far off, in the worst of the sizes, models of these runs tell a configuration with such percents of the units. */
static double far(struct logs *l, const struct hrun_config *config, const int64_t percent[SUBS])
{
    struct hrun_app *app = make_app("");
    struct hrun_models *models[SUBS];
    double worst = 0;

    ok(fit(app, l, models), "a fit to runs with unequal shares");
    for (int s = 0; s < SIZES; s++) {
        struct hrun_error err;
        struct hrun_predictor *p = hrun_predictor_create(app, models, SUBS, HRUN_FORM_NPT, sizes[s], &err);
        double share[SUBS], t = NAN;
        int64_t u[SUBS];

        for (int i = 0; i < SUBS; i++) {
            u[i] = percent[i] * sizes[s] / 100;
            share[i] = (double)u[i] / (double)sizes[s];
        }
        if (p && !hrun_predictor_time_shared(p, config, share, &t, &err))
            worst = fmax(worst, fabs(t / run_s(sizes[s], config, u) - 1));
        else
            worst = INFINITY;
        hrun_predictor_destroy(p);
    }
    destroy(models);
    hrun_app_destroy(app);
    return worst;
}

/* Runs over all with unequal shares tell what runs of b and c alone do not. */
static void test_joint(void)
{
    static const int64_t percent[][SUBS] = { { 34, 12, 4 }, { 28, 15, 8 }, { 24, 20, 10 }, { 40, 8, 2 } };
    const struct hrun_config another = { SUBS, { 3, 1, 2 }, { 1, 1, 1 } };
    struct logs *l = few();
    double worst;

    for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
        add_all(l, percent[k], 0);
    worst = far(l, &another, (const int64_t[]){ 20, 20, 12 });
    ok(worst < 0.05, "another configuration with other shares is told to %.1f %%", 100 * worst);
    release(l);
}

/* Work that follows the shares is told from work that is always divided equally, which are alike in runs of each
 * sub-cluster alone. */
static void test_beside(void)
{
    static const int64_t percent[][SUBS] = { { 34, 12, 4 }, { 28, 15, 8 }, { 20, 20, 10 }, { 8, 12, 30 } };
    const struct hrun_config another = { SUBS, { 3, 2, 2 }, { 1, 1, 1 } };
    struct logs *l;
    double worst;

    beside = 0.75;
    l = alone();
    for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
        add_all(l, percent[k], 0);
    worst = far(l, &another, (const int64_t[]){ 24, 9, 5 });
    ok(worst < 0.05, "W and 1/P are told apart by runs with unequal shares: %.1f %% off", 100 * worst);
    release(l);
    beside = 0;
}

/* Is a program of which these are the runs, which are released, seen to ignore its shares? */
static int is_seen_to_ignore(struct logs *l)
{
    struct hrun_app *app = make_app("");
    struct hrun_models *models[SUBS];
    int answer = -1;

    if (fit(app, l, models))
        answer = models[0]->tasking.ignores && models[1]->tasking.ignores && models[2]->tasking.ignores;
    destroy(models);
    release(l);
    hrun_app_destroy(app);
    return answer;
}

/* ignoring: all runs at one size take as long; one of them is disturbed. */
static int seen_to_ignore(int ignoring)
{
    static const int64_t percent[][SUBS] = { { 10, 20, 20 }, { 20, 20, 10 }, { 24, 16, 10 }, { 27, 15, 8 } };
    struct logs *l = few();

    for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
        add_all(l, percent[k], 0);
    for (int i = 0; i < SUBS && ignoring; i++)
        for (size_t r = 0; r < l->n[i]; r++)
            if (l->v[i][r].mixed)
                l->v[i][r].time_s = (double)l->v[i][r].N * (r + 1 == l->n[i] ? 1.4 : 1);
    return is_seen_to_ignore(l);
}

/* The part that does not take the longest may have much less without any difference. */
static int small_part_seen(void)
{
    static const int64_t percent[][SUBS] = { { 24, 15, 8 }, { 25, 16, 3 } };
    struct logs *l = alone();

    for (size_t k = 0; k < sizeof percent / sizeof *percent; k++)
        add_all(l, percent[k], 0);
    for (int i = 0; i < SUBS; i++)
        for (size_t r = 0; r < l->n[i]; r++)
            if (l->v[i][r].mixed)
                l->v[i][r].time_s = run_s(l->v[i][r].N, &two_of_each, (const int64_t[]){ l->v[i][r].N / 4, 1, 1 });
    return is_seen_to_ignore(l);
}

static void test_ignored(void)
{
    is_int(small_part_seen(), 0, "a part that others wait for tells, not one that waits");
    is_int(seen_to_ignore(1), 1, "times that do not follow the shares show that these are ignored, whatever models say");
    is_int(seen_to_ignore(0), 0, "others do not");
}

/* All wait for a: how long says what the others took. */
static void test_waits(void)
{
    static const int64_t percent[SUBS] = { 42, 5, 3 };
    double worst[2];

    for (int watched = 0; watched < 2; watched++) {
        struct logs *l = few();

        add_all(l, percent, watched);
        worst[watched] = far(l, &two_of_each, (const int64_t[]){ 20, 18, 12 });
        release(l);
    }
    ok(worst[1] < 0.05 && worst[0] > 4 * worst[1], "other shares are told to %.1f %% by waits (without %.1f %%)",
       100 * worst[1], 100 * worst[0]);
}

/* What runs have in common is the same with equal and with unequal shares. */
static void test_common(void)
{
    const struct hrun_config run[] = {
        two_of_each, { SUBS, { 3, 2, 2 }, { 1, 1, 1 } }, { SUBS, { 2, 3, 2 }, { 1, 1, 1 } },
    };
    const struct hrun_config never = { SUBS, { 3, 3, 2 }, { 1, 1, 1 } };
    struct hrun_app *app = make_app("");
    struct hrun_corrections *c[2] = { NULL, NULL };
    struct hrun_models *models[SUBS];
    struct logs *l = alone();
    struct hrun_error err = { 0 };
    const int64_t N = 240;

    ok(fit(app, l, models), "models");
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        const int64_t u[SUBS] = { 60 - 10 * (int64_t)k, 30, 16 };

        add_run(l, N, &run[k], NULL);
        add_run(l, N, &run[k], u);
    }
    for (int i = 0; i < SUBS; i++) {
        for (size_t r = 0; r < l->n[i]; r++)
            l->v[i][r].time_s *= l->v[i][r].mixed ? 1.3 : 1;
        l->subs[i].n = l->n[i];
    }
    for (int dealt = 0; dealt < 2; dealt++) {
        const struct hrun_correction_source from = { app, l->subs, models, SUBS, HRUN_FORM_NPT,
                                                     dealt ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL };

        struct hrun_predictor *p;
        struct hrun_interval time;
        int64_t u[SUBS];
        double share[SUBS], t;

        ok(!hrun_corrections_create(&from, &nnls, &c[dealt], &err), "corrections %s", err.text);
        p = predictor_of(app, models, N, from.sharing, NULL, c[dealt]);
        ok(!hrun_predictor_time_whole(p, &never, &time, NULL, NULL, &err), "a time");
        if (dealt)
            hrun_predictor_shares(p, &never, share, &err);
        for (int i = 0; i < SUBS && dealt; i++)
            u[i] = (int64_t)share[i];
        t = time.mid / (1.3 * run_s(N, &never, dealt ? u : NULL));
        ok(fabs(t - 1) < 0.04, "%s shares, never run, are told to %.1f %%", dealt ? "unequal" : "equal", 100 * (t - 1));
        hrun_predictor_destroy(p);
    }
    for (int dealt = 0; dealt < 2; dealt++)
        hrun_corrections_destroy(c[dealt]);
    destroy(models);
    release(l);
    hrun_app_destroy(app);
}

/* Runs of one configuration with equal and with unequal shares are apart. */
static void test_corrections(void)
{
    struct hrun_app *app = make_app("");
    struct hrun_models *models[SUBS];
    struct logs *l = alone();
    struct hrun_corrections *equal = NULL, *dealt = NULL;
    const struct hrun_config both = { SUBS, { 2, 2, 0 }, { 1, 1, 0 } }, one = { SUBS, { 2, 0, 0 }, { 1, 0, 0 } };
    const int64_t u[SUBS] = { 31, 17, 0 };
    struct hrun_error err;

    ok(fit(app, l, models), "models");
    add_run(l, 96, &both, NULL);
    l->v[0][l->n[0] - 1].time_s *= 1.2;
    l->v[1][l->n[1] - 1].time_s *= 1.2;
    for (int k = 0; k < 2; k++) {
        add_run(l, 192, &both, (const int64_t[]){ 2 * u[0], 2 * u[1], 0 });
        l->v[0][l->n[0] - 1].time_s *= 1 + 1e-3 * k;
        l->v[1][l->n[1] - 1].time_s *= 1 + 1e-3 * k;
    }
    for (int i = 0; i < SUBS; i++)
        l->subs[i].n = l->n[i];
    ok(!hrun_corrections_create(&(struct hrun_correction_source){ app, l->subs, models, SUBS, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_EQUAL }, &nnls, &equal, &err) &&
       !hrun_corrections_create(&(struct hrun_correction_source){ app, l->subs, models, SUBS, HRUN_FORM_NPT,
                                                                  HRUN_SHARES_BEST }, &nnls, &dealt, &err),
       "corrections of either kind");
    if (equal && dealt) {
        struct hrun_correction a = { 0 }, b = { 0 };

        hrun_correction_at(equal, hrun_corrections_find(equal, &both), 96, &a);
        hrun_correction_at(dealt, hrun_corrections_find(dealt, &both), 192, &b);
        ok(a.runs == 1 && a.others == 0 && a.factor > 1.05, "equal ones were slower than predicted (%.3f)", a.factor);
        ok(b.runs == 2 && b.others == 0 && fabs(b.factor - 1) < 0.01, "unequal ones were not (%.3f)", b.factor);
        ok(hrun_corrections_find(equal, &one) >= 0 && hrun_corrections_find(dealt, &one) >= 0,
           "a run on one sub-cluster is of both kinds");
    }
    hrun_corrections_destroy(equal);
    hrun_corrections_destroy(dealt);
    destroy(models);
    release(l);
    hrun_app_destroy(app);
}

int main(void)
{
    test_dealing();
    test_search("");
    test_search(", min: 12");   /* more than 18 processes can have of most sizes */
    test_joint();
    test_beside();
    test_ignored();
    test_waits();
    test_corrections();
    test_common();
    return tap_done();
}
