/* algo_bcast.c - broadcast (algorithms.h) */
#include "net/algorithms.h"

#include <math.h>

/* The default radix of Open MPI's k-nomial tree. */
enum { RADIX = 4 };

/* The tree by the highest bit, all children at once. */
void net_bcast_binomial(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me), mask = 1;

    while (mask <= v)
        mask <<= 1;
    if (v)
        play_recv_wait(s, net_at(t, v - (mask >> 1)));
    for (; v + mask < t->n; mask <<= 1)
        play_send(s, net_at(t, v + mask), t->bytes);
    play_wait(s);
}

/* The tree by the lowest bit, one child after the other. */
void net_bcast_mpich(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me), mask = 1;

    while (mask < t->n && !(v & mask))
        mask <<= 1;
    if (v)
        play_recv_wait(s, net_at(t, v - mask));
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (v + mask < t->n)
            play_send_wait(s, net_at(t, v + mask), t->bytes);
}

void net_bcast_knomial(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me), mask = 1;

    while (mask < t->n && v % (mask * RADIX) == 0)
        mask *= RADIX;
    if (v)
        play_recv_wait(s, net_at(t, v / (mask * RADIX) * (mask * RADIX)));
    for (mask /= RADIX; mask > 0; mask /= RADIX)
        for (int k = 1; k < RADIX && v + k * mask < t->n; k++)
            play_send(s, net_at(t, v + k * mask), t->bytes);
    play_wait(s);
}

void net_bcast_chain(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me);

    if (v > 0)
        play_recv_wait(s, net_at(t, v - 1));
    if (v + 1 < t->n)
        play_send_wait(s, net_at(t, v + 1), t->bytes);
}

/* ---------------------------------------------------------------- binary trees */

void net_bcast_binary(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me);

    if (v)
        play_recv_wait(s, net_at(t, net_binary_parent(v)));
    for (int k = 0; k < 2; k++)
        if (net_binary_child(v, k) < t->n)
            play_send(s, net_at(t, net_binary_child(v, k)), t->bytes);
    play_wait(s);
}

/* ---------------------------------------------------------------- scatter, then allgather */

/* Scatter blocks, the larger subtree first; members without a block receive no message. */
static void scatter_blocks(struct play_schedule *s, const struct net_task *t, int v, double block)
{
    int mask = 1;

    while (mask < t->n && !(v & mask))
        mask <<= 1;
    if (v && net_span(block, t->bytes, v, t->n) > 0)
        play_recv_wait(s, net_at(t, v - mask));
    for (mask >>= 1; mask > 0; mask >>= 1) {
        int end = v + 2 * mask < t->n ? v + 2 * mask : t->n;

        if (v + mask < t->n && net_span(block, t->bytes, v + mask, end) > 0)
            play_send_wait(s, net_at(t, v + mask), net_span(block, t->bytes, v + mask, end));
    }
}

/* The size of blocks: whole bytes, as in the libraries; the last blocks are shorter or empty. */
static double block_of(const struct net_task *t)
{
    return ceil(t->bytes / t->n);
}

void net_bcast_doubling(struct play_schedule *s, const struct net_task *t, int me)
{
    scatter_blocks(s, t, net_place(t, me), block_of(t));
    net_doubling(s, t, me, block_of(t), t->bytes);
}

void net_bcast_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me);
    double block = block_of(t);

    scatter_blocks(s, t, v, block);
    for (int k = 0; k + 1 < t->n; k++) {
        int mine = (v - k + t->n) % t->n;

        play_exchange(s, net_at(t, (v + 1) % t->n), net_span(block, t->bytes, mine, mine + 1),
                      net_at(t, (v + t->n - 1) % t->n));
    }
}

/* ---------------------------------------------------------------- by hosts */

/* Broadcast among the first ranks of runs of as many ranks as a host has, then inside the runs (SimGrid, if hosts have
 * equally many ranks; else one tree). The root first sends to rank 0. */
void net_bcast_hosts(struct play_schedule *s, const struct net_task *t, int me)
{
    int per = t->n / t->hosts->nhosts, mine, n, mask = 1;

    if (!t->hosts->uniform) {
        net_bcast_mpich(s, t, me);
        return;
    }
    mine = me / per;
    n = t->n / per;
    if (t->root != 0 && me == t->root)
        play_send_wait(s, net_rank(t, 0), t->bytes);
    if (t->root != 0 && me == 0)
        play_recv_wait(s, net_rank(t, t->root));
    if (me % per == 0) {
        while (mask < n && !(mine & mask))
            mask <<= 1;
        if (mine)
            play_recv_wait(s, net_rank(t, (mine - mask) * per));
        for (mask >>= 1; mask > 0; mask >>= 1)
            if (mine + mask < n)
                play_send_wait(s, net_rank(t, (mine + mask) * per), t->bytes);
    }
    for (mask = 1; mask < per && !(me % per & mask);)
        mask <<= 1;
    if (me % per)
        play_recv_wait(s, net_rank(t, me - mask));
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (me % per + mask < per)
            play_send_wait(s, net_rank(t, me + mask), t->bytes);
}
