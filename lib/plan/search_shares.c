/* search_shares.c - the best configuration with unequal shares of work; see search_nonseparable.h for the contracts
 *
 * By a time T, a process of option o does u units (hrun_line_units). So at one P the question is whether p_i PEs of
 * M_i processes with sum p_i M_i = P do all units: how many do they do at most? A knapsack with exactly P places.
 * Relaxed. With any fraction of PEs it is the concave envelope of the points (|Gi| M, |Gi| M u) of each sub-cluster,
 * the steepest pieces first. Its slope at P is what one process more is worth, and what a choice of a sub-cluster is
 * below the best one, each process taken off at that worth, is lost to the whole (the bound of Lagrange). Near the
 * least T little may be lost, and few choices remain for the knapsack.
 * Knapsack. Layer by layer, from the last sub-cluster to the first, the most units by the number of processes, over the
 * sums from which P can still be met (search_one_P.c has the same windows). So where few choices remain, and many
 * on one sub-cluster alone, all windows are narrow.
 * Search. At one P, T rises from the end of what is impossible relaxed, in growing steps, as the least T is near it.
 * What is found has a time of its own, just below which the next one must be.
 */
#include "plan/search_nonseparable.h"

#include "base/alloc.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of the relaxed problem are raised by this fraction, which covers their rounding. */
#define ROUNDING 1e-12

/* How near to the least time the relaxed bounds of an interval and of a P come, relative. HALVINGS ends this where the
 * time is 0. */
#define NEAR_INTERVAL 3e-4
#define NEAR_P 1e-9
enum { HALVINGS = 64 };

/* The first step of T from there. */
#define FIRST_STEP 1e-6

/* No units: a sum that cannot be met. Below 0 whatever is added. */
#define NEVER (-((int64_t)1 << 62))
#define UNITS_MOST 0x1p61

/* Cells of a knapsack (8 bytes each), and what one takes, in about a ns each. */
enum { CELLS_MOST = 1 << 23, CELL_COST = 3, OPTION_COST = 16, PIECE_COST = 4, CALL_COST = 16 };

/* Windows of up to this many PEs are served by plain passes, wider ones by a queue. */
enum { PLAIN_PASSES = 8 };

/* Without bounds of intervals, each P that is tried first is larger than the one before by 1/STEPS of it. */
enum { STEPS = 8 };

/* Rule by blocks, and each P has a bound of its own. */
static const struct plan_tuning tuning = { 0, 1024, 1 };

/* A straight piece of the concave envelopes: `slope` units by each of `width` processes. */
struct piece {
    double slope, width;
};

/* A sub-cluster of the knapsack, and the sums of processes on it and on the later ones that matter. */
struct layer {
    int skip;                  /* 1: it may be left out */
    long low, high;            /* processes on it */
    long from, to;
    size_t at;                 /* cell of sum `from` */
};

/* What can be done at one P by one time. */
struct pack {
    int met;                   /* 1: all units; 0: the other members are undefined */
    int64_t *u;                /* nopt: units of one process; 0: not usable */
    int *fewest, *most;        /* nopt: PEs that are left as a choice; none if fewest > most */
    struct layer *layer;  /* nsubs + 1 */
    int64_t *cell;             /* the most units; below 0: the sum cannot be met */
    size_t cells;
};

struct dealt {
    struct plan_walk *w;       /* borrowed; gets what is found */
    struct plan_space *space;  /* of w */
    struct plan_intervals intervals;
    const struct plan_row *row;  /* of the P that is looked at, else NULL */
    int hi;                    /* no option with more processes on a PE is used */
    struct hrun_line *line;    /* nopt, at this P or of an interval */
    int64_t units;             /* to be done */
    double limit;              /* what takes longer does not matter; may be lowered at any time */
    double least;              /* the result: no time is below it */
    long effort;               /* ns that are left, about */
    int (*look)(void *ctx, int P, struct hrun_error *err);
    void *look_ctx;
    struct pack pack[2];  /* within the limit, and better */
    int *hull;                 /* nopt: scratch */
    struct piece *piece;  /* npieces: the envelopes at that time */
    int npieces;
    long *queue;
    size_t queued;
};

/* ------------------------------------------------------------------ what is done by a time */

/* From point `from` of an envelope, an option or -1 for none, to option `to`: units for each process more. */
static double chord(const struct hrun_option *v, const int64_t *u, int from, int to, double *processes)
{
    double m = from < 0 ? 0 : v[from].m;

    *processes = v[to].m - m;
    return ((double)v[to].m * (double)u[to] - m * (from < 0 ? 0 : (double)u[from])) / *processes;
}

/* u by this time, and d->piece. */
static void set_units_by(struct dealt *d, double time_s, int64_t *u)
{
    const struct plan_space *s = d->space;
    const struct hrun_option *v = s->oracle->options;
    double width, skip;

    d->effort -= (long)s->nopt * OPTION_COST;
    d->npieces = 0;
    for (int i = 0; i < s->nsubs; i++) {
        int on = 0;        /* points of the envelope so far */

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

/* The pieces that are steepest, up to `need` processes in all: a selection by partition, without sorting. */
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

/* No more units are done than this with lo..d->hi processes in all, -INFINITY: they do not fit. *slope: what a process
 * more is worth. Takes the pieces apart. */
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

/* Which choices of sub-cluster i fall short of its best one by no more units than `slack`, each process taken off at
 * slope: x->fewest and x->most. Result: may it be left out? */
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

/* May all be done by time_s, by between lo and d->hi processes? */
static int may_do_all(struct dealt *d, double time_s, int lo)
{
    double slope;

    set_units_by(d, time_s, d->pack[0].u);
    return relaxed_most_units(d, lo, &slope) >= (double)d->units;
}

/* The largest time that a process of any line may take. */
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

/* A time by which all cannot be done by lo to d->hi processes, near the least by which it may; INFINITY: it cannot by
 * the limit. */
static double relaxed_least_time(struct dealt *d, int lo, double near)
{
    double above = fmin(d->limit, latest_time(d)), below = INFINITY;

    for (int o = 0; o < d->space->nopt; o++)    /* the first unit of the quickest */
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

/* Add option o of sub-cluster k: dst[x] = max(dst[x], max over p = least..most of src[x - p m] + p m u), where src is
 * the layer behind it. Positions are sums: dst[0] stands for dlo. */
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
    /* Each class of sums modulo m is a sequence of its own. A source at q gives src[q] + (sum - q) u at sum, so the
     * queue holds positions by falling src[q] - q u, and drops those more than `most` steps back. */
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

/* What is left as a choice at P. 0: nothing does. */
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

/* The windows of sums of the layers, of which k has sub-clusters k.. x->met = 0: P cannot be met. Result: 1: too many
 * cells. */
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

/* The most units by sub-clusters k.., which have `sum` processes; below 0: they cannot. */
static int64_t units_after(const struct pack *x, int k, long sum)
{
    const struct layer *l = &x->layer[k];

    return sum < l->from || sum > l->to ? NEVER : x->cell[l->at + (size_t)(sum - l->from)];
}

/* The most units by time_s with P processes, whose row d->row is. Result: 0; 1: there are too many cells, or sums are
 * too large. */
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

/* The choice at sub-cluster k by which that is reached: *pes of *option, or none, which is -1. */
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

/* Look at P where all may be done by d->limit. */
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

/* Give each P at which all may be done by d->limit to `at`, about those of the least bound first, with row, line and
 * units set, until the effort is used up. Then all that was not looked at, or last, is not below d->intervals.least. */
static int search_each_P(struct dealt *d, int (*at)(void *ctx, int P, struct hrun_error *err), void *ctx,
                    struct hrun_error *err)
{
    d->look = at;
    d->look_ctx = ctx;
    return plan_intervals_run(&d->intervals, err);
}

/* Let the walk look at the packed configuration, which does all by `by`, and lower the limit to just below its time. */
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

/* Look at the best configuration of P, if its time is below the limit. */
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
        if (found)                              /* just below what was found, and then half way */
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

/* Set d->least, of all configurations, with about this effort in ns; INFINITY when none does all units. The walk looks
 * at each that is better than those before. */
static int find_least_time(struct dealt *d, long effort, struct hrun_error *err)
{
    const struct plan_space *s = d->space;

    d->effort = effort;
    d->limit = d->least = INFINITY;
    d->look = search_at_P;
    d->look_ctx = d;
    d->intervals.least = -INFINITY;
    /* Each P has to be bounded by itself then: soon, where something good is known. */
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
 * At each P, list all configurations that do all units by a time, sub-cluster by sub-cluster. The knapsack of
 * search_shares.c says for each beginning whether it can be completed, so none is tried in vain. The time is that of
 * the list's last, but at first only a little above the least time, and then further above it: so the list is good
 * before there is much to prove. Configurations whose value equals that of the list's last count if they come before it
 * in the order.
 */

/* How far above the least time the first round goes, by what the next ones go further, and the last that has an end. */
#define FIRST 1e-5
#define GROWTH 8
#define LAST 10

/* Effort of a choice, in ns. */
enum { NODE_COST = 30 };

struct listing {
    struct plan_walk *w;
    struct dealt *d;
    double broad;          /* where the round ends */
    double done;           /* all up to here were looked at */
    double open;           /* of a P that is too large to be listed, no time is below this */
    int left;              /* 1: at this P something may be left */
    int all_better;        /* 1: whatever is within the limit is better than the list's last */
    int option[HRUN_SUBS_MAX];  /* of each pair that is fixed */
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

/* Can what begins with sub-clusters before k and has `rest` processes from there on do all units? */
static int can_do_all(const struct listing *s, const struct pack *x, int k, long rest)
{
    const struct hrun_choice *c = &s->w->c;
    int64_t units = x->met ? units_after(x, k, rest) : -1;

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

/* Make the list of w the best one, by about so much effort. */
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

/* Effort in ns: for the least time, and for each part that may be asked for. */
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
