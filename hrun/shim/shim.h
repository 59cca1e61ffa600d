/* shim.h - hrun-shim, the small program that performs hrun's work on other hosts
 *
 * It is installed beside hrun, at the same path on every host, links only the C library and starts in a millisecond.
 * Modes:
 *   hrun-shim rank PROGRAM ARGUMENT...
 *       In front of a rank: binds itself according to HRUN_RANKS, sets OMP_NUM_THREADS, reports, and executes PROGRAM.
 *       With "tell" in HRUN_RANKS_DO it stays as the parent of PROGRAM, and reports how that ends.
 *   hrun-shim agent LIMIT_S REPORTER N AGENT OPTION... HOST COMMAND...
 *       In front of the remote shell of mpirun (N words AGENT OPTION...): runs the shell, passes its output on as
 *       standard error, and reports events of the host to hrun through the FIFO $HRUN_NOTES (lib/launch). LIMIT_S: the
 *       seconds until the host must report that it is up. REPORTER says what reports this: "host": mode `host`;
 *       "proxy": mode `proxy`, which standard input and output connect to hrun; "shell": a shell command put before
 *       COMMAND; "nobody": nothing. Without a FIFO (on another host, where a daemon starts further daemons) the agent
 *       reports failures on standard error.
 *   hrun-shim host JOB HOW FINGERPRINTS DAEMON ARGUMENT...
 *       On another host, in front of Open MPI's daemon: refuses a host that has changed since the plan was made (its
 *       fingerprint must be in the list; "-" accepts any), or that has no room for temporary files; gives the daemon
 *       private folders; when the daemon has ended or the connection is lost, ends all descendants and removes the
 *       folders. HOW: "reports" (an agent reads standard error) or "alone".
 *   hrun-shim proxy START
 *       On each host of a job of engine ssh: reads frames (lib/launch/frames.h) from standard input, starts the ranks
 *       that they describe, each through mode `rank`, and relays PMI, output, input, signals and exit statuses until
 *       the last rank has ended; then it ends the processes that the ranks have left behind. If hrun ends, it ends all
 *       processes at once. START is any word.
 *   hrun-shim fold COMMAND ARGUMENT...
 *       For srun: runs COMMAND and prints its output in lines of at most 801 characters. The last character of a line
 *       is "." if the line of COMMAND ends there, "\" if it goes on. At the end it prints =STATUS.
 * Its own exit statuses: 125 for a failure of hrun-shim, 126 and 127 as env(1).
 */
#ifndef HRUN_SHIM_H
#define HRUN_SHIM_H

#include <signal.h>
#include <sys/types.h>

enum { SHIM_FAILED = 125, SHIM_NOEXEC = 126, SHIM_NOPROG = 127 };

/* Reports from `host` to `agent`, lines on standard error: SHIM_MARK, one of these words, and its argument. */
#define SHIM_MARK "hrun-shim:"
#define SHIM_UP "up"                /* the daemon is about to be started */
#define SHIM_CHANGED "changed"      /* the fingerprint is not in the list */
#define SHIM_REFUSED "refused "     /* the reason */
#define SHIM_NOTE "note "           /* a note of a rank (launch/notes.h) */
#define SHIM_BYE "bye "             /* the daemon's exit status as in a shell; the host is cleaned up */

/* Run a mode. words: those after the mode, NULL-terminated. Result: exit status. */
int shim_rank(char **words);
int shim_fold(char **words);
int shim_agent(char **words);
int shim_host(char **words);
int shim_proxy(char **words);

/* In host.c. Read the signals from sigfd. 1 if one of them tells this process to end, else 0. */
int shim_told_to_end(int sigfd);
/* Send sig (0: none) to all descendants of this process. Result: number of those alive. */
int shim_signal_rest(int sig);
/* End all descendants of this process: SIGTERM, after patience_ms SIGKILL until none is left. 1 if child was among
 * them, with its wait status in *status; else 0. */
int shim_end_rest(int sigfd, pid_t child, int patience_ms, int *status);

/* Block SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCHLD and, with broken_pipes = 1, SIGPIPE; *old gets the mask before.
 * Result: a descriptor to read them from without waiting, or -1. */
int shim_signal_fd(int broken_pipes, sigset_t *old);
/* The exit status for a wait status, as in a shell. */
int shim_exit_status(int status);
/* In a child: execute the program, or print the reason of the failure and exit. */
_Noreturn void shim_become(char **words);
/* Seconds of the monotonic clock. */
double shim_now_s(void);

/* Write a line "hrun: HOST: ..." to standard error, in one write. */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
