/* report_network.c - the network of a report: messages, scatter and gather over sizes, and pairs; see report.h */
#include "report.h"

#include "../network/network.h"
#include "base/file.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As calib/network: records of a thousand hosts. */
static const size_t RECORDS_MAX = (size_t)1 << 28;
/* Ways between groups that are drawn: a colour each. */
enum { WAYS = PLOT_SERIES };
enum { HALF_OCTAVES = 40 };            /* curves go to 2^(40/2) bytes, as the experiments do */

/* ------------------------------------------------------------------ finding it */

static int load_network(struct context *c, struct calib_settings *s, struct report *r, struct hrun_error *err)
{
    struct hrun_buf file = HRUN_BUF_INIT, records = HRUN_BUF_INIT, text = HRUN_BUF_INIT;
    int rc = network_context(c, s, err) || network_find(c, &r->net, &file, NULL, err) ? -1 : 0;

    if (!rc && r->net)
        rc = network_records_file(file.data, &records, err);
    if (!rc && r->net && !hrun_file_read(records.data, RECORDS_MAX, &text, NULL))
        rc = hrun_net_records_parse(text.data, &r->experiments, err);
    hrun_buf_release(&file);
    hrun_buf_release(&records);
    hrun_buf_release(&text);
    return rc;
}

void report_network_find(const struct calib_settings *settings, struct report *r)
{
    struct calib_settings s = *settings;
    struct context c = { .set = &s.common };
    struct hrun_error err = { 0 };
    int named = network_named(&s.common);

    if (named && load_network(&c, &s, r, &err) && !s.common.quiet)
        fprintf(stderr, "hrun-calibrate: the report is without a network: %s\n", err.text);
    else if (named && !r->net && !s.common.quiet)
        fprintf(stderr, "hrun-calibrate: the network of these hosts was not measured; `hrun-calibrate network` does\n");
    context_release(&c);
}

/* ------------------------------------------------------------------ figures */

/* Draw from size to size what a pair of hosts takes there and back, M bytes and none. */
static void add_way(struct plot *p, const struct hrun_net *net, int i, int j, int colour)
{
    struct hrun_buf title = HRUN_BUF_INIT;
    int line;

    hrun_buf_addf(&title, "%s - %s", net->hosts[i], net->hosts[j]);
    line = plot_series(p, PLOT_LINE, colour, 0, title.data);
    for (int k = 0; k <= HALF_OCTAVES; k++) {
        double bytes = exp2(k / 2.0), s = hrun_net_p2p(net, i, 0, j, 0, bytes) + hrun_net_p2p(net, j, 0, i, 0, 0);

        plot_add(p, line, bytes, s, s, s);
    }
    p->failed |= title.failed;
    hrun_buf_release(&title);
}

/* Measured round trips, by the two groups, and what the model says of one pair of each. */
static struct plot *messages(const struct report *r)
{
    struct plot *p = plot_create(PLOT_BYTES, "message", PLOT_SECONDS, "round trip");
    const struct hrun_net *net = r->net;
    int of[WAYS][2], marks[WAYS], n = 0;

    if (!p)
        return NULL;
    plot_set_title(p, "Messages between hosts");
    plot_set_caption(p, "A round trip, so many bytes there and none back: marks are measured, lines what the model "
                     "says of the pair that is named.");
    for (size_t k = 0; k < r->experiments.n; k++) {
        const struct hrun_net_record *e = &r->experiments.v[k];
        int i, j, w = 0;

        if (e->kind != HRUN_NET_TRIP || !(e->bytes > 0) || e->back_bytes > 0)
            continue;
        i = hrun_net_find(net, r->experiments.hosts[e->i]);
        j = hrun_net_find(net, r->experiments.hosts[e->j]);
        if (i < 0 || j < 0)
            continue;
        while (w < n && (of[w][0] != net->group_of[i] || of[w][1] != net->group_of[j]))
            w++;
        if (w == WAYS)
            continue;
        if (w == n) {
            of[n][0] = net->group_of[i];
            of[n][1] = net->group_of[j];
            add_way(p, net, i, j, PLOT_FIRST_SERIES + n);
            marks[n] = plot_series(p, PLOT_POINTS, PLOT_FIRST_SERIES + n, n, NULL);
            n++;
        }
        plot_add(p, marks[w], e->bytes, e->time_s, e->time_s, e->time_s);
    }
    return p;
}

/* What the model says of an operation by host `root` among it and the n hosts behind it, at the sizes that were tried.
 * Where it says nothing, nothing is drawn. */
static void add_predicted(struct plot *p, const struct report *r, enum hrun_net_kind kind, enum hrun_net_op op,
                          int colour)
{
    int *host = calloc((size_t)r->net->nhosts, sizeof *host), line = plot_series(p, PLOT_LINE, colour, 0, NULL);

    p->failed |= !host;
    for (size_t k = 0; host && k < r->experiments.n; k++) {
        const struct hrun_net_record *e = &r->experiments.v[k];
        struct hrun_net_call call = { .op = op, .bytes = e->bytes, .algorithm = "linear", .quick = 1 };
        struct hrun_net_ranks ranks = { .n = e->n + 1, .host = host };
        struct hrun_net_time t;
        int known = e->kind == kind && e->n < r->net->nhosts;

        for (int h = 0; h <= e->n && known; h++) {
            host[h] = hrun_net_find(r->net, r->experiments.hosts[(e->i + h) % r->experiments.nhosts]);
            known = host[h] >= 0;
        }
        if (known && !hrun_net_predict(r->net, &call, &ranks, &t, NULL))
            plot_add(p, line, e->bytes, t.time_s, t.time_s, t.time_s);
    }
    free(host);
}

static struct plot *scatter_and_gather(const struct report *r)
{
    static const struct { enum hrun_net_kind kind; enum hrun_net_op op; const char *title; } kinds[] = {
        { HRUN_NET_SCATTERED, HRUN_NET_SCATTER, "scatter" }, { HRUN_NET_GATHERED, HRUN_NET_GATHER, "gather" },
    };
    struct plot *p = plot_create(PLOT_BYTES, "message of each rank", PLOT_SECONDS, "median time");
    struct hrun_buf words = HRUN_BUF_INIT;

    if (!p)
        return NULL;
    network_add_protocols(r->net, &words);
    plot_set_title(p, "Scatter and gather");
    plot_set_caption(p, "By one host straight to all others. The upper end of a bar is the longest one, lines are what "
                     "the model says.\n%s", words.data);
    for (int k = 0; k < 2; k++) {
        int series;

        add_predicted(p, r, kinds[k].kind, kinds[k].op, PLOT_FIRST_SERIES + k);
        series = plot_series(p, PLOT_INTERVALS, PLOT_FIRST_SERIES + k, k, kinds[k].title);

        for (size_t i = 0; i < r->experiments.n; i++) {
            const struct hrun_net_record *e = &r->experiments.v[i];

            if (e->kind == kinds[k].kind)
                plot_add(p, series, e->bytes, e->time_s, e->time_s, e->max_s > e->time_s ? e->max_s : e->time_s);
        }
    }
    p->failed |= words.failed;
    hrun_buf_release(&words);
    return p;
}

struct plot *report_network_figure(const struct report *r, int which, int *failed)
{
    static struct plot *(*const figures[])(const struct report *r) = { messages, scatter_and_gather };
    struct plot *p;

    if (which >= (int)(sizeof figures / sizeof figures[0]))
        return NULL;
    p = figures[which](r);
    *failed |= !p;
    return p;
}

/* ------------------------------------------------------------------ table */

static void add_cell(struct report_table *t, struct hrun_buf *b, int *bad)
{
    *bad |= b->failed || hrun_strvec_push(&t->cells, b->data);
    hrun_buf_reset(b);
}

static void add_row(const struct hrun_net *net, int g, int h, struct report_table *t, struct hrun_buf *b, int *bad)
{
    struct network_range k = network_range_of(net, g, h);
    double trunk = hrun_net_trunk_bandwidth(net, g, h);

    if (!k.pairs)
        return;
    network_add_hosts(net, net->group_of, g, b);
    add_cell(t, b, bad);
    network_add_hosts(net, net->group_of, h, b);
    add_cell(t, b, bad);
    for (int i = 0; i < 2; i++) {
        hrun_add_seconds(b, k.latency_s[i]);
        add_cell(t, b, bad);
    }
    for (int i = 0; i < 2; i++) {
        network_add_rate(k.rate[i], b);
        add_cell(t, b, bad);
    }
    hrun_buf_addf(b, "%s - %s", net->hosts[k.from], net->hosts[k.to]);
    add_cell(t, b, bad);
    if (trunk > 0)
        network_add_rate(trunk, b);
    else
        hrun_buf_addc(b, '-');
    add_cell(t, b, bad);
}

int report_network_table(const struct report *r, struct report_table *t)
{
    static const char *const heads[] = { "from", "to", "latency", "at most", "bandwidth", "at most", "slowest",
                                         "trunk" };
    struct hrun_buf b = HRUN_BUF_INIT;
    int bad = 0;

    t->title = "Pairs of hosts, by their switches";
    t->spec = "llrrrrlr";
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        bad |= hrun_strvec_push(&t->cells, heads[i]);
    for (int g = 0; g < r->net->ngroups; g++)
        for (int h = 0; h < r->net->ngroups; h++)
            add_row(r->net, g, h, t, &b, &bad);
    hrun_buf_addf(&b, "Measured %s (%s, %s).", r->net->date, r->net->mpi, r->net->engine);
    t->note = hrun_buf_detach(&b);
    return bad || !t->note ? -1 : 0;
}
