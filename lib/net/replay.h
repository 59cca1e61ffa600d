/* replay.h - messages played through the network model; for lib/net and hrun/preloaded
 *
 * Purpose: what ranks do that send each other messages - who sends how much to whom, and waits for what - as a
 * schedule, and the time it takes on a network (net.h): each rank has its clock and its processor, each message its
 * latency, and the bytes of all messages under way share ports, trunks and memory (max-min fair, weights those of
 * net.h). Events are the beginnings and ends of the flows of bytes; only there rates are computed anew, and all that
 * happens at one time is one event, so that a round of equal messages costs as much as one of them.
 * Invariants of a schedule: the steps of rank 0, then those of rank 1, ...; the k-th message that a rank sends to
 * another is the k-th that the other receives from it. A schedule is not changed by playing it.
 */
#ifndef HRUN_NET_REPLAY_H
#define HRUN_NET_REPLAY_H

#include "net/net.h"

#include <stddef.h>

/* ---------------------------------------------------------------- schedules (message_schedule.c), played (replay.c) */

enum play_kind {
    PLAY_SEND,                 /* begin to send: returns after the sender's own stage */
    PLAY_SSEND,                /* the same, complete only when the receiver has processed the message */
    PLAY_RECV,                 /* begin to receive */
    PLAY_WAIT_ONE,             /* for one earlier step of this rank */
    PLAY_WAIT,                 /* for all earlier steps of this rank */
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
    int nranks, rank;          /* rank: whose steps are being added */
    size_t *first;             /* nranks + 1: a rank's first step */
    struct play_step *steps;
    size_t nsteps, cap;
};

/* Begin an empty schedule. */
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
void play_copy(struct play_schedule *s, double bytes);
/* Shorthands: blocking, and MPI_Sendrecv. */
void play_send_wait(struct play_schedule *s, int to, double bytes);
void play_recv_wait(struct play_schedule *s, int from);
void play_exchange(struct play_schedule *s, int to, double bytes, int from);

/* Does this step begin to send? */
int play_sends(const struct play_step *step);
/* Number the messages in the order of the steps that send them: message_of[nsteps] receives the number of each step
 * that begins to send or receive. Errors: HRUN_EINVAL (a message that nobody sends or receives). */
int play_match(const struct play_schedule *s, int *message_of, struct hrun_error *err);

/* Play s, whose ranks are where `ranks` says, on net; *time_s receives the clock of the last rank that ends, all having
 * begun at 0. Unknown pairs (beta 0) have been ruled out by the caller. Errors, all of them bugs of the schedule:
 * HRUN_EINVAL (a message that nobody sends or receives, ranks that wait for each other forever). */
int play_run(const struct play_schedule *s, const struct hrun_net *net, const struct hrun_net_ranks *ranks,
             double *time_s, struct hrun_error *err);

/* ---------------------------------------------------------------- what flows of bytes share (share.c) */

/* Max-min fair rates (Bertsekas and Gallager, Data Networks, section 6.5.2): no flow's rate can be raised but at the
 * cost of a flow that has no more than it, as their shares weigh them. A flow has a limit of its own, and takes of each
 * resource that it uses its rate times a weight.
 * Weights, shares and capacities are > 0; limits are > 0, INFINITY stands for none; a flow without a limit uses at
 * least one resource. */

/* Ports of sender and receiver, the trunk, and the three on the way back. */
enum { SHARE_USES = 6 };

struct share_flow {
    int nuse;
    int use[SHARE_USES];       /* resources, each once */
    double weight[SHARE_USES];
    double share;              /* what its rate rises by when that of a flow of share 1 rises by 1 */
    double limit, rate;        /* bytes/s; rate is the result */
    int message;               /* the caller's */
    double left;               /* the caller's */
};

struct share_resource {
    double capacity;           /* bytes/s; the rest is scratch */
    double left, weight;
};

/* Rates of flows[n]. open[n]: scratch. */
void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *open);

/* ---------------------------------------------------------------- one message by the stages of net.h (wire.c) */

/* Ranks of one host have no processor's stage; limits are INFINITY where none is known. */

/* The processor's stage of a message at `rank`, sent to or received from `other`. */
double wire_processor_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, int other,
                        double bytes);

/* From the sender's stage to the first byte. */
double wire_latency_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to, double bytes);

/* Copying bytes on a rank's host: at most what a message between two such ranks takes. */
double wire_copy_s(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int rank, double bytes);

/* How many resources a network has: of each host what goes out, what comes in, its memory; then the trunks. */
size_t wire_resources(const struct hrun_net *net);

/* The flow of the bytes: limit, and resources with their weights; capacities of those are written to resources[]. */
struct share_flow wire_flow(const struct hrun_net *net, const struct hrun_net_ranks *ranks, int from, int to,
                            double bytes, struct share_resource *resources);

#endif
