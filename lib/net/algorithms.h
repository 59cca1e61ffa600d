/* algorithms.h - what each rank does in a collective operation, by algorithm; for lib/net
 *
 * Purpose: the algorithms that MPI libraries take, as steps of the ranks (replay.h). They are written as one rank's
 * program, among the members of a task, so that one operation can be made of others among some of its ranks.
 * Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19, 2005; Bruck et al., IEEE Trans. on Parallel and Distributed Systems 8,
 * 1997; and the behaviour of Open MPI 4.1 and SimGrid 3.32, which tests/accuracy/net checks.
 * Invariants: elements of reductions are neither counted nor kept whole: a part of a message may have any size.
 */
#ifndef HRUN_NET_ALGORITHMS_H
#define HRUN_NET_ALGORITHMS_H

#include "net/replay.h"

struct net_task {
    int n, root;               /* members, and the root's index among them */
    const int *ranks;          /* n: their ranks; NULL: index and rank are the same */
    double bytes;              /* as of struct hrun_net_call */
    double scatter_S, gather_M2; /* of struct hrun_net_thresholds; 0: none */
    const char *selector;      /* whose parts "reduce-bcast" takes */
    const struct net_hosts *hosts; /* of the ranks of the whole communicator */
};

/* Which ranks share a host: those of the h-th host (in order of their first ranks) are rank[first[h]..first[h + 1] -
 * 1], ascending. */
struct net_hosts {
    int nhosts;
    int *first, *rank, *leader; /* leader[h]: its first rank */
    int *host, *index;         /* of each rank: h, and its place among its host's */
    int uniform;               /* 1: as many ranks on each */
};
void net_hosts_find(const struct hrun_net_ranks *ranks, struct net_hosts *out);
void net_hosts_release(struct net_hosts *h);

/* Add the steps of member `me`. */
typedef void net_program(struct play_schedule *s, const struct net_task *t, int me);

/* Those of each operation; unused rows have no name. p2p is predicted without a program. */
enum { NET_ALGORITHMS_MAX = 10 };
extern const struct net_algorithm {
    const char *name;
    net_program *program;
} net_algorithms[HRUN_NET_NOPS][NET_ALGORITHMS_MAX];

/* NULL: the operation has none of that name. */
const struct net_algorithm *net_algorithm_find(enum hrun_net_op op, const char *name);

/* The algorithm that a selector takes among n members; uniform: as many on each host. NULL: no such selector. */
const char *net_select(const char *selector, enum hrun_net_op op, int n, double bytes, int uniform);

/* Are the ranks on hosts of the network, and does the operation make sense among n of them? Errors: HRUN_EINVAL. */
int net_check_ranks(const struct hrun_net *net, const struct hrun_net_ranks *ranks, struct hrun_error *err);
int net_check_call(const struct hrun_net_call *call, int n, struct hrun_error *err);
/* The algorithm of an operation among n ranks: call->algorithm, or what the network's selector takes. Errors (NULL):
 * HRUN_EINVAL. */
const struct net_algorithm *net_algorithm_of_call(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                                                  int uniform, struct hrun_error *err);

/* For programs. Rank of member i; a member's place counted from the root, and the rank at a place. */
int net_rank(const struct net_task *t, int i);
int net_place(const struct net_task *t, int me);
int net_at(const struct net_task *t, int place);
/* Bytes of blocks from .. to - 1, where `total` bytes are cut into blocks, the last ones shorter or empty. */
double net_span(double block, double total, int from, int to);
/* The largest power of two <= n; Open MPI's binary tree, counted from the root: level by level, v's children are as
 * many places after it as v's level has members, and twice as many. */
int net_pow2_below(int n);
int net_binary_parent(int v);
int net_binary_child(int v, int which);
/* Run what t->selector takes for op as a part of a program. */
void net_part(struct play_schedule *s, const struct net_task *t, int me, enum hrun_net_op op, double bytes, int root);

/* algo_root.c; net_from_root: straight to all at once, blocks (scatter) or the whole (bcast) */
net_program net_scatter_linear, net_from_root, net_scatter_binomial, net_scatter_rising;
net_program net_gather_linear, net_gather_sync, net_gather_binomial;
/* algo_bcast.c */
net_program net_bcast_binomial, net_bcast_mpich, net_bcast_knomial, net_bcast_chain, net_bcast_binary,
    net_bcast_split, net_bcast_doubling, net_bcast_ring, net_bcast_hosts;
/* algo_reduce.c */
net_program net_reduce_linear, net_reduce_chain, net_reduce_binary, net_reduce_binomial,
    net_reduce_rabenseifner, net_reduce_hosts;
net_program net_allreduce_doubling, net_allreduce_ring, net_allreduce_rabenseifner, net_allreduce_parts,
    net_allreduce_linear, net_allreduce_hosts;
/* algo_all.c */
net_program net_ring;
net_program net_allgather_bruck, net_allgather_doubling, net_allgather_doubling_mpich, net_allgather_ring,
    net_allgather_pairwise, net_allgather_neighbor;
net_program net_alltoall_linear, net_alltoall_pairwise, net_alltoall_bruck, net_alltoall_throttled;
net_program net_barrier_linear, net_barrier_doubling, net_barrier_bruck, net_barrier_tree;

/* Recursive doubling of blocks cut from `total` bytes at multiples of `block`, of virtual ranks counted from the root;
 * members that have no partner are served by their neighbours. Shared by allgather and broadcast. */
void net_doubling(struct play_schedule *s, const struct net_task *t, int me, double block, double total);

#endif
