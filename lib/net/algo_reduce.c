/* algo_reduce.c - allreduce, and reduce by halving or by hosts (algorithms.h) */
#include "net/algorithms.h"

/* Size of an element, assumed to be a double. Algorithms that divide a message among members use another algorithm if
 * there are fewer elements than members. */
static const double ELEMENT = 8;

/* ---------------------------------------------------------------- powers of two */

/* Reduce n members to a power of two p: of the first 2 (n - p) members the odd ones (keep 0) or the even ones (keep 1)
 * send their data to their neighbours and drop out. Result: the index among the p remaining members, or -1. */
static int fold_to_power(struct play_schedule *s, const struct net_task *t, int me, int p, int keep)
{
    int rest = t->n - p;

    if (me >= 2 * rest)
        return me - rest;
    if (me % 2 != keep) {
        play_send_wait(s, net_rank(t, me ^ 1), t->bytes);
        return -1;
    }
    play_recv_wait(s, net_rank(t, me ^ 1));
    play_work(s, t->bytes);
    return me / 2;
}

static int unfolded(const struct net_task *t, int v, int p, int keep)
{
    int rest = t->n - p;

    return net_rank(t, v < rest ? 2 * v + keep : v + rest);
}

static void unfold_from_power(struct play_schedule *s, const struct net_task *t, int me, int p)
{
    if (me >= 2 * (t->n - p))
        return;
    if (me % 2)
        play_send_wait(s, net_rank(t, me - 1), t->bytes);
    else
        play_recv_wait(s, net_rank(t, me + 1));
}

/* The reduce-scatter of Rabenseifner's algorithm. Each step halves the data of a member. */
static void halve(struct play_schedule *s, const struct net_task *t, int v, int p, int keep)
{
    double bytes = t->bytes / 2;

    for (int mask = 1; mask < p; mask <<= 1, bytes /= 2) {
        int peer = unfolded(t, v ^ mask, p, keep);

        play_exchange(s, peer, bytes, peer);
        play_work(s, bytes);
    }
}

/* If the root dropped out, member 0 sends its part to the root, and the root replaces member 0. */
void net_reduce_rabenseifner(struct play_schedule *s, const struct net_task *t, int me)
{
    int p = net_pow2_below(t->n), v = fold_to_power(s, t, me, p, 0), rest = t->n - p;
    int away = t->root < 2 * rest && t->root % 2;
    int place = away ? 0 : t->root < 2 * rest ? t->root / 2 : t->root - rest;
    double bytes = t->bytes / p;

    if (v >= 0)
        halve(s, t, v, p, 0);
    if (away && me == t->root) {
        play_recv_wait(s, net_rank(t, 0));
        v = 0;
    } else if (away && v == 0) {
        play_send_wait(s, net_rank(t, t->root), bytes);
        return;
    }
    /* halve begins with the lowest bit, so the gather begins with the highest. */
    for (int mask = p >> 1; v >= 0 && mask > 0; mask >>= 1, bytes *= 2) {
        int peer = away && (v ^ mask) == 0 ? net_rank(t, t->root) : unfolded(t, v ^ mask, p, 0);

        if ((v ^ place) & mask) {
            play_send_wait(s, peer, bytes);
            return;
        }
        play_recv_wait(s, peer);
    }
}

/* ---------------------------------------------------------------- allreduce */

void net_allreduce_doubling(struct play_schedule *s, const struct net_task *t, int me)
{
    int p = net_pow2_below(t->n), v = fold_to_power(s, t, me, p, 1);

    for (int mask = 1; v >= 0 && mask < p; mask <<= 1) {
        int peer = unfolded(t, v ^ mask, p, 1);

        play_exchange(s, peer, t->bytes, peer);
        play_work(s, t->bytes);
    }
    unfold_from_power(s, t, me, p);
}

void net_allreduce_rabenseifner(struct play_schedule *s, const struct net_task *t, int me)
{
    int p = net_pow2_below(t->n), v;
    double bytes = t->bytes / p;

    if (t->bytes < ELEMENT * p) {
        net_allreduce_linear(s, t, me);
        return;
    }
    v = fold_to_power(s, t, me, p, 1);
    if (v >= 0)
        halve(s, t, v, p, 1);
    for (int mask = p >> 1; v >= 0 && mask > 0; mask >>= 1, bytes *= 2) {
        int peer = unfolded(t, v ^ mask, p, 1);

        play_exchange(s, peer, bytes, peer);
    }
    unfold_from_power(s, t, me, p);
}

void net_allreduce_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    if (t->bytes < ELEMENT * t->n) {
        net_allreduce_doubling(s, t, me);
        return;
    }
    for (int k = 0; k < 2 * (t->n - 1); k++) {
        net_shift(s, t, me, 1, t->bytes / t->n);
        if (k < t->n - 1)
            play_work(s, t->bytes / t->n);
    }
}

/* Reduce and broadcast by the algorithms that the selector chooses. */
void net_allreduce_parts(struct play_schedule *s, const struct net_task *t, int me)
{
    static const enum hrun_net_op ops[] = { HRUN_NET_REDUCE, HRUN_NET_BCAST };
    struct net_task part = *t;

    part.root = 0;
    for (int i = 0; i < 2; i++)
        net_add_steps(s, &part, me, net_algorithm_find(ops[i], net_select(t->selector, ops[i], t->n, t->bytes,
                                                                          t->hosts->uniform)));
}

void net_allreduce_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    struct net_task part = *t;

    part.root = 0;
    net_reduce_linear(s, &part, me);
    net_from_root(s, &part, me);
}

/* ---------------------------------------------------------------- by hosts */

/* The same operation, only among the ranks on the host of `rank`, the first of them as root. */
static struct net_task task_of_host(const struct net_task *t, int rank)
{
    struct net_task part = *t;
    int h = t->hosts->host[rank];

    part.ranks = t->hosts->rank + t->hosts->first[h];
    part.n = t->hosts->first[h + 1] - t->hosts->first[h];
    part.root = 0;
    return part;
}

/* The same operation, only among the first ranks of the hosts. root: index of the host whose first rank is the root. */
static struct net_task task_of_leaders(const struct net_task *t, int root)
{
    struct net_task part = *t;

    part.ranks = t->hosts->leader;
    part.n = t->hosts->nhosts;
    part.root = root;
    return part;
}

/* Message size in bytes at which SimGrid 3.32 changes from binomial to Rabenseifner's reduce and allreduce. */
static const double LONG = 2048;

static void reduce_part(struct play_schedule *s, const struct net_task *t, int me)
{
    if (t->n > 1)
        (t->bytes < LONG ? net_reduce_tree : net_reduce_rabenseifner)(s, t, me);
}

/* Reduce to the first rank of each host, then among these, then send to the root. */
void net_reduce_hosts(struct play_schedule *s, const struct net_task *t, int me)
{
    struct net_task host = task_of_host(t, me), leaders = task_of_leaders(t, t->hosts->host[t->root]);
    int leader = leaders.ranks[leaders.root];

    reduce_part(s, &host, t->hosts->index[me]);
    if (t->hosts->index[me] == 0)
        reduce_part(s, &leaders, t->hosts->host[me]);
    if (leader != t->root && me == leader)
        play_send_wait(s, t->root, t->bytes);
    if (leader != t->root && me == t->root)
        play_recv_wait(s, leader);
}

void net_allreduce_hosts(struct play_schedule *s, const struct net_task *t, int me)
{
    struct net_task host = task_of_host(t, me), leaders = task_of_leaders(t, 0);
    int index = t->hosts->index[me];

    if (host.n > 1)
        (t->bytes > LONG ? net_allreduce_rabenseifner : net_allreduce_doubling)(s, &host, index);
    if (index == 0 && leaders.n > 1)
        net_allreduce_doubling(s, &leaders, t->hosts->host[me]);
    if (host.n > 1)
        net_broadcast(s, &host, index);
}
