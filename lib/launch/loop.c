/* loop.c - a running job: signals, failures, time limits, until all has ended; see job.h */
#include "base/alloc.h"
#include "base/units.h"
#include "launch/job.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time from SIGTERM to SIGKILL, as in Open MPI's mpirun (odls_base_sigkill_timeout is 1 s, in two rounds). */
static const double GRACE_S = 2;
/* A second SIGINT within this time ends the job at once, as with mpirun. */
static const double SECOND_SIGNAL_S = 5;
/* Once no process of the job is left, pipes that other processes keep open are closed after this time. */
static const double DRAIN_S = 1;
/* Once mpirun has ended, the agents to other hosts have this time to end: their hosts clean up (hrun/shim/host.c). */
static const double AGENTS_S = 8;
/* The descriptors of wait_once besides the output: signals, the guard, words, watch_fd. */
enum { OWN_FDS = 4 };
/* Time between two looks for processes that outlive their ranks. */
enum { SWEEP_STEP_MS = 10 };
/* Times of the first look for an MPI library that hrun does not serve, from the start of the job. An MPI program maps
 * its library before main(), but a script may work first. From look to look the time since the start doubles, until
 * looks are WATCH_STEP_S apart. The first look is later with a launcher, which starts the ranks later. */
static const double WATCH_FIRST_S = 0.02, WATCH_LAUNCHER_FIRST_S = 0.32, WATCH_STEP_S = 5;

/* ---------------------------------------------------------------- signals and failures */

/* Send a signal to each rank and all its descendants, or to a launcher that passes signals on. by_key = 1: the terminal
 * has signalled hrun's own process group already. */
static void bring_signal(struct hrun_run *r, int sig, int by_key)
{
    if (r->driver->signal && r->nalive > 0)
        r->driver->signal(r, sig);
    for (int i = 0; i < r->nprocs && !r->driver->signal; i++) {
        const struct hrun_proc *p = &r->procs[i];
        autorelease(hrun_pids_release) struct hrun_pids tree = HRUN_PIDS_INIT;

        if (!p->alive || (by_key && !p->own_group))
            continue;
        if (p->own_group && !r->driver->passes_signals)
            hrun_pids_push(&tree, -p->pid);
        else if (r->driver->passes_signals)
            hrun_pids_push(&tree, p->pid);
        else
            hrun_procs_tree(p->pid, &tree);
        for (size_t k = 0; k < tree.n; k++)
            kill(tree.v[k], sig);
    }
}

/* Send SIGTERM to the processes; at kill_s handle_time kills the rest. */
static void end_job(struct hrun_run *r)
{
    if (r->ending.kill_s > 0)
        return;
    if (r->ending.signal != SIGTERM)  /* SIGTERM has been passed on already; a handler must run only once */
        bring_signal(r, SIGTERM, 0);
    bring_signal(r, SIGCONT, 0);
    /* mpirun waits GRACE_S before it kills the ranks, and then needs time to exit. */
    r->ending.kill_s = hrun_monotonic_s() + (r->driver->passes_signals ? 3 : 1) * GRACE_S;
}

void hrun_run_break(struct hrun_run *r)
{
    r->ending.broken = 1;
    end_job(r);
}

int hrun_run_fail(struct hrun_run *r, int rank, int status)
{
    int counts = !r->ending.kill_s && !r->ending.signal;

    if (counts) {
        r->out->failed_rank = rank;
        r->out->status = status;
    }
    r->ending.failed = 1;
    end_job(r);
    return counts;
}

void hrun_run_fail_launcher(struct hrun_run *r, const char *name, int status)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = sig ? 128 + sig : WEXITSTATUS(status);

    if (code && hrun_run_fail(r, -1, code) && sig && name)
        hrun_run_say(r, "%s, process %d, was killed by signal %d (%s)", name, (int)r->procs[0].pid, sig,
                     strsignal(sig));
}

void hrun_run_lose(struct hrun_run *r, const char *host)
{
    snprintf(r->out->lost_host, sizeof r->out->lost_host, "%s", host);
    r->out->status = 125;
    r->ending.failed = 1;
    end_job(r);
}

static void handle_signal(struct hrun_run *r, int sig, int by_key)
{
    enum hrun_signal_action action = hrun_signal_action(sig);
    double now = hrun_monotonic_s();
    int second = r->ending.signal && now - r->ending.signal_s < SECOND_SIGNAL_S;

    if (action == HRUN_SIGNAL_END) {
        if (second && !r->driver->passes_signals) {
            r->ending.kill_s = now;
        } else {
            bring_signal(r, sig, by_key);  /* mpirun applies the rule of the second signal, too */
            if (second)
                end_job(r);
            else if (now < r->begun_s && !r->ending.kill_s)
                r->ending.kill_s = now + 3 * GRACE_S;
        }
        r->out->signalled = r->ending.signal = sig;
        r->ending.signal_s = now;
    } else if (now < r->begun_s) {
        /* Open MPI 4 fails with status 0 if it has to pass a signal on before its daemons are connected. */
        r->held = sig == SIGCONT ? r->held & ~(1ul << SIGTSTP | 1ul << SIGTTIN) : r->held | 1ul << sig;
    } else if (action == HRUN_SIGNAL_STOP) {
        /* SIGSTOP, because SIGTSTP does not stop an orphaned process group. */
        r->out->stopped = 1;
        bring_signal(r, r->driver->passes_signals ? SIGTSTP : SIGSTOP, 0);
        kill(getpid(), SIGSTOP);
    } else {
        bring_signal(r, sig, 0);
    }
}

void hrun_run_event(struct hrun_run *r, const struct hrun_guard_event *ev)
{
    struct hrun_proc *p = ev->rank >= 0 && ev->rank < r->nprocs ? &r->procs[ev->rank] : NULL;

    if (ev->kind >= HRUN_GUARD_SPAWN && r->driver->spawn)
        r->driver->spawn(r, ev);     /* also for processes that are not started yet */
    if (!p || ev->kind >= HRUN_GUARD_SPAWN)
        return;
    if (ev->kind == HRUN_GUARD_CONNECTED)
        p->connected = p->was_connected = 1;
    else if (ev->kind == HRUN_GUARD_FINALIZED)
        p->connected = 0;
    else if (ev->kind == HRUN_GUARD_OUT || ev->kind == HRUN_GUARD_ERR)
        hrun_output_feed(r->output, ev->rank, ev->kind == HRUN_GUARD_ERR, ev->text, (size_t)ev->status);
    else if (ev->kind == HRUN_GUARD_REFUSED && r->ending.kill_s > 0)
        return;     /* a refusal while the job ends is not the cause of the end */
    else if (ev->kind == HRUN_GUARD_REFUSED) {
        hrun_fail(r->err, HRUN_EMPI, "rank %d of %s %s", ev->rank, hrun_job_program(r->job, ev->rank).argv[0],
                  ev->text);
        hrun_run_break(r);
    } else if (hrun_run_fail(r, ev->rank, ev->status & 0xff ? ev->status & 0xff : 1))
        hrun_run_say(r, "rank %d aborted the job with status %d", ev->rank, ev->status);
}

static void handle_events(struct hrun_run *r)
{
    struct hrun_guard_event ev;
    int got;

    while ((got = hrun_guard_event(&r->guard, &ev)) > 0)
        hrun_run_event(r, &ev);
    if (got < 0 && !r->ending.broken && r->nalive > 0) {
        hrun_fail(r->err, HRUN_EENGINE, "the helper process of the job was killed, and with it the job");
        hrun_run_break(r);
    }
}

static void pass_words_on(void *run, char *line)
{
    struct hrun_run *r = run;

    r->driver->on_line(r, line);
}

/* ---------------------------------------------------------------- ends */

static void classify_rank_end(struct hrun_run *r, int rank, int status)
{
    const struct hrun_proc *p = &r->procs[rank];
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = sig ? 128 + sig : WEXITSTATUS(status);

    if ((!code && !p->connected) || !hrun_run_fail(r, rank, code ? code : 1))
        return;
    r->out->killed_by = sig;
    if (sig)
        hrun_run_say(r, "rank %d was killed by signal %d (%s)", rank, sig, strsignal(sig));
    else if (code)
        hrun_run_say(r, "rank %d exited with status %d%s", rank, code,
                     r->own.mpich && p->was_connected && !p->connected && code == 128 + SIGPIPE
                     ? "; with MPICH a process can start one MPI program only, not one after another" : "");
    else
        hrun_run_say(r, "rank %d exited without calling MPI_Finalize", rank);
}

void hrun_run_ended(struct hrun_run *r, int rank, int status)
{
    r->procs[rank].alive = 0;
    r->nalive--;
    classify_rank_end(r, rank, status);
}

static void reap_ranks(struct hrun_run *r)
{
    int status;

    for (int i = 0; i < r->nprocs; i++) {
        struct hrun_proc *p = &r->procs[i];
        if (!p->alive || !p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid)
            continue;
        p->alive = 0;
        r->nalive--;
        handle_events(r);  /* the guard has sent all events of this rank by now */
        if (r->driver->watch)
            r->driver->watch(r);   /* reads notes with the reason of mpirun's end */
        hrun_words_read(&r->words, pass_words_on, r);
        if (r->driver->ended)
            r->driver->ended(r, status);
        else
            classify_rank_end(r, i, status);
    }
}

/* ---------------------------------------------------------------- time */

/* Look for a program of an MPI that hrun does not serve, and end the job if there is one. If the guard serves the
 * ranks, examine the processes of ranks that have not connected. Else examine all processes of the job on this host,
 * because mpirun's daemons and ranks leave its process tree. */
static void look_for_other_mpi(struct hrun_run *r, double now)
{
    const enum hrun_mpi_kind here = r->own.mpich ? HRUN_MPI_MPICH : HRUN_MPI_OPENMPI;
    const struct hrun_layout *l = r->job->layout;
    autorelease(hrun_pids_release) struct hrun_pids pids = HRUN_PIDS_INIT;
    int served = 0, enough = 0;     /* number of ranks with the served MPI, of ranks on this host */
    char name[64];

    for (int i = 0; i < r->nprocs && r->driver->serves; i++) {
        enough++;
        served += r->procs[i].was_connected;
        if (r->procs[i].alive && !r->procs[i].was_connected)
            hrun_procs_tree(r->procs[i].pid, &pids);
    }
    for (int i = 0; i < l->nranks && !r->driver->serves; i++)
        enough += l->cluster->hosts[l->ranks[i].host].is_local;
    if (enough && !r->driver->serves)
        hrun_procs_of_job(r->own.job_id, r->own.mark, &r->family.groups, NULL, &pids);
    r->due.look_s = INFINITY;
    for (size_t k = 0; k < pids.n; k++) {
        enum hrun_mpi_kind found = hrun_procs_mpi(pids.v[k], name, sizeof name);

        served += !r->driver->serves && found == here;
        if (found == HRUN_MPI_NONE || found == here)
            continue;
        hrun_fail(r->err, HRUN_EMPI, "%s runs a program linked with %s, and hrun has started it as one of %s: each of "
                  "its processes would work alone. Say --mpi %s", r->job->argv[0], name,
                  r->own.mpich ? "MPICH" : "Open MPI", r->own.mpich ? "openmpi" : "mpich");
        hrun_run_break(r);
        return;
    }
    if (served < enough)
        r->due.look_s = now + fmin(now - r->start_s, WATCH_STEP_S);
}

static void handle_time(struct hrun_run *r)
{
    double now = hrun_monotonic_s();

    if (r->job->timeout_s > 0 && now - r->start_s >= r->job->timeout_s && !r->ending.kill_s) {
        r->ending.timed_out = 1;
        hrun_run_say(r, "the job did not end within %g s: ending it", r->job->timeout_s);
        end_job(r);
    }
    if (r->due.verdict_s > 0 && now >= r->due.verdict_s) {
        r->due.verdict_s = 0;
        r->driver->on_verdict(r);
    }
    for (int sig = 1; r->held && now >= r->begun_s; sig++)
        if (r->held & 1ul << sig) {
            r->held &= ~(1ul << sig);
            handle_signal(r, sig, 0);
        }
    if (r->ending.kill_s > 0 && now >= r->ending.kill_s) {
        /* Drivers with a signal function get time to end the ranks. The second time srun itself is killed; ssh has no
         * launcher, and SIGKILL is sent again. */
        if (r->driver->signal && r->ending.killed && r->nalive > 0 && r->procs[0].pid > 0)
            kill(r->procs[0].pid, SIGKILL);
        else
            bring_signal(r, SIGKILL, 0);
        r->ending.kill_s = r->driver->signal && !r->ending.killed ? now + 3 * GRACE_S : INFINITY;
        r->ending.killed = 1;
    }
    if (r->ending.kill_s > 0)
        r->due.look_s = INFINITY;
    else if (r->nalive > 0 && now >= r->due.look_s)
        look_for_other_mpi(r, now);
}

/* Milliseconds until the next due time, rounded up, at most 1000 s; -1: none is due. */
static int next_ms(const struct hrun_run *r)
{
    double due = INFINITY, ms;

    if (r->job->timeout_s > 0 && !r->ending.kill_s)
        due = r->start_s + r->job->timeout_s;
    if (r->ending.kill_s > 0)
        due = fmin(due, r->ending.kill_s);
    if (r->due.verdict_s > 0)
        due = fmin(due, r->due.verdict_s);
    if (r->held)
        due = fmin(due, r->begun_s);
    if (r->due.spawn_s > 0)
        due = fmin(due, r->due.spawn_s);
    due = fmin(due, r->due.look_s);
    if (isinf(due))
        return -1;
    ms = ceil(1000 * (due - hrun_monotonic_s()));
    return ms < 0 ? 0 : ms > 1e6 ? 1000000 : (int)ms;
}

/* ---------------------------------------------------------------- the loop */

/* Wait at most ms milliseconds (-1: no limit) for signals, events and output, and handle them. 0, or -1 with r->err. */
static int wait_once(struct hrun_run *r, int ms)
{
    int n = hrun_output_poll(r->output, OWN_FDS, &r->polled);
    struct pollfd *p = r->polled;
    struct signalfd_siginfo si;

    p[0] = (struct pollfd){ r->signals.fd, POLLIN, 0 };
    p[1] = (struct pollfd){ r->nalive > 0 && !r->ending.broken ? r->guard.sock : -1, POLLIN, 0 };
    p[2] = (struct pollfd){ r->words.fd, POLLIN, 0 };
    p[3] = (struct pollfd){ r->watch_fd, POLLIN, 0 };
    if (poll(p, (nfds_t)(n + OWN_FDS), ms) < 0) {
        if (errno == EINTR)
            return 0;
        return hrun_fail_errno(r->err, HRUN_EIO, "cannot wait for the job");
    }
    while (read(r->signals.fd, &si, sizeof si) == (ssize_t)sizeof si)
        if (si.ssi_signo != SIGCHLD)
            handle_signal(r, (int)si.ssi_signo, si.ssi_code == SI_KERNEL);
    if (p[1].revents)
        handle_events(r);
    if (p[2].revents)
        hrun_words_read(&r->words, pass_words_on, r);
    if (p[3].revents)
        r->driver->watch(r);
    hrun_output_handle(r->output, p + OWN_FDS, n);  /* finds sources by descriptor, as watch may have added processes */
    if (r->paused && hrun_output_has_room(r->output))
        r->driver->watch(r);
    if (!r->ending.broken && hrun_output_failed(r->output, r->err))
        hrun_run_break(r);
    return 0;
}

/* After the end of the ranks, end the processes that they have left behind, and pass on the rest of their output
 * without a time limit for hrun's own reader. All output is in the pipes by then. So if a process outside the job keeps
 * a pipe open for DRAIN_S, the pipe is drained and closed. */
static int end_the_rest(struct hrun_run *r)
{
    double begin = hrun_monotonic_s(), free_since = 0, signal_before = r->ending.signal_s;
    int left = hrun_run_sweep(r, SIGTERM);

    while (left || !hrun_output_done(r->output)) {
        double now = hrun_monotonic_s();
        if (left)
            left = hrun_run_sweep(r, now - begin > GRACE_S ? SIGKILL : 0);
        if (left && now - begin > 2 * GRACE_S)
            left = 0;  /* stuck in the kernel: SIGKILL takes effect later */
        if (!left && !free_since)
            free_since = now;
        if (free_since > 0 && now - free_since > DRAIN_S)
            hrun_output_close(r->output);
        if (wait_once(r, SWEEP_STEP_MS))
            return -1;
        /* hrun's own reader is stuck, and a signal to hrun ends the job. */
        if (!left && (r->ending.signal_s != signal_before ||
                      (r->ending.killed && r->out->signalled && now - free_since > DRAIN_S)))
            break;
    }
    return 0;
}

int hrun_run_loop(struct hrun_run *r)
{
    double agents_s, signal_before;
    int rc = 0;

    r->due.look_s = r->driver->is_plain ? INFINITY
                    : r->start_s + (r->driver->serves ? WATCH_FIRST_S : WATCH_LAUNCHER_FIRST_S);
    while (r->nalive > 0 && rc == 0) {
        rc = wait_once(r, next_ms(r));
        reap_ranks(r);
        handle_time(r);
        if (r->driver->spawn)
            r->driver->spawn(r, NULL);
    }
    r->out->wall_s = r->out->job_s = hrun_monotonic_s() - r->start_s;
    /* Wait for the agents, which end when their hosts have cleaned up. A signal ends the wait. */
    agents_s = hrun_monotonic_s() + AGENTS_S;
    signal_before = r->ending.signal_s;
    while (rc == 0 && r->driver->watch && r->driver->watch(r) > 0 && r->ending.signal_s == signal_before) {
        if (hrun_monotonic_s() >= agents_s) {
            r->driver->abandon(r);
            break;
        }
        rc = wait_once(r, SWEEP_STEP_MS);
    }
    if (rc == 0)
        hrun_output_release(r->output, !r->ending.broken, r->style.noise);
    if (rc == 0)
        rc = end_the_rest(r);
    if (r->ending.timed_out) {
        r->out->timed_out = 1;
        r->out->status = 124;   /* as timeout(1) */
    } else if (r->ending.signal && r->ending.failed) {
        r->out->interrupted = r->ending.signal;
        r->out->status = 128 + r->ending.signal;
    }
    return rc || r->ending.broken ? -1 : 0;
}
