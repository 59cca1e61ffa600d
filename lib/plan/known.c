/* known.c - the search where some configurations are known better than the oracle; see plan.h for the contract
 *
 * The `top` best of all are among the known ones and the `top` best of the others.
 */
#include "plan/internal.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

/* Additions that counting for the report may cost: about 4 ms. */
#define COUNT_LIMIT 4e6

static double doubt_of(const struct hrun_known *known, int n, const struct hrun_choice *v, int nsubs)
{
    const struct hrun_known *k = plan_known_find(known, n, v, nsubs);

    return k && k->doubt > 0 ? k->doubt : 1;
}

/* The values without doubts, which remain in ranked_s. */
static void take_doubts_off(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                            struct hrun_plan *p)
{
    const struct hrun_objective *o = problem->objective ? problem->objective : hrun_objectives();
    double first = doubt_of(known, n, &p->v[0], p->nsubs);

    for (int i = 0; i < p->n; i++) {
        struct hrun_choice *v = &p->v[i];
        double doubt = doubt_of(known, n, v, p->nsubs);

        v->ranked_s = v->time_s * (doubt / first);
        if (doubt != 1)
            v->value = o->value(v->time_s, v->pes, problem->subs, p->nsubs);
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
    hrun_add_percent(out, time_s / base_s);
    if (!doubted)
        return;
    hrun_buf_adds(out, " (less certain: ranked as ");
    hrun_add_percent(out, ranked_s / base_s);
    hrun_buf_addc(out, ')');
}

/* Add a known configuration, if the problem has it. */
static int add_known(const struct hrun_plan_problem *problem, const struct hrun_known *k, struct plan_best *best,
                     struct hrun_error *err)
{
    const struct hrun_objective *o = problem->objective ? problem->objective : hrun_objectives();
    struct hrun_error why = { 0 };
    struct hrun_choice c;

    if (k->excluded)
        return 0;
    if (hrun_plan_evaluate(problem, k->pes, k->procs, 1, &c, &why)) {
        if (why.code == HRUN_EINVAL)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    c.time_s *= k->factor;
    if (!plan_keeps(problem, c.time_s, c.pes)) {
        hrun_choice_release(&c);
        return 0;
    }
    c.value = o->value(c.time_s * (k->doubt > 0 ? k->doubt : 1), c.pes, problem->subs, problem->oracle->nsubs);
    if (isfinite(c.value))
        plan_best_add(best, &c, err);
    hrun_choice_release(&c);
    return 0;
}

int hrun_plan_search_known(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n, int top,
                           struct hrun_plan **out, struct hrun_error *err)
{
    int nsubs = problem->oracle->nsubs, excluded = 0, rc = -1;
    double started = plan_clock(), others;
    struct hrun_error why = { 0 };
    struct hrun_plan *p = NULL;
    struct plan_best best;

    plan_best_init(&best, top, nsubs);
    for (int i = 0; i < n; i++)
        if (known[i].excluded) {
            excluded++;
        } else if (!(isfinite(known[i].factor) && known[i].factor > 0)) {
            hrun_fail(err, HRUN_EINVAL, "the factor of known configuration %d is %g, not finite and above 0", i + 1,
                      known[i].factor);
            goto out;
        } else if (!(isfinite(known[i].doubt) && known[i].doubt >= 0)) {
            hrun_fail(err, HRUN_EINVAL, "the doubt of known configuration %d is %g, not finite and above 0", i + 1,
                      known[i].doubt);
            goto out;
        }
    if (plan_search_without(problem, known, n, top, &p, &why)) {
        /* By its model no other keeps the limits; one that is known better may. */
        p = n && why.code == HRUN_EINFEASIBLE ? xcalloc(1, sizeof *p) : NULL;
        if (!p) {
            if (err)
                *err = why;
            goto out;
        }
        p->nsubs = nsubs;
        p->exact = 1;
        if (hrun_plan_count(problem, COUNT_LIMIT, &p->counts, err))
            goto out;
    }
    others = p->n ? p->v[0].value : 1;
    for (int i = 0; i < p->n; i++)
        if (!plan_known_find(known, n, &p->v[i], nsubs))
            plan_best_add(&best, &p->v[i], err);
    for (int i = 0; i < n; i++)
        if (add_known(problem, &known[i], &best, err))
            goto out;
    if (!best.n) {
        if (problem->limits)
            plan_fail_none(problem, known, n, err);
        else if (why.code && err)
            *err = why;
        else
            hrun_fail(err, HRUN_EINFEASIBLE, excluded ? "no configuration is left: those that failed at this size are "
                      "left out" : "no configuration has a usable time");
        goto out;
    }
    for (int i = 0; i < p->n; i++)
        hrun_choice_release(&p->v[i]);
    free(p->v);
    p->v = best.v;
    p->n = best.n;
    best.v = NULL;
    best.n = 0;
    if (p->gap > 0 && isfinite(p->gap))
        p->gap = fmax((1 + p->gap) * p->v[0].value / others - 1, 0);
    take_doubts_off(problem, known, n, p);
    p->search_s = plan_clock() - started;
    *out = p;
    p = NULL;
    rc = 0;
out:
    plan_best_release(&best);
    hrun_plan_destroy(p);
    return rc;
}
