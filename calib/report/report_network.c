/* report_network.c - the network of a report, with the measurements behind it; see calib_report.h */
#include "../network/calib_network.h"
#include "base/file.h"
#include "calib_report.h"
#include "session/context_network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limit of the pairs of switches shown, each in a colour. */
enum { PAIRS_SHOWN = 8 };
enum { HALF_OCTAVES = 40 };            /* curves end at 2^(40/2) bytes, as the experiments do */

static void append_message(json_t *to, double bytes, double time_s, double max_s)
{
    json_array_append_new(to, json_pack("{s:f, s:f, s:f}", "bytes", bytes, "time_s", time_s, "max_s",
                                        fmax(max_s, time_s)));
}

/* The model's times of round trips with an empty answer between two hosts. */
static json_t *trip_model_json(const struct hrun_net *net, int i, int j)
{
    json_t *model = json_array();

    for (int k = 0; k <= HALF_OCTAVES; k++)
        append_message(model, exp2(k / 2.0), hrun_net_p2p(net, i, 0, j, 0, exp2(k / 2.0)) +
                       hrun_net_p2p(net, j, 0, i, 0, 0), 0);
    return model;
}

/* Measured round trips for each pair of switches, and the model's times for one of its pairs of hosts. */
static json_t *round_trips_json(const struct hrun_net *net, const struct hrun_net_records *records)
{
    json_t *all = json_array();
    int from[PAIRS_SHOWN], to[PAIRS_SHOWN], n = 0;

    for (size_t k = 0; k < records->n; k++) {
        const struct hrun_net_record *e = &records->v[k];
        int trip = e->kind == HRUN_NET_TRIP && e->bytes > 0 && !(e->back_bytes > 0), w = 0;
        int i = trip ? hrun_net_find(net, records->hosts[e->i]) : -1;
        int j = trip ? hrun_net_find(net, records->hosts[e->j]) : -1;

        if (i < 0 || j < 0)
            continue;
        while (w < n && (from[w] != net->group_of[i] || to[w] != net->group_of[j]))
            w++;
        if (w == PAIRS_SHOWN)
            continue;
        if (w == n) {
            from[n] = net->group_of[i];
            to[n++] = net->group_of[j];
            json_array_append_new(all, json_pack("{s:s, s:s, s:[], s:o}", "from", net->hosts[i], "to", net->hosts[j],
                                                 "measured", "model", trip_model_json(net, i, j)));
        }
        append_message(json_object_get(json_array_get(all, (size_t)w), "measured"), e->bytes, e->time_s, 0);
    }
    return all;
}

/* An operation of one host with all others: measured times and, if there are any, the model's times. */
static json_t *operation_json(const struct hrun_net *net, const struct hrun_net_records *records,
                              enum hrun_net_kind kind, enum hrun_net_op op)
{
    json_t *measured = json_array(), *model = json_array();
    autofree int *host = xcalloc((size_t)net->nhosts, sizeof *host);

    for (size_t k = 0; k < records->n; k++) {
        const struct hrun_net_record *e = &records->v[k];
        struct hrun_net_call call = { .op = op, .bytes = e->bytes, .algorithm = "linear" };
        struct hrun_net_ranks ranks = { .n = e->n + 1, .host = host };
        struct hrun_net_time t;
        int known = e->n < net->nhosts;

        if (e->kind != kind)
            continue;
        append_message(measured, e->bytes, e->time_s, e->max_s);
        for (int h = 0; h <= e->n && known; h++) {
            host[h] = hrun_net_find(net, records->hosts[(e->i + h) % records->nhosts]);
            known = host[h] >= 0;
        }
        if (known && !hrun_net_predict(net, &call, &ranks, &t, NULL))
            append_message(model, e->bytes, t.time_s, 0);
    }
    return json_pack("{s:o, s:o}", "measured", measured, "model", model);
}

json_t *report_network(const struct calib_settings *settings)
{
    struct calib_settings s = *settings;
    autorelease(context_release) struct context c = { .set = &s.common };
    autorelease(hrun_net_records_release) struct hrun_net_records records = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf file = HRUN_BUF_INIT, text = HRUN_BUF_INIT;
    struct hrun_net *net = NULL;
    struct hrun_error err = { 0 };
    json_t *out = NULL;

    if (!network_named(&s.common))
        return json_null();
    if (network_context(&c, &s, &err) || network_find(&c, &net, &file, NULL, &err) ||
        (net && network_read_records(file.data, &records, &err))) {
        if (!s.common.quiet)
            fprintf(stderr, "hrun-calibrate: the report is without a network: %s\n", err.text);
    } else if (net) {
        network_text(net, &(struct network_about){ .quality = NULL }, 0, &text);
        out = json_pack("{s:s, s:o, s:o, s:o}", "text", text.data, "round_trips", round_trips_json(net, &records),
                        "scatter", operation_json(net, &records, HRUN_NET_SCATTERED, HRUN_NET_SCATTER),
                        "gather", operation_json(net, &records, HRUN_NET_GATHERED, HRUN_NET_GATHER));
    } else if (!s.common.quiet) {
        fprintf(stderr, "hrun-calibrate: the network of these hosts was not measured; `hrun-calibrate network` "
                "measures it\n");
    }
    hrun_net_destroy(net);
    return out ? out : json_null();
}
