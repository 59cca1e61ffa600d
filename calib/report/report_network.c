/* report_network.c - the network of a report, with the measurements behind it; see report.h */
#include "report.h"

#include "../network/network.h"
#include "base/alloc.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As calib/network: records of a thousand hosts. */
static const size_t RECORDS_MAX = (size_t)1 << 28;
/* Pairs of switches whose messages are shown: a colour each. */
enum { WAYS = 8 };
enum { HALF_OCTAVES = 40 };            /* curves go to 2^(40/2) bytes, as the experiments do */

static json_t *message_json(double bytes, double time_s, double max_s)
{
    return json_pack("{s:f, s:f, s:f}", "bytes", bytes, "time_s", time_s, "max_s", fmax(max_s, time_s));
}

/* Measured round trips by the two switches, and what the model says of one pair of hosts of each. */
static json_t *round_trips_json(const struct hrun_net *net, const struct hrun_net_records *records)
{
    json_t *all = json_array();
    int of[WAYS][2], n = 0;

    for (size_t k = 0; k < records->n; k++) {
        const struct hrun_net_record *e = &records->v[k];
        int trip = e->kind == HRUN_NET_TRIP && e->bytes > 0 && !(e->back_bytes > 0), w = 0;
        int i = trip ? hrun_net_find(net, records->hosts[e->i]) : -1;
        int j = trip ? hrun_net_find(net, records->hosts[e->j]) : -1;

        if (i < 0 || j < 0)
            continue;
        while (w < n && (of[w][0] != net->group_of[i] || of[w][1] != net->group_of[j]))
            w++;
        if (w == WAYS)
            continue;
        if (w == n) {
            json_t *model = json_array();

            of[n][0] = net->group_of[i];
            of[n++][1] = net->group_of[j];
            for (int o = 0; o <= HALF_OCTAVES; o++)
                json_array_append_new(model, message_json(exp2(o / 2.0), hrun_net_p2p(net, i, 0, j, 0, exp2(o / 2.0)) +
                                                 hrun_net_p2p(net, j, 0, i, 0, 0), 0));
            json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:o}", "from", net->hosts[i], "to", net->hosts[j],
                                                 "measured", json_array(), "model", model));
        }
        json_array_append_new(json_object_get(json_array_get(all, (size_t)w), "measured"),
                              message_json(e->bytes, e->time_s, 0));
    }
    return all;
}

/* An operation by one host with all others: measured, and what the model says where it says something. */
static json_t *operation_json(const struct hrun_net *net, const struct hrun_net_records *records,
                              enum hrun_net_kind kind, enum hrun_net_op op)
{
    json_t *measured = json_array(), *model = json_array();
    int *host = xcalloc((size_t)net->nhosts, sizeof *host);

    for (size_t k = 0; k < records->n; k++) {
        const struct hrun_net_record *e = &records->v[k];
        struct hrun_net_call call = { .op = op, .bytes = e->bytes, .algorithm = "linear" };
        struct hrun_net_ranks ranks = { .n = e->n + 1, .host = host };
        struct hrun_net_time t;
        int known = e->n < net->nhosts;

        if (e->kind != kind)
            continue;
        json_array_append_new(measured, message_json(e->bytes, e->time_s, e->max_s));
        for (int h = 0; h <= e->n && known; h++) {
            host[h] = hrun_net_find(net, records->hosts[(e->i + h) % records->nhosts]);
            known = host[h] >= 0;
        }
        if (known && !hrun_net_predict(net, &call, &ranks, &t, NULL))
            json_array_append_new(model, message_json(e->bytes, t.time_s, 0));
    }
    free(host);
    return json_pack("{s:o, s:o}", "measured", measured, "model", model);
}

json_t *report_network(const struct calib_settings *settings)
{
    struct calib_settings s = *settings;
    struct context c = { .set = &s.common };
    struct network_about about = { .quality = NULL };
    struct hrun_net_records records = { 0 };
    struct hrun_buf file = HRUN_BUF_INIT, path = HRUN_BUF_INIT, lines = HRUN_BUF_INIT, text = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    struct hrun_error err = { 0 };
    json_t *out = json_null();
    int rc;

    if (!network_named(&s.common))
        return out;
    rc = network_context(&c, &s, &err) || network_find(&c, &net, &file, NULL, &err) ? -1 : 0;
    if (!rc && net) {
        network_records_file(file.data, &path);
        if (!hrun_file_read(path.data, RECORDS_MAX, &lines, NULL))
            rc = hrun_net_records_parse(lines.data, &records, &err);
    }
    if (!rc && net) {
        network_text(net, &about, 0, &text);
        out = json_pack("{s:s, s:o, s:o, s:o}", "text", text.data, "round_trips",
                        round_trips_json(net, &records), "scatter",
                        operation_json(net, &records, HRUN_NET_SCATTERED, HRUN_NET_SCATTER), "gather",
                        operation_json(net, &records, HRUN_NET_GATHERED, HRUN_NET_GATHER));
    }
    if (rc && !s.common.quiet)
        fprintf(stderr, "hrun-calibrate: the report is without a network: %s\n", err.text);
    else if (!net && !s.common.quiet)
        fprintf(stderr, "hrun-calibrate: the network of these hosts was not measured; `hrun-calibrate network` does\n");
    hrun_net_records_release(&records);
    hrun_net_destroy(net);
    hrun_buf_release(&file);
    hrun_buf_release(&path);
    hrun_buf_release(&lines);
    hrun_buf_release(&text);
    context_release(&c);
    return out;
}
