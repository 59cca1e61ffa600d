/* Predictions from the speeds of the PEs alone: the formula, its bounds, and the best configuration by brute force. */
#include "model/model.h"
#include "model/speeds.h"
#include "model.h"
#include "plan/plan.h"
#include "plan_table.h"

enum { SUBS = 3, CASES = 300 };

static const int three[] = { 1, 2, 3 }, six[] = { 1, 2, 3, 4, 5, 6 };

struct made {                      /* a made-up cluster */
    struct hrun_speed v[SUBS];
    struct hrun_plan_sub subs[SUBS];
    int P0;
    double comm_s;
};

static void make(struct made *m, uint64_t *seed)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < SUBS; i++) {
        m->v[i] = (struct hrun_speed){ .compute_s = 0.25 * (1 + below(seed, 20)), .unsure = 0.02 * below(seed, 3),
                                       .cores = 1 + below(seed, 3), .procs = three, .nprocs = 1 + below(seed, 3) };
        if (below(seed, 8) == 0)
            m->v[i].compute_s = below(seed, 2) ? NAN : 0;
        m->subs[i].npes = below(seed, 4);
    }
    m->subs[below(seed, SUBS)].npes++;
    m->P0 = 1 + below(seed, 6);
    m->comm_s = below(seed, 2) ? 0.5 * rnd(seed) : 0;
}

/* The formula of the header once more, by another way: how much work a process has, and how slow it is. */
static double expected(const struct made *m, const struct hrun_config *config, int *P)
{
    double most = 0;

    *P = hrun_config_processes(config);
    for (int i = 0; i < SUBS; i++) {
        double work = m->v[i].compute_s * m->P0 / *P * (1 + 1e-3 * (config->procs[i] - 1) / m->v[i].cores);

        if (config->pes[i] && !(m->v[i].compute_s > 0))
            return INFINITY;
        if (config->pes[i])
            most = fmax(most, config->procs[i] > m->v[i].cores ? work * config->procs[i] / m->v[i].cores : work);
    }
    return most + m->comm_s * fmax(1, (double)*P / m->P0);
}

/* The least time of all configurations that the rule accepts; and of those with that time the fewest PEs. */
static double least(const struct made *m, struct hrun_app *app, int64_t N, int most_P, int *npes)
{
    struct hrun_config config = { .nsubs = SUBS };
    int c[2 * SUBS] = { 0 };
    double best = INFINITY;

    for (;;) {
        int k = 0, P, n;
        double t;

        while (k < 2 * SUBS && c[k] == (k % 2 ? m->v[k / 2].nprocs - 1 : m->subs[k / 2].npes))
            c[k++] = 0;
        if (k == 2 * SUBS)
            return best;
        c[k]++;
        for (int i = 0; i < SUBS; i++) {
            config.pes[i] = c[2 * i];
            config.procs[i] = c[2 * i] ? 1 + c[2 * i + 1] : 0;
        }
        n = hrun_config_all_pes(&config);
        if (!n)
            continue;
        t = expected(m, &config, &P);
        if ((most_P && P > most_P) || hrun_app_rule(app, N, P, NULL) != 1)
            continue;
        if (t < best * (1 - 1e-12) || (t < best * (1 + 1e-12) && n < *npes))
            *npes = n;
        best = fmin(best, t);
    }
}

static void test_brute_force(struct ma *a)
{
    uint64_t seed = 6;
    int wrong = 0, found = 0, more = 0, without = 0;

    for (int k = 0; k < CASES; k++) {
        struct made m;
        struct hrun_error err = { 0 };
        struct hrun_plan *plan = NULL;
        struct hrun_speeds *s;
        struct hrun_plan_problem problem = { .subs = m.subs };
        int npes = 0, limit = below(&seed, 3) ? 0 : 1 + below(&seed, 12), rc;
        double best;

        make(&m, &seed);
        s = hrun_speeds_create(&a->app, 60, m.v, SUBS, m.P0, m.comm_s, &err);
        problem.oracle = hrun_speeds_oracle(s);
        hrun_speeds_limit(s, limit);
        best = least(&m, &a->app, 60, limit, &npes);
        rc = hrun_plan_search(&problem, 1, &plan, &err);
        if (rc) {
            wrong += err.code != HRUN_EINFEASIBLE || isfinite(best);
        } else {
            const struct hrun_choice *v = &plan->v[0];
            int P;

            found++;
            wrong += !(fabs(v->time_s - best) <= 1e-12 * best) || v->npes != npes ||
                     fabs(expected(&m, &v->config, &P) - best) > 1e-12 * best;
            for (int i = 0; i < SUBS; i++) {
                more += v->config.procs[i] > 1;
                without += m.subs[i].npes && m.v[i].compute_s > 0 && !v->config.pes[i];
            }
        }
        hrun_plan_destroy(plan);
        hrun_speeds_destroy(s);
    }
    is_int(wrong, 0, "the search finds what brute force finds, of %d clusters", CASES);
    ok(found > CASES / 2 && more > 20 && without > 20, "with several processes on a PE, and without slow sub-clusters");
}

/* Paper 004, section 5: more processes where PEs are faster; 3 : 1 is met exactly by (1,3,1,1). */
static void test_proportion(struct ma *a)
{
    struct hrun_speed v[] = { { 1, 0, 1, six, 6 }, { 3, 0, 1, six, 6 } };
    struct hrun_plan_sub subs[] = { { .npes = 1 }, { .npes = 1 } };
    struct hrun_error err = { 0 };
    struct hrun_speeds *s = hrun_speeds_create(&a->app, 60, v, 2, 2, 0, &err);
    struct hrun_plan_problem problem = { .oracle = hrun_speeds_oracle(s), .subs = subs };
    struct hrun_plan *plan = NULL;
    struct hrun_buf b = HRUN_BUF_INIT;

    is_int(hrun_plan_search(&problem, 1, &plan, &err), 0, "speeds 3 : 1");
    hrun_buf_adds(&b, hrun_config_text(&plan->v[0].config).s);
    is_str(b.data, "(1,3,1,1)", "get processes 3 : 1");
    is_num(plan->v[0].time_s, 1.5 * 1.002, 1e-12, "and take half of what one process on each takes");
    hrun_plan_destroy(plan);
    hrun_speeds_destroy(s);
    hrun_buf_reset(&b);
    v[1].compute_s = 9;
    s = hrun_speeds_create(&a->app, 60, v, 2, 2, 0.4, &err);
    problem.oracle = hrun_speeds_oracle(s);
    is_int(hrun_plan_search(&problem, 1, &plan, &err), 0, "speeds 9 : 1, and messages");
    hrun_buf_adds(&b, hrun_config_text(&plan->v[0].config).s);
    is_str(b.data, "(1,1,0,0)", "leave the slow one out, as the messages of more processes would cost more");
    hrun_plan_destroy(plan);
    hrun_speeds_destroy(s);
    hrun_buf_release(&b);
}

/* Two processes on two PEs with two cores each have a PE each. */
static void test_spread(struct ma *a)
{
    struct hrun_speed v = { 1, 0, 2, three, 2 };
    struct hrun_plan_sub sub = { .npes = 2 };
    struct hrun_error err = { 0 };
    struct hrun_speeds *s = hrun_speeds_create(&a->app, 60, &v, 1, 2, 0, &err);
    struct hrun_plan_problem problem = { .oracle = hrun_speeds_oracle(s), .subs = &sub };
    struct hrun_plan *plan = NULL;

    a->app.rule = ma_compile(&a->app, "P == 2", (const char *const[]){ "N", "P" }, 2);
    is_int(hrun_plan_search(&problem, 1, &plan, &err), 0, "two processes alone are valid");
    ok(plan->v[0].config.pes[0] == 2 && plan->v[0].config.procs[0] == 1, "and are put on two PEs");
    hrun_plan_destroy(plan);
    hrun_speeds_destroy(s);
}

static void test_bounds(struct ma *a)
{
    uint64_t seed = 7;
    int above = 0, tight = 0;

    for (int k = 0; k < 100; k++) {
        double t[16], b[16];
        struct made m;
        struct hrun_speeds *s;
        const struct hrun_oracle *o;
        int lo = 1 + below(&seed, 20), hi = lo + below(&seed, 20);

        make(&m, &seed);
        s = hrun_speeds_create(&a->app, 60, m.v, SUBS, m.P0, m.comm_s, NULL);
        o = hrun_speeds_oracle(s);
        o->bounds(o->ctx, lo, hi, b, NULL);
        for (int P = lo; P <= hi; P++) {
            o->times(o->ctx, P, t, NULL);
            for (int i = 0; i < o->noptions; i++) {
                above += !isnan(t[i]) && b[i] > t[i];
                tight += lo == hi && !isnan(t[i]) && b[i] == t[i];
            }
        }
        hrun_speeds_destroy(s);
    }
    is_int(above, 0, "no bound is above a time");
    ok(tight > 10, "of one P it is the time");
}

static void test_range(struct ma *a)
{
    struct hrun_speed v[] = { { 1, 0.1, 2, three, 3 }, { 3, 0.2, 1, three, 3 }, { NAN, 0, 1, three, 3 } };
    struct hrun_speeds *s = hrun_speeds_create(&a->app, 60, v, 3, 4, 0.25, NULL);
    const struct hrun_config mixed = { SUBS, { 2, 1, 0 }, { 3, 2, 0 } }, alone = { SUBS, { 2, 0, 0 }, { 1, 0, 0 } };
    const struct hrun_config unknown = { SUBS, { 1, 0, 1 }, { 1, 0, 1 } }, none = { .nsubs = SUBS };
    struct hrun_speeds_range r = { 0 };
    struct hrun_error err = { 0 };

    is_int(hrun_speeds_range(s, &mixed, &r, &err), 0, "a range");
    is_num(r.compute_s, 3.0 * 4 / 8 * 2 * 1.001, 1e-12, "the part of computing");
    is_num(r.low_s, 3.003 * 0.8, 1e-12, "its lower end");
    is_num(r.high_s, 3.003 * 1.2, 1e-12, "its upper end");
    is_num(r.comm_s, 0.5, 1e-12, "twice as many processes have twice as many messages");
    hrun_speeds_range(s, &alone, &r, &err);
    is_num(r.comm_s, 0.25, 1e-12, "fewer no fewer");
    is_int(hrun_speeds_range(s, &unknown, &r, &err), -1, "a sub-cluster that was not probed");
    has_str(err.text, "sub-cluster 3", "is named");
    is_int(hrun_speeds_range(s, &none, &r, &err), -1, "no process");
    hrun_speeds_destroy(s);
    is_num(hrun_speeds_uneven(100, 7), 0.05, 1e-12, "15 of 100 rows are 5 %% more than a seventh");
    is_num(hrun_speeds_uneven(98, 7), 0, 0, "98 are divided evenly");
    is_num(hrun_speeds_uneven(2, 8), 3, 0, "2 of 8 processes have all rows");
}

static void test_errors(struct ma *a)
{
    struct hrun_speed good = { 1, 0, 1, three, 3 }, bad;
    struct hrun_error err = { 0 };

    ok(!hrun_speeds_create(&a->app, 60, &good, 1, 0, 0, &err) && err.code == HRUN_EINVAL, "no processes");
    ok(!hrun_speeds_create(&a->app, 60, &good, 1, 1, NAN, &err) && err.code == HRUN_EINVAL, "no time of messages");
    bad = good;
    bad.cores = 0;
    ok(!hrun_speeds_create(&a->app, 60, &bad, 1, 1, 0, &err) && err.code == HRUN_EINVAL, "no cores");
    bad = good;
    bad.unsure = NAN;
    ok(!hrun_speeds_create(&a->app, 60, &bad, 1, 1, 0, &err) && err.code == HRUN_EINVAL, "unsure by no number");
    hrun_speeds_destroy(NULL);
}

/* A program that nobody has described. */
static void test_bare(void)
{
    static const struct { const char *program, *name; } names[] = {
        { "./mini", "mini" }, { "/opt/x/Mini MD_2.0", "mini-md_2.0" }, { "--x", "x" }, { "a+", "a-" },
    };
    struct hrun_error err = { 0 };
    struct hrun_app *app = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        is_int(hrun_app_create_bare(names[i].program, &app, &err), 0, "%s", names[i].program);
        is_str(app->name, names[i].name, "and its name");
        hrun_app_destroy(app);
    }
    hrun_app_create_bare("x", &app, &err);
    ok(hrun_app_rule(app, 7, 3, &err) == 1 && app->nprocs_per_pe == 1 && app->procs_per_pe[0] == 1 && !*app->file,
       "any P, one process per PE, no file");
    hrun_app_destroy(app);
    app = NULL;
    is_int(hrun_app_create_bare("./+", &app, &err), -1, "a name without letters");
    ok(!app && err.code == HRUN_EINVAL, "is refused");
}

/* The memory of a mesh's rows counts as that of a definition does. */
static void test_mesh(struct ma *a)
{
    static const char *const vars[] = { "N", "P", "W" };
    static const int one[] = { 1 };
    const struct hrun_speed v = { .compute_s = 1, .cores = 1, .procs = one, .nprocs = 1 };
    struct hrun_error err = { 0 };
    struct hrun_app app = a->app;
    struct hrun_speeds *s;
    double bytes = 0;

    app.family = HRUN_APP_WEAK;
    app.law.weak.rows = hrun_expr_compile("N", vars, 1, NULL, 0, &err);
    app.law.weak.unit = hrun_expr_compile("1", vars, 1, NULL, 0, &err);
    app.law.weak.memory = hrun_expr_compile("8*W", vars, 3, NULL, 0, &err);
    s = hrun_speeds_create(&app, 60, &v, 1, 1, 0, &err);
    ok(s && hrun_speeds_oracle(s)->memory && !hrun_speeds_oracle(s)->memory(hrun_speeds_oracle(s)->ctx, 7, &bytes, &err),
       "the memory of a mesh %s", err.text);
    is_num(bytes, 8 * 9, 0, "is that of the most rows that a process has");
    hrun_speeds_destroy(s);
    hrun_expr_destroy(app.law.weak.rows);
    hrun_expr_destroy(app.law.weak.unit);
    hrun_expr_destroy(app.law.weak.memory);
}

int main(void)
{
    struct ma a;

    ma_init(&a, NULL, NULL, NULL, 3);
    test_brute_force(&a);
    test_proportion(&a);
    test_bounds(&a);
    test_range(&a);
    test_errors(&a);
    test_mesh(&a);
    test_bare();
    hrun_expr_destroy(a.app.rule);
    test_spread(&a);
    ma_release(&a);
    return tap_done();
}
