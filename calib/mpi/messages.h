/* messages.h - messages between processes, and their times: one way for hrun-netbench, libhrun-mpi and hrun-probe
 *
 * Purpose: one repetition of a trial: a process that leads, one or more that follow, and messages between them. The one
 * that leads measures, by its own clock, from when its receives are posted.
 * Invariants: it needs MPI and the C library. Times are those of the monotonic clock, or simulated, in seconds.
 */
#ifndef CALIB_MPI_MESSAGES_H
#define CALIB_MPI_MESSAGES_H

#include <mpi.h>
#include <stddef.h>

double mpi_now(void);
/* Zeroed memory of n elements; where there is none the application ends, as by errors of MPI. */
void *mpi_alloc(size_t n, size_t size) __attribute__((returns_nonnull));
/* For qsort: doubles in ascending order. */
int mpi_compare_doubles(const void *a, const void *b);

/* Tags of messages on the communicator of the buffers. */
enum { MESSAGES_READY = 1, MESSAGES_MORE, MESSAGES_DATA };

/* Where a process's messages are. */
struct message_buffers {
    MPI_Comm comm;
    int rank;
    char *out, *in;                /* of the longest message; in: of all that come at once */
    MPI_Request *requests;         /* one for each follower; not used of trials in turn */
};

/* `bytes` from lead to each of the followers in order, `back` from each of them to lead; second > 0: so many instead of
 * the one that is not 0 to, or from, the second follower. both: the two, at once, in a row (one follower, bytes both
 * ways). delay_s > 0: the follower says that it is ready and sleeps before it receives, the times are those that it
 * then takes to receive (a double, in what it sends back), and the calls are of interest. */
struct net_trial {
    int lead, nfollow;
    const int *follow;             /* ranks of comm */
    int bytes, back, second, both;
    double delay_s;
    int in_turn;                   /* 1: lead asks for what comes back of one after the other (above rendezvous each
                                      then sends alone), as linear gathers of MPI libraries do; 0: of all at once */
    int least;                     /* repetitions at least; 0: as set */
    int fixed;                     /* number of repetitions, whatever they show; 0: as set */
};

/* To be called by the process that leads. *call: what the call took that sends to the first follower. Result: from the
 * first message sent until the last is back. */
double messages_lead(const struct message_buffers *m, const struct net_trial *t, double *call);
/* To be called by each that follows. */
void messages_follow(const struct message_buffers *m, const struct net_trial *t);

#endif
