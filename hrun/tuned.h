/* tuned.h - what tuning does to collective operations: what it would do by the model, and what it did
 *
 * Purpose: libhrun-coll.so chooses in silence. Here the same choice (hrun/coll/ways.h) is made for all sizes before a
 * run, and what the library tells after it (net/collwire.h) is put into words.
 * Invariants: what would be tuned is that of the library, call by call, as both read the same text; of a communicator
 * of all processes with root 0.
 */
#ifndef HRUN_TUNED_H
#define HRUN_TUNED_H

#include "service/json.h"
#include "tune.h"

/* Append which operations and sizes would be tuned, and how, some lines for a dry run. Errors: HRUN_ENOMEM. */
int tuned_plan(const struct tune *t, struct hrun_buf *out, struct hrun_error *err);

/* The same: {"why_not": why nothing can be tuned, or null; "operations": [{"operation", "from_bytes", "to_bytes" (null
 * where counts differ), "way", "segment_bytes" (or null), "speedup_least", "speedup_most"}]}. NULL: no memory. */
json_t *tuned_plan_json(const struct tune *t);

/* Append what was tuned in a run, by what the library told. Lines that are damaged are passed over. Errors:
 * HRUN_ENOMEM. */
int tuned_report(const struct tune *t, struct hrun_buf *out, struct hrun_error *err);

#endif
