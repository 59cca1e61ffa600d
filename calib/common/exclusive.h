/* exclusive.h - of several calibrations of one thing at the same time one measures, the others wait
 *
 * Purpose: who has waited finds what the other has stored, and measures the rest, or nothing.
 * Invariants: each thing that is measured (a sub-cluster for an application, a network) has a lock file, which is
 * locked while it is measured; several are locked in the order of their paths, so that two calibrations never wait for
 * each other. Locks end with the process. Who only reads, and hrun, which records runs, wait for nobody.
 */
#ifndef CALIB_EXCLUSIVE_H
#define CALIB_EXCLUSIVE_H

#include "options.h"

struct exclusive {
    struct hrun_strvec paths;   /* of lock files, to be filled before exclusive_begin */
    int *fds, n;                /* locked */
};

/* Add the lock file of the profile of an application on one sub-cluster. Errors: those of the store. */
int exclusive_add(struct exclusive *x, const struct context *c, const char *app, const char *signature,
                  struct hrun_error *err);
/* Lock them all. Waiting is said on stderr, unless --quiet; what: what is calibrated. *sig: the signal that has ended
 * the waiting, else untouched. Errors: HRUN_EIO, HRUN_ENOMEM; HRUN_EBUSY: *sig is set. */
int exclusive_begin(struct exclusive *x, const struct context *c, const char *what, int *sig, struct hrun_error *err);
/* Unlock and release; a zeroed one is fine. */
void exclusive_end(struct exclusive *x);

#endif
