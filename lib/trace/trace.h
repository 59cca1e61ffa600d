/* trace.h - who waits: what the ranks of a watched run did, summed up for each sub-cluster
 *
 * Purpose: read what libhrun-trace.so tells (wire.h), find the sub-cluster that the others wait for, and keep what was
 * seen as a short text beside the measurement.
 * Words: a rank waits or communicates while it is inside an MPI function, and computes while it is outside, between
 * MPI_Init and MPI_Finalize. The others wait for the sub-cluster of the rank which spends least time inside MPI; it
 * need not be the one that limits the run (model/model.h). The bytes of a message are those that are sent; of a
 * collective operation, the rank's own part.
 * Invariants: lines that are torn, mixed with others or incomplete are found, and then there is no trace; a trace is
 * only accepted for the number of ranks that were started.
 */
#ifndef HRUN_TRACE_TRACE_H
#define HRUN_TRACE_TRACE_H

#include "base/buf.h"
#include "base/error.h"
#include "trace/wire.h"

#include <stdint.h>

/* The text of HRUN_TRACE for nranks ranks, rank r being in sub-cluster sub[r] on PE pe[r] of it. */
int hrun_trace_places(const int *sub, const int *pe, int nranks, struct hrun_buf *out, struct hrun_error *err);

/* ---------------------------------------------------------------- one run */

struct hrun_trace_count {
    uint64_t count, bytes, ns;
};

struct hrun_trace_rank {
    uint64_t elapsed_ns, mpi_ns, peers, cost_ns, own_ns;
    uint64_t ncalls;                                  /* of all kinds */
    uint64_t sent[HRUN_TRACE_DISTANCES], sent_bytes[HRUN_TRACE_DISTANCES];
    int reported;
};

struct hrun_trace {
    int nranks;
    struct hrun_trace_rank *ranks;
    int ncalls;                                       /* functions that were called */
    char (*names)[HRUN_TRACE_NAME];                   /* "Send" */
    struct hrun_trace_count *calls;                   /* ncalls x nranks, function by function */
};

/* Read the lines (each with its end, without HRUN_TRACE_MARK) of a run of nranks ranks. NULL with HRUN_ENODATA (there
 * are none), HRUN_ECORRUPT (says what is wrong), HRUN_ENOMEM. */
struct hrun_trace *hrun_trace_read(const char *lines, size_t len, int nranks, struct hrun_error *err);
void hrun_trace_destroy(struct hrun_trace *t);

/* ---------------------------------------------------------------- one sub-cluster of a run */

struct hrun_trace_call {
    char name[HRUN_TRACE_NAME];
    double count, bytes, time_s;                      /* mean of its ranks */
    double count_max, bytes_max;                      /* of one rank */
};

struct hrun_trace_sub {
    int nranks;                                       /* 0: it took no part; all else is 0 then */
    double elapsed_s;                                 /* mean, from MPI_Init to MPI_Finalize */
    double compute_s, compute_mean_s;                 /* time outside MPI: largest of a rank, mean */
    double mpi_s, mpi_mean_s;                         /* time inside MPI: least of a rank, mean */
    double overhead;                                  /* of the watch, part of elapsed_s: largest of a rank, estimated
                                                         from the number of calls and what watching one cost */
    double setup_s;                                   /* what the library needed in MPI_Init, the longest of a rank */
    double peers;                                     /* ranks that one sent messages to, at most */
    double sent[HRUN_TRACE_DISTANCES], sent_bytes[HRUN_TRACE_DISTANCES];  /* mean of its ranks */
    struct hrun_trace_call *calls;                    /* those that were called, longest time first */
    int ncalls;
};

/* Sum up sub-cluster i for sub[rank] == i. Errors: HRUN_ENOMEM. Release *out. */
int hrun_trace_sum(const struct hrun_trace *t, const int *sub, int i, struct hrun_trace_sub *out,
                   struct hrun_error *err);
void hrun_trace_sub_release(struct hrun_trace_sub *s);

/* Index of the sub-cluster that the others wait for, of subs[n]; -1: none took part, or none waits clearly less than
 * all others (the least times inside MPI differ by 2 % of the run or less). */
int hrun_trace_awaited(const struct hrun_trace_sub *subs, int n);
/* Largest time outside MPI over the mean of all ranks of subs[n], 1: all compute equally long, 0: nobody computed. */
double hrun_trace_imbalance(const struct hrun_trace_sub *subs, int n);

/* A summary as the text of a measurement, and back:
 *     "1 ranks=4 elapsed=1.2 compute=1.1,1.05 mpi=0.08,0.15 overhead=0.002,1e-3 peers=2 sent=0:0,10:800,0:0,4:320
 *      Send=100,100:8000,8000:0.01 ..."
 * (version; largest and mean, least and mean; part and set-up; mean count:bytes per distance; for each call mean and
 * largest count, mean and largest bytes, mean time). Errors: HRUN_ECORRUPT, HRUN_ENOMEM; *out is to be released only
 * after success. */
int hrun_trace_encode(const struct hrun_trace_sub *s, struct hrun_buf *out, struct hrun_error *err);
int hrun_trace_decode(const char *text, struct hrun_trace_sub *out, struct hrun_error *err);

#endif
