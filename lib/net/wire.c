/* wire.c - what one message takes (replay.h) */
#include "net/net_parts.h"
#include "net/replay.h"

#include <math.h>

static const struct hrun_net_class *class_of(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank)
{
    return &net->classes[net->class_of[ranks->host[rank]]];
}

static const struct hrun_net_segment *segment_of(const struct hrun_net *net, double bytes)
{
    return net_segment_of(net->segments, net->nsegments, bytes);
}

static int same_host(const struct hrun_net_ranks *ranks, int a, int b)
{
    return ranks->host[a] == ranks->host[b];
}

/* The index into local_fixed_s and local_s_per_byte of a class for two ranks of one host. */
static int local_index(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to)
{
    return ranks->kind ? ranks->kind[from] * class_of(net, ranks, from)->nkinds + ranks->kind[to] : 0;
}

double wire_processor_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, int other,
                        double bytes)
{
    const struct hrun_net_class *c = class_of(net, ranks, rank);

    return same_host(ranks, rank, other) ? 0 : c->C_s.v + c->t_s_per_byte.v * bytes;
}

double wire_latency_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes)
{
    if (same_host(ranks, from, to))
        return class_of(net, ranks, from)->local_fixed_s[local_index(net, ranks, from, to)].v;
    return segment_of(net, bytes)->a * net_pair(net, ranks->host[from], ranks->host[to])->L_s.v;
}

double wire_copy_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, double bytes)
{
    return bytes * class_of(net, ranks, rank)->local_s_per_byte[local_index(net, ranks, rank, rank)].v;
}

/* The weight of a message in shared rates: one over the length of its way, which is the latency plus the time of
 * bias_bytes on both hosts' links; 1 without bias_bytes. */
static double way_share(const struct hrun_net *net, const struct hrun_net_class *from, const struct hrun_net_class *to,
                        double latency_s)
{
    double way_s = latency_s;

    if (net->bias_bytes <= 0)
        return 1;
    way_s += from->out_bytes_per_s.v > 0 ? net->bias_bytes / from->out_bytes_per_s.v : 0;
    way_s += to->in_bytes_per_s.v > 0 ? net->bias_bytes / to->in_bytes_per_s.v : 0;
    return way_s > 0 ? 1 / way_s : 1;
}

size_t wire_resources(const struct hrun_net *net)
{
    return 3 * (size_t)net->nhosts + (size_t)net->ngroups * (size_t)net->ngroups;
}

/* Add a resource to a flow unless it has no limit. */
static void use(struct share_flow *f, int resource, double capacity, double weight, struct share_resource *resources)
{
    if (capacity <= 0 || weight <= 0)
        return;
    resources[resource].capacity = capacity;
    for (int u = 0; u < f->nuse; u++)
        if (f->use[u] == resource) {
            f->weight[u] += weight;
            return;
        }
    f->use[f->nuse] = resource;
    f->weight[f->nuse++] = weight;
}

struct share_flow wire_flow(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to,
                            double bytes, struct share_resource *resources)
{
    const struct hrun_net_class *c = class_of(net, ranks, from), *d = class_of(net, ranks, to);
    const struct hrun_net_pair *pair = net_pair(net, ranks->host[from], ranks->host[to]);
    int i = ranks->host[from], j = ranks->host[to], there = net_trunk(net, net->group_of[i], net->group_of[j]);
    int again = net_trunk(net, net->group_of[j], net->group_of[i]), trunks = 3 * net->nhosts;
    double b = segment_of(net, bytes)->b, back = b * net->back_share;
    struct share_flow f = { .share = 1 };

    if (i == j) {
        f.limit = 1 / c->local_s_per_byte[local_index(net, ranks, from, to)].v;
        use(&f, 3 * i + 2, c->local_bytes_per_s, 1, resources);
        return f;
    }
    f.limit = pair->beta_bytes_per_s.v / b;
    f.share = way_share(net, c, d, pair->L_s.v) / b;
    use(&f, 3 * i, c->out_bytes_per_s.v, b, resources);
    use(&f, 3 * j + 1, d->in_bytes_per_s.v, b, resources);
    use(&f, 3 * j, d->out_bytes_per_s.v, back, resources);
    use(&f, 3 * i + 1, c->in_bytes_per_s.v, back, resources);
    use(&f, trunks + there, net->trunks[there].v, b, resources);
    use(&f, trunks + again, net->trunks[again].v, back, resources);
    return f;
}
