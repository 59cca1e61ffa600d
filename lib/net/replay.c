/* replay.c - simulation of a schedule on a network (replay.h)
 *
 * Ranks run on their own clocks until they wait. A message becomes an event at the end of its latency, then a flow; the
 * next event is the first end of a latency or of a flow. A waiting rank continues at an event, so events are simulated
 * in order of time.
 */
#include "base/alloc.h"
#include "net/replay.h"

#include <math.h>
#include <stdlib.h>

/* A latency or flow that ends within this part of its own duration after an event ends at that event. The relative
 * error is at most this part; networks are known to a percent at best. Operations of unlike hosts thus have far fewer
 * events. */
static const double TOGETHER = 1e-3;
/* Times with a smaller relative difference are equal: rounding of sums of some thousand terms. */
static const double SAME = 1e-12;

enum { NONE = -1 };

struct message {
    int from, to;
    double bytes;
    double sent_s, received_s; /* times at which it left the sender and the receiver began to wait; < 0: not yet */
    double there_s;            /* arrival of its last byte; < 0: not yet */
    double latency_s, processor_s; /* time before its bytes flow; the receiver's stage */
    int sync, ssend;           /* sync 1: the wire waits for the receiver; ssend 1: the sender until it has processed */
    int sender_waits;
    int sent_done, received_done;
    int next;                  /* next message in the receiver's queue, or among those held back */
    int held;                  /* first message in the opposite direction that flows after this one */
};

struct player {
    size_t pc;
    double clock_s;
    int pending;               /* number of steps that have begun and are not complete */
    int blocked;
    int first_there, last_there; /* queue of messages that have arrived and are not processed */
};

struct event {
    double time_s;
    int message;
};

struct play {
    const struct play_schedule *s;
    const struct hrun_net *net;
    const struct hrun_net_ranks *ranks;
    struct message *messages;
    int *message_of;           /* message of each send or receive step (play_match) */
    struct player *players;
    struct event *heap;
    int nheap;
    struct share_flow *flows;
    int nflows, stale;         /* stale: 1: rates must be computed again */
    struct share_resource *resources;
    int *open;                 /* scratch of share_rates */
    int *runnable, nrunnable;
    double now_s;
};

/* ---------------------------------------------------------------- events */

static void push_event(struct play *p, double time_s, int message)
{
    int i = p->nheap++;

    while (i > 0 && p->heap[(i - 1) / 2].time_s > time_s) {
        p->heap[i] = p->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->heap[i] = (struct event){ time_s, message };
}

static int pop_event(struct play *p)
{
    int top = p->heap[0].message, i = 0;
    struct event last = p->heap[--p->nheap];

    for (int kid = 1; kid < p->nheap; kid = 2 * i + 1) {
        kid += kid + 1 < p->nheap && p->heap[kid + 1].time_s < p->heap[kid].time_s;
        if (last.time_s <= p->heap[kid].time_s)
            break;
        p->heap[i] = p->heap[kid];
        i = kid;
    }
    p->heap[i] = last;
    return top;
}

/* ---------------------------------------------------------------- ranks */

static void end_step(struct play *p, int rank, double clock_s)
{
    struct player *r = &p->players[rank];

    r->clock_s = fmax(r->clock_s, clock_s);
    r->pending--;
    if (r->blocked) {
        r->blocked = 0;
        p->runnable[p->nrunnable++] = rank;
    }
}

static void process_message(struct play *p, int message)
{
    struct message *m = &p->messages[message];
    struct player *r = &p->players[m->to];

    r->clock_s = fmax(r->clock_s, m->there_s) + m->processor_s;
    m->received_done = 1;
    end_step(p, m->to, r->clock_s);
    if (m->ssend) {
        m->sent_done = 1;
        end_step(p, m->from, r->clock_s);
    }
}

static void process_all(struct play *p, int rank)
{
    struct player *r = &p->players[rank];

    while (r->first_there != NONE) {
        int m = r->first_there;

        r->first_there = p->messages[m].next;
        process_message(p, m);
    }
    r->last_there = NONE;
}

static void queue_message(struct play *p, int message)
{
    struct message *m = &p->messages[message];
    struct player *r = &p->players[m->to];

    m->next = NONE;
    if (r->first_there == NONE)
        r->first_there = message;
    else
        p->messages[r->last_there].next = message;
    r->last_there = message;
}

static void message_arrives(struct play *p, int message)
{
    struct message *m = &p->messages[message];

    m->there_s = p->now_s;
    if (m->sender_waits && !m->ssend) {
        m->sent_done = 1;
        end_step(p, m->from, p->now_s);
    }
    if (m->received_s < 0)
        return;
    if (p->players[m->to].blocked)
        process_message(p, message);
    else
        queue_message(p, message);
}

static void begin_wire(struct play *p, int message)
{
    struct message *m = &p->messages[message];

    if (m->sent_s < 0 || (m->sync && m->received_s < 0))
        return;
    m->latency_s = wire_latency_s(p->net, p->ranks, m->from, m->to, m->bytes);
    push_event(p, (m->sync ? fmax(m->sent_s, m->received_s) : m->sent_s) + m->latency_s, message);
}

static void step_send(struct play *p, struct player *r, int message)
{
    struct message *m = &p->messages[message];
    int rendezvous = p->net->sync_bytes > 0 && m->bytes >= p->net->sync_bytes;

    r->clock_s += wire_processor_s(p->net, p->ranks, m->from, m->to, m->bytes);
    m->processor_s = wire_processor_s(p->net, p->ranks, m->to, m->from, m->bytes);
    m->sent_s = r->clock_s;
    m->sync = rendezvous || p->net->wire_waits || m->ssend;
    m->sender_waits = rendezvous || m->ssend;
    m->sent_done = !m->sender_waits;
    r->pending += m->sender_waits;
    begin_wire(p, message);
}

static void step_recv(struct play *p, struct player *r, int message)
{
    struct message *m = &p->messages[message];

    m->received_s = r->clock_s;
    r->pending++;
    if (m->there_s >= 0)
        queue_message(p, message);
    else if (m->sync)
        begin_wire(p, message);
}

/* 1 if the steps that this step waits for are complete, else 0. */
static int step_wait(struct play *p, int rank, const struct play_step *step)
{
    const struct message *m;

    process_all(p, rank);
    if (step->kind == PLAY_WAIT)
        return p->players[rank].pending == 0;
    m = &p->messages[p->message_of[step->other]];
    return p->s->steps[step->other].kind == PLAY_RECV ? m->received_done : m->sent_done;
}

/* Run a rank until it waits or ends. */
static void run_rank(struct play *p, int rank)
{
    struct player *r = &p->players[rank];

    for (; r->pc < p->s->first[rank + 1]; r->pc++) {
        const struct play_step *step = &p->s->steps[r->pc];

        switch (step->kind) {
        case PLAY_SEND:
        case PLAY_SSEND:
            step_send(p, r, p->message_of[r->pc]);
            break;
        case PLAY_RECV:
            step_recv(p, r, p->message_of[r->pc]);
            break;
        case PLAY_WORK:
            r->clock_s += step->bytes * p->net->reduce_s_per_byte;
            break;
        case PLAY_COPY:
            r->clock_s += wire_copy_s(p->net, p->ranks, rank, step->bytes);
            break;
        case PLAY_WAIT:
        case PLAY_WAIT_ONE:
            if (!step_wait(p, rank, step)) {
                r->blocked = 1;
                return;
            }
        }
    }
}

static void run_ranks(struct play *p)
{
    while (p->nrunnable > 0)
        run_rank(p, p->runnable[--p->nrunnable]);
}

/* ---------------------------------------------------------------- time */

/* The time when the next latency or flow ends; INFINITY if there is none. */
static double next_event(struct play *p)
{
    double next_s = p->nheap ? p->heap[0].time_s : INFINITY;

    if (p->stale) {
        share_rates(p->flows, p->nflows, p->resources, p->open);
        p->stale = 0;
    }
    for (int f = 0; f < p->nflows; f++)
        next_s = fmin(next_s, p->now_s + p->flows[f].left / p->flows[f].rate);
    return next_s;
}

/* 1 if this message is held back until one in the opposite direction has flowed (exchange_waits: the receiver's reply,
 * which starts the flow, is queued behind the bytes that the receiver sends), else 0. */
static int hold_back(struct play *p, int message)
{
    struct message *m = &p->messages[message];

    if (!p->net->exchange_waits || m->bytes < p->net->sync_bytes || p->ranks->host[m->from] == p->ranks->host[m->to])
        return 0;
    for (int f = 0; f < p->nflows; f++) {
        struct message *other = &p->messages[p->flows[f].message];

        if (other->from != m->to || other->to != m->from || other->bytes < p->net->sync_bytes)
            continue;
        m->next = other->held;
        other->held = message;
        return 1;
    }
    return 0;
}

static void begin_flow(struct play *p, int message)
{
    const struct message *m = &p->messages[message];
    struct share_flow f;

    if (hold_back(p, message))
        return;
    f = wire_flow(p->net, p->ranks, m->from, m->to, m->bytes, p->resources);
    f.message = message;
    f.left = m->bytes;
    if (f.left <= 0 || (!f.nuse && f.limit >= INFINITY)) {
        message_arrives(p, message);
        return;
    }
    p->flows[p->nflows++] = f;
    p->stale = 1;
}

/* Flows that end at one time are handled in the order of their beginnings, so results are deterministic. */
static void go_on(struct play *p, double next_s)
{
    double passed_s = next_s - p->now_s;
    int kept = 0;

    p->now_s = next_s;
    for (int f = 0; f < p->nflows; f++) {
        struct share_flow *flow = &p->flows[f];

        flow->left -= flow->rate * passed_s;
        if (flow->left <= TOGETHER * p->messages[flow->message].bytes) {
            struct message *m = &p->messages[flow->message];

            for (int held = m->held; held != NONE; held = p->messages[held].next)
                push_event(p, p->now_s, held);
            m->held = NONE;
            message_arrives(p, flow->message);
            p->stale = 1;
        } else {
            p->flows[kept++] = *flow;
        }
    }
    p->nflows = kept;
    while (p->nheap > 0 && p->heap[0].time_s <= next_s * (1 + SAME) +
                                                p->messages[p->heap[0].message].latency_s * TOGETHER)
        begin_flow(p, pop_event(p));
    run_ranks(p);
}

/* ---------------------------------------------------------------- memory */

static void play_free(struct play *p)
{
    free(p->messages);
    free(p->message_of);
    free(p->players);
    free(p->heap);
    free(p->flows);
    free(p->resources);
    free(p->open);
    free(p->runnable);
}

/* Allocate and set the initial state. Errors: those of play_match. */
static int play_prepare(struct play *p, struct hrun_error *err)
{
    const struct play_schedule *s = p->s;
    size_t n = (size_t)s->nranks, m = 1;

    for (size_t i = 0; i < s->nsteps; i++)
        m += (size_t)play_sends(&s->steps[i]);
    p->messages = xmalloc(m * sizeof *p->messages);
    p->message_of = xmalloc((s->nsteps + 1) * sizeof *p->message_of);
    p->players = xcalloc(n, sizeof *p->players);
    p->heap = xmalloc(m * sizeof *p->heap);
    p->flows = xmalloc(m * sizeof *p->flows);
    p->resources = xcalloc(wire_resources(p->net), sizeof *p->resources);
    p->open = xmalloc(m * sizeof *p->open);
    p->runnable = xmalloc(n * sizeof *p->runnable);
    if (play_match(s, p->message_of, err))
        return -1;
    for (int r = s->nranks - 1; r >= 0; r--) {
        p->players[r] = (struct player){ .pc = s->first[r], .first_there = NONE, .last_there = NONE };
        p->runnable[p->nrunnable++] = r;
        for (size_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const struct play_step *step = &s->steps[i];

            if (play_sends(step))
                p->messages[p->message_of[i]] = (struct message){
                    .from = r, .to = step->peer, .bytes = step->bytes, .sent_s = -1, .received_s = -1, .there_s = -1,
                    .ssend = step->kind == PLAY_SSEND, .next = NONE, .held = NONE };
        }
    }
    return 0;
}

int play_run(const struct play_schedule *s, const struct hrun_net *net, const struct hrun_net_ranks *ranks,
             double *time_s, struct hrun_error *err)
{
    autorelease(play_free) struct play p = { .s = s, .net = net, .ranks = ranks };
    double last_s = 0;

    if (play_prepare(&p, err))
        return -1;
    run_ranks(&p);
    for (double next_s; (next_s = next_event(&p)) < INFINITY;)
        go_on(&p, next_s);
    for (int r = 0; r < s->nranks; r++) {
        if (p.players[r].blocked)
            return hrun_fail(err, HRUN_EINVAL, "rank %d waits forever", r);
        last_s = fmax(last_s, p.players[r].clock_s);
    }
    *time_s = last_s;
    return 0;
}
