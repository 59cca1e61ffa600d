/* list_shares.c - a list of the best configurations with unequal shares; see search_nonseparable.h for the contracts
 *
 * At each P, list all configurations that do all units by a time, sub-cluster by sub-cluster. The knapsack of
 * search_shares.c says for each beginning whether it can be completed, so none is tried in vain. The time is that of
 * the list's last, but at first only a little above the least time, and then further above it: so the list is good
 * before there is much to prove. Configurations whose value equals that of the list's last count if they come before it
 * in the order.
 */
#include "base/alloc.h"
#include "plan/search_nonseparable.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far above the least time the first round goes, by what the next ones go further, and the last that has an end. */
#define FIRST 1e-5
#define GROWTH 8
#define LAST 10

/* Effort of a choice, in ns. */
enum { NODE_COST = 30 };

struct listing {
    struct plan_walk *w;
    struct plan_dealt *d;
    double broad;          /* where the round ends */
    double done;           /* all up to here were looked at */
    double open;           /* of a P that is too large to be listed, no time is below this */
    int left;              /* 1: at this P something may be left */
    int all_better;        /* 1: whatever is within the limit is better than the list's last */
    int *option;           /* nsubs: of each pair that is fixed */
    int most_m;            /* the most processes on a PE */
};

/* The longest time whose value is below the list's last, or no larger where equal = 1. */
static double last_time(const struct plan_walk *w, int equal)
{
    const struct hrun_choice *last = w->best.n < w->best.top ? NULL : w->best.v[w->best.n - 1];
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

/* The list has changed, or P: pack again, what may enter the list and what is better than its last. */
static void pack_again(struct listing *s, int P)
{
    struct plan_dealt *d = s->d;
    double below = last_time(s->w, 0);
    int too_large;

    d->limit = fmin(s->broad, last_time(s->w, 1));
    s->all_better = below >= d->limit;
    too_large = (!s->all_better && plan_dealt_pack(d, P, below, &d->pack[1])) ||
                plan_dealt_pack(d, P, d->limit, &d->pack[0]);
    s->left = !too_large && d->pack[0].met;
    if (too_large)
        s->open = fmin(s->open, d->intervals.least);
}

/* Can what begins with sub-clusters before k and has `rest` processes from there on do all units? */
static int can_do_all(const struct listing *s, const struct plan_pack *x, int k, long rest)
{
    const struct hrun_choice *c = &s->w->c;
    int64_t units = x->met ? plan_pack_after(x, k, rest) : -1;

    for (int i = 0; i < k && units >= 0; i++)
        units += c->config.pes[i] ? (int64_t)c->config.pes[i] * c->config.procs[i] * x->u[s->option[i]] : 0;
    return units >= s->d->units;
}

/* Does w->c all units by time_s? */
static int does_all_by(const struct listing *s, double time_s)
{
    const struct hrun_choice *c = &s->w->c;
    int64_t left = s->d->units;

    for (int i = 0; i < s->w->space.nsubs; i++) {
        int64_t n = (int64_t)c->config.pes[i] * c->config.procs[i], u;

        if (!n)
            continue;
        u = hrun_line_units(&s->d->line[s->option[i]], time_s, s->d->units / n + 1);
        if (!u || s->d->row->t[s->option[i]] > time_s)
            return 0;
        left = u * n < left ? left - u * n : 0;
    }
    return left == 0;
}

static int look_at_listed(struct listing *s, struct hrun_error *err)
{
    struct plan_walk *w = s->w;
    double last = plan_best_worst(&w->best);

    if (!does_all_by(s, s->d->limit) || does_all_by(s, s->done) || plan_walk_is_listed(w))
        return 0;
    if (w->n >= w->most) {
        s->d->effort = 0;
        return 0;
    }
    if (plan_walk_look(w, s->d->row, err))
        return -1;
    if (plan_best_worst(&w->best) != last)
        pack_again(s, w->c.P);
    return 0;
}

static int list_from(struct listing *s, int k, long rest, struct hrun_error *err);

/* Sub-cluster k with p PEs of option o, and all that may follow. */
static int list_with_pair(struct listing *s, int k, int o, int p, long rest, struct hrun_error *err)
{
    struct hrun_choice *c = &s->w->c;
    int rc;

    c->config.pes[k] = p;
    c->config.procs[k] = p ? s->w->space.oracle->options[o].m : 0;
    c->npes += p;
    s->option[k] = o;
    rc = list_from(s, k + 1, rest - (long)p * c->config.procs[k], err);
    c->npes -= p;
    c->config.pes[k] = c->config.procs[k] = 0;
    return rc;
}

/* All that begins with the pairs of w->c before sub-cluster k and has `rest` processes from there on: first by the
 * choice by which most is done, then, as where none is better, about in the order of equals. */
static int list_from(struct listing *s, int k, long rest, struct hrun_error *err)
{
    const struct plan_dealt *d = s->d;
    const struct plan_space *space = &s->w->space;
    const struct plan_pack *x = &d->pack[0];
    int best = -2, pes = 0, better;

    s->d->effort -= NODE_COST;
    if (!s->left || d->effort <= 0 || !can_do_all(s, x, k, rest))
        return 0;
    better = s->all_better || can_do_all(s, &d->pack[1], k, rest);
    if (!plan_walk_may_enter(s->w, k, rest, s->most_m, better ? -INFINITY : plan_best_worst(&s->w->best)))
        return 0;
    if (k == space->nsubs)
        return look_at_listed(s, err);
    if (better) {
        plan_dealt_best(d, x, k, rest, &best, &pes);
        if (list_with_pair(s, k, best, pes, rest, err))
            return -1;
    }
    if (x->layer[k].skip && best != -1 && list_with_pair(s, k, -1, 0, rest, err))
        return -1;
    for (int o = space->first[k + 1] - 1; o >= space->first[k]; o--)
        for (int p = x->fewest[o]; p <= x->most[o] && s->left; p++)
            if ((o != best || p != pes) && list_with_pair(s, k, o, p, rest, err))
                return -1;
    return 0;
}

static int list_at(void *ctx, int P, struct hrun_error *err)
{
    struct listing *s = ctx;
    const struct plan_space *space = &s->w->space;

    pack_again(s, P);
    s->most_m = 1;
    for (int o = 0; o < space->nopt; o++)
        if (s->d->pack[0].fewest[o] <= s->d->pack[0].most[o] && space->oracle->options[o].m > s->most_m)
            s->most_m = space->oracle->options[o].m;
    s->w->c = (struct hrun_choice){ .config.nsubs = space->nsubs, .P = P };
    return s->left ? list_from(s, 0, P, err) : 0;
}

int plan_dealt_list(struct plan_walk *w, struct plan_dealt *d, long effort, int *done, double *least,
                    struct hrun_error *err)
{
    autofree int *option = xcalloc((size_t)w->space.nsubs + 1, sizeof *option);
    struct listing s = { .w = w, .d = d, .done = -INFINITY, .open = INFINITY, .option = option };
    double from = *least;

    d->effort = effort;
    for (double by = FIRST;; by *= GROWTH) {
        s.broad = from > 0 && by < LAST ? from * (1 + by) : INFINITY;
        d->limit = fmin(s.broad, last_time(w, 1));
        if (plan_dealt_each(d, list_at, &s, err))
            return -1;
        *done = d->effort > 0 && s.open == INFINITY && (d->limit < s.broad || s.broad == INFINITY);
        if (*done || d->effort <= 0 || s.open < INFINITY) {
            *least = fmax(*least, fmin(d->limit, fmin(s.open, *done ? INFINITY : d->intervals.least)));
            return 0;
        }
        *least = s.done = s.broad;
    }
}
