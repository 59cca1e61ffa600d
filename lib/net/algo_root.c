/* algo_root.c - scatter, gather, broadcast, reduce (algorithms.h)
 *
 * Trees connect places; a place is the index of a member relative to the root.
 */
#include "net/algorithms.h"

#include <math.h>

/* ---------------------------------------------------------------- trees */

/* The default radix of Open MPI's k-nomial tree. */
enum { RADIX = 4, CHILDREN_MAX = 64 };

struct branch {
    int parent;                /* -1: the root */
    int nchildren, child[CHILDREN_MAX];    /* in the order of a broadcast */
    int end, child_end[CHILDREN_MAX];      /* of trees by digits: the place after the last one of the subtree */
};

/* The tree by digits to base `radix`: clearing the lowest nonzero digit of a place gives its parent. Children are
 * ordered by size of their subtrees, the largest first. */
static void branch_by_digits(struct branch *b, int v, int n, int radix)
{
    int mask = 1;

    while (mask < n && v % (mask * radix) == 0)
        mask *= radix;
    b->parent = v ? v / (mask * radix) * (mask * radix) : -1;
    b->end = v + mask < n ? v + mask : n;
    for (mask /= radix; mask > 0; mask /= radix)
        for (int k = 1; k < radix && v + k * mask < n; k++) {
            b->child[b->nchildren] = v + k * mask;
            b->child_end[b->nchildren++] = v + (k + 1) * mask < n ? v + (k + 1) * mask : n;
        }
}

/* The branch at place v of a tree of n places. */
static struct branch branch_at(enum net_tree tree, int v, int n)
{
    struct branch b = { .parent = v - 1 };
    int level = net_pow2_below(v + 1);     /* binary: number of members of v's level = its first place + 1 */

    switch (tree) {
    case NET_TREE_LOW_BIT:
        branch_by_digits(&b, v, n, 2);
        break;
    case NET_TREE_KNOMIAL:
        branch_by_digits(&b, v, n, RADIX);
        break;
    case NET_TREE_HIGH_BIT:
        b.parent = v ? v - net_pow2_below(v) : -1;
        for (int mask = v ? 2 * net_pow2_below(v) : 1; v + mask < n; mask <<= 1)
            b.child[b.nchildren++] = v + mask;
        break;
    case NET_TREE_BINARY:
        if (v)
            b.parent = v - level / 2 >= level - 1 ? v - level : v - level / 2;
        for (int k = 1; k <= 2 && v + k * level < n; k++)
            b.child[b.nchildren++] = v + k * level;
        break;
    case NET_TREE_CHAIN:
        if (v + 1 < n)
            b.child[b.nchildren++] = v + 1;
        break;
    }
    return b;
}

static struct branch branch_of(const struct net_task *t, int me)
{
    return branch_at(t->tree, net_place(t, me), t->n);
}

static void receive_from_parent(struct play_schedule *s, const struct net_task *t, const struct branch *b)
{
    if (b->parent >= 0)
        play_recv_wait(s, net_at(t, b->parent));
}

/* ---------------------------------------------------------------- scatter */

/* Send to one member after the other. Above paper 002's threshold S each send waits for its receipt. */
void net_scatter_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    int serial = t->scatter_S > 0 && t->bytes > t->scatter_S;

    if (me != t->root) {
        play_recv_wait(s, net_rank(t, t->root));
        return;
    }
    for (int i = 0; i < t->n; i++)
        if (i != me)
            play_wait_for(s, (serial ? play_ssend : play_send)(s, net_rank(t, i), t->bytes));
}

void net_from_root(struct play_schedule *s, const struct net_task *t, int me)
{
    if (me != t->root) {
        play_recv_wait(s, net_rank(t, t->root));
        return;
    }
    for (int i = 0; i < t->n; i++)
        if (i != me)
            play_send(s, net_rank(t, i), t->bytes);
    play_wait(s);
}

/* Scatter `total` bytes, cut into blocks, along the tree; members without a block receive no message. */
static void scatter_blocks(struct play_schedule *s, const struct net_task *t, int me, double block, double total,
                           int rising)
{
    struct branch b = branch_of(t, me);

    if (net_place(t, me) * block < total || block <= 0)
        receive_from_parent(s, t, &b);
    for (int i = 0; i < b.nchildren; i++) {
        int k = rising ? b.nchildren - 1 - i : i;

        if (b.child[k] * block < total || block <= 0)
            play_send_wait(s, net_at(t, b.child[k]), net_span(block, total, b.child[k], b.child_end[k]));
    }
}

void net_scatter_binomial(struct play_schedule *s, const struct net_task *t, int me)
{
    scatter_blocks(s, t, me, t->bytes, t->bytes * t->n, 0);
}

/* As net_scatter_binomial, the smallest subtree first. */
void net_scatter_rising(struct play_schedule *s, const struct net_task *t, int me)
{
    scatter_blocks(s, t, me, t->bytes, t->bytes * t->n, 1);
}

/* ---------------------------------------------------------------- gather */

/* Receive in the order of ranks. Above paper 002's threshold M2 a message begins when the one before has ended. */
void net_gather_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    int serial = t->gather_M2 > 0 && t->bytes > t->gather_M2;

    if (me != t->root) {
        play_wait_for(s, (serial ? play_ssend : play_send)(s, net_rank(t, t->root), t->bytes));
        return;
    }
    for (int i = 0; i < t->n; i++)
        if (i != me)
            play_recv_wait(s, net_rank(t, i));
}

/* The root requests each member's message and waits for it before the next. */
void net_gather_sync(struct play_schedule *s, const struct net_task *t, int me)
{
    int root = net_rank(t, t->root);

    if (me != t->root) {
        play_recv_wait(s, root);
        play_send_wait(s, root, t->bytes);
        return;
    }
    for (int i = 0; i < t->n; i++) {
        size_t message;

        if (i == me)
            continue;
        message = play_recv(s, net_rank(t, i));
        play_send_wait(s, net_rank(t, i), 0);
        play_wait_for(s, message);
    }
}

void net_gather_binomial(struct play_schedule *s, const struct net_task *t, int me)
{
    struct branch b = branch_of(t, me);

    for (int k = b.nchildren - 1; k >= 0; k--)
        play_recv_wait(s, net_at(t, b.child[k]));
    if (b.parent >= 0)
        play_send_wait(s, net_at(t, b.parent), t->bytes * (b.end - net_place(t, me)));
}

/* ---------------------------------------------------------------- broadcast */

/* In trees by the lowest bit a member sends to its children one after the other, in other trees to all at once. */
void net_broadcast(struct play_schedule *s, const struct net_task *t, int me)
{
    struct branch b = branch_of(t, me);

    receive_from_parent(s, t, &b);
    for (int k = 0; k < b.nchildren; k++) {
        size_t sent = play_send(s, net_at(t, b.child[k]), t->bytes);

        if (t->tree == NET_TREE_LOW_BIT)
            play_wait_for(s, sent);
    }
    play_wait(s);
}

/* The size of blocks: whole bytes, as in the libraries; the last blocks are shorter or empty. */
static double block_of(const struct net_task *t)
{
    return fmax(1, ceil(t->bytes / t->n));
}

void net_bcast_doubling(struct play_schedule *s, const struct net_task *t, int me)
{
    scatter_blocks(s, t, me, block_of(t), t->bytes, 0);
    net_doubling(s, t, me, block_of(t), t->bytes);
}

void net_bcast_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me);

    scatter_blocks(s, t, me, block_of(t), t->bytes, 0);
    for (int k = 0; k + 1 < t->n; k++) {
        int mine = (v - k + t->n) % t->n;

        net_shift(s, t, me, 1, net_span(block_of(t), t->bytes, mine, mine + 1));
    }
}

/* As SimGrid: cut the ranks into runs as long as a host has ranks; broadcast among the first ranks of the runs, then
 * inside each run. A root other than rank 0 first sends to rank 0. Hosts with different numbers of ranks: one tree. */
void net_bcast_hosts(struct play_schedule *s, const struct net_task *t, int me)
{
    int per = t->n / t->hosts->nhosts;
    struct net_task firsts = *t, run = *t;

    if (!t->hosts->uniform) {
        net_broadcast(s, t, me);
        return;
    }
    if (t->root != 0 && me == t->root)
        play_send_wait(s, 0, t->bytes);
    if (t->root != 0 && me == 0)
        play_recv_wait(s, t->root);
    firsts.n = t->n / per;
    firsts.stride = per;
    run.n = per;
    run.first = me / per * per;
    firsts.root = run.root = 0;
    if (me % per == 0)
        net_broadcast(s, &firsts, me / per);
    net_broadcast(s, &run, me % per);
}

/* ---------------------------------------------------------------- reduce */

void net_reduce_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    if (me != t->root) {
        play_send_wait(s, net_rank(t, t->root), t->bytes);
        return;
    }
    for (int i = t->n - 1; i >= 0; i--)
        if (i != me) {
            play_recv_wait(s, net_rank(t, i));
            play_work(s, t->bytes);
        }
}

/* Receive from the children in turn, the smallest subtree first. In the binary tree both receives are posted first. */
void net_reduce_tree(struct play_schedule *s, const struct net_task *t, int me)
{
    struct branch b = branch_of(t, me);
    int at_once = t->tree == NET_TREE_BINARY;
    size_t posted[CHILDREN_MAX];

    for (int k = 0; k < b.nchildren && at_once; k++)
        posted[k] = play_recv(s, net_at(t, b.child[k]));
    for (int k = 0; k < b.nchildren; k++) {
        play_wait_for(s, at_once ? posted[k] : play_recv(s, net_at(t, b.child[b.nchildren - 1 - k])));
        play_work(s, t->bytes);
    }
    if (b.parent >= 0)
        play_send_wait(s, net_at(t, b.parent), t->bytes);
}
