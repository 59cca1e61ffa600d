/* shim_agent.c - in front of the remote shell of mpirun; see shim.h and lib/launch/notes.h */
#include "shim.h"

#include "base/buf.h"
#include "launch/notes.h"

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
#include <time.h>
#include <unistd.h>

enum {
    LINE_MAX_KEPT = 4096,       /* a longer line is passed on in pieces */
    WORDS_KEPT = 512,           /* of the last line, for the message */
    PATIENCE_MS = 500           /* from SIGTERM to SIGKILL */
};

struct agent {
    const char *host;
    int notes;                  /* FIFO, -1: none */
    double limit_s;             /* 0: no report is expected */
    pid_t pid;
    int errs, sigfd;
    int up, told;               /* told: why it fails has been said */
    int bye;                    /* status of the daemon there, -1: not said */
    struct hrun_buf line;       /* unfinished */
    char last[WORDS_KEPT];      /* the last line with words on it */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(const struct agent *a, enum hrun_note kind, int number, const char *text)
{
    if (a->notes >= 0)
        hrun_note_write(a->notes, kind, a->host, number, text);
}

/* ---------------------------------------------------------------- what comes from the other host */

static void pass_on(const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;     /* nobody reads it */
        data += n;
        len -= (size_t)n;
    }
}

/* A report of shim_host. */
static void hear(struct agent *a, const char *word)
{
    if (!strcmp(word, SHIM_UP)) {
        a->up = 1;
        note(a, HRUN_NOTE_UP, 0, "");
    } else if (!strcmp(word, SHIM_CHANGED)) {
        a->told = 1;
        note(a, HRUN_NOTE_CHANGED, 0, "");
    } else if (!strncmp(word, SHIM_REFUSED, strlen(SHIM_REFUSED))) {
        a->told = 1;
        note(a, HRUN_NOTE_REFUSED, 0, word + strlen(SHIM_REFUSED));
    } else if (!strncmp(word, SHIM_BYE, strlen(SHIM_BYE))) {
        a->bye = (int)strtol(word + strlen(SHIM_BYE), NULL, 10);
    }
}

/* One line, or a piece of one, ended by a newline where it has one. */
static void take_line(struct agent *a, char *line, size_t len)
{
    size_t words = len;

    if (a->limit_s > 0 && len > strlen(SHIM_MARK) && line[len - 1] == '\n' &&
        !strncmp(line, SHIM_MARK, strlen(SHIM_MARK))) {
        line[len - 1] = 0;
        hear(a, line + strlen(SHIM_MARK));
        return;
    }
    pass_on(line, len);
    while (words > 0 && strchr(" \t\r\n", line[words - 1]))
        words--;
    if (words > 0)
        snprintf(a->last, sizeof a->last, "%.*s", (int)words, line);
}

static void take(struct agent *a, const char *data, size_t len)
{
    while (len > 0) {
        const char *nl = memchr(data, '\n', len);
        size_t part = nl ? (size_t)(nl - data) + 1 : len;

        hrun_buf_add(&a->line, data, part);
        if (!a->line.failed && (nl || a->line.len >= LINE_MAX_KEPT)) {
            take_line(a, a->line.data, a->line.len);
            hrun_buf_reset(&a->line);
        }
        data += part;
        len -= part;
    }
}

static void drain(struct agent *a)
{
    char chunk[4096];
    ssize_t n;

    while (a->errs >= 0 && ((n = read(a->errs, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            take(a, chunk, (size_t)n);
    if (a->errs >= 0 && n == 0) {
        close(a->errs);
        a->errs = -1;
    }
}

/* ---------------------------------------------------------------- the agent's life */

static int start(struct agent *a, char **words)
{
    static const int heard[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCHLD };
    int errs[2];
    sigset_t set, old;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        sigaddset(&set, heard[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    a->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (a->sigfd < 0 || pipe2(errs, O_CLOEXEC))
        return -1;
    fcntl(errs[0], F_SETFL, O_NONBLOCK);
    a->pid = fork();
    if (a->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(errs[1], STDERR_FILENO);
        sigprocmask(SIG_SETMASK, &old, NULL);
        execvp(words[0], words);
        shim_say("cannot start %s: %s", words[0], strerror(errno));
        _exit(SHIM_NOPROG);
    }
    close(errs[1]);
    a->errs = errs[0];
    return a->pid < 0 ? -1 : 0;
}

/* Signals go on to the agent; those of the terminal reach it without us. */
static void pass_signals(struct agent *a)
{
    struct signalfd_siginfo info;

    while (read(a->sigfd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL) {
            a->told = 1;    /* what follows is no fault of the host */
            kill(a->pid, (int)info.ssi_signo);
        }
}

static int has_exited(const struct agent *a)
{
    siginfo_t end = { 0 };

    return waitid(P_PID, (id_t)a->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == a->pid;
}

static void give_up(struct agent *a)
{
    struct pollfd p = { a->sigfd, POLLIN, 0 };
    char text[64];

    snprintf(text, sizeof text, "%g", a->limit_s);
    note(a, HRUN_NOTE_LATE, 0, text);
    a->told = 1;
    kill(a->pid, SIGTERM);
    kill(a->pid, SIGCONT);
    for (double end_s = now_s() + PATIENCE_MS * 1e-3; !has_exited(a) && now_s() < end_s; pass_signals(a))
        poll(&p, 1, 10);
    kill(a->pid, SIGKILL);
}

/* Until the agent has exited. Result: its wait status. */
static int live(struct agent *a)
{
    double late_s = now_s() + a->limit_s;
    int status = 0;

    while (!has_exited(a)) {
        struct pollfd p[2] = { { a->sigfd, POLLIN, 0 }, { a->errs, POLLIN, 0 } };
        int waits = a->limit_s > 0 && !a->up && !a->told;
        double left_s = late_s - now_s();

        if (waits && left_s <= 0) {
            give_up(a);
            break;
        }
        if (poll(p, 2, waits ? (int)(left_s * 1000) + 1 : -1) < 0 && errno != EINTR)
            break;
        pass_signals(a);
        drain(a);
    }
    while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
        ;
    drain(a);
    if (a->line.len)
        take_line(a, a->line.data, a->line.len);
    return status;
}

/* ssh ends with 255 when it has no connection, and with the status of the command else. */
static void conclude(const struct agent *a, int status)
{
    if (a->told || (a->bye >= 0 && a->bye < 128) || (a->limit_s <= 0 && status != 255 && status < 128))
        note(a, HRUN_NOTE_ENDED, status, "");
    else if (a->limit_s > 0 && !a->up)
        note(a, HRUN_NOTE_FAILED, status, a->last);
    else if (a->bye >= 128)
        note(a, HRUN_NOTE_CRASHED, a->bye - 128, a->last);
    else
        note(a, HRUN_NOTE_LOST, status, a->last);
}

int shim_agent(char **words)
{
    struct agent a = { .notes = -1, .bye = -1, .line = HRUN_BUF_INIT };
    const char *path = getenv(HRUN_NOTES_VARIABLE);
    int n = words[0] && words[1] ? (int)strtol(words[1], NULL, 10) : 0, count = 0, status;

    while (words[count])
        count++;
    if (n < 1 || count < n + 3) {
        shim_say("hrun-shim agent: too few words");
        return SHIM_FAILED;
    }
    a.limit_s = strtod(words[0], NULL);
    a.host = words[2 + n];
    if (path)
        a.notes = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    note(&a, HRUN_NOTE_BEGUN, 0, "");
    if (start(&a, words + 2)) {
        shim_say("hrun-shim agent: %s", strerror(errno));
        return SHIM_FAILED;
    }
    status = live(&a);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    conclude(&a, status);
    hrun_buf_release(&a.line);
    return status;
}
