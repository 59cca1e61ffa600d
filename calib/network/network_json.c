/* network_json.c - a network as one JSON document, times in s, rates in bytes/s; see calib_network.h */
#include "calib_network.h"
#include "base/json.h"

#include <math.h>

/* The value and, if known, its half width. */
static json_t *value_json(const struct hrun_net_value *v)
{
    json_t *j = json_pack("{s:f}", "value", v->v);

    if (isfinite(v->half))
        json_object_set_new(j, "half_width", json_real(v->half));
    return j;
}

/* The largest bandwidth from a host of class a to one of class b, bytes/s; 0 if there is no such pair. */
static double fastest_bandwidth(const struct hrun_net *net, int a, int b)
{
    double most = 0;

    for (int i = 0; i < net->nhosts; i++)
        for (int j = 0; j < net->nhosts; j++)
            if (i != j && net->class_of[i] == a && net->class_of[j] == b)
                most = fmax(most, hrun_net_bandwidth(net, i, j));
    return most;
}

static json_t *class_json(const struct hrun_net *net, const struct hrun_net_class *c)
{
    json_t *local = json_array();

    for (int k = 0; k < c->nkinds * c->nkinds; k++)
        json_array_append_new(local, json_pack("{s:i, s:i, s:o, s:o}", "from", k / c->nkinds, "to", k % c->nkinds,
                                               "fixed_s", value_json(&c->local_fixed_s[k]), "s_per_byte",
                                               value_json(&c->local_s_per_byte[k])));
    return json_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "C_s", value_json(&c->C_s), "t_s_per_byte",
                     value_json(&c->t_s_per_byte), "out_bytes_per_s", value_json(&c->out_bytes_per_s),
                     "in_bytes_per_s", value_json(&c->in_bytes_per_s), "out_bandwidth_bytes_per_s",
                     c->out_bytes_per_s.v * network_long_share(net), "in_bandwidth_bytes_per_s",
                     c->in_bytes_per_s.v * network_long_share(net), "local_bytes_per_s", c->local_bytes_per_s, "local",
                     local);
}

static void add_arrays(const struct hrun_net *net, json_t *root)
{
    json_t *hosts = json_array(), *classes = json_array(), *pairs = json_array(), *trunks = json_array();
    json_t *segments = json_array();
    int n = net->nclasses, groups = net->ngroups;

    for (int h = 0; h < net->nhosts; h++)
        json_array_append_new(hosts, json_pack("{s:s, s:i, s:i}", "name", net->hosts[h], "class", net->class_of[h],
                                               "switch", net->group_of[h]));
    for (int k = 0; k < n; k++)
        json_array_append_new(classes, class_json(net, &net->classes[k]));
    for (int k = 0; k < n * n; k++)
        if (net->pairs[k].beta_bytes_per_s.v > 0)
            json_array_append_new(pairs, json_pack("{s:i, s:i, s:o, s:o, s:f}", "from", k / n, "to", k % n, "L_s",
                                                   value_json(&net->pairs[k].L_s), "beta_bytes_per_s",
                                                   value_json(&net->pairs[k].beta_bytes_per_s),
                                                   "bandwidth_bytes_per_s", fastest_bandwidth(net, k / n, k % n)));
    for (int k = 0; k < groups * groups; k++)
        if (net->trunks[k].v > 0)
            json_array_append_new(trunks, json_pack("{s:i, s:i, s:o, s:f}", "from", k / groups, "to", k % groups,
                                                    "bytes_per_s", value_json(&net->trunks[k]),
                                                    "bandwidth_bytes_per_s",
                                                    hrun_net_trunk_bandwidth(net, k / groups, k % groups)));
    for (int k = 0; k < net->nsegments; k++)
        json_array_append_new(segments, json_pack("{s:f, s:f, s:f}", "from_bytes", net->segments[k].from_bytes, "a",
                                                  net->segments[k].a, "b", net->segments[k].b));
    json_object_update_new(root, json_pack("{s:o, s:o, s:o, s:o, s:o}", "hosts", hosts, "classes", classes, "pairs",
                                           pairs, "trunks", trunks, "segments", segments));
}

void network_json(const struct hrun_net *net, const struct network_about *about, struct hrun_buf *out)
{
    const struct hrun_net_thresholds *t = &net->thresholds;
    const struct hrun_net_quality *q = about->quality;
    struct hrun_net_unsure u;
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:i}", "date", net->date, "engine", net->engine, "mpi", net->mpi,
                             "selector", net->selector, "switches", net->ngroups);

    add_arrays(net, root);
    json_object_update_new(root, json_pack("{s:f, s:b, s:b, s:f, s:f, s:b, s:f}", "rendezvous_bytes", net->sync_bytes,
                                           "wire_waits", net->wire_waits, "exchange_waits", net->exchange_waits,
                                           "bias_bytes", net->bias_bytes, "back_share", net->back_share,
                                           "trunks_shared", net->trunks_shared, "reduce_s_per_byte",
                                           net->reduce_s_per_byte));
    json_object_set_new(root, "thresholds", json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scatter_S_bytes",
                                                      t->scatter_S, "gather_M1_bytes", t->gather_M1, "gather_M2_bytes",
                                                      t->gather_M2, "kappa1_s_per_byte", t->kappa1_s_per_byte,
                                                      "kappa2_s_per_byte", t->kappa2_s_per_byte, "irregular_s",
                                                      t->irregular_s, "irregular_share", t->irregular_share));
    if (q) {
        json_t *notes = json_array();

        for (size_t i = 0; i < q->notes.n; i++)
            json_array_append_new(notes, json_string(q->notes.v[i]));
        json_object_set_new(root, "measurement", json_pack("{s:I, s:f, s:f, s:f, s:i, s:o}", "experiments",
                                                           (json_int_t)about->records, "spent_s", about->spent_s,
                                                           "residual", q->residual_rel, "worst_residual", q->worst_rel,
                                                           "asymmetric_pairs", q->asymmetric, "notes", notes));
    }
    /* Pairs with wide intervals; null if there are none. */
    hrun_net_find_unsure(net, &u);
    json_object_set_new(root, "unsure", !u.pairs ? json_null() :
                        json_pack("{s:i, s:i, s:s, s:s, s:f}", "pairs", u.pairs, "of", u.of, "from",
                                  net->hosts[u.from], "to", net->hosts[u.to], "half", u.half_rel));
    if (about->file)
        json_object_set_new(root, "file", json_string(about->file));
    hrun_json_print(root, out);
}
