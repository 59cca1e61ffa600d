/* search_known.c - the search when runs tell the times of some configurations; see plan.h for the contract
 *
 * The `top` best of all are among the known ones and the `top` best of the others.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "plan/search_shares.h"

#include <math.h>
#include <stdlib.h>

/* Additions that counting for the report may cost: about 4 ms. */
#define COUNT_LIMIT 4e6

static double doubt_of(const struct hrun_known *known, int n, const struct hrun_choice *v)
{
    const struct hrun_known *k = plan_known_find(known, n, &v->config);

    return k && k->doubt > 0 ? k->doubt : 1;
}

/* The values without doubts, which remain in ranked_s. */
static void remove_doubts(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                          struct hrun_plan *p)
{
    const struct hrun_objective *o = problem->objective ? problem->objective : &hrun_objectives[HRUN_OBJECTIVE_TIME];
    double first = doubt_of(known, n, &p->v[0]);

    for (int i = 0; i < p->n; i++) {
        struct hrun_choice *v = &p->v[i];
        double doubt = doubt_of(known, n, v);

        v->ranked_s = v->time_s * (doubt / first);
        if (doubt != 1)
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

/* Add a known configuration, if the problem has it. */
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
    c.value = o->value(c.time_s * (k->doubt > 0 ? k->doubt : 1), &c.config, problem->subs);
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
    int excluded = 0;
    autorelease(plan_best_release) struct plan_best best = { .top = top };
    double started = plan_clock(), others;
    struct hrun_error why = { 0 };
    autorelease(release_plan) struct hrun_plan *p = NULL;

    for (int i = 0; i < n; i++)
        if (known[i].excluded) {
            excluded++;
        } else if (!(isfinite(known[i].factor) && known[i].factor > 0)) {
            return hrun_fail(err, HRUN_EINVAL, "the factor of known configuration %d is %g, not finite and above 0",
                             i + 1, known[i].factor);
        } else if (!(isfinite(known[i].doubt) && known[i].doubt >= 0)) {
            return hrun_fail(err, HRUN_EINVAL, "the doubt of known configuration %d is %g, not finite and above 0",
                             i + 1, known[i].doubt);
        }
    if (plan_search_without(problem, known, n, top, &p, &why)) {
        /* By its model no other keeps the limits; one that is known better may. */
        if (!n || why.code != HRUN_EINFEASIBLE) {
            if (err)
                *err = why;
            return -1;
        }
        p = xcalloc(1, sizeof *p);
        p->exact = 1;
        if (hrun_plan_count(problem, COUNT_LIMIT, &p->counts, err))
            return -1;
    }
    others = p->n ? p->v[0].value : 1;
    for (int i = 0; i < p->n; i++)
        if (!plan_known_find(known, n, &p->v[i].config))
            plan_best_add(&best, &p->v[i]);
    for (int i = 0; i < n; i++)
        if (add_known_choice(problem, &known[i], &best, err))
            return -1;
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
    if (p->gap > 0 && isfinite(p->gap))
        p->gap = fmax((1 + p->gap) * p->v[0].value / others - 1, 0);
    remove_doubts(problem, known, n, p);
    p->search_s = plan_clock() - started;
    *out = p;
    p = NULL;
    return 0;
}
