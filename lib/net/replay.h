/* replay.h - simulation of messages on the network model; for lib/net and hrun/preloaded
 *
 * Purpose: schedules of messages and waits of ranks, and the time of a schedule on a network (net.h). Each rank has a
 * clock and a processor; each message has a latency. The bytes of all messages under way share ports, trunks and memory
 * max-min fairly, with the weights of net.h. Events are the beginnings and ends of flows of bytes; rates are computed
 * only at events. All changes at one time are one event, so a round of equal messages costs as much as one message.
 * Invariants of a schedule: the steps of rank 0, then those of rank 1, ...; the k-th message that a rank sends to
 * another is the k-th that the other receives from it. A schedule is not changed by playing it.
 */
#ifndef HRUN_NET_REPLAY_H
#define HRUN_NET_REPLAY_H

#include "net/net.h"

#include <stddef.h>

/* ---------------------------------------------------------------- schedules (message_schedule.c, replay.c) */

enum play_kind {
    PLAY_SEND,                 /* begin to send: returns after the sender's own stage */
    PLAY_SSEND,                /* begin to send: complete only when the receiver has processed the message */
    PLAY_RECV,                 /* begin to receive */
    PLAY_WAIT_ONE,             /* wait for one earlier step of this rank */
    PLAY_WAIT,                 /* wait for all earlier steps of this rank */
    PLAY_WORK,                 /* combine two operands of `bytes` */
    PLAY_COPY                  /* copy `bytes` within the host */
};

struct play_step {
    enum play_kind kind;
    int peer;                  /* the other rank */
    size_t other;              /* of PLAY_WAIT_ONE: index of the step waited for */
    double bytes;
};

struct play_schedule {
    int nranks, rank;          /* rank: the rank that steps are added to */
    size_t *first;             /* nranks + 1: a rank's first step */
    struct play_step *steps;
    size_t nsteps, cap;
};

/* Begin an empty schedule. */
void play_begin(struct play_schedule *s, int nranks);
void play_release(struct play_schedule *s);

/* Begin the steps of rank r. Call once for each rank, in ascending order. */
void play_rank(struct play_schedule *s, int r);
/* Add one step. Sends and receives return its index for play_wait_for. A blocking send is play_send and
 * play_wait_for. */
size_t play_send(struct play_schedule *s, int to, double bytes);
size_t play_ssend(struct play_schedule *s, int to, double bytes);
size_t play_recv(struct play_schedule *s, int from);
void play_wait_for(struct play_schedule *s, size_t step);
void play_wait(struct play_schedule *s);
void play_work(struct play_schedule *s, double bytes);
void play_copy(struct play_schedule *s, double bytes);
/* Shorthands: blocking send, blocking receive, MPI_Sendrecv. */
void play_send_wait(struct play_schedule *s, int to, double bytes);
void play_recv_wait(struct play_schedule *s, int from);
void play_exchange(struct play_schedule *s, int to, double bytes, int from);

/* 1 if this step begins to send, else 0. */
int play_sends(const struct play_step *step);
/* Number the messages in the order of their sending steps: message_of[nsteps] receives the number for each step that
 * begins to send or receive. Errors: HRUN_EINVAL (a message without sender or receiver). */
int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err);

/* Simulate s on net with the ranks on the hosts in `ranks`. *time_s: from the common begin of all ranks to the end
 * of the last one. The caller ensures that each message uses a measured pair (beta > 0). Errors, which are bugs of the
 * schedule: HRUN_EINVAL (a message without sender or receiver, a deadlock). */
int play_run(const struct play_schedule *s, const struct hrun_net *net, const struct hrun_net_ranks *ranks,
             double *time_s, struct hrun_error *err);

/* ---------------------------------------------------------------- rates of flows of bytes (wire.c) */

/* Max-min fair rates (Bertsekas and Gallager, Data Networks, section 6.5.2): the rate of a flow can be raised only by
 * lowering that of a flow whose rate, relative to its share, is not larger. Each flow has its own limit, and uses rate
 * times weight of each of its resources.
 * Weights, shares and capacities are > 0; limits are > 0 or INFINITY; a flow without a limit uses at least one
 * resource. */

/* Ports of sender and receiver and the trunk, in both directions. */
enum { SHARE_USES = 6 };

struct share_flow {
    int nuse;
    int use[SHARE_USES];       /* resources, each once */
    double weight[SHARE_USES];
    double share;              /* weight in fair rates: its rate relative to that of a flow with share 1 */
    double limit, rate;        /* bytes/s; rate is the result */
    int message;               /* the caller's */
    double left;               /* the caller's */
};

struct share_resource {
    double capacity;           /* bytes/s; the rest is scratch */
    double left, weight;
};

/* Set the rates of flows[n]. open[n]: scratch. */
void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *open);

/* ---------------------------------------------------------------- one message by the stages of net.h (wire.c) */

/* Messages between ranks of one host have no processor stage. Unknown limits are INFINITY. */

/* The processor stage of a message at `rank`, sent to or received from `other`. */
double wire_processor_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, int other,
                        double bytes);

/* The latency of a message, s: from the end of the sender's stage to its first byte. */
double wire_latency_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes);

/* The time of copying bytes on a rank's host, s, without the fixed time of a message. */
double wire_copy_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, double bytes);

/* The number of resources of a network: for each host its outgoing port, incoming port and memory; then the trunks. */
size_t wire_resources(const struct hrun_net *net);

/* The flow of a message's bytes: its limit, and its resources with weights. Their capacities are written to
 * resources[]. */
struct share_flow wire_flow(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to,
                            double bytes, struct share_resource *resources);

#endif
