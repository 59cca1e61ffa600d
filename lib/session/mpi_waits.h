/* mpi_waits.h - which ranks wait in a run: watching it, reading what was seen, and reporting it
 *
 * Purpose: the one place that knows when a program can be watched, and why not. The report of libhrun-trace.so
 * (base/trace_lines.h) is summed up for each sub-cluster; a short text of that is stored with the measurement.
 * Words: a rank waits or communicates while it is inside an MPI function, and computes while it is outside, between
 * MPI_Init and MPI_Finalize. The others wait for the sub-cluster of the rank that spends least time inside MPI. That
 * need not be the one that limits the run (model/model.h).
 * Invariants: a run that cannot be watched runs unwatched, and `why` says why. A report with torn, mixed or missing
 * lines, or of another number of ranks, is refused as a whole.
 */
#ifndef HRUN_SESSION_MPI_WAITS_H
#define HRUN_SESSION_MPI_WAITS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/trace_lines.h"

struct context;
struct hrun_job;
struct hrun_layout;

enum { WAITS_CALLS = 3 };

/* The processes of a sub-cluster. */
struct waits_sub {
    int nranks;                            /* 0: it took no part; all else is 0 then */
    double elapsed_s;                      /* mean, from MPI_Init to MPI_Finalize */
    double compute_s, compute_mean_s;      /* time outside MPI: largest of a rank, mean */
    double mpi_s, mpi_mean_s;              /* time inside MPI: least of a rank, mean */
    double overhead;                       /* of the watch, part of elapsed_s: largest of a rank, estimated from the
                                              number of calls and what watching one cost */
    double setup_s;                        /* what the library needed in MPI_Init, the longest of a rank */
    struct {
        char name[HRUN_TRACE_NAME];        /* "Send"; "": there is none */
        double time_s;                     /* mean of its ranks */
    } calls[WAITS_CALLS];                  /* in which most time was spent, longest first */
};

struct waits {
    struct waits_sub *subs;       /* nsubs of the cluster; NULL: nothing is known */
    int nsubs;
    int limits;                   /* index of the sub-cluster that the others wait for; -1: not known, or none */
    char why[512];                /* why nothing is known; "" */
    /* While the run is made. */
    char *library;
    char ranks[16];               /* value of HRUN_TRACE */
    struct hrun_buf text;
};

#define WAITS_INIT { .limits = -1, .text = HRUN_BUF_INIT }

void waits_release(struct waits *w);

/* Add the library to the preloads of the job, if its program can be watched; else set w->why. */
void waits_add_preload(struct waits *w, const struct context *c, const struct hrun_layout *l, struct hrun_job *job);
/* After a good run, fill subs and limits, or why. */
void waits_read(struct waits *w, const struct context *c, const struct hrun_layout *l);

/* Append a line and a table on who waits. */
void waits_report(const struct waits *w, const struct context *c, struct hrun_buf *out);

/* Read lines (each with its end, without HRUN_TRACE_MARK) of nranks ranks, rank r being in sub-cluster sub[r], into
 * subs[nsubs], which is zeroed. Errors: HRUN_ENODATA (there are none), HRUN_ECORRUPT (says what is wrong); subs is
 * undefined then. */
int waits_parse(const struct hrun_buf *text, const int *sub, int nranks, struct waits_sub *subs, int nsubs,
                struct hrun_error *err);

/* Index of the sub-cluster of subs[n] that the others wait for; -1: the least times inside MPI differ by 2 % of the run
 * or less, or no sub-cluster took part. */
int waits_awaited(const struct waits_sub *subs, int n);
/* The largest time outside MPI over the mean of all ranks of subs[n]; 0 if none computed. */
double waits_imbalance(const struct waits_sub *subs, int n);

/* Write a summary without its calls as the text of a measurement, and read it: "1 ranks=4 elapsed=1.2 compute=1.1,1.05
 * mpi=0.08,0.15 overhead=0.002,1e-3" (version; largest and mean, least and mean; part and set-up). Older texts have
 * more figures behind these. waits_decode: 0, or -1 for another text. */
void waits_encode(const struct waits_sub *s, struct hrun_buf *out);
int waits_decode(const char *text, struct waits_sub *out);

#endif
