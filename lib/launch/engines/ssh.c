/* ssh.c - engine ssh: programs of MPICH over hosts, each reached by the remote shell; hrun serves PMI-1 to all ranks
 *
 * Each host with ranks runs `hrun-shim proxy`. Other hosts start it through `hrun-shim agent`, the remote shell and
 * `hrun-shim host` (hrun/shim/shim.h), which write the notes of reach.h. One connection to each host carries frames
 * (launch/frames.h): PMI, input of rank 0, output, wait statuses. The proxies get the job when all hosts are ready;
 * until then no rank is started.
 * Hydra is not used: it ORs the statuses of ranks, ends with 0 after SIGTERM, hangs on an unknown host, and treats a
 * host that is twice in the list, with others between, as two hosts.
 */
#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "launch/engines/engines.h"
#include "launch/engines/reach.h"
#include "launch/env.h"
#include "launch/frames.h"
#include "launch/mpich.h"
#include "launch/notes.h"
#include "launch/pmi.h"
#include "launch/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PIECE = 64 << 10,
    GREETING_MAX = 64 << 10,    /* bytes that a shell may write before the proxy's hello */
    EVENTS = 64,
    AT_ONCE = 64                /* hosts that are started but not ready */
};

/* A host that has ranks. */
struct ssh_host {
    const struct hrun_host *host;
    int fd;                     /* connection, -1: closed */
    pid_t pid;                  /* agent or proxy, 0: it has ended */
    int greeted;
    int silent;                 /* 1: the connection ended before the ranks */
    struct hrun_buf in, out;
};

/* r->state */
struct ssh {
    struct hrun_run *r;
    struct hrun_pmi *pmi;
    struct ssh_host *hosts;
    int nhosts;
    int *host_of;               /* index in hosts for each host of the cluster, -1: no rank */
    struct hrun_strvec env;     /* of agents and proxies */
    int epoll;
    int begun;                  /* 1: the proxies have the job */
    int drops;                  /* 1: the job ends at once, and output that does not fit is dropped */
    int nstarted;               /* hosts whose agent or proxy has been started */
    int deaf[2];                /* 1: the proxies were informed that output (0), error (1) has no reader */
    int input;                  /* standard input for rank 0, -1: at its end, or none */
    int input_ready;            /* 1: input is a file, which is always readable and which epoll(7) refuses */
    size_t input_under_way;     /* bytes sent but not yet delivered to rank 0 */
};

/* ---------------------------------------------------------------- usable, check */

static int ssh_suits(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    return !cluster->platform && mpi && mpi->kind == HRUN_MPI_MPICH;
}

static int ssh_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    (void)found;
    return hrun_check_hosts(&hrun_engine_ssh, cluster, err) || hrun_check_agent(cluster, err) ? -1 : 0;
}

static int ssh_check(const struct hrun_job *job, struct hrun_error *err)
{
    struct hrun_mpi mpi;

    if (hrun_check_common(&hrun_engine_ssh, job, &mpi, err))
        return -1;
    if (mpi.kind == HRUN_MPI_OPENMPI)
        return hrun_fail(err, HRUN_EMPI, "%s is linked with %s, and engine ssh starts programs of MPICH: use --engine "
                         "mpirun", job->argv[0], mpi.name);
    return 0;
}

/* ---------------------------------------------------------------- to the proxies */

static void send_out(struct ssh *s, struct ssh_host *h)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = h };

    if (h->fd < 0)
        return;
    /* Reading detects a broken connection. */
    if (hrun_frames_send(h->fd, &h->out))
        hrun_buf_reset(&h->out);
    if (h->out.len)
        ev.events |= EPOLLOUT;
    if (s->r->paused)
        ev.events &= ~(uint32_t)EPOLLIN;
    epoll_ctl(s->epoll, EPOLL_CTL_MOD, h->fd, &ev);
}

static void send_frame(struct ssh *s, struct ssh_host *h, enum hrun_frame_kind kind, int number, const char *data,
                       size_t len)
{
    hrun_frame_add(&h->out, kind, number, data, len);
    send_out(s, h);
}

static struct ssh_host *host_of(const struct ssh *s, int rank)
{
    return &s->hosts[s->host_of[s->r->job->layout->ranks[rank].host]];
}

/* Set the variables that ranks get besides those of their host: hrun's own environment without local variables, and the
 * user's. */
static void ranks_env(const struct ssh *s, struct hrun_strvec *env)
{
    const struct hrun_job *job = s->r->job;
    /* Variables of this host, session or shell. */
    static const char *const local[] = {
        "HOME=", "USER=", "LOGNAME=", "SHELL=", "PWD=", "OLDPWD=", "SHLVL=", "_=", "HOSTNAME=", "TMPDIR=", "SSH_",
        "XDG_", "DBUS_", "HWLOC_", "BASH_FUNC_", HRUN_NOTES_VARIABLE "=", NULL
    };
    autorelease(hrun_strvec_release) struct hrun_strvec base = HRUN_STRVEC_INIT;

    hrun_env_base(&base);
    for (size_t i = 0; i < base.n; i++)
        if (!hrun_begins_with(base.v[i], local))
            hrun_strvec_push(env, base.v[i]);
    hrun_mpich_env(env);
    hrun_env_set(env, HRUN_JOB_VARIABLE "=%s", s->r->own.job_id);
    hrun_env_set(env, HRUN_RANKS_DO_VARIABLE "=%s", job->report_bindings ? "bind,report" : "bind");
    hrun_ranks_words(job->layout, env);
    hrun_env_user(job, env);
    hrun_env_preload(job, 1, env);
    /* -x NAME also passes on a local variable. */
    for (size_t i = 0; i < job->env.n; i++)
        if (!strchr(job->env.v[i], '=') && getenv(job->env.v[i]))
            hrun_env_set(env, "%s=%s", job->env.v[i], getenv(job->env.v[i]));
}

/* The words of HRUN_FRAME_JOB for a host; hrun-shim proxy reads them (read_job). */
static void add_job(const struct ssh *s, const struct ssh_host *h, const char *wdir, const struct hrun_strvec *env,
                    struct hrun_buf *b)
{
    const struct hrun_job *job = s->r->job;
    const struct hrun_layout *l = job->layout;
    int here = 0, n = 1;

    for (int r = 0; r < l->nranks; r++) {
        here += host_of(s, r) == h;
        n = job->which && job->which[r] >= n ? job->which[r] + 1 : n;
    }
    hrun_frame_add_word(b, wdir);
    hrun_frame_add_number(b, l->nranks);
    hrun_frame_add_words(b, env->v);
    hrun_frame_add_number(b, n);
    for (int i = 0; i < n; i++) {
        struct hrun_program one = job->which ? job->programs[i] : (struct hrun_program){ job->argv, job->program };

        hrun_frame_add_word(b, one.path);
        hrun_frame_add_words(b, one.argv);
    }
    hrun_frame_add_number(b, here);
    for (int r = 0; r < l->nranks; r++)
        if (host_of(s, r) == h) {
            hrun_frame_add_number(b, r);
            hrun_frame_add_number(b, job->which ? job->which[r] : 0);
        }
}

/* All hosts are ready: start the ranks. */
static int begin_ranks(struct ssh *s, struct hrun_error *err)
{
    const struct hrun_job *job = s->r->job;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    const char *dir = job->wdir ? job->wdir : ".";
    autofree char *wdir = realpath(dir, NULL);

    s->r->begun_s = 0;
    if (!wdir)
        return hrun_fail_errno(err, HRUN_EIO, "the working directory %s cannot be used", dir);
    ranks_env(s, &env);
    for (int i = 0; i < s->nhosts; i++) {
        hrun_buf_reset(&b);
        add_job(s, &s->hosts[i], wdir, &env, &b);
        if (b.len > HRUN_FRAME_MAX)
            return hrun_fail(err, HRUN_EINVAL, "environment, arguments and ranks of the job take %zu MiB, and at most "
                             "%d can be told to a host", b.len >> 20, HRUN_FRAME_MAX >> 20);
        send_frame(s, &s->hosts[i], HRUN_FRAME_JOB, 0, b.data, b.len);
    }
    s->begun = 1;
    return 0;
}

/* ---------------------------------------------------------------- standard input */

/* 1 if rank 0 has room for input and hrun may read it now, else 0. In the background, reading a terminal stops hrun. */
static int may_read(const struct ssh *s)
{
    return s->input >= 0 && s->input_under_way < HRUN_INPUT_WINDOW &&
           (!isatty(s->input) || tcgetpgrp(s->input) == getpgrp());
}

/* Read a piece that rank 0 has room for. 1 if there was one, else 0. */
static int read_input(struct ssh *s)
{
    char data[PIECE];
    ssize_t n;

    if (!may_read(s))
        return 0;
    n = read(s->input, data, HRUN_INPUT_WINDOW - s->input_under_way);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n > 0)
        s->input_under_way += (size_t)n;
    else
        hrun_close_fd(&s->input);
    send_frame(s, host_of(s, 0), HRUN_FRAME_INPUT, 0, data, n > 0 ? (size_t)n : 0);
    return n > 0;
}

/* Wait for input; how: operation of epoll_ctl(2). A file is read now. */
static void feed_input(struct ssh *s, int how)
{
    struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = &s->input };

    if (!s->input_ready && (how == EPOLL_CTL_ADD || may_read(s)) && epoll_ctl(s->epoll, how, s->input, &ev) &&
        errno == EPERM)
        s->input_ready = 1;
    while (s->input_ready && read_input(s))
        ;
}

/* ---------------------------------------------------------------- from the proxies */

/* Close the connection of a host; its ranks can send no more. */
static void close_host(struct ssh *s, struct ssh_host *h)
{
    struct hrun_run *r = s->r;

    if (h->fd < 0)
        return;
    close(h->fd);
    h->fd = -1;
    for (int rank = 0; rank < r->nprocs; rank++)
        if (host_of(s, rank) == h && r->procs[rank].alive) {
            r->procs[rank].alive = 0;
            r->nalive--;
            h->silent = 1;
        }
}

static int obey_proxy(struct ssh *s, struct ssh_host *h, const struct hrun_frame *f)
{
    struct hrun_run *r = s->r;
    int rank = f->number, ours = rank < r->nprocs && host_of(s, rank) == h;
    char text[16];

    if (f->kind == HRUN_FRAME_TAKEN) {
        s->input_under_way -= (size_t)f->number < s->input_under_way ? (size_t)f->number : s->input_under_way;
        if (f->number)
            feed_input(s, EPOLL_CTL_MOD);
        else
            hrun_close_fd(&s->input);
        return 0;
    }
    if (!ours)
        return -1;
    switch (f->kind) {
    case HRUN_FRAME_PMI:
        hrun_pmi_feed(s->pmi, rank, f->data, f->len);
        return 0;
    case HRUN_FRAME_UNREAD:
        hrun_pmi_unread(s->pmi, rank);
        return 0;
    case HRUN_FRAME_OUTPUT:
    case HRUN_FRAME_ERRORS:
        if (!s->drops || hrun_output_has_room(r->output))
            hrun_output_feed(r->output, rank, f->kind == HRUN_FRAME_ERRORS, f->data, f->len);
        return 0;
    case HRUN_FRAME_EXIT:
        if (!r->procs[rank].alive)
            return -1;
        snprintf(text, sizeof text, "%.*s", f->len < sizeof text ? (int)f->len : 0, f->data);
        hrun_output_end(r->output, rank);
        hrun_run_ended(r, rank, (int)strtol(text, NULL, 10));
        return 0;
    default:
        return -1;
    }
}

static void read_host_frames(struct ssh *s, struct ssh_host *h)
{
    static const char hello[] = HRUN_PROXY_HELLO;
    struct hrun_frame f;
    size_t at = 0;
    int got = 0;
    char data[PIECE], *found;
    ssize_t n = recv(h->fd, data, sizeof data, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_host(s, h);
        return;
    }
    hrun_buf_add(&h->in, data, (size_t)n);
    if (!h->greeted && (found = memmem(h->in.data, h->in.len, hello, sizeof hello - 1))) {
        h->greeted = 1;
        at = (size_t)(found - h->in.data) + sizeof hello - 1;   /* after the text of a shell */
    } else if (!h->greeted && h->in.len > GREETING_MAX) {
        got = -1;
    }
    if (h->greeted)
        while (h->fd >= 0 && (got = hrun_frame_next(&h->in, &at, &f)) > 0 && !(got = obey_proxy(s, h, &f)))
            ;
    if (got < 0 && !s->r->ending.kill_s) {
        hrun_fail(s->r->err, HRUN_EENGINE, "what host '%s' sends is not understood: is the same version of hrun "
                  "installed there, and does its shell write nothing at the start?", h->host->name);
        hrun_run_break(s->r);
    }
    if (got < 0)
        close_host(s, h);
    hrun_frames_drop(&h->in, &at);
}

static void report_rank(void *ctx, const struct hrun_guard_event *ev)
{
    const struct ssh *s = ctx;

    hrun_run_event(s->r, ev);
}

static void send_answer(void *ctx, int rank, const char *data, size_t len)
{
    struct ssh *s = ctx;

    send_frame(s, host_of(s, rank), HRUN_FRAME_PMI, rank, data, len);
}

/* ---------------------------------------------------------------- the job's life */

/* Number of hosts that have an agent or proxy, or unread data. A silent host is lost when its agent or proxy has ended
 * without a note of the reason. */
static int living_hosts(struct ssh *s)
{
    struct hrun_run *r = s->r;
    int n = 0;

    for (int i = 0; i < s->nhosts; i++) {
        struct ssh_host *h = &s->hosts[i];

        if (h->pid > 0 && waitpid(h->pid, NULL, WNOHANG) == h->pid)
            h->pid = 0;
        n += h->pid > 0 || h->fd >= 0;
    }
    if (r->reach->agents)
        hrun_reach_watch(r);    /* reads the last notes of agents that have just ended */
    for (int i = 0; i < s->nhosts; i++)
        if (s->hosts[i].silent && !s->hosts[i].pid && r->ending.kill_s <= 0 && !r->ending.signal)
            hrun_run_lose(r, s->hosts[i].host->name);
    return n;
}

/* Pause reading while the output has no room. */
static void set_paused(struct ssh *s)
{
    int paused = !s->drops && !hrun_output_has_room(s->r->output);

    if (paused == s->r->paused)
        return;
    s->r->paused = paused;
    for (int i = 0; i < s->nhosts; i++)
        send_out(s, &s->hosts[i]);
}

/* Start the agent or proxy of a host. */
static int start_host(struct ssh *s, struct ssh_host *h, struct hrun_error *err)
{
    struct hrun_run *r = s->r;
    char *const proxy[] = { r->reach->shim, (char *)(uintptr_t)"proxy", (char *)(uintptr_t)"start", NULL };
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    const struct hrun_spawn how = { .mask = r->signals.old_mask, .sigchld = r->signals.old_sigchld,
                                    .mark = r->own.mark, .death_signal = h->host->is_local ? SIGKILL : SIGTERM };
    struct hrun_spawn_one one = { .program = r->reach->shim, .env = s->env.v, .own_group = 1 };
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = h };
    int pair[2], rc = -1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a connection to host '%s'", h->host->name);
    h->fd = pair[0];
    one.fds[0] = one.fds[1] = pair[1];
    one.fds[2] = hrun_output_child_fd(r->output, 0, 1);
    if (!h->host->is_local)
        hrun_reach_agent_words(r, h->host, proxy, &argv);
    one.argv = h->host->is_local ? proxy : argv.v;
    if (fcntl(h->fd, F_SETFL, O_NONBLOCK) || epoll_ctl(s->epoll, EPOLL_CTL_ADD, h->fd, &ev))
        hrun_fail_errno(err, HRUN_EIO, "cannot watch the connection to host '%s'", h->host->name);
    else
        rc = hrun_spawn(&how, &one, 1, &h->pid, err);
    if (rc)
        h->pid = 0;
    else
        hrun_pids_push(&r->family.groups, h->pid);
    close(pair[1]);
    return rc;
}

/* Start hosts, AT_ONCE at a time: a gateway accepts a limited number of connections. */
static int start_more(struct ssh *s, struct hrun_error *err)
{
    struct hrun_run *r = s->r;
    int before = s->nstarted;

    for (; s->nstarted < s->nhosts && s->nstarted - s->r->reach->nup < AT_ONCE; s->nstarted++)
        if (start_host(s, &s->hosts[s->nstarted], err))
            return -1;
    if (s->nstarted > before)
        hrun_guard_tell(&r->guard, 0, r->family.groups.v, (int)r->family.groups.n);
    if (s->nstarted == s->nhosts)
        hrun_output_started(r->output);
    return 0;
}

static int watch_hosts(struct hrun_run *r)
{
    struct ssh *s = r->state;
    struct epoll_event events[EVENTS];
    int n = epoll_wait(s->epoll, events, EVENTS, 0);

    for (int i = 0; i < n; i++) {
        struct ssh_host *h = events[i].data.ptr;

        if (!events[i].data.ptr) {
            hrun_reach_watch(r);
        } else if (events[i].data.ptr == &s->input) {
            read_input(s);
            feed_input(s, EPOLL_CTL_MOD);
        } else {
            if (h->fd >= 0 && (events[i].events & EPOLLOUT))
                send_out(s, h);
            if (h->fd >= 0 && (events[i].events & ~(uint32_t)EPOLLOUT))
                read_host_frames(s, h);
        }
    }
    n = living_hosts(s);
    /* Do this after reading all notes: when the last host is up, no further event may come. */
    if (s->nstarted < s->nhosts && r->ending.kill_s <= 0 && start_more(s, r->err))
        hrun_run_break(r);
    if (!s->begun && s->nstarted == s->nhosts && r->reach->nup == r->reach->nremote && r->ending.kill_s <= 0 &&
        r->nalive > 0) {
        if (begin_ranks(s, r->err))
            hrun_run_break(r);
        else
            feed_input(s, EPOLL_CTL_ADD);
    }
    /* If the output has no reader any more, the ranks must notice. */
    for (int k = 0; k < 2; k++)
        if (!s->deaf[k] && hrun_output_is_deaf(s->r->output, k)) {
            s->deaf[k] = 1;
            for (int i = 0; i < s->nhosts; i++)
                send_frame(s, &s->hosts[i], HRUN_FRAME_DEAF, k, "", 0);
        }
    set_paused(s);
    return n;
}

static void bring_ssh_signal(struct hrun_run *r, int sig)
{
    struct ssh *s = r->state;
    int ends = sig == SIGKILL || hrun_signal_action(sig) == HRUN_SIGNAL_END;

    s->drops |= r->out->signalled && sig == SIGKILL;
    set_paused(s);
    if ((ends && !s->begun) || (sig == SIGKILL && r->ending.killed)) {
        r->ending.failed = 1;
        for (int i = 0; i < s->nhosts; i++)     /* a proxy without a connection ends its ranks */
            close_host(s, &s->hosts[i]);
        return;
    }
    for (int i = 0; i < s->nhosts && s->begun; i++)
        send_frame(s, &s->hosts[i], HRUN_FRAME_SIGNAL, sig, "", 0);
    if (sig == SIGCONT && s->begun)
        feed_input(s, EPOLL_CTL_MOD);
}

/* An agent that does not end waits for a lost host, unless all ranks there have ended. */
static void abandon_hosts(struct hrun_run *r)
{
    const struct ssh *s = r->state;

    for (int i = 0; i < s->nhosts; i++)
        if (s->hosts[i].pid > 0 && s->hosts[i].silent && !r->out->lost_host[0] && !r->ending.broken &&
            !r->ending.timed_out && !r->ending.signal)
            hrun_run_lose(r, s->hosts[i].host->name);
}

/* ---------------------------------------------------------------- start */

static int start_ssh(struct hrun_run *r, struct hrun_error *err)
{
    struct ssh *s = r->state;
    const struct hrun_layout *l = r->job->layout;
    const struct hrun_pmi_owner owner = { report_rank, send_answer, s };
    struct epoll_event notes = { .events = EPOLLIN };

    s->r = r;
    r->style.tagging = HRUN_TAG_FED;
    s->hosts = xcalloc((size_t)l->nhosts_used + 1, sizeof *s->hosts);
    s->host_of = xmalloc(sizeof *s->host_of * ((size_t)l->cluster->nhosts + 1));
    for (int i = 0; i < l->cluster->nhosts; i++)
        s->host_of[i] = -1;
    for (int rank = 0; rank < l->nranks; rank++) {
        int i = l->ranks[rank].host;

        if (s->host_of[i] >= 0)
            continue;
        s->host_of[i] = s->nhosts;
        s->hosts[s->nhosts++] = (struct ssh_host){ .host = &l->cluster->hosts[i], .fd = -1, .in = HRUN_BUF_INIT,
                                                   .out = HRUN_BUF_INIT };
    }
    if (hrun_reach_listen(r, err) || hrun_run_prepare(r, l->nranks, err))
        return -1;
    s->pmi = hrun_pmi_create(l, r->job->which, &owner);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0 || (r->watch_fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, r->watch_fd, &notes)))
        return hrun_fail_errno(err, HRUN_EIO, "cannot wait for the hosts");
    r->begun_s = INFINITY;
    r->watch_fd = s->epoll;
    if (hrun_run_stdin(r->job, &s->input, err))
        return -1;
    if (s->input == HRUN_SPAWN_NULL)
        s->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    else if (s->input == HRUN_SPAWN_INHERIT)
        s->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    hrun_env_base(&s->env);
    hrun_env_set(&s->env, HRUN_JOB_VARIABLE "=%s", r->own.job_id);
    hrun_reach_env(r, &s->env);
    r->start_s = hrun_monotonic_s();
    if (start_more(s, err))
        return -1;
    for (int i = 0; i < l->nranks; i++)
        r->procs[i].alive = 1;
    r->nalive = l->nranks;
    if (r->job->on_start)
        r->job->on_start(r->job->ctx);
    return 0;
}

/* End the agents and proxies that are left. */
static void end_hosts(struct hrun_run *r)
{
    struct ssh *s = r->state;

    for (int i = 0; i < s->nhosts; i++) {
        struct ssh_host *h = &s->hosts[i];

        hrun_close_fd(&h->fd);
        if (h->pid > 0) {
            kill(-h->pid, SIGKILL);
            while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        hrun_buf_release(&h->in);
        hrun_buf_release(&h->out);
    }
    hrun_close_fd(&s->input);
    hrun_close_fd(&s->epoll);
    hrun_pmi_destroy(s->pmi);
    hrun_strvec_release(&s->env);
    free(s->hosts);
    free(s->host_of);
}

static int ssh_run(const struct hrun_job *asked, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .mpich = 1, .grace_ms = 2000, .start = start_ssh, .check_end = hrun_mpich_check_together, .release = end_hosts,
        .signal = bring_ssh_signal, .watch = watch_hosts, .abandon = abandon_hosts,
    };
    autorelease(hrun_reach_release) struct hrun_reach reach = HRUN_REACH_INIT;
    struct hrun_job job = *asked;
    struct ssh s = { .epoll = -1, .input = -1 };
    autofree char *library = NULL;
    char words[64];

    library = hrun_mpich_preload(&job, 0, words, sizeof words);
    if (hrun_reach_plan(&job, NULL, &reach, err))
        return -1;
    return hrun_run_job(&driver, &s, &reach, &job, out, err);
}

const struct hrun_engine hrun_engine_ssh = {
    .name = "ssh", .what = "programs of MPICH over hosts, through ssh; hrun serves PMI", .mpich = 1,
    .suits = ssh_suits, .usable = ssh_usable, .check = ssh_check, .run = ssh_run,
};
