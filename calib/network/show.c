/* show.c - a network as tables for people; see network.h */
#include "network.h"

#include "base/hostlist.h"
#include "base/table.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More classes than this make pairs that nobody reads: they are folded by the groups of hosts. */
enum { CLASSES_SHOWN = 6 };

/* ---------------------------------------------------------------- cells */

void network_add_rate(double bytes_per_s, struct hrun_buf *b)
{
    static const struct { double from; const char *unit; } units[] = {
        { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" },
    };
    size_t k = 0;

    while (k < 2 && bytes_per_s < units[k].from)
        k++;
    hrun_buf_addf(b, "%.4g %s", bytes_per_s / units[k].from, units[k].unit);
}

static void add_half(struct hrun_buf *b, const struct hrun_net_value *v)
{
    if (v->v > 0 && isfinite(v->half))
        hrun_buf_addf(b, " +-%.1f %%", 100 * v->half / v->v);
}

/* A table's cell of a buffer's text, which is then empty. */
static void cell(struct hrun_table *t, struct hrun_buf *b)
{
    hrun_table_cell(t, "%s", b->len ? b->data : "-");
    hrun_buf_reset(b);
}

static void seconds(struct hrun_table *t, const struct hrun_net_value *v, struct hrun_buf *b)
{
    hrun_add_seconds(b, v->v);
    add_half(b, v);
    cell(t, b);
}

static void per_mb(struct hrun_table *t, const struct hrun_net_value *v, struct hrun_buf *b)
{
    hrun_add_seconds(b, 1e6 * v->v);
    hrun_buf_adds(b, "/MB");
    add_half(b, v);
    cell(t, b);
}

static void rate(struct hrun_table *t, const struct hrun_net_value *v, struct hrun_buf *b)
{
    if (v->v > 0) {
        network_add_rate(v->v, b);
        add_half(b, v);
    }
    cell(t, b);
}

void network_add_hosts(const struct hrun_net *net, const int *of, int which, struct hrun_buf *out)
{
    char **names = calloc((size_t)net->nhosts, sizeof *names);
    size_t n = 0;

    for (int h = 0; names && h < net->nhosts; h++)
        if (of[h] == which)
            names[n++] = net->hosts[h];
    hrun_hostlist_print(names, n, out);
    out->failed |= !names;
    free(names);
}

/* ---------------------------------------------------------------- tables */

static int add_table(struct hrun_table *t, const struct hrun_buf *b, struct hrun_buf *out)
{
    int bad = b->failed || hrun_table_render(t, 2, out);

    hrun_buf_addc(out, '\n');
    hrun_table_destroy(t);
    return bad;
}

static int add_hosts(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrrrr");

    if (!t)
        return -1;
    hrun_table_row(t, "hosts", "per message C", "per byte t", "port out", "port in", "inside: fixed", "rate");
    for (int c = 0; c < net->nclasses; c++) {
        const struct hrun_net_class *k = &net->classes[c];
        double per_byte = k->local_s_per_byte[0].v;

        network_add_hosts(net, net->class_of, c, b);
        cell(t, b);
        seconds(t, &k->C_s, b);
        per_mb(t, &k->t_s_per_byte, b);
        rate(t, &k->out_bytes_per_s, b);
        rate(t, &k->in_bytes_per_s, b);
        if (k->local_fixed_s[0].v > 0 || per_byte > 0)
            hrun_add_seconds(b, k->local_fixed_s[0].v);
        cell(t, b);
        if (per_byte > 0)
            network_add_rate(1 / per_byte, b);
        cell(t, b);
    }
    return add_table(t, b, out);
}

/* Between PEs of unlike kinds on one host. */
static int add_kinds(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrrr");
    int any = 0;

    if (!t)
        return -1;
    hrun_table_row(t, "inside", "from kind", "to kind", "fixed", "per byte");
    for (int c = 0; c < net->nclasses; c++)
        for (int k = 0; k < net->classes[c].nkinds * net->classes[c].nkinds && net->classes[c].nkinds > 1; k++) {
            any = 1;
            network_add_hosts(net, net->class_of, c, b);
            cell(t, b);
            hrun_table_cell(t, "%d", k / net->classes[c].nkinds);
            hrun_table_cell(t, "%d", k % net->classes[c].nkinds);
            seconds(t, &net->classes[c].local_fixed_s[k], b);
            per_mb(t, &net->classes[c].local_s_per_byte[k], b);
        }
    if (any)
        return add_table(t, b, out);
    hrun_table_destroy(t);
    return 0;
}

static int has_pair(const struct hrun_net *net, int a, int c)
{
    int n = 0;

    for (int h = 0; h < net->nhosts; h++)
        n += net->class_of[h] == a;
    return (a != c || n > 1) && net->pairs[a * net->nclasses + c].beta_bytes_per_s.v > 0;
}

static int add_pairs(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrr");

    if (!t)
        return -1;
    hrun_table_row(t, "from", "to", "latency L", "rate beta");
    for (int a = 0; a < net->nclasses; a++)
        for (int c = 0; c < net->nclasses; c++) {
            if (!has_pair(net, a, c))
                continue;
            network_add_hosts(net, net->class_of, a, b);
            cell(t, b);
            network_add_hosts(net, net->class_of, c, b);
            cell(t, b);
            seconds(t, &net->pairs[a * net->nclasses + c].L_s, b);
            rate(t, &net->pairs[a * net->nclasses + c].beta_bytes_per_s, b);
        }
    return add_table(t, b, out);
}

struct network_range network_range_of(const struct hrun_net *net, int g, int h)
{
    struct network_range r = { { INFINITY, 0 }, { INFINITY, 0 }, 0, 0, 0 };

    for (int i = 0; i < net->nhosts; i++)
        for (int j = 0; j < net->nhosts; j++) {
            const struct hrun_net_pair *p = &net->pairs[net->class_of[i] * net->nclasses + net->class_of[j]];

            if (i == j || net->group_of[i] != g || net->group_of[j] != h || !(p->beta_bytes_per_s.v > 0))
                continue;
            if (p->beta_bytes_per_s.v < r.rate[0]) {
                r.from = i;
                r.to = j;
            }
            r.pairs++;
            r.latency_s[0] = fmin(r.latency_s[0], p->L_s.v);
            r.latency_s[1] = fmax(r.latency_s[1], p->L_s.v);
            r.rate[0] = fmin(r.rate[0], p->beta_bytes_per_s.v);
            r.rate[1] = fmax(r.rate[1], p->beta_bytes_per_s.v);
        }
    return r;
}

static int add_folded_pairs(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrrrl");

    if (!t)
        return -1;
    hrun_table_row(t, "from", "to", "pairs", "latency L", "rate beta", "slowest");
    for (int g = 0; g < net->ngroups; g++)
        for (int h = 0; h < net->ngroups; h++) {
            struct network_range r = network_range_of(net, g, h);

            if (!r.pairs)
                continue;
            network_add_hosts(net, net->group_of, g, b);
            cell(t, b);
            network_add_hosts(net, net->group_of, h, b);
            cell(t, b);
            hrun_table_cell(t, "%d", r.pairs);
            hrun_add_seconds(b, r.latency_s[0]);
            hrun_buf_adds(b, " .. ");
            hrun_add_seconds(b, r.latency_s[1]);
            cell(t, b);
            network_add_rate(r.rate[0], b);
            hrun_buf_adds(b, " .. ");
            network_add_rate(r.rate[1], b);
            cell(t, b);
            hrun_table_cell(t, "%s -> %s", net->hosts[r.from], net->hosts[r.to]);
        }
    return add_table(t, b, out);
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
            network_add_hosts(net, net->group_of, g, out);
            hrun_buf_adds(out, " to ");
            network_add_hosts(net, net->group_of, h, out);
            hrun_buf_adds(out, " share ");
            network_add_rate(v->v, out);
            add_half(out, v);
            hrun_buf_addc(out, '\n');
        }
}

static void add_bytes(struct hrun_buf *out, const char *before, double bytes, const char *after)
{
    if (!(bytes > 0))
        return;
    hrun_buf_adds(out, before);
    hrun_add_bytes(out, bytes);
    hrun_buf_adds(out, after);
}

void network_add_protocols(const struct hrun_net *net, struct hrun_buf *out)
{
    const struct hrun_net_thresholds *t = &net->thresholds;

    add_bytes(out, "  messages from ", net->sync_bytes, " on wait for their receiver\n");
    add_bytes(out, "  scatter: beyond ", t->scatter_S, " (S) messages go one after the other\n");
    if (t->gather_M2 > 0) {
        add_bytes(out, "  gather: from ", t->gather_M1, " (M1)");
        add_bytes(out, " to ", t->gather_M2, " (M2) times jump: ");
        hrun_buf_addf(out, "%.0f %% of them take longer, by ", 100 * t->irregular_share);
        hrun_add_seconds(out, t->irregular_share > 0 ? t->irregular_s / t->irregular_share : t->irregular_s);
        hrun_buf_adds(out, " on average\n");
    } else {
        add_bytes(out, "  gather: beyond ", t->gather_M1, " (M1) the slope is another\n");
    }
}

static int add_segments(const struct hrun_net *net, struct hrun_buf *b, struct hrun_buf *out)
{
    struct hrun_table *t;

    if (net->nsegments < 2)
        return 0;
    t = hrun_table_create("rrr");
    if (!t)
        return -1;
    hrun_table_row(t, "messages from", "latency x", "time of bytes x");
    for (int k = 0; k < net->nsegments; k++) {
        hrun_add_bytes(b, net->segments[k].from_bytes);
        cell(t, b);
        hrun_table_cell(t, "%.3g", net->segments[k].a);
        hrun_table_cell(t, "%.3g", net->segments[k].b);
    }
    return add_table(t, b, out);
}

static void add_about(const struct network_about *a, struct hrun_buf *out)
{
    const struct hrun_net_quality *q = a->quality;

    if (a->records) {
        hrun_buf_addf(out, "  %zu experiments, ", a->records);
        hrun_add_seconds(out, a->spent_s);
        hrun_buf_addf(out, "; the model misses them by %.1f %% (root mean square)", 100 * (q ? q->residual_rel : 0));
        if (q)
            hrun_buf_addf(out, ", at worst by %.1f %%", 100 * q->worst_rel);
        hrun_buf_addc(out, '\n');
    }
    for (size_t i = 0; q && i < q->notes.n; i++)
        hrun_buf_addf(out, "  note: %s\n", q->notes.v[i]);
    if (a->file)
        hrun_buf_addf(out, "  kept in %s\n", a->file);
}

static void add_unsure(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_buf words = HRUN_BUF_INIT;

    hrun_net_add_unsure(net, &words);
    if (words.len)
        hrun_buf_addf(out, "  warning: %s\n", words.data);
    out->failed |= words.failed;
    hrun_buf_release(&words);
}

int network_text(const struct hrun_net *net, const struct network_about *about, int all, struct hrun_buf *out,
                 struct hrun_error *err)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int bad;

    hrun_buf_addf(out, "network of %d host%s behind %d switch%s", net->nhosts, net->nhosts == 1 ? "" : "s",
                  net->ngroups, net->ngroups == 1 ? "" : "es");
    if (net->date[0])
        hrun_buf_addf(out, ", measured %s (%s, %s)", net->date, net->mpi, net->engine);
    hrun_buf_adds(out, "\n\n");
    bad = add_hosts(net, &b, out) || add_kinds(net, &b, out);
    if (!bad && net->nhosts > 1)
        bad = all || net->nclasses <= CLASSES_SHOWN ? add_pairs(net, &b, out) : add_folded_pairs(net, &b, out);
    bad = bad || (all && add_segments(net, &b, out));
    add_trunks(net, out);
    network_add_protocols(net, out);
    add_unsure(net, out);
    add_about(about, out);
    hrun_buf_release(&b);
    return bad || out->failed ? hrun_fail_nomem(err) : 0;
}
