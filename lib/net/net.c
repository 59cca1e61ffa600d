/* net.c - create networks, look up values, time of a single message, uncertain pairs; see net.h for the contracts */
#include "base/alloc.h"
#include "net/net_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct hrun_net_value unknown = { 0, NAN };

void net_class_set_kinds(struct hrun_net_class *c, int nkinds)
{
    size_t n = (size_t)nkinds * (size_t)nkinds;

    free(c->local_fixed_s);
    free(c->local_s_per_byte);
    c->nkinds = nkinds;
    c->local_fixed_s = xmalloc(n * sizeof *c->local_fixed_s);
    c->local_s_per_byte = xmalloc(n * sizeof *c->local_s_per_byte);
    for (size_t i = 0; i < n; i++)
        c->local_fixed_s[i] = c->local_s_per_byte[i] = unknown;
}

void net_allocate(struct hrun_net *net, const char *const *hosts, int n, int nclasses, int ngroups, int nsegments)
{
    size_t npairs = (size_t)nclasses * (size_t)nclasses, ntrunks = (size_t)ngroups * (size_t)ngroups;
    char **texts[] = { &net->engine, &net->mpi, &net->date, &net->selector };

    for (int i = 0; i < 4; i++)
        if (!*texts[i])
            *texts[i] = xstrdup(i < 3 ? "" : "openmpi");
    net->hosts = xcalloc((size_t)n, sizeof *net->hosts);
    net->class_of = xcalloc((size_t)n, sizeof *net->class_of);
    net->group_of = xcalloc((size_t)n, sizeof *net->group_of);
    net->classes = xcalloc((size_t)nclasses, sizeof *net->classes);
    net->pairs = xmalloc(npairs * sizeof *net->pairs);
    net->trunks = xmalloc(ntrunks * sizeof *net->trunks);
    net->segments = xmalloc((size_t)nsegments * sizeof *net->segments);
    for (int i = 0; i < n; i++)
        net->hosts[i] = xstrdup(hosts[i]);
    for (int i = 0; i < nclasses; i++) {
        struct hrun_net_class *c = &net->classes[i];

        c->C_s = c->t_s_per_byte = c->out_bytes_per_s = c->in_bytes_per_s = unknown;
        net_class_set_kinds(c, 1);
    }
    for (size_t i = 0; i < npairs; i++)
        net->pairs[i] = (struct hrun_net_pair){ unknown, unknown };
    for (size_t i = 0; i < ntrunks; i++)
        net->trunks[i] = unknown;
    for (int i = 0; i < nsegments; i++)
        net->segments[i] = (struct hrun_net_segment){ 0, 1, 1 };
    net->nhosts = n;
    net->nclasses = nclasses;
    net->ngroups = ngroups;
    net->nsegments = nsegments;
}

struct hrun_net *net_make(const char *const *hosts, int n, int nclasses, int ngroups, int nsegments)
{
    struct hrun_net *net = xcalloc(1, sizeof *net);

    net_allocate(net, hosts, n, nclasses, ngroups, nsegments);
    return net;
}

void hrun_net_destroy(struct hrun_net *net)
{
    if (!net)
        return;
    for (int i = 0; i < net->nhosts; i++)
        free(net->hosts[i]);
    for (int i = 0; i < net->nclasses; i++) {
        free(net->classes[i].local_fixed_s);
        free(net->classes[i].local_s_per_byte);
    }
    free(net->engine);
    free(net->mpi);
    free(net->selector);
    free(net->date);
    free(net->hosts);
    free(net->class_of);
    free(net->group_of);
    free(net->classes);
    free(net->pairs);
    free(net->trunks);
    free(net->segments);
    free(net);
}

int hrun_net_find(const struct hrun_net *net, const char *host)
{
    for (int i = 0; i < net->nhosts; i++)
        if (!strcmp(net->hosts[i], host))
            return i;
    return -1;
}

int hrun_net_kind(const struct hrun_net *net, int host, int kind)
{
    return kind > 0 && kind < net->classes[net->class_of[host]].nkinds ? kind : 0;
}

/* ---------------------------------------------------------------- a message alone */

const struct hrun_net_segment *net_segment_of(const struct hrun_net_segment *segments, int n, double bytes)
{
    while (n > 1 && bytes < segments[n - 1].from_bytes)
        n--;
    return &segments[n - 1];
}

const struct hrun_net_pair *net_pair(const struct hrun_net *net, int from, int to)
{
    return &net->pairs[net->class_of[from] * net->nclasses + net->class_of[to]];
}

int net_trunk(const struct hrun_net *net, int g, int h)
{
    return net->trunks_shared && g > h ? h * net->ngroups + g : g * net->ngroups + h;
}

/* The smaller of two rates. A rate of 0 means no limit. */
static double tighter(double a, double b)
{
    return a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
}

/* The rate of a trunk in one direction. If both directions share it, as in a group, acknowledgements use a part of
 * it. */
static double trunk_alone(const struct hrun_net *net, int g, int h)
{
    double rate = net->trunks[net_trunk(net, g, h)].v;

    return net->trunks_shared || g == h ? rate / (1 + net->back_share) : rate;
}

double hrun_net_p2p(const struct hrun_net *net, int from, int from_kind, int to, int to_kind, double bytes)
{
    const struct hrun_net_segment *s = net_segment_of(net->segments, net->nsegments, bytes);
    const struct hrun_net_class *ci, *cj;
    const struct hrun_net_pair *pair;
    double port, trunk, rate;

    if (from < 0 || from >= net->nhosts || to < 0 || to >= net->nhosts || !(bytes >= 0))
        return NAN;
    ci = &net->classes[net->class_of[from]];
    cj = &net->classes[net->class_of[to]];
    if (from == to) {
        size_t at = (size_t)from_kind * (size_t)ci->nkinds + (size_t)to_kind;
        double least = ci->local_bytes_per_s > 0 ? 1 / ci->local_bytes_per_s : 0;

        if (from_kind < 0 || from_kind >= ci->nkinds || to_kind < 0 || to_kind >= ci->nkinds)
            return NAN;
        return ci->local_fixed_s[at].v + bytes * fmax(ci->local_s_per_byte[at].v, least);
    }
    pair = net_pair(net, from, to);
    if (!(pair->beta_bytes_per_s.v > 0))
        return NAN;
    port = tighter(ci->out_bytes_per_s.v, cj->in_bytes_per_s.v);
    trunk = trunk_alone(net, net->group_of[from], net->group_of[to]);
    rate = tighter(tighter(pair->beta_bytes_per_s.v, port), trunk) / s->b;
    return ci->C_s.v + cj->C_s.v + s->a * pair->L_s.v + bytes * (ci->t_s_per_byte.v + cj->t_s_per_byte.v + 1 / rate);
}

double hrun_net_bandwidth(const struct hrun_net *net, int from, int to)
{
    double longer = fmax(1e9, net->segments[net->nsegments - 1].from_bytes);   /* a size in the last segment */

    return longer / (hrun_net_p2p(net, from, 0, to, 0, 2 * longer) - hrun_net_p2p(net, from, 0, to, 0, longer));
}

double hrun_net_trunk_bandwidth(const struct hrun_net *net, int from, int to)
{
    return trunk_alone(net, from, to) / net->segments[net->nsegments - 1].b;
}

/* ---------------------------------------------------------------- uncertain pairs */

/* Bytes of messages: empty ones are frequent, and long ones depend on the rate. */
static const double SIZES[] = { 0, 65536 };

static double square(double factor, const struct hrun_net_value *v)
{
    return isfinite(v->half) ? factor * factor * v->half * v->half : 0;
}

/* Relative half width of the time of a message from one host to another. */
static double half_of(const struct hrun_net *net, int from, int to, double bytes)
{
    const struct hrun_net_class *a = &net->classes[net->class_of[from]], *b = &net->classes[net->class_of[to]];
    const struct hrun_net_pair *p = net_pair(net, from, to);
    double time_s = hrun_net_p2p(net, from, 0, to, 0, bytes), rate = p->beta_bytes_per_s.v, sum;

    sum = square(1, &a->C_s) + square(1, &b->C_s) + square(1, &p->L_s) + square(bytes, &a->t_s_per_byte) +
          square(bytes, &b->t_s_per_byte) + (rate > 0 ? square(bytes / rate / rate, &p->beta_bytes_per_s) : 0);
    return time_s > 0 ? sqrt(sum) / time_s : 0;
}

/* The first host of a class other than `but`, or -1. */
static int host_in_class(const struct hrun_net *net, int class, int but)
{
    for (int h = 0; h < net->nhosts; h++)
        if (net->class_of[h] == class && h != but)
            return h;
    return -1;
}

void hrun_net_find_unsure(const struct hrun_net *net, struct hrun_net_unsure *out)
{
    *out = (struct hrun_net_unsure){ 0 };
    for (int k = 0; k < net->nclasses * net->nclasses; k++) {
        int from = host_in_class(net, k / net->nclasses, -1), to = host_in_class(net, k % net->nclasses, from);
        double half = 0;

        if (from < 0 || to < 0 || !(net->pairs[k].beta_bytes_per_s.v > 0))
            continue;
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
            half = fmax(half, half_of(net, from, to, SIZES[s]));
        out->of++;
        out->pairs += half > HRUN_NET_UNSURE;
        if (half > out->half_rel) {
            out->half_rel = half;
            out->from = from;
            out->to = to;
        }
    }
}

void hrun_net_add_unsure(const struct hrun_net *net, struct hrun_buf *out)
{
    struct hrun_net_unsure u;

    hrun_net_find_unsure(net, &u);
    if (u.pairs == 0)
        return;
    hrun_buf_addf(out, "message times are uncertain for %d of %d pairs of host classes (%s -> %s: +-%.0f %%): was the "
                  "machine busy? measure again when it is quiet, with `hrun-calibrate network --redo`, and more often "
                  "with --precision 2%% and a larger -r", u.pairs, u.of, net->hosts[u.from], net->hosts[u.to],
                  100 * u.half_rel);
}
