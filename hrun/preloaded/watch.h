/* watch.h - inside libhrun-trace.so: the functions that the wrappers of MPI functions call
 *
 * Purpose: the library is preloaded into any user program. It counts calls and their time, and reports them in
 * MPI_Finalize (lib/base/trace_lines.h), without effect on the program's behaviour.
 * Invariants:
 *   - it is not linked with MPI: programs without MPI load it without harm, and MPI's functions are looked up
 *     when the first wrapper is called, also if the program has loaded MPI with local symbols (dlopen, as Python does);
 *   - calls are counted and reported only if HRUN_TRACE names the number of ranks;
 *   - MPI_Init restores the user's LD_PRELOAD and removes HRUN_TRACE, so that the program's children are not watched;
 *   - any thread may call; only the outermost call of a thread counts. If MPI provides MPI_THREAD_MULTIPLE, the time
 *     inside MPI is the time of the thread that called MPI_Init, else the time of all threads.
 *   - MPI_Pcontrol(0) stops the watch, MPI_Pcontrol(1) resumes it (MPI 3.1, section 14.2.4).
 */
#ifndef HRUN_PRELOADED_WATCH_H
#define HRUN_PRELOADED_WATCH_H

#include "base/trace_lines.h"

/* Export the functions that mpi.h declares, with every MPI. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
#include <stdint.h>

enum watch_call {
#define CALL(Name, fortran, params, names) WATCH_##Name,
#define CALL_C(Name, params, names) WATCH_##Name,
#include "calls.def"
#undef CALL
#undef CALL_C
    WATCH_CALLS
};

/* Counts and times of one rank. */
struct watch_counts {
    uint64_t elapsed_ns, mpi_ns, cost_ns, own_ns;
    struct { uint64_t count, ns; } calls[WATCH_CALLS];
};

/* MPI's own function of that name ("PMPI_Send", "pmpi_send_"). If there is none, the program ends, because it has
 * called a function that does not exist. */
void *watch_real(const char *name);
#define WATCH_REAL(name) ((__typeof__(name) *)watch_real(#name))

/* One call of a wrapped function, from begin to end in one thread. */
struct watch {
    enum watch_call call;
    int outermost;            /* 1: the call is counted */
    uint64_t begin_ns;
};
void watch_begin(struct watch *w, enum watch_call call);
void watch_end(struct watch *w);

/* Called after MPI_Init with its level of threads, before MPI_Finalize, and by MPI_Pcontrol. */
void watch_init(int threads);
void watch_finalize(void);
void watch_control(int level);

/* ---------------------------------------------------------------- between the files of the library */

/* Write counts[n] of n ranks to standard error, with the names of calls.def. */
void watch_report(const struct watch_counts *counts, int n);
/* Duplicate standard error at the end of MPI_Init, because the program may replace it by a file later. */
void watch_report_open(void);

#endif
