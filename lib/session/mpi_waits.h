/* mpi_waits.h - trace the time that the ranks of a run spend inside MPI, and report which sub-clusters wait
 *
 * Purpose: decides whether a run can be traced. Sums up the report of libhrun-trace.so (base/trace_lines.h) for each
 * sub-cluster; a short text of these sums is stored with the measurement.
 * Terms: between MPI_Init and MPI_Finalize a rank waits or communicates while it is inside an MPI function, and
 * computes while it is outside. The other sub-clusters wait for the sub-cluster of the rank with the least time inside
 * MPI. The awaited sub-cluster does not always limit the run (model/model.h).
 * Invariants: a run that cannot be traced runs untraced, and `why` contains the reason. A report with torn, mixed or
 * missing lines, or of another number of ranks, is refused as a whole.
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
    int nranks;                            /* 0: the sub-cluster has no ranks, and the other members are 0 */
    double elapsed_s;                      /* mean, from MPI_Init to MPI_Finalize */
    double compute_s, compute_mean_s;      /* time outside MPI: largest of a rank, mean */
    double mpi_s, mpi_mean_s;              /* time inside MPI: least of a rank, mean */
    double overhead;                       /* of tracing, relative to elapsed_s: largest of a rank, estimated as number
                                              of calls times cost of one */
    double setup_s;                        /* time of the library in MPI_Init: largest of a rank */
    struct {
        char name[HRUN_TRACE_NAME];        /* "Send"; "": none */
        double time_s;                     /* mean of the ranks */
    } calls[WAITS_CALLS];                  /* the MPI functions with the most time, longest first */
};

struct waits {
    struct waits_sub *subs;       /* nsubs; NULL: the run was not traced */
    int nsubs;
    int limits;                   /* index of the sub-cluster that the others wait for; -1: not known, or none */
    char why[512];                /* why the run was not traced; "": it was */
    /* Used during the run. */
    char *library;                /* path of the library */
    char ranks[16];               /* value of HRUN_TRACE */
    struct hrun_buf text;
};

#define WAITS_INIT { .limits = -1, .text = HRUN_BUF_INIT }

void waits_release(struct waits *w);

/* Add the library to the preloads of the job if its program can be traced; else set w->why. */
void waits_add_preload(struct waits *w, const struct context *c, const struct hrun_layout *l, struct hrun_job *job);
/* After a successful run, set subs and limits, or why. */
void waits_read(struct waits *w, const struct context *c, const struct hrun_layout *l);

/* Append a line and a table on the times inside MPI, or a line with w->why. */
void waits_report(const struct waits *w, const struct context *c, struct hrun_buf *out);

/* Read the report of nranks ranks into the zeroed subs[nsubs]. text: lines with their ends, without HRUN_TRACE_MARK.
 * sub[r]: sub-cluster of rank r. Errors, with subs undefined: HRUN_ENODATA (no lines), HRUN_ECORRUPT (damaged or
 * incomplete). */
int waits_parse(const struct hrun_buf *text, const int *sub, int nranks, struct waits_sub *subs, int nsubs,
                struct hrun_error *err);

/* Index of the sub-cluster of subs[n] that the others wait for; -1: the two least times inside MPI differ by at most
 * 2 % of the run, or no sub-cluster has ranks. */
int waits_awaited(const struct waits_sub *subs, int n);
/* Largest over mean time outside MPI of all ranks of subs[n]; 0 if no rank computed. */
double waits_imbalance(const struct waits_sub *subs, int n);

/* Write *s without its calls as the text that is stored with a measurement, and read it: "1 ranks=4 elapsed=1.2
 * compute=1.1,1.05 mpi=0.08,0.15 overhead=0.002,1e-3" (version 1; largest and mean; least and mean; overhead and
 * setup_s). Older texts have more numbers after these. waits_decode: 0, or -1 if the text has another form. */
void waits_encode(const struct waits_sub *s, struct hrun_buf *out);
int waits_decode(const char *text, struct waits_sub *out);

#endif
