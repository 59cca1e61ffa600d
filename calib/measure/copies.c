/* copies.c - runs of one process each at the same time; see measure.h */
#include "measure.h"
#include "base/alloc.h"

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

/* Simulations at the same time. */
enum { SIMULATED = 8 };

/* What a copy's process writes at its end. */
struct told {
    struct work_result result;
    int rc;                   /* of run_copy */
    struct hrun_error err;
};

struct copy {
    pid_t pid;                /* 0: none */
    int fd;                   /* what it writes; -1: closed */
    struct told told;
    int heard;                /* 1: told is known */
};

struct copies {
    struct copy *v;
    int n;
};

/* One process on a PE of the point's sub-cluster. An engine's failure is one of the run, as in runs.c. */
static int run_copy(struct runs *runs, const struct point *p, int pe, struct work_result *r, struct hrun_error *err)
{
    struct context *c = runs->c;
    size_t n = (size_t)c->cluster->nsubs;
    struct work w = { .c = c, .N = p->N, .words = runs->words, .scratch = runs->scratch, .quiet_run = 1,
                      .limit_s = campaign_limit(runs->g, (int)(p - runs->g->v)) };
    int *config = xcalloc(2 * n, sizeof *config);
    double *share = xcalloc(n, sizeof *share);
    struct hrun_layout *l = NULL;
    struct hrun_error why = { 0 };
    int rc = -1;

    memset(r, 0, sizeof *r);
    config[p->sub] = config[n + (size_t)p->sub] = 1;
    share[p->sub] = p->work;
    w.share = share;
    l = hrun_layout_create_placed(c->cluster, config, config + n, &pe, err);
    if (l)
        placement_fill_threads(c, l);
    if (!l || work_find_program(&w, 1, err))
        goto done;
    rc = 0;
    if (work_run(&w, l, r, &why)) {
        if (why.code == HRUN_EENGINE) {
            runs_engine_failed(r, &why);
        } else {
            *err = why;
            rc = -1;
        }
    }
done:
    hrun_layout_destroy(l);
    free(config);
    free(share);
    return rc;
}

/* ------------------------------------------------------------------ processes */

static _Noreturn void be_copy(struct runs *runs, const struct point *p, int pe, int again, int fd, pid_t parent)
{
    struct told told;
    const char *data = (const char *)&told;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(STATUS_FAILED);
    do {
        memset(&told, 0, sizeof told);
        told.rc = run_copy(runs, p, pe, &told.result, &told.err);
    } while (again && !told.rc && told.result.ok);
    for (size_t done = 0; done < sizeof told; ) {
        ssize_t n = write(fd, data + done, sizeof told - done);

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

    if (pipe2(ends, O_CLOEXEC))   /* what a copy starts must not hold it open */
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    out->pid = fork();
    if (!out->pid) {
        close(ends[0]);
        be_copy(runs, p, pe, again, ends[1], parent);
    }
    out->fd = ends[0];
    if (out->pid > 0) {
        close(ends[1]);
        return 0;
    }
    hrun_fail_errno(err, HRUN_EIO, "cannot make a process");
    out->pid = 0;
    out->fd = -1;
    close(ends[0]);
    close(ends[1]);
    return -1;
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

    while (got < sizeof copy->told) {
        ssize_t n = read(copy->fd, (char *)&copy->told + got, sizeof copy->told - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    copy->heard = got == sizeof copy->told;
    reap(copy);
}

/* Wait for all to end, ending them when a signal comes. Result: its number, or 0. */
static int wait_all(struct copies *c)
{
    struct pollfd *polls = xcalloc((size_t)c->n + 1, sizeof *polls);
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
    free(polls);
    return sig;
}

struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err)
{
    struct copies *c = xcalloc(1, sizeof *c);

    c->v = xcalloc((size_t)n + 1, sizeof *c->v);
    for (int i = 0; i < n; i++)
        c->v[i].fd = -1;
    for (c->n = 0; c->n < n; c->n++)
        if (start_copy(runs, p, pes[c->n], 1, &c->v[c->n], err)) {
            copies_end(c);
            return NULL;
        }
    return c;
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

/* The slower of two results, or the one that failed, or was interrupted. */
static int worse(const struct work_result *a, const struct work_result *b)
{
    int stopped_a = a->outcome.interrupted || a->outcome.signalled;
    int stopped_b = b->outcome.interrupted || b->outcome.signalled;

    if (stopped_a != stopped_b)
        return stopped_a;
    return a->ok != b->ok ? !a->ok : a->time_s > b->time_s;
}

/* pes[from..from+n-1] at the same time, the first one in this process. */
static int run_batch(struct runs *runs, const struct point *p, const int *pes, int from, int n, struct work_result *r,
                     int *slowest, struct hrun_error *err)
{
    struct copies c = { xcalloc((size_t)n, sizeof *c.v), 0 };
    struct work_result own;
    int rc = -1, sig;

    for (c.n = 0; c.n < n - 1; c.n++) {
        c.v[c.n].fd = -1;
        if (start_copy(runs, p, pes[from + c.n + 1], 0, &c.v[c.n], err))
            goto done;
    }
    if (run_copy(runs, p, pes[from], &own, err))
        goto done;
    if (!own.ok)
        signal_all(&c, SIGTERM);
    sig = wait_all(&c);
    if (sig) {
        own.outcome.interrupted = sig;
        own.ok = 0;
    }
    if (!r->status[0] || worse(&own, r)) {
        *r = own;
        *slowest = from;
    }
    for (int i = 0; i < c.n && own.ok; i++) {
        struct told *told = &c.v[i].told;

        if (!c.v[i].heard || told->rc) {
            *err = told->err;
            if (!c.v[i].heard)
                hrun_fail(err, HRUN_EIO, "a process that made a copy of the run ended without a word");
            goto done;
        }
        if (worse(&told->result, r)) {
            *r = told->result;
            *slowest = from + i + 1;
        }
    }
    rc = 0;
done:
    signal_all(&c, SIGTERM);
    for (int i = 0; i < c.n; i++)
        reap(&c.v[i]);
    free(c.v);
    return rc;
}

int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct work_result *r, int *slowest,
               struct hrun_error *err)
{
    int batch = runs->c->cluster->platform && n > SIMULATED ? SIMULATED : n;

    memset(r, 0, sizeof *r);
    *slowest = 0;
    for (int from = 0; from < n; from += batch) {
        if (run_batch(runs, p, pes, from, n - from < batch ? n - from : batch, r, slowest, err))
            return -1;
        if (!r->ok)
            break;
    }
    return 0;
}
