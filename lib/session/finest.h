/* finest.h - the largest size that memory, time and money allow (scenario 2 of paper 001): --finest
 *
 * Invariants: only sizes with a prediction are tried, up to FINEST_BEYOND times the largest one measured.
 * Assumption: without the rule a larger size is never quicker, and never needs less memory, than a smaller one. Then
 * the answer is exact: all larger sizes are refused by the rule, or are above the largest one that a search without the
 * rule finds.
 */
#ifndef HRUN_SESSION_FINEST_H
#define HRUN_SESSION_FINEST_H

#include "session/decide.h"

/* Find the largest size that the rule accepts and for which a configuration keeps the limits (--limit, memory). most:
 * the largest to try; 0: no limit. p: the profiles of c. On failure only out->measure is set. Errors: HRUN_EINVAL
 * (--config, --limit within), HRUN_ENODATA (no profile), HRUN_EINFEASIBLE (no size), those of the rooms. */
int finest_find(struct context *c, const struct question *q, const struct profiles *p, int64_t most,
                struct finest *out, struct hrun_error *err);

#endif
