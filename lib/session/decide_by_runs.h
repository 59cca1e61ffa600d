/* decide_by_runs.h - choose the configuration of a command without models by its earlier runs; see plan/learn.h */
#ifndef HRUN_SESSION_DECIDE_BY_RUNS_H
#define HRUN_SESSION_DECIDE_BY_RUNS_H

#include "session/decide.h"

/* 1 if learn_decide may choose the configuration, else 0: only with --explore, for an application of one size, in a
 * decision BY_DEFAULT or BY_KINDS. */
int learn_applies(const struct context *c, const struct question *q, const struct decision *d);

/* Replace the default configuration in d by the one that hrun_learn_next chooses from the logs of this cluster, and
 * fill d->learning. Needs learn_applies. loss: as question.explore. Only failures of the program itself count as
 * failed runs. Speeds of cores come from c->kinds, the platform file or `hrun-calibrate speeds`. Errors: those of the
 * store and of hrun_learn_next. */
int learn_decide(struct context *c, double loss, struct decision *d, struct hrun_error *err);

/* Replace the default number of processes if it failed at least twice since it last worked: by the largest number that
 * worked since, else by one that a common rule allows. After the first success with another number the default runs
 * once more, to check that its number was the cause. The user gets a note; with --quiet the default stays. Sets
 * d->fallback. Errors: those of the store and of decide_by_count. */
int learn_refused(struct context *c, struct decision *d, struct hrun_error *err);

/* Choose the configuration of the fastest earlier run that the rule accepts, if no other configuration is valid.
 * Result: 0; 1 if there is no such run; -1 with an error of the store. */
int learn_quickest(struct context *c, struct decision *d, struct hrun_error *err);

#endif
