/* preparation.h - the commands that a definition runs before the application (key `prepare`), such as a decomposition
 *
 * Invariants: a file in DATA/prepared records what was prepared last in a working folder, by any definition; the same
 * is not prepared again there. A step that fails or is killed removes this record, and so does a run that fails later.
 * A run holds a lock beside that file until it ends; runs that use the same preparation share it, preparing needs it
 * alone. Files that the words of steps name count as the steps have left them. The output of steps is dropped, but the
 * end of a failed one's goes to on_message.
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

/* Lock the preparation in the working folder for a run of w, before anything is written there. *lock becomes the lock;
 * it stays -1 if nothing is prepared, or the file system has no locks. Errors: HRUN_EBUSY: another run uses it. */
int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err);

/* Prepare a run of w, in the folder and under the conditions of its job `like`. Only the limit of --timeout applies, to
 * all steps together. own = 1: the folder is new. Result: 1: the run may start; 0: a signal or the time limit has ended
 * it; -1 with *err (HRUN_EENGINE: a step failed, with its last line if quiet_run; HRUN_EBUSY as above). */
int preparation_run(const struct work *w, const struct hrun_app_values *values, const struct hrun_job *like, int own,
                    struct preparation *out, struct hrun_error *err);

/* Remove the record, so that the next run in the working folder prepares. */
void preparation_forget(const struct work *w);

/* Find what was prepared last in the working folder. Result: 1 if a run of size N of that configuration need not
 * prepare: *config, the units of a process of each sub-cluster in share[nsubs] (all 0: equal shares), and the time that
 * preparing took; else 0. */
int preparation_last(struct context *c, int64_t N, struct hrun_config *config, double *share, double *took_s);

/* Append the commands that would prepare a run of w, as a user would type them. If the same is prepared already, append
 * none and set *took_s to the time that took, *age_s to the time since then (else 0). Errors: those of templates. */
int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err);

#endif
