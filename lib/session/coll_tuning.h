/* coll_tuning.h - hrun --tune-collectives: libhrun-coll.so for a run that can be tuned
 *
 * Purpose: decides whether the collective operations of a run can be tuned. The library prints nothing. Before a run,
 * coll_report.c shows the library's choices for all sizes: both use hrun/preloaded/coll_choice.h and read one text.
 * After the run, coll_report.c describes the library's report (net/tune.h).
 * Invariants: a run that cannot be tuned runs untuned, and `why` contains the reason.
 */
#ifndef HRUN_SESSION_COLL_TUNING_H
#define HRUN_SESSION_COLL_TUNING_H

#include "session/context.h"

struct tune {
    int tell;                      /* 1: the processes report what was tuned; set by the caller */
    char why[HRUN_ERROR_TEXT];     /* why nothing is tuned, and what to do; "": the run is tuned */
    struct hrun_buf lines;         /* the report of the processes (net/tune.h) */
    /* Used during the run: path of the library, and the text that it reads. */
    char *library;
    struct hrun_buf text;
};
#define TUNE_INIT { .lines = HRUN_BUF_INIT, .text = HRUN_BUF_INIT }

/* Release *t and reset all members but `tell` to TUNE_INIT. */
void tune_release(struct tune *t);

/* Add the library to the preloads of the job if its layout can be tuned; else set t->why. */
void tune_add_preload(struct tune *t, struct context *c, const struct hrun_layout *l, struct hrun_job *job);

/* After the run, move the report on tuning from the job's trace_text to t->lines. */
void tune_collect_report(struct tune *t, struct hrun_buf *trace_text);

/* ---------------------------------------------------------------- reports (coll_report.c) */

/* Append lines for a dry run: the operations and sizes that would be tuned, and how, for a communicator of all
 * processes with root 0. */
void tuned_plan(const struct tune *t, struct hrun_buf *out);

/* tuned_plan as JSON: {"why_not": why nothing can be tuned, or null; "operations": [{"operation", "from_bytes",
 * "to_bytes" (null if counts differ), "way", "segment_bytes" (or null), "speedup_least", "speedup_most"}]}. */
json_t *tuned_plan_json(const struct tune *t);

/* Append lines on what was tuned in a run, from the library's report. Damaged lines of the report are skipped. */
void tuned_report(const struct tune *t, struct hrun_buf *out);

#endif
