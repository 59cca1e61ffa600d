/* alone.h - runs that measure have their hosts for themselves
 *
 * Purpose: what hrun-calibrate starts waits until none of its hosts is in use by other runs
 * (lib/cluster/ledger.h), and keeps them for itself while it lasts: a time beside other runs says little.
 */
#ifndef CALIB_COMMON_ALONE_H
#define CALIB_COMMON_ALONE_H

#include "calib_options.h"
#include "session/pes_in_use.h"

/* Lock the hosts of a run, and wait for them. say: is called once with the words for whom it waits. Result: the signal
 * that has ended the waiting, else 0. */
int alone_begin(struct ledger *g, const struct context *c, const struct ledger_run *run,
                void (*say)(void *ctx, const char *text), void *ctx);
void alone_end(struct ledger *g);

/* For say: a line on standard error. ctx: struct context. */
void alone_say(void *ctx, const char *text);

/* Times of a topology that is only described would say nothing. Errors: HRUN_EINVAL. */
int alone_check_real(const struct context *c, struct hrun_error *err);

/* Program and engine of c's cluster: an installed tool that measures. Errors: those of the context and of
 * alone_check_real. */
int alone_find_tool(struct context *c, const char *tool, struct hrun_error *err);

/* A tool that measures: its words, and what it measures, for messages. */
struct alone_tool {
    const struct hrun_layout *layout;
    char *const *words;
    const char *what;
};

/* Start a tool, whose hosts are then its own, and append what it prints to out. *interrupted: the signal that ended it
 * or the waiting, else 0 or untouched. Errors: those of work_job, of the ledger, of the engine; HRUN_EENGINE (it
 * failed, lost a host, was interrupted or took too long). */
int alone_run(struct context *c, const struct alone_tool *tool, struct hrun_buf *out, int *interrupted,
              struct hrun_error *err);

/* Did a host turn out not to be what was remembered of it? Then say that all hosts are asked anew, and let the
 * settings do that. */
int alone_asks_anew(struct calib_settings *s, const struct hrun_error *err);

/* ---------------------------------------------------------------- exclusive
 *
 * Of several calibrations of one thing at the same time one measures, the others wait
 *
 * Purpose: who has waited finds what the other has stored, and measures the rest, or nothing.
 * Invariants: each thing that is measured (a sub-cluster for an application, a network) has a lock file, which is
 * locked while it is measured; several are locked in the order of their paths, so that two calibrations never wait for
 * each other. Locks end with the process. Who only reads, and hrun, which records runs, wait for nobody.
 */

struct exclusive {
    struct hrun_strvec paths;   /* of lock files, to be filled before exclusive_begin */
    int *fds, n;                /* locked */
};

/* Add the lock file of the profile of an application on one sub-cluster. Errors: those of the store. */
int exclusive_add(struct exclusive *x, const struct context *c, const char *app, const char *signature,
                  struct hrun_error *err);
/* Lock them all. Waiting is said on stderr, unless --quiet; what: what is calibrated. *sig: the signal that has ended
 * the waiting, else untouched. Errors: HRUN_EIO; HRUN_EBUSY: *sig is set. */
int exclusive_begin(struct exclusive *x, const struct context *c, const char *what, int *sig, struct hrun_error *err);
/* Unlock and release; a zeroed one is fine. */
void exclusive_end(struct exclusive *x);

#endif
