/* watch.h - inside libhrun-trace.so: what the wrappers of MPI functions call
 *
 * Purpose: the library is preloaded into programs of users, whatever they are. It counts calls, bytes and time, and
 * reports them in MPI_Finalize (lib/trace/wire.h); the program must not notice.
 * Invariants:
 *   - it is not linked with MPI: what is not an MPI program loads it without harm, and MPI's functions are looked up
 *     when the first wrapper is called, also where the program has loaded MPI for itself alone (dlopen, as in
 *     Python);
 *   - without HRUN_TRACE, or when it speaks of another number of ranks, nothing is counted and nothing is told;
 *   - LD_PRELOAD is put back as the user had it and HRUN_TRACE is removed in MPI_Init, so that what the program starts
 *     is not watched;
 *   - any thread may call; only the outermost call of a thread counts. Where the program asked for
 *     MPI_THREAD_MULTIPLE the time inside MPI is that of the thread that called MPI_Init, else that of all.
 *   - MPI_Pcontrol(0) stops the watch, MPI_Pcontrol(1) goes on with it (MPI 3.1, section 14.2.4).
 */
#ifndef CALIB_TRACE_WATCH_H
#define CALIB_TRACE_WATCH_H

#include "trace/wire.h"

/* What is declared there is seen from outside, whichever MPI says so itself. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
#include <stdint.h>

enum watch_call {
#define CALL(Name, fortran, params, names, note) WATCH_##Name,
#define CALL_C(Name, params, names) WATCH_##Name,
#include "calls.def"
#undef CALL
#undef CALL_C
    WATCH_CALLS
};

/* What one rank has done. */
struct watch_counts {
    uint64_t elapsed_ns, mpi_ns, peers, cost_ns, own_ns;
    uint64_t sent[HRUN_TRACE_DISTANCES], sent_bytes[HRUN_TRACE_DISTANCES];
    struct { uint64_t count, bytes, ns; } calls[WATCH_CALLS];
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

/* Notes, between begin and end, of a call that counts. */
uint64_t watch_bytes(int64_t count, MPI_Datatype type);
int watch_size(MPI_Comm comm);      /* ranks that a collective operation on comm moves parts to */
void watch_gave(const struct watch *w, uint64_t bytes);
void watch_sent(const struct watch *w, int dest, uint64_t bytes, MPI_Comm comm);
void watch_prepared(MPI_Request request, int dest, uint64_t bytes, MPI_Comm comm);
void watch_prepared_none(MPI_Request request);
void watch_started(const struct watch *w, MPI_Request request);

/* After MPI_Init with this level of threads, before MPI_Finalize, and MPI_Pcontrol. */
void watch_init(int threads);
void watch_finalize(void);
void watch_control(int level);

/* ---------------------------------------------------------------- between the files of the library */

/* MPI's functions that the library itself needs; the wrappers of Fortran's functions need those that make handles of
 * numbers, which MPICH's Fortran functions leave to those of C. */
#ifdef OPEN_MPI
#define WATCH_USES_NUMBERS(X) X(Comm_f2c) X(Request_f2c) X(Type_f2c)
#else
#define WATCH_USES_NUMBERS(X)
#endif
#define WATCH_USES(X) \
    X(Allgather) X(Comm_create_keyval) X(Comm_dup) X(Comm_free) X(Comm_get_attr) X(Comm_group) \
    X(Comm_rank) X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) X(Comm_size) X(Comm_test_inter) \
    X(Gather) X(Group_free) X(Group_size) X(Group_translate_ranks) X(Type_size) \
    WATCH_USES_NUMBERS(X)
struct watch_mpi {
#define X(Name) __typeof__(&PMPI_##Name) Name;
    WATCH_USES(X)
#undef X
    MPI_Comm world;           /* the macros of mpi.h would link the library with MPI */
    MPI_Datatype byte;
};

/* Valid while calls count. */
const struct watch_mpi *watch_mpi(void);

/* Where each rank is. */
struct watch_place {
    int sub, pe;
    uint64_t host;
};
/* Read HRUN_TRACE into place[n] (host is left alone). -1: it is not of n ranks. */
int watch_read_places(const char *text, int n, struct watch_place *place);
enum hrun_trace_distance watch_distance(const struct watch_place *a, const struct watch_place *b);

/* Tell all[n] of n ranks on standard error, calls by the names that calls.def gives. */
void watch_report(const struct watch_counts *all, int n);
/* Before MPI_Init is left: the program may open another file in place of standard error, and lines stay out of that. */
void watch_report_open(void);

#endif
