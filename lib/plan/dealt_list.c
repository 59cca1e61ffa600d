/* dealt_list.c - the list of the best, where work is dealt out; see internal.h for the contracts
 *
 * Branch and bound at each P, sub-cluster by sub-cluster: what the pairs that are fixed do by a time, and what the
 * others do at most, relaxed. The time is that of the list's last, but no more than a little above the least time: first
 * what is near it is listed, then what is less near, so that the list is good before there is much to prove.
 */
#include "plan/internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far above the least time the first round goes, by what the next ones go further, and the last that has an end. */
#define FIRST 1e-5
#define GROWTH 8
#define LAST 10

struct listing {
    struct plan_walk *w;
    struct plan_dealt *d;
    struct plan_deal within, below;   /* by d->limit, and by the longest time that makes a value below the last */
    double broad, below_s;            /* where the round ends; the time of `below` */
    double done;                      /* all up to here were looked at */
    int *option;                      /* nsubs: of each pair that is fixed */
    int most_m;                       /* the most processes on a PE */
};

/* The longest time whose value is below the list's last, or no larger where equal = 1. */
static double last_time(const struct plan_walk *w, int equal)
{
    const struct hrun_choice *last = w->best.n < w->best.top ? NULL : &w->best.v[w->best.n - 1];
    double lo = last ? last->time_s : INFINITY, hi = lo;

    if (!last || (!equal && !(plan_value(&w->space, 0) < last->value)))
        return last ? -INFINITY : INFINITY;
    if (equal)
        while (hi < DBL_MAX && plan_value(&w->space, hi) <= last->value)
            hi *= 2;
    else
        lo = 0;
    for (double mid = 0.5 * lo + 0.5 * hi; mid > lo && mid < hi; mid = 0.5 * lo + 0.5 * hi) {
        double value = plan_value(&w->space, mid);

        if (equal ? value <= last->value : value < last->value)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The list has changed, or P. */
static void renew(struct listing *s)
{
    s->d->limit = fmin(s->broad, last_time(s->w, 1));
    s->below_s = fmin(s->d->limit, last_time(s->w, 0));
    if (s->d->row) {
        plan_deal_by(s->d, s->d->limit, &s->within);
        plan_deal_by(s->d, s->below_s, &s->below);
    }
}

/* No more units are done than this when sub-clusters before k are as they are and the others have `rest` processes. */
static double most_units(const struct listing *s, const struct plan_deal *x, int k, long rest, double *slope)
{
    const struct hrun_choice *c = &s->w->c;
    double done = 0;

    for (int i = 0; i < k; i++)
        if (c->pes[i])
            done += (double)c->pes[i] * c->procs[i] * (double)x->u[s->option[i]];
    return done * (1 + PLAN_ROUNDING) + plan_deal_most(s->d, x, k, (double)rest, (double)rest, slope);
}

/* May the list be changed by what begins with sub-clusters before k? Where it can be no better than the last one, by
 * the order of equals. */
static int may_enter(const struct listing *s, int k, long rest)
{
    double slope;
    int less = s->below_s == s->d->limit || most_units(s, &s->below, k, rest, &slope) >= (double)s->d->units;

    return plan_walk_may_enter(s->w, k, rest, s->most_m, less ? -INFINITY : plan_best_worst(&s->w->best));
}

/* Does w->c all units by time_s? */
static int does(const struct listing *s, double time_s)
{
    const struct hrun_choice *c = &s->w->c;
    int64_t left = s->d->units;

    for (int i = 0; i < s->w->space.nsubs; i++) {
        int64_t n = (int64_t)c->pes[i] * c->procs[i], u;

        if (!n)
            continue;
        u = hrun_line_units(&s->d->line[s->option[i]], time_s, s->d->units / n + 1);
        if (!u || s->d->row->t[s->option[i]] > time_s)
            return 0;
        left = u * n < left ? left - u * n : 0;
    }
    return left == 0;
}

static int add_whole(struct listing *s, struct hrun_error *err)
{
    struct plan_walk *w = s->w;
    double last = plan_best_worst(&w->best);

    if (!does(s, s->d->limit) || does(s, s->done) || !may_enter(s, w->space.nsubs, 0) || plan_walk_is_listed(w))
        return 0;
    if (w->n >= w->most) {
        s->d->effort = 0;
        return 0;
    }
    if (plan_walk_look(w, s->d->row, err))
        return -1;
    if (plan_best_worst(&w->best) != last)
        renew(s);
    return 0;
}

/* All that begins with the pairs of w->c before sub-cluster k and has `rest` processes from there on. */
static int add_from(struct listing *s, int k, long rest, struct hrun_error *err)
{
    struct plan_walk *w = s->w;
    struct plan_dealt *d = s->d;
    const struct plan_space *space = &w->space;
    double most, slope;
    int skip;

    if (d->effort <= 0 || (rest && k == space->nsubs))
        return 0;
    if (rest == 0)
        return add_whole(s, err);
    most = most_units(s, &s->within, k, rest, &slope);
    if (most < (double)d->units || !may_enter(s, k, rest))
        return 0;
    skip = plan_deal_choices(d, &s->within, k, slope, most - (double)d->units, rest);
    for (int o = space->first[k]; o < space->first[k + 1]; o++)
        for (int p = d->most[o], m = space->oracle->options[o].m; p >= d->fewest[o]; p--) {
            int rc;

            w->c.pes[k] = p;
            w->c.procs[k] = m;
            w->c.npes += p;
            s->option[k] = o;
            rc = add_from(s, k + 1, rest - (long)p * m, err);
            w->c.pes[k] = w->c.procs[k] = 0;
            w->c.npes -= p;
            if (rc)
                return -1;
        }
    return skip ? add_from(s, k + 1, rest, err) : 0;
}

static int list_at(void *ctx, int P, struct hrun_error *err)
{
    struct listing *s = ctx;
    const struct plan_space *space = &s->w->space;
    struct hrun_choice *c = &s->w->c;

    renew(s);
    s->most_m = 1;
    for (int o = 0; o < space->nopt; o++)
        if (s->within.u[o] && space->full[o] && space->oracle->options[o].m > s->most_m)
            s->most_m = space->oracle->options[o].m;
    memset(c->pes, 0, (size_t)space->nsubs * sizeof *c->pes);
    memset(c->procs, 0, (size_t)space->nsubs * sizeof *c->procs);
    c->npes = 0;
    c->P = P;
    return add_from(s, 0, P, err);
}

/* Round by round. */
static int list(struct listing *s, int *done, double *least, struct hrun_error *err)
{
    double from = *least;

    for (double by = FIRST;; by *= GROWTH) {
        s->broad = from > 0 && by < LAST ? from * (1 + by) : INFINITY;
        s->d->row = NULL;
        renew(s);
        if (plan_dealt_each(s->d, list_at, s, err))
            return -1;
        *done = s->d->effort > 0 && (s->d->limit < s->broad || s->broad == INFINITY);
        if (*done || s->d->effort <= 0) {
            *least = fmax(*least, *done ? s->d->limit : fmin(s->d->limit, s->d->intervals.least));
            return 0;
        }
        *least = s->done = s->broad;
    }
}

int plan_dealt_list(struct plan_walk *w, struct plan_dealt *d, long effort, int *done, double *least,
                    struct hrun_error *err)
{
    struct listing s = { .w = w, .d = d, .done = -INFINITY };
    int rc = -1;

    d->effort = effort;
    s.option = calloc((size_t)w->space.nsubs + 1, sizeof *s.option);
    if (!s.option)
        hrun_fail_nomem(err);
    else if (!plan_deal_init(&s.within, &w->space, err) && !plan_deal_init(&s.below, &w->space, err))
        rc = list(&s, done, least, err);
    free(s.option);
    plan_deal_release(&s.within);
    plan_deal_release(&s.below);
    return rc;
}
