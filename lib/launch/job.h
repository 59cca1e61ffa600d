/* job.h - the life of a job's processes on this host, the same for all engines
 *
 * Purpose: start them, pass signals and output on, keep the time limits, find out how the job ended, and leave nothing
 * behind. An engine fills a struct hrun_driver with what it does in its own way.
 * Invariants: while the job runs the calling thread blocks the signals of the job; hrun_run_job restores all that it
 * has changed, on every path, and no process or folder of the job remains.
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
    pid_t pid;                   /* 0: a rank without a process here; hrun_run_ended reports its end */
    int own_group;               /* 0: in hrun's own process group, see gets_own_group in job.c */
    int alive;
    int connected;               /* PMIx: connected and not finalized */
    int was_connected;           /* PMIx: connected at some time */
};

struct hrun_run;

/* How an engine runs a job. Functions may be NULL unless said otherwise. */
struct hrun_driver {
    /* What the processes are; none is set for one process that holds all ranks (smpi) and for proxies (ssh). */
    unsigned serves : 1;         /* ranks that the guard serves: start starts the guard itself */
    unsigned is_launcher : 1;    /* one process that starts the ranks: it enters the job's folder itself, and gets
                                    SIGTERM when hrun dies */
    unsigned passes_signals : 1; /* a launcher that gets each signal, passes it on, and itself gives the ranks time to
                                    end; it may read the terminal */
    unsigned is_plain : 1;       /* one process that is no rank, and may use any MPI */
    unsigned mpich : 1;          /* hrun serves PMI-1 to programs of MPICH's family */
    int grace_ms;                /* how long the processes may take to end when hrun was killed */
    /* Start the processes, or what starts them. Not NULL. */
    int (*start)(struct hrun_run *r, struct hrun_error *err);
    /* All has ended, and no error has occurred: compare out->status with what else is known. */
    int (*check_end)(struct hrun_run *r, struct hrun_error *err);
    /* End what start has started beside r->procs, on any path. */
    void (*release)(struct hrun_run *r);
    /* Bring a signal to all ranks; SIGKILL: end them now. NULL: by kill(2). */
    void (*signal)(struct hrun_run *r, int sig);
    /* A line from r->words, without its end. The words are the standard error of a launcher, and come from other
     * processes through words.child_fd. */
    void (*on_line)(struct hrun_run *r, char *line);
    /* due.verdict_s has come. */
    void (*on_verdict)(struct hrun_run *r);
    /* The process has ended with this status of waitpid(2), and all its words have been heard. NULL: it is a rank. */
    void (*ended)(struct hrun_run *r, int status);
    /* watch_fd can be read, or a process has ended. Result: number of helpers on the way to other hosts that still
     * run; hrun waits some seconds for these when all else has ended, and then calls abandon (not NULL). */
    int (*watch)(struct hrun_run *r);
    void (*abandon)(struct hrun_run *r);
    /* HRUN_GUARD_SPAWN and those behind it; ev = NULL: something has happened, or due.spawn_s has come. */
    void (*spawn)(struct hrun_run *r, const struct hrun_guard_event *ev);
};

/* The processes of the job and others beside them. */
struct hrun_family {
    struct hrun_pids groups;     /* process groups made for the job */
    struct hrun_pids strangers;  /* children that the caller had before */
    int old_subreaper;
};

/* How the output is passed on; see hrun_output_create and hrun_output_release. */
struct hrun_output_style {
    enum hrun_tagging tagging;
    int hold;
    char noise[64];
};

/* The way to the end. */
struct hrun_ending {
    int failed;                  /* a failure has been recorded in out */
    int broken;                  /* the engine has failed: r->err says why */
    int timed_out;
    int signal;                  /* INT, TERM, HUP or QUIT that hrun got last, or 0 */
    double signal_s;
    double kill_s;               /* when patience ends; 0: the job is not being ended. Set by all of the above but
                                    signal */
    int killed;                  /* 1: signal(r, SIGKILL) has been called */
};

/* Times of the monotonic clock; 0: none. */
struct hrun_due {
    double verdict_s, spawn_s;   /* when on_verdict and spawn are called */
    double look_s;               /* when to look for another MPI library; infinite: no more */
};

struct hrun_run {
    const struct hrun_driver *driver;
    void *state;                 /* of the driver's functions */
    struct hrun_reach *reach;    /* mpirun, ssh: how other hosts are reached */
    const struct hrun_job *job;
    struct hrun_outcome *out;
    struct hrun_error *err;      /* filled when the engine fails while the job runs */

    /* Made before the driver's start. */
    struct hrun_guard_spec own;  /* folders and marks of the job */
    struct hrun_guard guard;
    struct hrun_family family;
    struct hrun_signals signals;
    struct hrun_words words;     /* closed unless the driver hears them */

    struct hrun_output_style style;
    struct hrun_output *output;
    struct pollfd *polled;       /* room for what is waited for */
    struct hrun_proc *procs;
    int nprocs, nalive;
    double start_s;              /* monotonic clock */

    int watch_fd;                /* -1: none */
    int paused;                  /* 1: watch is also called when the output has room */
    struct hrun_ending ending;
    struct hrun_due due;
    double begun_s;              /* until then ranks may be missing: signals that do not end the job are held back, and
                                    a launcher that has to end may hang, and is killed */
    unsigned long held;          /* signals held back: 1 << number */
};

/* Run job from start to end; the guard runs before start is called, unless the driver serves. 0; -1 when the engine
 * failed (*err says why). reach may be NULL. */
int hrun_run_job(const struct hrun_driver *driver, void *state, struct hrun_reach *reach, const struct hrun_job *job,
                 struct hrun_outcome *out, struct hrun_error *err);

/* ---- for start and spawn */

/* Make room for nprocs processes and the pipes of their output. hrun_run_start does it unless this has been called. */
int hrun_run_prepare(struct hrun_run *r, int nprocs, struct hrun_error *err);
/* Write a file into the job's folder. Result: its path, which the caller frees; NULL with HRUN_EIO. */
char *hrun_run_write(const struct hrun_run *r, const char *name, const struct hrun_buf *text, struct hrun_error *err);
/* Start nprocs processes. Their fds are set here (process 0 gets the job's standard input, others /dev/null), and the
 * job's folder where one[] names none. Errors as hrun_spawn; on_start is called on success. */
int hrun_run_start(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int nprocs,
                   struct hrun_error *err);
/* Start one unbound process; HRUN_JOB is added to env. */
int hrun_run_start_one(struct hrun_run *r, const char *program, char *const *argv, struct hrun_strvec *env,
                       struct hrun_error *err);
/* Start n further processes while the job runs, which are numbered behind those that there are. Their standard input is
 * /dev/null. Errors: as above; the job is as before. */
int hrun_run_add(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int n,
                 struct hrun_error *err);
/* Process 0's standard input as the job has it: a descriptor to be closed, -1 for hrun's own, -2 on failure. */
int hrun_run_stdin(const struct hrun_job *job, struct hrun_error *err);

/* ---- while the job runs */

/* Process rank has ended with this wait status. */
void hrun_run_ended(struct hrun_run *r, int rank, int status);
/* A rank has told its PMI server something. */
void hrun_run_event(struct hrun_run *r, const struct hrun_guard_event *ev);
/* Rank (-1: unknown) has failed with that status. The first failure counts, and ends the job; after a timeout or a
 * signal to hrun failures are its consequence. 1: this one counts. */
int hrun_run_fail(struct hrun_run *r, int rank, int status);
/* The same for a launcher, from its wait status. If a signal has killed it the user gets a message with its name (NULL:
 * no message). */
void hrun_run_fail_launcher(struct hrun_run *r, const char *name, int status);
/* The engine has failed, and r->err says why: end the job. */
void hrun_run_break(struct hrun_run *r);
/* A host was lost: end the job with status 125. */
void hrun_run_lose(struct hrun_run *r, const char *host);
/* Words for the user. */
void hrun_run_say(struct hrun_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- between job.c and loop.c */

/* Until all has ended. 0, or -1 when the engine failed. */
int hrun_run_loop(struct hrun_run *r);
/* Processes of the job that outlived its ranks. sig is sent to each (0: none). Result: how many live. */
int hrun_run_sweep(struct hrun_run *r, int sig);

#endif
