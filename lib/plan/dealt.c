/* dealt.c - the best configuration whose processes get unequal shares of work; see internal.h for the contracts
 *
 * By a time T, a process of option o does u units (hrun_line_units). So at one P the question is whether p_i PEs of M_i
 * processes with sum p_i M_i = P do all units: how many do they do at most? A knapsack with exactly P places.
 * Relaxed. With any fraction of PEs it is the concave envelope of the points (|Gi| M, |Gi| M u) of each sub-cluster, the
 * steepest pieces first. Its slope at P is what one process more is worth, and what a choice of a sub-cluster is
 * below the best one, each process taken off at that worth, is lost to the whole (the bound of Lagrange). Near the least
 * T little may be lost, and few choices remain for the knapsack.
 * Knapsack. Layer by layer the most units by the number of processes, over the sums from which P can still be met
 * (level.c has the same windows). Sub-clusters go from the fewest sums to the most, so that no window is wider than
 * those before together.
 * Search. At one P, T rises from the end of what is impossible relaxed, in growing steps, as the least T is near it.
 * What is found has a time of its own, just below which the next one must be.
 */
#include "plan/internal.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How near to the least time the relaxed bounds of an interval and of a P come, but by so many halvings at most: the time
 * may be 0. */
#define NEAR_INTERVAL 1e-4
#define NEAR_P 1e-9
enum { HALVINGS = 64 };

/* The first step of T from there. */
#define FIRST_STEP 1e-6

/* No units: a sum that cannot be met. Below 0 whatever is added. */
#define NEVER (-((int64_t)1 << 62))
#define UNITS_MOST 0x1p61

/* Cells of a knapsack (8 bytes each), and what one takes, in about a ns each. */
enum { CELLS_MOST = 1 << 23, CELL_COST = 3, OPTION_COST = 16, PIECE_COST = 4, CALL_COST = 16 };

/* Windows of so many PEs are served by plain passes; wider ones by a queue. */
enum { PLAIN_PASSES = 8 };

/* Rule by blocks, and each P has a bound of its own. */
static const struct plan_tuning tuning = { 0, 1024, 1 };

/* ------------------------------------------------------------------ what is done by a time */

int plan_deal_init(struct plan_deal *x, const struct plan_space *s, struct hrun_error *err)
{
    x->u = calloc((size_t)s->nopt + 1, sizeof *x->u);
    x->hull = calloc((size_t)s->nopt + 1, sizeof *x->hull);
    x->piece = calloc((size_t)s->nopt + 1, sizeof *x->piece);
    x->first = calloc((size_t)s->nsubs + 1, sizeof *x->first);
    return x->u && x->hull && x->piece && x->first ? 0 : hrun_fail_nomem(err);
}

void plan_deal_release(struct plan_deal *x)
{
    free(x->u);
    free(x->hull);
    free(x->piece);
    free(x->first);
}

/* From point `from` of an envelope, an option or -1 for none, to option `to`: units for each process more. */
static double chord(const struct plan_dealt *d, const struct plan_deal *x, int from, int to, double *processes)
{
    const struct hrun_option *v = d->space->oracle->options;
    double m = from < 0 ? 0 : v[from].m;

    *processes = v[to].m - m;
    return ((double)v[to].m * (double)x->u[to] - m * (from < 0 ? 0 : (double)x->u[from])) / *processes;
}

void plan_deal_by(struct plan_dealt *d, double time_s, struct plan_deal *x)
{
    const struct plan_space *s = d->space;
    double width, skip;
    int n = 0;

    d->effort -= (long)s->nopt * OPTION_COST;
    for (int i = 0; i < s->nsubs; i++) {
        int on = 0;        /* points of the envelope so far */

        for (int o = s->first[i]; o < s->first[i + 1]; o++) {
            x->u[o] = 0;
            if (d->line[o].n < 1 || s->oracle->options[o].m > d->hi || (d->row && d->row->t[o] > time_s))
                continue;
            x->u[o] = hrun_line_units(&d->line[o], time_s, d->units);
            if (!x->u[o] || !s->full[o])
                continue;
            for (; on; on--) {
                int last = x->hull[on - 1], before = on > 1 ? x->hull[on - 2] : -1;
                if (chord(d, x, last, o, &skip) < chord(d, x, before, last, &skip))
                    break;
            }
            x->hull[on++] = o;
        }
        x->first[i] = n;
        for (int k = 0; k < on; k++, n++) {
            x->piece[n].slope = chord(d, x, k ? x->hull[k - 1] : -1, x->hull[k], &width);
            x->piece[n].width = width * s->subs[i].npes;
        }
    }
    x->first[s->nsubs] = n;
}

/* The pieces that are steepest, up to `need` processes in all: a selection by partition, without sorting. */
static double steepest(struct plan_piece *v, int n, double need, double *slope)
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
    return sum + PLAN_ROUNDING * gross;
}

double plan_deal_most(struct plan_dealt *d, const struct plan_deal *x, int k, double lo, double hi, double *slope)
{
    int n = x->first[d->space->nsubs] - x->first[k];
    double all = 0, gains = 0;

    d->effort -= CALL_COST + n * PIECE_COST;
    for (int j = 0; j < n; j++) {
        d->piece[j] = x->piece[x->first[k] + j];
        all += d->piece[j].width;
        gains += d->piece[j].slope > 0 ? d->piece[j].width : 0;
    }
    *slope = 0;
    return all < lo ? -INFINITY : steepest(d->piece, n, fmin(fmax(gains, lo), hi), slope);
}

int plan_deal_choices(struct plan_dealt *d, const struct plan_deal *x, int i, double slope, double slack, long rest)
{
    const struct plan_space *s = d->space;
    double best = 0;

    slack += PLAN_ROUNDING * fabs(slope) * (double)rest;
    for (int o = s->first[i]; o < s->first[i + 1]; o++)
        if (x->u[o])
            best = fmax(best, (double)s->full[o] * ((double)x->u[o] - slope));
    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        long m = s->oracle->options[o].m, most = rest / m < s->subs[i].npes ? rest / m : s->subs[i].npes;
        double each = (double)m * ((double)x->u[o] - slope), least = best - slack;

        d->fewest[o] = 1;
        d->most[o] = (int)most;
        if (!x->u[o] || (each <= 0 && least > 0) || (each > 0 && least / each > (double)most))
            d->most[o] = 0;
        else if (each > 0 && least > each)
            d->fewest[o] = (int)ceil(least / each);
        else if (each < 0 && least / each < (double)most)
            d->most[o] = (int)(least / each);
    }
    return best <= slack;
}

/* May all be done by time_s, by between lo and hi processes? */
static int can(struct plan_dealt *d, double time_s, int lo)
{
    double slope;

    plan_deal_by(d, time_s, &d->deal);
    return plan_deal_most(d, &d->deal, 0, lo, d->hi, &slope) >= (double)d->units;
}

/* The largest time that a process of any line may take. */
static double latest(const struct plan_dealt *d)
{
    double t = -INFINITY;

    for (int o = 0; o < d->space->nopt; o++) {
        const struct hrun_line *p = &d->line[o];

        if (p->n > 0)
            t = fmax(t, p->base_s + (double)(p->most < d->units ? p->most : d->units) * p->unit_s);
    }
    return fmin(t, DBL_MAX);
}

/* The time of the first unit of the quickest, and a little less. */
static double earliest(const struct plan_dealt *d)
{
    double t = INFINITY;

    for (int o = 0; o < d->space->nopt; o++)
        if (d->line[o].n > 0)
            t = fmin(t, d->line[o].base_s + d->line[o].unit_s);
    return t - fabs(t) * PLAN_ROUNDING - DBL_MIN;
}

/* A time by which all cannot be done by lo to d->hi processes, near the least by which it may; INFINITY: it cannot by
 * the limit. */
static double relaxed(struct plan_dealt *d, int lo, double near)
{
    double above = fmin(d->limit, latest(d)), below = fmax(d->intervals.least, earliest(d));

    if (!can(d, above, lo))
        return INFINITY;
    for (int k = 0; k < HALVINGS && above - below > near * fabs(above); k++) {
        double mid = 0.5 * below + 0.5 * above;

        if (can(d, mid, lo))
            above = mid;
        else
            below = mid;
    }
    return below;
}

/* ------------------------------------------------------------------ the knapsack */

/* dst[x] = max(dst[x], max over p = least..most of src[x - p m] + p m u); positions are sums: dst[0] stands for dlo. */
static void slide(struct plan_dealt *d, int64_t *dst, long dlo, long dhi, const int64_t *src, long slo, long shi, long m,
                  int64_t u, long least, long most)
{
    if (most - least < PLAIN_PASSES) {
        for (long p = least; p <= most; p++) {
            long from = slo + p * m > dlo ? slo + p * m : dlo, to = shi + p * m < dhi ? shi + p * m : dhi;
            int64_t done = p * m * u;

            for (long x = from; x <= to; x++) {
                int64_t found = src[x - p * m - slo] + done;
                if (found > dst[x - dlo])
                    dst[x - dlo] = found;
            }
        }
        return;
    }
    /* Each class of sums modulo m is a sequence of its own. A source at q gives src[q] + (x - q) u at x, so the queue
     * holds positions by falling src[q] - q u, and drops those more than `most` steps back. */
    for (long r = 0; r < m && dlo + r <= dhi; r++) {
        long x = dlo + r, q = slo + ((x - slo) % m + m) % m;
        size_t head = 0, tail = 0;

        for (; x <= dhi; x += m) {
            for (; q <= x - least * m && q <= shi; q += m) {
                int64_t key = src[q - slo] - q * u;
                if (src[q - slo] < 0)
                    continue;
                while (tail > head && src[d->queue[tail - 1] - slo] - d->queue[tail - 1] * u <= key)
                    tail--;
                d->queue[tail++] = q;
            }
            while (head < tail && d->queue[head] < x - most * m)
                head++;
            if (head < tail) {
                int64_t found = src[d->queue[head] - slo] + (x - d->queue[head]) * u;
                if (found > dst[x - dlo])
                    dst[x - dlo] = found;
            }
        }
    }
}

/* Of sub-cluster i, the fewest and the most processes that are left as a choice; 0: none is. */
static int span(const struct plan_dealt *d, int i, int skip, long *low, long *high)
{
    const struct plan_space *s = d->space;

    *low = skip ? 0 : LONG_MAX;
    *high = 0;
    for (int o = s->first[i]; o < s->first[i + 1]; o++) {
        long m = s->oracle->options[o].m;

        if (d->most[o] < d->fewest[o])
            continue;
        *low = d->fewest[o] * m < *low ? d->fewest[o] * m : *low;
        *high = d->most[o] * m > *high ? d->most[o] * m : *high;
    }
    return *low <= *high;
}

/* What is left as a choice by d->deal at P, in the order of sub-clusters with the fewest sums. 0: nothing does. */
static int list_choices(struct plan_dealt *d, int P)
{
    const struct plan_space *s = d->space;
    double slope, most = plan_deal_most(d, &d->deal, 0, P, P, &slope), slack;

    if (most < (double)d->units)
        return 0;
    slack = most - (double)d->units;
    for (int i = 0, at; i < s->nsubs; i++) {
        struct plan_layer layer = { .sub = i };

        layer.skip = plan_deal_choices(d, &d->deal, i, slope, slack, P);
        if (!span(d, i, layer.skip, &layer.low, &layer.high))
            return 0;
        for (at = i + 1; at > 1 && d->layer[at - 1].high - d->layer[at - 1].low > layer.high - layer.low; at--)
            d->layer[at] = d->layer[at - 1];
        d->layer[at] = layer;
    }
    return 1;
}

/* The windows of sums of the layers, layer 0 being that before the first sub-cluster. *met = 0: P cannot be met. Result:
 * 1: too many cells. */
static int lay_out(struct plan_dealt *d, int P, int *met, struct hrun_error *err)
{
    int n = d->space->nsubs;
    long low = 0, high = 0;
    size_t cells = 1;

    d->layer[0] = (struct plan_layer){ 0 };
    for (int j = 1; j <= n; j++) {
        low += d->layer[j].low;
        high += d->layer[j].high;
    }
    for (int j = 1; j <= n; j++) {
        struct plan_layer *l = &d->layer[j];

        low -= l->low;
        high -= l->high;
        l->from = d->layer[j - 1].from + l->low > P - high ? d->layer[j - 1].from + l->low : P - high;
        l->to = d->layer[j - 1].to + l->high < P - low ? d->layer[j - 1].to + l->high : P - low;
        *met = l->from <= l->to;
        if (!*met)
            return 0;
        l->at = cells;
        cells += (size_t)(l->to - l->from + 1);
    }
    if (cells > CELLS_MOST)
        return 1;
    if (cells > d->cells) {
        free(d->cell);
        free(d->queue);
        d->cells = 0;
        d->cell = malloc(2 * cells * sizeof *d->cell);
        d->queue = malloc(2 * cells * sizeof *d->queue);
        if (!d->cell || !d->queue)
            return hrun_fail_nomem(err);
        d->cells = 2 * cells;
    }
    return 0;
}

/* d->pes and d->procs by the way back from the last layer. */
static void trace_back(struct plan_dealt *d, long x)
{
    const struct plan_space *s = d->space;

    for (int j = s->nsubs; j > 0; j--) {
        const struct plan_layer *l = &d->layer[j], *before = l - 1;
        int64_t want = d->cell[l->at + (size_t)(x - l->from)];
        int i = l->sub, found = l->skip && x >= before->from && x <= before->to &&
                                d->cell[before->at + (size_t)(x - before->from)] == want;

        d->pes[i] = d->procs[i] = 0;
        for (int o = s->first[i + 1] - 1; o >= s->first[i] && !found; o--) {
            long m = s->oracle->options[o].m;

            for (long p = d->fewest[o]; p <= d->most[o] && !found; p++) {
                long q = x - p * m;

                found = q >= before->from && q <= before->to &&
                        d->cell[before->at + (size_t)(q - before->from)] + p * m * d->deal.u[o] == want;
                if (found) {
                    d->pes[i] = (int)p;
                    d->procs[i] = (int)m;
                }
            }
        }
        x -= (long)d->pes[i] * d->procs[i];
    }
}

/* Can all be done by time_s with P processes? Then *met = 1, by d->pes and d->procs. Result: 1: not known. */
static int knapsack(struct plan_dealt *d, int P, double time_s, int *met, struct hrun_error *err)
{
    const struct plan_space *s = d->space;
    const struct plan_layer *last = &d->layer[s->nsubs];
    int rc;

    *met = 0;
    if ((double)d->units * P > UNITS_MOST)
        return 1;
    plan_deal_by(d, time_s, &d->deal);
    if (!list_choices(d, P))
        return 0;
    rc = lay_out(d, P, met, err);
    if (rc || !*met)
        return rc;
    d->cell[0] = 0;
    for (int j = 1; j <= s->nsubs; j++) {
        struct plan_layer *l = &d->layer[j], *before = l - 1;
        int64_t *to = d->cell + l->at;
        const int64_t *from = d->cell + before->at;

        for (long x = l->from; x <= l->to; x++)
            to[x - l->from] = l->skip && x >= before->from && x <= before->to ? from[x - before->from] : NEVER;
        for (int o = s->first[l->sub]; o < s->first[l->sub + 1]; o++)
            if (d->fewest[o] <= d->most[o]) {
                slide(d, to, l->from, l->to, from, before->from, before->to, s->oracle->options[o].m, d->deal.u[o],
                      d->fewest[o], d->most[o]);
                d->effort -= CALL_COST + CELL_COST * (l->to - l->from + 1);
            }
    }
    *met = d->cell[last->at] >= d->units;
    if (*met)
        trace_back(d, P);
    return 0;
}

/* ------------------------------------------------------------------ the search */

static int bound_interval(void *ctx, int lo, int hi, int scanned, double *bound, struct hrun_error *err)
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
    *bound = relaxed(d, lo, NEAR_INTERVAL);
    return 0;
}

static int wants(void *ctx, double bound)
{
    const struct plan_dealt *d = ctx;

    return bound < d->limit && d->effort > 0;
}

/* Look at P where all may be done by d->limit. */
static int look(void *ctx, int P, struct hrun_error *err)
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
    return P <= d->units && can(d, fmin(d->limit, latest(d)), P) ? d->look(d->look_ctx, P, err) : 0;
}

int plan_dealt_each(struct plan_dealt *d, int (*at)(void *ctx, int P, struct hrun_error *err), void *ctx,
                    struct hrun_error *err)
{
    d->look = at;
    d->look_ctx = ctx;
    return plan_intervals_run(&d->intervals, err);
}

/* d->pes and d->procs do all: what takes as long matters no more. */
static int take(struct plan_dealt *d, int P, struct hrun_error *err)
{
    const struct plan_space *s = d->space;
    struct hrun_choice c = { .pes = d->pes, .procs = d->procs, .P = P };
    double time_s = -INFINITY;
    int n = 0;

    for (int o = 0; o < s->nopt; o++) {
        int i = s->oracle->options[o].sub;

        if (!d->pes[i] || d->procs[i] != s->oracle->options[o].m)
            continue;
        d->used[n] = d->line[o];
        d->used[n++].n = (int64_t)d->pes[i] * d->procs[i];
        c.npes += d->pes[i];
        time_s = fmax(time_s, d->row->t[o]);
    }
    time_s = fmax(time_s, hrun_balance(d->used, n, d->units, d->share));
    d->limit = fmin(d->limit, nextafter(time_s, -INFINITY));
    return d->found(d->found_ctx, d->row, &c, err);
}

/* The best of P, where it is below the limit. */
static int settle(void *ctx, int P, struct hrun_error *err)
{
    struct plan_dealt *d = ctx;
    double below = relaxed(d, P, NEAR_P), step = fabs(below) * FIRST_STEP;
    int found = 0, met;

    for (;;) {
        double above = fmin(d->limit, latest(d)), t = below + step;
        int rc;

        if (!(below < above))
            return 0;
        if (found)                              /* just below what was found, and then half way */
            t = found++ % 2 ? above : 0.5 * below + 0.5 * above;
        t = t > below && t < above ? t : above;
        rc = d->effort > 0 ? knapsack(d, P, t, &met, err) : 1;
        if (rc < 0)
            return -1;
        if (rc) {
            d->least = fmin(d->least, below);
            return 0;
        }
        if (met && take(d, P, err))
            return -1;
        found += met && !found;
        below = met ? below : t;
        step = fmax(4 * step, DBL_MIN);
    }
}

int plan_dealt_search(struct plan_dealt *d, long effort,
                      int (*found)(void *ctx, const struct plan_row *row, const struct hrun_choice *c,
                                   struct hrun_error *err), void *ctx, struct hrun_error *err)
{
    d->effort = effort;
    d->limit = d->least = INFINITY;
    d->found = found;
    d->found_ctx = ctx;
    if (plan_dealt_each(d, settle, d, err))
        return -1;
    d->least = fmin(d->least, d->limit < INFINITY ? nextafter(d->limit, INFINITY) : INFINITY);
    if (d->effort <= 0 && !d->space->problem->P)
        d->least = fmin(d->least, d->intervals.least);
    return 0;
}

int plan_dealt_init(struct plan_dealt *d, struct plan_space *s, struct hrun_error *err)
{
    size_t nopt = (size_t)s->nopt + 1, nsubs = (size_t)s->nsubs + 1;

    memset(d, 0, sizeof *d);
    d->space = s;
    d->intervals = (struct plan_intervals){ .space = s, .tuning = tuning, .ctx = d, .bound = bound_interval,
                                            .wants = wants, .look = look };
    d->line = calloc(nopt, sizeof *d->line);
    d->piece = calloc(nopt, sizeof *d->piece);
    d->fewest = calloc(nopt, sizeof *d->fewest);
    d->most = calloc(nopt, sizeof *d->most);
    d->layer = calloc(nsubs, sizeof *d->layer);
    d->pes = calloc(nsubs, sizeof *d->pes);
    d->procs = calloc(nsubs, sizeof *d->procs);
    d->used = calloc(nsubs, sizeof *d->used);
    d->share = calloc(nsubs, sizeof *d->share);
    if (!d->line || !d->piece || !d->fewest || !d->most || !d->layer || !d->pes || !d->procs || !d->used || !d->share)
        return hrun_fail_nomem(err);
    return plan_deal_init(&d->deal, s, err);
}

void plan_dealt_release(struct plan_dealt *d)
{
    plan_intervals_release(&d->intervals);
    plan_deal_release(&d->deal);
    free(d->line);
    free(d->piece);
    free(d->fewest);
    free(d->most);
    free(d->layer);
    free(d->cell);
    free(d->queue);
    free(d->pes);
    free(d->procs);
    free(d->used);
    free(d->share);
}
