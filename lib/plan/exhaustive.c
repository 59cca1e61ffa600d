/* exhaustive.c - every configuration (paper 000, Fig. 1): the best ones and the Pareto front; see plan.h for the
 * contracts */
#include "base/alloc.h"
#include "plan/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Set c->npes and *time_s. Result: the state of the worst option of c; -1: the rule refuses its P. */
static int count_state(const struct plan_space *s, const struct plan_row *row, const int *option, double *time_s,
                       struct hrun_choice *c)
{
    int worst = PLAN_USABLE;

    if (!row->rule)
        return -1;
    *time_s = 0;
    c->npes = 0;
    for (int i = 0; i < s->nsubs; i++) {
        int o = option[i];
        if (c->config.pes[i] == 0)
            continue;
        if (row->state[o] == PLAN_MEMORY)
            return PLAN_MEMORY;
        if (row->state[o] == PLAN_MODEL)
            worst = PLAN_MODEL;
        *time_s = fmax(*time_s, row->t[o]);
        c->npes += c->config.pes[i];
    }
    return worst;
}

/* Set c to the next configuration in the order (P1,M1,P2,M2,...); the last sub-cluster varies fastest. Result: 0 at the
 * end, else 1. */
static int advance(const struct plan_space *s, struct hrun_choice *c, int *option)
{
    for (int i = s->nsubs - 1; i >= 0; i--) {
        int first = s->first[i], end = s->first[i + 1];
        if (first == end)
            continue;
        if (c->config.pes[i] > 0 && option[i] + 1 < end) {
            option[i]++;
            c->config.procs[i] = s->oracle->options[option[i]].m;
            return 1;
        }
        if (c->config.pes[i] < s->subs[i].npes) {
            c->config.pes[i]++;
            option[i] = first;
            c->config.procs[i] = s->oracle->options[first].m;
            return 1;
        }
        c->config.pes[i] = c->config.procs[i] = 0;
    }
    return 0;
}

int plan_each(struct plan_space *s, struct hrun_plan_counts *counts, plan_visit_fn *visit, void *ctx,
              struct hrun_error *err)
{
    struct hrun_choice c = { .config.nsubs = s->nsubs };
    autofree int *option = xcalloc((size_t)s->nsubs + 1, sizeof(int));

    while (advance(s, &c, option)) {
        const struct plan_row *row;
        double time_s = 0;
        int state;

        c.P = hrun_config_processes(&c.config);
        if (s->problem->P && c.P != s->problem->P)
            continue;
        row = plan_space_row(s, c.P, err);
        if (!row)
            return -1;
        counts->total++;
        state = count_state(s, row, option, &time_s, &c);
        if (state == PLAN_USABLE && !isfinite(s->objective->value(time_s, &c.config, s->subs)))
            state = PLAN_MODEL;
        switch (state) {
        case PLAN_USABLE: counts->valid++; break;
        case PLAN_MEMORY: counts->excluded_memory++; continue;
        case PLAN_MODEL: counts->excluded_model++; continue;
        default: counts->excluded_rule++; continue;
        }
        if (visit(ctx, s, row->t, time_s, &c, err))
            return -1;
    }
    return 0;
}

/* Add c to the list if it is within the limits. time_s is a lower bound of the time of c, and so bounds its cost and
 * energy. */
static int keep_best(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                     struct hrun_error *err)
{
    struct plan_best *best = ctx;

    c->value = s->objective->value(time_s, &c->config, s->subs);
    if (!plan_keeps(s->problem, time_s, &c->config) || !plan_best_takes(best, c))
        return 0;
    if (plan_choice_look(s, t, c, err))
        return -1;
    if (isfinite(c->value) && plan_keeps(s->problem, c->time_s, &c->config))
        plan_best_add(best, c);
    return 0;
}

int hrun_plan_exhaustive(const struct hrun_plan_problem *problem, int top, struct hrun_plan **out,
                         struct hrun_error *err)
{
    struct hrun_plan_counts counts = { .counted = 1 };
    autorelease(plan_best_release) struct plan_best best = { .top = top };
    autorelease(plan_space_release) struct plan_space s;
    double started = plan_clock();

    if (plan_space_init(&s, problem, 1, err))
        return -1;
    if (plan_each(&s, &counts, keep_best, &best, err))
        return -1;
    return best.n || !counts.valid || !problem->limits ? plan_finish(&s, &best, &counts, started, out, err)
           : plan_fail_none(problem, NULL, 0, err);
}

/* ------------------------------------------------------------------ the Pareto front, by ascending time */

struct front {
    struct plan_best *list;     /* only v, n and cap are used */
    const struct hrun_known *known;
    int nknown;
};

/* The index of the first entry whose time is at least time_s. */
static int place_by_time(const struct front *f, double time_s)
{
    int lo = 0, hi = f->list->n;

    while (lo < hi) {
        int mid = (lo + hi) / 2;

        if (f->list->v[mid]->time_s < time_s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* 1 if an entry of the front beats time_s and value, else 0: worse in neither and better in one, or, unless c is NULL,
 * equal in both and before c in the order. */
static int is_beaten(const struct front *f, double time_s, double value, const struct hrun_choice *c)
{
    int at = place_by_time(f, time_s);

    if (at > 0 && f->list->v[at - 1]->value <= value)
        return 1;
    if (at == f->list->n || f->list->v[at]->time_s > time_s || f->list->v[at]->value > value)
        return 0;
    return f->list->v[at]->value < value || (c && plan_choice_compare(f->list->v[at], c) < 0);
}

static int keep_choice(void *ctx, const struct plan_space *s, const double *t, double time_s, struct hrun_choice *c,
                       struct hrun_error *err)
{
    struct front *f = ctx;
    const struct hrun_known *k = plan_known_find(f->known, f->nknown, &c->config);
    struct plan_best *l = f->list;
    double factor = k ? k->factor : 1;
    int at, end;

    if (k && k->excluded)
        return 0;
    time_s *= factor;
    if (s->oracle->whole && is_beaten(f, time_s, s->objective->value(time_s, &c->config, s->subs), NULL))
        return 0;   /* time_s is a lower bound */
    if (plan_choice_look(s, t, c, err))
        return -1;
    c->time_s *= factor;
    c->value = s->objective->value(c->time_s, &c->config, s->subs);
    if (!isfinite(c->value) || !plan_keeps(s->problem, c->time_s, &c->config) ||
        is_beaten(f, c->time_s, c->value, c))
        return 0;
    at = end = place_by_time(f, c->time_s);
    while (end < l->n && l->v[end]->value >= c->value)      /* c replaces these entries */
        free(l->v[end++]);
    hrun_grow(l->v, l->n + 1, l->cap);
    memmove(l->v + at + 1, l->v + end, (size_t)(l->n - end) * sizeof *l->v);
    l->v[at] = xmalloc(sizeof *c);
    *l->v[at] = *c;
    l->n += 1 - (end - at);
    return 0;
}

int hrun_plan_pareto(const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                     struct hrun_plan **out, struct hrun_error *err)
{
    struct hrun_plan_counts counts = { .counted = 1 };
    autorelease(plan_best_release) struct plan_best list = { 0 };
    struct front f = { .list = &list, .known = known, .nknown = n };
    autorelease(plan_space_release) struct plan_space s = { 0 };
    double started = plan_clock();

    if (plan_few_enough(problem, err) || plan_space_init(&s, problem, 1, err) ||
        plan_each(&s, &counts, keep_choice, &f, err))
        return -1;
    return list.n || !counts.valid || !problem->limits ? plan_finish(&s, &list, &counts, started, out, err)
           : plan_fail_none(problem, known, n, err);
}
