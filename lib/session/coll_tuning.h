/* coll_tuning.h - hrun --tune-collectives: libhrun-coll.so for a run, if it can be tuned
 *
 * Purpose: the one place that knows when collective operations can be tuned, and why not. The library prints nothing:
 * before a run coll_report.c makes the same choices (hrun/preloaded/coll_choice.h) for all sizes, from the text that
 * the library reads; after it, coll_report.c describes what the library reports (net/tune.h).
 * Invariants: a run that cannot be tuned runs untuned, and `why` says why.
 */
#ifndef HRUN_SESSION_COLL_TUNING_H
#define HRUN_SESSION_COLL_TUNING_H

#include "session/context.h"

struct tune {
    int tell;                      /* 1: the processes report what was tuned; set by the caller */
    char why[HRUN_ERROR_TEXT];     /* why nothing is tuned, and what to do; "" */
    struct hrun_buf lines;         /* what they have reported (net/tune.h) */
    /* During the run. */
    char *library;
    struct hrun_buf text;
};
#define TUNE_INIT { .lines = HRUN_BUF_INIT, .text = HRUN_BUF_INIT }

/* All but `tell` is as by TUNE_INIT afterwards. */
void tune_release(struct tune *t);

/* Add the library to the preloads of the job, if a layout can be tuned; else set t->why. */
void tune_add_preload(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job);

/* After the run, move the report on tuning from the job's trace_text to t->lines. */
void tune_collect_report(struct tune *t, struct hrun_buf *trace_text);

/* ---------------------------------------------------------------- in words (coll_report.c) */

/* Append, for a dry run, which operations and sizes would be tuned, and how, in a communicator of all processes with
 * root 0. */
void tuned_plan(const struct tune *t, struct hrun_buf *out);

/* The same as {"why_not": why nothing can be tuned, or null; "operations": [{"operation", "from_bytes", "to_bytes"
 * (null if counts differ), "way", "segment_bytes" (or null), "speedup_least", "speedup_most"}]}. */
json_t *tuned_plan_json(const struct tune *t);

/* Append what was tuned in a run, from the report of the library. Damaged lines are skipped. */
void tuned_report(const struct tune *t, struct hrun_buf *out);

#endif
