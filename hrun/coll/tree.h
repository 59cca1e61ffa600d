/* tree.h - along which tree the ranks of a communicator hand on what the root sends or gets
 *
 * Purpose: trees for unlike hosts, and those that Open MPI takes, as one kind of object, which is played (play.h) to
 * choose one and walked (move.c) to do the operation.
 * Invariants: a tree spans ranks 0..n-1; the ranks below one stand next to each other in `order`, it first, then those
 * of its children one after the other as the children stand. Equal arguments give equal trees on all ranks.
 */
#ifndef HRUN_COLL_TREE_H
#define HRUN_COLL_TREE_H

#include "net.h"

struct coll_ranks {            /* of a communicator: where they are */
    int n;
    const int *host, *kind;    /* n */
};

struct coll_tree {
    int n, root;
    int *parent;               /* -1: the root */
    int *first, *child;        /* children of v: child[first[v]] .. child[first[v + 1] - 1], in the order in which they
                                  are served */
    int *order, *pos, *size;   /* order[pos[v]] = v; size: v and all below it */
};
void coll_tree_free(struct coll_tree *t);

/* As this function builds trees: for messages of so many bytes per rank. NULL: a time is not known. */
typedef struct coll_tree *coll_build(const struct coll_net *net, const struct coll_ranks *ranks, int root,
                                     double bytes);

/* Ours: the root straight to all, slow ranks first, as theirs takes longest when it has left the root; a binomial tree
 * in which fast ranks have much below them and slow ones are leaves; the same of one rank for each switch, below these
 * of one for each host, below these of the ranks of the host; and by the edge that ends first, one after the other. */
coll_build coll_tree_linear, coll_tree_binomial, coll_tree_hosts, coll_tree_greedy;
/* Open MPI's: by rank numbers. */
coll_build coll_tree_mpi_linear, coll_tree_mpi_binomial, coll_tree_mpi_in_order, coll_tree_mpi_chain,
           coll_tree_mpi_binary, coll_tree_mpi_knomial;

#endif
