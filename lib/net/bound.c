/* bound.c - a lower bound of an operation's time (net.h)
 *
 * With any algorithm and order of the ranks, the data that a host's ranks need from others enter the host, and the data
 * that others need leave it. load_of returns the load by m ranks of the host and e others. The ports give the time;
 * the shortest way to another host is added, as no byte flows before. All-to-alls in which each rank sends directly to
 * each other rank have two more bounds: the processor's time, and the sum of rounds if messages wait for their
 * receivers. A group of hosts has the same bound by its trunks.
 */
#include "base/alloc.h"
#include "net/algorithms.h"
#include "net/net_parts.h"

#include <math.h>
#include <string.h>

/* A simulation may be faster than the model by 1e-3 (TOGETHER in replay.c) and by rounding of some thousand terms. */
static const double MARGIN = (1 - 1e-3) * (1 - 1e-9);

struct bound {
    const struct hrun_net *net;
    const struct hrun_net_call *call;
    const struct hrun_net_ranks *some;
    const char *algorithm;
    double least_a, least_b;   /* least factors of all segments */
    int host, m, e;            /* the host; number of its ranks; least number of ranks elsewhere */
    int e_known;               /* number of ranks of `some` elsewhere */
};

/* ---------------------------------------------------------------- bytes */

/* Least number of messages of call->bytes that enter and leave a host. either = 1: only one of the two is certain. */
struct load {
    double in, out;
    int either;
};

/* The load of a host with m ranks, with e ranks elsewhere. */
static struct load load_of(enum hrun_net_op op, double m, double e)
{
    switch (op) {
    case HRUN_NET_ALLTOALL:
        return (struct load){ m * e, m * e, 0 };
    case HRUN_NET_ALLGATHER:
        return (struct load){ e, m, 0 };
    case HRUN_NET_ALLREDUCE:
    case HRUN_NET_RING:
        return (struct load){ 1, 1, 0 };
    case HRUN_NET_SCATTER:
    case HRUN_NET_GATHER:
        return (struct load){ fmin(m, e), fmin(m, e), 1 };
    case HRUN_NET_P2P:
    case HRUN_NET_BCAST:
    case HRUN_NET_REDUCE:
        return (struct load){ 1, 1, 1 };
    case HRUN_NET_BARRIER:
    case HRUN_NET_NOPS:
        break;
    }
    return (struct load){ 0, 0, 0 };
}

/* The time of a load through ports or trunks with these rates (0: no limit). shared = 1: both directions share the rate
 * `in`. */
static double load_s(const struct bound *b, struct load l, double in, double out, int shared)
{
    double bytes = b->call->bytes * b->least_b, back = b->net->back_share;

    if (l.either)
        return in > 0 && out > 0 ? l.in * bytes / fmax(in, out) : 0;
    if (shared)
        return (l.in + l.out) * (1 + back) * bytes / in;
    return fmax(in > 0 ? (l.in + back * l.out) * bytes / in : 0, out > 0 ? (l.out + back * l.in) * bytes / out : 0);
}

/* ---------------------------------------------------------------- the way to others */

/* Time in s of a message from host j without the sender's stage; INFINITY if the pair was not measured. */
static double from_s(const struct bound *b, int j)
{
    const struct hrun_net_class *c = &b->net->classes[b->net->class_of[j]];
    double bytes = b->call->bytes, all_s = hrun_net_p2p(b->net, j, 0, b->host, 0, bytes);

    return isnan(all_s) ? INFINITY : all_s - c->C_s.v - c->t_s_per_byte.v * bytes;
}

/* The least time, over all pairs and factors, before a byte flows to or from the host. */
static double way_s(const struct bound *b)
{
    const struct hrun_net *net = b->net;
    double least_s = INFINITY;
    int c = net->class_of[b->host];

    for (int j = 0; j < net->nhosts; j++) {
        int d = net->class_of[j];
        const struct hrun_net_pair *to = &net->pairs[c * net->nclasses + d], *from = &net->pairs[d * net->nclasses + c];

        if (j == b->host)
            continue;
        if (to->beta_bytes_per_s.v > 0)
            least_s = fmin(least_s, net->classes[c].C_s.v + b->least_a * to->L_s.v);
        if (from->beta_bytes_per_s.v > 0)
            least_s = fmin(least_s, net->classes[d].C_s.v + b->least_a * from->L_s.v);
    }
    return least_s < INFINITY ? least_s : 0;
}

/* ---------------------------------------------------------------- each to each */

/* The time in which a rank of the host exchanges messages with each rank elsewhere, in rounds one after the other. */
static double rounds_s(const struct bound *b)
{
    double least_s = INFINITY, sum_s = 0;

    for (int j = 0; j < b->net->nhosts; j++)
        if (j != b->host)
            least_s = fmin(least_s, from_s(b, j));
    if (!(least_s < INFINITY))
        return 0;
    for (int r = 0; r < b->some->n; r++)
        if (b->some->host[r] != b->host)
            sum_s += fmin(from_s(b, b->some->host[r]), 1e300);
    return sum_s + (b->e - b->e_known) * least_s;
}

/* The time of a rank of the host that exchanges messages with each rank elsewhere directly; 0 for other algorithms. */
static double direct_s(const struct bound *b)
{
    const struct hrun_net *net = b->net;
    const struct hrun_net_class *c = &net->classes[net->class_of[b->host]];
    int waits = net->wire_waits || (net->sync_bytes > 0 && b->call->bytes >= net->sync_bytes);
    int one_by_one = !strcmp(b->algorithm, "pairwise");

    if ((b->call->op != HRUN_NET_ALLTOALL && b->call->op != HRUN_NET_ALLGATHER) ||
        !(one_by_one || !strcmp(b->algorithm, "throttled") || !strcmp(b->algorithm, "linear")))
        return 0;
    return fmax(2 * b->e * (c->C_s.v + c->t_s_per_byte.v * b->call->bytes), waits && one_by_one ? rounds_s(b) : 0);
}

/* ---------------------------------------------------------------- hosts */

/* A lower bound, <= 0, of the network's correction of an operation. */
static double correction_s(const struct bound *b)
{
    const struct hrun_net_thresholds *th = &b->net->thresholds;

    if (b->call->op != HRUN_NET_GATHER && b->call->op != HRUN_NET_ALLGATHER)
        return 0;
    return fmin(0, fmin(th->kappa1_s_per_byte, th->kappa2_s_per_byte) * b->call->bytes);
}

static double host_bound_s(const struct bound *b)
{
    const struct hrun_net_class *c = &b->net->classes[b->net->class_of[b->host]];
    double ports_s = load_s(b, load_of(b->call->op, b->m, b->e), c->in_bytes_per_s.v, c->out_bytes_per_s.v, 0);

    return b->e < 1 ? 0 : fmax(fmax(way_s(b) + ports_s, direct_s(b)) * MARGIN + correction_s(b), 0);
}

/* ---------------------------------------------------------------- groups of hosts */

/* The total rate of trunks out of group g, or into it; 0: no limit. */
static double trunks_of(const struct hrun_net *net, int g, int out)
{
    double sum = 0;

    for (int h = 0; h < net->ngroups; h++) {
        double rate = net->trunks[out ? net_trunk(net, g, h) : net_trunk(net, h, g)].v;

        if (h != g && rate <= 0)
            return 0;
        sum += h != g ? rate : 0;
    }
    return sum;
}

/* The bound of group g: of n ranks, m are known to be in it and e elsewhere. The others may be on either side; the load
 * of an all-to-all, a concave product, is least with all of them on one side. */
static double group_bound_s(const struct bound *b, int g, int m, int e, int n)
{
    const struct hrun_net *net = b->net;
    int rest = b->call->op == HRUN_NET_ALLTOALL ? n - m - e : 0;
    struct load l = (double)(m + rest) * e < (double)m * (e + rest) ? load_of(b->call->op, m + rest, e)
                                                                  : load_of(b->call->op, m, e + rest);
    double out = trunks_of(net, g, 1), in = trunks_of(net, g, 0);

    if (m < 1 || e < 1 || !(in > 0) || !(out > 0))
        return 0;
    return fmax(load_s(b, l, in, out, net->trunks_shared) * MARGIN + correction_s(b), 0);
}

/* ---------------------------------------------------------------- the whole */

double hrun_net_bound(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                      const struct hrun_net_ranks *some, int beside, struct hrun_error *err)
{
    struct bound b = { .net = net, .call = call, .some = some, .least_a = INFINITY, .least_b = INFINITY };
    struct hrun_net_call checked = *call;
    const struct net_algorithm *algorithm;
    autorelease(net_hosts_release) struct net_hosts hosts = { 0 };
    double most_s = 0;

    checked.root = 0;
    if (net_check_ranks(net, some, err) || net_check_call(&checked, n, err))
        return NAN;
    if (n < some->n) {
        hrun_fail(err, HRUN_EINVAL, "%d ranks in all, and %d of them are known", n, some->n);
        return NAN;
    }
    algorithm = net_algorithm_of_call(net, call, n, 1, err);
    if (!algorithm)
        return NAN;
    net_hosts_find(some, &hosts);
    b.algorithm = algorithm->name;
    for (int k = 0; k < net->nsegments; k++) {
        b.least_a = fmin(b.least_a, net->segments[k].a);
        b.least_b = fmin(b.least_b, net->segments[k].b);
    }
    for (int h = 0; h < hosts.nhosts; h++) {
        b.host = some->host[hosts.leader[h]];
        b.m = hosts.first[h + 1] - hosts.first[h];
        b.e_known = some->n - b.m;
        b.e = n - b.m - beside > b.e_known ? n - b.m - beside : b.e_known;
        most_s = fmax(most_s, host_bound_s(&b));
    }
    for (int g = 0; g < net->ngroups && net->ngroups > 1; g++) {
        int m = 0;

        for (int r = 0; r < some->n; r++)
            m += net->group_of[some->host[r]] == g;
        most_s = fmax(most_s, group_bound_s(&b, g, m, some->n - m, n));
    }
    return most_s;
}
