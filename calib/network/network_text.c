/* network_text.c - a network as tables for people; see calib_network.h */
#include "calib_network.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more classes than this, pairs are folded into groups of hosts. */
enum { CLASSES_SHOWN = 6 };
/* Smaller values are shown as none: below the resolution of clocks, and faster than any memory moves a MB. */
static const double NOTHING_S = 1e-9, NOTHING_S_PER_MB = 1e-6;

/* ---------------------------------------------------------------- cells */

static void add_bytes_rate(double bytes_per_s, struct hrun_buf *b)
{
    static const struct { double from; const char *unit; } units[] = {
        { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" },
    };
    size_t k = 0;

    while (k < 2 && bytes_per_s < units[k].from)
        k++;
    hrun_buf_addf(b, "%.4g %s", bytes_per_s / units[k].from, units[k].unit);
}

/* 1 unless the half width of the interval exceeds the value, else 0. */
static int is_value_known(const struct hrun_net_value *v)
{
    return !(v->v > 0 && isfinite(v->half) && v->half > v->v);
}

static void add_half(struct hrun_buf *b, const struct hrun_net_value *v)
{
    if (v->v > 0 && isfinite(v->half))
        hrun_buf_addf(b, " +-%.1f %%", 100 * v->half / v->v);
}

/* Add a cell with the text of b ("-" if there is none), and empty b. */
static void cell(struct hrun_table *t, struct hrun_buf *b)
{
    hrun_table_cell(t, "%s", b->len ? b->data : "-");
    hrun_buf_reset(b);
}

/* The same for the text of a value, followed by its interval; or a cell for an unknown value. */
static void cell_of(struct hrun_table *t, const struct hrun_net_value *v, struct hrun_buf *b)
{
    if (is_value_known(v)) {
        add_half(b, v);
    } else {
        hrun_buf_reset(b);
        hrun_buf_adds(b, "not known");
    }
    cell(t, b);
}

/* Add a cell with f times the value, in s or s/MB. A value that is surely below `nothing` is shown as 0. */
static void add_time(struct hrun_table *t, const struct hrun_net_value *v, double f, double nothing, const char *unit,
                     struct hrun_buf *b)
{
    struct hrun_net_value none = { 0, NAN };

    if (isfinite(v->half) && f * (v->v + v->half) < nothing)
        v = &none;
    hrun_buf_addf(b, "%s%s", hrun_seconds(f * v->v).s, unit);
    cell_of(t, v, b);
}

static void seconds(struct hrun_table *t, const struct hrun_net_value *v, double f, struct hrun_buf *b)
{
    add_time(t, v, f, NOTHING_S, "", b);
}

static void per_mb(struct hrun_table *t, const struct hrun_net_value *v, struct hrun_buf *b)
{
    add_time(t, v, 1e6, NOTHING_S_PER_MB, "/MB", b);
}

static void rate(struct hrun_table *t, const struct hrun_net_value *v, double f, struct hrun_buf *b)
{
    if (v->v > 0)
        add_bytes_rate(f * v->v, b);
    cell_of(t, v, b);
}

double network_long_share(const struct hrun_net *net)
{
    return 1 / net->segments[net->nsegments - 1].b;
}

static void add_folded_hosts(const struct hrun_net *net, const int *of, int which, struct hrun_buf *out)
{
    char **names = xcalloc((size_t)net->nhosts, sizeof *names);
    size_t n = 0;

    for (int h = 0; h < net->nhosts; h++)
        if (of[h] == which)
            names[n++] = net->hosts[h];
    hrun_hostlist_print(names, n, out);
    free(names);
}

/* ---------------------------------------------------------------- tables */

/* Append a table, and destroy it. */
static void end_table(struct hrun_table *t, struct hrun_buf *out)
{
    hrun_table_render(t, 2, out);
    hrun_buf_addc(out, '\n');
    hrun_table_destroy(t);
}

static void add_hosts(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrrrr");

    hrun_table_row(t, "hosts", "per message C", "per byte t", "port out", "port in", "inside: fixed", "rate");
    for (int c = 0; c < net->nclasses; c++) {
        const struct hrun_net_class *k = &net->classes[c];
        double per_byte = k->local_s_per_byte[0].v;

        add_folded_hosts(net, net->class_of, c, b);
        cell(t, b);
        seconds(t, &k->C_s, 1, b);
        per_mb(t, &k->t_s_per_byte, b);
        rate(t, &k->out_bytes_per_s, network_long_share(net), b);
        rate(t, &k->in_bytes_per_s, network_long_share(net), b);
        if (k->local_fixed_s[0].v > 0 || per_byte > 0)
            hrun_buf_adds(b, hrun_seconds(k->local_fixed_s[0].v).s);
        cell(t, b);
        if (per_byte > 0)
            add_bytes_rate(1 / per_byte, b);
        cell(t, b);
    }
    end_table(t, out);
}

/* Append a table of messages between PEs of different kinds on one host. */
static void add_kind_pairs(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrr");
    int any = 0;

    hrun_table_row(t, "inside", "from kind", "to kind", "fixed", "per byte");
    for (int c = 0; c < net->nclasses; c++)
        for (int k = 0; k < net->classes[c].nkinds * net->classes[c].nkinds && net->classes[c].nkinds > 1; k++) {
            any = 1;
            add_folded_hosts(net, net->class_of, c, b);
            cell(t, b);
            hrun_table_cell(t, "%d", k / net->classes[c].nkinds);
            hrun_table_cell(t, "%d", k % net->classes[c].nkinds);
            seconds(t, &net->classes[c].local_fixed_s[k], 1, b);
            per_mb(t, &net->classes[c].local_s_per_byte[k], b);
        }
    if (any)
        end_table(t, out);
    else
        hrun_table_destroy(t);
}

/* Find a host of class a and another one of class c. Result: 1; 0 if there are none, or none were measured. */
static int find_pair(const struct hrun_net *net, int a, int c, int *from, int *to)
{
    if (!(net->pairs[a * net->nclasses + c].beta_bytes_per_s.v > 0))
        return 0;
    for (*from = 0; *from < net->nhosts; ++*from)
        for (*to = 0; net->class_of[*from] == a && *to < net->nhosts; ++*to)
            if (*to != *from && net->class_of[*to] == c)
                return 1;
    return 0;
}

static void add_pairs(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrr");
    int from, to;

    hrun_table_row(t, "from", "to", "latency L", "bandwidth");
    for (int a = 0; a < net->nclasses; a++)
        for (int c = 0; c < net->nclasses; c++) {
            const struct hrun_net_pair *p = &net->pairs[a * net->nclasses + c];

            if (!find_pair(net, a, c, &from, &to))
                continue;
            add_folded_hosts(net, net->class_of, a, b);
            cell(t, b);
            add_folded_hosts(net, net->class_of, c, b);
            cell(t, b);
            seconds(t, &p->L_s, net->segments[0].a, b);
            rate(t, &p->beta_bytes_per_s, hrun_net_bandwidth(net, from, to) / p->beta_bytes_per_s.v, b);
        }
    end_table(t, out);
}

/* Minimum and maximum over all pairs of hosts from one group to another, and the slowest pair. */
struct network_range {
    double latency_s[2], rate[2];  /* of empty messages; bytes/s of long ones */
    int pairs, from, to;           /* pairs = 0: there is none, and the other members are unset */
};
static struct network_range switch_range(const struct hrun_net *net, int g, int h)
{
    struct network_range r = { { INFINITY, 0 }, { INFINITY, 0 }, 0, 0, 0 };

    for (int i = 0; i < net->nhosts; i++)
        for (int j = 0; j < net->nhosts; j++) {
            const struct hrun_net_pair *p = &net->pairs[net->class_of[i] * net->nclasses + net->class_of[j]];
            double latency_s = net->segments[0].a * p->L_s.v, bandwidth = hrun_net_bandwidth(net, i, j);

            if (i == j || net->group_of[i] != g || net->group_of[j] != h || isnan(bandwidth))
                continue;
            if (bandwidth < r.rate[0]) {
                r.from = i;
                r.to = j;
            }
            r.pairs++;
            r.latency_s[0] = fmin(r.latency_s[0], latency_s);
            r.latency_s[1] = fmax(r.latency_s[1], latency_s);
            r.rate[0] = fmin(r.rate[0], bandwidth);
            r.rate[1] = fmax(r.rate[1], bandwidth);
        }
    return r;
}

static void add_folded_pairs(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrrrl");

    hrun_table_row(t, "from", "to", "pairs", "latency L", "bandwidth", "slowest");
    for (int g = 0; g < net->ngroups; g++)
        for (int h = 0; h < net->ngroups; h++) {
            struct network_range r = switch_range(net, g, h);

            if (!r.pairs)
                continue;
            add_folded_hosts(net, net->group_of, g, b);
            cell(t, b);
            add_folded_hosts(net, net->group_of, h, b);
            cell(t, b);
            hrun_table_cell(t, "%d", r.pairs);
            hrun_buf_adds(b, hrun_seconds_range(r.latency_s[0], r.latency_s[1]).s);
            cell(t, b);
            add_bytes_rate(r.rate[0], b);
            hrun_buf_adds(b, " .. ");
            add_bytes_rate(r.rate[1], b);
            cell(t, b);
            hrun_table_cell(t, "%s -> %s", net->hosts[r.from], net->hosts[r.to]);
        }
    end_table(t, out);
}

/* ---------------------------------------------------------------- sentences */

static void add_trunks(const struct hrun_net *net, struct hrun_buf *out)
{
    for (int g = 0; g < net->ngroups; g++)
        for (int h = 0; h < net->ngroups; h++) {
            const struct hrun_net_value *v = &net->trunks[g * net->ngroups + h];

            if (!(v->v > 0))
                continue;
            hrun_buf_adds(out, "  trunk: all messages from ");
            add_folded_hosts(net, net->group_of, g, out);
            hrun_buf_adds(out, " to ");
            add_folded_hosts(net, net->group_of, h, out);
            hrun_buf_adds(out, " share ");
            add_bytes_rate(hrun_net_trunk_bandwidth(net, g, h), out);
            if (is_value_known(v))
                add_half(out, v);
            else
                hrun_buf_adds(out, ", or another rate: it is not known");
            hrun_buf_addc(out, '\n');
        }
}

static void add_bytes(struct hrun_buf *out, const char *before, double bytes, const char *after)
{
    if (!(bytes > 0))
        return;
    hrun_buf_addf(out, "%s%s%s", before, hrun_bytes(bytes).s, after);
}

static void add_protocols(const struct hrun_net *net, struct hrun_buf *out)
{
    const struct hrun_net_thresholds *t = &net->thresholds;

    add_bytes(out, "  messages from ", net->sync_bytes, " on wait for their receiver\n");
    add_bytes(out, "  scatter: beyond ", t->scatter_S, " (S) messages go one after the other\n");
    if (t->gather_M2 > 0) {
        add_bytes(out, "  gather: from ", t->gather_M1, " (M1)");
        add_bytes(out, " to ", t->gather_M2, " (M2) times jump: ");
        hrun_buf_addf(out, "%.0f %% of them take longer, by %s on average\n", 100 * t->irregular_share,
                      hrun_seconds(t->irregular_share > 0 ? t->irregular_s / t->irregular_share : t->irregular_s).s);
    } else {
        add_bytes(out, "  gather: beyond ", t->gather_M1, " (M1) the slope is another\n");
    }
}

/* Append the segments of message sizes, as factors on the latencies and times of bytes in the tables. */
static void add_segments(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t;

    if (net->nsegments < 2)
        return;
    t = hrun_table_create("rrr");
    hrun_table_row(t, "messages from", "latency x", "time of bytes x");
    for (int k = 0; k < net->nsegments; k++) {
        hrun_buf_adds(b, hrun_bytes(net->segments[k].from_bytes).s);
        cell(t, b);
        hrun_table_cell(t, "%.3g", net->segments[k].a / net->segments[0].a);
        hrun_table_cell(t, "%.3g", net->segments[k].b * network_long_share(net));
    }
    end_table(t, out);
}

static void add_about(const struct network_about *a, struct hrun_buf *out)
{
    const struct hrun_net_quality *q = a->quality;

    if (a->records) {
        hrun_buf_addf(out, "  %zu experiments, %s; the model misses them by %.1f %% (root mean square)", a->records,
                      hrun_seconds(a->spent_s).s, 100 * (q ? q->residual_rel : 0));
        if (q)
            hrun_buf_addf(out, ", at worst by %.1f %%", 100 * q->worst_rel);
        hrun_buf_addc(out, '\n');
    }
    for (size_t i = 0; q && i < q->notes.n; i++)
        hrun_buf_addf(out, "  note: %s\n", q->notes.v[i]);
    if (a->file)
        hrun_buf_addf(out, "  kept in %s\n", a->file);
}

static void add_unsure_warning(const struct hrun_net *net, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;

    hrun_net_add_unsure(net, &words);
    if (words.len)
        hrun_buf_addf(out, "  warning: %s\n", words.data);
}

void network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_addf(out, "network of %s behind %s", hrun_counted(net->nhosts, "host").s,
                  hrun_counted(net->ngroups, "switch").s);
    if (net->date[0])
        hrun_buf_addf(out, ", measured %s (%s, %s)", net->date, net->mpi, net->engine);
    hrun_buf_adds(out, "\n\n");
    add_hosts(net, &b, out);
    add_kind_pairs(net, &b, out);
    if (net->nhosts > 1 && (all || net->nclasses <= CLASSES_SHOWN))
        add_pairs(net, &b, out);
    else if (net->nhosts > 1)
        add_folded_pairs(net, &b, out);
    if (all)
        add_segments(net, &b, out);
    add_trunks(net, out);
    add_protocols(net, out);
    add_unsure_warning(net, out);
    add_about(about, out);
}
