/* algo_all.c - allgather, all-to-all, barrier, neighbours (algorithms.h) */
#include "net/algorithms.h"

/* ---------------------------------------------------------------- cyclic shifts */

void net_shift(struct play_schedule *s, const struct net_task *t, int me, int distance, double bytes)
{
    play_exchange(s, net_rank(t, (me + distance + t->n) % t->n), bytes, net_rank(t, (me - distance + t->n) % t->n));
}

void net_ring(struct play_schedule *s, const struct net_task *t, int me)
{
    net_shift(s, t, me, 1, t->bytes);
}

/* ---------------------------------------------------------------- allgather */

void net_allgather_bruck(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int d = 1; d < t->n; d <<= 1)
        net_shift(s, t, me, -d, t->bytes * (2 * d <= t->n ? d : t->n - d));
}

/* After the step of `mask`, the members of v's subtree that had a partner forward what they received to members without
 * a partner. */
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
        net_shift(s, t, me, 1, t->bytes);
}

/* Exchange with both neighbours in turn, two blocks from the second step on. An odd number of members uses the ring. */
void net_allgather_neighbor(struct play_schedule *s, const struct net_task *t, int me)
{
    int first = me % 2 ? t->n - 1 : 1;     /* the distance to the first partner; the second is on the other side */

    if (t->n % 2) {
        net_allgather_ring(s, t, me);
        return;
    }
    for (int k = 0; k < t->n / 2; k++) {
        int partner = net_rank(t, (me + (k % 2 ? t->n - first : first)) % t->n);

        play_exchange(s, partner, k ? 2 * t->bytes : t->bytes, partner);
    }
}

/* ---------------------------------------------------------------- all-to-all */

/* Exchange with `at_once` members at a time; the first group includes the member itself. */
static void alltoall_in_groups(struct play_schedule *s, const struct net_task *t, int me, int at_once)
{
    for (int k = 0; k < t->n; k += at_once) {
        int end = k + at_once < t->n ? k + at_once : t->n;

        for (int i = k ? k : 1; i < end; i++)
            play_recv(s, net_rank(t, (me + i) % t->n));
        for (int i = k ? k : 1; i < end; i++)
            play_send(s, net_rank(t, (me - i + t->n) % t->n), t->bytes);
        play_wait(s);
    }
}

void net_alltoall_linear(struct play_schedule *s, const struct net_task *t, int me)
{
    alltoall_in_groups(s, t, me, t->n);
}

/* Four members at a time, as in MVAPICH2 and SimGrid. */
void net_alltoall_throttled(struct play_schedule *s, const struct net_task *t, int me)
{
    alltoall_in_groups(s, t, me, 4);
}

/* One member after the other; also SimGrid's "ring" of an allgather. */
void net_alltoall_pairwise(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int k = 1; k < t->n; k++)
        net_shift(s, t, me, k, t->bytes);
}

/* The step of bit d sends the blocks whose number has that bit set. */
void net_alltoall_bruck(struct play_schedule *s, const struct net_task *t, int me)
{
    for (int d = 1; d < t->n; d <<= 1) {
        int rest = t->n % (2 * d) - d;

        net_shift(s, t, me, d, t->bytes * (t->n / (2 * d) * d + (rest > 0 ? rest : 0)));
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

void net_barrier_tree(struct play_schedule *s, const struct net_task *t, int me)
{
    net_reduce_tree(s, t, me);
    net_broadcast(s, t, me);
}
