/* decide_by_runs.h - --explore of a command that was not calibrated; see plan/learn.h */
#ifndef HRUN_SESSION_DECIDE_BY_RUNS_H
#define HRUN_SESSION_DECIDE_BY_RUNS_H

#include "session/decide.h"

/* 1 if runs may choose the configuration, else 0: with --explore, for a command, in a decision BY_DEFAULT or
 * BY_KINDS. */
int learn_applies(const struct context *c, const struct question *q, const struct decision *d);

/* Replace the configuration of d, which is the default, by the one that the logs of this cluster recommend, and fill
 * d->learning. Needs learn_applies. Runs count as failed if the program failed; calibrations count as runs that nobody
 * chose. Speeds of cores are those of c->kinds, else of profiles or the system. Errors: those of the store and of
 * hrun_learn_next. */
int learn_decide(struct context *c, double loss, struct decision *d, struct hrun_error *err);

/* Replace the default number of processes if it failed in the last two runs or more: by the largest number that worked
 * since, else by one that a common rule allows. After the first run that worked with another number the default is
 * started once more, to see whether its number was the reason. The user gets a note; with --quiet the default stays.
 * Sets d->fallback. Errors: those of the store and of decide_by_count. */
int learn_refused(struct context *c, struct decision *d, struct hrun_error *err);

/* Choose the configuration of the quickest earlier run, for a command whose models allow nothing that its rule accepts.
 * Result: 0; 1 if no run has worked; -1 with an error of the store. */
int learn_quickest(struct context *c, struct decision *d, struct hrun_error *err);

#endif
