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

const struct net_algorithm net_algorithms[] = {
    { HRUN_NET_P2P, "direct", NULL, 0 },
    { HRUN_NET_RING, "direct", net_ring, 0 },
    { HRUN_NET_SCATTER, "linear", net_scatter_linear, 0 },
    { HRUN_NET_SCATTER, "linear-posted", net_from_root, 0 },
    { HRUN_NET_SCATTER, "binomial", net_scatter_binomial, NET_TREE_LOW_BIT },
    { HRUN_NET_SCATTER, "binomial-rising", net_scatter_rising, NET_TREE_LOW_BIT },
    { HRUN_NET_GATHER, "linear", net_gather_linear, 0 },
    { HRUN_NET_GATHER, "linear-sync", net_gather_sync, 0 },
    { HRUN_NET_GATHER, "binomial", net_gather_binomial, NET_TREE_LOW_BIT },
    { HRUN_NET_BCAST, "linear", net_from_root, 0 },
    { HRUN_NET_BCAST, "binomial", net_broadcast, NET_TREE_HIGH_BIT },
    { HRUN_NET_BCAST, "binomial-mpich", net_broadcast, NET_TREE_LOW_BIT },
    { HRUN_NET_BCAST, "knomial", net_broadcast, NET_TREE_KNOMIAL },
    { HRUN_NET_BCAST, "chain", net_broadcast, NET_TREE_CHAIN },
    { HRUN_NET_BCAST, "binary", net_broadcast, NET_TREE_BINARY },
    { HRUN_NET_BCAST, "scatter-doubling", net_bcast_doubling, NET_TREE_LOW_BIT },
    { HRUN_NET_BCAST, "scatter-ring", net_bcast_ring, NET_TREE_LOW_BIT },
    { HRUN_NET_BCAST, "by-hosts", net_bcast_hosts, NET_TREE_LOW_BIT },
    { HRUN_NET_REDUCE, "linear", net_reduce_linear, 0 },
    { HRUN_NET_REDUCE, "chain", net_reduce_tree, NET_TREE_CHAIN },
    { HRUN_NET_REDUCE, "binary", net_reduce_tree, NET_TREE_BINARY },
    { HRUN_NET_REDUCE, "binomial", net_reduce_tree, NET_TREE_LOW_BIT },
    { HRUN_NET_REDUCE, "rabenseifner", net_reduce_rabenseifner, 0 },
    { HRUN_NET_REDUCE, "by-hosts", net_reduce_hosts, NET_TREE_LOW_BIT },
    { HRUN_NET_ALLREDUCE, "linear", net_allreduce_linear, 0 },
    { HRUN_NET_ALLREDUCE, "reduce-bcast", net_allreduce_parts, 0 },
    { HRUN_NET_ALLREDUCE, "recursive-doubling", net_allreduce_doubling, 0 },
    { HRUN_NET_ALLREDUCE, "ring", net_allreduce_ring, 0 },
    { HRUN_NET_ALLREDUCE, "rabenseifner", net_allreduce_rabenseifner, 0 },
    { HRUN_NET_ALLREDUCE, "by-hosts", net_allreduce_hosts, NET_TREE_LOW_BIT },
    { HRUN_NET_ALLGATHER, "bruck", net_allgather_bruck, 0 },
    { HRUN_NET_ALLGATHER, "recursive-doubling", net_allgather_doubling, 0 },
    { HRUN_NET_ALLGATHER, "recursive-doubling-mpich", net_allgather_doubling_mpich, 0 },
    { HRUN_NET_ALLGATHER, "ring", net_allgather_ring, 0 },
    { HRUN_NET_ALLGATHER, "pairwise", net_alltoall_pairwise, 0 },
    { HRUN_NET_ALLGATHER, "neighbor", net_allgather_neighbor, 0 },
    { HRUN_NET_ALLTOALL, "linear", net_alltoall_linear, 0 },
    { HRUN_NET_ALLTOALL, "pairwise", net_alltoall_pairwise, 0 },
    { HRUN_NET_ALLTOALL, "bruck", net_alltoall_bruck, 0 },
    { HRUN_NET_ALLTOALL, "throttled", net_alltoall_throttled, 0 },
    { HRUN_NET_BARRIER, "linear", net_barrier_linear, 0 },
    { HRUN_NET_BARRIER, "recursive-doubling", net_barrier_doubling, 0 },
    { HRUN_NET_BARRIER, "bruck", net_alltoall_bruck, 0 },
    { HRUN_NET_BARRIER, "tree", net_barrier_tree, NET_TREE_LOW_BIT },
    { HRUN_NET_NOPS, NULL, NULL, 0 }
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
    const struct net_algorithm *a = net_algorithms;

    while (a->name && (a->op != op || strcmp(name, a->name)))
        a++;
    return a->name ? a : NULL;
}

/* ---------------------------------------------------------------- for programs */

int net_rank(const struct net_task *t, int i)
{
    return t->ranks ? t->ranks[i] : t->first + i * t->stride;
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

void net_add_steps(struct play_schedule *s, const struct net_task *t, int me, const struct net_algorithm *algorithm)
{
    struct net_task task = *t;

    task.tree = algorithm->tree;
    if (algorithm->op == HRUN_NET_BARRIER)
        task.bytes = task.root = 0;
    algorithm->program(s, &task, me);
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
