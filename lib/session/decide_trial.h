/* decide_trial.h - hrun --explore: now and then another configuration than the best predicted one; see plan/explore.h */
#ifndef HRUN_SESSION_DECIDE_TRIAL_H
#define HRUN_SESSION_DECIDE_TRIAL_H

#include "session/decide.h"

/* Refuse what contradicts --explore. Errors: HRUN_EINVAL. */
int explore_check(const struct question *q, struct hrun_error *err);

/* When it is time to try another configuration than the best of d->plan: that one into d->pes, d->procs, d->P and
 * d->explores, else only why not into this. It is when the last run at this N was one of the best. Errors: those of
 * the search. */
int explore(const struct hrun_plan_problem *problem, const struct corrected *k, double loss, struct decision *d,
            struct hrun_error *err);

#endif
