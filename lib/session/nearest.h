/* nearest.h - sizes that would do, when the given one has no valid configuration */
#ifndef HRUN_SESSION_NEAREST_H
#define HRUN_SESSION_NEAREST_H

#include "session/context.h"

/* Extend err, an HRUN_EINFEASIBLE error about size N, by the nearest sizes below and above N for which rule and memory
 * leave a configuration of the problem, made of the options of its oracle; NULL: one process per PE. The search is
 * bounded in time; what it does not find it does not name. */
void nearest_sizes(struct context *c, const struct hrun_plan_problem *problem, int64_t N, struct hrun_error *err);

#endif
