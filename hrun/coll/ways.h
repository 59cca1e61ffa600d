/* ways.h - which way an operation is done: what the MPI library does, or one of ours
 *
 * Purpose: the choice, by the model, of the quickest way; a table of ways, a row each.
 * Ways: `linear`, `binomial`, `hosts` and `greedy` are trees (tree.h), for broadcasts with segments; `pieces` is a
 * linear gather of pieces well below M1 bytes, each but the first begun by the root when it has all of the last one, as
 * paper 002 does with the medium messages whose linear gather takes irregular times.
 * Invariants: a way of ours is proposed only where the model says that it saves more than net->margin of the time and
 * more than net->cost_s; equal arguments give equal choices on all ranks. What the model cannot tell is left to the
 * library.
 */
#ifndef HRUN_COLL_WAYS_H
#define HRUN_COLL_WAYS_H

#include "tree.h"

struct coll_choice {
    const char *way;           /* NULL: the MPI library's */
    struct coll_tree *tree;    /* of ours; owned */
    double segment;            /* bytes of a piece, or of a broadcast's segment; 0: in one */
    double time_s, library_s;  /* predicted; -1: not known */
};
void coll_choice_release(struct coll_choice *c);

/* Choose for messages of so many bytes, as in play.h. */
void coll_choose(const struct coll_net *net, const struct coll_ranks *ranks, enum coll_op op, int root, double bytes,
                 struct coll_choice *out);

/* Gather in pieces: how large these are for so many bytes of a rank; 0: bytes are not irregular, or cannot be split. */
double coll_piece(const struct coll_net *net, double bytes);

/* Are messages of so many bytes to be received one after the other? Beyond the irregular region they are regular
 * because their senders wait for a receiver that takes them so, as MPI libraries' linear gathers do. */
int coll_in_turn(const struct coll_net *net, double bytes);

/* Sizes that are treated as one: the choice for `bytes` (>= 1) is that for the size that this gives, not larger than
 * bytes, four in each octave, and M1, M2 + 1. */
double coll_round(const struct coll_net *net, double bytes);

/* Scatterv and gatherv, of which only the root knows the sizes: 1 when all go linearly in our order (a choice of the
 * communicator and root alone), as at no size that is worse by the model, and at some it saves enough. */
int coll_choose_v(const struct coll_net *net, const struct coll_ranks *ranks, enum coll_op op, int root,
                  struct coll_choice *out);

#endif
