/* coll_tuning.h - hrun --tune-collectives: libhrun-coll.so for a run, as far as it can be
 *
 * Purpose: the one place that knows when collective operations can be tuned, and why not. The library chooses without a
 * message: before a run coll_report.c makes the same choice (hrun/preloaded/coll_choice.h) for all sizes from the text
 * that the library reads; after it, it describes what the library reports (net/tune.h).
 * Invariants: a run that cannot be tuned is made all the same, untuned; `why` then says why.
 */
#ifndef HRUN_SESSION_COLL_TUNING_H
#define HRUN_SESSION_COLL_TUNING_H

#include "session/context.h"

struct tune {
    int tell;                      /* 1: the processes are to report what was tuned; for the caller to set */
    char why[HRUN_ERROR_TEXT];     /* why nothing is tuned, and what to do; "" */
    struct hrun_buf lines;         /* what they have reported (net/tune.h) */
    /* While the run is made. */
    char *library;
    struct hrun_buf text;
};

void tune_init(struct tune *t);
void tune_release(struct tune *t);

/* Fill one of the job's preloads for a layout, if it can be tuned; else t->why. */
void tune_add_preload(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job);

/* After the run: move what was reported of tuning from the job's trace_text to t->lines. */
void tune_collect_report(struct tune *t, struct hrun_buf *trace_text);

/* ---------------------------------------------------------------- in words (coll_report.c) */

/* Append which operations and sizes would be tuned, and how, of a communicator of all processes with root 0: some lines
 * for a dry run. */
void tuned_plan(const struct tune *t, struct hrun_buf *out);

/* The same: {"why_not": why nothing can be tuned, or null; "operations": [{"operation", "from_bytes", "to_bytes" (null
 * where counts differ), "way", "segment_bytes" (or null), "speedup_least", "speedup_most"}]}. */
json_t *tuned_plan_json(const struct tune *t);

/* Append what was tuned in a run, by what the library reported. Lines that are damaged are passed over. */
void tuned_report(const struct tune *t, struct hrun_buf *out);

#endif
