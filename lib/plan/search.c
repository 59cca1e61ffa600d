/* search.c - the exact search; see plan.h for the contract
 *
 * search_one_P.c searches one P, and intervals.c orders the P. The lower bound of an interval lo..hi is the least level
 * whose capacity (the largest number of processes on all sub-clusters together) reaches lo, if each option has its
 * bound in the interval as value. The search ends when the least bound of all open intervals is above the last value in
 * the full list; intervals of equal bound are searched, because fewer PEs or the order may decide.
 * No configuration that could change the answer is skipped, so the answer is that of hrun_plan_exhaustive.
 *
 * If times of some configurations are known from runs, the `top` best of all are among these and the `top` best of the
 * others.
 */
#include "plan/search.h"

#include "base/alloc.h"
#include "base/units.h"
#include "plan/search_nonseparable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bounds are summed in another order than times, so rounding may raise them above the times. They are lowered by this
 * fraction, which suffices for ten terms of which the largest is a million times their sum: 10 * 1e6 * 2^-53 = 1e-9. */
#define BOUND_SLACK 1e-9

/* Limit of the configurations that are enumerated, about a second. */
#define EXHAUSTIVE_LIMIT 5e6

const struct plan_tuning plan_tuning_default = { 200000, 1024, 8 };

struct search {
    struct plan_space space;
    struct plan_best best;
    struct plan_solver *solver;
    struct plan_tuning tuning;
    double *bound;        /* nopt: lower bounds of the values in an interval */
    double *sorted;       /* nopt: scratch */
    struct plan_intervals intervals;
    int memory_limits;    /* 1: some sub-cluster's memory is limited */
};

static int search_init(struct search *S, const struct hrun_plan_problem *problem, int top,
                       const struct plan_tuning *tuning, struct hrun_error *err)
{
    struct plan_space *s = &S->space;
    size_t nopt;

    memset(S, 0, sizeof *S);
    S->tuning = *tuning;
    S->best = (struct plan_best){ .top = top };
    if (plan_space_init(s, problem, 0, err))
        return -1;
    for (int i = 0; problem->oracle->memory && i < s->nsubs; i++)
        if (s->subs[i].memory_bytes > 0)
            S->memory_limits = 1;
    if (plan_space_cells(s) <= tuning->keep_cells)
        s->rows = xcalloc((size_t)s->max_P + 1, sizeof *s->rows);
    nopt = (size_t)s->nopt + 1;
    S->bound = xmalloc(nopt * sizeof *S->bound);
    S->sorted = xmalloc(nopt * sizeof *S->sorted);
    S->solver = plan_solver_create(s, &S->best);
    return 0;
}

static void search_release(struct search *S)
{
    plan_solver_destroy(S->solver);
    plan_best_release(&S->best);
    plan_space_release(&S->space);
    free(S->bound);
    free(S->sorted);
    plan_intervals_release(&S->intervals);
}

/* The least value for which plan_has_capacity(S->bound, value, lo, hi) is 1; +infinity if there is none. A selection by
 * partition, without sorting the values. */
static double interval_bound(struct search *S, int lo, int hi)
{
    const struct plan_space *s = &S->space;
    double *a = S->sorted, found = INFINITY;
    int n = 0;

    for (int o = 0; o < s->nopt; o++)
        if (S->bound[o] < found && s->full[o] > 0 && s->oracle->options[o].m <= hi)
            a[n++] = S->bound[o];
    while (n > 0) {
        double pivot = a[n / 2];
        int enough = plan_has_capacity(s, S->bound, pivot, lo, hi), kept = 0;
        if (enough)
            found = pivot;
        for (int k = 0; k < n; k++)
            if (enough ? a[k] < pivot : a[k] > pivot)
                a[kept++] = a[k];
        n = kept;
    }
    return found;
}

/* Set S->bound to +infinity for options that fit into memory at no accepted P of lo..hi. The dependence of memory on P
 * is arbitrary, so it is evaluated at each P. */
static int apply_memory(struct search *S, int lo, int hi, struct hrun_error *err)
{
    const struct plan_space *s = &S->space;
    const struct hrun_oracle *oracle = s->oracle;
    double least = INFINITY, bytes;

    for (int P = lo; P <= hi; P++) {
        if (!plan_intervals_accept(&S->intervals, P))
            continue;
        if (oracle->memory(oracle->ctx, P, &bytes, err))
            return -1;
        least = fmin(least, bytes);  /* ignores NaN, which fits nowhere */
    }
    for (int o = 0; o < s->nopt; o++) {
        double memory = s->subs[oracle->options[o].sub].memory_bytes;
        if (memory > 0 && !(oracle->options[o].m * least <= memory))
            S->bound[o] = INFINITY;
    }
    return 0;
}

static int bound_by_capacity(void *ctx, int lo, int hi, int scanned, double *bound, struct hrun_error *err)
{
    struct search *S = ctx;
    const struct plan_space *s = &S->space;
    const struct hrun_oracle *oracle = s->oracle;

    if (oracle->bounds(oracle->ctx, lo, hi, S->bound, err))
        return -1;
    for (int o = 0; o < s->nopt; o++) {
        double b = S->bound[o];
        if (b == INFINITY)
            continue;
        /* A bound that is NaN or not positive is useless. */
        S->bound[o] = b > 0 ? plan_value(s, b * (1 - BOUND_SLACK)) : -INFINITY;
    }
    if (scanned && S->memory_limits && apply_memory(S, lo, hi, err))
        return -1;
    /* An infinite bound marks an unusable option, so the largest finite number stands for "no limit". */
    *bound = plan_has_capacity(s, S->bound, fmin(plan_best_worst(&S->best), __DBL_MAX__), lo, hi)
             ? interval_bound(S, lo, hi) : INFINITY;
    return 0;
}

static int may_enter_list(void *ctx, double bound)
{
    return bound <= plan_best_worst(&((struct search *)ctx)->best);
}

static int solve_P(void *ctx, int P, struct hrun_error *err)
{
    return plan_solve(((struct search *)ctx)->solver, P, err);
}

static int search_intervals(struct search *S, struct hrun_error *err)
{
    const struct plan_space *s = &S->space;

    /* With limited memory a scanned interval gets a second, higher bound, which may postpone it. */
    S->intervals = (struct plan_intervals){
        .space = s, .tuning = S->tuning, .again = S->memory_limits, .ctx = S,
        .bound = s->oracle->bounds && !s->rows ? bound_by_capacity : NULL, .wants = may_enter_list, .look = solve_P,
    };
    return plan_intervals_run(&S->intervals, err);
}

int plan_search_tuned(const struct hrun_plan_problem *problem, int top, const struct plan_tuning *tuning,
                      struct hrun_plan **out, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { 0 };
    autorelease(search_release) struct search S;
    double started = plan_clock();

    if (search_init(&S, problem, top, tuning, err) ||
        plan_count(&S.space, S.space.rows ? PLAN_COUNT_LIMIT : 0, &counts, err) || search_intervals(&S, err))
        return -1;
    return plan_finish(&S.space, &S.best, &counts, started, out, err);
}

/* Remove choices beyond the time limit from the end of a plan that is ordered by time. */
static int drop_slow(const struct hrun_plan_problem *problem, struct hrun_plan **plan, struct hrun_error *err)
{
    struct hrun_plan *p = *plan;

    while (p->n && !plan_keeps(problem, p->v[p->n - 1].time_s, &p->v[p->n - 1].config))
        p->n--;
    if (p->n)
        return 0;
    plan_fail_none(problem, NULL, 0, err);
    hrun_plan_destroy(p);
    *plan = NULL;
    return -1;
}

int plan_few_enough(const struct hrun_plan_problem *problem, struct hrun_error *err)
{
    autorelease(plan_space_release) struct plan_space s;
    double total;

    if (plan_space_init(&s, problem, 0, err))
        return -1;
    total = plan_space_total(&s);
    if (total <= EXHAUSTIVE_LIMIT)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "the objective \"%s\"%s needs a look at each configuration, and "
                     "%.4g are too many (at most %.0f): use fewer PEs or the objective \"time\" with no limit other "
                     "than of time", problem->objective ? problem->objective->name : "time",
                     problem->limits ? " within limits" : "", total, EXHAUSTIVE_LIMIT);
}

/* hrun_plan_search for the configurations that are not known[n]: the plan has `top` of these, or all if there are
 * fewer. The plan may contain known ones, too. */
static int search_others(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                         struct hrun_plan **out, struct hrun_error *err)
{
    struct plan_looks looks = PLAN_LOOKS_DEFAULT;
    const struct hrun_plan_limits *l = problem->limits;

    if ((problem->objective && !problem->objective->separable) ||
        (l && (l->cost > 0 || l->energy_j > 0 || l->pes > 0)))
        return plan_few_enough(problem, err) || hrun_plan_exhaustive(problem, top + n, out, err) ? -1 : 0;
    looks.known = known;
    looks.nknown = n;
    if (problem->oracle->parts > 0)
        looks.parts = problem->oracle->parts;
    if (problem->oracle->whole ? plan_search_whole(problem, top, &looks, out, err)
                               : plan_search_tuned(problem, top + n, &plan_tuning_default, out, err))
        return -1;
    return l ? drop_slow(problem, out, err) : 0;
}

int hrun_plan_search(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                     struct hrun_error *err)
{
    return hrun_plan_search_known(problem, NULL, 0, top, out, err);
}

/* ------------------------------------------------------------------ known configurations */

static double rank_factor_of(const struct hrun_known *known, int n, const struct hrun_choice *v)
{
    const struct hrun_known *k = plan_known_find(known, n, &v->config);

    return k && k->rank_factor > 0 ? k->rank_factor : 1;
}

/* Set values by the times without rank factors, and ranked_s to the times with them. */
static void unrank_values(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                          struct hrun_plan *p)
{
    const struct hrun_objective *o = problem->objective ? problem->objective : &hrun_objectives[HRUN_OBJECTIVE_TIME];
    double first = rank_factor_of(known, n, &p->v[0]);

    for (int i = 0; i < p->n; i++) {
        struct hrun_choice *v = &p->v[i];
        double factor = rank_factor_of(known, n, v);

        v->ranked_s = v->time_s * (factor / first);
        if (factor != 1)
            v->value = o->value(v->time_s, &v->config, problem->subs);
    }
}

int hrun_plan_is_doubted(const struct hrun_plan *p, int k)
{
    for (int i = 0; i < k; i++)
        if (p->v[i].value > p->v[k].value)
            return 1;
    return 0;
}

void hrun_plan_print_behind(double time_s, int doubted, double ranked_s, double base_s, struct hrun_buf *out)
{
    hrun_buf_adds(out, hrun_percent(time_s / base_s).s);
    if (!doubted)
        return;
    hrun_buf_addf(out, " (less certain: ranked as %s)", hrun_percent(ranked_s / base_s).s);
}

/* Add a known configuration to *best if it is valid, not excluded and within the limits. */
static int add_known_choice(const struct hrun_plan_problem *problem, const struct hrun_known *k, struct plan_best *best,
                            struct hrun_error *err)
{
    const struct hrun_objective *o = problem->objective ? problem->objective : &hrun_objectives[HRUN_OBJECTIVE_TIME];
    struct hrun_choice c;
    struct hrun_error why = { 0 };

    if (k->excluded)
        return 0;
    if (hrun_plan_evaluate(problem, &k->config, 1, &c, &why)) {
        if (why.code == HRUN_EINVAL)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    c.time_s *= k->factor;
    if (!plan_keeps(problem, c.time_s, &c.config))
        return 0;
    c.value = o->value(c.time_s * (k->rank_factor > 0 ? k->rank_factor : 1), &c.config, problem->subs);
    if (isfinite(c.value))
        plan_best_add(best, &c);
    return 0;
}

static void release_plan(struct hrun_plan **p)
{
    hrun_plan_destroy(*p);
}

int hrun_plan_search_known(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                           struct hrun_plan **out, struct hrun_error *err)
{
    autorelease(plan_best_release) struct plan_best best = { .top = top };
    double started = plan_clock(), others;
    struct hrun_error why = { 0 };
    autorelease(release_plan) struct hrun_plan *p = NULL;
    int excluded = 0;

    if (search_others(problem, known, n, top, &p, &why)) {
        /* No other configuration is within the limits by its model; a known one may be. */
        if (!n || why.code != HRUN_EINFEASIBLE) {
            if (err)
                *err = why;
            return -1;
        }
        p = xcalloc(1, sizeof *p);
        p->exact = 1;
        if (hrun_plan_count(problem, PLAN_COUNT_LIMIT, &p->counts, err))
            return -1;
    }
    others = p->n ? p->v[0].value : 1;
    for (int i = 0; i < p->n; i++)
        if (!plan_known_find(known, n, &p->v[i].config))
            plan_best_add(&best, &p->v[i]);
    for (int i = 0; i < n; i++) {
        excluded |= known[i].excluded;
        if (add_known_choice(problem, &known[i], &best, err))
            return -1;
    }
    if (!best.n) {
        if (problem->limits)
            return plan_fail_none(problem, known, n, err);
        if (!why.code || !err)
            return hrun_fail(err, HRUN_EINFEASIBLE, excluded ? "no configuration is left: those that failed at this "
                             "size are left out" : "no configuration has a usable time");
        *err = why;
        return -1;
    }
    free(p->v);
    plan_best_move(&best, p);
    if (n && p->gap > 0 && isfinite(p->gap))
        p->gap = fmax((1 + p->gap) * p->v[0].value / others - 1, 0);
    unrank_values(problem, known, n, p);
    p->search_s = plan_clock() - started;
    *out = p;
    p = NULL;
    return 0;
}
