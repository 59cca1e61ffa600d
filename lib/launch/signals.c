/* signals.c - taking the job's signals from the caller, and giving them back; see job.h */
#include "launch/job.h"

#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

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

/* Block the job's signals but those that the caller ignores (nohup, a shell's background jobs): they are
 * not meant for the application either. SIGCHLD must not be ignored, or no status would reach us. */
int hrun_run_take_signals(struct hrun_run *r, struct hrun_error *err)
{
    struct sigaction sa;
    sigset_t set, block;

    sigemptyset(&set);
    for (int i = 0; i < NSIGNALS; i++)
        if (sigaction(job_signals[i].sig, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
            sigaddset(&set, job_signals[i].sig);
    sigaddset(&set, SIGCHLD);
    block = set;
    sigaddset(&block, SIGPIPE);
    sigprocmask(SIG_BLOCK, &block, &r->old_mask);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &sa, &r->old_sigchld);
    r->signals_blocked = 1;
    r->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r->sigfd < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot wait for signals");
    return 0;
}

void hrun_run_give_signals_back(struct hrun_run *r)
{
    struct timespec now = { 0, 0 };
    sigset_t mine;

    if (!r->signals_blocked)
        return;
    /* What our own work has raised must not reach the caller: SIGPIPE, SIGCHLD, a SIGCONT after a stop. */
    sigemptyset(&mine);
    sigaddset(&mine, SIGCHLD);
    sigaddset(&mine, SIGPIPE);
    sigaddset(&mine, SIGCONT);
    for (int sig = 1; sig < NSIG; sig++)
        if (sigismember(&mine, sig) == 1 && sigismember(&r->old_mask, sig) == 1)
            sigdelset(&mine, sig);
    while (sigtimedwait(&mine, NULL, &now) > 0)
        ;
    sigaction(SIGCHLD, &r->old_sigchld, NULL);
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
    r->signals_blocked = 0;
}
