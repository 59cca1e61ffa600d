/* finest.h - --finest: the largest size that memory and --limit allow (scenario 2 of paper 001)
 *
 * Invariants: only sizes with a prediction are tried, up to FINEST_BEYOND times the largest measured one.
 * Assumption: apart from the rule, a larger size is never faster than a smaller one and never needs less memory. Then
 * the result is exact: the search first finds the largest size without the rule, then the largest size up to this one
 * that the rule accepts.
 */
#ifndef HRUN_SESSION_FINEST_H
#define HRUN_SESSION_FINEST_H

#include "session/decide.h"

/* Find the largest size that the rule accepts and for which a configuration is within the limits (--limit, memory).
 * most: the largest size to try; 0: no bound. p: the profiles of c. On failure only out->measure is set. Errors:
 * HRUN_EINVAL (--config, --limit within), HRUN_ENODATA (no profile), HRUN_EINFEASIBLE (no size), those of the rooms. */
int finest_find(struct context *c, const struct question *q, const struct profiles *p, int64_t most,
                struct finest *out, struct hrun_error *err);

#endif
