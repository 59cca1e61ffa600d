/* watch.h - inside libhrun-trace.so: what the wrappers of MPI functions call
 *
 * Purpose: the library is preloaded into programs of users, whatever they are. It counts calls and their time, and
 * reports them in MPI_Finalize (lib/base/trace_lines.h); the program must not notice.
 * Invariants:
 *   - it is not linked with MPI: what is not an MPI program loads it without harm, and MPI's functions are looked up
 *     when the first wrapper is called, also where the program has loaded MPI for itself alone (dlopen, as in
 *     Python);
 *   - without HRUN_TRACE, or when it names another number of ranks, calls are neither counted nor reported;
 *   - LD_PRELOAD is put back as the user had it and HRUN_TRACE is removed in MPI_Init, so that what the program starts
 *     is not watched;
 *   - any thread may call; only the outermost call of a thread counts. Where the program asked for
 *     MPI_THREAD_MULTIPLE the time inside MPI is that of the thread that called MPI_Init, else that of all.
 *   - MPI_Pcontrol(0) stops the watch, MPI_Pcontrol(1) goes on with it (MPI 3.1, section 14.2.4).
 */
#ifndef HRUN_PRELOADED_WATCH_H
#define HRUN_PRELOADED_WATCH_H

#include "base/trace_lines.h"

/* What is declared there is seen from outside, whichever MPI says so itself. */
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

/* What one rank has done. */
struct watch_counts {
    uint64_t elapsed_ns, mpi_ns, cost_ns, own_ns;
    struct { uint64_t count, ns; } calls[WATCH_CALLS];
};

/* MPI's own function of that name ("PMPI_Send", "pmpi_send_"). Where there is none the program ends: it has called what
 * does not exist. */
void *watch_real(const char *name);
#define WATCH_REAL(name) ((__typeof__(name) *)watch_real(#name))

/* One call of a wrapped function, from begin to end in one thread. */
struct watch {
    enum watch_call call;
    int outermost;            /* 1: it counts */
    uint64_t begin_ns;
};
void watch_begin(struct watch *w, enum watch_call call);
void watch_end(struct watch *w);

/* After MPI_Init with this level of threads, before MPI_Finalize, and MPI_Pcontrol. */
void watch_init(int threads);
void watch_finalize(void);
void watch_control(int level);

/* ---------------------------------------------------------------- between the files of the library */

/* Tell counts[n] of n ranks on standard error, calls by the names that calls.def gives. */
void watch_report(const struct watch_counts *counts, int n);
/* Before MPI_Init is left: the program may open another file in place of standard error, and lines stay out of that. */
void watch_report_open(void);

#endif
