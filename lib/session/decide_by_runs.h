/* decide_by_runs.h - --explore of a command that was not calibrated; see plan/learn.h */
#ifndef HRUN_SESSION_DECIDE_BY_RUNS_H
#define HRUN_SESSION_DECIDE_BY_RUNS_H

#include "session/decide.h"

/* Do runs tell of this decision: BY_DEFAULT or BY_KINDS, of a command, with --explore? */
int learn_applies(const struct context *c, const struct question *q, const struct decision *d);

/* The configuration of d, for which learn_applies, is the usual one: from the runs of all logs on this cluster, as
 * hrun_store_recent has them, another one, unless it is to be that, and d->learning. Failed runs count where the
 * program failed, calibrations as runs that nobody chose. Speeds: c->kinds where they are known, else of profiles or
 * the system. Errors: those of the store and of hrun_learn_next. */
int learn_decide(struct context *c, double loss, struct decision *d, struct hrun_error *err);

/* Replace the default of a command in d where that number of processes failed in the last two runs or more and has not
 * worked since: by the largest number that worked in between, else by one that usual rules allow. After the first run
 * that worked with another number the default is started once more: its number is the reason only if it fails again.
 * The user is told, so with --quiet the default stays. Sets d->failures and d->usual. Errors: those of the store and
 * of decide_by_count. */
int learn_refused(struct context *c, struct decision *d, struct hrun_error *err);

/* Of a command whose models allow nothing that its rule accepts: the quickest run of all logs, as above, into d.
 * 0, 1: none has worked, or -1: errors of the store. */
int learn_quickest(struct context *c, struct decision *d, struct hrun_error *err);

#endif
