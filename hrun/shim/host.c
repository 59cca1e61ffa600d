/* host.c - on another host, around Open MPI's daemon; see shim.h
 *
 * The daemon, the ranks and their children descend from this process, which is their subreaper: so processes that leave
 * their process group or session, or ignore signals, are still found. The connection to the agent is lost when standard
 * error or output has no reader; standard input is not used for this, because agents may close it.
 */
#include "shim.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "launch/notes.h"
#include "launch/procs.h"
#include "launch/ranks.h"
#include "launch/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DAEMON_PATIENCE_MS = 3000,  /* mpirun's daemon ends its ranks within two seconds of SIGTERM */
    REST_PATIENCE_MS = 2000,    /* for processes that ranks leave behind, as in launch.h */
    KILLED_MS = 2000,           /* SIGKILL works at once, except on a process stuck in the kernel */
    STEP_MS = 20,
    LOOK_MS = 1000              /* interval of looking for a lost connection, in case poll does not report it */
};

/* Two ranks of Open MPI 4.1.4 were measured to need 8212 KiB: two segments of PMIx's store take 4 MiB each. */
static const unsigned long long ROOM_BYTES = 9ULL << 20;

struct daemon_host {
    int reports;
    char *folder, *shm;         /* shm may be NULL */
    int sigfd;
    struct hrun_words notes;    /* notes of the ranks, from a FIFO */
    sigset_t old_mask;
    pid_t daemon;
};

static void report_to_agent(const struct daemon_host *h, const char *word, const char *text)
{
    char line[2048];
    int n = snprintf(line, sizeof line - 1, "%s%s%s", SHIM_MARK, word, text);

    if (!h->reports)
        return;
    n = n < (int)sizeof line - 1 ? n : (int)sizeof line - 2;
    line[n] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n + 1) < 0)
        return;     /* the daemon will notice */
}

static void pass_note(void *h, char *line)
{
    report_to_agent(h, SHIM_NOTE, line);
}

static int refuse_host_job(const struct daemon_host *h, const char *why)
{
    report_to_agent(h, SHIM_REFUSED, why);
    if (!h->reports)
        shim_say("%s", why);
    return SHIM_FAILED;
}

/* ---------------------------------------------------------------- checks */

/* 1 if the fingerprint of this host is in the comma-separated list, else 0. */
static int matches_fingerprint(const char *list)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    char watched[2048];

    hrun_openmpi_watched(watched, sizeof watched);
    hrun_topo_fingerprint(watched, &b);
    for (const char *p = list; (p = strstr(p, b.data)); p += b.len)
        if ((p == list || p[-1] == ',') && (!p[b.len] || p[b.len] == ','))
            return 1;
    return 0;
}

/* 1 if the fingerprint is in the list, with or without the first folder of PATH, which mpirun may add; else 0. */
static int is_as_planned(const char *list)
{
    const char *path = getenv("PATH");
    autofree char *whole = path ? xstrdup(path) : NULL;
    int rc;

    if (!strcmp(list, "-") || matches_fingerprint(list))
        return 1;
    if (!whole || !strchr(whole, ':'))
        return 0;
    rc = setenv("PATH", strchr(whole, ':') + 1, 1) == 0 && matches_fingerprint(list);
    setenv("PATH", whole, 1);
    return rc;
}

/* Make the private folders. 0, or an exit status after a message. */
static int make_folders(struct daemon_host *h)
{
    const char *base = getenv("TMPDIR");
    struct hrun_error err = { 0 };
    struct statvfs fs;
    char why[1700];

    base = base && *base ? base : "/tmp";
    h->folder = hrun_rundir_create(NULL, &err);
    if (!h->folder) {
        snprintf(why, sizeof why, "its folder for temporary files, %s, cannot be used (%.1000s)", base, err.text);
        return refuse_host_job(h, why);
    }
    if (statvfs(h->folder, &fs) == 0 && fs.f_blocks && (unsigned long long)fs.f_bavail * fs.f_frsize < ROOM_BYTES) {
        snprintf(why, sizeof why, "its folder for temporary files, %s, is full: %llu KiB are free and %llu are needed",
                 base, (unsigned long long)fs.f_bavail * fs.f_frsize >> 10, ROOM_BYTES >> 10);
        return refuse_host_job(h, why);
    }
    h->shm = hrun_rundir_create("/dev/shm", NULL);
    if (!h->reports)
        return 0;
    snprintf(why, sizeof why, "%.1000s/notes", h->folder);
    if (hrun_words_fifo(&h->notes, why) || setenv(HRUN_NOTES_VARIABLE, why, 1)) {
        snprintf(why, sizeof why, "a FIFO cannot be made in %.1000s (%s)", h->folder, strerror(errno));
        return refuse_host_job(h, why);
    }
    return 0;
}

/* ---------------------------------------------------------------- the daemon */

static int start_daemon(struct daemon_host *h, const char *job, char **words)
{
    setenv(HRUN_JOB_VARIABLE, job, 1);
    /* mpirun passes its settings on as arguments "-mca KEY VALUE". Replace hrun's folder for mpirun, whose path ends
     * with the job's name, by that of this host. */
    for (char **w = words; w[0] && w[1] && w[2]; w++)
        if (!strcmp(w[1], "orte_tmpdir_base") || !strcmp(w[1], "prte_tmpdir_base")) {
            char *last = strrchr(w[2], '/');

            if (last && !strcmp(last + 1, job))
                w[2] = h->folder;
            break;
        }
    if (h->shm)
        setenv(HRUN_RANKS_SHM_VARIABLE, h->shm, 1);
    h->sigfd = shim_signal_fd(1, &h->old_mask);
    if (h->sigfd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1))
        return -1;
    report_to_agent(h, SHIM_UP, "");
    h->daemon = fork();
    if (h->daemon == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, &h->old_mask, NULL);
        shim_become(words);
    }
    return h->daemon < 0 ? -1 : 0;
}

int shim_told_to_end(int sigfd)
{
    struct signalfd_siginfo info;
    int end = 0;

    while (read(sigfd, &info, sizeof info) == (ssize_t)sizeof info)
        end |= info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE;
    return end;
}

/* Reap the children that have ended. 1 if child is among them, with its wait status in *status; else 0. */
static int reap_child(pid_t child, int *status)
{
    int one, ended = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &one, WNOHANG)) > 0)
        if (pid == child) {
            *status = one;
            ended = 1;
        }
    return ended;
}

int shim_signal_rest(int sig)
{
    autorelease(hrun_pids_release) struct hrun_pids tree = HRUN_PIDS_INIT;
    int n = 0;

    hrun_procs_tree(getpid(), &tree);
    for (size_t i = 0; i < tree.n; i++)
        if (tree.v[i] != getpid()) {
            n++;
            if (sig) {
                kill(tree.v[i], sig);
                kill(tree.v[i], SIGCONT);   /* a stopped process handles SIGTERM only after SIGCONT */
            }
        }
    return n;
}

int shim_end_rest(int sigfd, pid_t child, int patience_ms, int *status)
{
    struct pollfd p = { sigfd, POLLIN, 0 };
    autorelease(hrun_pids_release) struct hrun_pids children = HRUN_PIDS_INIT;
    double kill_s = shim_now_s() + patience_ms * 1e-3, end_s = kill_s + KILLED_MS * 1e-3;
    int ended = reap_child(child, status), left;

    if (!hrun_procs_children(getpid(), &children) && !children.n)     /* usually; this saves a search of all
                                                                         processes */
        return ended;
    left = shim_signal_rest(SIGTERM);
    while (left && shim_now_s() < end_s) {
        poll(&p, 1, STEP_MS);
        shim_told_to_end(sigfd);
        ended |= reap_child(child, status);
        left = shim_signal_rest(shim_now_s() < kill_s ? 0 : SIGKILL);
    }
    return ended;
}

/* Wait until the daemon has ended, or end it if required. Result: its wait status. */
static int watch_daemon(struct daemon_host *h)
{
    struct pollfd p[4] = { { h->sigfd, POLLIN, 0 }, { STDOUT_FILENO, 0, 0 }, { STDERR_FILENO, 0, 0 },
                           { h->notes.fd, POLLIN, 0 } };
    int status = 0;

    for (;;) {
        if (poll(p, 4, LOOK_MS) < 0 && errno != EINTR)
            return status;
        hrun_words_read(&h->notes, pass_note, h);
        if (reap_child(h->daemon, &status)) {
            shim_end_rest(h->sigfd, h->daemon, REST_PATIENCE_MS, &status);
            return status;
        }
        if (shim_told_to_end(h->sigfd) || ((p[1].revents | p[2].revents) & (POLLERR | POLLHUP))) {
            shim_end_rest(h->sigfd, h->daemon, DAEMON_PATIENCE_MS, &status);
            return status;
        }
    }
}

int shim_host(char **words)
{
    struct daemon_host h = { .sigfd = -1, .daemon = -1, .notes = HRUN_WORDS_INIT };
    char text[16];
    int count = 0, status;

    while (words[count])
        count++;
    if (count < 4) {
        shim_say("hrun-shim host: too few words");
        return SHIM_FAILED;
    }
    h.reports = !strcmp(words[1], "reports");
    if (!is_as_planned(words[2])) {
        report_to_agent(&h, SHIM_CHANGED, "");
        if (!h.reports)
            shim_say("this host offers other resources or another MPI than when hrun last asked: run again with "
                     "--refresh");
        return SHIM_FAILED;
    }
    status = make_folders(&h);
    if (status == 0 && start_daemon(&h, words[0], words + 3))
        status = refuse_host_job(&h, strerror(errno));
    else if (status == 0) {
        status = shim_exit_status(watch_daemon(&h));
    }
    hrun_words_read(&h.notes, pass_note, &h);
    hrun_words_close(&h.notes);
    hrun_remove_tree(h.folder);
    hrun_remove_tree(h.shm);
    free(h.folder);
    free(h.shm);
    if (h.daemon > 0) {
        snprintf(text, sizeof text, "%d", status);
        report_to_agent(&h, SHIM_BYE, text);
    }
    return status;
}
