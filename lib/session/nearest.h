/* nearest.h - sizes with a valid configuration, for messages about one that has none */
#ifndef HRUN_SESSION_NEAREST_H
#define HRUN_SESSION_NEAREST_H

#include "session/context.h"

/* Append to *err (HRUN_EINFEASIBLE at size N) the nearest sizes below and above N that have a configuration valid by
 * rule and memory. The configurations are those of problem->oracle (NULL: one process per PE). The search is limited in
 * time, and may find no size or not the nearest one; the text then differs. */
void nearest_sizes(struct context *c, const struct hrun_plan_problem *problem, int64_t N, struct hrun_error *err);

#endif
