/* breaks.c - structural breaks; see breaks.h for the contract */
#include "base/alloc.h"
#include "net/breaks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A weighted regression line that is updated point by point: means, and sums about them. */
struct line {
    double weight, mean_x, mean_y, xx, xy;
    double rss;
};

/* Add a point. The sum of squares grows by the square of the point's recursive residual (its distance from the line of
 * the points before it) over its variance (Brown, Durbin and Evans, J. Roy. Stat. Soc. B 37, 1975). Nothing is
 * subtracted, so exact lines have only rounding errors. */
static void fit_add_point(struct line *l, const struct hrun_breaks_points *p, size_t i)
{
    double q = p->w ? p->w[i] * p->w[i] : 1, total = l->weight + q;
    double dx = p->x[i] - l->mean_x, dy = p->y[i] - l->mean_y, residual;

    if (l->weight > 0 && l->xx > 0) {
        residual = dy - l->xy / l->xx * dx;
        l->rss += residual * residual / (1 / q + 1 / l->weight + dx * dx / l->xx);
    } else if (l->weight > 0 && dx == 0) {
        l->rss += dy * dy / (1 / q + 1 / l->weight);
    }
    if (l->weight > 0) {
        l->xx += l->weight * q / total * dx * dx;
        l->xy += l->weight * q / total * dx * dy;
    }
    l->mean_x += q / total * dx;
    l->mean_y += q / total * dy;
    l->weight = total;
}

/* The sum of squares of the best line with a slope >= 0, which is level if the best slope is negative. */
static double rss_of(const struct line *l)
{
    return l->rss + (l->xy < 0 ? l->xy / l->xx * l->xy : 0);
}

/* For m pieces (rows) and the first e points: the least sum of squares, and the first point of the last piece. */
struct table {
    double *rss;
    size_t *from;
    size_t n;
    int most;
};

static size_t cell_at(const struct table *t, int m, size_t e)
{
    return (size_t)m * (t->n + 1) + e;
}

/* Bai and Perron, section 3. When pieces that begin at `a` are evaluated, the optimum of m - 1 pieces for the points
 * before `a` is known, so the sums of squares of pieces need not be stored. */
static void fill_table(struct table *t, const struct hrun_breaks_points *p, size_t least)
{
    for (size_t i = 0; i < (size_t)(t->most + 1) * (t->n + 1); i++)
        t->rss[i] = INFINITY;
    t->rss[0] = 0;
    for (size_t a = 0; a + least <= t->n; a++) {
        struct line l = { 0 };

        if (a && p->x[a] == p->x[a - 1])
            continue;
        for (size_t e = a; e < t->n; e++) {
            fit_add_point(&l, p, e);
            if (e + 1 - a < least || !(l.xx > 0))
                continue;
            for (int m = 1; m <= t->most; m++) {
                double rss = t->rss[cell_at(t, m - 1, a)] + rss_of(&l);

                if (rss < t->rss[cell_at(t, m, e + 1)]) {
                    t->rss[cell_at(t, m, e + 1)] = rss;
                    t->from[cell_at(t, m, e + 1)] = a;
                }
            }
        }
    }
}

/* An upper bound of the sum of squares that rounding gives exact lines: each of n updates of a mean adds at most one
 * rounding error of the largest value. */
static double rounding_rss(const struct hrun_breaks_points *p)
{
    double largest = 0, each;

    for (size_t i = 0; i < p->n; i++)
        largest = fmax(largest, fabs(p->y[i]) * (p->w ? p->w[i] : 1));
    each = (double)p->n * DBL_EPSILON * largest;
    return (double)p->n * each * each;
}

static void extract_pieces(const struct table *t, int m, const struct hrun_breaks_points *p, struct hrun_breaks *b)
{
    b->npieces = m;
    b->first = xcalloc((size_t)m, sizeof *b->first);
    b->c0 = xcalloc((size_t)m, sizeof *b->c0);
    b->c1 = xcalloc((size_t)m, sizeof *b->c1);
    for (size_t end = t->n; m > 0; end = b->first[m]) {
        struct line l = { 0 };

        b->first[m - 1] = t->from[cell_at(t, m, end)];
        m--;
        for (size_t i = b->first[m]; i < end; i++)
            fit_add_point(&l, p, i);
        b->c1[m] = fmax(0, l.xy / l.xx);
        b->c0[m] = l.mean_y - b->c1[m] * l.mean_x;
    }
}

int hrun_breaks_find(const struct hrun_breaks_points *p, size_t least, int most, struct hrun_breaks *out,
                     struct hrun_error *err)
{
    struct hrun_breaks b = { .bic = INFINITY };
    struct table t = { NULL, NULL, p->n, most };
    double n = (double)p->n, floor;
    size_t size;
    int best = 0;

    if (p->n > HRUN_BREAKS_POINTS_MAX)
        return hrun_fail(err, HRUN_EINVAL, "%zu points in one sweep of sizes: at most %d are possible", p->n,
                         HRUN_BREAKS_POINTS_MAX);
    if (p->n < least)
        return hrun_fail(err, HRUN_ENODATA, "breaks: %zu points, and a piece has at least %zu", p->n, least);
    if (p->x[0] == p->x[p->n - 1])
        return hrun_fail(err, HRUN_ENODATA, "breaks: all points have the same x: a line takes two");
    if (p->n / least < (size_t)most)
        t.most = (int)(p->n / least);
    size = (size_t)(t.most + 1) * (p->n + 1);
    t.rss = xmalloc(size * sizeof *t.rss);
    t.from = xcalloc(size, sizeof *t.from);
    fill_table(&t, p, least);
    floor = fmax(rounding_rss(p), DBL_MIN);
    for (int m = 1; m <= t.most; m++) {
        double rss = t.rss[cell_at(&t, m, p->n)], bic = n * log(fmax(rss, floor) / n) + (3 * m - 1) * log(n);

        if (isfinite(rss) && (!best || bic < b.bic)) {
            best = m;
            b.rss = rss;
            b.bic = bic;
        }
    }
    if (best) {
        extract_pieces(&t, best, p, &b);
        *out = b;
    }
    free(t.rss);
    free(t.from);
    return best ? 0 : hrun_fail(err, HRUN_EINVAL, "breaks: no line has a finite sum of squares: a time is too long or "
                                "a weight is not finite");
}

void hrun_breaks_release(struct hrun_breaks *b)
{
    free(b->first);
    free(b->c0);
    free(b->c1);
    *b = (struct hrun_breaks){ 0 };
}
