/* proxy.c - the ranks of engine ssh on one host; see shim.h, and lib/launch/frames.h for the frames
 *
 * The proxy never blocks. Data that hrun has not read stays in `out`; while `out` is full, no output of ranks is read.
 * HRUN_INPUT_WINDOW limits the input that rank 0 has not read.
 */
#include "shim.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "launch/frames.h"
#include "launch/mpich.h"
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 16 << 10,           /* bytes read from a rank at a time */
    PIPE_MAX = 1 << 20,         /* largest capacity of a pipe in bytes, unless root changes it */
    OUT_MAX = 256 << 10,        /* while this many bytes wait for hrun, ranks are not read */
    REST_PATIENCE_MS = 2000,    /* for processes that ranks leave behind, as in launch.h */
    OWN_FDS = 4
};

/* The proxy's descriptors for a rank. */
enum { PMI, OUTPUT, ERRORS, RANK_FDS };
static const enum hrun_frame_kind kinds[RANK_FDS] = { [PMI] = HRUN_FRAME_PMI, [OUTPUT] = HRUN_FRAME_OUTPUT,
                                                      [ERRORS] = HRUN_FRAME_ERRORS };

struct child {
    int rank, program;
    pid_t pid;                  /* 0: it has ended */
    int fds[RANK_FDS];          /* -1: closed */
    struct hrun_buf answers;    /* answers of PMI, not delivered yet */
};

struct proxy {
    struct hrun_buf in, out;
    size_t in_at;
    int sigfd;
    sigset_t old_mask;
    struct rlimit old_files;
    time_t since;
    int ends;                   /* 1: hrun has ended, or ends the proxy */
    /* The job; words point into job. */
    char *job;
    const char *wdir;
    int size;                   /* ranks of all hosts */
    const char ***programs;     /* the path, then the arguments */
    int nprograms;
    struct child *children;
    int nchildren, nalive;
    int input;                  /* writing end of rank 0's standard input; -1: rank 0 is not here, or closed */
    struct hrun_buf waiting;    /* input not delivered yet */
    int input_ended;
};

/* ---------------------------------------------------------------- the job */

/* Read the words of add_job (lib/launch/engines/ssh.c). -1: they are invalid, for instance from another version of
 * hrun. */
static int read_job(struct proxy *p, const struct hrun_frame *f)
{
    const char *at, *end;
    int bad = 0;

    p->job = xmalloc(f->len + 1);
    memcpy(p->job, f->data, f->len);
    at = p->job;
    end = at + f->len;
    p->wdir = hrun_frame_word(&at, end);
    p->size = hrun_frame_number(&at, end);
    for (int n = hrun_frame_count(&at, end); n > 0; n--)
        putenv((char *)(uintptr_t)hrun_frame_word(&at, end));
    p->nprograms = hrun_frame_count(&at, end);
    p->programs = xcalloc((size_t)p->nprograms + 1, sizeof *p->programs);
    for (int i = 0; i < p->nprograms; i++) {
        const char *path = hrun_frame_word(&at, end);

        hrun_frame_words(&at, end, &p->programs[i]);
        bad |= !p->programs[i][0];
        p->programs[i][0] = path;
    }
    p->nchildren = hrun_frame_count(&at, end);
    p->children = xcalloc((size_t)p->nchildren + 1, sizeof *p->children);
    for (int i = 0; i < p->nchildren; i++) {
        struct child *k = &p->children[i];

        *k = (struct child){ .rank = hrun_frame_number(&at, end), .fds = { -1, -1, -1 }, .answers = HRUN_BUF_INIT };
        k->program = hrun_frame_number(&at, end);
        bad |= k->rank < 0 || k->rank >= p->size || k->program < 0 || k->program >= p->nprograms;
    }
    return bad || !p->nchildren ? -1 : 0;
}

/* ---------------------------------------------------------------- ranks */

/* In the child: become the rank. fds: the rank's ends of PMI, output and errors; input: its standard input. */
static _Noreturn void become_rank(const struct proxy *p, int i, const int *fds, int input)
{
    const struct child *k = &p->children[i];
    const struct { const char *name; int value; } numbers[] = {
        { "PMI_RANK", k->rank }, { "PMI_SIZE", p->size }, { "PMI_FD", fds[PMI] }, { "MPI_LOCALNRANKS", p->nchildren },
        { "MPI_LOCALRANKID", i },
    };
    char text[16];

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(fds[OUTPUT], STDOUT_FILENO) < 0 || dup2(fds[ERRORS], STDERR_FILENO) < 0)
        _exit(SHIM_FAILED);
    fcntl(fds[PMI], F_SETFD, 0);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        snprintf(text, sizeof text, "%d", numbers[n].value);
        setenv(numbers[n].name, text, 1);
    }
    sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
    setrlimit(RLIMIT_NOFILE, &p->old_files);
    if (chdir(p->wdir)) {
        shim_say("rank %d cannot enter the folder %s: %s", k->rank, p->wdir, strerror(errno));
        _exit(SHIM_FAILED);
    }
    setenv("PWD", p->wdir, 1);
    _exit(shim_rank((char **)(uintptr_t)p->programs[k->program]));
}

/* Start a rank. -1 with errno on failure. */
static int start_rank(struct proxy *p, int i)
{
    struct child *k = &p->children[i];
    int theirs[RANK_FDS] = { -1, -1, -1 }, pair[2], input = -1, failed = 0;

    for (int f = 0; f < RANK_FDS; f++) {
        failed = f == PMI ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) : pipe2(pair, O_CLOEXEC);
        if (failed)
            break;
        k->fds[f] = pair[0];
        theirs[f] = pair[1];
        fcntl(k->fds[f], F_SETFL, O_NONBLOCK);
    }
    if (!failed && k->rank == 0 && !(failed = pipe2(pair, O_CLOEXEC))) {
        input = pair[0];
        p->input = pair[1];
        fcntl(p->input, F_SETFL, O_NONBLOCK);
    } else if (!failed) {
        failed = (input = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0;
    }
    k->pid = failed ? -1 : fork();
    if (k->pid == 0)
        become_rank(p, i, theirs, input);
    for (int f = 0; f < RANK_FDS; f++) {
        hrun_close_fd(&theirs[f]);
        if (k->pid < 0)
            hrun_close_fd(&k->fds[f]);
    }
    hrun_close_fd(&input);
    if (k->pid < 0)
        return -1;
    setpgid(k->pid, k->pid);
    p->nalive++;
    return 0;
}

static void report_end(struct proxy *p, int rank, int status)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%d", status);

    hrun_frame_add(&p->out, HRUN_FRAME_EXIT, rank, text, (size_t)n);
}

/* Read a piece of a rank's output. 0: no output now, or its end. */
static int read_rank_output(struct proxy *p, struct child *k, int f)
{
    char data[PIECE];
    ssize_t n = read(k->fds[f], data, sizeof data);

    if (n > 0)
        hrun_frame_add(&p->out, kinds[f], k->rank, data, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        hrun_close_fd(&k->fds[f]);
    return n > 0;
}

/* Read the present output of a rank, with a limit, because its children may continue to write. */
static void drain_rank(struct proxy *p, struct child *k)
{
    for (int f = 0; f < RANK_FDS; f++)
        for (int n = 0; n < PIPE_MAX / PIECE && k->fds[f] >= 0 && read_rank_output(p, k, f); n++)
            ;
}

/* Write waiting input to rank 0. */
static void write_input(struct proxy *p)
{
    size_t before = p->waiting.len;

    if (p->input >= 0 && before && hrun_frames_send(p->input, &p->waiting)) {
        hrun_close_fd(&p->input);
        hrun_frame_add(&p->out, HRUN_FRAME_TAKEN, 0, "", 0);
    }
    if (p->input < 0)
        hrun_buf_reset(&p->waiting);
    else if (p->waiting.len < before)
        hrun_frame_add(&p->out, HRUN_FRAME_TAKEN, (int)(before - p->waiting.len), "", 0);
    if (p->input_ended && !p->waiting.len)
        hrun_close_fd(&p->input);
}

static void write_answers(struct child *k)
{
    if (k->fds[PMI] < 0)
        hrun_buf_reset(&k->answers);
    else if (k->answers.len && hrun_frames_send(k->fds[PMI], &k->answers))
        hrun_buf_reset(&k->answers);    /* reading detects the end */
}

/* Report the ranks that have ended, each after its output. */
static void reap_here(struct proxy *p)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < p->nchildren; i++) {
            struct child *k = &p->children[i];

            if (k->pid != pid)
                continue;
            drain_rank(p, k);
            k->pid = 0;
            p->nalive--;
            if (k->rank == 0)
                hrun_close_fd(&p->input);
            report_end(p, k->rank, status);
        }
}

/* ---------------------------------------------------------------- frames from hrun */

static int obey_hrun(struct proxy *p, const struct hrun_frame *f)
{
    struct child *k = p->children;
    int failed = 0;

    switch (f->kind) {
    case HRUN_FRAME_JOB:
        if (p->children)
            return -1;
        if (read_job(p, f)) {
            p->nchildren = 0;
            return -1;
        }
        for (int i = 0; i < p->nchildren; i++) {
            if (!failed && (failed = start_rank(p, i)))
                shim_say("rank %d cannot be started: %s", p->children[i].rank, strerror(errno));
            if (failed) {
                p->children[i].pid = 0;
                report_end(p, p->children[i].rank, SHIM_FAILED << 8);
            }
        }
        return 0;
    case HRUN_FRAME_SIGNAL:
        for (int i = 0; i < p->nchildren; i++)
            if (p->children[i].pid > 0)
                kill(-p->children[i].pid, f->number);
        if (f->number == SIGKILL)
            shim_signal_rest(SIGKILL);
        return 0;
    case HRUN_FRAME_INPUT:
        hrun_buf_add(&p->waiting, f->data, f->len);
        p->input_ended |= !f->len;
        write_input(p);
        return 0;
    case HRUN_FRAME_DEAF:
        for (int i = 0; i < p->nchildren; i++)
            hrun_close_fd(&p->children[i].fds[f->number ? ERRORS : OUTPUT]);
        return 0;
    case HRUN_FRAME_PMI:
        while (k < p->children + p->nchildren && k->rank != f->number)
            k++;
        if (k == p->children + p->nchildren)
            return -1;
        hrun_buf_add(&k->answers, f->data, f->len);
        write_answers(k);
        if (k->answers.len > HRUN_PMI_UNREAD_MAX) {
            hrun_close_fd(&k->fds[PMI]);
            write_answers(k);
            hrun_frame_add(&p->out, HRUN_FRAME_UNREAD, k->rank, "", 0);
        }
        return 0;
    default:
        return -1;
    }
}

static void read_hrun(struct proxy *p)
{
    char data[PIECE];
    struct hrun_frame f;
    int got = 0;
    ssize_t n = read(STDIN_FILENO, data, sizeof data);

    if (n > 0)
        hrun_buf_add(&p->in, data, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        p->ends = 1;
    while (!p->ends && (got = hrun_frame_next(&p->in, &p->in_at, &f)) > 0 && !(got = obey_hrun(p, &f)))
        ;
    if (got < 0) {
        shim_say("hrun-shim proxy cannot read what hrun sent: install the same version of hrun on all hosts");
        p->ends = 1;
    }
    hrun_frames_drop(&p->in, &p->in_at);
}

/* ---------------------------------------------------------------- the loop */

static void flush_out(struct proxy *p)
{
    if (p->out.len && hrun_frames_send(STDOUT_FILENO, &p->out))
        p->ends = 1;
}

/* Wait for an event of hrun, a rank or a signal, and handle it. */
static void step_proxy(struct proxy *p, struct pollfd *q)
{
    int room = p->out.len < OUT_MAX, n = OWN_FDS;

    q[0] = (struct pollfd){ p->sigfd, POLLIN, 0 };
    q[1] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
    q[2] = (struct pollfd){ STDOUT_FILENO, (short)(p->out.len ? POLLOUT : 0), 0 };
    q[3] = (struct pollfd){ p->waiting.len ? p->input : -1, POLLOUT, 0 };
    for (int i = 0; i < p->nchildren; i++)
        for (int f = 0; f < RANK_FDS; f++) {
            const struct child *k = &p->children[i];
            int events = (f == PMI || room ? POLLIN : 0) | (f == PMI && k->answers.len ? POLLOUT : 0);

            q[n++] = (struct pollfd){ events ? k->fds[f] : -1, (short)events, 0 };
        }
    if (poll(q, (nfds_t)n, -1) < 0) {
        p->ends |= errno != EINTR;
        return;
    }
    if (q[2].revents & (POLLERR | POLLHUP))
        p->ends = 1;
    for (int i = OWN_FDS; i < n; i++) {
        struct child *k = &p->children[(i - OWN_FDS) / RANK_FDS];
        int f = (i - OWN_FDS) % RANK_FDS;

        if (q[i].revents & POLLOUT)
            write_answers(k);
        if ((q[i].revents & ~POLLOUT) && k->fds[f] >= 0)
            read_rank_output(p, k, f);
    }
    if (q[3].revents)
        write_input(p);
    if (shim_told_to_end(p->sigfd))
        p->ends = 1;
    reap_here(p);
    if (q[1].revents)
        read_hrun(p);
    flush_out(p);
}

int shim_proxy(char **words)
{
    struct proxy p = { .in = HRUN_BUF_INIT, .out = HRUN_BUF_INIT, .waiting = HRUN_BUF_INIT, .input = -1,
                       .since = time(NULL) };
    struct pollfd *q = xmalloc(OWN_FDS * sizeof *q), out = { STDOUT_FILENO, POLLOUT, 0 };
    int status, had;

    (void)words;
    p.sigfd = shim_signal_fd(1, &p.old_mask);
    if (p.sigfd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1)) {
        shim_say("hrun-shim proxy: %s", strerror(errno));
        return SHIM_FAILED;
    }
    /* Each rank needs three descriptors, and poll(2) refuses more entries than files are allowed. */
    if (!getrlimit(RLIMIT_NOFILE, &p.old_files))
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ p.old_files.rlim_max, p.old_files.rlim_max });
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    hrun_buf_adds(&p.out, HRUN_PROXY_HELLO);
    flush_out(&p);
    while (!p.ends && (!p.children || p.nalive > 0)) {
        had = p.nchildren;
        step_proxy(&p, q);
        if (p.nchildren != had)
            q = xrealloc(q, sizeof *q * (size_t)(OWN_FDS + p.nchildren * RANK_FDS));
    }
    free(q);
    shim_end_rest(p.sigfd, -1, REST_PATIENCE_MS, &status);
    for (int i = 0; i < p.nchildren; i++)
        drain_rank(&p, &p.children[i]);
    for (flush_out(&p); p.out.len && !p.ends; flush_out(&p)) {
        poll(&out, 1, -1);
        if (out.revents & (POLLERR | POLLHUP))
            p.ends = 1;
    }
    hrun_mpich_remove_orphans(p.since);
    for (int i = 0; i < p.nprograms; i++)
        free(p.programs[i]);
    for (int i = 0; i < p.nchildren; i++)
        hrun_buf_release(&p.children[i].answers);
    free(p.programs);
    free(p.children);
    free(p.job);
    hrun_buf_release(&p.in);
    hrun_buf_release(&p.out);
    hrun_buf_release(&p.waiting);
    return 0;
}
