/* nearest.c - sizes with a valid configuration, for messages; see nearest.h */
#include "session/nearest.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rules repeat with P or P^2 (paper 000, sections 5.2 and 5.4), so STEPS sizes contain a multiple for each P up to 300.
 * SECONDS: time that a user waits for a message, as processor time, so that a busy machine finds the same sizes. */
enum { STEPS = 100000, STEPS_OF_PROBE = 1000 };
static const double SECONDS = 0.5;

/* An oracle without a model: each option has a time of one second, and only rule and memory exclude options. */
struct flat {
    const struct hrun_app *app;
    const struct hrun_plan_sub *subs;
    int64_t N;
    struct hrun_option *options;
    struct hrun_oracle oracle;
};

static int flat_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct flat *f = ctx;

    (void)P;
    (void)err;
    for (int o = 0; o < f->oracle.noptions; o++)
        t[o] = 1;
    return 0;
}

static int flat_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    (void)hi;
    flat_times(ctx, lo, b, err);
    return 0;
}

static int flat_rule(void *ctx, int P, struct hrun_error *err)
{
    struct flat *f = ctx;

    return hrun_app_rule(f->app, f->N, P, err);
}

static int flat_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    struct flat *f = ctx;

    return hrun_app_memory(f->app, f->N, P, bytes, err);
}

/* Bounds for unequal shares: the whole units that fit into the memory. */
static int flat_lines(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    struct flat *f = ctx;
    int64_t all, least, most;

    if (hrun_app_units(f->app, f->N, &all, &least, err))
        return -1;
    for (int o = 0; o < f->oracle.noptions; o++) {
        const struct hrun_option *option = &f->options[o];

        most = hrun_app_units_fitting(f->app, f->N, P, all, f->subs[option->sub].memory_bytes / option->m, err);
        if (most < 0)
            return -1;
        v[o] = most < least ? (struct hrun_line){ 0 } : (struct hrun_line){ option->m, 1, 0, most - (least - 1) };
    }
    *units = all - P * (least - 1);
    return 0;
}

/* Called only for configurations that flat_lines allows. */
static int flat_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                      struct hrun_error *err)
{
    (void)ctx, (void)config, (void)P, (void)err;
    *time_s = 1;
    *limiting = 0;
    return 0;
}

/* Set up *f with the options of `from` (NULL: one process per PE), and with unequal shares if `from` has lines. */
static void flat_init(struct flat *f, const struct hrun_app *app, int nsubs, const struct hrun_plan_sub *subs,
                      const struct hrun_oracle *from)
{
    int n = from ? from->noptions : nsubs;

    memset(f, 0, sizeof *f);
    f->app = app;
    f->subs = subs;
    f->options = xcalloc((size_t)n + 1, sizeof *f->options);
    for (int o = 0; o < n; o++)
        f->options[o] = from ? from->options[o] : (struct hrun_option){ o, 1 };
    f->oracle = (struct hrun_oracle){ .ctx = f, .nsubs = nsubs, .noptions = n, .options = f->options,
                                      .times = flat_times, .bounds = flat_bounds, .rule = flat_rule,
                                      .memory = flat_memory };
    if (from && from->lines && app->shares.memory) {
        f->oracle.memory = NULL;
        f->oracle.lines = flat_lines;
        f->oracle.whole = flat_whole;
    }
}

static int is_feasible(struct flat *f, const struct hrun_plan_problem *problem, int64_t N)
{
    struct hrun_plan *plan;

    f->N = N;
    if (hrun_plan_search(problem, 1, &plan, NULL))
        return 0;
    hrun_plan_destroy(plan);
    return 1;
}

/* The first feasible size among N, N + step, ... (step = +1 or -1); 0: none within the steps and the time. */
static int64_t walk_sizes(struct flat *f, const struct hrun_plan_problem *problem, int64_t N, int step, int steps,
                          double end)
{
    for (int k = 0; k < steps && N >= 1 && N <= HRUN_COUNT_MAX && hrun_thread_cpu_s() < end; k++, N += step)
        if (is_feasible(f, problem, N))
            return N;
    return 0;
}

/* A large feasible size far below N, if memory excludes all sizes near N: halve N until a size is feasible, then
 * bisect between the last two. Each step walks down to the next size that the rule accepts. */
static int64_t far_below(struct flat *f, const struct hrun_plan_problem *problem, int64_t N)
{
    double end = hrun_thread_cpu_s() + SECONDS;
    int64_t lo, hi = N, found = 0, best = 0;

    for (lo = N / 2; lo >= 1; hi = lo, lo /= 2)
        if ((best = walk_sizes(f, problem, lo, -1, STEPS_OF_PROBE, end)) != 0)
            break;
    while (best && hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;

        found = walk_sizes(f, problem, mid, -1, STEPS_OF_PROBE, end);
        if (found > best)
            best = found;
        if (found)
            lo = mid;
        else
            hi = mid;
    }
    return best;
}

/* The first feasible power of two from N on in the direction of `step`; 0: none. Rules that accept only powers of two
 * have gaps as wide as N, which walk_sizes cannot cross. */
static int64_t power_of_two(struct flat *f, const struct hrun_plan_problem *problem, int64_t N, int step)
{
    int64_t x = 1;

    while (x < N)
        x *= 2;
    if (step < 0 && x > N)
        x /= 2;
    for (; x >= 1 && x <= HRUN_COUNT_MAX; x = step < 0 ? x / 2 : x * 2)
        if (is_feasible(f, problem, x))
            return x;
    return 0;
}

void nearest_sizes(struct context *c, const struct hrun_plan_problem *of, int64_t N, struct hrun_error *err)
{
    struct hrun_plan_problem problem = { .subs = of->subs, .P = of->P };
    struct flat f;
    int64_t below, above, power;
    int sure;                 /* 1: all sizes between below and above were tried */
    size_t len;

    if (!err)
        return;
    flat_init(&f, c->app, c->cluster->nsubs, of->subs, of->oracle);
    problem.oracle = &f.oracle;
    below = walk_sizes(&f, &problem, N - 1, -1, STEPS, hrun_thread_cpu_s() + SECONDS);
    above = walk_sizes(&f, &problem, N + 1, +1, STEPS, hrun_thread_cpu_s() + SECONDS);
    sure = below && above;
    if (!below) {
        below = far_below(&f, &problem, N);
        power = power_of_two(&f, &problem, N - 1, -1);
        below = power > below ? power : below;
    }
    if (!above)
        above = power_of_two(&f, &problem, N + 1, +1);
    len = strlen(err->text);
    if (below && above)
        snprintf(err->text + len, sizeof err->text - len, sure ? "; the nearest sizes that have one are %lld and %lld" :
                 "; sizes that have one are %lld and %lld", (long long)below, (long long)above);
    else if (below || above)
        snprintf(err->text + len, sizeof err->text - len, "; a size that has one is %lld",
                 (long long)(below ? below : above));
    else
        snprintf(err->text + len, sizeof err->text - len, "; no size near it has one either");
    free(f.options);
}
