/* coll_choice.h - which way an operation is done: what the MPI library does, or one of ours
 *
 * Purpose: the choice, by the network model of lib/net, of the quickest way; a table of ways, a row each.
 * Ways: `linear`, `binomial`, `hosts` and `greedy` are trees (below), for broadcasts with segments; `pieces` is a
 * linear gather of pieces well below M1 bytes, each but the first begun by the root when it has all of the last one, as
 * paper 002 does with the medium messages whose linear gather takes irregular times.
 * Invariants: a way of ours is proposed only where the model says that it saves more than options.margin of the time
 * and more than options.cost_s; equal arguments give equal choices on all ranks (lib/net is compiled with
 * -ffp-contract=off). What the model cannot tell is left to the library. Without memory the program ends.
 */
#ifndef HRUN_PRELOADED_COLL_CHOICE_H
#define HRUN_PRELOADED_COLL_CHOICE_H

#include "net/tune.h"

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- tree
 *
 * The tree along which the ranks of a communicator pass on what the root sends or gets
 *
 * Purpose: trees for unlike hosts. coll_choice.c predicts by lib/net what an operation along each takes, and move.c
 * does the operation along one.
 * Invariants: a tree spans ranks 0..n-1; the ranks below one stand next to each other in `order`, it first, then those
 * of its children one after the other as the children stand. Equal arguments give equal trees on all ranks.
 */

struct coll_tree {
    int n, root;
    int *parent;               /* -1: the root */
    int *first, *child;        /* children of v: child[first[v]] .. child[first[v + 1] - 1], in the order in which they
                                  are served */
    int *order, *pos, *size;   /* order[pos[v]] = v; size: v and all below it */
};
void coll_tree_free(struct coll_tree *t);

/* A function that builds a tree for messages of this size per rank. Messages between all hosts of the ranks have been
 * measured. NULL: there are too many ranks. */
typedef struct coll_tree *coll_build(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                     double bytes);

/* linear: the root straight to all, slow ranks first, as theirs takes longest when it has left the root. binomial: fast
 * ranks have much below them and slow ones are leaves. hosts: the same of one rank for each switch, below these of one
 * for each host, below these of the ranks of the host. greedy: by the edge that ends first, one after the other. */
coll_build coll_tree_linear, coll_tree_binomial, coll_tree_hosts, coll_tree_greedy;

/* End the program for want of memory: a rank without it would choose other than the others, and leave them waiting. */
_Noreturn void coll_no_memory(void);
/* Zeroed memory for n things, or that. */
void *coll_need(size_t n, size_t size);

/* ---------------------------------------------------------------- choice */

struct coll_choice {
    const char *way;           /* NULL: the MPI library's */
    struct coll_tree *tree;    /* of ours; owned */
    double segment;            /* bytes of a piece, or of a broadcast's segment; 0: in one */
    double time_s, library_s;  /* predicted; -1: not known */
};
void coll_choice_release(struct coll_choice *c);

/* Choose for HRUN_NET_SCATTER or _GATHER (bytes: of each rank) or _BCAST (of the message). */
void coll_choose(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                 double bytes, struct coll_choice *out);

/* What an operation along a tree takes, s; segment: of a broadcast, 0: in one. */
double coll_tree_time(const struct hrun_net *net, const struct hrun_net_ranks *ranks, const struct coll_tree *tree,
                      enum hrun_net_op op, double bytes, double segment);

/* The size of the pieces in which `bytes` of a rank are gathered; 0: bytes are not irregular, or cannot be split. */
double coll_piece(const struct hrun_net *net, double bytes);

/* Are messages of this size to be received one after the other? Beyond the irregular region they are regular
 * because their senders wait for a receiver that takes them so, as MPI libraries' linear gathers do. */
int coll_in_turn(const struct hrun_net *net, double bytes);

/* Sizes that are treated as one: the choice for `bytes` (>= 1) is that for the size that this gives, not larger than
 * bytes, four in each octave, and M1, M2 + 1. */
double coll_round(const struct hrun_net *net, double bytes);

/* Scatterv and gatherv, of which only the root knows the sizes: 1 when all go linearly in our order (a choice of the
 * communicator and root alone), as at no size that is worse by the model, and at some it saves enough. */
int coll_choose_v(const struct hrun_net_tuning *t, const struct hrun_net_ranks *ranks, enum hrun_net_op op, int root,
                  struct coll_choice *out);

#endif
