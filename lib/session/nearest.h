/* nearest.h - sizes that would do, when the given one has no valid configuration */
#ifndef HRUN_SERVICE_NEAREST_H
#define HRUN_SERVICE_NEAREST_H

#include "session/context.h"

/* Extend err, an HRUN_EINFEASIBLE error about size N, by the nearest sizes below and above N for which rule and memory
 * leave a configuration (with P processes if P > 0). The search is bounded in time; what it does not find it does not
 * name. subs: one entry per sub-cluster of c->cluster. */
void nearest_sizes(struct context *c, const struct hrun_plan_sub *subs, int64_t N, int P, struct hrun_error *err);

#endif
