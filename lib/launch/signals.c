/* signals.c - signals of the calling thread; see signals.h for the contracts */
#include "launch/signals.h"

#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int sig;
    enum hrun_signal_action action;
} job_signals[] = {
    { SIGINT, HRUN_SIGNAL_END }, { SIGTERM, HRUN_SIGNAL_END }, { SIGHUP, HRUN_SIGNAL_END },
    { SIGQUIT, HRUN_SIGNAL_END }, { SIGTSTP, HRUN_SIGNAL_STOP }, { SIGTTIN, HRUN_SIGNAL_STOP },
    { SIGUSR1, HRUN_SIGNAL_PASS }, { SIGUSR2, HRUN_SIGNAL_PASS }, { SIGCONT, HRUN_SIGNAL_PASS }
};
enum { NSIGNALS = sizeof job_signals / sizeof *job_signals };

enum hrun_signal_action hrun_signal_action(int sig)
{
    for (int i = 0; i < NSIGNALS; i++)
        if (job_signals[i].sig == sig)
            return job_signals[i].action;
    return HRUN_SIGNAL_PASS;
}

int hrun_signals_block(struct hrun_signals *s, int all, struct hrun_error *err)
{
    struct sigaction sa;
    sigset_t set, block;

    sigemptyset(&set);
    for (int i = 0; i < NSIGNALS; i++)
        if ((all || job_signals[i].action == HRUN_SIGNAL_END) && sigaction(job_signals[i].sig, NULL, &sa) == 0 &&
            sa.sa_handler != SIG_IGN)
            sigaddset(&set, job_signals[i].sig);
    sigaddset(&set, SIGCHLD);
    block = set;
    sigaddset(&block, SIGPIPE);
    sigprocmask(SIG_BLOCK, &block, &s->old_mask);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &sa, &s->old_sigchld);
    s->is_blocked = 1;
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->fd < 0 ? hrun_fail_errno(err, HRUN_EIO, "cannot wait for signals") : 0;
}

void hrun_signals_restore(struct hrun_signals *s)
{
    /* The caller must not get signals that hrun's work raises. SIGCONT ends a stop of hrun. */
    static const int own[] = { SIGCHLD, SIGPIPE, SIGCONT };
    struct timespec now = { 0, 0 };
    sigset_t mine;

    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    if (!s->is_blocked)
        return;
    sigemptyset(&mine);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sigismember(&s->old_mask, own[i]) != 1)
            sigaddset(&mine, own[i]);
    while (sigtimedwait(&mine, NULL, &now) > 0)
        ;
    sigaction(SIGCHLD, &s->old_sigchld, NULL);
    sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
    s->is_blocked = 0;
}
