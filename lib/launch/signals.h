/* signals.h - taking signals from the caller, and giving them back
 *
 * Purpose: while hrun starts others and waits for them, signals come through a descriptor.
 * Invariants: between take and give back the calling thread blocks what it takes; afterwards mask and action of SIGCHLD
 * are as before, and nothing that our own work has raised reaches the caller.
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
    int taken;
};

#define HRUN_SIGNALS_INIT { .fd = -1 }

/* Take n signals but those that the caller ignores (nohup, a shell's background jobs), which are not meant for what we
 * start either; and SIGCHLD, which must not be ignored, or no status would reach us. SIGPIPE is blocked besides.
 * Errors: HRUN_EIO; give back all the same. */
int hrun_signals_take(struct hrun_signals *s, const int *signals, size_t n, struct hrun_error *err);
/* Harmless when nothing was taken. */
void hrun_signals_give_back(struct hrun_signals *s);

/* In a job. What a signal to hrun means: to end the job, to stop it, or just to be passed on. */
enum hrun_signal_action { HRUN_SIGNAL_END, HRUN_SIGNAL_STOP, HRUN_SIGNAL_PASS };
enum hrun_signal_action hrun_signal_action(int sig);
/* Take the signals that mean something to a job. */
int hrun_signals_take_job(struct hrun_signals *s, struct hrun_error *err);

#endif
