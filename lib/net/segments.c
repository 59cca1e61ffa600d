/* segments.c - the message sizes at which the protocols of an MPI library change; see fitting.h and breaks.h
 *
 * The factors of segments are common to all pairs, so the mean round trip over pairs is piecewise linear with the same
 * breaks as each pair: K + a L + a_0 L + (T + b G) M, with the means of the pairs' parameters.
 */
#include "base/alloc.h"
#include "fit/fit.h"
#include "net/breaks.h"
#include "net/fitting.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SWEPT: fewest sizes of a pair in a sweep, two pieces of three points. LEAST: fewest points of a piece; three show
 * whether they are on a line. MOST: largest number of pieces. */
enum { SWEPT = 6, LEAST = 3, MOST = 12 };

void net_sweep_release(struct net_sweep *s)
{
    free(s->bytes);
    free(s->from);
    free(s->piece);
    free(s->c0);
    *s = (struct net_sweep){ 0 };
}

/* The trips of one pair of hosts and one size. */
struct trips {
    double bytes;
    size_t pair;
    double sum_s, var;             /* var: sum of the variances */
    int n;
};

static int trips_order(const void *a, const void *b)
{
    const struct trips *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

/* Fill v with the trips with an empty reply, by size and pair. Result: their number. */
static size_t collect_trips(const struct net_work *w, struct trips *v)
{
    size_t n = 0, kept = 0;

    for (size_t l = 0; l < w->r->n; l++) {
        const struct hrun_net_record *r = &w->r->v[l];

        if (r->kind == HRUN_NET_TRIP && !w->out[l] && r->back_bytes == 0)
            v[n++] = (struct trips){ r->bytes, (size_t)r->i * (size_t)w->r->nhosts + (size_t)r->j, r->time_s,
                                     w->se[l] * w->se[l], 1 };
    }
    qsort(v, n, sizeof *v, trips_order);
    for (size_t k = 0; k < n; k++)
        if (kept > 0 && trips_order(&v[k], &v[kept - 1]) == 0) {
            v[kept - 1].sum_s += v[k].sum_s;
            v[kept - 1].var += v[k].var;
            v[kept - 1].n++;
        } else
            v[kept++] = v[k];
    return kept;
}

/* Average the pairs that have at least half as many sizes as any pair, at the sizes that these pairs all have. */
static void average_pairs(struct net_sweep *s, const struct trips *v, size_t n, size_t nhosts)
{
    size_t most = SWEPT;
    autofree size_t *count = xcalloc(nhosts * nhosts, sizeof *count);

    for (size_t k = 0; k < n; k++)
        if (++count[v[k].pair] > most)
            most = count[v[k].pair];
    s->from = xmalloc(2 * (n + 1) * sizeof *s->from);
    s->to = s->from + n + 1;
    for (size_t p = 0; p < nhosts * nhosts; p++)
        if (count[p] >= SWEPT && 2 * count[p] >= most) {
            s->from[s->npairs] = (int)(p / nhosts);
            s->to[s->npairs++] = (int)(p % nhosts);
        }
    for (size_t first = 0, end; first < n; first = end) {
        double sum = 0, var = 0;
        size_t pairs = 0;

        for (end = first; end < n && v[end].bytes == v[first].bytes; end++)
            if (count[v[end].pair] >= SWEPT && 2 * count[v[end].pair] >= most) {
                sum += v[end].sum_s / v[end].n;
                var += v[end].var / v[end].n / v[end].n;
                pairs++;
            }
        if (pairs == 0 || pairs < s->npairs)
            continue;
        s->bytes[s->n] = v[first].bytes;
        s->mean_s[s->n] = sum / (double)pairs;
        s->weight[s->n++] = (double)pairs / sqrt(var);
    }
}

/* The relative distance of the time at size m from the line through the neighbouring sizes. */
static double off_neighbours(const struct net_sweep *s, size_t m)
{
    double share = (s->bytes[m] - s->bytes[m - 1]) / (s->bytes[m + 1] - s->bytes[m - 1]);

    return fabs(s->mean_s[m] / ((1 - share) * s->mean_s[m - 1] + share * s->mean_s[m + 1]) - 1);
}

/* The relative excess of the time at size m over both neighbours, or its deficit below both; 0: neither. */
static double peak(const struct net_sweep *s, size_t m)
{
    double before = s->mean_s[m] - s->mean_s[m - 1], after = s->mean_s[m] - s->mean_s[m + 1];

    return before * after > 0 ? fmin(fabs(before), fabs(after)) / s->mean_s[m] : 0;
}

/* A temporary load disturbs all repetitions of one size alike, which shows in the scatter between neighbouring sizes.
 * This scatter is added to each standard error. Sizes with a peak of more than ODD times the scatter are left out. A
 * sweep without scatter is not changed. scatter[n]: scratch. */
static void expect_scatter(struct net_sweep *s, double *scatter)
{
    enum { ODD = 4 };
    const double gauss = 0.6745, of_three = sqrt(1.5);  /* median of |x|; deviation of x_m - (x_m-1 + x_m+1) / 2 */
    double usual;
    size_t n = 0;

    if (s->n < SWEPT)
        return;
    for (size_t m = 1; m + 1 < s->n; m++)
        scatter[m - 1] = off_neighbours(s, m);
    hrun_sort(scatter, s->n - 2);
    usual = scatter[(s->n - 2) / 2] / gauss / of_three;
    for (size_t m = 0; m < s->n; m++)
        scatter[m] = m > 0 && m + 1 < s->n ? peak(s, m) : 0;
    for (size_t m = 0; m < s->n; m++) {
        if (usual > 0 && scatter[m] > ODD * usual && s->n - m + n > SWEPT)
            continue;
        s->bytes[n] = s->bytes[m];
        s->mean_s[n] = s->mean_s[m];
        s->weight[n++] = 1 / hypot(1 / s->weight[m], usual * s->mean_s[m]);
    }
    s->n = n;
}

static struct net_sweep sweep_make(const struct net_work *w)
{
    struct net_sweep s = { 0 };
    size_t most = w->r->n + 1;
    autofree struct trips *trips = xmalloc(most * sizeof *trips);
    autofree double *scatter = xmalloc(most * sizeof *scatter);

    s.bytes = xmalloc(3 * most * sizeof *s.bytes);
    s.mean_s = s.bytes + most;
    s.weight = s.mean_s + most;
    average_pairs(&s, trips, collect_trips(w, trips), (size_t)w->r->nhosts);
    expect_scatter(&s, scatter);
    return s;
}

/* The size at which a piece begins, between the last point of the piece before and its own first point: sync_bytes if
 * between them, else the crossing of the lines if between them, else the geometric mean of the two points. */
static double boundary(const struct hrun_breaks *b, int piece, const double *x, double sync_bytes)
{
    double low = x[b->first[piece] - 1], high = x[b->first[piece]];
    double cross = (b->c0[piece] - b->c0[piece - 1]) / (b->c1[piece - 1] - b->c1[piece]);

    if (sync_bytes > low && sync_bytes <= high)
        return sync_bytes;
    if (cross > low && cross <= high)
        return cross;
    return low > 0 ? ceil(sqrt(low * high)) : high;
}

/* 1 if the root mean square of the relative residuals is at most 1e-4, which is negligible in predictions; else 0. */
static int on_lines(const struct net_sweep *s, const struct hrun_breaks *b)
{
    double sum = 0;
    int p = 0;

    for (size_t m = 0; m < s->n; m++) {
        double off;

        while (p + 1 < b->npieces && b->first[p + 1] <= m)
            p++;
        off = (s->mean_s[m] - b->c0[p] - b->c1[p] * s->bytes[m]) / s->mean_s[m];
        sum += off * off;
    }
    return sum <= 1e-8 * (double)s->n;
}

/* Find the pieces: as many as BIC selects, but no more than needed for on_lines. BIC alone would fit the rounding of a
 * simulated clock. */
static int sweep_pieces(const struct net_sweep *s, struct hrun_breaks *out, struct hrun_error *err)
{
    const struct hrun_breaks_points points = { s->bytes, s->mean_s, s->weight, s->n };
    int most = s->n / LEAST > MOST ? MOST : (int)(s->n / LEAST);

    for (int m = 1; m <= most; m++) {
        struct hrun_breaks b = { 0 };

        if (hrun_breaks_find(&points, LEAST, m, &b, err))
            return -1;
        if (m == most || on_lines(s, &b)) {
            *out = b;
            return 0;
        }
        hrun_breaks_release(&b);
    }
    return 0;
}

int net_segments_find(const struct net_work *w, struct net_sweep *sweep, struct hrun_net_segment **segments,
                      int *nsegments, struct hrun_error *err)
{
    struct net_sweep s = sweep_make(w);
    autorelease(hrun_breaks_release) struct hrun_breaks b = { 0 };
    struct hrun_net_segment *out;
    int n;

    if (s.n >= SWEPT && sweep_pieces(&s, &b, err)) {
        net_sweep_release(&s);
        return -1;
    }
    n = b.npieces > 1 ? b.npieces : 1;
    out = xcalloc((size_t)n, sizeof *out);
    s.piece = xcalloc(s.n + 1, sizeof *s.piece);
    s.c0 = xcalloc(2 * (size_t)n, sizeof *s.c0);
    s.c1 = s.c0 + n;
    for (int i = 0; i < n; i++) {
        out[i] = (struct hrun_net_segment){ i ? boundary(&b, i, s.bytes, w->sync_bytes) : 0, 1, 1 };
        s.c0[i] = b.npieces ? b.c0[i] : 0;
        s.c1[i] = b.npieces ? b.c1[i] : 0;
        for (size_t m = i ? b.first[i] : 0; m < s.n; m++)
            s.piece[m] = i;
    }
    *segments = out;
    *nsegments = n;
    *sweep = s;
    return 0;
}

int net_segments_main(const struct net_work *w, const struct hrun_net_segment *segments, int nsegments)
{
    struct net_given given = { .segments = segments, .nsegments = nsegments };
    int best = 0;
    size_t most = 0;

    for (int i = 0; i < nsegments; i++) {
        size_t count = 0;

        for (size_t l = 0; l < w->r->n; l++)
            count += w->r->v[l].kind != HRUN_NET_PAIRS && !w->out[l] && net_trial_is_row(&w->r->v[l]) &&
                     w->r->v[l].bytes > 0 && net_segment(&given, w->r->v[l].bytes) == &segments[i];
        if (count > most) {
            most = count;
            best = i;
        }
    }
    return best;
}

/* ---------------------------------------------------------------- factors */

/* Means over the pairs of a sweep. */
struct means {
    double C, L, t, g;         /* 2 C_i + 2 C_j; L; t_i + t_j; 1 / beta */
};

static struct means means_of(const struct net_sweep *sweep, const struct net_solution *s)
{
    struct means m = { 0, 0, 0, 0 };
    double n = (double)sweep->npairs;

    for (size_t p = 0; p < sweep->npairs; p++) {
        int a = s->c.class_of[sweep->from[p]], b = s->c.class_of[sweep->to[p]], ab = a * s->c.nclasses + b;

        m.C += 2 * (net_x_at(s, s->c.C[a]) + net_x_at(s, s->c.C[b])) / n;
        m.L += net_x_at(s, s->c.L[ab]) / n;
        m.t += (net_x_at(s, s->c.t[a]) + net_x_at(s, s->c.t[b])) / n;
        m.g += net_x_at(s, s->c.g[ab]) / n;
    }
    return m;
}

/* Fit a line to the points of a piece. slope = 1: its slope, for the known value at 0 bytes; 0: its value at 0 bytes,
 * for the known slope. */
static double fit_other(const struct net_sweep *s, int piece, double known, int slope)
{
    double num = 0, den = 0;

    for (size_t m = 0; m < s->n; m++)
        if (s->piece[m] == piece) {
            double w2 = s->weight[m] * s->weight[m], x = slope ? s->bytes[m] : 1;

            num += w2 * x * (s->mean_s[m] - (slope ? known : known * s->bytes[m]));
            den += w2 * x * x;
        }
    return den > 0 ? num / den : 0;
}

void net_segments_fit(const struct net_work *w, const struct net_sweep *sweep, const struct net_solution *s,
                      struct hrun_net_segment *segments, int nsegments, double *change)
{
    struct means m = means_of(sweep, s);
    int main_one = net_segments_main(w, segments, nsegments);
    double L, g;
    /* Lower bound of factors, which are above 0. */
    const double least = sqrt(DBL_EPSILON);
    /* Lower bound of b. A single message may hide its bytes (in a first packet, or a shaper's burst), but many such
     * messages share ports. */
    const double least_b = 0.5;

    *change = 0;
    if (nsegments < 2 || !(m.g > 0))
        return;
    /* Use L and g of the sweep's own first and main pieces, whose factors are 1. L and g of the solution depend on the
     * factors of the last turn: convergence would be slow. */
    L = sweep->c0[0] > m.C ? (sweep->c0[0] - m.C) / 2 : m.L;
    g = sweep->c1[main_one] > m.t ? sweep->c1[main_one] - m.t : m.g;
    if (m.L > 0)
        m.L = L;
    m.g = g;
    for (int i = 0; i < nsegments; i++) {
        double a = 1, b = 1, slope = fmax(sweep->c1[i], m.t + least_b * m.g);
        double base = slope > sweep->c1[i] ? fit_other(sweep, i, slope, 0) : sweep->c0[i];

        /* Without latency, or if the line begins below the processors' part, fit only the slope. */
        if (i > 0 && m.L > least * m.C) {
            a = (base - m.C - m.L) / m.L;
            if (a < least) {
                a = least;
                slope = fit_other(sweep, i, m.C + (1 + a) * m.L, 1);
            }
        } else if (i > 0)
            slope = fit_other(sweep, i, m.C + 2 * m.L, 1);
        if (i != main_one)
            b = fmax(least_b, (slope - m.t) / m.g);
        *change = fmax(*change, fmax(fabs(a / segments[i].a - 1), fabs(b / segments[i].b - 1)));
        segments[i].a = a;
        segments[i].b = b;
    }
}
