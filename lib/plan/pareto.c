/* pareto.c - the configurations than which none is both quicker and better; see plan.h for the contract
 *
 * The front is kept by ascending time and descending value while every configuration is looked at once.
 */
#include "base/alloc.h"
#include "plan/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct front {
    struct plan_best list;      /* of which only v, n and cap are used */
    const struct hrun_known *known;
    int nknown;
};

static void front_release(struct front *f)
{
    plan_best_release(&f->list);
}

/* The first place whose time is not below time_s. */
static int place_by_time(const struct front *f, double time_s)
{
    int lo = 0, hi = f->list.n;

    while (lo < hi) {
        int mid = (lo + hi) / 2;

        if (f->list.v[mid]->time_s < time_s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Is something on the front as quick and as good, and one of both better; or equal in both and before c (NULL: nothing
 * is before it)? */
static int is_beaten(const struct front *f, double time_s, double value, const struct hrun_choice *c)
{
    int at = place_by_time(f, time_s);

    if (at > 0 && f->list.v[at - 1]->value <= value)
        return 1;
    if (at == f->list.n || f->list.v[at]->time_s > time_s || f->list.v[at]->value > value)
        return 0;
    return f->list.v[at]->value < value || (c && plan_choice_compare(f->list.v[at], c) < 0);
}

static void insert_into_front(struct front *f, const struct hrun_choice *c)
{
    int at = place_by_time(f, c->time_s), end = at;

    hrun_grow(f->list.v, f->list.n + 1, f->list.cap);
    while (end < f->list.n && f->list.v[end]->value >= c->value)
        free(f->list.v[end++]);
    memmove(f->list.v + at + 1, f->list.v + end, (size_t)(f->list.n - end) * sizeof *f->list.v);
    f->list.v[at] = xmalloc(sizeof *c);
    *f->list.v[at] = *c;
    f->list.n += 1 - (end - at);
}

static int keep_choice(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                       struct hrun_error *err)
{
    struct front *f = ctx;
    const struct hrun_known *k = plan_known_find(f->known, f->nknown, &c->config);
    double factor = k ? k->factor : 1;

    if (k && k->excluded)
        return 0;
    time_s *= factor;
    if (s->oracle->whole && is_beaten(f, time_s, s->objective->value(time_s, &c->config, s->subs), NULL))
        return 0;   /* the exact time is not below this */
    if (plan_choice_look(s, t, c, err))
        return -1;
    c->time_s *= factor;
    c->value = s->objective->value(c->time_s, &c->config, s->subs);
    if (!isfinite(c->value) || !plan_keeps(s->problem, c->time_s, &c->config) ||
        is_beaten(f, c->time_s, c->value, c))
        return 0;
    insert_into_front(f, c);
    return 0;
}

int hrun_plan_pareto(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                     struct hrun_plan **out, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { .counted = 1 };
    autorelease(front_release) struct front f = { .known = known, .nknown = n };
    autorelease(plan_space_release) struct plan_space s = { 0 };
    double started = plan_clock();

    if (plan_few_enough(problem, err) || plan_space_init(&s, problem, 1, err) ||
        plan_each(&s, &counts, keep_choice, &f, err))
        return -1;
    return f.list.n || !counts.valid || !problem->limits ? plan_finish(&s, &f.list, &counts, started, out, err)
           : plan_fail_none(problem, known, n, err);
}
