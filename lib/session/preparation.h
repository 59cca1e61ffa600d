/* preparation.h - the commands that a definition runs before the application (key `prepare`): a decomposition
 *
 * Invariants: what was prepared last in a working folder, by whatever definition, is remembered (a file in
 * DATA/prepared), and the same is not prepared again there; a step that fails or is killed leaves no such memory, and a
 * run that fails later ends it. A run holds a lock beside that file until it ends, shared with runs that use the same;
 * preparing needs it alone. Files that the words of steps name count as the steps have left them. Their output goes
 * nowhere; the end of what a failed one has printed goes to on_message.
 */
#ifndef HRUN_SESSION_PREPARATION_H
#define HRUN_SESSION_PREPARATION_H

#include "session/work.h"

struct preparation {
    int lock;                  /* for hrun_unlock after the run; -1: none */
    int known;                 /* 1: nothing was to be done, as the last run here has prepared the same */
    double took_s;             /* of all steps; 0: nothing was to be done */
    struct hrun_outcome outcome; /* of the last step, as that of the run, where a signal to hrun or the time limit ended
                                  it */
    char why[320];             /* that the time limit did; "" */
};

/* Lock what is prepared in the working folder for a run of w, before anything is written there: *lock, which is -1, is
 * the lock; it stays -1 where there is nothing to prepare, or the file system has no locks. Errors: HRUN_EBUSY: another
 * run uses it. */
int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err);

/* Prepare a run of w, in the folder and under the conditions of its job; of time limits that of --timeout alone counts,
 * for all steps together. own: the folder is a fresh one. Result: 1: the run may start; 0: a signal or the time limit
 * has ended it; -1 with *err (HRUN_EENGINE: a step failed, with its last words if quiet_run; HRUN_EBUSY as above). */
int preparation_run(const struct work *w, const struct hrun_app_values *values, const struct hrun_job *like, int own,
                    struct preparation *out, struct hrun_error *err);

/* Prepare the next run in the working folder in any case. */
void preparation_forget(const struct work *w);

/* What was prepared last in the working folder, if that would not have to be prepared again for a run of size N: 1 and
 * the configuration, the units of a process of each sub-cluster in share[nsubs] (all 0: equal), and what it took;
 * 0: there is nothing such. */
int preparation_last(struct context *c, int64_t N, struct hrun_config *config, double *share, double *took_s);

/* Append the commands that would prepare a run of w, as a user would type them; none where what is prepared is the
 * same, and then *took_s is what that took and *age_s how long ago that was, else 0. Errors: those of templates. */
int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err);

#endif
