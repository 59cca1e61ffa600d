/* thresholds.c - S, M1 and M2 of scatter and gather (paper 002, section 3); see breaks.h
 *
 * Paper 002 defines M1 as the size whose time is more than 10 times that of the first size, but the times of a long
 * series grow tenfold without a jump. Here both ends of the irregular region are structural breaks in the longest times
 * of the repetitions: in the region these are several times as long as a regular gather. Few or most gathers may be
 * irregular (if most are, so is the median), and some sizes in the region may be regular.
 */
#include "base/alloc.h"
#include "net/breaks.h"
#include "net/fitting.h"

#include <math.h>
#include <stdlib.h>

/* LEAST: fewest points of a piece. jump: least factor by which an escalation is longer. Paper 002's Figure 1 has
 * escalations of a factor of ten and more; other scatter stays below a factor of two. */
enum { LEAST = 3 };
static const double jump = 2;
/* Escalations have a few levels (paper 002, section 3): TCP's timer alone and with its first two doublings, which is 7
 * times as long. An excess below this part of the longest is not an escalation. */
static const double level = 0.1;

struct row {
    double bytes, time_s, max_s, mean_s, se_s;
    double regular_s;              /* longest time of a regular gather */
    int jumps;                     /* 1: the longest time is an escalation */
};

static int compare_rows(const void *a, const void *b)
{
    double x = ((const struct row *)a)->bytes, y = ((const struct row *)b)->bytes;

    return (x > y) - (x < y);
}

/* The records of one kind with the most frequent root and number of others, by size. */
struct row_set {
    const struct net_work *w;
    const struct net_solution *s;
    struct row *rows;
    size_t n;
    int root, others;
};

static int is_of_kind(const struct net_work *w, enum hrun_net_kind kind, size_t l)
{
    return w->r->v[l].kind == kind && !w->out[l];
}

/* Fill the set. Ties go to the first root, then to the largest number of others. `rows` has room for all records. */
static void collect_rows(struct row_set *set, enum hrun_net_kind kind)
{
    const struct net_work *w = set->w;
    const struct hrun_net_record *r = w->r->v;
    size_t most = 0;

    set->n = 0;
    set->root = set->others = 0;
    for (size_t m = 0; m < w->r->n; m++) {
        size_t count = 0;

        for (size_t l = 0; l < w->r->n && is_of_kind(w, kind, m); l++)
            count += is_of_kind(w, kind, l) && r[l].i == r[m].i && r[l].n == r[m].n;
        if (count > most || (count > 0 && count == most && (r[m].i < set->root ||
                                                            (r[m].i == set->root && r[m].n > set->others)))) {
            most = count;
            set->root = r[m].i;
            set->others = r[m].n;
        }
    }
    for (size_t l = 0; l < w->r->n; l++)
        if (is_of_kind(w, kind, l) && r[l].i == set->root && r[l].n == set->others)
            set->rows[set->n++] = (struct row){ r[l].bytes, r[l].time_s, r[l].max_s, r[l].mean_s, w->se[l],
                                                r[l].time_s, 0 };
    qsort(set->rows, set->n, sizeof *set->rows, compare_rows);
}

/* ---------------------------------------------------------------- lines */

/* The pieces of the times (longest = 1: of the longest times) of rows[n]. */
static int row_pieces(const struct row *rows, size_t n, int longest, int most, struct hrun_breaks *out,
                      struct hrun_error *err)
{
    autofree double *x = xmalloc(3 * n * sizeof *x);
    double *y = x + n, *weight = y + n;

    for (size_t i = 0; i < n; i++) {
        x[i] = rows[i].bytes;
        y[i] = longest ? rows[i].max_s : rows[i].time_s;
        weight[i] = 1 / fmax(rows[i].se_s, longest ? 0.1 * rows[i].max_s : 0);
    }
    return hrun_breaks_find(&(struct hrun_breaks_points){ x, y, weight, n }, most > 1 ? LEAST : 2, most, out, err);
}

/* Fit a line to the times of rows[n]. Result: 0; 1 if there are too few sizes; -1 with *err. */
static int line_of_rows(const struct row *rows, size_t n, double *c0, double *c1, struct hrun_error *err)
{
    autorelease(hrun_breaks_release) struct hrun_breaks b = { 0 };

    if (n < 2 || rows[n - 1].bytes <= rows[0].bytes)
        return 1;
    if (row_pieces(rows, n, 0, 1, &b, err))
        return -1;
    *c0 = b.c0[0];
    *c1 = b.c1[0];
    return 0;
}

/* ---------------------------------------------------------------- the model of a gather */

/* The time of a gather by the model, s: all messages flow at once, and the root processes them in order of arrival.
 * one_by_one = 1: paper 002's sum for large messages. */
static double gather_time(const struct row_set *set, double bytes, int one_by_one)
{
    const struct net_solution *s = set->s;
    autorelease(net_flows_release) struct net_flows f = net_flows_make(set->others);
    double each = net_stage_s(s, set->root, bytes), sum = 0, free_at = 0;

    f.bytes = bytes;
    f.shared_s_per_byte = net_segment(&set->w->given, bytes)->b * net_x_at(s, s->c.in[s->c.class_of[set->root]]);
    for (int m = 0; m < f.n; m++) {
        int j = (set->root + 1 + m) % set->w->r->nhosts;
        struct net_wire wire = net_wire(set->w, s, j, set->root, bytes);

        f.start_s[m] = net_stage_s(s, j, bytes) + wire.latency_s;
        f.alone_s_per_byte[m] = wire.s_per_byte;
        sum += f.start_s[m] + bytes * f.alone_s_per_byte[m];
    }
    if (one_by_one)
        return f.n * each + sum;
    net_flows_share(&f);
    for (int m = 0; m < f.n; m++) {
        int first = 0;

        for (int l = 1; l < f.n; l++)
            first = f.end_s[l] < f.end_s[first] ? l : first;
        free_at = fmax(free_at, f.end_s[first]) + each;
        f.end_s[first] = INFINITY;
    }
    return free_at;
}

/* *out: the slope of rows[n] minus that of the model, s/byte; 0 if rows[n] have no slope. */
static int find_kappa(const struct row_set *set, const struct row *rows, size_t n, int one_by_one, double *out,
                      struct hrun_error *err)
{
    double c0, c1;
    int rc = line_of_rows(rows, n, &c0, &c1, err);

    *out = 0;
    if (rc)
        return rc < 0 ? -1 : 0;
    *out = c1 - (gather_time(set, rows[n - 1].bytes, one_by_one) - gather_time(set, rows[0].bytes, one_by_one)) /
                    (rows[n - 1].bytes - rows[0].bytes);
    return 0;
}

/* ---------------------------------------------------------------- the irregular region */

/* Set regular_s of each row: the least of its median, of the model's time of messages one after the other, and of
 * regular_s of rows with more bytes. */
static void set_regular(struct row_set *set)
{
    double regular_s = INFINITY;

    for (size_t i = set->n; i-- > 0;) {
        struct row *r = &set->rows[i];

        regular_s = fmin(regular_s, fmin(r->time_s, gather_time(set, r->bytes, 1)));
        r->regular_s = regular_s;
    }
}

/* Extend the region [*from, *to) to include rows [first, end). */
static void extend(size_t *from, size_t *to, size_t first, size_t end)
{
    *from = *from < *to && *from < first ? *from : first;
    *to = *to > end ? *to : end;
}

/* Find the rows [*from, *to) of the irregular region, *from == *to if there is none. It includes the pieces of the
 * longest times with escalations at half of the sizes or more, and runs of LEAST sizes with escalations. Escalations of
 * several levels are not linear, so breaks of lines may miss them. */
static int find_irregular_region(struct row *rows, size_t n, size_t *from, size_t *to, struct hrun_error *err)
{
    autorelease(hrun_breaks_release) struct hrun_breaks b = { 0 };
    double longest_s = 0;

    *from = *to = 0;
    if (n < 2 * LEAST)
        return 0;
    for (size_t i = 0; i < n; i++)
        longest_s = fmax(longest_s, rows[i].max_s - rows[i].regular_s);
    for (size_t i = 0; i < n; i++)
        rows[i].jumps = rows[i].max_s >= jump * rows[i].regular_s &&
                        rows[i].max_s - rows[i].regular_s >= level * longest_s;
    if (row_pieces(rows, n, 1, n / LEAST > 5 ? 5 : (int)(n / LEAST), &b, err))
        return -1;
    for (int p = 0; p < b.npieces; p++) {
        size_t first = b.first[p], end = p + 1 < b.npieces ? b.first[p + 1] : n, count = 0;

        for (size_t i = first; i < end; i++)
            count += (size_t)rows[i].jumps;
        if (2 * count >= end - first)
            extend(from, to, first, end);
    }
    for (size_t i = 0, run = 0; i < n; i++) {
        run = rows[i].jumps ? run + 1 : 0;
        if (run >= LEAST)
            extend(from, to, i + 1 - run, i + 1);
    }
    /* Drop sizes without escalations at both ends. */
    while (*from < *to && !rows[*from].jumps)
        ++*from;
    while (*to > *from && !rows[*to - 1].jumps)
        --*to;
    /* Include escalations that are separated from the region by fewer sizes than a piece has. */
    for (size_t i = *from; *from < *to && i > 0 && *from - i < LEAST - 1; i--)
        if (rows[i - 1].jumps)
            *from = i - 1;
    for (size_t i = *to; *from < *to && i < n && i - *to < LEAST - 1; i++)
        if (rows[i].jumps)
            *to = i + 1;
    return 0;
}

/* The share of gathers of the sizes rows[from..to) that have escalations, and the mean excess of all gathers, s. base:
 * the line through the smaller sizes, or NULL. */
static void mean_escalation(const struct row *rows, size_t from, size_t to, const double *base, double *share,
                            double *mean_s)
{
    *share = *mean_s = 0;
    for (size_t i = from; i < to; i++) {
        const struct row *r = &rows[i];
        double low_s = fmin(r->regular_s, base ? fmax(base[0] + base[1] * r->bytes, 0) : INFINITY);
        double more_s = fmax(r->mean_s - low_s, 0);
        /* p is a lower bound, as some escalations are shorter than the longest. The share is at least 1/2 if the
         * median is an escalation. */
        double p = r->max_s > low_s ? more_s / (r->max_s - low_s) : 0;

        *share += (r->time_s >= jump * low_s ? fmax(p, 0.5) : fmin(p, 0.5)) / (double)(to - from);
        *mean_s += more_s / (double)(to - from);
    }
}

static int gather_thresholds(struct row_set *set, struct hrun_net_thresholds *out, struct hrun_error *err)
{
    struct row *rows = set->rows;
    size_t n, from, to, waiting = 0;
    double base[2], sync_bytes = set->w->sync_bytes;
    int based;

    collect_rows(set, HRUN_NET_GATHERED);
    n = set->n;
    if (n == 0)
        return 0;
    while (waiting < n && (sync_bytes == 0 || rows[waiting].bytes < sync_bytes))
        waiting++;                 /* the first size whose messages wait for the root */
    set_regular(set);
    if (find_irregular_region(rows, n, &from, &to, err))
        return -1;
    if (from == to)
        return find_kappa(set, rows, waiting, 0, &out->kappa1_s_per_byte, err);
    /* The exact ends are unknown, so the region extends to the neighbouring regular sizes. */
    out->gather_M1 = from ? rows[from - 1].bytes + 1 : rows[from].bytes;
    out->gather_M2 = to < n ? rows[to].bytes - 1 : rows[to - 1].bytes;
    based = line_of_rows(rows, from, &base[0], &base[1], err);
    if (based < 0)
        return -1;
    mean_escalation(rows, from, to, based ? NULL : base, &out->irregular_share, &out->irregular_s);
    if (find_kappa(set, rows, from, 0, &out->kappa1_s_per_byte, err))
        return -1;
    return find_kappa(set, rows + to, (to < waiting ? waiting : n) - to, 1, &out->kappa2_s_per_byte, err);
}

/* ---------------------------------------------------------------- scatter */

/* 1 if the time of a scatter is nearer to that of simultaneous messages than to the sum of their times, else 0. */
static int is_at_once(const struct row_set *set, const struct row *r)
{
    const struct net_solution *s = set->s;
    double sum = 0, longest = 0;

    for (int m = 0; m < set->others; m++) {
        struct net_wire wire = net_wire(set->w, s, set->root, (set->root + 1 + m) % set->w->r->nhosts, r->bytes);
        double one = wire.latency_s + r->bytes * wire.s_per_byte;

        sum += one;
        longest = fmax(longest, one);
    }
    longest = fmax(longest, set->others * r->bytes * net_segment(&set->w->given, r->bytes)->b *
                            net_x_at(s, s->c.out[s->c.class_of[set->root]]));
    return r->time_s < (fmin(longest, sum) + sum) / 2;
}

static int scatter_threshold(struct row_set *set, struct hrun_net_thresholds *out, struct hrun_error *err)
{
    const struct net_given *given = &set->w->given;
    autorelease(hrun_breaks_release) struct hrun_breaks b = { 0 };
    const struct row *r;
    double before, after;

    collect_rows(set, HRUN_NET_SCATTERED);
    if (set->n < 2 * LEAST)
        return 0;
    if (row_pieces(set->rows, set->n, 0, 2, &b, err))
        return -1;
    if (b.npieces < 2)
        return 0;
    r = &set->rows[b.first[1]];
    before = b.c0[0] + b.c1[0] * r->bytes;
    after = b.c0[1] + b.c1[1] * r->bytes;
    /* The threshold is a jump of more than three standard errors, unless single messages jump there, too (a new
     * segment), or messages of the largest size flow at once. */
    if (net_segment(given, r[-1].bytes) == net_segment(given, r->bytes) && after - before > 3 * r->se_s &&
        !is_at_once(set, &set->rows[set->n - 1]))
        out->scatter_S = r[-1].bytes;
    return 0;
}

int net_thresholds(const struct net_work *w, const struct net_solution *s, struct hrun_net_thresholds *out,
                   struct hrun_error *err)
{
    autofree struct row *rows = xmalloc((w->r->n + 1) * sizeof *rows);
    struct row_set set = { .w = w, .s = s, .rows = rows };

    *out = (struct hrun_net_thresholds){ 0 };
    return scatter_threshold(&set, out, err) || gather_thresholds(&set, out, err) ? -1 : 0;
}
