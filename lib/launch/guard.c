/* guard.c - the helper process of a job; see internal.h for purpose and contracts */
#include "launch/internal.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The environment of a rank as PMIx makes it has a dozen short variables. */
enum { PACKET_MAX = 64 << 10 };

/* The server starts within milliseconds; on a machine that is swapping it may take long, but not this long. */
enum { START_TIMEOUT_S = 30 };

enum { FAREWELL = 'Q', GROUPS = 'G', FAILED = 'E' };

static void sleep_ms(int ms)
{
    struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

/* hrun is dead: end what it started, remove what it made. */
static void clean_up(const struct hrun_guard_spec *spec, const struct hrun_pids *groups)
{
    enum { STEP_MS = 20, ROUNDS = 200 };  /* SIGKILL works at once, but for a process stuck in the kernel */
    int waited = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct hrun_pids left = HRUN_PIDS_INIT;
        int sig = waited < spec->grace_ms ? (waited ? 0 : SIGTERM) : SIGKILL;
        if (hrun_procs_of_job(spec->job_id, spec->mark, groups, NULL, &left) || left.n == 0) {
            hrun_pids_release(&left);
            break;
        }
        for (size_t i = 0; i < left.n && sig; i++)
            kill(left.v[i], sig);
        hrun_pids_release(&left);
        sleep_ms(STEP_MS);
        waited += STEP_MS;
    }
    hrun_remove_tree(spec->rundir);
    hrun_remove_tree(spec->shmdir);
    hrun_remove_tree(spec->scratch);
}

/* Wait for hrun's words; its end without a farewell is its death. */
static void watch(const struct hrun_guard_spec *spec, int sock)
{
    struct hrun_pids groups = HRUN_PIDS_INIT;
    union { char c[PACKET_MAX]; pid_t pid[PACKET_MAX / sizeof(pid_t)]; } in;
    ssize_t n;

    for (;;) {
        n = recv(sock, &in, sizeof in, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            clean_up(spec, &groups);
            return;
        }
        if (in.c[0] == FAREWELL && n == 1)
            return;
        /* A list of groups: the first stands for the kind, GROUPS. */
        for (size_t i = 1; i < (size_t)n / sizeof(pid_t); i++)
            hrun_pids_push(&groups, in.pid[i]);
    }
}

/* Leave the terminal, the files and the name of hrun behind: nothing that ends when hrun's output is closed
 * may wait for this process, and what looks for processes called hrun shall not find it. Result: the socket,
 * which moves when hrun had a standard file closed and it has that number; -1 on failure. The job's memory file (mark,
 * 0: none) stays open. */
static int detach(int sock, int mark)
{
    int null, low, high;

    if (sock < 3 && (sock = fcntl(sock, F_DUPFD_CLOEXEC, 3)) < 0)
        return -1;
    low = mark && mark < sock ? mark : sock;
    high = mark > sock ? mark : sock;
    null = open("/dev/null", O_RDWR);
    setsid();
    prctl(PR_SET_NAME, "pmix-guard");
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    close_range(3, (unsigned)low - 1, 0);   /* of an empty range nothing is closed */
    close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0U, 0);
    if (chdir("/"))
        return sock;  /* it would only keep a folder busy */
    return sock;
}

static void block_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void guard_main(const struct hrun_guard_spec *spec, int sock)
{
    struct hrun_error err;

    memset(&err, 0, sizeof err);
    sock = detach(sock, spec->mark);
    if (sock < 0)
        return;
    if (spec->nranks > 0 && hrun_pmix_serve(spec, sock, &err)) {
        char out[1 + sizeof err];
        out[0] = FAILED;
        memcpy(out + 1, &err, sizeof err);
        send(sock, out, sizeof out, MSG_NOSIGNAL);
        return;
    }
    watch(spec, sock);
}

/* Receive one packet, waiting until end_s of the monotonic clock at most. Its length, 0: the guard has ended, or -1. */
static ssize_t packet(int sock, char *buf, size_t size, double end_s)
{
    struct pollfd p = { sock, POLLIN, 0 };
    ssize_t n;
    int rc;

    do {
        double left_s = end_s - hrun_monotonic_s();
        rc = poll(&p, 1, left_s > 0 ? (int)(1000 * left_s) : 0);
    } while (rc < 0 && errno == EINTR);
    if (rc <= 0)
        return -1;
    while ((n = recv(sock, buf, size, 0)) < 0 && errno == EINTR)
        ;
    return n;
}

/* Take the environments, one packet per rank, or the reason why there are none. */
static int receive_env(int sock, int nranks, struct hrun_strvec *env, struct hrun_error *err)
{
    char *buf = malloc(PACKET_MAX + 1);
    double end_s = hrun_monotonic_s() + START_TIMEOUT_S;
    int rc = -1;

    if (!buf)
        return hrun_fail_nomem(err);
    for (int r = 0; r < nranks; r++) {
        ssize_t n = packet(sock, buf, PACKET_MAX, end_s);
        if (n <= 0) {
            hrun_fail(err, HRUN_EENGINE, "the PMIx server of the job %s: " HRUN_GUARD_HINT,
                      n ? "does not answer" : "ends while it starts");
            goto out;
        }
        if (buf[0] == FAILED && (size_t)n == 1 + sizeof *err) {
            if (err)
                memcpy(err, buf + 1, sizeof *err);
            goto out;
        }
        buf[n] = 0;
        for (ssize_t at = 0; at < n; at += (ssize_t)strlen(buf + at) + 1)
            if (hrun_strvec_push(&env[r], buf + at)) {
                hrun_fail_nomem(err);
                goto out;
            }
    }
    rc = 0;
out:
    free(buf);
    return rc;
}

int hrun_guard_start(const struct hrun_guard_spec *spec, struct hrun_strvec *env, struct hrun_guard *g,
                     struct hrun_error *err)
{
    struct hrun_guard made = HRUN_GUARD_INIT;
    int pair[2];
    sigset_t old;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a socket pair");
    sigprocmask(SIG_BLOCK, NULL, &old);
    block_signals();  /* before the fork: a signal to hrun's group must not end the guard */
    made.pid = fork();
    if (made.pid == 0) {
        close(pair[0]);
        guard_main(spec, pair[1]);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(pair[1]);
    if (made.pid < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot start a process");
        close(pair[0]);
        return -1;
    }
    made.sock = pair[0];
    if (receive_env(made.sock, spec->nranks, env, err)) {
        for (int r = 0; r < spec->nranks; r++)
            hrun_strvec_release(&env[r]);
        hrun_guard_stop(&made);
        return -1;
    }
    *g = made;
    return 0;
}

void hrun_guard_tell(struct hrun_guard *g, const pid_t *groups, int n)
{
    enum { CHUNK = 1024 };
    pid_t out[CHUNK + 1];

    for (int at = 0; at < n; at += CHUNK) {
        int m = n - at < CHUNK ? n - at : CHUNK;
        out[0] = GROUPS;
        memcpy(out + 1, groups + at, (size_t)m * sizeof *groups);
        send(g->sock, out, (size_t)(m + 1) * sizeof *out, MSG_NOSIGNAL);
    }
}

int hrun_guard_event(struct hrun_guard *g, struct hrun_guard_event *ev)
{
    struct hrun_guard_event in;
    ssize_t n;

    while ((n = recv(g->sock, &in, sizeof in, MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    if ((size_t)n != sizeof in)
        return -1;
    *ev = in;
    return 1;
}

void hrun_guard_stop(struct hrun_guard *g)
{
    char farewell = FAREWELL;

    if (g->pid < 0)
        return;
    send(g->sock, &farewell, 1, MSG_NOSIGNAL);
    close(g->sock);
    kill(g->pid, SIGKILL);  /* PMIx's own end has nothing left to do, and takes its time */
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    g->pid = -1;
    g->sock = -1;
}
