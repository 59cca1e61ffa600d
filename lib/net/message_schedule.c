/* message_schedule.c - the steps of the ranks (replay.h) */
#include "base/alloc.h"
#include "net/replay.h"

#include <stdlib.h>

void play_begin(struct play_schedule *s, int nranks)
{
    *s = (struct play_schedule){ .nranks = nranks, .rank = -1 };
    s->first = xcalloc((size_t)nranks + 1, sizeof *s->first);
}

void play_release(struct play_schedule *s)
{
    free(s->first);
    free(s->steps);
    *s = (struct play_schedule){ 0 };
}

void play_rank(struct play_schedule *s, int r)
{
    s->rank = r;
    s->first[r] = s->nsteps;
    s->first[r + 1] = s->nsteps;
}

static size_t play_add_step(struct play_schedule *s, struct play_step step)
{
    hrun_grow(s->steps, s->nsteps + 1, s->cap);
    s->steps[s->nsteps] = step;
    s->first[s->rank + 1] = s->nsteps + 1;
    return s->nsteps++;
}

size_t play_send(struct play_schedule *s, int to, double bytes)
{
    return play_add_step(s, (struct play_step){ PLAY_SEND, to, 0, bytes });
}

size_t play_ssend(struct play_schedule *s, int to, double bytes)
{
    return play_add_step(s, (struct play_step){ PLAY_SSEND, to, 0, bytes });
}

size_t play_recv(struct play_schedule *s, int from)
{
    return play_add_step(s, (struct play_step){ PLAY_RECV, from, 0, 0 });
}

void play_wait_for(struct play_schedule *s, size_t step)
{
    play_add_step(s, (struct play_step){ PLAY_WAIT_ONE, 0, step, 0 });
}

void play_wait(struct play_schedule *s)
{
    play_add_step(s, (struct play_step){ PLAY_WAIT, 0, 0, 0 });
}

void play_work(struct play_schedule *s, double bytes)
{
    play_add_step(s, (struct play_step){ PLAY_WORK, 0, 0, bytes });
}

void play_copy(struct play_schedule *s, double bytes)
{
    play_add_step(s, (struct play_step){ PLAY_COPY, 0, 0, bytes });
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

/* ---------------------------------------------------------------- matching sends and receives */

/* A step that begins to send or receive. */
struct message_end {
    long long key;             /* from * nranks + to */
    size_t step;
};

static int message_end_order(const void *a, const void *b)
{
    const struct message_end *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->step > y->step) - (x->step < y->step);
}

int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err)
{
    autofree struct message_end *sends = xmalloc((2 * s->nsteps + 1) * sizeof *sends);
    struct message_end *receives = sends + s->nsteps;
    size_t nsends = 0, nreceives = 0;

    for (int r = 0; r < s->nranks; r++)
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct play_step *step = &s->steps[i];

            if (play_sends(step)) {
                message_of[i] = (int)nsends;
                sends[nsends++] = (struct message_end){ (long long)r * s->nranks + step->peer, i };
            } else if (step->kind == PLAY_RECV) {
                receives[nreceives++] = (struct message_end){ (long long)step->peer * s->nranks + r, i };
            }
        }
    qsort(sends, nsends, sizeof *sends, message_end_order);
    qsort(receives, nreceives, sizeof *receives, message_end_order);
    /* The k-th send from one rank to another matches the k-th receive; both lists have the same order. */
    for (size_t k = 0; k < nsends || k < nreceives; k++) {
        if (k == nsends || (k < nreceives && receives[k].key < sends[k].key))
            return hrun_fail(err, HRUN_EINVAL, "rank %lld receives what rank %lld does not send",
                             receives[k].key % s->nranks, receives[k].key / s->nranks);
        if (k == nreceives || sends[k].key < receives[k].key)
            return hrun_fail(err, HRUN_EINVAL, "rank %lld sends what rank %lld does not receive",
                             sends[k].key / s->nranks, sends[k].key % s->nranks);
        message_of[receives[k].step] = message_of[sends[k].step];
    }
    return 0;
}
