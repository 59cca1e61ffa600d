/* goals.h - what is minimised, and what the choice must keep (paper 000, section 8)
 *
 * Purpose: --objective and --limit become an objective and limits of the search, and what was chosen
 * gets its cost and energy.
 * Invariant: where money or energy counts, every sub-cluster that may be used has a price or a power: a sub-cluster
 * without one is not taken to be free.
 */
#ifndef HRUN_SESSION_GOALS_H
#define HRUN_SESSION_GOALS_H

#include "session/decide.h"

struct goals {
    const struct hrun_objective *objective;
    struct hrun_plan_limits limits;
    double within;              /* as asked for; 0: no such limit */
    int any;                    /* 1: something but the time is minimised, or there is a limit */
};

/* The goals of a question. subs: of the cluster; those with npes = 0 are not used. Errors: HRUN_EINVAL (options that
 * contradict each other, a sub-cluster without price or power). */
int goals_read(const struct question *q, const struct hrun_cluster *cl, const struct hrun_plan_sub *subs,
               struct goals *out, struct hrun_error *err);

/* The upper end of a configuration's interval, into *high_s: 0, or -1 with *err. */
typedef int goals_slowest_fn(void *ctx, const struct hrun_choice *choice, double *high_s, struct hrun_error *err);

/* Lower g->limits.time_s to what --limit within allows, measured by the quickest configuration of the problem. Errors:
 * those of the search and of slowest. */
int goals_limit_time(struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k,
                     goals_slowest_fn *slowest, void *ctx, struct hrun_error *err);

/* Fill cost and energy of the configuration chosen, where prices and powers are known. table: fill d->goal.pareto, too:
 * time against energy, if that is minimised, else against cost. */
void goals_fill(const struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k, int table,
                struct decision *d);

#endif
