/* hrun_probe.h - hrun-probe, the MPI program that measures what a cluster is made of
 *
 * Purpose: hrun-calibrate doctor starts one process of it on each PE, through the same engines as any application, and
 * reads what rank 0 prints. Each experiment is a row of the table in hrun_probe.c.
 * Invariants:
 *   - it needs MPI and the C library, nothing of lib/: it is started on every host;
 *   - every process calls every experiment in the same order; what it finds it appends to p->out as lines, which main
 *     gathers and prints in the order of ranks. The lines are those that calib/doctor/doctor.h reads;
 *   - times are those of the monotonic clock, in seconds.
 */
#ifndef CALIB_MPI_PROBE_H
#define CALIB_MPI_PROBE_H

#include "messages.h"

#include <stdio.h>

enum { PROBE_HOST = 256 };

struct probe {
    int rank, nranks;
    char (*names)[PROBE_HOST];     /* of each rank: the name of its host */
    int *leader;                   /* of each rank: the lowest rank of its host */
    const char *root;              /* "": this system; else a folder that stands for / where settings are read */
    int repetitions;               /* of each timed piece, >= 3 */
    long passes;                   /* through the kernel in a repetition, the same on every PE; found by probe_kernel */
    FILE *out;
    struct usage *before;          /* of the processors, when the experiments began */
};

/* Settings of the system (probe_facts.c): those of this process's first processor and, on leaders, of its host. */
void probe_facts(struct probe *p);
/* A fixed amount of work, again and again (probe_work.c). */
void probe_kernel(struct probe *p);
/* The same in pieces of a millisecond, whose detours are the noise of the system (probe_work.c). Needs p->passes. */
void probe_noise(struct probe *p);
/* How far the clocks of the hosts are from that of rank 0's (probe_messages.c). */
void probe_clocks(struct probe *p);
/* Round trips between neighbours, over message sizes (probe_messages.c). */
void probe_trips(struct probe *p);
/* All-to-all among all processes, over message sizes (probe_messages.c). */
void probe_alltoall(struct probe *p);

/* Products of matrices (probe_work.c). Only when it is named. */
void probe_product(struct probe *p);

/* What others did on the processors meanwhile (probe_usage.c): begun before all experiments, printed after them. */
void probe_usage_begin(struct probe *p);
void probe_usage_end(struct probe *p);

#endif
