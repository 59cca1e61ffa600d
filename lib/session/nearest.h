/* nearest.h - sizes with a valid configuration, for messages about a size without one */
#ifndef HRUN_SESSION_NEAREST_H
#define HRUN_SESSION_NEAREST_H

#include "session/context.h"

/* Append to *err (HRUN_EINFEASIBLE at size N) the nearest sizes below and above N that have a configuration valid by
 * rule and memory. The configurations are those of problem->oracle (NULL: one process per PE). As the search is limited
 * in time, it may find other sizes or none; the text calls only the nearest sizes nearest. */
void nearest_sizes(struct context *c, const struct hrun_plan_problem *problem, int64_t N, struct hrun_error *err);

#endif
