/* shim.h - hrun-shim, the small program that does hrun's work on other hosts
 *
 * It is installed beside hrun, at the same path on every host, links nothing but the C library and starts in a
 * millisecond. Modes:
 *   hrun-shim rank PROGRAM ARGUMENT...
 *       In front of a rank: binds itself as HRUN_RANKS says, sets OMP_NUM_THREADS, reports, becomes PROGRAM; or,
 *       with "tell" in HRUN_RANKS_DO, the parent of PROGRAM, which tells how it ends.
 *   hrun-shim agent LIMIT_S REPORTER N AGENT OPTION... HOST COMMAND...
 *       In front of the remote shell of mpirun (N words AGENT OPTION...): runs it, passes what it writes on as standard
 *       error (no program writes there), and tells hrun through the FIFO $HRUN_NOTES (lib/launch) what becomes
 *       of the host. LIMIT_S: the seconds that the host has to report that it is up. REPORTER: "host", mode `host` runs
 *       there; "proxy", the same, and standard input and output are those of hrun and of mode `proxy`; "shell", a word
 *       put before COMMAND, for a shell to understand, tells that the host was reached; "nobody". Without a FIFO (on
 *       another host, where a daemon starts further daemons) it says on standard error what failed.
 *   hrun-shim host JOB HOW FINGERPRINTS DAEMON ARGUMENT...
 *       On another host, in front of Open MPI's daemon: refuses a host that is not what the plan was made for
 *       (its fingerprint must be in the list; "-" accepts any), or that has no room for temporary files; gives the
 *       daemon private folders; stays, and when the daemon has ended or the connection is gone, ends all that came of
 *       it and removes the folders. HOW: "reports" (an agent listens on standard error) or "alone".
 *   hrun-shim proxy START
 *       On each host of a job of engine ssh: reads frames (lib/launch/frames.h) from standard input, starts the ranks
 *       that they name, each through mode `rank`, and relays PMI, output, input, signals and ends until the last rank
 *       has ended; then it ends what the ranks have left behind. When hrun goes away it ends all at once. START is any
 *       word.
 *   hrun-shim fold COMMAND ARGUMENT...
 *       For srun: runs COMMAND and prints its output in lines of at most 801 characters, the last of which tells
 *       whether the line of COMMAND ends (.) or goes on (\), and behind them =STATUS.
 * Exit statuses of its own: 125 it failed, 126 and 127 as env(1).
 */
#ifndef HRUN_SHIM_H
#define HRUN_SHIM_H

#include <signal.h>
#include <sys/types.h>

enum { SHIM_FAILED = 125, SHIM_NOEXEC = 126, SHIM_NOPROG = 127 };

/* What `host` tells `agent`, as lines of standard error: SHIM_MARK, one of the words, and what belongs to it. */
#define SHIM_MARK "hrun-shim:"
#define SHIM_UP "up"                /* the daemon is about to be started */
#define SHIM_CHANGED "changed"      /* the fingerprint is not in the list */
#define SHIM_REFUSED "refused "     /* and why */
#define SHIM_NOTE "note "           /* and a note of a rank (launch/notes.h) */
#define SHIM_BYE "bye "             /* and the daemon's status, as of a shell: all has been cleaned up */

/* Each takes the words behind its mode, NULL-terminated, and returns an exit status. */
int shim_rank(char **words);
int shim_fold(char **words);
int shim_agent(char **words);
int shim_host(char **words);
int shim_proxy(char **words);

/* In host.c. Signals that have come through sigfd: 1 when one of them ends us. */
int shim_told_to_end(int sigfd);
/* sig (0: none) to all that came of this process; how many live. */
int shim_signal_rest(int sig);
/* End all that came of this process: SIGTERM, patience, SIGKILL until nothing is left. 1 when child was among them:
 * *status is its wait status. */
int shim_end_rest(int sigfd, pid_t child, int patience_ms, int *status);

/* Block SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCHLD and, with broken_pipes = 1, SIGPIPE; *old gets the mask before.
 * Result: a descriptor from which they are read without waiting, or -1. */
int shim_signal_fd(int broken_pipes, sigset_t *old);
/* The exit status for a wait status, as a shell has it. */
int shim_exit_status(int status);
/* In a child: become the program, or say why not. */
_Noreturn void shim_become(char **words);
/* Monotonic clock. */
double shim_now_s(void);

/* One line "hrun: HOST: ..." on standard error, in one write. */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
