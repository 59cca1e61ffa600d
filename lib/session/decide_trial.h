/* decide_trial.h - hrun --explore: now and then a configuration other than the best predicted one (plan/explore.h) */
#ifndef HRUN_SESSION_DECIDE_TRIAL_H
#define HRUN_SESSION_DECIDE_TRIAL_H

#include "session/decide.h"

/* Refuse options that contradict --explore. Errors: HRUN_EINVAL. */
int check_explore_options(const struct question *q, struct hrun_error *err);

/* Choose a configuration to try in place of the best of d->plan: it goes to d->config, d->P and d->explores. Nothing is
 * tried unless the last run at this N was one of the best; d->explores.nothing then says why. Errors: those of the
 * search. */
int choose_trial(const struct hrun_plan_problem *problem, const struct corrected *k, double loss, struct decision *d,
            struct hrun_error *err);

#endif
