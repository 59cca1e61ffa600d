/* algorithms.c - the table of algorithms, and functions for their programs (algorithms.h) */
#include "base/alloc.h"
#include "net/algorithms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const OPS[HRUN_NET_NOPS] = {
    [HRUN_NET_P2P] = "p2p", [HRUN_NET_RING] = "ring", [HRUN_NET_SCATTER] = "scatter", [HRUN_NET_GATHER] = "gather",
    [HRUN_NET_BCAST] = "bcast", [HRUN_NET_REDUCE] = "reduce", [HRUN_NET_ALLREDUCE] = "allreduce",
    [HRUN_NET_ALLGATHER] = "allgather", [HRUN_NET_ALLTOALL] = "alltoall", [HRUN_NET_BARRIER] = "barrier"
};

const struct net_algorithm net_algorithms[HRUN_NET_NOPS][NET_ALGORITHMS_MAX] = {
    [HRUN_NET_P2P] = { { "direct", NULL } },
    [HRUN_NET_RING] = { { "direct", net_ring } },
    [HRUN_NET_SCATTER] = { { "linear", net_scatter_linear }, { "linear-posted", net_from_root },
                           { "binomial", net_scatter_binomial }, { "binomial-rising", net_scatter_rising } },
    [HRUN_NET_GATHER] = { { "linear", net_gather_linear }, { "linear-sync", net_gather_sync },
                          { "binomial", net_gather_binomial } },
    [HRUN_NET_BCAST] = { { "linear", net_from_root }, { "binomial", net_bcast_binomial },
                         { "binomial-mpich", net_bcast_mpich }, { "knomial", net_bcast_knomial },
                         { "chain", net_bcast_chain }, { "binary", net_bcast_binary },
                         { "scatter-doubling", net_bcast_doubling }, { "scatter-ring", net_bcast_ring },
                         { "by-hosts", net_bcast_hosts } },
    [HRUN_NET_REDUCE] = { { "linear", net_reduce_linear }, { "chain", net_reduce_chain },
                          { "binary", net_reduce_binary }, { "binomial", net_reduce_binomial },
                          { "rabenseifner", net_reduce_rabenseifner }, { "by-hosts", net_reduce_hosts } },
    [HRUN_NET_ALLREDUCE] = { { "linear", net_allreduce_linear }, { "reduce-bcast", net_allreduce_parts },
                             { "recursive-doubling", net_allreduce_doubling }, { "ring", net_allreduce_ring },
                             { "rabenseifner", net_allreduce_rabenseifner }, { "by-hosts", net_allreduce_hosts } },
    [HRUN_NET_ALLGATHER] = { { "bruck", net_allgather_bruck }, { "recursive-doubling", net_allgather_doubling },
                             { "recursive-doubling-mpich", net_allgather_doubling_mpich },
                             { "ring", net_allgather_ring }, { "pairwise", net_allgather_pairwise },
                             { "neighbor", net_allgather_neighbor } },
    [HRUN_NET_ALLTOALL] = { { "linear", net_alltoall_linear }, { "pairwise", net_alltoall_pairwise },
                            { "bruck", net_alltoall_bruck }, { "throttled", net_alltoall_throttled } },
    [HRUN_NET_BARRIER] = { { "linear", net_barrier_linear }, { "recursive-doubling", net_barrier_doubling },
                           { "bruck", net_barrier_bruck }, { "tree", net_barrier_tree } }
};

const char *hrun_net_op_name(enum hrun_net_op op)
{
    return OPS[op];
}

int hrun_net_op_find(const char *name)
{
    for (int op = 0; op < HRUN_NET_NOPS; op++)
        if (!strcmp(name, OPS[op]))
            return op;
    return -1;
}

const struct net_algorithm *net_algorithm_find(enum hrun_net_op op, const char *name)
{
    for (int i = 0; i < NET_ALGORITHMS_MAX && net_algorithms[op][i].name; i++)
        if (!strcmp(name, net_algorithms[op][i].name))
            return &net_algorithms[op][i];
    return NULL;
}

/* ---------------------------------------------------------------- for programs */

int net_rank(const struct net_task *t, int i)
{
    return t->ranks ? t->ranks[i] : i;
}

int net_place(const struct net_task *t, int me)
{
    return (me - t->root + t->n) % t->n;
}

int net_at(const struct net_task *t, int place)
{
    return net_rank(t, (place + t->root) % t->n);
}

double net_span(double block, double total, int from, int to)
{
    return fmax(fmin(to * block, total) - fmin(from * block, total), 0);
}

int net_pow2_below(int n)
{
    int p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

int net_binary_parent(int v)
{
    int first = 1;

    while (2 * first <= v + 1)
        first *= 2;
    for (first /= 2; first > 0 && v >= 2 * first - 1;)
        v -= first;
    return v;
}

int net_binary_child(int v, int which)
{
    int delta = 1;

    while (2 * delta <= v + 1)
        delta *= 2;
    return v + delta * (which + 1);
}

void net_part(struct play_schedule *s, const struct net_task *t, int me, enum hrun_net_op op, double bytes, int root)
{
    struct net_task part = *t;
    const char *name = net_select(t->selector, op, t->n, bytes, t->hosts->uniform);

    part.bytes = bytes;
    part.root = root;
    net_algorithm_find(op, name)->program(s, &part, me);
}

/* ---------------------------------------------------------------- ranks by hosts */

void net_hosts_find(const struct hrun_net_ranks *ranks, struct net_hosts *out)
{
    struct net_hosts h = { .uniform = 1 };
    size_t n = (size_t)ranks->n;
    int used = 0;

    h.first = xmalloc((5 * n + 1) * sizeof *h.first);
    h.rank = h.first + n + 1;
    h.leader = h.rank + n;
    h.host = h.leader + n;
    h.index = h.host + n;
    for (int r = 0; r < ranks->n; r++)
        h.host[r] = -1;
    for (int r = 0; r < ranks->n; r++) {
        if (h.host[r] >= 0)
            continue;
        h.leader[h.nhosts] = r;
        h.first[h.nhosts] = used;
        for (int q = r; q < ranks->n; q++)
            if (ranks->host[q] == ranks->host[r]) {
                h.host[q] = h.nhosts;
                h.index[q] = used - h.first[h.nhosts];
                h.rank[used++] = q;
            }
        h.first[++h.nhosts] = used;
    }
    for (int i = 0; i < h.nhosts; i++)
        h.uniform &= h.first[i + 1] - h.first[i] == h.first[1];
    *out = h;
}

void net_hosts_release(struct net_hosts *h)
{
    free(h->first);
    *h = (struct net_hosts){ 0 };
}
