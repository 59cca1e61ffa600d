/* job.h - the life of a job's processes on this host, the same for all engines
 *
 * Purpose: start the processes, pass signals and output on, enforce the time limits, find out how the job ended, and
 * clean up. An engine fills a struct hrun_driver with its own functions.
 * Invariants: while the job runs, the calling thread blocks the signals of the job. hrun_run_job restores all that it
 * has changed, on every path, and leaves no process or folder of the job.
 */
#ifndef HRUN_LAUNCH_JOB_H
#define HRUN_LAUNCH_JOB_H

#include "launch/guard.h"
#include "launch/launch.h"
#include "launch/output.h"
#include "launch/procs.h"
#include "launch/signals.h"
#include "launch/spawn.h"
#include "launch/words.h"

#include <poll.h>
#include <sys/types.h>

struct hrun_proc {
    pid_t pid;                   /* 0: a rank on another host; the driver reports its end by hrun_run_ended */
    int own_group;               /* 0: in hrun's own process group, see gets_own_group in job.c */
    int alive;
    int connected;               /* PMIx: connected and not finalized */
    int was_connected;           /* PMIx: connected at some time */
};

struct hrun_run;

/* How an engine runs a job. All functions except start may be NULL; abandon is set if watch is. */
struct hrun_driver {
    /* Kind of the processes. A process of all ranks (smpi) and proxies (ssh) have none of the first four bits. */
    unsigned serves : 1;         /* ranks that the guard serves; start() starts the guard itself */
    unsigned is_launcher : 1;    /* one process that starts the ranks: it enters the job's folder itself, and gets
                                    SIGTERM when hrun dies */
    unsigned passes_signals : 1; /* a launcher that gets each signal, passes it on, and itself gives the ranks time to
                                    end; it may read the terminal */
    unsigned is_plain : 1;       /* one process that is not a rank and may use any MPI */
    unsigned mpich : 1;          /* hrun serves PMI-1 to programs of MPICH's family */
    int grace_ms;                /* time from SIGTERM to SIGKILL if hrun is killed */
    /* Starts the ranks or their launcher. Not NULL. */
    int (*start)(struct hrun_run *r, struct hrun_error *err);
    /* Called when all has ended without an error: checks out->status against the engine's other reports. */
    int (*check_end)(struct hrun_run *r, struct hrun_error *err);
    /* Ends everything that start has started except r->procs. Called on every path. */
    void (*release)(struct hrun_run *r);
    /* Sends a signal to all ranks; SIGKILL ends them now. NULL: kill(2) does it. */
    void (*signal)(struct hrun_run *r, int sig);
    /* Called for each line from r->words, without its end. The words are the standard error of a launcher; other
     * processes write to words.child_fd. */
    void (*on_line)(struct hrun_run *r, char *line);
    /* Called when due.verdict_s has come. */
    void (*on_verdict)(struct hrun_run *r);
    /* Called when a process has ended with this wait status and all its words are read. NULL: each process is a
     * rank. */
    void (*ended)(struct hrun_run *r, int status);
    /* Called when watch_fd can be read, or a process has ended. Result: number of helpers (agents to other hosts) that
     * still run. When all processes have ended, hrun waits a few seconds for these, then calls abandon. */
    int (*watch)(struct hrun_run *r);
    void (*abandon)(struct hrun_run *r);
    /* Called with events HRUN_GUARD_SPAWN and later kinds, and with ev = NULL after each step of the loop. */
    void (*spawn)(struct hrun_run *r, const struct hrun_guard_event *ev);
};

struct hrun_family {
    struct hrun_pids groups;     /* process groups made for the job */
    struct hrun_pids strangers;  /* children that the caller had before the job */
    int old_subreaper;
};

/* How the output is passed on; see hrun_output_create and hrun_output_release. */
struct hrun_output_style {
    enum hrun_tagging tagging;
    int hold;
    char noise[64];
};

/* Why and when the job ends. */
struct hrun_ending {
    int failed;                  /* 1: a failure has been recorded in out */
    int broken;                  /* 1: the engine has failed, r->err contains the reason */
    int timed_out;
    int signal;                  /* the last of INT, TERM, HUP, QUIT that hrun got, or 0 */
    double signal_s;             /* when it came */
    double kill_s;               /* when SIGKILL is due; 0: the job is not being ended. Set with failed, broken and
                                    timed_out, by a signal before begun_s, and by a second signal */
    int killed;                  /* 1: SIGKILL has been sent */
};

/* Times of the monotonic clock; 0: none. */
struct hrun_due {
    double verdict_s, spawn_s;   /* when on_verdict and spawn are called */
    double look_s;               /* when to look for another MPI library; infinite: never */
};

struct hrun_run {
    const struct hrun_driver *driver;
    void *state;                 /* for the driver's functions */
    struct hrun_reach *reach;    /* connections to other hosts (engines mpirun and ssh) */
    const struct hrun_job *job;
    struct hrun_outcome *out;
    struct hrun_error *err;      /* filled when the engine fails while the job runs */

    /* Made before the driver's start. */
    struct hrun_guard_spec own;  /* folders and mark of the job */
    struct hrun_guard guard;
    struct hrun_family family;
    struct hrun_signals signals;
    struct hrun_words words;     /* closed unless the driver has on_line */

    struct hrun_output_style style;
    struct hrun_output *output;
    struct pollfd *polled;       /* the entries for poll(2) */
    struct hrun_proc *procs;
    int nprocs, nalive;
    double start_s;              /* monotonic clock */

    int watch_fd;                /* -1: none */
    int paused;                  /* 1: watch is also called when the output has room */
    struct hrun_ending ending;
    struct hrun_due due;
    double begun_s;              /* before this time some ranks may not exist yet: signals that do not end the job are
                                    held back, and a launcher that does not end after a signal is killed */
    unsigned long held;          /* signals held back: 1 << number */
};

/* Run job from start to end. The guard is started before driver->start, unless the driver serves. reach may be NULL.
 * 0; -1 with *err if the engine failed. */
int hrun_run_job(const struct hrun_driver *driver, void *state, struct hrun_reach *reach, const struct hrun_job *job,
                 struct hrun_outcome *out, struct hrun_error *err);

/* ---- for start and spawn */

/* Make room for nprocs processes and the pipes of their output. hrun_run_start calls it if the engine has not. */
int hrun_run_prepare(struct hrun_run *r, int nprocs, struct hrun_error *err);
/* Write a file into the job's folder. Result: its path, which the caller frees; NULL with HRUN_EIO. */
char *hrun_run_write(const struct hrun_run *r, const char *name, const struct hrun_buf *text, struct hrun_error *err);
/* Start nprocs processes. Sets their fds (process 0 gets the job's standard input, others /dev/null), and wdir to the
 * job's if it is NULL. Calls on_start on success. Errors: those of hrun_spawn. */
int hrun_run_start(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int nprocs,
                   struct hrun_error *err);
/* Start one unbound process; HRUN_JOB is added to env. */
int hrun_run_start_one(struct hrun_run *r, const char *program, char *const *argv, struct hrun_strvec *env,
                       struct hrun_error *err);
/* Start n further processes while the job runs. They get the next numbers, and /dev/null as standard input. Errors: as
 * above; the processes that did not start then count in nprocs, but are not alive. */
int hrun_run_add(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int n,
                 struct hrun_error *err);
/* *fd gets the standard input of process 0: a descriptor that the caller closes, or a value of enum hrun_spawn_fd. */
int hrun_run_stdin(const struct hrun_job *job, int *fd, struct hrun_error *err);

/* ---- while the job runs */

/* Record that a rank has ended with this wait status. */
void hrun_run_ended(struct hrun_run *r, int rank, int status);
/* Handle an event of the PMI server. */
void hrun_run_event(struct hrun_run *r, const struct hrun_guard_event *ev);
/* Record that a rank (-1: unknown) has failed with that exit status, and end the job. Only the first failure counts,
 * and none after a timeout or a signal to hrun. 1: this one counts, else 0. */
int hrun_run_fail(struct hrun_run *r, int rank, int status);
/* Record the failure of a launcher, if its wait status shows one. If a signal has killed the launcher, the user gets a
 * message with its name (NULL: no message). */
void hrun_run_fail_launcher(struct hrun_run *r, const char *name, int status);
/* End the job because the engine has failed; r->err contains the reason. */
void hrun_run_break(struct hrun_run *r);
/* End the job with status 125 because a host was lost. */
void hrun_run_lose(struct hrun_run *r, const char *host);
/* Pass a message to the job's on_message. */
void hrun_run_say(struct hrun_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- between job.c and loop.c */

/* Run the loop until all processes have ended. 0, or -1 if the engine failed. */
int hrun_run_loop(struct hrun_run *r);
/* Send sig (0: none) to all processes of the job that have outlived its ranks. Result: their number. */
int hrun_run_sweep(struct hrun_run *r, int sig);

#endif
