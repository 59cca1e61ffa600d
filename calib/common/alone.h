/* alone.h - exclusive use of hosts by runs that measure, and of profiles by calibrations
 *
 * Purpose: a run of hrun-calibrate waits until no other run uses its hosts (session/pes_in_use.h). The run locks the
 * hosts until its end, since other runs distort measured times.
 */
#ifndef CALIB_COMMON_ALONE_H
#define CALIB_COMMON_ALONE_H

#include "calib_options.h"
#include "session/pes_in_use.h"

/* Wait for the hosts of a run and lock them. say: called once before the wait, with a text that names the blocking
 * runs. Result: the signal that ended the wait, else 0. */
int alone_begin(struct ledger *g, const struct context *c, const struct ledger_run *run,
                void (*say)(void *ctx, const char *text), void *ctx);
void alone_end(struct ledger *g);

/* For `say` above: print a line on standard error, unless --quiet. ctx: struct context. */
void alone_say(void *ctx, const char *text);

/* Fail if the topology is only a description, which cannot be measured. Errors: HRUN_EINVAL. */
int alone_check_real(const struct context *c, struct hrun_error *err);

/* Set the program of c to an installed tool that measures, and choose the engine. Errors: those of the context and of
 * alone_check_real. */
int alone_find_tool(struct context *c, const char *tool, struct hrun_error *err);

/* A tool that measures: its command line, and what it measures, for messages. */
struct alone_tool {
    const struct hrun_layout *layout;
    char *const *words;
    const char *what;
};

/* Lock the hosts, run a tool on them and append its output to out. *interrupted: the signal that ended the tool or the
 * wait; without a signal 0 or untouched. Errors: those of work_job, of the ledger, of the engine; HRUN_EENGINE (the
 * tool failed, lost a host, was interrupted or took too long). */
int alone_run(struct context *c, const struct alone_tool *tool, struct hrun_buf *out, int *interrupted,
              struct hrun_error *err);

/* If *err means that a host differs from its remembered description: print that all hosts will be asked again, set
 * s->common.machine.refresh and return 1. Else return 0. */
int alone_asks_anew(struct calib_settings *s, const struct hrun_error *err);

/* ---------------------------------------------------------------- exclusive
 *
 * Of simultaneous calibrations of one thing, one measures and the others wait
 *
 * Purpose: after the wait a calibration finds the stored results of the other one, and measures only the rest.
 * Invariants: each thing that is measured (an application on a sub-cluster, a network) has a lock file, which is locked
 * during the measurement. Lock files are locked in the order of their paths, so two calibrations never wait for each
 * other. Locks end with the process. Readers, and hrun, which records runs, never wait.
 */

struct exclusive {
    struct hrun_strvec paths;   /* of lock files, filled before exclusive_begin */
    int *fds, n;                /* descriptors of the locked files */
};

/* Add the lock file of the profile of an application on one sub-cluster. Errors: those of the store. */
int exclusive_add(struct exclusive *x, const struct context *c, const char *app, const char *signature,
                  struct hrun_error *err);
/* Lock all paths. A wait is reported on stderr, unless --quiet; what: the thing calibrated, for that message. *sig: the
 * signal that ended the wait, else untouched. Errors: HRUN_EIO; HRUN_EBUSY: *sig is set. */
int exclusive_begin(struct exclusive *x, const struct context *c, const char *what, int *sig, struct hrun_error *err);
/* Unlock and release; *x may be zeroed. */
void exclusive_end(struct exclusive *x);

#endif
