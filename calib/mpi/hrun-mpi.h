/* hrun-mpi.h - libhrun-mpi: measure the network below an MPI communicator
 *
 * Purpose: the experiments of Lastovetsky, Rychkov and O'Flynn, "A software tool for accurate estimation of parameters
 * of heterogeneous communication models" (paper 002), section 3, and further ones for the model of lib/net/net.h.
 * hrun-netbench is this library with a main function; an application may call it at run time. The records are text.
 * hrun_net_from_records (hrun.h) makes a model of them, and hrun_net_time predicts with that (example: libhrun(3)).
 * Invariants: it needs MPI and the C library, nothing of libhrun; it uses its own communicator, so it receives none of
 * the caller's messages; each time is measured with one host's clock; no state is kept between calls.
 */
#ifndef HRUN_MPI_H
#define HRUN_MPI_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the shared library exports. */
#if defined(__GNUC__)
#define HRUN_MEASURE_API __attribute__((visibility("default")))
#else
#define HRUN_MEASURE_API
#endif

struct hrun_measure_options {
    double precision;          /* repeat until the half width of the 95 % interval of the mean (t distribution) is at
                                  most this part of the mean, > 0 */
    int least, most;           /* limits of the number of repetitions, 1 <= least <= most */
    int warm;                  /* number of uncounted first repetitions, >= 0, which set up connections and touch
                                  buffers; if > 0, the first after each later pause (one every few repetitions) is not
                                  counted either */
    double trial_s;            /* after this time an experiment ends once it has `least` repetitions */
    double limit_s;            /* optional experiments are skipped after this time; 0: never */
    int kind;                  /* number of the kind of PE that this process runs on, 0 <= kind < 256 */
};

/* In a simulation all repetitions take the same time, so one is enough. */
#ifdef HRUN_SMPI
#define HRUN_MEASURE_DEFAULT { 0.025, 1, 1, 0, 0.5, 0, 0 }
#else
#define HRUN_MEASURE_DEFAULT { 0.025, 5, 100, 2, 0.5, 0, 0 }
#endif

/* Measure the network among the processes of comm, an intracommunicator. Collective; all options but `kind` are equal.
 * The first process of each host measures between hosts; all processes of a host measure inside it. Idle ones sleep.
 * Result: 0, and on process 0 of comm *records is a text that the caller frees (NULL on the others); -1 on all
 * processes with the reason in why[size] (may be NULL with size 0): invalid options, a single process, contradictory
 * clocks. Errors of MPI and lack of memory end the application. */
HRUN_MEASURE_API int hrun_measure_network(MPI_Comm comm, const struct hrun_measure_options *options, char **records,
                                          char *why, size_t size);

/* host_of[r] becomes the index of the host of process r of comm. Hosts are numbered as in the records, in the order of
 * their first processes. Collective. Result: the number of hosts. */
HRUN_MEASURE_API int hrun_measure_hosts(MPI_Comm comm, int *host_of);

#ifdef __cplusplus
}
#endif
#endif
