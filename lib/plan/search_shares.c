/* search_shares.c - the best configuration with unequal shares of work; see search_nonseparable.h for the contracts
 *
 * Within a time T, a process of option o does u units (hrun_line_units). T is feasible at P if p_i PEs with M_i
 * processes each can do all units, and sum p_i M_i = P: a knapsack problem with exactly P places.
 * Relaxation. If PEs may be divided, the steepest pieces of the concave envelopes of the points (|Gi| M, |Gi| M u) of
 * each sub-cluster, up to P processes, give the largest number of units. The slope at P is the price of a process. Each
 * process pays this price; then a choice on a sub-cluster loses units against the sub-cluster's best choice (Lagrangian
 * bound). Near the least T a choice may lose few units only, so few choices remain for the knapsack.
 * Knapsack. Layers go from the last sub-cluster to the first. A layer has the largest number of units for each sum of
 * processes from which P can still be met (the windows of search_one_P.c). All windows are narrow if many choices
 * remain on one sub-cluster only.
 * Search. At one P, T rises in growing steps from the largest time that the relaxation excludes, because the least
 * feasible T is near. After a configuration is found, only shorter times are searched.
 */
#include "plan/search_nonseparable.h"

#include "base/alloc.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of the relaxation are raised by this fraction, which exceeds their rounding. */
#define ROUNDING 1e-12

/* Relative precision of the relaxed bounds of an interval and a P. HALVINGS limits the bisection if the time is 0. */
#define NEAR_INTERVAL 3e-4
#define NEAR_P 1e-9
enum { HALVINGS = 64 };

/* The first step of T from the relaxed bound, relative. */
#define FIRST_STEP 1e-6

/* NEVER marks a sum that cannot be met; it stays below 0 after units of at most UNITS_MOST are added. */
#define NEVER (-((int64_t)1 << 62))
#define UNITS_MOST 0x1p61

/* Limit of the cells of a knapsack (8 bytes each), and costs in ns, approximately. */
enum { CELLS_MOST = 1 << 23, CELL_COST = 3, OPTION_COST = 16, PIECE_COST = 4, CALL_COST = 16 };

/* For up to this many numbers of PEs, each takes a plain pass over the window; more take one pass with a queue. */
enum { PLAIN_PASSES = 8 };

/* If the oracle has no bounds of intervals, the P of the first looks grow by the fraction 1/STEPS. */
enum { STEPS = 8 };

/* The rule is evaluated by blocks, and intervals are split down to one P. */
static const struct plan_tuning tuning = { 0, 1024, 1 };

/* A straight piece of the concave envelopes: `slope` units for each of `width` processes. */
struct piece {
    double slope, width;
};

/* A sub-cluster of the knapsack; from..to: sums of processes on this and later sub-clusters. */
struct layer {
    int skip;                  /* 1: the sub-cluster may be unused */
    long low, high;            /* range of the sub-cluster's processes */
    long from, to;
    size_t at;                 /* index of the cell of sum `from` */
};

/* The knapsack for one P and one time. */
struct pack {
    int met;                   /* 1: all units can be done; 0: the other members are undefined */
    int64_t *u;                /* nopt: units of one process; 0: not usable */
    int *fewest, *most;        /* nopt: range of the remaining numbers of PEs; empty if fewest > most */
    struct layer *layer;  /* nsubs + 1 */
    int64_t *cell;             /* the largest number of units; below 0: the sum cannot be met */
    size_t cells;
};

struct dealt {
    struct plan_walk *w;       /* borrowed; collects the configurations found */
    struct plan_space *space;  /* of w */
    struct plan_intervals intervals;
    const struct plan_row *row;  /* row of the present P; NULL for an interval */
    int hi;                    /* the largest P of the interval: options with larger m are not used */
    struct hrun_line *line;    /* nopt: lines of the present P or interval */
    int64_t units;             /* all units */
    double limit;              /* longer times are not searched; callbacks may lower it */
    double least;              /* result: lower bound of all times */
    long effort;               /* remaining effort in ns, approximately */
    int (*look)(void *ctx, int P, struct hrun_error *err);
    void *look_ctx;
    struct pack pack[2];  /* 0: for `limit`; 1: for values better than the list's last, in a listing only */
    int *hull;                 /* nopt: scratch */
    struct piece *piece;  /* npieces: pieces of the envelopes for the last time of set_units_by */
    int npieces;
    long *queue;
    size_t queued;
};

/* ------------------------------------------------------------------ units within a time */

/* Slope from point `from` of an envelope, an option or -1 for the origin, to option `to`, in units per process. Sets
 * *processes to the difference of processes on a PE. */
static double chord(const struct hrun_option *v, const int64_t *u, int from, int to, double *processes)
{
    double m = from < 0 ? 0 : v[from].m;

    *processes = v[to].m - m;
    return ((double)v[to].m * (double)u[to] - m * (from < 0 ? 0 : (double)u[from])) / *processes;
}

/* Set u[o] to the units of a process of option o within time_s, and d->piece to the pieces of the envelopes. */
static void set_units_by(struct dealt *d, double time_s, int64_t *u)
{
    const struct plan_space *s = d->space;
    const struct hrun_option *v = s->oracle->options;
    double width, skip;

    d->effort -= (long)s->nopt * OPTION_COST;
    d->npieces = 0;
    for (int i = 0; i < s->nsubs; i++) {
        int on = 0;        /* number of points of the envelope so far */

        for (int o = s->first[i]; o < s->first[i + 1]; o++) {
            u[o] = 0;
            if (d->line[o].n < 1 || v[o].m > d->hi || (d->row && d->row->t[o] > time_s))
                continue;
            u[o] = hrun_line_units(&d->line[o], time_s, d->units);
            if (!u[o] || !s->full[o])
                continue;
            for (; on; on--) {
                int last = d->hull[on - 1], before = on > 1 ? d->hull[on - 2] : -1;
                if (chord(v, u, last, o, &skip) < chord(v, u, before, last, &skip))
                    break;
            }
            d->hull[on++] = o;
        }
        for (int k = 0; k < on; k++) {
            struct piece *piece = &d->piece[d->npieces++];
            piece->slope = chord(v, u, k ? d->hull[k - 1] : -1, d->hull[k], &width);
            piece->width = width * s->subs[i].npes;
        }
    }
}

/* The units of the steepest pieces of v[n], up to `need` processes in all. *slope: slope of the last piece used.
 * Selects by partition, without sorting; changes v. */
static double sum_steepest(struct piece *v, int n, double need, double *slope)
{
    double sum = 0, gross = 0;

    while (need > 0) {
        double pivot = v[n / 2].slope, above = 0, at = 0, units = 0;
        int kept = 0, up;

        for (int k = 0; k < n; k++) {
            above += v[k].slope > pivot ? v[k].width : 0;
            at += v[k].slope == pivot ? v[k].width : 0;
            units += v[k].slope > pivot ? v[k].slope * v[k].width : 0;
        }
        up = above >= need;
        if (!up) {
            double here = fmin(at, need - above);

            sum += units + pivot * here;
            gross += fabs(units) + fabs(pivot) * here;
            need -= above + here;
            *slope = pivot;
        }
        for (int k = 0; k < n; k++)
            if (up ? v[k].slope > pivot : v[k].slope < pivot)
                v[kept++] = v[k];
        n = kept;
    }
    return sum + ROUNDING * gross;
}

/* Upper bound of the units of lo..d->hi processes by the relaxation; -INFINITY: no room for lo processes. *slope: units
 * of one more process. Destroys the pieces. */
static double relaxed_most_units(struct dealt *d, int lo, double *slope)
{
    double all = 0, gains = 0;

    d->effort -= CALL_COST + d->npieces * PIECE_COST;
    for (int j = 0; j < d->npieces; j++) {
        all += d->piece[j].width;
        gains += d->piece[j].slope > 0 ? d->piece[j].width : 0;
    }
    *slope = 0;
    return all < lo ? -INFINITY : sum_steepest(d->piece, d->npieces, fmin(fmax(gains, lo), d->hi), slope);
}

/* Set x->fewest and x->most to the choices of sub-cluster i that lose at most `slack` units against the best choice, if
 * each process costs `slope` units. Result: 1 if sub-cluster i may be unused, else 0. */
static int limit_choices(const struct dealt *d, struct pack *x, int i, double slope, double slack, int P)
{
    const struct plan_space *s = d->space;
    double best = 0;

    slack += ROUNDING * fabs(slope) * P;
    for (int o = s->first[i]; o < s->first[i + 1]; o++)
        if (x->u[o])
            best = fmax(best, (double)s->full[o] * ((double)x->u[o] - slope));
    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        int m = s->oracle->options[o].m, most = P / m < s->subs[i].npes ? P / m : s->subs[i].npes;
        double each = m * ((double)x->u[o] - slope), least = best - slack;

        x->fewest[o] = 1;
        x->most[o] = most;
        if (!x->u[o] || (each <= 0 && least > 0) || (each > 0 && least / each > most))
            x->most[o] = 0;
        else if (each > 0 && least > each)
            x->fewest[o] = (int)ceil(least / each);
        else if (each < 0 && least / each < most)
            x->most[o] = (int)(least / each);
    }
    return best <= slack;
}

/* 1 if the relaxation allows lo to d->hi processes to do all units within time_s, else 0. */
static int may_do_all(struct dealt *d, double time_s, int lo)
{
    double slope;

    set_units_by(d, time_s, d->pack[0].u);
    return relaxed_most_units(d, lo, &slope) >= (double)d->units;
}

/* Upper bound of the time of a process over all lines. */
static double latest_time(const struct dealt *d)
{
    double t = -INFINITY;

    for (int o = 0; o < d->space->nopt; o++) {
        const struct hrun_line *p = &d->line[o];

        if (p->n > 0)
            t = fmax(t, p->base_s + (double)(p->most < d->units ? p->most : d->units) * p->unit_s);
    }
    return fmin(t, DBL_MAX);
}

/* Lower bound of the time in which lo to d->hi processes do all units, by the relaxation. near: relative precision.
 * INFINITY: they cannot within d->limit. */
static double relaxed_least_time(struct dealt *d, int lo, double near)
{
    double above = fmin(d->limit, latest_time(d)), below = INFINITY;

    for (int o = 0; o < d->space->nopt; o++)    /* time of one unit on the quickest option */
        if (d->line[o].n > 0)
            below = fmin(below, d->line[o].base_s + d->line[o].unit_s);
    below = fmax(d->intervals.least, below - fabs(below) * ROUNDING - DBL_MIN);
    if (!may_do_all(d, above, lo))
        return INFINITY;
    for (int k = 0; k < HALVINGS && above - below > near * fabs(above); k++) {
        double mid = 0.5 * below + 0.5 * above;

        if (may_do_all(d, mid, lo))
            above = mid;
        else
            below = mid;
    }
    return below;
}

/* ------------------------------------------------------------------ the knapsack */

/* Add option o of sub-cluster k: dst(sum) = max(dst(sum), max over p = least..most of src(sum - p m) + p m u). src is
 * the layer of sub-cluster k + 1. dst[0] belongs to the sum dlo, src[0] to slo. */
static void slide_most_units(struct dealt *d, struct pack *x, int k, int o)
{
    const struct layer *to = &x->layer[k], *after = to + 1;
    int64_t *dst = x->cell + to->at, u = x->u[o];
    const int64_t *src = x->cell + after->at;
    long dlo = to->from, dhi = to->to, slo = after->from, shi = after->to;
    long m = d->space->oracle->options[o].m, least = x->fewest[o], most = x->most[o];

    if (most - least < PLAIN_PASSES) {
        for (long p = least; p <= most; p++) {
            long first = slo + p * m > dlo ? slo + p * m : dlo, last = shi + p * m < dhi ? shi + p * m : dhi;
            int64_t done = p * m * u;

            for (long sum = first; sum <= last; sum++) {
                int64_t found = src[sum - p * m - slo] + done;
                if (found > dst[sum - dlo])
                    dst[sum - dlo] = found;
            }
        }
        return;
    }
    /* Sums of one class modulo m form a separate sequence. A source at q gives src(q) + (sum - q) u at sum. The queue
     * contains sources at most `most` steps back, by descending src(q) - q u. */
    for (long r = 0; r < m && dlo + r <= dhi; r++) {
        long sum = dlo + r, q = slo + ((sum - slo) % m + m) % m;
        size_t head = 0, tail = 0;

        for (; sum <= dhi; sum += m) {
            for (; q <= sum - least * m && q <= shi; q += m) {
                int64_t key = src[q - slo] - q * u;
                if (src[q - slo] < 0)
                    continue;
                while (tail > head && src[d->queue[tail - 1] - slo] - d->queue[tail - 1] * u <= key)
                    tail--;
                d->queue[tail++] = q;
            }
            while (head < tail && d->queue[head] < sum - most * m)
                head++;
            if (head < tail) {
                int64_t found = src[d->queue[head] - slo] + (sum - d->queue[head]) * u;
                if (found > dst[sum - dlo])
                    dst[sum - dlo] = found;
            }
        }
    }
}

/* Set the remaining choices at P and the ranges of the layers. Result: 0 if not all units can be done, else 1. */
static int list_choices(struct dealt *d, struct pack *x, int P)
{
    const struct plan_space *s = d->space;
    double slope, most = relaxed_most_units(d, P, &slope);

    for (int i = 0; i < s->nsubs && most >= (double)d->units; i++) {
        struct layer *l = &x->layer[i];

        l->skip = limit_choices(d, x, i, slope, most - (double)d->units, P);
        l->low = l->skip ? 0 : LONG_MAX;
        l->high = 0;
        for (int o = s->first[i]; o < s->first[i + 1]; o++) {
            long m = s->oracle->options[o].m;

            if (x->most[o] < x->fewest[o])
                continue;
            l->low = x->fewest[o] * m < l->low ? x->fewest[o] * m : l->low;
            l->high = x->most[o] * m > l->high ? x->most[o] * m : l->high;
        }
        if (l->low > l->high)
            return 0;
    }
    return most >= (double)d->units;
}

/* Set the window of each layer k, the sums of processes on sub-clusters k and later, and allocate the cells. Sets
 * x->met to 0 if P cannot be met. Result: 1 if there are too many cells, else 0. */
static int lay_out_layers(struct dealt *d, struct pack *x, int P)
{
    struct layer *l = x->layer;
    long low = 0, high = 0;
    size_t cells = 1;
    int n = d->space->nsubs;

    l[n].from = l[n].to = 0;
    l[n].at = 0;
    for (int k = 0; k < n; k++) {
        low += l[k].low;
        high += l[k].high;
    }
    for (int k = n - 1; k >= 0; k--) {
        low -= l[k].low;
        high -= l[k].high;
        l[k].from = l[k + 1].from + l[k].low > P - high ? l[k + 1].from + l[k].low : P - high;
        l[k].to = l[k + 1].to + l[k].high < P - low ? l[k + 1].to + l[k].high : P - low;
        x->met = l[k].from <= l[k].to;
        if (!x->met)
            return 0;
        l[k].at = cells;
        cells += (size_t)(l[k].to - l[k].from + 1);
    }
    if (cells > CELLS_MOST)
        return 1;
    hrun_grow(x->cell, cells, x->cells);
    hrun_grow(d->queue, cells, d->queued);
    return 0;
}

/* The largest number of units of `sum` processes on sub-clusters k and later; below 0: this sum is not possible. */
static int64_t units_after(const struct pack *x, int k, long sum)
{
    const struct layer *l = &x->layer[k];

    return sum < l->from || sum > l->to ? NEVER : x->cell[l->at + (size_t)(sum - l->from)];
}

/* Solve the knapsack for P, the P of d->row, and time_s. Result: 0; 1 if there are too many cells or sums could
 * overflow. */
static int pack_units(struct dealt *d, int P, double time_s, struct pack *x)
{
    const struct plan_space *s = d->space;
    int rc;

    x->met = 0;
    if ((double)d->units * P > UNITS_MOST)
        return 1;
    set_units_by(d, time_s, x->u);
    if (!list_choices(d, x, P))
        return 0;
    rc = lay_out_layers(d, x, P);
    if (rc || !x->met)
        return rc;
    x->cell[0] = 0;
    for (int k = s->nsubs - 1; k >= 0; k--) {
        struct layer *l = &x->layer[k];
        int64_t *to = x->cell + l->at;

        for (long sum = l->from; sum <= l->to; sum++)
            to[sum - l->from] = l->skip ? units_after(x, k + 1, sum) : NEVER;
        for (int o = s->first[k]; o < s->first[k + 1]; o++)
            if (x->fewest[o] <= x->most[o]) {
                slide_most_units(d, x, k, o);
                d->effort -= CALL_COST + CELL_COST * (l->to - l->from + 1);
            }
    }
    x->met = units_after(x, 0, P) >= d->units;
    return 0;
}

/* The choice on sub-cluster k with the most units, for `sum` processes from k on: *pes PEs of *option, -1 for none. */
static void find_best_pair(const struct dealt *d, const struct pack *x, int k, long sum, int *option, int *pes)
{
    const struct plan_space *s = d->space;
    int64_t most = x->layer[k].skip ? units_after(x, k + 1, sum) : NEVER;

    *option = -1;
    *pes = 0;
    for (int o = s->first[k + 1] - 1; o >= s->first[k]; o--)
        for (long p = x->fewest[o], m = s->oracle->options[o].m; p <= x->most[o]; p++) {
            int64_t after = units_after(x, k + 1, sum - p * m);

            if (after >= 0 && after + p * m * x->u[o] > most) {
                most = after + p * m * x->u[o];
                *option = o;
                *pes = (int)p;
            }
        }
}

/* ------------------------------------------------------------------ the search */

static int bound_by_lines(void *ctx, int lo, int hi, int scanned, double *bound, struct hrun_error *err)
{
    struct dealt *d = ctx;
    const struct hrun_oracle *oracle = d->space->oracle;

    *bound = -INFINITY;
    if (!oracle->lines_bound && !(scanned && lo == hi))
        return 0;
    if (oracle->lines_bound ? oracle->lines_bound(oracle->ctx, lo, hi, d->line, &d->units, err)
                            : oracle->lines(oracle->ctx, lo, d->line, &d->units, err))
        return -1;
    d->row = NULL;
    d->hi = hi;
    *bound = relaxed_least_time(d, lo, NEAR_INTERVAL);
    return 0;
}

static int may_be_quicker_than_limit(void *ctx, double bound)
{
    const struct dealt *d = ctx;

    return bound < d->limit && d->effort > 0;
}

/* Set row, lines and units of P, and call d->look if all units may be done within d->limit. */
static int look_at_P(void *ctx, int P, struct hrun_error *err)
{
    struct dealt *d = ctx;
    struct plan_space *s = d->space;
    const struct hrun_oracle *oracle = s->oracle;

    d->row = plan_space_row(s, P, err);
    if (!d->row)
        return -1;
    if (!d->row->rule)
        return 0;
    if (oracle->lines(oracle->ctx, P, d->line, &d->units, err))
        return -1;
    for (int o = 0; o < s->nopt; o++)
        d->line[o].n = d->row->v[o] < INFINITY ? d->line[o].n : 0;
    d->hi = P;
    return P <= d->units && may_do_all(d, fmin(d->limit, latest_time(d)), P) ? d->look(d->look_ctx, P, err) : 0;
}

/* Call `at` for each P at which all units may be done within d->limit, roughly by ascending bound, with row, line and
 * units set, until the effort is used up. d->intervals.least is then a lower bound of the times of the last P and of
 * all remaining ones. */
static int search_each_P(struct dealt *d, int (*at)(void *ctx, int P, struct hrun_error *err), void *ctx,
                    struct hrun_error *err)
{
    d->look = at;
    d->look_ctx = ctx;
    return plan_intervals_run(&d->intervals, err);
}

/* Look at the configuration of d->pack[0], which does all units within `by`, and lower d->limit to just below its
 * time. */
static int look_at_packed(struct dealt *d, int P, double by, struct hrun_error *err)
{
    const struct plan_space *s = d->space;
    struct hrun_choice *c = &d->w->c;
    struct hrun_line used[HRUN_SUBS_MAX];
    int64_t share[HRUN_SUBS_MAX];
    double time_s = -INFINITY;
    long rest = P;
    int n = 0, o;

    *c = (struct hrun_choice){ .config.nsubs = s->nsubs, .P = P };
    for (int k = 0; k < s->nsubs; k++) {
        find_best_pair(d, &d->pack[0], k, rest, &o, &c->config.pes[k]);
        c->config.procs[k] = c->config.pes[k] ? s->oracle->options[o].m : 0;
        if (!c->config.pes[k])
            continue;
        used[n] = d->line[o];
        used[n].n = (int64_t)c->config.pes[k] * c->config.procs[k];
        c->npes += c->config.pes[k];
        rest -= (long)used[n++].n;
        time_s = fmax(time_s, d->row->t[o]);
    }
    time_s = fmax(time_s, hrun_balance(used, n, d->units, share));
    d->limit = nextafter(fmin(time_s, by), -INFINITY);
    return plan_walk_is_listed(d->w) ? 0 : plan_walk_look(d->w, d->row, err);
}

/* Find the least time of P, if it is within d->limit, and look at the configurations found. */
static int search_at_P(void *ctx, int P, struct hrun_error *err)
{
    struct dealt *d = ctx;
    double below = relaxed_least_time(d, P, NEAR_P), step = fabs(below) * FIRST_STEP;
    int found = 0;

    for (;;) {
        double above = fmin(d->limit, latest_time(d)), t = below + step;
        int rc, met;

        if (!(below < above))
            return 0;
        if (found)                              /* by turns d->limit, just below the time found, and half way */
            t = found++ % 2 ? above : 0.5 * below + 0.5 * above;
        t = t > below && t < above ? t : above;
        rc = d->effort > 0 ? pack_units(d, P, t, &d->pack[0]) : 1;
        met = d->pack[0].met;
        if (rc) {
            d->least = fmin(d->least, below);
            return 0;
        }
        if (met && look_at_packed(d, P, t, err))
            return -1;
        found += met && !found;
        below = met ? below : t;
        step = fmax(4 * step, DBL_MIN);
    }
}

/* Set d->least to a lower bound of the times of all configurations, with about this effort in ns; INFINITY if none does
 * all units. Each configuration that improves on the previous ones is looked at. */
static int find_least_time(struct dealt *d, long effort, struct hrun_error *err)
{
    const struct plan_space *s = d->space;

    d->effort = effort;
    d->limit = d->least = INFINITY;
    d->look = search_at_P;
    d->look_ctx = d;
    d->intervals.least = -INFINITY;
    /* If the oracle has no bounds of intervals, each P needs one; a low limit makes bounds cheap: try some P first. */
    for (int P = 1; !s->oracle->lines_bound && !s->problem->P && P <= s->max_P; P += 1 + P / STEPS)
        if (look_at_P(d, P, err))
            return -1;
    if (search_each_P(d, search_at_P, d, err))
        return -1;
    d->least = fmin(d->least, d->limit < INFINITY ? nextafter(d->limit, INFINITY) : INFINITY);
    if (d->effort <= 0 && !s->problem->P)
        d->least = fmin(d->least, d->intervals.least);
    return 0;
}

static void dealt_init(struct dealt *d, struct plan_walk *w)
{
    size_t nopt = (size_t)w->space.nopt + 1;

    memset(d, 0, sizeof *d);
    d->w = w;
    d->space = &w->space;
    d->intervals = (struct plan_intervals){ .space = d->space, .tuning = tuning, .ctx = d, .bound = bound_by_lines,
                                            .wants = may_be_quicker_than_limit, .look = look_at_P };
    d->line = xcalloc(nopt, sizeof *d->line);
    d->hull = xcalloc(nopt, sizeof *d->hull);
    d->piece = xcalloc(nopt, sizeof *d->piece);
    for (struct pack *x = d->pack; x < d->pack + 2; x++) {
        x->u = xcalloc(nopt, sizeof *x->u);
        x->fewest = xcalloc(nopt, sizeof *x->fewest);
        x->most = xcalloc(nopt, sizeof *x->most);
        x->layer = xcalloc((size_t)d->space->nsubs + 1, sizeof *x->layer);
    }
}

static void dealt_release(struct dealt *d)
{
    plan_intervals_release(&d->intervals);
    for (struct pack *x = d->pack; x < d->pack + 2; x++) {
        free(x->u);
        free(x->fewest);
        free(x->most);
        free(x->layer);
        free(x->cell);
    }
    free(d->line);
    free(d->hull);
    free(d->piece);
    free(d->queue);
}

/* ------------------------------------------------------------------ the list
 *
 * At each P, list all configurations that do all units within a time, sub-cluster by sub-cluster. The knapsack shows
 * whether later sub-clusters can complete the choices on the first ones, so no choice is tried in vain. The first
 * round's time is just above the least time. The time grows from round to round, at most to that of the list's last
 * entry, so the list is good before the long rounds. A configuration with the value of the last entry enters if
 * plan_choice_compare puts it before this entry.
 */

/* FIRST: relative distance of the first round's time from the least time. GROWTH: factor of the distance per round.
 * LAST: a round of at least this distance has no time limit. */
#define FIRST 1e-5
#define GROWTH 8
#define LAST 10

/* Effort of one choice, in ns. */
enum { NODE_COST = 30 };

struct listing {
    struct plan_walk *w;
    struct dealt *d;
    double broad;          /* time limit of the round */
    double done;           /* time limit of the previous round, whose configurations were all looked at */
    double open;           /* lower bound of the times of P whose knapsack is too large */
    int left;              /* 1: the present P may have more entries */
    int all_better;        /* 1: all configurations within d->limit are better than the list's last */
    int option[HRUN_SUBS_MAX];  /* options of the pairs of w->c */
    int most_m;            /* the largest number of processes on a PE */
};

/* The largest time whose value is below (equal = 1: not above) the value of the list's last entry. INFINITY: the list
 * is not full; -INFINITY: there is no such time. */
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

/* After a change of the list or of P, solve the knapsacks again: pack[0] for times that may enter the list, pack[1] for
 * times better than the list's last. */
static void pack_again(struct listing *s, int P)
{
    struct dealt *d = s->d;
    double below = last_time(s->w, 0);
    int too_large;

    d->limit = fmin(s->broad, last_time(s->w, 1));
    s->all_better = below >= d->limit;
    too_large = (!s->all_better && pack_units(d, P, below, &d->pack[1])) ||
                pack_units(d, P, d->limit, &d->pack[0]);
    s->left = !too_large && d->pack[0].met;
    if (too_large)
        s->open = fmin(s->open, d->intervals.least);
}

/* 1 if w->c before sub-cluster k, with `rest` processes from k on, can do all units in the time of x, else 0. */
static int can_do_all(const struct listing *s, const struct pack *x, int k, long rest)
{
    const struct hrun_choice *c = &s->w->c;
    int64_t units = x->met ? units_after(x, k, rest) : -1;

    for (int i = 0; i < k && units >= 0; i++)
        units += c->config.pes[i] ? (int64_t)c->config.pes[i] * c->config.procs[i] * x->u[s->option[i]] : 0;
    return units >= s->d->units;
}

/* 1 if w->c does all units within time_s, else 0. */
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

/* List the configurations with the pairs of w->c before sub-cluster k and p PEs of option o on k. */
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

/* List the configurations with the pairs of w->c before sub-cluster k and `rest` processes from k on. If some of them
 * may be better than the list's last, the choice with the most units comes first. The others follow roughly in the
 * order that plan_choice_compare gives to equal values. */
static int list_from(struct listing *s, int k, long rest, struct hrun_error *err)
{
    const struct dealt *d = s->d;
    const struct plan_space *space = &s->w->space;
    const struct pack *x = &d->pack[0];
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
        find_best_pair(d, x, k, rest, &best, &pes);
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

/* Complete the list of w with about this effort in ns. *done: 1 if the list is proven; *least: raised to a lower bound
 * of the times of configurations that were left out. */
static int list_shares(struct dealt *d, long effort, int *done, double *least, struct hrun_error *err)
{
    struct listing s = { .w = d->w, .d = d, .done = -INFINITY, .open = INFINITY };
    double from = *least;

    d->effort = effort;
    for (double by = FIRST;; by *= GROWTH) {
        s.broad = from > 0 && by < LAST ? from * (1 + by) : INFINITY;
        d->limit = fmin(s.broad, last_time(d->w, 1));
        if (search_each_P(d, list_at, &s, err))
            return -1;
        *done = d->effort > 0 && s.open == INFINITY && (d->limit < s.broad || s.broad == INFINITY);
        if (*done || d->effort <= 0 || s.open < INFINITY) {
            *least = fmax(*least, fmin(d->limit, fmin(s.open, *done ? INFINITY : d->intervals.least)));
            return 0;
        }
        *least = s.done = s.broad;
    }
}

/* Effort in ns: for the least time, and for each of plan_looks.parts. */
enum { EFFORT = 300000000, PART_EFFORT = 25 };

int plan_search_shares(struct plan_walk *w, int *done, double *least, struct hrun_error *err)
{
    autorelease(dealt_release) struct dealt d;

    dealt_init(&d, w);
    if (find_least_time(&d, EFFORT, err))
        return -1;
    *least = d.least;
    return *least < INFINITY ? list_shares(&d, w->looks->parts * PART_EFFORT, done, least, err) : 0;
}
