/* turns.c - the parameters, and what goes with them, by turns; see turns.h */
#include "net/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Factors of segments, trunks and the rest are found by turns; so many are enough where one follows the other little.
 * They have settled when none changes by more than this: a tenth of what the intervals are meant to be. */
enum { TURNS = 8 };
static const double settled = 1e-3;

/* Trips of sizes in segments of which nothing is known yet: out for the time being (2), or in again. */
static void set_aside(struct net_state *e, int aside)
{
    const struct net_given *g = &e->w.given;
    const struct hrun_net_segment *main_one = &g->segments[net_segments_main(&e->w, g->segments, g->nsegments)];

    for (size_t l = 0; l < e->w.r->n; l++) {
        double m = e->w.r->v[l].bytes;

        if (!aside && e->w.out[l] == 2)
            e->w.out[l] = 0;
        if (aside && !e->w.out[l] && e->w.r->v[l].kind == HRUN_NET_TRIP && m > 0 && net_segment(g, m) != main_one)
            e->w.out[l] = 2;
    }
}

int net_state_solve(struct net_state *e, int intervals, struct hrun_error *err)
{
    struct net_solution s = { 0 };

    /* Beside other classes the last solution is of no use. */
    if (net_solve(&e->w, e->class_of, e->nclasses, e->s.x && e->s.c.nclasses == e->nclasses ? &e->s : NULL, intervals,
                  &s, err))
        return -1;
    net_solution_release(&e->s);
    e->s = s;
    return 0;
}

/* The trunks by the present solution; *change: the most that one changed, relative. */
static int find_trunks(struct net_state *e, double *change, struct hrun_error *err)
{
    size_t n = (size_t)e->w.given.ngroups * (size_t)e->w.given.ngroups;
    double *old = malloc(n * sizeof *old);

    if (!old)
        return hrun_fail_nomem(err);
    memcpy(old, e->trunk, n * sizeof *old);
    if (net_trunks(&e->w, &e->s, e->trunk, e->trunk_half, err)) {
        free(old);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        *change = fmax(*change, fabs(e->trunk[i] - old[i]) / fmax(fmax(e->trunk[i], old[i]), 1e-300));
    free(old);
    return 0;
}

/* Squares of the records that tell of one of the given factors: `both` of back_share, fans and joins of bias_bytes. */
static double factor_misfit(const struct net_state *e, int bias)
{
    if (!bias)
        return net_misfit(&e->w, &e->s, -1, HRUN_NET_BOTH);
    return net_misfit(&e->w, &e->s, -1, HRUN_NET_FAN) + net_misfit(&e->w, &e->s, -1, HRUN_NET_JOIN);
}

/* The best value of a factor so far, and what it leaves. */
struct best {
    double at, least;
};

static double try_factor(struct net_state *e, int bias, double value, struct best *best)
{
    double left;

    *(bias ? &e->w.given.bias_bytes : &e->w.given.back_share) = value;
    left = factor_misfit(e, bias);
    if (left < best->least)
        *best = (struct best){ value, left };
    return left;
}

/* Set a factor to the best of low..high that is seen: of what it is, and of a grid, equal steps of its logarithm of
 * bias_bytes, refined by thirds; or to 0 where chance explains as much (chi-square of one parameter, 95 %). *change:
 * the most that one changed. */
static void find_factor(struct net_state *e, int bias, double low, double high, double *change)
{
    double *f = bias ? &e->w.given.bias_bytes : &e->w.given.back_share, before = *f, none, step;
    struct best best = { 0, INFINITY };
    enum { GRID = 16, REFINEMENTS = 30 };

    step = bias ? pow(high / low, 1.0 / GRID) : (high - low) / GRID;
    none = try_factor(e, bias, 0, &best);
    for (int i = 0; i <= GRID; i++)
        try_factor(e, bias, bias ? low * pow(step, i) : low + step * i, &best);
    try_factor(e, bias, before, &best);
    low = bias ? best.at / step : fmax(low, best.at - step);
    high = bias ? best.at * step : fmin(high, best.at + step);
    for (int i = 0; i < REFINEMENTS && best.at > 0; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (try_factor(e, bias, a, &best) <= try_factor(e, bias, b, &best))
            high = b;
        else
            low = a;
    }
    *f = none - best.least > 3.841 * fmax(1, e->s.s2) ? best.at : 0;
    *change = fmax(*change, fabs(*f - before) / fmax(bias ? fmax(*f, before) : 1, 1e-300));
}

/* back_share, and whether both ways share the trunks: they do if `both` records, each with the better share, say so by
 * more than chance does, or say as much without any share. */
static void find_back(struct net_state *e, double *change)
{
    struct net_given *g = &e->w.given;
    int before = g->trunks_shared;
    double back = g->back_share, chance = 3.841 * fmax(1, e->s.s2), misfit, apart, better, ignored = 0;

    g->trunks_shared = 0;
    find_factor(e, 0, 0, 1, &ignored);
    misfit = factor_misfit(e, 0);
    apart = g->back_share;
    g->trunks_shared = 1;
    find_factor(e, 0, 0, 1, &ignored);
    better = misfit - factor_misfit(e, 0);
    if (g->ngroups < 2 || !(better > chance || (better > -chance && apart > 0 && g->back_share == 0))) {
        g->trunks_shared = 0;
        g->back_share = apart;
    }
    *change = fmax(*change, fmax(fabs(g->back_share - back), g->trunks_shared != before));
}

/* What comes back with messages on the other direction's way, and how much shorter ways are preferred: between what a
 * packet has and what a long one would. */
static void find_factors(struct net_state *e, double *change)
{
    find_back(e, change);
    find_factor(e, 1, 64, 1 << 20, change);
}

int net_settle(struct net_state *e, struct hrun_error *err)
{
    struct net_given *g = &e->w.given;

    for (int turn = 0; turn < TURNS; turn++) {
        double change = 0, more = 0;
        int fresh = turn == 0 && g->nsegments > 1 && e->s.x == NULL;

        set_aside(e, fresh);
        if (net_state_solve(e, 0, err))
            return -1;
        set_aside(e, 0);
        net_segments_fit(&e->w, &e->sweep, &e->s, e->segments, g->nsegments, &change);
        if (find_trunks(e, &more, err))
            return -1;
        find_factors(e, &more);
        if (fmax(change, more) < settled && !fresh)
            break;
    }
    return 0;
}
