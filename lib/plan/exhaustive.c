/* exhaustive.c - look at every configuration (paper 000, Fig. 1); see plan.h for the contracts */
#include "base/alloc.h"
#include "plan/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Count c under the first reason against it, or as valid. Result: the state of its worst option; -1: rule. */
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

/* The next configuration in the order (P1,M1,P2,M2,...), the last sub-cluster running fastest.
 * 0 at the end. */
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

/* The best of those that keep the limits. No exact time is below time_s, nor are what it costs and takes. */
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
    if (top < 1)
        return hrun_fail(err, HRUN_EINVAL, "the number of best configurations must be at least 1, not %d", top);
    if (plan_each(&s, &counts, keep_best, &best, err))
        return -1;
    return best.n || !counts.valid || !problem->limits ? plan_finish(&s, &best, &counts, started, out, err)
           : plan_fail_none(problem, NULL, 0, err);
}
