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

static json_t *hosts_json(const struct hrun_net *net)
{
    json_t *a = json_array();

    for (int h = 0; h < net->nhosts; h++)
        json_array_append_new(a, json_pack("{s:s, s:i, s:i}", "name", net->hosts[h], "class", net->class_of[h],
                                           "switch", net->group_of[h]));
    return a;
}

static json_t *kinds_json(const struct hrun_net_class *c)
{
    json_t *a = json_array();

    for (int k = 0; k < c->nkinds * c->nkinds; k++)
        json_array_append_new(a, json_pack("{s:i, s:i, s:o, s:o}", "from", k / c->nkinds, "to", k % c->nkinds,
                                           "fixed_s", value_json(&c->local_fixed_s[k]), "s_per_byte",
                                           value_json(&c->local_s_per_byte[k])));
    return a;
}

static json_t *classes_json(const struct hrun_net *net)
{
    json_t *a = json_array();

    for (int k = 0; k < net->nclasses; k++) {
        const struct hrun_net_class *c = &net->classes[k];

        json_array_append_new(a, json_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "C_s", value_json(&c->C_s),
                                           "t_s_per_byte", value_json(&c->t_s_per_byte), "out_bytes_per_s",
                                           value_json(&c->out_bytes_per_s), "in_bytes_per_s",
                                           value_json(&c->in_bytes_per_s), "out_bandwidth_bytes_per_s",
                                           c->out_bytes_per_s.v * network_long_share(net), "in_bandwidth_bytes_per_s",
                                           c->in_bytes_per_s.v * network_long_share(net), "local_bytes_per_s",
                                           c->local_bytes_per_s, "local", kinds_json(c)));
    }
    return a;
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

static json_t *pairs_json(const struct hrun_net *net)
{
    json_t *a = json_array();

    for (int k = 0; k < net->nclasses * net->nclasses; k++)
        if (net->pairs[k].beta_bytes_per_s.v > 0)
            json_array_append_new(a, json_pack("{s:i, s:i, s:o, s:o, s:f}", "from", k / net->nclasses, "to",
                                               k % net->nclasses, "L_s", value_json(&net->pairs[k].L_s),
                                               "beta_bytes_per_s", value_json(&net->pairs[k].beta_bytes_per_s),
                                               "bandwidth_bytes_per_s", fastest_bandwidth(net, k / net->nclasses,
                                                                                          k % net->nclasses)));
    return a;
}

static json_t *trunks_json(const struct hrun_net *net)
{
    json_t *a = json_array();

    for (int k = 0; k < net->ngroups * net->ngroups; k++)
        if (net->trunks[k].v > 0)
            json_array_append_new(a, json_pack("{s:i, s:i, s:o, s:f}", "from", k / net->ngroups, "to", k % net->ngroups,
                                               "bytes_per_s", value_json(&net->trunks[k]), "bandwidth_bytes_per_s",
                                               hrun_net_trunk_bandwidth(net, k / net->ngroups, k % net->ngroups)));
    return a;
}

static json_t *segments_json(const struct hrun_net *net)
{
    json_t *a = json_array();

    for (int k = 0; k < net->nsegments; k++)
        json_array_append_new(a, json_pack("{s:f, s:f, s:f}", "from_bytes", net->segments[k].from_bytes, "a",
                                           net->segments[k].a, "b", net->segments[k].b));
    return a;
}

static json_t *thresholds_json(const struct hrun_net_thresholds *t)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scatter_S_bytes", t->scatter_S, "gather_M1_bytes",
                     t->gather_M1, "gather_M2_bytes", t->gather_M2, "kappa1_s_per_byte", t->kappa1_s_per_byte,
                     "kappa2_s_per_byte", t->kappa2_s_per_byte, "irregular_s", t->irregular_s, "irregular_share",
                     t->irregular_share);
}

/* Pairs with wide intervals (hrun_net_find_unsure); null if there are none. */
static json_t *unsure_json(const struct hrun_net *net)
{
    struct hrun_net_unsure u;

    hrun_net_find_unsure(net, &u);
    return u.pairs ? json_pack("{s:i, s:i, s:s, s:s, s:f}", "pairs", u.pairs, "of", u.of, "from", net->hosts[u.from],
                               "to", net->hosts[u.to], "half", u.half_rel) : json_null();
}

static json_t *measured_with_json(const struct network_about *a)
{
    json_t *notes = json_array();

    for (size_t i = 0; i < a->quality->notes.n; i++)
        json_array_append_new(notes, json_string(a->quality->notes.v[i]));
    return json_pack("{s:I, s:f, s:f, s:f, s:i, s:o}", "experiments", (json_int_t)a->records, "spent_s", a->spent_s,
                     "residual", a->quality->residual_rel, "worst_residual", a->quality->worst_rel, "asymmetric_pairs",
                     a->quality->asymmetric, "notes", notes);
}

void network_json(const struct hrun_net *net, const struct network_about *about, struct hrun_buf *out)
{
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:f, s:b, s:b, s:f, s:f, s:b, s:f, "
                             "s:o}",
                             "date", net->date, "engine", net->engine, "mpi", net->mpi, "selector", net->selector,
                             "switches", net->ngroups, "hosts", hosts_json(net), "classes", classes_json(net), "pairs",
                             pairs_json(net), "trunks", trunks_json(net), "segments", segments_json(net),
                             "rendezvous_bytes", net->sync_bytes, "wire_waits", net->wire_waits, "exchange_waits",
                             net->exchange_waits, "bias_bytes", net->bias_bytes,
                             "back_share", net->back_share, "trunks_shared", net->trunks_shared, "reduce_s_per_byte",
                             net->reduce_s_per_byte, "thresholds", thresholds_json(&net->thresholds));

    if (about->quality)
        json_object_set_new(root, "measurement", measured_with_json(about));
    json_object_set_new(root, "unsure", unsure_json(net));
    if (about->file)
        json_object_set_new(root, "file", json_string(about->file));
    hrun_json_print(root, out);
}
