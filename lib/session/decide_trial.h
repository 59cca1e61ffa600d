/* decide_trial.h - hrun --explore with models: sometimes run another configuration than the best (plan/explore.h) */
#ifndef HRUN_SESSION_DECIDE_TRIAL_H
#define HRUN_SESSION_DECIDE_TRIAL_H

#include "session/decide.h"

/* Check that no option contradicts --explore. Errors: HRUN_EINVAL. */
int check_explore_options(const struct question *q, struct hrun_error *err);

/* Choose a configuration to try in place of the best of d->plan, and set d->config, d->P and d->explores. No trial is
 * chosen unless the last run at this N had the best configuration; d->explores.nothing then contains the reason. loss:
 * as question.explore. Errors: those of the search. */
int choose_trial(const struct hrun_plan_problem *problem, const struct corrected *k, double loss, struct decision *d,
            struct hrun_error *err);

#endif
