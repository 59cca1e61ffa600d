/* algo_all.c - allgather, all-to-all, barrier, neighbours (algorithms.h) */
#include "net/algorithms.h"

static int modulo(int i, int n)
{
    return (i % n + n) % n;
}

/* ---------------------------------------------------------------- neighbours */

void net_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    play_exchange(s, net_rank(t, modulo(me + 1, t->n)), t->bytes, net_rank(t, modulo(me - 1, t->n)));
}

/* ---------------------------------------------------------------- allgather */

void net_allgather_bruck(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int d = 1; d < t->n; d <<= 1)
        play_exchange(s, net_rank(t, modulo(me - d, t->n)), t->bytes * (2 * d <= t->n ? d : t->n - d),
                      net_rank(t, modulo(me + d, t->n)));
}

/* After the step of `mask`, members of v's subtree that had a partner send what they received to those that had
 * none. */
static void serve(struct play_schedule *s, const struct net_task *t, int v, int mask, double received)
{
    int k = 0, have = t->n - (v / mask) * mask - mask;

    while (1 << (k + 1) <= mask)
        k++;
    for (int m = mask >> 1; m > 0; m >>= 1, k--) {
        int peer = v ^ m, edge = (v >> k << k) + have;

        if (peer > v && v < edge && peer >= edge)
            play_send_wait(s, net_at(t, peer), received);
        else if (peer < v && peer < edge && v >= edge)
            play_recv_wait(s, net_at(t, peer));
    }
}

void net_doubling(struct play_schedule *s, const struct net_task *t, int me, double block, double total)
{
    int v = net_place(t, me);

    for (int mask = 1; mask < t->n; mask <<= 1) {
        int peer = v ^ mask, mine = v / mask * mask, theirs = peer / mask * mask;
        int rank = net_at(t, peer);

        if (peer < t->n)
            play_exchange(s, rank, net_span(block, total, mine, mine + mask), rank);
        if (theirs + mask > t->n)
            serve(s, t, v, mask, net_span(block, total, theirs, theirs + mask));
    }
}

void net_allgather_doubling_mpich(struct play_schedule *s, const struct net_task *t, int me)
{
    struct net_task whole = *t;

    whole.root = 0;
    net_doubling(s, &whole, me, t->bytes, t->bytes * t->n);
}

/* Open MPI's algorithm; requires a power of two. */
void net_allgather_doubling(struct play_schedule *s, const struct net_task *t, int me)
{
    if (net_pow2_below(t->n) == t->n)
        net_allgather_doubling_mpich(s, t, me);
    else
        net_allgather_bruck(s, t, me);
}

void net_allgather_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int k = 1; k < t->n; k++)
        play_exchange(s, net_rank(t, modulo(me + 1, t->n)), t->bytes, net_rank(t, modulo(me - 1, t->n)));
}

/* Each member sends its own block to all others, one after the other (SimGrid's "ring"). */
void net_allgather_pairwise(struct play_schedule *s, const struct net_task *t, int me)
{
    net_alltoall_pairwise(s, t, me);
}

/* Pairs exchange alternately with both neighbours, two blocks from the second step on; odd numbers use the ring. */
void net_allgather_neighbor(struct play_schedule *s, const struct net_task *t, int me)
{
    int side[2] = { modulo(me % 2 ? me - 1 : me + 1, t->n), modulo(me % 2 ? me + 1 : me - 1, t->n) };

    if (t->n % 2) {
        net_allgather_ring(s, t, me);
        return;
    }
    for (int k = 0; k < t->n / 2; k++)
        play_exchange(s, net_rank(t, side[k % 2]), k ? 2 * t->bytes : t->bytes, net_rank(t, side[k % 2]));
}

/* ---------------------------------------------------------------- all-to-all */

void net_alltoall_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int k = 1; k < t->n; k++)
        play_recv(s, net_rank(t, modulo(me + k, t->n)));
    for (int k = 1; k < t->n; k++)
        play_send(s, net_rank(t, modulo(me - k, t->n)), t->bytes);
    play_wait(s);
}

void net_alltoall_pairwise(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int k = 1; k < t->n; k++)
        play_exchange(s, net_rank(t, modulo(me + k, t->n)), t->bytes, net_rank(t, modulo(me - k, t->n)));
}

void net_alltoall_bruck(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int d = 1; d < t->n; d <<= 1) {
        int blocks = 0;

        for (int k = d; k < t->n; k++)
            blocks += (k & d) != 0;
        play_exchange(s, net_rank(t, modulo(me + d, t->n)), t->bytes * blocks, net_rank(t, modulo(me - d, t->n)));
    }
}

/* Four at a time, as MVAPICH2 and SimGrid post them; one of the first four is the member itself. */
void net_alltoall_throttled(struct play_schedule *s, const struct net_task *t, int me)
{
    enum { AT_ONCE = 4 };

    for (int k = 0; k < t->n; k += AT_ONCE) {
        int end = k + AT_ONCE < t->n ? k + AT_ONCE : t->n;

        for (int i = k ? k : 1; i < end; i++)
            play_recv(s, net_rank(t, modulo(me + i, t->n)));
        for (int i = k ? k : 1; i < end; i++)
            play_send(s, net_rank(t, modulo(me - i, t->n)), t->bytes);
        play_wait(s);
    }
}

/* ---------------------------------------------------------------- barrier */

void net_barrier_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    if (me) {
        play_send_wait(s, net_rank(t, 0), 0);
        play_recv_wait(s, net_rank(t, 0));
        return;
    }
    for (int i = 1; i < t->n; i++)
        play_recv(s, net_rank(t, i));
    play_wait(s);
    for (int i = 1; i < t->n; i++)
        play_send(s, net_rank(t, i), 0);
    play_wait(s);
}

void net_barrier_doubling(struct play_schedule *s, const struct net_task *t, int me)
{
    int p = net_pow2_below(t->n);

    if (me >= p) {
        play_exchange(s, net_rank(t, me - p), 0, net_rank(t, me - p));
        return;
    }
    if (me + p < t->n)
        play_recv_wait(s, net_rank(t, me + p));
    for (int mask = 1; mask < p; mask <<= 1)
        play_exchange(s, net_rank(t, me ^ mask), 0, net_rank(t, me ^ mask));
    if (me + p < t->n)
        play_send_wait(s, net_rank(t, me + p), 0);
}

void net_barrier_bruck(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int d = 1; d < t->n; d <<= 1)
        play_exchange(s, net_rank(t, modulo(me + d, t->n)), 0, net_rank(t, modulo(me - d, t->n)));
}

void net_barrier_tree(struct play_schedule *s, const struct net_task *t, int me)
{
    int mask = 1;

    for (; mask < t->n && !(me & mask); mask <<= 1)
        if (me + mask < t->n)
            play_recv_wait(s, net_rank(t, me + mask));
    if (me) {
        play_send_wait(s, net_rank(t, me - mask), 0);
        play_recv_wait(s, net_rank(t, me - mask));
    }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (me + mask < t->n)
            play_send_wait(s, net_rank(t, me + mask), 0);
}
