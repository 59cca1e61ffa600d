/* glitch.h - the glitch rule of paper 000; not for other rooms
 *
 * Purpose: section 5.6's heuristic, as it is printed: "The datum of size n is regarded as a glitch and excluded from
 * model construction, if the following condition holds: p(n) <= k p(m)", where p is the performance and "the size m is
 * the point of measurement, which is nearest to and smaller than n".
 * The performance of a size is the value of the first term of the definition's N-T list, its main computation, over the
 * median time of the repetitions. Sizes are compared on the same PEs with the same number of processes.
 */
#ifndef HRUN_MODEL_GLITCH_H
#define HRUN_MODEL_GLITCH_H

#include "app/app.h"
#include "base/buf.h"
#include "model/rows.h"

/* Take out of rows[*n], which are in their order, those of sizes that are glitches for k; k = 0: none. Each is told in
 * a line of *skipped (may be NULL). Errors: HRUN_EINVAL (k < 0 or not finite, or the definition has no N-T terms),
 * HRUN_ENONFINITE (the term at a measured N); rows are as before then. */
int hrun_glitches_exclude(const struct hrun_app *app, double k, struct hrun_row *rows, size_t *n,
                          struct hrun_buf *skipped, struct hrun_error *err);

#endif
