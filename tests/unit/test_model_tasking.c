/* Programs that hand work out to who is free: what a configuration takes, against tasks dealt out one by one; whether
 * runs show it; and the search. */
#include "model.h"

#include "model/internal.h"
#include "plan/plan.h"

enum { TASKS = 20000 };
static const int64_t sizes[] = { 400, 800, 1600, 2400 };
enum { NSIZES = sizeof sizes / sizeof *sizes };
static const double speed[MR_SUBS] = { 3, 1.7, 1 };

static double work(double N)
{
    return 1e-9 * N * N * N;
}

/* TASKS tasks, each to the process that is free first; the first process only deals out where there is a master. */
static double dealt(double N, const struct hrun_config *config, int master)
{
    double *end = calloc(1024, sizeof *end), *one = calloc(1024, sizeof *one), last = 0;
    int n = 0;

    for (int i = 0; i < MR_SUBS; i++)
        for (int k = 0; k < config->pes[i] * config->procs[i]; k++)
            one[n++] = work(N) / TASKS / speed[i] * config->procs[i];
    for (int t = 0, first = master && n > 1; t < TASKS; t++) {
        int at = first;

        for (int k = first; k < n; k++)
            at = end[k] < end[at] ? k : at;
        end[at] += one[at];
        last = fmax(last, end[at]);
    }
    free(end);
    free(one);
    return last + 0.01;
}

static double farm(double N, const struct hrun_config *config)
{
    return dealt(N, config, 0);
}

static double with_master(double N, const struct hrun_config *config)
{
    return dealt(N, config, 1);
}

static double largest(int sub, double N, int P, int M)
{
    return work(N) / P / speed[sub] * M + 0.01;
}

static void test_time(void)
{
    static const struct hrun_tasking equal = { 0, 0, 0 }, free_one = { 1, 0, 0 }, master = { 1, 1, 0 };
    const struct hrun_config v[4] = {
        { MR_SUBS, { 4, 0, 0 }, { 2, 0, 0 } }, { MR_SUBS, { 2, 2, 2 }, { 1, 1, 1 } },
        { MR_SUBS, { 1, 4, 4 }, { 2, 1, 2 } }, { MR_SUBS, { 0, 1, 7 }, { 0, 2, 1 } },
    };

    for (int c = 0; c < 4; c++) {
        struct hrun_part_time parts[MR_SUBS];
        int n = 0, P = hrun_config_processes(&v[c]);
        double most = 0;

        for (int i = 0; i < MR_SUBS; i++)
            if (v[c].pes[i]) {
                parts[n] = (struct hrun_part_time){ work(1000) / P / speed[i] * v[c].procs[i],
                                                    v[c].pes[i] * v[c].procs[i] };
                most = fmax(most, parts[n++].t);
            }
        ok(hrun_tasking_time(&equal, parts, n) == most, "equal shares wait for the slowest");
        is_num(hrun_tasking_time(&free_one, parts, n) / (farm(1000, &v[c]) - 0.01), 1, 1e-3,
               "speeds add up as tasks that are dealt out one by one");
        for (int i = 0; i < n; i++)
            parts[i].t *= hrun_tasking_excess(&master, P);
        is_num(hrun_tasking_time(&master, parts, n) / (with_master(1000, &v[c]) - 0.01), 1, 1e-3,
               "also when the first process only deals out");
        ok(hrun_tasking_least(&master, parts, n, 0, 0) <= hrun_tasking_time(&master, parts, n) * (1 + 1e-12),
           "and not below the bound");
    }
}

/* Runs on each sub-cluster alone and on some together; which form they show, and how well it tells of others. */
static void test_found(const struct ma *a, double (*whole)(double, const struct hrun_config *), int dynamic,
                       int master)
{
    const struct hrun_config run[] = {
        { MR_SUBS, { 4, 4, 4 }, { 1, 1, 1 } }, { MR_SUBS, { 4, 2, 1 }, { 1, 1, 1 } },
        { MR_SUBS, { 2, 4, 4 }, { 1, 1, 1 } }, { MR_SUBS, { 4, 0, 3 }, { 1, 0, 1 } },
        { MR_SUBS, { 1, 3, 0 }, { 1, 1, 0 } }, { MR_SUBS, { 0, 2, 4 }, { 0, 1, 1 } },
    };
    const struct hrun_config other = { MR_SUBS, { 3, 4, 2 }, { 1, 1, 1 } };
    const struct hrun_plan_sub subs[MR_SUBS] = { { .npes = 4 }, { .npes = 4 }, { .npes = 4 } };
    struct mr *m = calloc(1, sizeof *m);
    struct hrun_joint_sub logs[MR_SUBS];
    struct hrun_models *models[MR_SUBS] = { 0 };
    struct hrun_error err = { 0 };
    struct hrun_predictor *p;
    struct hrun_plan *fast = NULL, *slow = NULL;
    struct hrun_interval time;
    int limiting;

    m->time = largest;
    m->whole = whole;
    for (int i = 0; i < MR_SUBS; i++)
        mr_alone(m, i, 4, 1, sizes, NSIZES);
    for (size_t c = 0; c < sizeof run / sizeof *run; c++)
        for (int k = 0; k < NSIZES; k++)
            mr_run(m, sizes[k], &run[c], 1 + 0.01 * ((k + (int)c) % 3 - 1));
    mr_subs(m, logs);
    ok(!hrun_model_fit_joint(&a->app, logs, MR_SUBS, &nnls, models, NULL, &err), "a fit: %s", err.text);
    is_int(models[0]->tasking.dynamic, dynamic, "finds whether work goes to who is free");
    is_int(models[0]->tasking.master, master, "and whether one process deals it out");
    p = hrun_predictor_create(&a->app, models, MR_SUBS, HRUN_FORM_NPT, 2000, &err);
    if (!ok(p && !hrun_predictor_time_whole(p, &other, &time, NULL, &limiting, &err),
            "another configuration at another size: %s", err.text))
        goto done;
    is_num(time.mid / (whole ? whole(2000, &other) : largest(2, 2000, 9, 1)), 1, 0.03, "is told to 3 %%");
    ok(time.low <= time.mid && time.mid <= time.high, "in its interval");
    ok(!hrun_plan_search(&(struct hrun_plan_problem){ .oracle = hrun_predictor_oracle(p), .subs = subs }, 5, &fast, &err) &&
       !hrun_plan_exhaustive(&(struct hrun_plan_problem){ .oracle = hrun_predictor_oracle(p), .subs = subs }, 5, &slow,
                             &err), "both searches: %s", err.text);
    for (int i = 0; fast && slow && i < 5; i++)
        ok(hrun_config_equal(&fast->v[i].config, &slow->v[i].config) && fast->v[i].time_s == slow->v[i].time_s,
           "find the same configuration %d", i + 1);
    ok(fast && fast->exact, "and the quick one is proven");
done:
    hrun_plan_destroy(fast);
    hrun_plan_destroy(slow);
    hrun_predictor_destroy(p);
    for (int i = 0; i < MR_SUBS; i++)
        hrun_models_destroy(models[i]);
    free(m);
}

int main(void)
{
    static const char *const np[] = { "N^3/P", "N^2", "1", NULL }, *const nt[] = { "N^3", "1", NULL };
    struct ma a;

    ma_init(&a, np, nt, NULL, 1);
    test_time();
    test_found(&a, NULL, 0, 0);
    test_found(&a, farm, 1, 0);
    test_found(&a, with_master, 1, 1);
    ma_release(&a);
    return tap_done();
}
