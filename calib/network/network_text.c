/* network_text.c - a network as tables of text; see calib_network.h */
#include "calib_network.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* With more classes than this, pairs are folded into groups of hosts. */
enum { CLASSES_SHOWN = 6 };
/* Smaller values are shown as 0: they are below the resolution of clocks, or beyond the speed of any memory. */
static const double NOTHING_S = 1e-9, NOTHING_S_PER_MB = 1e-6;

/* ---------------------------------------------------------------- cells */

static struct hrun_text rate_text(double bytes_per_s)
{
    double unit = bytes_per_s >= 1e9 ? 1e9 : bytes_per_s >= 1e6 ? 1e6 : 1e3;
    struct hrun_text out;

    snprintf(out.s, sizeof out.s, "%.4g %s", bytes_per_s / unit, unit == 1e9 ? "GB/s" : unit == 1e6 ? "MB/s" : "kB/s");
    return out;
}

/* 0 if the half width of the interval exceeds the value, else 1. */
static int is_value_known(const struct hrun_net_value *v)
{
    return !(v->v > 0 && isfinite(v->half) && v->half > v->v);
}

/* The text of a value, followed by its interval if there is one. */
static struct hrun_text with_half(const struct hrun_net_value *v, struct hrun_text text)
{
    size_t len = strlen(text.s);

    if (v->v > 0 && isfinite(v->half))
        snprintf(text.s + len, sizeof text.s - len, " +-%.1f %%", 100 * v->half / v->v);
    return text;
}

/* Add a cell with f times the value, in s or, with unit = "/MB", in s/MB. */
static void add_time(struct hrun_table *t, const struct hrun_net_value *v, double f, const char *unit)
{
    struct hrun_net_value none = { 0, NAN };
    struct hrun_text text;

    if (isfinite(v->half) && f * (v->v + v->half) < (*unit ? NOTHING_S_PER_MB : NOTHING_S))
        v = &none;
    snprintf(text.s, sizeof text.s, "%s%s", hrun_seconds(f * v->v).s, unit);
    hrun_table_cell(t, "%s", is_value_known(v) ? with_half(v, text).s : "not known");
}

/* Add a cell with f times the value, in bytes/s. */
static void add_rate(struct hrun_table *t, const struct hrun_net_value *v, double f)
{
    hrun_table_cell(t, "%s", !is_value_known(v) ? "not known" : v->v > 0 ? with_half(v, rate_text(f * v->v)).s : "-");
}

double network_long_share(const struct hrun_net *net)
{
    return 1 / net->segments[net->nsegments - 1].b;
}

static void add_folded_hosts(const struct hrun_net *net, const int *of, int which, struct hrun_buf *out)
{
    autofree char **names = xcalloc((size_t)net->nhosts, sizeof *names);
    size_t n = 0;

    for (int h = 0; h < net->nhosts; h++)
        if (of[h] == which)
            names[n++] = net->hosts[h];
    hrun_hostlist_print(names, n, out);
}

static void add_hosts_cell(struct hrun_table *t, const struct hrun_net *net, const int *of, int which)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    add_folded_hosts(net, of, which, &b);
    hrun_table_cell(t, "%s", b.data);
}

/* ---------------------------------------------------------------- tables */

static void end_table(struct hrun_table *t, struct hrun_buf *out)
{
    hrun_table_render(t, 2, out);
    hrun_buf_addc(out, '\n');
    hrun_table_destroy(t);
}

static void add_hosts(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrrrr");

    hrun_table_row(t, "hosts", "per message C", "per byte t", "port out", "port in", "inside: fixed", "rate");
    for (int c = 0; c < net->nclasses; c++) {
        const struct hrun_net_class *k = &net->classes[c];
        double fixed_s = k->local_fixed_s[0].v, per_byte = k->local_s_per_byte[0].v;

        add_hosts_cell(t, net, net->class_of, c);
        add_time(t, &k->C_s, 1, "");
        add_time(t, &k->t_s_per_byte, 1e6, "/MB");
        add_rate(t, &k->out_bytes_per_s, network_long_share(net));
        add_rate(t, &k->in_bytes_per_s, network_long_share(net));
        hrun_table_cell(t, "%s", fixed_s > 0 || per_byte > 0 ? hrun_seconds(fixed_s).s : "-");
        hrun_table_cell(t, "%s", per_byte > 0 ? rate_text(1 / per_byte).s : "-");
    }
    end_table(t, out);
}

/* Append a table of messages between PEs of different kinds on one host. */
static void add_kind_pairs(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrr");
    int any = 0;

    hrun_table_row(t, "inside", "from kind", "to kind", "fixed", "per byte");
    for (int c = 0; c < net->nclasses; c++)
        for (int k = 0, n = net->classes[c].nkinds; n > 1 && k < n * n; k++) {
            any = 1;
            add_hosts_cell(t, net, net->class_of, c);
            hrun_table_cell(t, "%d", k / n);
            hrun_table_cell(t, "%d", k % n);
            add_time(t, &net->classes[c].local_fixed_s[k], 1, "");
            add_time(t, &net->classes[c].local_s_per_byte[k], 1e6, "/MB");
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

static void add_pairs(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrr");
    int from, to;

    hrun_table_row(t, "from", "to", "latency L", "bandwidth");
    for (int k = 0, n = net->nclasses; k < n * n; k++) {
        const struct hrun_net_pair *p = &net->pairs[k];

        if (!find_pair(net, k / n, k % n, &from, &to))
            continue;
        add_hosts_cell(t, net, net->class_of, k / n);
        add_hosts_cell(t, net, net->class_of, k % n);
        add_time(t, &p->L_s, net->segments[0].a, "");
        add_rate(t, &p->beta_bytes_per_s, hrun_net_bandwidth(net, from, to) / p->beta_bytes_per_s.v);
    }
    end_table(t, out);
}

/* Minimum and maximum over all pairs of hosts from one group to another, and the slowest pair. */
struct network_range {
    double latency_s[2], rate[2];  /* latency of empty messages; rate of long ones, bytes/s */
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

static void add_folded_pairs(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrrrl");

    hrun_table_row(t, "from", "to", "pairs", "latency L", "bandwidth", "slowest");
    for (int k = 0, n = net->ngroups; k < n * n; k++) {
        struct network_range r = switch_range(net, k / n, k % n);

        if (!r.pairs)
            continue;
        add_hosts_cell(t, net, net->group_of, k / n);
        add_hosts_cell(t, net, net->group_of, k % n);
        hrun_table_cell(t, "%d", r.pairs);
        hrun_table_cell(t, "%s", hrun_seconds_range(r.latency_s[0], r.latency_s[1]).s);
        hrun_table_cell(t, "%s .. %s", rate_text(r.rate[0]).s, rate_text(r.rate[1]).s);
        hrun_table_cell(t, "%s -> %s", net->hosts[r.from], net->hosts[r.to]);
    }
    end_table(t, out);
}

/* ---------------------------------------------------------------- sentences */

static void add_trunks(const struct hrun_net *net, struct hrun_buf *out)
{
    for (int k = 0, n = net->ngroups; k < n * n; k++) {
        const struct hrun_net_value *v = &net->trunks[k];
        struct hrun_text rate = rate_text(hrun_net_trunk_bandwidth(net, k / n, k % n));

        if (!(v->v > 0))
            continue;
        hrun_buf_adds(out, "  trunk: all messages from ");
        add_folded_hosts(net, net->group_of, k / n, out);
        hrun_buf_adds(out, " to ");
        add_folded_hosts(net, net->group_of, k % n, out);
        hrun_buf_addf(out, " share %s%s\n", is_value_known(v) ? with_half(v, rate).s : rate.s,
                      is_value_known(v) ? "" : ", or another rate: it is not known");
    }
}

static void add_protocols(const struct hrun_net *net, struct hrun_buf *out)
{
    const struct hrun_net_thresholds *t = &net->thresholds;

    if (net->sync_bytes > 0)
        hrun_buf_addf(out, "  messages from %s on wait for their receiver\n", hrun_bytes(net->sync_bytes).s);
    if (t->scatter_S > 0)
        hrun_buf_addf(out, "  scatter: beyond %s (S) messages go one after the other\n", hrun_bytes(t->scatter_S).s);
    if (t->gather_M2 > 0) {
        if (t->gather_M1 > 0)
            hrun_buf_addf(out, "  gather: from %s (M1)", hrun_bytes(t->gather_M1).s);
        hrun_buf_addf(out, " to %s (M2) times jump: %.0f %% of them take longer, by %s on average\n",
                      hrun_bytes(t->gather_M2).s, 100 * t->irregular_share,
                      hrun_seconds(t->irregular_share > 0 ? t->irregular_s / t->irregular_share : t->irregular_s).s);
    } else if (t->gather_M1 > 0) {
        hrun_buf_addf(out, "  gather: beyond %s (M1) the slope is another\n", hrun_bytes(t->gather_M1).s);
    }
}

/* Append the segments of message sizes, as factors of the latencies and times of bytes in the tables. */
static void add_segments(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_table *t;

    if (net->nsegments < 2)
        return;
    t = hrun_table_create("rrr");
    hrun_table_row(t, "messages from", "latency x", "time of bytes x");
    for (int k = 0; k < net->nsegments; k++) {
        hrun_table_cell(t, "%s", hrun_bytes(net->segments[k].from_bytes).s);
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

void network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out)
{
    autorelease(hrun_buf_release) struct hrun_buf unsure = HRUN_BUF_INIT;

    hrun_buf_addf(out, "network of %s behind %s", hrun_counted(net->nhosts, "host").s,
                  hrun_counted(net->ngroups, "switch").s);
    if (net->date[0])
        hrun_buf_addf(out, ", measured %s (%s, %s)", net->date, net->mpi, net->engine);
    hrun_buf_adds(out, "\n\n");
    add_hosts(net, out);
    add_kind_pairs(net, out);
    if (net->nhosts > 1 && (all || net->nclasses <= CLASSES_SHOWN))
        add_pairs(net, out);
    else if (net->nhosts > 1)
        add_folded_pairs(net, out);
    if (all)
        add_segments(net, out);
    add_trunks(net, out);
    add_protocols(net, out);
    hrun_net_add_unsure(net, &unsure);
    if (unsure.len)
        hrun_buf_addf(out, "  warning: %s\n", unsure.data);
    add_about(about, out);
}
