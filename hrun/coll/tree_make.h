/* tree_make.h - making a tree: begin, link each rank but the root once below another one, end (internal)
 *
 * Purpose: a tree's children are served in the order in which they are linked.
 * Invariants: a tree with a rank that is not linked becomes NULL in the end.
 */
#ifndef HRUN_COLL_TREE_MAKE_H
#define HRUN_COLL_TREE_MAKE_H

#include "tree.h"

struct coll_tree *coll_tree_begin(int n, int root);
void coll_tree_link(struct coll_tree *t, int parent, int child);
struct coll_tree *coll_tree_end(struct coll_tree *t);

#endif
