/* play.h - messages played through the network model; for lib/net
 *
 * Purpose: what ranks do that send each other messages - who sends how much to whom, and waits for what - as a
 * schedule, and the time it takes on a network (net.h): each rank has its clock and its processor, each message its
 * latency, and the bytes of all messages under way share ports, trunks and memory (max-min fair, weights those of
 * net.h). Events are the beginnings and ends of the flows of bytes; only there rates are computed anew, and all that
 * happens at one time is one event, so that a round of equal messages costs as much as one of them.
 * Invariants of a schedule: the steps of rank 0, then those of rank 1, ...; the k-th message that a rank sends to
 * another is the k-th that the other receives from it. A schedule is not changed by playing it.
 */
#ifndef HRUN_NET_PLAY_H
#define HRUN_NET_PLAY_H

#include "net/net.h"

#include <stddef.h>

enum play_kind {
    PLAY_SEND,                 /* begin to send: returns after the sender's own stage */
    PLAY_SSEND,                /* the same, complete only when the receiver has processed the message */
    PLAY_RECV,                 /* begin to receive */
    PLAY_WAIT_ONE,             /* for one earlier step of this rank */
    PLAY_WAIT,                 /* for all earlier steps of this rank */
    PLAY_WORK                  /* combine two operands of so many bytes */
};

struct play_step {
    enum play_kind kind;
    int peer;                  /* the other rank */
    size_t other;              /* of PLAY_WAIT_ONE: index of the step waited for */
    double bytes;
};

struct play_schedule {
    int nranks, rank;          /* rank: whose steps are being added */
    size_t *first;             /* nranks + 1: a rank's first step */
    struct play_step *steps;
    size_t nsteps, cap;
    int failed;                /* memory ran out: what was added since is lost */
};

/* An empty schedule; failed is set when memory runs out. */
void play_begin(struct play_schedule *s, int nranks);
void play_release(struct play_schedule *s);

/* Steps of rank r follow; ranks in ascending order, each once. */
void play_rank(struct play_schedule *s, int r);
/* One step each; those that begin something return its index for play_wait_for. A blocking send is play_send and
 * play_wait_for. */
size_t play_send(struct play_schedule *s, int to, double bytes);
size_t play_ssend(struct play_schedule *s, int to, double bytes);
size_t play_recv(struct play_schedule *s, int from);
void play_wait_for(struct play_schedule *s, size_t step);
void play_wait(struct play_schedule *s);
void play_work(struct play_schedule *s, double bytes);
/* Shorthands: blocking, and MPI_Sendrecv. */
void play_send_wait(struct play_schedule *s, int to, double bytes);
void play_recv_wait(struct play_schedule *s, int from);
void play_exchange(struct play_schedule *s, int to, double bytes, int from);

/* Does this step begin to send? */
int play_sends(const struct play_step *step);
/* Number the messages in the order of the steps that send them: message_of[nsteps] receives the number of each step
 * that begins to send or receive. Errors: HRUN_EINVAL (a message that nobody sends or receives), HRUN_ENOMEM. */
int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err);

/* Play s, whose ranks are where `ranks` says, on net; *time_s receives the clock of the last rank that ends, all having
 * begun at 0. Unknown pairs (beta 0) have been ruled out by the caller. Errors: HRUN_ENOMEM (also when
 * s->failed), HRUN_EINVAL (a message that nobody sends or receives, ranks that wait for each other forever: bugs of who
 * made s). */
int play_run(const struct play_schedule *s, const struct hrun_net *net, const struct hrun_net_ranks *ranks,
             double *time_s, struct hrun_error *err);

#endif
