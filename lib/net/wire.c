/* wire.c - one message by the stages of the model, and the rates of several (replay.h) */
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

/* The weight of a message in shared rates: one over the sum of its latency and the time of bias_bytes on both hosts'
 * ports; 1 without bias_bytes. */
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

/* ---------------------------------------------------------------- max-min fair rates by progressive filling
 *
 * The rates of all open flows rise with a common level, in proportion to their shares. A flow is closed when it reaches
 * its limit, or when one of its resources is full.
 */

/* Levels with a smaller relative difference are equal: rounding of sums and quotients of some hundred terms. */
static const double SAME = 1e-12;

/* The level at which a resource is full. */
static double share_full_level(const struct share_resource *r)
{
    return r->left / r->weight;
}

static void share_begin(struct share_flow *flows, int n, struct share_resource *resources, int *open)
{
    for (int f = 0; f < n; f++) {
        open[f] = f;
        for (int u = 0; u < flows[f].nuse; u++) {
            struct share_resource *r = &resources[flows[f].use[u]];

            r->left = r->capacity;
            r->weight = 0;
        }
    }
    for (int f = 0; f < n; f++)
        for (int u = 0; u < flows[f].nuse; u++)
            resources[flows[f].use[u]].weight += flows[f].weight[u] * flows[f].share;
}

/* Set the rates of the flows that are closed next, and -1 for the other open flows. Flows with limits below the level
 * at which the next resource is full come first: they leave more to the others, which raises the level. */
static void share_set_rates(struct share_flow *flows, const struct share_resource *resources, const int *open, int n)
{
    double level = INFINITY;
    int closed = 0;

    for (int i = 0; i < n; i++)
        for (int u = 0; u < flows[open[i]].nuse; u++)
            level = fmin(level, share_full_level(&resources[flows[open[i]].use[u]]));
    for (int i = 0; i < n; i++) {
        struct share_flow *f = &flows[open[i]];

        f->rate = f->limit < INFINITY && f->limit <= level * f->share * (1 + SAME) ? f->limit : -1;
        closed += f->rate >= 0;
    }
    for (int i = 0; i < n && !closed; i++) {
        struct share_flow *f = &flows[open[i]];

        for (int u = 0; u < f->nuse; u++)
            if (share_full_level(&resources[f->use[u]]) <= level * (1 + SAME))
                f->rate = level * f->share;
    }
}

void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *open)
{
    share_begin(flows, n, resources, open);
    while (n > 0) {
        int kept = 0;

        share_set_rates(flows, resources, open, n);
        for (int i = 0; i < n; i++) {
            const struct share_flow *f = &flows[open[i]];

            if (f->rate < 0) {
                open[kept++] = open[i];
                continue;
            }
            for (int u = 0; u < f->nuse; u++) {
                struct share_resource *r = &resources[f->use[u]];

                r->left = fmax(r->left - f->rate * f->weight[u], 0);
                r->weight -= f->weight[u] * f->share;
            }
        }
        n = kept;
    }
}
