/* nearest.h - sizes with a valid configuration, for messages about one that has none */
#ifndef HRUN_SESSION_NEAREST_H
#define HRUN_SESSION_NEAREST_H

#include "session/context.h"

/* Append to err, an HRUN_EINFEASIBLE error about size N, the nearest sizes below and above N for which rule and memory
 * leave a configuration of the problem, with the options of its oracle (NULL: one process per PE). The search is
 * limited in time; sizes that it does not find are not named. */
void nearest_sizes(struct context *c, const struct hrun_plan_problem *problem, int64_t N, struct hrun_error *err);

#endif
