/* tree_unlike.c - trees for unlike hosts; see tree.h */
#include "tree_make.h"
#include "need.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many ranks choosing edge by edge, n^3 / 6 of them, takes more than a fraction of a ms. */
enum { GREEDY_MAX = 48 };

/* A rank, and how long a message from the root to it takes. */
struct far {
    double time_s;
    int rank;
};

static int by_time(const void *a, const void *b)
{
    const struct far *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return x->rank - y->rank;
}

/* All ranks but the root, the nearest first. NULL: a time is not known. */
static struct far *nearest_first(const struct coll_net *net, const struct coll_ranks *r, int root, double bytes)
{
    struct far *list = coll_need((size_t)r->n, sizeof *list);
    int n = 0;

    for (int v = 0; v < r->n; v++) {
        if (v == root)
            continue;
        list[n] = (struct far){ coll_p2p(net, r->host[root], r->kind[root], r->host[v], r->kind[v], bytes), v };
        if (list[n++].time_s < 0) {
            free(list);
            return NULL;
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_time);
    return list;
}

struct coll_tree *coll_tree_linear(const struct coll_net *net, const struct coll_ranks *ranks, int root, double bytes)
{
    struct far *list = nearest_first(net, ranks, root, bytes);
    struct coll_tree *t = list ? coll_tree_begin(ranks->n, root) : NULL;

    for (int i = ranks->n - 2; t && i >= 0; i--)
        coll_tree_link(t, root, list[i].rank);
    free(list);
    return t ? coll_tree_end(t) : NULL;
}

/* Link list[1..n-1] below list[0] as a binomial tree: number i below i without its highest bit, so that the first ones
 * have the most below them. */
static void link_binomial(struct coll_tree *t, const int *list, int n)
{
    for (int bit = 1; bit < n; bit *= 2)
        for (int i = bit; i < n && i < 2 * bit; i++)
            coll_tree_link(t, list[i - bit], list[i]);
}

struct coll_tree *coll_tree_binomial(const struct coll_net *net, const struct coll_ranks *ranks, int root, double bytes)
{
    struct far *list = nearest_first(net, ranks, root, bytes);
    int *sorted = coll_need((size_t)ranks->n, sizeof *sorted);
    struct coll_tree *t = list ? coll_tree_begin(ranks->n, root) : NULL;

    if (t) {
        sorted[0] = root;
        for (int i = 1; i < ranks->n; i++)
            sorted[i] = list[i - 1].rank;
        link_binomial(t, sorted, ranks->n);
    }
    free(list);
    free(sorted);
    return t ? coll_tree_end(t) : NULL;
}

/* Link those of list[n] whose head is `head`, of a kind each rank belongs to one of (the hosts, the switches): heads[i]
 * is the head of rank i there. member: which ranks count (NULL: all). */
static void link_below(struct coll_tree *t, int head, const int *heads, const int *member, const struct far *list,
                       int n, int *scratch)
{
    int count = 0;

    scratch[count++] = head;
    for (int i = 0; i < n; i++) {
        int v = list[i].rank;

        if (v != head && heads[v] == head && (!member || member[v] == v))
            scratch[count++] = v;
    }
    link_binomial(t, scratch, count);
}

/* The head of each rank's class (a host, a switch): the root, or the nearest one of the class. */
static void find_heads(const int *class_of_rank, int n, int classes, int root, const struct far *list, int *head_of,
                       int *heads)
{
    for (int c = 0; c < classes; c++)
        head_of[c] = -1;
    head_of[class_of_rank[root]] = root;
    for (int i = 0; i < n - 1; i++)
        if (head_of[class_of_rank[list[i].rank]] < 0)
            head_of[class_of_rank[list[i].rank]] = list[i].rank;
    for (int v = 0; v < n; v++)
        heads[v] = head_of[class_of_rank[v]];
}

struct coll_tree *coll_tree_hosts(const struct coll_net *net, const struct coll_ranks *ranks, int root, double bytes)
{
    int n = ranks->n, most = net->nhosts > net->ngroups ? net->nhosts : net->ngroups;
    struct far *list = nearest_first(net, ranks, root, bytes);
    int *work = coll_need((size_t)n * 4 + (size_t)most, sizeof *work);
    int *of_host = work, *of_group = work + n, *group = work + 2 * n, *scratch = work + 3 * n, *head_of = work + 4 * n;
    struct coll_tree *t = list ? coll_tree_begin(n, root) : NULL;
    int count = 0;

    if (!t)
        goto out;
    for (int v = 0; v < n; v++)
        group[v] = net->group_of[ranks->host[v]];
    find_heads(ranks->host, n, net->nhosts, root, list, head_of, of_host);
    find_heads(group, n, net->ngroups, root, list, head_of, of_group);
    scratch[count++] = root;
    for (int i = 0; i < n - 1; i++)
        if (of_group[list[i].rank] == list[i].rank)
            scratch[count++] = list[i].rank;
    link_binomial(t, scratch, count);
    link_below(t, root, of_group, of_host, list, n - 1, scratch);
    for (int i = 0; i < n - 1; i++)
        if (of_group[list[i].rank] == list[i].rank)
            link_below(t, list[i].rank, of_group, of_host, list, n - 1, scratch);
    link_below(t, root, of_host, NULL, list, n - 1, scratch);
    for (int i = 0; i < n - 1; i++)
        if (of_host[list[i].rank] == list[i].rank)
            link_below(t, list[i].rank, of_host, NULL, list, n - 1, scratch);
out:
    free(list);
    free(work);
    return t ? coll_tree_end(t) : NULL;
}

/* The sender that has the message and reaches any other rank first; into *to which one. -1: a time is not known. */
static int first_edge(const struct coll_net *net, const struct coll_ranks *r, const double *ready, double bytes,
                      int *to)
{
    int from = -1;
    double best = 0;

    for (int i = 0; i < r->n; i++)
        for (int j = 0; ready[i] >= 0 && j < r->n; j++) {
            double time_s = ready[j] >= 0 ? -1 : coll_p2p(net, r->host[i], r->kind[i], r->host[j], r->kind[j], bytes);

            if (ready[j] < 0 && time_s < 0)
                return -1;
            if (ready[j] < 0 && (from < 0 || ready[i] + time_s < best)) {
                best = ready[i] + time_s;
                from = i;
                *to = j;
            }
        }
    return from;
}

/* How long a rank is busy with a message that it sends: its processor, and the port if that is slower. */
static double busy_s(const struct coll_net *net, const struct coll_ranks *r, int from, int to, double bytes)
{
    const struct coll_class *c = &net->classes[net->class_of[r->host[from]]];
    double port = c->out > 0 ? bytes / c->out : 0;
    double processor = c->C_s + c->t_s_per_byte * bytes;

    if (r->host[from] == r->host[to])
        return coll_p2p(net, r->host[from], r->kind[from], r->host[to], r->kind[to], bytes);
    return port > processor ? port : processor;
}

struct coll_tree *coll_tree_greedy(const struct coll_net *net, const struct coll_ranks *ranks, int root, double bytes)
{
    struct coll_tree *t = ranks->n <= GREEDY_MAX ? coll_tree_begin(ranks->n, root) : NULL;
    double *ready = coll_need((size_t)ranks->n, sizeof *ready);
    int from = 0, to = 0;

    for (int v = 0; v < ranks->n; v++)
        ready[v] = v == root ? 0 : -1;
    for (int i = 1; t && from >= 0 && i < ranks->n; i++) {
        from = first_edge(net, ranks, ready, bytes, &to);
        if (from < 0)
            break;
        ready[to] = ready[from] + coll_p2p(net, ranks->host[from], ranks->kind[from], ranks->host[to], ranks->kind[to],
                                           bytes);
        ready[from] += busy_s(net, ranks, from, to, bytes);
        coll_tree_link(t, from, to);
    }
    free(ready);
    return t ? coll_tree_end(t) : NULL;
}
