/* signals.h - reading the calling thread's signals from a descriptor
 *
 * Invariants: hrun_signals_restore restores the mask and the action of SIGCHLD. It first discards each pending SIGCHLD,
 * SIGPIPE and SIGCONT that the caller had not blocked, since hrun's own work raises these.
 */
#ifndef HRUN_LAUNCH_SIGNALS_H
#define HRUN_LAUNCH_SIGNALS_H

#include "base/error.h"

#include <signal.h>
#include <stddef.h>

struct hrun_signals {
    int fd;                         /* signalfd(2), not blocking; -1: none */
    sigset_t old_mask;              /* for the processes that are started */
    struct sigaction old_sigchld;
    int is_blocked;
};

#define HRUN_SIGNALS_INIT { .fd = -1 }

/* Block signals and make them readable from s->fd. all = 0: only the signals that end a job; 1: all that act on a job.
 * Signals that the caller ignores (nohup, a shell's background jobs) stay ignored. SIGCHLD is readable, too. It gets
 * its default action, so that the system keeps the exit statuses of children. SIGPIPE is only blocked. Errors:
 * HRUN_EIO; call hrun_signals_restore also then. */
int hrun_signals_block(struct hrun_signals *s, int all, struct hrun_error *err);
/* Undo hrun_signals_block. Harmless if nothing was blocked. */
void hrun_signals_restore(struct hrun_signals *s);

/* The effect of a signal to hrun on a job: end the job, stop it, or pass the signal on. */
enum hrun_signal_action { HRUN_SIGNAL_END, HRUN_SIGNAL_STOP, HRUN_SIGNAL_PASS };
enum hrun_signal_action hrun_signal_action(int sig);

#endif
