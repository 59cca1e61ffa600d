/* job.h - the life of a job's processes on this host, the same for all engines
 *
 * Purpose: signals, timeout, output, judging how it ended, and leaving nothing behind. An engine prepares
 * what is started: one process per rank (local), or one launcher (mpirun, srun).
 * Invariants: between hrun_run_begin and hrun_run_end the calling thread blocks the signals of the job;
 * hrun_run_end restores all that begin changed, on every path, and no process or folder of the job remains.
 * Order of calls: begin, start, loop, end (end always, also when begin failed).
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
#include <time.h>

struct hrun_proc {
    pid_t pid;                   /* 0: a rank that the launcher's processes look after: hrun_run_ended tells its end */
    int own_group;               /* 0: in hrun's own process group, see own_group() in job.c */
    int alive;
    int connected;               /* PMIx: connected and not finalized */
    int was_connected;           /* PMIx: connected at some time */
};

struct hrun_run;

/* A launcher that is told and tells in its own way (srun, ssh); where there is none kill(2) and its status do. All but
 * signal are of a launcher that is a process of its own (is_launcher). */
struct hrun_launcher {
    const char *name;
    int is_program;             /* 1: it becomes the program: it begins in the job's folder, its standard error is the
                                   program's and its words come through words.child_fd; 0: it is told where to begin,
                                   and its words come through its standard error */
    /* Bring a signal to all ranks; SIGKILL: end them now. */
    void (*signal)(struct hrun_run *r, int sig);
    /* A line of its words, without its end. */
    void (*hear)(struct hrun_run *r, char *line);
    /* verdict_s has come. */
    void (*settle)(struct hrun_run *r);
    /* It has ended with this status of waitpid(2), and all its words have been heard. */
    void (*ended)(struct hrun_run *r, int status);
};

struct hrun_run {
    const struct hrun_job *job;
    struct hrun_outcome *out;
    struct hrun_error *err;      /* filled when the engine fails while the job runs */
    int engine_failed;

    /* Set by the engine before hrun_run_start. */
    int is_plain;                /* 1: the only process is no rank, and may use any MPI */
    int is_launcher;             /* 1: the only process is mpirun, srun or hrun-smpi, which looks after the
                                    ranks itself */
    const struct hrun_launcher *launcher; /* or NULL; then the next two are not used */
    void *state;                 /* of the launcher's functions */
    struct hrun_words words;
    enum hrun_tagging tagging;
    int hold_errors;             /* 1: standard error is held back until hrun_output_release */
    char noise[64];              /* which lines of it, of those held back, tell the user nothing; may be set later */
    /* What else to listen to: called when watch_fd (-1: none) can be read, and when a process has ended. Result: how
     * many helpers on the way to other hosts are still there; hrun waits a while for them when all has ended. */
    int watch_fd;
    int (*watch)(struct hrun_run *r);
    int paused;                  /* 1: watch waits until the output has room */
    void (*abandon)(struct hrun_run *r);    /* some are still there after that */
    void *watch_ctx;

    int mpich;                   /* 1: PMI-1 is served to programs of MPICH, not PMIx */
    /* HRUN_GUARD_SPAWN and what follows; NULL: something has happened, or spawn_s has come. */
    void (*on_spawn)(struct hrun_run *r, const struct hrun_guard_event *ev);
    double spawn_s;              /* 0: there is none */

    /* Made by begin. */
    time_t since;                /* when */
    char *rundir, *shmdir;       /* shmdir may be NULL: no /dev/shm here */
    const char *job_id;          /* last part of rundir */
    unsigned long mark;          /* by which processes of the job are found (procs), 0: none */
    struct hrun_guard guard;
    struct hrun_pids groups;     /* process groups made for the job */
    struct hrun_pids strangers;  /* children that the caller had before */
    struct hrun_signals signals;
    int old_subreaper;

    /* Made by start. */
    struct hrun_output *output;
    struct pollfd *polled;       /* room for what is waited for */
    struct hrun_proc *procs;
    int nprocs, nalive;
    double start_s;              /* monotonic clock */

    /* The way to the end. */
    int failed;                  /* a failure has been recorded in out */
    int timed_out;
    int ending_signal;           /* INT, TERM, HUP or QUIT that hrun got last, or 0 */
    double ending_signal_s;
    double kill_s;               /* when patience ends, 0: not ending */
    double begun_s;              /* until this time ranks may be missing: other signals than those that end the job are
                                    held back, and a launcher that is told to end may hang, and is killed then */
    unsigned long held;          /* signals held back: 1 << number */
    int killed;                  /* a launcher has been told to end the ranks at once */
    double verdict_s;            /* when the launcher's settle is called, 0: not */
    double watch_s;              /* when to look for another MPI library next; infinite: no more */
};

int hrun_run_begin(struct hrun_run *r, const struct hrun_job *job, struct hrun_outcome *out,
                   struct hrun_error *err);
/* Make room for nprocs processes and the pipes of their output, for an engine that has to know these before it
 * starts. */
int hrun_run_prepare(struct hrun_run *r, int nprocs, struct hrun_error *err);
/* Start nprocs processes (prepare first if that has not been done); one[] tells their environment, binding and program
 * (NULL: program and argv), their fds are set here (process 0 gets the job's standard input). Errors as hrun_spawn;
 * on_start is called on success. */
int hrun_run_start(struct hrun_run *r, const char *program, char *const *argv, const struct hrun_topo *topo,
                   struct hrun_spawn_one *one, int nprocs, struct hrun_error *err);
/* Start n further processes while the job runs, which are numbered behind those that there are. Their standard input is
 * /dev/null. Errors: as above; the job is as before. */
int hrun_run_add(struct hrun_run *r, const struct hrun_topo *topo, struct hrun_spawn_one *one, int n,
                 struct hrun_error *err);
/* Until all has ended. 0, or -1 when the engine failed (*err says why). */
int hrun_run_loop(struct hrun_run *r);
void hrun_run_end(struct hrun_run *r);

/* Process 0's standard input as the job has it: a descriptor to be closed, -1 for hrun's own, -2 on failure. */
int hrun_run_stdin(const struct hrun_job *job, struct hrun_error *err);
/* A rank without a process here has ended with this wait status; has told the PMI server something. */
void hrun_run_ended(struct hrun_run *r, int rank, int status);
void hrun_run_event(struct hrun_run *r, const struct hrun_guard_event *ev);
/* Rank (-1: unknown) has failed with that status. The first failure counts, and ends the job; after a timeout or a
 * signal to hrun failures are its consequence. 1: this one counts. */
int hrun_run_fail(struct hrun_run *r, int rank, int status);
/* For watch: the engine has failed, r->err says why, and the job is to end; a host was lost, and the job is to end with
 * 125. */
void hrun_run_break(struct hrun_run *r);
void hrun_run_lose(struct hrun_run *r, const char *host);

/* Words for the user. */
void hrun_run_say(struct hrun_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Processes of the job that outlived its ranks. sig is sent to each (0: none). Result: how many
 * live. */
int hrun_run_sweep(struct hrun_run *r, int sig);

#endif
