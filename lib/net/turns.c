/* turns.c - the parameters, and what goes with them, by turns; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns in which factors of segments, trunks and the rest are found: enough where they depend little on each other.
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

/* What bias_bytes may be: from what a packet has to what a long message would have. */
static const double bias_least = 64, bias_most = 1 << 20;

void net_state_solve(struct net_state *e, int intervals)
{
    struct net_solution s = { 0 };
    double *bias = &e->w.given.bias_bytes;

    /* Beside other classes the last solution is of no use. */
    net_solve(&e->w, e->class_of, e->nclasses, e->s.x && e->s.c.nclasses == e->nclasses ? &e->s : NULL, intervals, &s);
    net_solution_release(&e->s);
    e->s = s;
    if (*bias > 0 && s.c.C && s.c.bias >= 0)
        *bias = s.x[s.c.bias] = fmin(fmax(s.x[s.c.bias], bias_least), bias_most);
}

/* The trunks by the present solution; *change: the most that one changed, relative. */
static void find_trunks(struct net_state *e, double *change)
{
    size_t n = (size_t)e->w.given.ngroups * (size_t)e->w.given.ngroups;
    autofree double *old = xmalloc(n * sizeof *old);

    memcpy(old, e->trunk, n * sizeof *old);
    net_trunks(&e->w, &e->s, e->trunk, e->trunk_half);
    for (size_t i = 0; i < n; i++)
        *change = fmax(*change, fabs(e->trunk[i] - old[i]) / fmax(fmax(e->trunk[i], old[i]), 1e-300));
}

/* The best value of a factor so far, and what it leaves. */
struct best {
    double at, least;
};

static double try_back(struct net_state *e, double value, struct best *best)
{
    double left;

    e->w.given.back_share = value;
    left = net_misfit(&e->w, &e->s, -1, HRUN_NET_BOTH);
    if (left < best->least)
        *best = (struct best){ value, left };
    return left;
}

/* What chance explains of squares (chi-square of one parameter, 95 %). */
static double chance_squares(const struct net_state *e)
{
    return 3.841 * fmax(1, e->s.s2);
}

/* Set back_share to the best that is seen: of what it is, and of a grid, refined by thirds; or to 0 where chance
 * explains as much. Result: what it leaves. */
static double find_share(struct net_state *e)
{
    double none, low, high, before = e->w.given.back_share;
    struct best best = { 0, INFINITY };
    enum { GRID = 16, REFINEMENTS = 30 };

    none = try_back(e, 0, &best);
    for (int i = 0; i <= GRID; i++)
        try_back(e, (double)i / GRID, &best);
    try_back(e, before, &best);
    low = fmax(0, best.at - 1.0 / GRID);
    high = fmin(1, best.at + 1.0 / GRID);
    for (int i = 0; i < REFINEMENTS && best.at > 0; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (try_back(e, a, &best) <= try_back(e, b, &best))
            high = b;
        else
            low = a;
    }
    e->w.given.back_share = none - best.least > chance_squares(e) ? best.at : 0;
    return e->w.given.back_share > 0 ? best.least : none;
}

/* back_share, and whether both ways share the trunks: they do if `both` records, each with the better share, say so by
 * more than chance does, or say as much without any share. */
static void find_back(struct net_state *e, double *change)
{
    struct net_given *g = &e->w.given;
    int before = g->trunks_shared;
    double back = g->back_share, misfit, apart, better;

    g->trunks_shared = 0;
    misfit = find_share(e);
    apart = g->back_share;
    g->trunks_shared = 1;
    better = misfit - find_share(e);
    if (g->ngroups < 2 ||
        !(better > chance_squares(e) || (better > -chance_squares(e) && apart > 0 && g->back_share == 0))) {
        g->trunks_shared = 0;
        g->back_share = apart;
    }
    *change = fmax(*change, fmax(fabs(g->back_share - back), g->trunks_shared != before));
}

/* Where to begin with bias_bytes: what explains fans and joins best as far as all else stays; of equal steps of its
 * logarithm. Ports fit what there is without, so that may be worse at first; 0 where nothing shares a port. */
static double begin_bias(struct net_state *e)
{
    double least = INFINITY, best = 0;
    int ports = 0;

    for (int c = 0; c < e->s.c.nclasses; c++)
        ports |= e->s.c.out[c] >= 0 || e->s.c.in[c] >= 0;
    if (!ports)
        return 0;
    for (double bias = bias_least; bias <= bias_most; bias *= 2) {
        double left;

        e->w.given.bias_bytes = bias;
        left = net_misfit(&e->w, &e->s, -1, HRUN_NET_FAN) + net_misfit(&e->w, &e->s, -1, HRUN_NET_JOIN);
        if (left < least) {
            least = left;
            best = bias;
        }
    }
    e->w.given.bias_bytes = 0;
    return best;
}

static void solve_by_turns(struct net_state *e)
{
    struct net_given *g = &e->w.given;

    for (int turn = 0; turn < TURNS; turn++) {
        double change = 0, more = 0, bias = g->bias_bytes;
        int fresh = turn == 0 && g->nsegments > 1 && e->s.x == NULL;

        set_aside(e, fresh);
        net_state_solve(e, 0);
        set_aside(e, 0);
        net_segments_fit(&e->w, &e->sweep, &e->s, e->segments, g->nsegments, &change);
        find_trunks(e, &more);
        find_back(e, &more);
        more = bias > 0 ? fmax(more, fabs(g->bias_bytes / bias - 1)) : more;
        if (fmax(change, more) < settled && !fresh)
            break;
    }
}

void net_converge(struct net_state *e)
{
    const double odd = 1e-4;       /* of a variance: a hundredth of noise_rel */
    double *bias = &e->w.given.bias_bytes, without;

    solve_by_turns(e);
    if (*bias > 0 || e->unbiased || (*bias = begin_bias(e)) == 0)
        return;
    without = e->s.rss;
    solve_by_turns(e);
    /* bias_bytes stays if it explains more than chance does. Where the scatter of times is not known, the residuals
     * stand for it; but simulated times do not scatter, and are off by other things. */
    if (without - e->s.rss > 3.841 * fmax(e->s.s2, e->w.scatter_known ? 1 : odd))
        return;
    *bias = 0;
    e->unbiased = 1;
    solve_by_turns(e);
}
