/* estimate.c - the steps from records to a network, one after the other; see estimate.h for the contracts */
#include "base/alloc.h"
#include "net/fitting.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to this number of hosts each host begins as its own class, if all pairs were measured: the system of about 2 n^2
 * columns is solved within a second. In larger networks, hosts of one kind and group begin as one class. */
enum { OWN_MOST = 32 };

struct net_state {
    struct net_work w;                 /* `given` points to the members below */
    struct net_sweep sweep;
    struct net_solution s;             /* the last solution; x NULL: none yet */
    struct hrun_net_segment *segments;
    int *class_of, *group_of;          /* of each host */
    double *trunk, *trunk_half;        /* ngroups by ngroups */
    int nclasses;
    int unbiased;                      /* 1: bias_bytes was tried and explains nothing */
    struct hrun_strvec notes;
};

static void state_release(struct net_state *e)
{
    net_sweep_release(&e->sweep);
    net_solution_release(&e->s);
    hrun_strvec_release(&e->notes);
    free(e->segments);
    free(e->class_of);
    free(e->trunk);
    free(e->w.se);
    free(e->w.out);
}

void hrun_net_quality_release(struct hrun_net_quality *q)
{
    hrun_strvec_release(&q->notes);
}

/* ---------------------------------------------------------------- the steps by turns */

/* TURNS: largest number of turns. A few are enough, as the groups of parameters depend little on each other. settled:
 * the turns end below this relative change, a tenth of the usual intervals. */
enum { TURNS = 8 };
static const double settled = 1e-3;

/* Set trips outside the main segment aside (2), or include them again. */
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

/* Solve for the present classes, from the last solution if it has as many. intervals: 1: compute half widths. */
static void solve_state(struct net_state *e, int intervals)
{
    struct net_solution s = { 0 };
    double *bias = &e->w.given.bias_bytes;

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

/* Estimate back_share and trunks_shared, each case of trunks_shared with its best back_share. Trunks are shared if this
 * explains the `both` records significantly better, or equally well with back_share 0 and not shared ones need more. */
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

/* The initial bias_bytes: the power of two times bias_least that explains fans and joins best with all other parameters
 * fixed. It may be worse than no bias at first, as the ports were fitted without a bias. 0 if no port is shared. */
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
        solve_state(e, 0);
        set_aside(e, 0);
        net_segments_fit(&e->w, &e->sweep, &e->s, e->segments, g->nsegments, &change);
        find_trunks(e, &more);
        find_back(e, &more);
        more = bias > 0 ? fmax(more, fabs(g->bias_bytes / bias - 1)) : more;
        if (fmax(change, more) < settled && !fresh)
            break;
    }
}

/* Alternate between solving and estimating factors, trunks, back_share and bias_bytes until none changes. */
static void converge(struct net_state *e)
{
    const double odd = 1e-4;       /* variance of a weighted residual: (a hundredth of NET_NOISE_REL)^2 */
    double *bias = &e->w.given.bias_bytes, without;

    solve_by_turns(e);
    if (*bias > 0 || e->unbiased || (*bias = begin_bias(e)) == 0)
        return;
    without = e->s.rss;
    solve_by_turns(e);
    /* Keep bias_bytes if it is significant. Residuals replace an unknown scatter of times. Their variance counts as at
     * least `odd`, as residuals of simulated times are not scatter. */
    if (without - e->s.rss > 3.841 * fmax(e->s.s2, e->w.scatter_known ? 1 : odd))
        return;
    *bias = 0;
    e->unbiased = 1;
    solve_by_turns(e);
}

/* ---------------------------------------------------------------- rows that do not fit */

/* Leave out records that differ from the fit by more than half of it and 10 standard errors, if they are at most 5 %.
 * Result: the number left out. */
static int leave_out_misfits(struct net_state *e)
{
    const struct hrun_net_records *r = e->w.r;
    size_t rows = 0;
    int bad = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t l = 0; l < r->n; l++) {
            double fitted, off;

            if (!net_in_use(&e->w, l) || r->v[l].time_s == 0)
                continue;
            fitted = net_fitted(&e->w, &e->s, l);
            off = fabs(r->v[l].time_s - fitted);
            rows += pass == 0;
            if (off < 10 * e->w.se[l] * sqrt(fmax(1, e->s.s2)) || off < fitted / 2)
                continue;
            bad += pass == 0;
            if (pass == 1 && 20 * (size_t)bad <= rows)
                e->w.out[l] = 1;
        }
    return 20 * (size_t)bad <= rows ? bad : 0;
}

/* ---------------------------------------------------------------- a network from the estimates */

static struct hrun_net_value value_at(const struct net_solution *s, int column)
{
    return column >= 0 ? (struct hrun_net_value){ s->x[column], s->half[column] } : (struct hrun_net_value){ 0, NAN };
}

/* A rate from a time per byte; 0 (no limit) for 0. */
static struct hrun_net_value rate_of(struct hrun_net_value per_byte)
{
    if (!(per_byte.v > 0))
        return (struct hrun_net_value){ 0, NAN };
    return (struct hrun_net_value){ 1 / per_byte.v, per_byte.half / per_byte.v / per_byte.v };
}

/* The rate of a measured pair. A pair whose time per byte is 0 gets the least rate within the interval. Without an
 * interval it gets the rate at which the longest message takes a nanosecond. */
static struct hrun_net_value beta_of(const struct net_state *e, int column)
{
    struct hrun_net_value g = value_at(&e->s, column), beta = rate_of(g);
    double longest = 1;

    if (column < 0 || beta.v > 0)
        return beta;
    for (size_t l = 0; l < e->w.r->n; l++)
        longest = fmax(longest, e->w.r->v[l].bytes);
    return (struct hrun_net_value){ g.half > 0 ? 1 / g.half : longest * 1e9, NAN };
}

static void fill_class_of(const struct net_state *e, int c, struct hrun_net_class *out)
{
    const struct net_columns *columns = &e->s.c;
    int kinds = 1;

    for (int i = 0; i < e->w.r->nhosts; i++)
        kinds = e->class_of[i] == c && e->w.r->nkinds[i] > kinds ? e->w.r->nkinds[i] : kinds;
    if (columns->C) {
        out->C_s = value_at(&e->s, columns->C[c]);
        out->t_s_per_byte = value_at(&e->s, columns->t[c]);
        out->out_bytes_per_s = rate_of(value_at(&e->s, columns->out[c]));
        out->in_bytes_per_s = rate_of(value_at(&e->s, columns->in[c]));
    }
    if (kinds != out->nkinds)
        net_class_set_kinds(out, kinds);
}

static int fill_network(const struct net_state *e, struct hrun_net *net, struct hrun_error *err)
{
    const struct net_given *g = &e->w.given;
    int n = e->nclasses, groups = g->ngroups;

    memcpy(net->class_of, e->class_of, (size_t)net->nhosts * sizeof *net->class_of);
    memcpy(net->group_of, e->group_of, (size_t)net->nhosts * sizeof *net->group_of);
    for (int c = 0; c < n; c++)
        fill_class_of(e, c, &net->classes[c]);
    for (int i = 0; i < n * n && e->s.c.C; i++) {
        net->pairs[i].L_s = value_at(&e->s, e->s.c.L[i]);
        net->pairs[i].beta_bytes_per_s = beta_of(e, e->s.c.g[i]);
    }
    for (int i = 0; i < groups * groups; i++) {
        /* Bytes in the opposite direction use the same trunk if both directions share it, as inside a group. */
        double all = g->trunks_shared || i / groups == i % groups ? 1 + g->back_share : 1;

        net->trunks[i] = rate_of((struct hrun_net_value){ e->trunk[i] / all, e->trunk_half[i] / all });
    }
    memcpy(net->segments, g->segments, (size_t)g->nsegments * sizeof *g->segments);
    net->sync_bytes = e->w.sync_bytes;
    net->back_share = g->back_share;
    net->trunks_shared = g->trunks_shared;
    net->wire_waits = e->s.c.C && net_wire_waits(&e->w, &e->s);
    net->exchange_waits = e->s.c.C && net_exchange_waits(&e->w, &e->s);
    net->bias_bytes = g->bias_bytes;
    if (net_fit_locals(&e->w, net, err) || (e->s.c.C && net_thresholds(&e->w, &e->s, &net->thresholds, err)))
        return -1;
    return hrun_net_check(net, err);
}

/* ---------------------------------------------------------------- the whole */

static int check_records(const struct hrun_net_records *r, struct hrun_error *err)
{
    size_t locals = 0;

    for (size_t l = 0; l < r->n; l++)
        locals += r->v[l].kind == HRUN_NET_LOCAL;
    if (r->nhosts < 1 || (r->nhosts == 1 && locals == 0))
        return hrun_fail(err, HRUN_ENODATA, "no message between hosts or inside a host was measured: give more "
                         "hosts, or a host with several processing elements");
    return 0;
}

static int begin_state(struct net_state *e, const struct hrun_net_records *r, struct hrun_error *err)
{
    size_t n = (size_t)r->nhosts;

    e->w.r = r;
    e->class_of = xcalloc(2 * n, sizeof *e->class_of);
    e->trunk = xcalloc(2 * n * n, sizeof *e->trunk);
    e->group_of = e->class_of + n;
    e->trunk_half = e->trunk + n * n;
    memcpy(e->group_of, r->group_of, n * sizeof *e->group_of);
    e->w.given.group_of = e->group_of;
    e->w.given.ngroups = 1;
    for (size_t i = 0; i < n; i++)
        e->w.given.ngroups = e->group_of[i] >= e->w.given.ngroups ? e->group_of[i] + 1 : e->w.given.ngroups;
    e->w.given.trunk_s_per_byte = e->trunk;
    for (size_t i = 0; i < n * n; i++)
        e->trunk_half[i] = NAN;
    net_weigh(&e->w);
    net_leave_out(&e->w, &e->notes);
    e->w.sync_bytes = net_sync(r);
    if (net_segments_find(&e->w, &e->sweep, &e->segments, &e->w.given.nsegments, err))
        return -1;
    e->w.given.segments = e->segments;
    return 0;
}

/* Make groups and classes as the records allow, and solve. */
static int classify(struct net_state *e, struct hrun_error *err)
{
    const struct hrun_net_records *r = e->w.r;
    int i, j, own;

    e->nclasses = r->nhosts;
    for (int h = 0; h < r->nhosts; h++)
        e->class_of[h] = h;
    own = r->nhosts <= OWN_MOST && net_classes_measured(&e->w, e->class_of, e->nclasses, &i, &j);
    if (!own) {
        e->nclasses = net_classes_alike(r, e->group_of, e->class_of);
        if (!net_classes_measured(&e->w, e->class_of, e->nclasses, &i, &j))
            return hrun_fail(err, HRUN_ENODATA, "no message between %s and %s was measured; measure the network again "
                             "with both hosts", r->hosts[i], r->hosts[j]);
    }
    converge(e);
    if (own && e->w.given.ngroups == 1) {
        e->w.given.ngroups = net_groups_find(&e->w, &e->s, e->group_of);
        for (int k = 0; k < r->nhosts * r->nhosts; k++) {      /* the groups have changed */
            e->trunk[k] = 0;
            e->trunk_half[k] = NAN;
        }
    }
    e->nclasses = net_classes_share(&e->w, own ? &e->s : NULL, e->class_of, &e->notes);
    converge(e);
    return 0;
}

static int estimate(struct net_state *e, struct hrun_error *err)
{
    int bad;

    if (e->w.r->nhosts == 1) {
        e->nclasses = 1;
        return 0;
    }
    if (classify(e, err))
        return -1;
    bad = leave_out_misfits(e);
    if (bad > 0) {
        hrun_strvec_pushf(&e->notes, "%d %s the others: left out", bad,
                          bad == 1 ? "time contradicts" : "times contradict");
        converge(e);
    }
    solve_state(e, 1);
    return 0;
}

int hrun_net_estimate(const struct hrun_net_records *r, struct hrun_net **out, struct hrun_net_quality *quality,
                      struct hrun_error *err)
{
    struct hrun_net_quality q = { 0 };
    autorelease(state_release) struct net_state e = { 0 };
    struct hrun_net *net;

    if (check_records(r, err) || begin_state(&e, r, err) || estimate(&e, err))
        return -1;
    net = net_make((const char *const *)r->hosts, r->nhosts, e.nclasses, e.w.given.ngroups, e.w.given.nsegments);
    if (fill_network(&e, net, err)) {
        hrun_net_destroy(net);
        return -1;
    }
    if (r->nhosts > 1)
        net_assess(&e.w, &e.s, &e.notes, &q);
    if (quality) {
        q.notes = e.notes;
        e.notes = (struct hrun_strvec)HRUN_STRVEC_INIT;
        *quality = q;
    }
    *out = net;
    return 0;
}

struct hrun_net *hrun_net_from_records(const char *text, struct hrun_error *err)
{
    struct hrun_net_records records = { 0 };
    struct hrun_net *net = NULL;

    if (hrun_net_records_parse(text, &records, err) || hrun_net_estimate(&records, &net, NULL, err))
        net = NULL;
    hrun_net_records_release(&records);
    return net;
}
