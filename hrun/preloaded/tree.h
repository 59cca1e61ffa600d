/* tree.h - along which tree the ranks of a communicator hand on what the root sends or gets
 *
 * Purpose: trees for unlike hosts, which are played through lib/net (ways.h) to choose one and walked (move.c) to do
 * the operation.
 * Invariants: a tree spans ranks 0..n-1; the ranks below one stand next to each other in `order`, it first, then those
 * of its children one after the other as the children stand. Equal arguments give equal trees on all ranks.
 */
#ifndef HRUN_COLL_TREE_H
#define HRUN_COLL_TREE_H

#include "net/net.h"

struct coll_tree {
    int n, root;
    int *parent;               /* -1: the root */
    int *first, *child;        /* children of v: child[first[v]] .. child[first[v + 1] - 1], in the order in which they
                                  are served */
    int *order, *pos, *size;   /* order[pos[v]] = v; size: v and all below it */
};
void coll_tree_free(struct coll_tree *t);

/* A function that builds trees for messages of so many bytes per rank, among ranks on hosts between all of which
 * messages were measured. NULL: there are too many ranks. */
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

#endif
