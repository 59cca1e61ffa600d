/* coll_choice.h - choosing the algorithm ("way") of an operation: the MPI library's or one of libhrun-coll.so
 *
 * Purpose: choose the fastest way by the network model of lib/net; a table has a row for each way.
 * Ways: `linear`, `binomial`, `hosts` and `greedy` are trees (below); broadcasts go along them in segments. `pieces` is
 * a linear gather in pieces well below M1 bytes: the root requests a piece when it has received the previous one from
 * all ranks. Paper 002 does so from M1 to M2 bytes, where the times of a linear gather are irregular.
 * Invariants: a way of ours is proposed only if the model predicts a saving above options.margin of the time and above
 * options.cost_s; equal arguments give equal choices on all ranks (lib/net is compiled with -ffp-contract=off). If the
 * model has no prediction, the library's way is chosen. If memory runs out, the program ends.
 */
#ifndef HRUN_PRELOADED_COLL_CHOICE_H
#define HRUN_PRELOADED_COLL_CHOICE_H

#include "net/tune.h"

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- tree
 *
 * The tree along which the ranks of a communicator pass data from or to the root
 *
 * Purpose: trees for hosts of different speed. coll_choice.c predicts the time of an operation along each by lib/net,
 * and move.c performs the operation along one.
 * Invariants: a tree spans ranks 0..n-1; `order` contains each subtree in one piece: its root, then the subtrees of the
 * root's children in the order of `child`. Equal arguments give equal trees on all ranks.
 */

struct coll_tree {
    int n, root;
    int *parent;               /* -1: the root */
    int *first, *child;        /* children of v: child[first[v]] .. child[first[v + 1] - 1], in the order of their
                                  messages */
    int *order, *pos, *size;   /* order[pos[v]] = v; size: ranks in the subtree of v */
};
void coll_tree_free(struct coll_tree *t);

/* A function that builds a tree for messages of this size per rank. The network has measurements between all hosts of
 * the ranks. NULL: there are too many ranks. */
typedef struct coll_tree *coll_build(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                     double bytes);

/* linear: the root is the parent of all; slow ranks come first, because their messages take longest after leaving the
 * root. binomial: fast ranks have large subtrees, slow ranks are leaves. hosts: binomial trees at three levels: one
 * rank for each switch, one for each host of a switch, the ranks of a host. greedy: repeatedly adds the edge that ends
 * first. */
coll_build coll_tree_linear, coll_tree_binomial, coll_tree_hosts, coll_tree_greedy;

/* ---------------------------------------------------------------- choice */

struct coll_choice {
    const char *way;           /* NULL: the MPI library's */
    struct coll_tree *tree;    /* of our way; owned */
    double segment;            /* bytes of a piece, or of a broadcast's segment; 0: undivided */
    double time_s, library_s;  /* predicted times of this way and of the library's; -1: unknown */
};
void coll_choice_release(struct coll_choice *c);

/* Choose for HRUN_NET_SCATTER or _GATHER (bytes: of each rank) or _BCAST (of the message). */
void coll_choose(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                 double bytes, struct coll_choice *out);

/* The predicted time of an operation along a tree, s. segment: bytes of a broadcast's segment, 0: undivided. */
double coll_tree_time(const struct hrun_net *net, const struct hrun_net_ranks *ranks, const struct coll_tree *tree,
                      enum hrun_net_op op, double bytes, double segment);

/* The size of the pieces in which `bytes` of a rank are gathered; 0: bytes are not irregular, or cannot be split. */
double coll_piece(const struct hrun_net *net, double bytes);

/* 1 if messages of this size must be received one after the other, else 0. Above M2 bytes times are regular because a
 * sender waits until the receiver accepts its message, and the receiver accepts one message at a time, as in MPI's
 * linear gather. */
int coll_in_turn(const struct hrun_net *net, double bytes);

/* Round `bytes` (>= 1) down to the size whose choice it uses: four sizes in each octave, and M1, M2 + 1. */
double coll_round(const struct hrun_net *net, double bytes);

/* For scatterv and gatherv, whose sizes only the root has: 1 if all calls with this communicator and root use our
 * linear order, because by the model it is never slower and saves enough at some size; else 0. */
int coll_choose_v(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                  struct coll_choice *out);

#endif
