/* tune.h - hrun --tune-collectives: libhrun-coll.so for a run, as far as it can be
 *
 * Purpose: the one place that knows when collective operations can be tuned, and what is said where they cannot.
 * Invariants: a run that cannot be tuned is made all the same, untuned; `why` then says why.
 */
#ifndef HRUN_TUNE_H
#define HRUN_TUNE_H

#include "context.h"
#include "layout/layout.h"

struct tune {
    int tell;                      /* 1: the processes are to tell what was tuned; for the caller to set */
    char why[HRUN_ERROR_TEXT];     /* why nothing is tuned, and what to do; "" */
    struct hrun_buf lines;         /* what they have told (net/collwire.h) */
    /* While the run is made. */
    char *library;
    struct hrun_buf text;
};

void tune_init(struct tune *t);
void tune_release(struct tune *t);

/* Fill one of the job's preloads for a layout, if it can be tuned. Errors: HRUN_ENOMEM. */
int tune_prepare(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job,
                 struct hrun_error *err);

/* After the run: move what was told of tuning from the job's trace_text to t->lines. Errors: HRUN_ENOMEM. */
int tune_hear(struct tune *t, struct hrun_buf *trace_text, struct hrun_error *err);

#endif
