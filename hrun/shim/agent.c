/* agent.c - in front of the remote shell of mpirun; see shim.h and lib/launch/notes.h */
#include "shim.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "launch/notes.h"
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LINE_MAX_KEPT = 4096,       /* a longer line is passed on in pieces */
    WORDS_KEPT = 512,           /* bytes of the last line, for the message */
    PATIENCE_MS = 500,          /* from SIGTERM to SIGKILL */
    LINGER_MS = 500             /* hrun gets a failure this much earlier than mpirun */
};

/* The part that reports that the host was reached. PROXY: as HOST, with frames of mode `proxy` on standard output. */
enum reporter { NOBODY, SHELL, HOST, PROXY, REPORTERS };
static const char *const reporters[REPORTERS] = { [NOBODY] = "nobody", [SHELL] = "shell", [HOST] = "host",
                                                  [PROXY] = "proxy" };

/* Works in shells of all kinds. */
static const char SHELL_UP[] = "sh -c 'echo " SHIM_MARK SHIM_UP " >&2' ;";

struct watched_agent {
    const char *host;
    int notes;                  /* FIFO, -1: none */
    double limit_s;
    enum reporter reporter;
    pid_t pid;                  /* 0: it has been waited for */
    int errs, sigfd;
    int up, failed, ended;      /* 1: the host is up; its failure, its end has been reported */
    int bye;                    /* exit status of the daemon, -1: not reported */
    struct hrun_buf line;       /* unfinished */
    char last[WORDS_KEPT];      /* the last line with words on it */
};

/* Write a note; without a FIFO print it on standard error, which other hosts pass on to the user. */
static void send_note(const struct watched_agent *a, enum hrun_note kind, int number, const char *text)
{
    static const char *const plain[HRUN_NOTE_KINDS] = {
        [HRUN_NOTE_CHANGED] = "offers other resources or another MPI than when hrun last asked: run again with "
                              "--refresh",
        [HRUN_NOTE_REFUSED] = "cannot take part: ", [HRUN_NOTE_LATE] = "was not ready in time; limit in seconds: ",
        [HRUN_NOTE_FAILED] = "cannot be reached: ", [HRUN_NOTE_LOST] = "was lost: ",
    };

    if (a->notes >= 0)
        hrun_note_write(a->notes, kind, a->host, number, text);
    else if (plain[kind])
        shim_say("host '%s' %s%s", a->host, plain[kind], text);
}

/* Report how the agent ended. ssh exits with 255 if it has no connection, else with the status of the command. */
static void report_agent_end(struct watched_agent *a, int status)
{
    int cut_off = status == 255 || status >= 128;

    if (a->ended)
        return;
    a->ended = 1;
    if (a->failed || (a->bye >= 0 && a->bye < 128))
        send_note(a, HRUN_NOTE_ENDED, status, "");
    else if (a->reporter != NOBODY && !a->up)
        send_note(a, HRUN_NOTE_FAILED, status, a->last);
    else if (a->bye >= 128)
        send_note(a, HRUN_NOTE_CRASHED, a->bye - 128, a->last);
    else if (a->reporter < HOST && !cut_off)
        send_note(a, HRUN_NOTE_ENDED, status, "");
    else
        send_note(a, a->reporter == NOBODY ? HRUN_NOTE_FAILED : HRUN_NOTE_LOST, status, a->last);
}

/* ---------------------------------------------------------------- output of the other host */

static void write_error(const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;     /* there is no reader */
        data += n;
        len -= (size_t)n;
    }
}

/* Handle a report of shim_host, or of the shell command before COMMAND. After SHIM_BYE the host is clean, and the
 * remote shell is ended, because ssh would close the connection later. 1, or 0 if it is not a report. */
static int handle_host_report(struct watched_agent *a, const char *word)
{
    struct hrun_note_read n;

    if (!strcmp(word, SHIM_UP)) {
        if (!a->up)
            send_note(a, HRUN_NOTE_UP, 0, "");
        a->up = 1;
    } else if (!strcmp(word, SHIM_CHANGED)) {
        a->failed = 1;
        send_note(a, HRUN_NOTE_CHANGED, 0, "");
    } else if (!strncmp(word, SHIM_REFUSED, strlen(SHIM_REFUSED))) {
        a->failed = 1;
        send_note(a, HRUN_NOTE_REFUSED, 0, word + strlen(SHIM_REFUSED));
    } else if (!strncmp(word, SHIM_NOTE, strlen(SHIM_NOTE))) {
        if (hrun_note_parse(word + strlen(SHIM_NOTE), &n) == 0 && a->notes >= 0)
            hrun_note_write(a->notes, n.kind, n.host, n.number, n.text);
    } else if (!strncmp(word, SHIM_BYE, strlen(SHIM_BYE))) {
        a->bye = (int)strtol(word + strlen(SHIM_BYE), NULL, 10);
        report_agent_end(a, a->bye);
        if (a->pid > 0 && a->reporter != PROXY)     /* frames may be on their way */
            kill(a->pid, SIGTERM);
    } else {
        return 0;
    }
    return 1;
}

/* Pass on a line, with its newline if it has one, or a piece of a line. */
static void pass_agent_line(void *ctx, char *line, size_t len)
{
    struct watched_agent *a = ctx;
    size_t words = len;

    /* A report may follow text without a newline. */
    if (a->reporter != NOBODY && line[len - 1] == '\n') {
        line[len - 1] = 0;
        for (char *mark = line; (mark = strstr(mark, SHIM_MARK)); mark++)
            if (handle_host_report(a, mark + strlen(SHIM_MARK))) {
                write_error(line, (size_t)(mark - line));
                return;
            }
        line[len - 1] = '\n';
    }
    write_error(line, len);
    while (words > 0 && strchr(" \t\r\n", line[words - 1]))
        words--;
    if (words > 0)
        snprintf(a->last, sizeof a->last, "%.*s", (int)words, line);
}

static void read_agent_errors(struct watched_agent *a)
{
    char chunk[4096];
    ssize_t n = -1;

    while (a->errs >= 0 && ((n = read(a->errs, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            hrun_lines_feed(&a->line, LINE_MAX_KEPT, chunk, (size_t)n, pass_agent_line, a);
    if (n == 0)
        hrun_close_fd(&a->errs);
}

/* ---------------------------------------------------------------- the agent's life */

static int start_agent_command(struct watched_agent *a, char **words)
{
    int errs[2];
    sigset_t old;

    a->sigfd = shim_signal_fd(0, &old);
    if (a->sigfd < 0 || pipe2(errs, O_CLOEXEC))
        return -1;
    fcntl(errs[0], F_SETFL, O_NONBLOCK);
    a->pid = fork();
    if (a->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (a->reporter != PROXY)
            dup2(errs[1], STDOUT_FILENO);   /* mpirun's own carries the program's output */
        dup2(errs[1], STDERR_FILENO);
        sigprocmask(SIG_SETMASK, &old, NULL);
        shim_become(words);
    }
    close(errs[1]);
    a->errs = errs[0];
    return a->pid < 0 ? -1 : 0;
}

/* Fork, and return in the child. The parent, which mpirun watches, waits and passes signals on. Without the parent
 * mpirun would kill the agent before it reports the host's end (version 4 if the program failed, version 5 if a host
 * was lost), and version 5 would print a message on standard output about an agent that fails. */
static void fork_watched_parent(void)
{
    sigset_t all, old;
    siginfo_t info;
    int status;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    pid = fork();
    if (pid <= 0) {
        sigprocmask(SIG_SETMASK, &old, NULL);
        return;
    }
    while (waitpid(pid, &status, WNOHANG) != pid)
        if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
            kill(pid, info.si_signo);
    if (status)
        poll(NULL, 0, LINGER_MS);
    _exit(shim_exit_status(status));
}

/* Pass signals on to the agent; those of the terminal reach it directly. */
static void pass_signals(struct watched_agent *a)
{
    struct signalfd_siginfo info;

    while (read(a->sigfd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL) {
            a->failed = 1;    /* later failures are not the host's fault */
            kill(a->pid, (int)info.ssi_signo);
        }
}

static int has_command_exited(const struct watched_agent *a)
{
    siginfo_t end = { 0 };

    return waitid(P_PID, (id_t)a->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == a->pid;
}

static void give_up_host(struct watched_agent *a)
{
    struct pollfd p = { a->sigfd, POLLIN, 0 };
    double end_s;
    char text[64];

    snprintf(text, sizeof text, "%g", a->limit_s);
    send_note(a, HRUN_NOTE_LATE, 0, text);
    a->failed = 1;
    kill(a->pid, SIGTERM);
    kill(a->pid, SIGCONT);
    end_s = shim_now_s() + PATIENCE_MS * 1e-3;
    while (!has_command_exited(a) && shim_now_s() < end_s) {
        poll(&p, 1, 10);
        pass_signals(a);
    }
    kill(a->pid, SIGKILL);
}

/* Wait until the agent has exited. Result: its wait status. */
static int watch_agent(struct watched_agent *a)
{
    double late_s = shim_now_s() + a->limit_s;
    int status = 0;

    while (!has_command_exited(a)) {
        struct pollfd p[2] = { { a->sigfd, POLLIN, 0 }, { a->errs, POLLIN, 0 } };
        int waits = a->reporter != NOBODY && !a->up && !a->failed;
        double left_s = late_s - shim_now_s();

        if (waits && left_s <= 0) {
            give_up_host(a);
            break;
        }
        if (poll(p, 2, waits ? (int)(left_s * 1000) + 1 : -1) < 0 && errno != EINTR)
            break;
        pass_signals(a);
        read_agent_errors(a);
    }
    while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
        ;
    a->pid = 0;
    read_agent_errors(a);
    if (a->line.len)
        pass_agent_line(a, a->line.data, a->line.len);
    return status;
}

int shim_agent(char **words)
{
    struct watched_agent a = { .notes = -1, .bye = -1, .line = HRUN_BUF_INIT };
    const char *path = getenv(HRUN_NOTES_VARIABLE);
    int n = 0, count = 0, status;
    char **command;

    while (words[count])
        count++;
    while (count > 1 && a.reporter < REPORTERS && strcmp(words[1], reporters[a.reporter]))
        a.reporter++;
    if (count > 2)
        n = (int)strtol(words[2], NULL, 10);
    if (n < 1 || count < n + 4 || a.reporter == REPORTERS) {
        shim_say("hrun-shim agent: words are missing");
        return SHIM_FAILED;
    }
    /* mpirun may ask which shell a host has (plm_rsh_assume_same_shell), and reads the answer from standard output. */
    command = words + 3 + n + 1;
    if (command[0] && !strcmp(command[0], "echo $SHELL") && !command[1])
        shim_become(words + 3);
    if (getenv(HRUN_NOTES_KILLER_VARIABLE))
        fork_watched_parent();
    a.limit_s = strtod(words[0], NULL);
    a.host = words[3 + n];
    command = words + 3;
    if (a.reporter == SHELL) {      /* AGENT OPTION... HOST SHELL_UP COMMAND... */
        command = xcalloc((size_t)count - 1, sizeof *command);
        for (int i = 0; i < count - 3; i++)
            command[i + (i > n)] = words[3 + i];
        command[n + 1] = (char *)(uintptr_t)SHELL_UP;
    }
    if (path)
        a.notes = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    send_note(&a, HRUN_NOTE_BEGUN, 0, "");
    if (start_agent_command(&a, command)) {
        shim_say("hrun-shim agent: %s", strerror(errno));
        return SHIM_FAILED;
    }
    status = shim_exit_status(watch_agent(&a));
    if (command != words + 3)
        free(command);
    report_agent_end(&a, status);
    hrun_buf_release(&a.line);
    return a.bye >= 0 ? a.bye : status;
}
