/* ways.h - which way an operation is done: what the MPI library does, or one of ours
 *
 * Purpose: the choice, by the network model of lib/net, of the quickest way; a table of ways, a row each.
 * Ways: `linear`, `binomial`, `hosts` and `greedy` are trees (tree.h), for broadcasts with segments; `pieces` is a
 * linear gather of pieces well below M1 bytes, each but the first begun by the root when it has all of the last one, as
 * paper 002 does with the medium messages whose linear gather takes irregular times.
 * Invariants: a way of ours is proposed only where the model says that it saves more than options.margin of the time
 * and more than options.cost_s; equal arguments give equal choices on all ranks (lib/net is compiled with
 * -ffp-contract=off). What the model cannot tell is left to the library. Without memory the program ends.
 */
#ifndef HRUN_COLL_WAYS_H
#define HRUN_COLL_WAYS_H

#include "tree.h"

#include "net/tune.h"

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

/* Gather in pieces: how large these are for so many bytes of a rank; 0: bytes are not irregular, or cannot be split. */
double coll_piece(const struct hrun_net *net, double bytes);

/* Are messages of so many bytes to be received one after the other? Beyond the irregular region they are regular
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
