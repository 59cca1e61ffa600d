/* algo_root.c - scatter and gather (algorithms.h) */
#include "net/algorithms.h"

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* ---------------------------------------------------------------- scatter */

/* Send to one member after the other; beyond paper 002's threshold S each send waits for the one before. */
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

/* The lowest bit set in v, or for the root the first power of two >= n. In the tree by the lowest bit, v receives from
 * v - bit, and its subtree is v..v + bit - 1. */
static int low_bit(int v, int n)
{
    int mask = 1;

    while (mask < n && !(v & mask))
        mask <<= 1;
    return mask;
}

void net_scatter_binomial(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me), bit = low_bit(v, t->n);

    if (v)
        play_recv_wait(s, net_at(t, v - bit));
    for (int m = bit >> 1; m > 0; m >>= 1)
        if (v + m < t->n)
            play_send_wait(s, net_at(t, v + m), t->bytes * min(m, t->n - v - m));
}

/* The same tree, the smallest subtree first. */
void net_scatter_rising(struct play_schedule *s, const struct net_task *t, int me)
{
    int v = net_place(t, me), bit = low_bit(v, t->n);

    if (v)
        play_recv_wait(s, net_at(t, v - bit));
    for (int m = 1; m < bit && v + m < t->n; m <<= 1)
        play_send_wait(s, net_at(t, v + m), t->bytes * min(m, t->n - v - m));
}

/* ---------------------------------------------------------------- gather */

/* Receive in the order of ranks; beyond paper 002's threshold M2 each message begins when the one before has ended. */
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
    int v = net_place(t, me), bit = low_bit(v, t->n);

    for (int m = 1; m < bit && v + m < t->n; m <<= 1)
        play_recv_wait(s, net_at(t, v + m));
    if (v)
        play_send_wait(s, net_at(t, v - bit), t->bytes * min(bit, t->n - v));
}
