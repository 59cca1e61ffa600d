/* signals.h - signals of the calling thread, which come through a descriptor while hrun waits for others
 *
 * Invariants: hrun_signals_restore restores the mask and the action of SIGCHLD, and nothing that hrun's own work has
 * raised reaches the caller.
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

/* Block signals, and read them from s->fd: those that end a job, or all that mean something to one. Signals that the
 * caller ignores (nohup, a shell's background jobs) are left alone: they are not meant for what hrun starts either.
 * SIGCHLD is read, too, and must not be ignored, or no status would come. SIGPIPE is only blocked. Errors: HRUN_EIO;
 * restore all the same. */
int hrun_signals_block(struct hrun_signals *s, int all, struct hrun_error *err);
/* Harmless when nothing was blocked. */
void hrun_signals_restore(struct hrun_signals *s);

/* What a signal to hrun means for a job: to end the job, to stop it, or just to be passed on. */
enum hrun_signal_action { HRUN_SIGNAL_END, HRUN_SIGNAL_STOP, HRUN_SIGNAL_PASS };
enum hrun_signal_action hrun_signal_action(int sig);

#endif
