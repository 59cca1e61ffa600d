/* algorithms.h - the steps of each rank in a collective operation, by algorithm; for lib/net
 *
 * Purpose: the algorithms of MPI libraries as steps of the ranks (replay.h). A program adds the steps of one member of
 * a task. A task may have only some of the ranks, so that an operation can be composed of others.
 * Sources: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19, 2005; Bruck et al., IEEE Trans. on Parallel and Distributed Systems 8,
 * 1997; and the behaviour of Open MPI 4.1 and SimGrid 3.32, which tests/accuracy/net checks.
 * Invariants: a part of a message may have any size, even a fraction of an element.
 */
#ifndef HRUN_NET_ALGORITHMS_H
#define HRUN_NET_ALGORITHMS_H

#include "net/replay.h"

/* Trees of places. A place is the index of a member relative to the root. To get the parent of a place, clear
 * its lowest 1 bit, its highest 1 bit, or its lowest nonzero base-4 digit (k-nomial). In Open MPI's binary tree the
 * children of v are v + w and v + 2 w, where w is the number of members of v's level. */
enum net_tree { NET_TREE_LOW_BIT, NET_TREE_HIGH_BIT, NET_TREE_KNOMIAL, NET_TREE_BINARY, NET_TREE_CHAIN };

struct net_task {
    int n, root;               /* members, and the root's index among them */
    const int *ranks;          /* n: their ranks; NULL: first, first + stride, ... */
    int first, stride;
    enum net_tree tree;        /* for programs along trees */
    double bytes;              /* as in struct hrun_net_call */
    double scatter_S, gather_M2; /* of struct hrun_net_thresholds; 0: none */
    const char *selector;      /* chooses the parts of "reduce-bcast" */
    const struct net_hosts *hosts; /* the hosts of all ranks of the communicator */
};

/* The ranks on each host. Hosts are in order of their first ranks; host h has the ranks
 * rank[first[h]..first[h + 1] - 1], ascending. */
struct net_hosts {
    int nhosts;
    int *first, *rank, *leader; /* leader[h]: first rank of host h */
    int *host, *index;         /* for each rank: h, and its index among the ranks of its host */
    int uniform;               /* 1: the same number of ranks on each host */
};
void net_hosts_find(const struct hrun_net_ranks *ranks, struct net_hosts *out);
void net_hosts_release(struct net_hosts *h);

/* Add the steps of member `me`. */
typedef void net_program(struct play_schedule *s, const struct net_task *t, int me);

/* The algorithms; the last row has no name. p2p has no program. */
extern const struct net_algorithm {
    enum hrun_net_op op;
    const char *name;
    net_program *program;
    enum net_tree tree;
} net_algorithms[];

/* An algorithm by name, or NULL. */
const struct net_algorithm *net_algorithm_find(enum hrun_net_op op, const char *name);
/* Add the steps of member `me` by an algorithm. Its tree replaces t->tree. */
void net_add_steps(struct play_schedule *s, const struct net_task *t, int me, const struct net_algorithm *algorithm);

/* The algorithm that a selector chooses for n members, or NULL without such a selector. uniform: as in net_hosts. */
const char *net_select(const char *selector, enum hrun_net_op op, int n, double bytes, int uniform);

/* Check hosts and kinds of the ranks; check the call among n ranks. Errors: HRUN_EINVAL. */
int net_check_ranks(const struct hrun_net *net, const struct hrun_net_ranks *ranks, struct hrun_error *err);
int net_check_call(const struct hrun_net_call *call, int n, struct hrun_error *err);
/* The algorithm of an operation among n ranks: call->algorithm, or the choice of the network's selector. Errors (NULL):
 * HRUN_EINVAL. */
const struct net_algorithm *net_algorithm_of_call(const struct hrun_net *net, const struct hrun_net_call *call, int n,
                                                  int uniform, struct hrun_error *err);

/* For programs: the rank of member i; the place of member `me`, which is its index relative to the root; the rank at a
 * place. */
int net_rank(const struct net_task *t, int i);
int net_place(const struct net_task *t, int me);
int net_at(const struct net_task *t, int place);
/* Bytes of blocks from..to - 1 if `total` bytes are cut into blocks; the last blocks may be shorter or empty. */
double net_span(double block, double total, int from, int to);
/* The largest power of two <= n. */
int net_pow2_below(int n);
/* Send to the member `distance` ahead (cyclically) and receive from the member `distance` behind. */
void net_shift(struct play_schedule *s, const struct net_task *t, int me, int distance, double bytes);

/* algo_root.c; net_from_root: the root sends a block (scatter) or the whole message (bcast) to all at once */
net_program net_scatter_linear, net_from_root, net_scatter_binomial, net_scatter_rising;
net_program net_gather_linear, net_gather_sync, net_gather_binomial;
net_program net_broadcast, net_bcast_doubling, net_bcast_ring, net_bcast_hosts, net_reduce_linear, net_reduce_tree;
/* algo_reduce.c */
net_program net_reduce_rabenseifner, net_reduce_hosts;
net_program net_allreduce_doubling, net_allreduce_ring, net_allreduce_rabenseifner, net_allreduce_parts,
    net_allreduce_linear, net_allreduce_hosts;
/* algo_all.c */
net_program net_ring;
net_program net_allgather_bruck, net_allgather_doubling, net_allgather_doubling_mpich, net_allgather_ring,
    net_allgather_neighbor;
net_program net_alltoall_linear, net_alltoall_pairwise, net_alltoall_bruck, net_alltoall_throttled;
net_program net_barrier_linear, net_barrier_doubling, net_barrier_tree;

/* Recursive doubling of blocks of `block` bytes, cut from `total` bytes, among places. Members without a partner
 * receive from their neighbours. Used by allgather and broadcast. */
void net_doubling(struct play_schedule *s, const struct net_task *t, int me, double block, double total);

#endif
