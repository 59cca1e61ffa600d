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

/* ------------------------------------------------------------------ what is done by a time */

/* From point `from` of an envelope, an option or -1 for none, to option `to`: units for each process more. */
static double chord(const struct hrun_option *v, const int64_t *u, int from, int to, double *processes)
{
    double m = from < 0 ? 0 : v[from].m;

    *processes = v[to].m - m;
    return ((double)v[to].m * (double)u[to] - m * (from < 0 ? 0 : (double)u[from])) / *processes;
}

/* u by this time, and d->piece. */
static void set_units_by(struct plan_dealt *d, double time_s, int64_t *u)
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
            struct plan_piece *piece = &d->piece[d->npieces++];
            piece->slope = chord(v, u, k ? d->hull[k - 1] : -1, d->hull[k], &width);
            piece->width = width * s->subs[i].npes;
        }
    }
}

/* The pieces that are steepest, up to `need` processes in all: a selection by partition, without sorting. */
static double sum_steepest(struct plan_piece *v, int n, double need, double *slope)
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
static double relaxed_most_units(struct plan_dealt *d, int lo, double *slope)
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
static int limit_choices(const struct plan_dealt *d, struct plan_pack *x, int i, double slope, double slack, int P)
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
static int may_do_all(struct plan_dealt *d, double time_s, int lo)
{
    double slope;

    set_units_by(d, time_s, d->pack[0].u);
    return relaxed_most_units(d, lo, &slope) >= (double)d->units;
}

/* The largest time that a process of any line may take. */
static double latest_time(const struct plan_dealt *d)
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
static double relaxed_least_time(struct plan_dealt *d, int lo, double near)
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
static void slide_most_units(struct plan_dealt *d, struct plan_pack *x, int k, int o)
{
    const struct plan_layer *to = &x->layer[k], *after = to + 1;
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
static int list_choices(struct plan_dealt *d, struct plan_pack *x, int P)
{
    const struct plan_space *s = d->space;
    double slope, most = relaxed_most_units(d, P, &slope);

    for (int i = 0; i < s->nsubs && most >= (double)d->units; i++) {
        struct plan_layer *l = &x->layer[i];

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
static int lay_out_layers(struct plan_dealt *d, struct plan_pack *x, int P)
{
    struct plan_layer *l = x->layer;
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

int64_t plan_pack_after(const struct plan_pack *x, int k, long sum)
{
    const struct plan_layer *l = &x->layer[k];

    return sum < l->from || sum > l->to ? NEVER : x->cell[l->at + (size_t)(sum - l->from)];
}

int plan_dealt_pack(struct plan_dealt *d, int P, double time_s, struct plan_pack *x)
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
        struct plan_layer *l = &x->layer[k];
        int64_t *to = x->cell + l->at;

        for (long sum = l->from; sum <= l->to; sum++)
            to[sum - l->from] = l->skip ? plan_pack_after(x, k + 1, sum) : NEVER;
        for (int o = s->first[k]; o < s->first[k + 1]; o++)
            if (x->fewest[o] <= x->most[o]) {
                slide_most_units(d, x, k, o);
                d->effort -= CALL_COST + CELL_COST * (l->to - l->from + 1);
            }
    }
    x->met = plan_pack_after(x, 0, P) >= d->units;
    return 0;
}

void plan_dealt_best(const struct plan_dealt *d, const struct plan_pack *x, int k, long sum, int *option, int *pes)
{
    const struct plan_space *s = d->space;
    int64_t most = x->layer[k].skip ? plan_pack_after(x, k + 1, sum) : NEVER;

    *option = -1;
    *pes = 0;
    for (int o = s->first[k + 1] - 1; o >= s->first[k]; o--)
        for (long p = x->fewest[o], m = s->oracle->options[o].m; p <= x->most[o]; p++) {
            int64_t after = plan_pack_after(x, k + 1, sum - p * m);

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
    struct plan_dealt *d = ctx;
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
    const struct plan_dealt *d = ctx;

    return bound < d->limit && d->effort > 0;
}

/* Look at P where all may be done by d->limit. */
static int look_at_P(void *ctx, int P, struct hrun_error *err)
{
    struct plan_dealt *d = ctx;
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

int plan_dealt_each(struct plan_dealt *d, int (*at)(void *ctx, int P, struct hrun_error *err), void *ctx,
                    struct hrun_error *err)
{
    d->look = at;
    d->look_ctx = ctx;
    return plan_intervals_run(&d->intervals, err);
}

/* Let the walk look at the packed configuration, which does all by `by`, and lower the limit to just below its time. */
static int look_at_packed(struct plan_dealt *d, int P, double by, struct hrun_error *err)
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
        plan_dealt_best(d, &d->pack[0], k, rest, &o, &c->config.pes[k]);
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
    struct plan_dealt *d = ctx;
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
        rc = d->effort > 0 ? plan_dealt_pack(d, P, t, &d->pack[0]) : 1;
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

int plan_dealt_search(struct plan_dealt *d, long effort, struct hrun_error *err)
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
    if (plan_dealt_each(d, search_at_P, d, err))
        return -1;
    d->least = fmin(d->least, d->limit < INFINITY ? nextafter(d->limit, INFINITY) : INFINITY);
    if (d->effort <= 0 && !s->problem->P)
        d->least = fmin(d->least, d->intervals.least);
    return 0;
}

void plan_dealt_init(struct plan_dealt *d, struct plan_walk *w)
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
    for (struct plan_pack *x = d->pack; x < d->pack + 2; x++) {
        x->u = xcalloc(nopt, sizeof *x->u);
        x->fewest = xcalloc(nopt, sizeof *x->fewest);
        x->most = xcalloc(nopt, sizeof *x->most);
        x->layer = xcalloc((size_t)d->space->nsubs + 1, sizeof *x->layer);
    }
}

void plan_dealt_release(struct plan_dealt *d)
{
    plan_intervals_release(&d->intervals);
    for (struct plan_pack *x = d->pack; x < d->pack + 2; x++) {
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
