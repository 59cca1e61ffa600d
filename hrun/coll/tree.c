/* tree.c - trees, and those of the MPI library; see tree.h */
#include "tree_make.h"
#include "need.h"

void coll_tree_free(struct coll_tree *t)
{
    if (!t)
        return;
    free(t->parent);
    free(t);
}

struct coll_tree *coll_tree_begin(int n, int root)
{
    struct coll_tree *t = coll_need(1, sizeof *t);
    size_t len = (size_t)n;

    t->parent = coll_need(6 * len + 1, sizeof *t->parent);
    t->n = n;
    t->root = root;
    t->child = t->parent + len;
    t->order = t->child + len;
    t->pos = t->order + len;
    t->size = t->pos + len;
    t->first = t->size + len;
    for (int v = 0; v < n; v++)
        t->parent[v] = -1;
    return t;
}

/* Until the end `order` holds the children as they are linked. */
void coll_tree_link(struct coll_tree *t, int parent, int child)
{
    t->parent[child] = parent;
    t->order[t->size[t->root]++] = child;
}

struct coll_tree *coll_tree_end(struct coll_tree *t)
{
    int links = t->size[t->root], n = t->n, top = 0, at = 0;
    int *next = t->pos, *stack = t->size;

    if (links != n - 1) {
        coll_tree_free(t);
        return NULL;
    }
    for (int i = 0; i < links; i++)
        t->first[t->parent[t->order[i]] + 1]++;
    for (int v = 0; v < n; v++) {
        t->first[v + 1] += t->first[v];
        next[v] = t->first[v];
    }
    for (int i = 0; i < links; i++)
        t->child[next[t->parent[t->order[i]]]++] = t->order[i];
    for (stack[top++] = t->root; top;) {
        int v = stack[--top];

        t->order[at++] = v;
        for (int k = t->first[v + 1] - 1; k >= t->first[v]; k--)
            stack[top++] = t->child[k];
    }
    for (int v = 0; v < n; v++)
        t->size[v] = 1;
    for (int i = n - 1; i >= 0; i--) {
        int v = t->order[i];

        t->pos[v] = i;
        if (t->parent[v] >= 0)
            t->size[t->parent[v]] += t->size[v];
    }
    return t;
}

/* ---------------------------------------------------------------- the MPI library's, the root counted as rank 0 */

typedef int parent_of(int v, int n);

/* Link all in ascending order, each to the parent of its number. */
static struct coll_tree *by_number(int n, int root, parent_of *parent)
{
    struct coll_tree *t = coll_tree_begin(n, root);

    for (int v = 1; v < n; v++)
        coll_tree_link(t, (parent(v, n) + root) % n, (v + root) % n);
    return coll_tree_end(t);
}

/* Without the highest bit. */
static int without_highest(int v, int n)
{
    int bit = 1;

    (void)n;
    while (bit <= v / 2)
        bit *= 2;
    return v - bit;
}

static int before(int v, int n)
{
    (void)n;
    return v - 1;
}

/* Level by level, a level's first rank before its second, all their second children behind the first ones. */
static int in_binary(int v, int n)
{
    int width = 1, first = 0;

    (void)n;
    while (v >= first + width) {
        first += width;
        width *= 2;
    }
    return first - width / 2 + (v - first) % (width / 2);
}

#define BY_NUMBER(name, parent) \
    struct coll_tree *name(const struct coll_net *net, const struct coll_ranks *ranks, int root, double bytes) \
    { \
        (void)net, (void)bytes; \
        return by_number(ranks->n, root, parent); \
    }
BY_NUMBER(coll_tree_mpi_binomial, without_highest)
BY_NUMBER(coll_tree_mpi_chain, before)
BY_NUMBER(coll_tree_mpi_binary, in_binary)

/* By digits of a radix: each rank below itself with its lowest digit that is not 0 made 0, the widest part first. */
static struct coll_tree *by_digits(int n, int root, int radix)
{
    struct coll_tree *t = coll_tree_begin(n, root);
    int widest = 1;

    while (widest < n)
        widest *= radix;
    for (int width = widest / radix; width > 0; width /= radix)
        for (int v = width; v < n; v += width) {
            int parent = v / (width * radix) * (width * radix);

            if (v != parent)
                coll_tree_link(t, (parent + root) % n, (v + root) % n);
        }
    return coll_tree_end(t);
}

struct coll_tree *coll_tree_mpi_in_order(const struct coll_net *net, const struct coll_ranks *ranks, int root,
                                         double bytes)
{
    (void)net, (void)bytes;
    return by_digits(ranks->n, root, 2);
}

struct coll_tree *coll_tree_mpi_knomial(const struct coll_net *net, const struct coll_ranks *ranks, int root,
                                        double bytes)
{
    enum { RADIX = 4 };        /* Open MPI's default, coll_tuned_bcast_algorithm_knomial_radix */

    (void)net, (void)bytes;
    return by_digits(ranks->n, root, RADIX);
}

/* From rank 0 to the last, wherever the root is. */
struct coll_tree *coll_tree_mpi_linear(const struct coll_net *net, const struct coll_ranks *ranks, int root,
                                       double bytes)
{
    struct coll_tree *t = coll_tree_begin(ranks->n, root);

    (void)net, (void)bytes;
    for (int v = 0; v < ranks->n; v++)
        if (v != root)
            coll_tree_link(t, root, v);
    return coll_tree_end(t);
}
