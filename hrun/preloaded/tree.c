/* tree.c - trees for hosts of different speed; see coll_choice.h */
#include "coll_choice.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- making a tree */

void coll_tree_free(struct coll_tree *t)
{
    if (!t)
        return;
    free(t->parent);
    free(t);
}

/* A tree is made by begin_tree, a link_child for each rank except the root, in the order of the parent's messages, and
 * end_tree. Until end_tree `order` contains the children in the order of linking, and size[root] their number. */
static struct coll_tree *begin_tree(int n, int root)
{
    struct coll_tree *t = xcalloc(1, sizeof *t);
    size_t len = (size_t)n;

    t->parent = xcalloc(6 * len + 1, sizeof *t->parent);
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

static void link_child(struct coll_tree *t, int parent, int child)
{
    t->parent[child] = parent;
    t->order[t->size[t->root]++] = child;
}

static struct coll_tree *end_tree(struct coll_tree *t)
{
    int links = t->size[t->root], n = t->n, top = 0, at = 0;
    int *next = t->pos, *stack = t->size;

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

/* ---------------------------------------------------------------- nearest first */

/* With more ranks the choice edge by edge, in n^3 / 6 steps, takes too long (above a fraction of a ms). */
enum { GREEDY_MAX = 48 };

/* A rank, and the time of a message from the root to it. */
struct far {
    double time_s;
    int rank;
};

static int compare_distances(const void *a, const void *b)
{
    const struct far *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return x->rank - y->rank;
}

static double message_s(const struct hrun_net *net, const struct hrun_net_ranks *r, int from, int to, double bytes)
{
    return hrun_net_p2p(net, r->host[from], r->kind[from], r->host[to], r->kind[to], bytes);
}

/* All ranks by distance, the root first. The caller frees the result. */
static int *nearest_first(const struct hrun_net *net, const struct hrun_net_ranks *r, int root, double bytes)
{
    autofree struct far *list = xcalloc((size_t)r->n, sizeof *list);
    int *order = xcalloc((size_t)r->n, sizeof *order), n = 0;

    for (int v = 0; v < r->n; v++)
        if (v != root)
            list[n++] = (struct far){ message_s(net, r, root, v, bytes), v };
    qsort(list, (size_t)n, sizeof *list, compare_distances);
    order[0] = root;
    for (int i = 0; i < n; i++)
        order[i + 1] = list[i].rank;
    return order;
}

struct coll_tree *coll_tree_linear(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                   double bytes)
{
    autofree int *order = nearest_first(net, ranks, root, bytes);
    struct coll_tree *t = begin_tree(ranks->n, root);

    for (int i = ranks->n - 1; i > 0; i--)
        link_child(t, root, order[i]);
    return end_tree(t);
}

/* Link list[1..n-1] below list[0] as a binomial tree: number i below i without its highest bit, so that the first ranks
 * have the largest subtrees. */
static void link_binomial(struct coll_tree *t, const int *list, int n)
{
    for (int bit = 1; bit < n; bit *= 2)
        for (int i = bit; i < n && i < 2 * bit; i++)
            link_child(t, list[i - bit], list[i]);
}

struct coll_tree *coll_tree_binomial(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                     double bytes)
{
    autofree int *order = nearest_first(net, ranks, root, bytes);
    struct coll_tree *t = begin_tree(ranks->n, root);

    link_binomial(t, order, ranks->n);
    return end_tree(t);
}

/* Link ranks below head as a binomial tree, in this order: those with heads[rank] == head (heads NULL: all) and
 * members[rank] == rank (members NULL: all). */
static void link_below(struct coll_tree *t, int head, const int *heads, const int *members, const int *order)
{
    autofree int *list = xcalloc((size_t)t->n, sizeof *list);
    int n = 0;

    list[n++] = head;
    for (int i = 0; i < t->n; i++) {
        int v = order[i];

        if (v != head && (!heads || heads[v] == head) && (!members || members[v] == v))
            list[n++] = v;
    }
    link_binomial(t, list, n);
}

/* The head of each rank's class (a host, a switch), which is the first of the class in order. */
static int *find_heads(const int *class_of_rank, int classes, const int *order, int n)
{
    autofree int *head_of = xcalloc((size_t)classes, sizeof *head_of);
    int *heads = xcalloc((size_t)n, sizeof *heads);

    for (int i = n - 1; i >= 0; i--)
        head_of[class_of_rank[order[i]]] = order[i];
    for (int v = 0; v < n; v++)
        heads[v] = head_of[class_of_rank[v]];
    return heads;
}

struct coll_tree *coll_tree_hosts(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                  double bytes)
{
    int n = ranks->n;
    autofree int *order = nearest_first(net, ranks, root, bytes), *group = xcalloc((size_t)n, sizeof *group);
    autofree int *of_host = find_heads(ranks->host, net->nhosts, order, n), *of_group = NULL;
    struct coll_tree *t = begin_tree(n, root);

    for (int v = 0; v < n; v++)
        group[v] = net->group_of[ranks->host[v]];
    of_group = find_heads(group, net->ngroups, order, n);
    link_below(t, root, NULL, of_group, order);
    for (int i = 0; i < n; i++)
        if (of_group[order[i]] == order[i])
            link_below(t, order[i], of_group, of_host, order);
    for (int i = 0; i < n; i++)
        if (of_host[order[i]] == order[i])
            link_below(t, order[i], of_host, NULL, order);
    return end_tree(t);
}

/* Among the ranks that have the message and the ranks that lack it, find the sender and the receiver *to whose message
 * ends first. Result: the sender. */
static int first_edge(const struct hrun_net *net, const struct hrun_net_ranks *r, const double *ready, double bytes,
                      int *to)
{
    int from = -1;
    double best = 0;

    for (int i = 0; i < r->n; i++)
        for (int j = 0; ready[i] >= 0 && j < r->n; j++) {
            double there_s = ready[j] >= 0 ? INFINITY : ready[i] + message_s(net, r, i, j, bytes);

            if (there_s < INFINITY && (from < 0 || there_s < best)) {
                best = there_s;
                from = i;
                *to = j;
            }
        }
    return from;
}

/* Time for which a rank is busy with a message that it sends: the time of its processor, or of its port if that is
 * slower. */
static double busy_s(const struct hrun_net *net, const struct hrun_net_ranks *r, int from, int to, double bytes)
{
    const struct hrun_net_class *c = &net->classes[net->class_of[r->host[from]]];
    double port = c->out_bytes_per_s.v > 0 ? bytes / c->out_bytes_per_s.v : 0;

    if (r->host[from] == r->host[to])
        return message_s(net, r, from, to, bytes);
    return fmax(port, c->C_s.v + c->t_s_per_byte.v * bytes);
}

struct coll_tree *coll_tree_greedy(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int root,
                                   double bytes)
{
    struct coll_tree *t;
    autofree double *ready = xcalloc((size_t)ranks->n, sizeof *ready);

    if (ranks->n > GREEDY_MAX)
        return NULL;
    t = begin_tree(ranks->n, root);
    for (int v = 0; v < ranks->n; v++)
        ready[v] = v == root ? 0 : -1;
    for (int i = 1; i < ranks->n; i++) {
        int to = 0, from = first_edge(net, ranks, ready, bytes, &to);

        ready[to] = ready[from] + message_s(net, ranks, from, to, bytes);
        ready[from] += busy_s(net, ranks, from, to, bytes);
        link_child(t, from, to);
    }
    return end_tree(t);
}
