/* hrun_probe.h - hrun-probe, the MPI program that measures the PEs, hosts and links of a cluster
 *
 * Purpose: hrun-calibrate doctor starts one process of it on each PE, as it starts applications, and reads the output
 * of rank 0. Each experiment is a row of the table in hrun_probe.c.
 * Invariants:
 *   - it needs MPI and the C library, nothing of lib/: it is started on every host;
 *   - every process calls every experiment in the same order and appends its results to p->out as lines of the format
 *     in calib/doctor/doctor.h. main gathers them and prints them in the order of ranks;
 *   - times are those of the monotonic clock, in seconds.
 */
#ifndef CALIB_MPI_PROBE_H
#define CALIB_MPI_PROBE_H

#include "messages.h"

#include <stdio.h>

struct probe {
    int rank, nranks;
    char (*names)[HOST_NAME];       /* name of each rank's host */
    int *leader;                   /* lowest rank on each rank's host */
    const char *root;              /* folder that replaces / when settings are read; "": this system */
    int repetitions;               /* of each timed piece of work, >= 3 */
    long passes;                   /* kernel passes per repetition, the same on every PE; set by probe_kernel */
    FILE *out;
    struct usage *before;          /* processor usage at the start of the experiments */
};

/* Settings of the system (probe_facts.c): those of this process's first processor and, on leaders, of its host. */
void probe_facts(struct probe *p);
/* Times of a fixed amount of work (probe_work.c). */
void probe_kernel(struct probe *p);
/* Times of the same work in pieces of a millisecond, whose excess is the system's noise (probe_work.c). */
void probe_noise(struct probe *p);
/* Offsets of the hosts' clocks from that of rank 0's host (probe_messages.c). */
void probe_clocks(struct probe *p);
/* Round trips between neighbours, over message sizes (probe_messages.c). */
void probe_trips(struct probe *p);
/* All-to-all among all processes, over message sizes (probe_messages.c). */
void probe_alltoall(struct probe *p);

/* Products of matrices (probe_work.c). Runs only if named on the command line. */
void probe_product(struct probe *p);

/* Processor time of other processes during the experiments (probe_usage.c): begin before them, end prints it. */
void probe_usage_begin(struct probe *p);
void probe_usage_end(struct probe *p);

#endif
