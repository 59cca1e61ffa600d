/* parallel.c - the groups of a campaign at the same time; see parallel.h */
#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Passed on to the workers. */
static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT };

/* What a worker writes: events, and at its end how runs_make ended. */
struct record {
    int ended;
    struct event event;
    int rc;
    struct hrun_error err;
};

struct worker {
    pid_t pid;                /* 0: none */
    int fd;                   /* -1: it has closed its end */
    int ended;                /* 1: it has told how it ended */
};

struct crew {
    struct runs *r;
    struct worker *w;
    struct pollfd *polls;     /* of the workers, and at the end of signals */
    int n, alive;
    int sigfd;                /* signals that are passed on */
    int sig;                  /* the first that ends, or 0 */
    int failed, dead;
    sigset_t signals, mask;   /* passed on; as it was before */
};

/* ------------------------------------------------------------------ a worker */

static void write_record(int fd, const struct record *record)
{
    const char *data = (const char *)record;

    for (size_t done = 0; done < sizeof *record; ) {
        ssize_t n = write(fd, data + done, sizeof *record - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            _exit(STATUS_FAILED);
        done += (size_t)n;
    }
}

static void pass_event(void *ctx, const struct event *e)
{
    struct record record;

    memset(&record, 0, sizeof record);
    record.event = *e;
    write_record(*(int *)ctx, &record);
}

static _Noreturn void work(struct crew *crew, int group, int fd, pid_t parent)
{
    struct runs mine = *crew->r;
    struct record record;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(STATUS_FAILED);
    for (int i = 0; i < crew->n; i++)
        if (crew->w[i].fd >= 0)
            close(crew->w[i].fd);
    close(crew->sigfd);
    sigprocmask(SIG_SETMASK, &crew->mask, NULL);
    mine.group = group;
    mine.tell = pass_event;
    mine.ctx = &fd;
    memset(&record, 0, sizeof record);
    record.ended = 1;
    record.rc = runs_make(&mine, &record.err);
    write_record(fd, &record);
    _exit(0);
}

/* ------------------------------------------------------------------ this process */

static int take_signals(struct crew *crew, struct hrun_error *err)
{
    sigemptyset(&crew->signals);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction act;

        /* What the caller ignores (nohup) stays ignored: a blocked signal would come nevertheless. */
        if (!sigaction(passed_on[i], NULL, &act) && act.sa_handler != SIG_IGN)
            sigaddset(&crew->signals, passed_on[i]);
    }
    sigprocmask(SIG_BLOCK, &crew->signals, &crew->mask);
    crew->sigfd = signalfd(-1, &crew->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return crew->sigfd < 0 ? hrun_fail_errno(err, HRUN_EIO, "cannot listen to signals") : 0;
}

static int start_worker(struct crew *crew, int group, struct hrun_error *err)
{
    pid_t parent = getpid(), pid;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a pipe");
    pid = fork();
    if (!pid) {
        close(ends[0]);
        work(crew, group, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return hrun_fail_errno(err, HRUN_EIO, "cannot start a worker process");
    }
    setpgid(pid, pid);
    crew->w[group].pid = pid;
    crew->w[group].fd = ends[0];
    crew->alive++;
    return 0;
}

static void signal_all(const struct crew *crew, int sig)
{
    for (int i = 0; i < crew->n; i++)
        if (crew->w[i].pid)
            kill(crew->w[i].pid, sig);
}

static void pass_signals_on(struct crew *crew)
{
    struct signalfd_siginfo info;

    while (read(crew->sigfd, &info, sizeof info) == (ssize_t)sizeof info) {
        int sig = (int)info.ssi_signo;

        signal_all(crew, sig);
        if (sig == SIGTSTP)
            raise(SIGSTOP);   /* SIGCONT comes through the same descriptor */
        else if (sig != SIGCONT && sig != SIGUSR1 && sig != SIGUSR2 && !crew->sig)
            crew->sig = sig;
    }
}

/* The first error counts; the other workers end what they run and come to their end. */
static void end_others(struct crew *crew, const struct hrun_error *why, struct hrun_error *err)
{
    if (crew->failed || crew->sig)
        return;
    crew->failed = 1;
    *err = *why;
    signal_all(crew, SIGTERM);
}

/* A worker has closed its pipe: it has ended, or is about to. */
static void lay_off(struct crew *crew, int i)
{
    struct worker *w = &crew->w[i];
    int status = 0, quietly;
    struct event e = { .kind = EVENT_WORDS };
    const char *name = "";
    char how[64];

    close(w->fd);
    w->fd = -1;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    w->pid = 0;
    crew->alive--;
    /* Between two runs a signal that we passed on ends it at once. */
    quietly = (crew->sig && WIFSIGNALED(status) && WTERMSIG(status) == crew->sig) ||
              (crew->failed && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    if (w->ended || quietly)
        return;
    crew->dead++;
    for (int k = crew->r->g->nsubs; k-- > 0; )
        if (crew->r->g->group[k] == i)
            name = crew->r->c->cluster->subs[k].name;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    snprintf(e.text, sizeof e.text, "the worker process that measured sub-cluster %s %s; the same command goes on "
             "where it was", name, how);
    crew->r->tell(crew->r->ctx, &e);
}

/* One record, or the end, of worker i. Records are written whole: what is cut is the end as well. */
static void hear_worker(struct crew *crew, int i, struct hrun_error *err)
{
    struct worker *w = &crew->w[i];
    struct record record;
    size_t have = 0;

    while (have < sizeof record) {
        ssize_t n = read(w->fd, (char *)&record + have, sizeof record - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            lay_off(crew, i);
            return;
        }
        have += (size_t)n;
    }
    if (!record.ended) {
        campaign_note(crew->r->g, &record.event);
        crew->r->tell(crew->r->ctx, &record.event);
        return;
    }
    w->ended = 1;
    if (record.rc < 0)
        end_others(crew, &record.err, err);
    else if (record.rc > 0 && !crew->failed && !crew->sig) {
        /* Someone signalled the worker alone: for the campaign it is the same. */
        crew->sig = record.rc;
        signal_all(crew, crew->sig);
    }
}

static void wait_for_all(struct crew *crew, struct hrun_error *err)
{
    while (crew->alive) {
        for (int i = 0; i < crew->n; i++)
            crew->polls[i] = (struct pollfd){ .fd = crew->w[i].fd, .events = POLLIN };
        crew->polls[crew->n] = (struct pollfd){ .fd = crew->sigfd, .events = POLLIN };
        if (poll(crew->polls, (nfds_t)crew->n + 1, -1) < 0)
            continue;
        if (crew->polls[crew->n].revents)
            pass_signals_on(crew);
        for (int i = 0; i < crew->n; i++)
            if (crew->w[i].fd >= 0 && crew->polls[i].revents)
                hear_worker(crew, i, err);
    }
}

int parallel_make(struct runs *r, int *dead, struct hrun_error *err)
{
    struct crew crew = { .r = r, .n = r->g->ngroups, .sigfd = -1 };
    struct hrun_error why = { 0 };
    int rc = -1;

    *dead = 0;
    crew.w = calloc((size_t)crew.n, sizeof *crew.w);
    crew.polls = calloc((size_t)crew.n + 1, sizeof *crew.polls);
    if (!crew.w || !crew.polls) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (int i = 0; i < crew.n; i++)
        crew.w[i].fd = -1;
    if (take_signals(&crew, err))
        goto mask;
    fflush(NULL);
    for (int i = 0; i < crew.n && !crew.failed; i++)
        if (start_worker(&crew, i, &why))
            end_others(&crew, &why, err);
    wait_for_all(&crew, err);
    rc = crew.failed ? -1 : crew.sig;
    *dead = crew.dead;
mask:
    if (crew.sigfd >= 0)
        close(crew.sigfd);
    sigprocmask(SIG_SETMASK, &crew.mask, NULL);
done:
    free(crew.polls);
    free(crew.w);
    return rc;
}
