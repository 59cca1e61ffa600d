/* launch.h - engines, which start the processes of a job (the only room that uses PMIx)
 *
 * Purpose: run a layout's ranks, return the application's status, leave nothing behind. Engines are rows
 * of a table: `local` (one host; the job's helper process is its PMIx server, or its PMI-1 server for programs of
 * MPICH's family), `mpirun` (Open MPI 4 or 5 with a rankfile), `srun` (inside a Slurm allocation, with its PMIx), `ssh`
 * (programs of MPICH's family over hosts: hrun serves PMI-1, and its proxies on the hosts relay it) and `smpi`
 * (SimGrid's simulation of MPI: all ranks in one process, on the hosts of a platform file).
 * Invariants, on every path out of hrun_launch, signals and errors included:
 *   - no process of the job and no file or folder made for it remains;
 *   - SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT that reach hrun reach the application;
 *     hrun_launch restores the signal mask and the handlers;
 *   - the program's standard output and error stay unchanged unless struct hrun_job_output requests otherwise; but
 *     engine mpirun over hosts delays standard error until all hosts are ready.
 * How it ends:
 *   - the first rank that fails (by time) gives the status, and hrun ends the others: SIGTERM, after 2 s SIGKILL. A
 *     rank fails if it exits with a status other than 0, is killed by a signal (128 + signal), calls MPI_Abort (its
 *     status, or 1 if that is 0 modulo 256) or exits without MPI_Finalize after MPI_Init (1);
 *   - SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on without a time limit: a program may catch
 *     them to write a checkpoint. If all ranks then exit with 0 the status is 0, else 128 + signal; a
 *     second signal within 5 s kills. Signals that the caller ignores (nohup) are ignored;
 *   - SIGTSTP stops the ranks (SIGSTOP) and hrun, SIGCONT wakes up both;
 *   - a host that is lost while the job runs ends it with 125 (lost_host); one that cannot take part fails the launch;
 *   - when the last rank has ended, hrun ends processes that the ranks leave behind. If hrun is killed by SIGKILL, a
 *     helper process ends all processes of the job;
 *   - if hrun passes the output on (tagged, on_stdout), it waits for its own reader without a time limit, until all is
 *     passed on or a signal ends the job. If the output cannot be written (a full disk), hrun ends the job; if its
 *     reader has gone, the program gets SIGPIPE, as without hrun.
 * Rank 0 reads hrun's standard input directly (with srun, through srun), the other ranks /dev/null; if the input is a
 * terminal and hrun is in the background, rank 0 reads /dev/null too. The calling process may have children, but starts
 * none while a job runs. The calling thread then blocks SIGCHLD, and orphaned descendants become children of the
 * process.
 */
#ifndef HRUN_LAUNCH_H
#define HRUN_LAUNCH_H

#include "base/buf.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "layout/layout.h"

/* Which MPI a program is linked with. */
enum hrun_mpi_kind { HRUN_MPI_NONE, HRUN_MPI_OPENMPI, HRUN_MPI_MPICH /* or one of its family */,
                     HRUN_MPI_UNKNOWN /* a script */, HRUN_MPI_SMPI /* built with smpicc */ };
struct hrun_mpi {
    enum hrun_mpi_kind kind;
    char name[64];                 /* "Open MPI", "MPICH", "Intel MPI", "MVAPICH", "SimGrid", "" */
    char id[64];                   /* for signatures: "ompi-4.1.4", "mpich-4.0.2", "smpi-3.32", "none", "script"
                                      (it may run a program of any MPI; the engines look for an unexpected one) */
    int behind_script;             /* 1: the MPI of a program that a script starts */
    int major;                     /* of Open MPI: 4, 5; 0 unknown */
    int counts_flops;              /* of smpicc: 1: the program passes its operation counts to SimGrid
                                      (smpi_execute_flops and the like), and SimGrid times no loop (SMPI_SAMPLE) */
};

/* The Open MPI of this host. */
struct hrun_openmpi {
    char path[4096];               /* of its mpirun; "": not looked for */
    int major;
    char version[64];              /* "4.1.4" */
    const char *cache_dir;         /* folder that caches the output of mpirun --version until the program changes;
                                      created if missing; NULL: no cache */
    int refresh;                   /* 1: run mpirun --version even if its output is cached */
};

/* A library of hrun to preload into the processes, and the environment variable that configures it (at most about 128
 * KiB). The path contains no blanks or colons, and is the same on all hosts. */
struct hrun_preload {
    const char *library, *variable, *value;
};
enum { HRUN_PRELOADS_MAX = 3 };    /* libhrun-trace.so, libhrun-coll.so, libhrun-mpich.so */
struct hrun_preloads {
    struct hrun_preload v[HRUN_PRELOADS_MAX];
    int n;
};

/* How the processes' output is handled; by default it goes to hrun's own. */
struct hrun_job_output {
    int tagged;                    /* 1: lines are prefixed "[rank]<stdout>: ", "[rank]<stderr>: ". With engine mpirun
                                      the tags are mpirun's, and version 4 drops and mixes pieces of output that comes
                                      faster than some KiB at a time */
    void (*on_stdout)(void *ctx, const char *data, size_t len); /* called with each piece of standard output, or NULL */
    int swallow;                   /* 1: hrun's own output gets nothing */
    struct hrun_buf *stderr_text;  /* with swallow: gets the last 64 KiB of standard error; may be NULL */
    struct hrun_buf *trace_text;   /* gets the lines that a preloaded library writes to standard error
                                      (base/trace_lines.h), without their marks; NULL: they stay in standard error */
};

/* A program with its arguments, as in struct hrun_job. */
struct hrun_program {
    char *const *argv;
    const char *path;
};

struct hrun_job {
    const struct hrun_layout *layout;
    char *const *argv;             /* program and arguments, NULL-terminated; argv[0] as the user wrote it */
    const char *program;           /* result of hrun_program_find: an absolute path */
    /* If ranks start different programs (all of one MPI), rank r starts programs[which[r]], and argv and program are
     * those of rank 0. NULL: all start argv. */
    const struct hrun_program *programs;
    const int *which;
    /* Results of hrun_program_mpi and of the engine's usable(), if the caller has them; finding them starts processes.
     * NULL or an empty path: hrun_launch finds them itself. */
    const struct hrun_mpi *mpi;
    const struct hrun_openmpi *openmpi;
    /* Words of the user; they belong to the caller. */
    struct hrun_strvec env;        /* "NAME" (pass on) or "NAME=VALUE" (set): -x */
    struct hrun_strvec mca;        /* "KEY=VALUE": --mca */
    struct hrun_strvec smpi;       /* "NAME:VALUE", parameters of SimGrid: --smpi */
    const char *wdir;              /* working directory of the processes, NULL: the current one */
    const char *scratch;           /* folder that the guard removes if hrun is killed while the job runs; NULL: none */
    const char *stdin_text;        /* standard input of rank 0; NULL: that of hrun */
    int no_stdin;                  /* 1: rank 0 reads /dev/null */
    int oversubscribe;             /* 1: ranks may start more processes (MPI_Comm_spawn) than the host has slots */
    const char *const *busy;       /* PEs that spawned processes may not use, as in hrun_layout_order; NULL: none */
    int report_bindings;           /* 1: each process prints its host and actual affinity on standard error before the
                                      program begins; if it differs from the layout the job fails with 125 */
    double timeout_s;              /* 0: none */
    struct hrun_job_output output;
    struct hrun_preloads preloads; /* preloaded into each process in this order, before the user's own preloads */
    void *ctx;                     /* of the functions of output and those below */
    /* Called once when all processes have been started; may be NULL. */
    void (*on_start)(void *ctx);
    /* Called with messages for the user while the job runs ("rank 3 was killed by signal 11"); may be NULL. */
    void (*on_message)(void *ctx, const char *text);
};

struct hrun_outcome {
    int status;                    /* for hrun: the application's; 128 + signal; 124 after a timeout */
    int timed_out;
    int interrupted;               /* signal that hrun got and that ended the job, or 0 */
    int signalled;                 /* the last of SIGINT, SIGTERM, SIGHUP, SIGQUIT that hrun got while the job
                                      ran, for every status; or 0 */
    int stopped;                   /* 1: SIGTSTP stopped the job for a while, so wall_s is meaningless */
    char lost_host[256];           /* a host that was lost while the job ran (status: 125, or 128 + signal), or "" */
    int failed_rank;               /* the first rank that failed, -1 if none or unknown */
    int killed_by;                 /* signal that killed the first failed rank; 0: it exited by itself, or
                                      unknown (engine mpirun) */
    double wall_s;                 /* from just before the first process started until the last one ended */
    double job_s;                  /* wall_s; with engine smpi the simulated time, 0 if the simulation did not end */
};

struct hrun_engine {
    const char *name;
    const char *what;              /* one line for --help and errors */
    int simulated;                 /* 1: its hosts are those of a platform file, 0: real ones */
    int mpich;                     /* 1: it starts programs of MPICH's family, too */
    /* 1 if the engine suits this cluster and a program of this MPI (NULL: not known), else 0. */
    int (*suits)(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi);
    /* 0 if the engine can run on this cluster now; -1 if not: *err names what is missing and what to install. Engines
     * that use mpirun fill *found (may be NULL) for struct hrun_job. */
    int (*usable)(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err);
    /* Validate job before anything is started. Errors: HRUN_EMPI, HRUN_EINVAL. */
    int (*check)(const struct hrun_job *job, struct hrun_error *err);
    int (*run)(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);
    /* For hrun_engine_command; NULL: there is no equivalent command. */
    int (*command)(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err);
    /* For hrun_engine_kind: appends the text after the name; NULL: none. */
    void (*kind)(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi, const struct hrun_strvec *smpi,
                 struct hrun_buf *out);
};

/* The engine with that name, or NULL. hrun_engines() lists all, ending with NULL. */
const struct hrun_engine *hrun_engine_find(const char *name);
const struct hrun_engine *const *hrun_engines(void);
/* The engine for a cluster and a program of that MPI (NULL: not known) if the user names none: for simulated hosts
 * `smpi`; inside a Slurm allocation `srun` if it has PMIx; else `local` if the only host is this one, else `ssh` for
 * MPICH's family and `mpirun` for others. found and errors: those of usable. */
const struct hrun_engine *hrun_engine_auto(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi,
                                           struct hrun_openmpi *found, struct hrun_error *err);
/* As hrun_engine_auto, without checking that the engine is usable here. */
const struct hrun_engine *hrun_engine_suited(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi);

/* Append a shell-quoted command line of srun, smpirun or mpirun for the same placement (mpirun for engine local,
 * mpiexec.hydra for programs of MPICH's family). "hrun.rankfile" in it stands for a file with the text of
 * hrun_layout_rankfile. The placement is not checked. The command omits the number of threads if ranks differ in it,
 * because mpirun gives all ranks one number. */
int hrun_engine_command(const struct hrun_engine *e, const struct hrun_job *job, struct hrun_buf *out,
                        struct hrun_error *err);

/* Append the reason why hrun makes waiting processes yield the processor, without a final dot ("waiting processes yield
 * the processor, as the control group of host h1 grants 0.3 CPUs to 1 of them"). Appends nothing if hrun does not, or
 * if the user sets mpi_yield_when_idle. */
void hrun_job_yielding(const struct hrun_job *job, struct hrun_buf *out);

/* Append the engine's part of signatures: its name; for smpi also the user's parameters of SimGrid and, if the
 * program's computation is timed on this host, the speed that SimGrid assumes for a core here (Gflop/s). */
void hrun_engine_kind(const struct hrun_engine *e, const struct hrun_cluster *cluster, const struct hrun_mpi *mpi,
                      const struct hrun_strvec *smpi, struct hrun_buf *out);

/* Read a platform file through SimGrid; see hrun_cluster_request.read_platform. Errors: HRUN_EENGINE (this hrun has no
 * hrun-smpi; the text names what to install), HRUN_EIO. */
int hrun_platform_ask(const char *path, char *const *hosts, struct hrun_buf *text, struct hrun_error *err);

/* Append the resource set of the surrounding Flux instance, for hrun_cluster_request.flux_resources. Appends nothing if
 * FLUX_URI is not set or no flux is in PATH. Errors: HRUN_EENGINE (the instance does not answer), HRUN_EIO. */
int hrun_flux_resources(struct hrun_buf *text, struct hrun_error *err);

/* The program of rank r. */
struct hrun_program hrun_job_program(const struct hrun_job *job, int r);
/* The number of consecutive ranks from r on that start the program of rank r. */
int hrun_job_run_length(const struct hrun_job *job, int r);

/* Check and run. 0: the job ran, *out describes how it ended; -1: it was not started, or the engine failed. No process
 * or file remains in either case. Errors: HRUN_ECHANGED (a host differs from the cluster's cache: discover with refresh
 * and lay out anew), HRUN_EMPI (also when a script loads another MPI library than the engine serves), HRUN_EINVAL,
 * HRUN_EENGINE (also when mpirun failed before it was ready to start a process), HRUN_EIO (also when the output cannot
 * be written), HRUN_ENOPROG, HRUN_ENOEXEC. Descriptors 0 to 2 are open. */
int hrun_launch(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                struct hrun_error *err);
/* As hrun_launch, for a job that engine->check has accepted already. */
int hrun_launch_checked(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                        struct hrun_error *err);
/* Run job->program as one unbound process on this host that is not an MPI rank. Its environment is hrun's, without the
 * variables of an outer launcher, and job->env. The job's ranks, MPI and layout are ignored; all else is as in a job of
 * one rank. Errors: as above, except HRUN_EMPI and HRUN_ECHANGED. */
int hrun_launch_plain(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);

/* Find the first mpirun of Open MPI in PATH. The caller sets m->cache_dir and m->refresh; runs mpirun --version unless
 * the cache has its answer. Errors: HRUN_EENGINE (none; the text names what to install), HRUN_EIO; the rest of *m is
 * untouched. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);
/* A text that changes when Open MPI's programs change: path, size and date of mpirun and its daemons. "": none. */
void hrun_openmpi_watched(char *watched, size_t size);

/* A short command for other hosts, with no input. */
struct hrun_remote {
    char *const *argv;             /* NULL-terminated; argv[0] is a path on those hosts */
    const struct hrun_strvec *mca; /* as in struct hrun_job, for plm_rsh_agent */
    double timeout_s;              /* for each host, > 0 */
    const char *missing;           /* remedy for a host without argv[0], for the message */
    const char *otherwise;         /* alternative to mending a host, or NULL; for the message */
    int keep_going;                /* 1: ask all hosts even if one fails; 0: after a failure ask no further host */
};

/* Run a command on all hosts, 64 at a time: inside a Slurm allocation by one step of srun, else by the remote shell of
 * mpirun: plm_rsh_agent of --mca or the environment, else flux exec inside a Flux instance, else ssh without passwords.
 * outputs[n], initialised, get the command's output. errors[n], zeroed, get the failures (no answer, no such command,
 * bad status): code HRUN_EENGINE, the text names host, reason and remedy. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the
 * agents, and are then raised again for the caller. No agent remains on any path.
 * Result: 0, also when hosts failed. Errors: HRUN_EENGINE (no agent, interrupted), HRUN_EIO. */
int hrun_remote_run(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                    struct hrun_error *errors, struct hrun_error *err);

/* Find a program as execvp(3) would, relative to wdir (may be NULL). Result: its absolute path, which the caller
 * frees. Errors: HRUN_ENOPROG (not found; the text names the places), HRUN_ENOEXEC (not executable, a folder). */
char *hrun_program_find(const char *name, const char *wdir, struct hrun_error *err);

/* Which MPI a program is linked with. Errors: HRUN_EIO (unreadable). A static program is recognised by texts in it. */
int hrun_program_mpi(const char *path, struct hrun_mpi *out, struct hrun_error *err);

/* Append the paths of the libraries that a program is linked with, symbolic links resolved, so that they identify one
 * of several alternatives. Appends nothing for a script or a static program. Errors: HRUN_EIO. */
int hrun_program_libraries(const char *path, struct hrun_strvec *out, struct hrun_error *err);

#endif
