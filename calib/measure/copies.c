/* copies.c - runs of one process each at the same time; see runs.h */
#include "runs.h"
#include "session/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limit of simultaneous simulations. */
enum { SIMULATED = 8 };

/* The result that a copy's process writes to its pipe. */
struct copy_report {
    struct work_result result;
    int rc;                   /* of run_copy */
    struct hrun_error err;
};

struct copy {
    int pe;
    pid_t pid;                /* 0: none */
    int fd;                   /* reading end of its pipe; -1: closed */
    struct copy_report report;
    int ended_well;           /* 1: report is known */
};

struct copies {
    struct copy *v;
    int n;
};

/* One process on a PE of the point's sub-cluster. */
static int run_copy(struct runs *runs, const struct point *p, int pe, struct work_result *r, struct hrun_error *err)
{
    struct context *c = runs->c;
    struct hrun_config config = hrun_config_alone(c->cluster->nsubs, p->sub, 1, 1);
    autofree double *share = xcalloc((size_t)c->cluster->nsubs, sizeof *share);
    struct work w = { .c = c, .N = p->N, .words = runs->words, .scratch = runs->scratch, .quiet_run = 1,
                      .limit_s = campaign_limit(runs->g, (int)(p - runs->g->v)), .share = share };
    struct hrun_layout *l;
    int rc;

    memset(r, 0, sizeof *r);
    share[p->sub] = p->work;
    l = hrun_layout_create_placed(c->cluster, &config, &pe, err);
    if (!l)
        return -1;
    placement_fill_threads(c, l);
    rc = work_find_program(&w, 1, err) || runs_start(&w, l, r, err) ? -1 : 0;
    hrun_layout_destroy(l);
    return rc;
}

/* ------------------------------------------------------------------ processes */

static _Noreturn void be_copy(struct runs *runs, const struct point *p, int pe, int again, int fd, pid_t parent)
{
    struct copy_report report;
    const char *data = (const char *)&report;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(STATUS_FAILED);
    do {
        memset(&report, 0, sizeof report);
        report.rc = run_copy(runs, p, pe, &report.result, &report.err);
    } while (again && !report.rc && report.result.ok);
    for (size_t done = 0; done < sizeof report; ) {
        ssize_t n = write(fd, data + done, sizeof report - done);

        if (n < 0 && errno != EINTR)
            _exit(STATUS_FAILED);
        done += n > 0 ? (size_t)n : 0;
    }
    _exit(0);
}

static int start_copy(struct runs *runs, const struct point *p, int pe, int again, struct copy *out,
                      struct hrun_error *err)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))   /* programs started by a copy must not hold it open */
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    *out = (struct copy){ .pe = pe, .pid = fork(), .fd = ends[0] };
    if (!out->pid) {
        close(ends[0]);
        be_copy(runs, p, pe, again, ends[1], parent);
    }
    if (out->pid < 0)
        hrun_fail_errno(err, HRUN_EIO, "cannot make a process");
    close(ends[1]);
    if (out->pid < 0)
        close(ends[0]);
    return out->pid < 0 ? -1 : 0;
}

static void signal_all(const struct copies *c, int sig)
{
    for (int i = 0; i < c->n; i++)
        if (c->v[i].pid > 0)
            kill(c->v[i].pid, sig);
}

static void reap(struct copy *copy)
{
    if (copy->fd >= 0)
        close(copy->fd);
    copy->fd = -1;
    while (copy->pid > 0 && waitpid(copy->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    copy->pid = 0;
}

static void on_copy_output(struct copy *copy)
{
    size_t got = 0;

    while (got < sizeof copy->report) {
        ssize_t n = read(copy->fd, (char *)&copy->report + got, sizeof copy->report - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    copy->ended_well = got == sizeof copy->report;
    reap(copy);
}

/* Wait until all copies have ended; a signal ends them. Result: its number, or 0. */
static int wait_all_copies(struct copies *c)
{
    autofree struct pollfd *polls = xcalloc((size_t)c->n + 1, sizeof *polls);
    struct signalfd_siginfo info;
    sigset_t ending, before;
    int sig = 0, left = 0;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, &before);
    polls[c->n] = (struct pollfd) { signalfd(-1, &ending, SFD_CLOEXEC), POLLIN, 0 };
    for (int i = 0; i < c->n; i++) {
        polls[i] = (struct pollfd) { c->v[i].fd, POLLIN, 0 };
        left += c->v[i].fd >= 0;
    }
    while (left > 0 && (poll(polls, (nfds_t)c->n + 1, -1) >= 0 || errno == EINTR)) {
        if (polls[c->n].revents && read(polls[c->n].fd, &info, sizeof info) == (ssize_t)sizeof info) {
            sig = sig ? sig : (int)info.ssi_signo;
            signal_all(c, SIGTERM);
        }
        for (int i = 0; i < c->n; i++)
            if (polls[i].fd >= 0 && polls[i].revents) {
                on_copy_output(&c->v[i]);
                polls[i].fd = -1;
                left--;
            }
    }
    if (polls[c->n].fd >= 0)
        close(polls[c->n].fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return sig;
}

/* Start copies on pes[n]. again = 1: each copy repeats its run until it fails or is ended. */
static struct copies *create_copies(struct runs *runs, const struct point *p, const int *pes, int n, int again,
                                    struct hrun_error *err)
{
    struct copies *c = xcalloc(1, sizeof *c);

    c->v = xcalloc((size_t)n + 1, sizeof *c->v);
    for (c->n = 0; c->n < n; c->n++)
        if (start_copy(runs, p, pes[c->n], again, &c->v[c->n], err)) {
            copies_end(c);
            return NULL;
        }
    return c;
}

struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err)
{
    return create_copies(runs, p, pes, n, 1, err);
}

void copies_end(struct copies *c)
{
    if (!c)
        return;
    signal_all(c, SIGTERM);
    for (int i = 0; i < c->n; i++)
        reap(&c->v[i]);
    free(c->v);
    free(c);
}

/* ------------------------------------------------------------------ a measurement */

/* 1 if a is slower than b, or failed or was interrupted, else 0. */
static int is_worse_result(const struct work_result *a, const struct work_result *b)
{
    int stopped_a = a->outcome.interrupted || a->outcome.signalled;
    int stopped_b = b->outcome.interrupted || b->outcome.signalled;

    if (stopped_a != stopped_b)
        return stopped_a;
    return a->ok != b->ok ? !a->ok : a->time_s > b->time_s;
}

/* Run a copy on pe in this process beside the others, and wait for these. Result: as copies_run. */
static int run_with_copies(struct runs *runs, const struct point *p, int pe, struct copies *others,
                           struct copy_result *out, struct hrun_error *err)
{
    struct copy_result own = { .pe = pe };
    int sig;

    if (run_copy(runs, p, pe, &own.result, err))
        return -1;
    if (!own.result.ok)
        signal_all(others, SIGTERM);
    sig = wait_all_copies(others);
    if (sig) {
        own.result.outcome.interrupted = sig;
        own.result.ok = 0;
    }
    if (!out->result.status[0] || is_worse_result(&own.result, &out->result))
        *out = own;
    for (int i = 0; i < others->n && own.result.ok; i++) {
        const struct copy *copy = &others->v[i];

        if (!copy->ended_well)
            return hrun_fail(err, HRUN_EIO, "a process that made a copy of the run ended without a word");
        if (copy->report.rc) {
            *err = copy->report.err;
            return -1;
        }
        if (is_worse_result(&copy->report.result, &out->result))
            *out = (struct copy_result){ copy->report.result, copy->pe };
    }
    return 0;
}

int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct copy_result *out,
               struct hrun_error *err)
{
    int batch = runs->c->cluster->platform && n > SIMULATED ? SIMULATED : n, rc = 0;

    *out = (struct copy_result){ .pe = pes[0] };
    for (int from = 0; from < n && !rc; from += batch) {
        int here = n - from < batch ? n - from : batch;
        struct copies *others = create_copies(runs, p, pes + from + 1, here - 1, 0, err);

        rc = others ? run_with_copies(runs, p, pes[from], others, out, err) : -1;
        copies_end(others);
        if (!out->result.ok)
            break;
    }
    return rc;
}
