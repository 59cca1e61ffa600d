/* goals.h - --objective and --limit: the quantity to minimise, and the limits of the choice (paper 000, section 8)
 *
 * Invariant: if cost or energy is minimised or limited, every usable sub-cluster has a price or a power.
 */
#ifndef HRUN_SESSION_GOALS_H
#define HRUN_SESSION_GOALS_H

#include "session/decide.h"

struct goals {
    const struct hrun_objective *objective;
    struct hrun_plan_limits limits;
    double within;              /* question.within; 0: no such limit */
    int any;                    /* 1: cost or energy is minimised, or there is a limit other than loss */
};

/* Read the goals of a question. subs[nsubs]: usable PEs, prices and powers. Errors: HRUN_EINVAL (options that
 * contradict each other, a usable sub-cluster without price or power). */
int goals_read(const struct question *q, const struct hrun_cluster *cl, const struct hrun_plan_sub *subs,
               struct goals *out, struct hrun_error *err);

/* Set *high_s to the upper end of the predicted interval of a configuration. Result: 0, or -1 with *err. */
typedef int goals_slowest_fn(void *ctx, const struct hrun_choice *choice, double *high_s, struct hrun_error *err);

/* Lower g->limits.time_s to the time that --limit within allows, relative to the fastest configuration of the problem.
 * Errors: those of the search and of slowest. */
int goals_limit_time(struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k,
                     goals_slowest_fn *slowest, void *ctx, struct hrun_error *err);

/* Set cost and energy of the chosen configuration (NAN if prices or powers are not known). table = 1: also set
 * d->goal.pareto: time against energy if energy is minimised, else against cost. */
void goals_fill(const struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k, int table,
                struct decision *d);

#endif
