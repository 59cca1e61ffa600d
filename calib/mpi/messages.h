/* messages.h - timed messages between processes, shared by libhrun-mpi, hrun-netbench and hrun-probe
 *
 * Purpose: one repetition of a trial: a process that leads, one or more that follow, and messages between them. The
 * leader measures the time with its own clock. If delay_s is set, the follower measures instead. Unless in_turn or both
 * is set, the leader posts its receives before its first send.
 * Invariants: it needs MPI and the C library. Times are those of the monotonic clock, or simulated, in seconds.
 */
#ifndef CALIB_MPI_MESSAGES_H
#define CALIB_MPI_MESSAGES_H

#include <mpi.h>
#include <stddef.h>

double mpi_now(void);
/* Zeroed memory of n elements. Out of memory ends the application with MPI_Abort. */
void *mpi_alloc(size_t n, size_t size) __attribute__((returns_nonnull));
/* Wait for a request, asleep for nap_s between tests (except in a simulation). A test takes some us, so waiting uses
 * little of the host's processors. */
void mpi_await(MPI_Request *request, double nap_s);
/* Gather the texts of all processes of comm. Result: on process 0 all of them in the order of ranks, *total bytes and a
 * NUL, which the caller frees; NULL on the others. Collective. */
char *mpi_gather_text(MPI_Comm comm, const void *text, size_t len, size_t *total);
/* The name of each process's host, HOST_NAME bytes with a NUL; the caller frees the array. Collective. */
enum { HOST_NAME = 256 };
char (*mpi_host_names(MPI_Comm comm))[HOST_NAME];
/* For qsort: doubles in ascending order. */
int mpi_compare_doubles(const void *a, const void *b);

/* Tags of messages on the communicator of the buffers. */
enum { MESSAGES_READY = 1, MESSAGES_MORE, MESSAGES_DATA };

/* Buffers of a process's messages. */
struct message_buffers {
    MPI_Comm comm;
    int rank;
    char *out, *in;                /* room for the longest message; room for all messages that arrive at once */
    MPI_Request *requests;         /* one for each follower; unused if in_turn */
};

/* lead sends `bytes` to each follower in order, and each sends `back` to lead. second > 0: messages to the second
 * follower (if `bytes` is not 0) and from it (if `back` is not 0) have this many bytes instead. both: lead and the only
 * follower send each other `bytes` at the same time, and the next repetition begins at once. delay_s > 0: the follower
 * reports that it is ready, sleeps, then receives. The recorded time is that of the follower's receive (a double in the
 * reply); the time of lead's send call shows whether the send waited. */
struct net_trial {
    int lead, nfollow;
    const int *follow;             /* ranks of comm */
    int bytes, back, second, both;
    double delay_s;
    int in_turn;                   /* 1: lead receives from one follower after the other, as linear gathers of MPI
                                      libraries do (with rendezvous one sends at a time); 0: from all at once */
    int least;                     /* least number of repetitions; 0: as in the options */
    int fixed;                     /* exact number of repetitions; 0: as in the options */
};

/* Call it on the process that leads. *call: duration of the send call to the first follower. Result: the time from the
 * first send until the last reply has arrived. */
double messages_lead(const struct message_buffers *m, const struct net_trial *t, double *call);
/* Call it on each process that follows. */
void messages_follow(const struct message_buffers *m, const struct net_trial *t);

#endif
