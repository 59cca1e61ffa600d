/* finest.h - the largest size that memory, time and money allow (scenario 2 of paper 001)
 *
 * Purpose: --finest asks for the size N in place of the configuration alone: the largest one that the rule accepts and
 * that some configuration keeps the limits for (--limit, memory).
 * Invariants: sizes are looked at where a prediction is possible, up to FINEST_BEYOND times the largest one measured.
 * Assumption: without the rule a larger size is never quicker, and never needs less memory, than a smaller one. Then
 * the answer is exact: the rule refuses all larger sizes, or they are beyond the largest that a search without the rule
 * finds.
 */
#ifndef HRUN_SESSION_FINEST_H
#define HRUN_SESSION_FINEST_H

#include "session/decide.h"

/* Find that size, at most `most` (0: no limit). p: the profiles of c. On failure only out->measure is set. Errors:
 * HRUN_EINVAL (--config, --limit within), HRUN_ENODATA (no profile), HRUN_EINFEASIBLE (no size at
 * all), those of the rooms. */
int finest_find(struct context *c, const struct question *q, const struct profiles *p, int64_t most,
                struct finest *out, struct hrun_error *err);

#endif
