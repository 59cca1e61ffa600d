/* preparation.h - the commands that a definition runs before the application (key `prepare`), such as a decomposition
 *
 * Invariants: a file in DATA/prepared, the record, describes the last preparation in a working folder, by any
 * definition. An equal preparation is not repeated there. The record is removed if a step or a later run fails. Each
 * run has a lock beside the record until it ends: shared to use a preparation, exclusive to prepare. The record
 * includes the state in which the steps left the files that their words name. The output of steps is dropped, but the
 * end of a failed step's output goes to on_message.
 */
#ifndef HRUN_SESSION_PREPARATION_H
#define HRUN_SESSION_PREPARATION_H

#include "session/work.h"

struct preparation {
    int lock;                  /* for hrun_unlock after the run; -1: none */
    int known;                 /* 1: no step was run, as the record describes the same preparation */
    double took_s;             /* time of all steps; 0: no step was run */
    struct hrun_outcome outcome; /* of the last step, and of the run if a signal or the time limit ended this step */
    char why[320];             /* message that the time limit ended a step; "": it did not */
};

/* Lock the record of the working folder for a run of w; call it before files are written there. *lock stays -1 if the
 * definition prepares nothing or the file system has no locks. Errors: HRUN_EBUSY (another run has the lock). */
int preparation_hold(const struct work *w, const struct hrun_layout *layout, const struct hrun_app_values *values,
                     int *lock, struct hrun_error *err);

/* Prepare a run of w, in the folder and with the settings of its job `like`. The time limit for all steps is --timeout.
 * own = 1: the folder is new. Result: 1: the run may start; 0: a signal or the time limit ended a step; -1 with *err
 * (HRUN_EENGINE: a step failed, with its last line if quiet_run; HRUN_EBUSY as preparation_hold). */
int preparation_run(const struct work *w, const struct hrun_app_values *values, const struct hrun_job *like, int own,
                    struct preparation *out, struct hrun_error *err);

/* Remove the record, so that the next run in the working folder prepares again. */
void preparation_forget(const struct work *w);

/* Read the record of the working folder. Result: 1 if a run of size N like the record's needs no preparation: then
 * *config, share[nsubs] (units of a process of each sub-cluster; all 0: equal shares) and *took_s (time of the steps)
 * are set; else 0. */
int preparation_last(struct context *c, int64_t N, struct hrun_config *config, double *share, double *took_s);

/* Append the commands that would prepare a run of w, in shell syntax. If w is prepared already, append none and set
 * *took_s to the time of the steps and *age_s to the time since then (else both are 0). Errors: those of templates. */
int preparation_due(const struct work *w, const struct hrun_layout *layout, struct hrun_strvec *out, double *took_s,
                    double *age_s, struct hrun_error *err);

#endif
