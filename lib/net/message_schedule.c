/* message_schedule.c - the steps of the ranks (internal.h) */
#include "net/internal.h"

#include <stdlib.h>

void play_begin(struct play_schedule *s, int nranks)
{
    *s = (struct play_schedule){ .nranks = nranks, .rank = -1 };
    s->first = calloc((size_t)nranks + 1, sizeof *s->first);
    s->failed = !s->first;
}

void play_release(struct play_schedule *s)
{
    free(s->first);
    free(s->steps);
    *s = (struct play_schedule){ 0 };
}

void play_rank(struct play_schedule *s, int r)
{
    if (s->failed)
        return;
    s->rank = r;
    s->first[r] = s->nsteps;
    s->first[r + 1] = s->nsteps;
}

static size_t add_step(struct play_schedule *s, struct play_step step)
{
    if (!s->failed && s->nsteps == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        struct play_step *p = realloc(s->steps, cap * sizeof *p);

        if (p) {
            s->steps = p;
            s->cap = cap;
        } else {
            s->failed = 1;
        }
    }
    if (s->failed)
        return 0;
    s->steps[s->nsteps] = step;
    s->first[s->rank + 1] = s->nsteps + 1;
    return s->nsteps++;
}

size_t play_send(struct play_schedule *s, int to, double bytes)
{
    return add_step(s, (struct play_step){ PLAY_SEND, to, 0, bytes });
}

size_t play_ssend(struct play_schedule *s, int to, double bytes)
{
    return add_step(s, (struct play_step){ PLAY_SSEND, to, 0, bytes });
}

size_t play_recv(struct play_schedule *s, int from)
{
    return add_step(s, (struct play_step){ PLAY_RECV, from, 0, 0 });
}

void play_wait_for(struct play_schedule *s, size_t step)
{
    add_step(s, (struct play_step){ PLAY_WAIT_ONE, 0, step, 0 });
}

void play_wait(struct play_schedule *s)
{
    add_step(s, (struct play_step){ PLAY_WAIT, 0, 0, 0 });
}

void play_work(struct play_schedule *s, double bytes)
{
    add_step(s, (struct play_step){ PLAY_WORK, 0, 0, bytes });
}

void play_copy(struct play_schedule *s, double bytes)
{
    add_step(s, (struct play_step){ PLAY_COPY, 0, 0, bytes });
}

void play_send_wait(struct play_schedule *s, int to, double bytes)
{
    play_wait_for(s, play_send(s, to, bytes));
}

void play_recv_wait(struct play_schedule *s, int from)
{
    play_wait_for(s, play_recv(s, from));
}

void play_exchange(struct play_schedule *s, int to, double bytes, int from)
{
    size_t r = play_recv(s, from), w = play_send(s, to, bytes);

    play_wait_for(s, r);
    play_wait_for(s, w);
}

int play_sends(const struct play_step *step)
{
    return step->kind == PLAY_SEND || step->kind == PLAY_SSEND;
}

/* ---------------------------------------------------------------- who receives what */

enum { NONE = -1 };

struct pair {
    long long key;             /* from * nranks + to; -1: empty */
    int first, last;           /* messages not yet received, by `next` */
};

static struct pair *find_pair(struct pair *pairs, size_t mask, long long key)
{
    size_t i = ((unsigned long long)key * 0x9E3779B97F4A7C15ull >> 20) & mask; /* 2^64 / golden ratio (Knuth) */

    while (pairs[i].key >= 0 && pairs[i].key != key)
        i = (i + 1) & mask;
    return &pairs[i];
}

static void number_sent(const struct play_schedule *s, struct pair *pairs, size_t mask, int *next, int *message_of)
{
    int m = 0;

    for (int r = 0; r < s->nranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            long long key = (long long)r * s->nranks + s->steps[i].peer;
            struct pair *pair;

            if (!play_sends(&s->steps[i]))
                continue;
            pair = find_pair(pairs, mask, key);
            next[m] = NONE;
            if (pair->key < 0)
                *pair = (struct pair){ key, m, m };
            else
                pair->last = next[pair->last] = m;
            message_of[i] = m++;
        }
}

/* Result: how many were received, or -1. */
static int number_received(const struct play_schedule *s, struct pair *pairs, size_t mask, const int *next,
                           int *message_of, struct hrun_error *err)
{
    int received = 0;

    for (int r = 0; r < s->nranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            struct pair *pair;

            if (s->steps[i].kind != PLAY_RECV)
                continue;
            pair = find_pair(pairs, mask, (long long)s->steps[i].peer * s->nranks + r);
            if (pair->key < 0 || pair->first == NONE)
                return hrun_fail(err, HRUN_EINVAL, "rank %d receives what rank %d does not send", r, s->steps[i].peer);
            message_of[i] = pair->first;
            pair->first = next[pair->first];
            received++;
        }
    return received;
}

int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err)
{
    size_t size = 64, sent = 0;
    struct pair *pairs = NULL;
    int *next = NULL, received, rc = -1;

    for (size_t i = 0; i < s->nsteps; i++)
        sent += (size_t)play_sends(&s->steps[i]);
    while (size < 2 * sent)
        size *= 2;
    if (!(pairs = malloc(size * sizeof *pairs)) || !(next = malloc((sent + 1) * sizeof *next))) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < size; i++)
        pairs[i].key = -1;
    number_sent(s, pairs, size - 1, next, message_of);
    received = number_received(s, pairs, size - 1, next, message_of, err);
    if (received >= 0 && (size_t)received < sent)
        hrun_fail(err, HRUN_EINVAL, "%zu messages that nobody receives", sent - (size_t)received);
    else if (received >= 0)
        rc = 0;
out:
    free(pairs);
    free(next);
    return rc;
}
