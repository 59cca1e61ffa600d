/* hrun-mpi.h - libhrun-mpi: measure the network below an MPI communicator
 *
 * Purpose: the experiments of Lastovetsky, Rychkov and O'Flynn, "A software tool for accurate estimation of parameters
 * of heterogeneous communication models" (paper 002), section 3, and those that lib/net/net.h wants besides, by
 * which hrun's network model is estimated. hrun-netbench is this library with a main function; an application may call
 * it at run time. The records that it gives are text: hrun_net_from_records and hrun_net_time of hrun.h
 * make a model of them (libhrun(3) has an example).
 * Invariants: it needs MPI and the C library, nothing of libhrun; all messages are on a communicator of its own, so
 * that none of the caller's is taken; times are those of the host that begins an experiment, no clock is compared with
 * another; it keeps nothing between calls.
 */
#ifndef HRUN_MPI_H
#define HRUN_MPI_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared library shows of itself. */
#if defined(__GNUC__)
#define HRUN_MEASURE_API __attribute__((visibility("default")))
#else
#define HRUN_MEASURE_API
#endif

struct hrun_measure_options {
    double precision;          /* repeat until the half width of the 95 % interval of the mean (t distribution) is
                                  within this part of it, > 0 */
    int least, most;           /* repetitions, 1 <= least <= most; equal: exactly so many */
    int warm;                  /* repetitions before, which do not count, >= 0: connections are made, buffers touched;
                                  above 0, one of each further batch does not count either */
    double trial_s;            /* no further repetition (beyond `least`) of an experiment that has taken so long */
    double limit_s;            /* after so long all is left out that an estimate can do without; 0: never */
    int kind;                  /* of this process: the number of the kind of PE that it is on, 0 <= kind < 256 */
};

/* In a simulation, where times are the same again and again, one repetition says all. */
#ifdef HRUN_SMPI
#define HRUN_MEASURE_DEFAULT { 0.025, 1, 1, 0, 0.5, 0, 0 }
#else
#define HRUN_MEASURE_DEFAULT { 0.025, 5, 100, 2, 0.5, 0, 0 }
#endif

/* Measure among the processes of comm, an intracommunicator. Collective: all of them call it, with equal options but
 * for `kind`. The first process of each host takes part in what is measured between hosts; of hosts with several
 * processes these tell what messages inside a host take. The others sleep meanwhile.
 * Result: 0, and on process 0 of comm *records is a text that the caller frees (NULL on the others); -1 on all
 * processes, and why[size] (may be NULL with size 0) says what is wrong: options, one process alone, clocks that
 * contradict each other.
 * Errors of MPI and missing memory end the application, as no measurement could go on. */
HRUN_MEASURE_API int hrun_measure_network(MPI_Comm comm, const struct hrun_measure_options *options, char **records,
                                          char *why, size_t size);

/* Where the processes of comm are: host_of[processes] of each becomes the index of its host as the records number it,
 * in the order of the first processes of hosts. Collective. Result: how many hosts there are. */
HRUN_MEASURE_API int hrun_measure_hosts(MPI_Comm comm, int *host_of);

#ifdef __cplusplus
}
#endif
#endif
