/* guard.c - the helper process of a job; see guard.h for purpose and contracts */
#include "launch/guard.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "launch/mpich.h"
#include "launch/pmi.h"
#include "launch/pmix.h"
#include "launch/procs.h"

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
#include <unistd.h>

/* Largest packet, bytes. A rank's environment from PMIx has a dozen short variables. */
enum { PACKET_MAX = 64 << 10 };

/* Limit for each answer of the server, which takes milliseconds, or longer on a swapping machine. */
enum { START_TIMEOUT_S = 30 };

enum { FAREWELL = 'Q', STARTED = 'S', SERVE = 'J', FAILED = 'E' };

/* After hrun's death: end the processes of the job, remove its folders. */
static void clean_up(const struct hrun_guard_spec *spec, const struct hrun_pids *groups)
{
    enum { STEP_MS = 20, ROUNDS = 200 };  /* a process stuck in the kernel ends later */
    double kill_s = hrun_monotonic_s() + spec->grace_ms * 1e-3;

    for (int round = 0; round < ROUNDS; round++) {
        autorelease(hrun_pids_release) struct hrun_pids left = HRUN_PIDS_INIT;
        int sig = hrun_monotonic_s() >= kill_s ? SIGKILL : round ? 0 : SIGTERM;

        if (hrun_procs_of_job(spec->job_id, spec->mark, groups, NULL, &left) || left.n == 0)
            break;
        for (size_t i = 0; i < left.n && sig; i++)
            kill(left.v[i], sig);
        poll(NULL, 0, STEP_MS);
    }
    hrun_remove_tree(spec->rundir);
    hrun_remove_tree(spec->shmdir);
    hrun_remove_tree(spec->scratch);
    if (spec->mpich)
        hrun_mpich_remove_orphans(spec->since);
}

/* Serve PMI-1 (pmi not NULL) or PMIx's lookups, and read hrun's packets, until the farewell. If the socket closes
 * without a farewell, hrun is dead. */
static void guard_watch(const struct hrun_guard_spec *spec, int sock, struct hrun_pmi *pmi, struct pollfd *polled)
{
    struct hrun_pids groups = HRUN_PIDS_INIT;
    union { char c[PACKET_MAX]; pid_t pid[PACKET_MAX / sizeof(pid_t)]; } in;
    int timer = spec->nranks && !pmi ? pmix_names_timer() : -1;
    ssize_t n;

    for (;;) {
        polled[0] = (struct pollfd){ sock, POLLIN, 0 };
        polled[1] = (struct pollfd){ timer, POLLIN, 0 };
        polled[2] = (struct pollfd){ timer < 0 ? -1 : pmix_answers(), POLLIN, 0 };
        if (pmi)
            hrun_pmi_poll(pmi, polled + 1);
        if (poll(polled, pmi ? (nfds_t)spec->nranks + 1 : 3, -1) < 0)
            continue;
        if (pmi)
            hrun_pmi_handle(pmi, polled + 1);
        else if (polled[1].revents)
            pmix_names_tick();
        else if (polled[2].revents)
            pmix_answer_now();
        if (!polled[0].revents)
            continue;
        n = recv(sock, &in, sizeof in, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            clean_up(spec, &groups);
            return;
        }
        if (in.c[0] == FAREWELL && n == 1)
            return;
        if (in.pid[0] == SERVE) {
            pmix_spawn_serve(spec, sock, in.c + sizeof(pid_t), (size_t)n - sizeof(pid_t));
            continue;
        }
        /* STARTED, the number of the first process, and the pids. A process that leads no group is in hrun's group. */
        for (size_t i = 2; i < (size_t)n / sizeof(pid_t); i++)
            hrun_pids_push(&groups, in.pid[i]);
        if (timer >= 0)
            pmix_started(in.pid[1], in.pid + 2, (size_t)n / sizeof(pid_t) - 2);
    }
}

/* Leave hrun's session, files, name and folder: readers of hrun's output must not wait for this process, and searches
 * for processes named hrun must not find it. kept[n]: the descriptors that stay open, ascending. */
static void leave_hrun(const int *kept, int n)
{
    int null = open("/dev/null", O_RDWR), next = 3;

    setsid();
    prctl(PR_SET_NAME, "pmix-guard");
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    for (int i = 0; i < n; next = kept[i++] + 1)
        if (kept[i] > next)
            close_range((unsigned)next, (unsigned)kept[i] - 1, 0);
    close_range((unsigned)next, ~0U, 0);
    if (chdir("/"))
        return;     /* harmless: a folder only stays busy */
}

static void send_event(void *ctx, const struct hrun_guard_event *ev)
{
    const int *sock = ctx;

    while (send(*sock, ev, sizeof *ev, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

/* pmi: the server for programs of MPICH, connected to the ranks; else NULL. */
static void guard_main(const struct hrun_guard_spec *spec, int sock, struct hrun_pmi *pmi, pid_t parent)
{
    struct pollfd *polled = xcalloc((size_t)spec->nranks + 3, sizeof *polled);
    int *kept = xcalloc((size_t)spec->nranks + 1, sizeof *kept), n = 0;
    struct hrun_error err = { 0 };

    /* Until the guard serves, it ends with hrun, even if it hangs; the next job then removes the folders. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return;
    if (pmi)
        hrun_pmi_poll(pmi, polled);
    for (int r = 0; pmi && r < spec->nranks; r++)
        kept[n++] = polled[r].fd;
    kept[n++] = sock;           /* the last, because the list ascends, and sock was opened after pmi's connections */
    leave_hrun(kept, n);
    if (spec->nranks && !pmi && hrun_pmix_serve(spec, sock, &err)) {
        char out[1 + sizeof err];

        out[0] = FAILED;
        memcpy(out + 1, &err, sizeof err);
        send(sock, out, sizeof out, MSG_NOSIGNAL);
        return;
    }
    prctl(PR_SET_PDEATHSIG, 0);
    guard_watch(spec, sock, pmi, polled);
}

/* Receive the environments, one packet per rank, or the server's error. 0, or -1 with *err. */
static int receive_all(int sock, int nranks, struct hrun_strvec *env, struct hrun_error *err)
{
    const struct timeval limit = { START_TIMEOUT_S, 0 };
    autofree char *buf = xmalloc(PACKET_MAX + 1);
    ssize_t n;

    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (int r = 0; r < nranks; r++) {
        while ((n = recv(sock, buf, PACKET_MAX, 0)) < 0 && errno == EINTR)
            ;
        if (n <= 0)
            return hrun_fail(err, HRUN_EENGINE, "the PMIx server of the job %s: " HRUN_GUARD_HINT,
                             n ? "does not answer" : "ends while it starts");
        if (buf[0] == FAILED && (size_t)n == 1 + sizeof *err) {
            if (err)
                memcpy(err, buf + 1, sizeof *err);
            return -1;
        }
        buf[n] = 0;
        for (ssize_t at = 0; at < n; at += (ssize_t)strlen(buf + at) + 1)
            hrun_strvec_push(&env[r], buf + at);
    }
    return 0;
}

int hrun_guard_start(const struct hrun_guard_spec *spec, struct hrun_strvec *env, int *fds, struct hrun_guard *g,
                     struct hrun_error *err)
{
    struct hrun_guard made = HRUN_GUARD_INIT;
    int pair[2], speaks_pmi = spec->nranks && spec->mpich;
    const struct hrun_pmi_owner owner = { .report = send_event, .ctx = &pair[1] };
    struct hrun_pmi *pmi = speaks_pmi ? hrun_pmi_create(spec->layout, spec->apps, &owner) : NULL;
    pid_t parent = getpid();
    sigset_t all, old;

    if (pmi && hrun_pmi_connect(pmi, fds, err)) {
        hrun_pmi_destroy(pmi);
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        hrun_pmi_destroy(pmi);
        return hrun_fail_errno(err, HRUN_EIO, "cannot make a socket pair");
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);     /* a signal to hrun's group must not end the guard */
    made.pid = fork();
    if (made.pid == 0) {
        guard_main(spec, pair[1], pmi, parent);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    hrun_pmi_destroy(pmi);
    close(pair[1]);
    made.sock = pair[0];
    if (made.pid < 0) {
        hrun_fail_errno(err, HRUN_EIO, "cannot start a process");
        close(pair[0]);
        return -1;
    }
    *g = made;
    return speaks_pmi ? 0 : receive_all(made.sock, spec->nranks, env, err);
}

void hrun_guard_tell(struct hrun_guard *g, int first, const pid_t *pids, int n)
{
    enum { CHUNK = 1024 };
    pid_t out[CHUNK + 2];

    for (int at = 0; at < n; at += CHUNK) {
        int m = n - at < CHUNK ? n - at : CHUNK;
        out[0] = STARTED;
        out[1] = first + at;
        memcpy(out + 2, pids + at, (size_t)m * sizeof *pids);
        send(g->sock, out, (size_t)(m + 2) * sizeof *out, MSG_NOSIGNAL);
    }
}

int hrun_guard_serve(struct hrun_guard *g, const struct hrun_buf *words, struct hrun_error *err)
{
    int kind = SERVE;
    struct iovec pieces[] = { { &kind, sizeof kind }, { words->data, words->len } };
    struct msghdr m = { .msg_iov = pieces, .msg_iovlen = 2 };

    if (words->len > PACKET_MAX - sizeof kind)
        return hrun_fail(err, HRUN_EINVAL, "the core lists of the new processes exceed %d bytes: spawn fewer "
                         "processes at a time", PACKET_MAX);
    while (sendmsg(g->sock, &m, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
    return 0;
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
    kill(g->pid, SIGKILL);  /* PMIx's finalization is not needed, and slow */
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    g->pid = -1;
    g->sock = -1;
}
