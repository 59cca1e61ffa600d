/* turns.c - alternate between the least squares system and the parameters that it takes as given; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* TURNS: largest number of turns, as factors of segments, trunks and the rest depend little on each other. settled:
 * they have converged when none changes by more, a tenth of the usual intervals. */
enum { TURNS = 8 };
static const double settled = 1e-3;

/* Leave out trips outside of the main segment for now (2), or include them again. */
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

/* Range of bias_bytes: from a small packet to a long message. */
static const double bias_least = 64, bias_most = 1 << 20;

void net_state_solve(struct net_state *e, int intervals)
{
    struct net_solution s = { 0 };
    double *bias = &e->w.given.bias_bytes;

    /* The last solution is usable only for as many classes. */
    net_solve(&e->w, e->class_of, e->nclasses, e->s.x && e->s.c.nclasses == e->nclasses ? &e->s : NULL, intervals, &s);
    net_solution_release(&e->s);
    e->s = s;
    if (*bias > 0 && s.c.C && s.c.bias >= 0)
        *bias = s.x[s.c.bias] = fmin(fmax(s.x[s.c.bias], bias_least), bias_most);
}

/* Estimate the trunks by the present solution; *change: the largest relative change. */
static void find_trunks(struct net_state *e, double *change)
{
    size_t n = (size_t)e->w.given.ngroups * (size_t)e->w.given.ngroups;
    autofree double *old = xmalloc(n * sizeof *old);

    memcpy(old, e->trunk, n * sizeof *old);
    net_trunks(&e->w, &e->s, e->trunk, e->trunk_half);
    for (size_t i = 0; i < n; i++)
        *change = fmax(*change, fabs(e->trunk[i] - old[i]) / fmax(fmax(e->trunk[i], old[i]), 1e-300));
}

/* The sum of squares that one parameter explains by chance (chi-square, 95 %). */
static double chance_squares(const struct net_state *e)
{
    return 3.841 * fmax(1, e->s.s2);
}

static double back_misfit(void *ctx, double share)
{
    struct net_state *e = ctx;

    e->w.given.back_share = share;
    return net_misfit(&e->w, &e->s, -1, HRUN_NET_BOTH);
}

/* Set back_share to its best value, or to 0 if that is not significant. Result: the sum of squares left. */
static double find_share(struct net_state *e)
{
    double none, best = net_search(1, back_misfit, e, &none), left = back_misfit(e, best);

    if (none - left > chance_squares(e))
        return left;
    e->w.given.back_share = 0;
    return none;
}

/* Estimate back_share and trunks_shared. Trunks are shared if that explains the `both` records significantly better,
 * each case with its best share, or equally well with a share of 0. */
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

/* The initial bias_bytes: the value, of equal steps of its logarithm, that explains fans and joins best with all other
 * parameters fixed. It may be worse than none at first, as the ports were fitted without it. 0 if nothing shares a
 * port. */
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
    const double odd = 1e-4;       /* of a variance: a hundredth of NET_NOISE_REL */
    double *bias = &e->w.given.bias_bytes, without;

    solve_by_turns(e);
    if (*bias > 0 || e->unbiased || (*bias = begin_bias(e)) == 0)
        return;
    without = e->s.rss;
    solve_by_turns(e);
    /* Keep bias_bytes if it is significant. If the scatter of times is not known, the residuals replace it, with a
     * lower bound, as residuals of simulated times are not scatter. */
    if (without - e->s.rss > 3.841 * fmax(e->s.s2, e->w.scatter_known ? 1 : odd))
        return;
    *bias = 0;
    e->unbiased = 1;
    solve_by_turns(e);
}
