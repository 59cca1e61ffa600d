/* mpi_waits.h - who waits in a run: watching it, and telling what was seen
 *
 * Purpose: the one place that knows when a program can be watched (lib/trace/trace.h) and what is said where it cannot.
 * Invariants: a run that cannot be watched is made all the same, unwatched; `why` then says why.
 */
#ifndef HRUN_MPI_WAITS_H
#define HRUN_MPI_WAITS_H

#include "session/context.h"
#include "layout/layout.h"
#include "trace/trace.h"

struct waits {
    struct hrun_trace_sub *subs;   /* nsubs of the cluster, those without processes have none; NULL: nothing is known */
    int nsubs;
    int limits;                    /* index of the sub-cluster that the others wait for; -1: not known, or none */
    double imbalance;              /* hrun_trace_imbalance of all processes */
    double overhead;               /* of the watch, part of the run's time */
    double setup_s;                /* and what it took besides, in MPI_Init */
    char why[512];                 /* why nothing is known; "" */
    /* While the run is made. */
    char *library;
    struct hrun_buf places, text;
    int *sub;                      /* of each rank */
};

void waits_init(struct waits *w);
void waits_release(struct waits *w);

/* Fill the job's trace_* for a layout, as far as its program can be watched. Errors: HRUN_ENOMEM. */
int waits_prepare(struct waits *w, const struct context *c, const struct hrun_layout *l, struct hrun_job *job,
                  struct hrun_error *err);
/* After the run has ended well. Errors: HRUN_ENOMEM. */
int waits_read(struct waits *w, const struct context *c, const struct hrun_layout *l, struct hrun_error *err);

/* Append who waits: a line and a table. Errors: HRUN_ENOMEM. */
int waits_report(const struct waits *w, const struct context *c, struct hrun_buf *out, struct hrun_error *err);

#endif
