/* reach.h - how mpirun and engine ssh reach the other hosts of a job through hrun-shim (internal)
 *
 * Purpose: the options and variables that put hrun-shim (hrun/shim/shim.h) before the remote shell, mpirun's daemons
 * and the ranks, and the handling of the notes (launch/notes.h) that the shims write.
 * Invariants:
 *   - a host that a cluster file describes need not have hrun: daemons and ranks get a shim only if all other hosts of
 *     the job have answered through their own hrun; the remote shell always gets one;
 *   - the user's settings have precedence: an orte_launch_agent, which may have several words but no shell syntax, is
 *     not changed, and the shim runs the user's plm_rsh_agent;
 *   - a host that is only described reports through its shell that it was reached, if the remote shell is ssh; with
 *     other remote shells hrun learns nothing until they fail;
 *   - a resource manager starts mpirun's daemons itself, so no notes come, and hosts are not checked for changes, since
 *     the manager decides what a step may use;
 *   - Open MPI 5 cuts parameters that it passes on at the first "=" (seen with PRRTE's plm), so its daemons start no
 *     others through a shim. Beyond HRUN_REACH_RADIX hosts, and inside a resource manager, its agents and daemons get
 *     no shims;
 *   - mpirun's standard error is held back until all hosts have passed their checks; if one fails, hrun's own message
 *     replaces it.
 */
#ifndef HRUN_LAUNCH_REACH_H
#define HRUN_LAUNCH_REACH_H

#include "launch/job.h"

/* Beyond this number of hosts (routed_radix) mpirun's daemons start further daemons, which send no notes. */
enum { HRUN_REACH_RADIX = 64 };

struct hrun_reach {
    int nremote;                /* number of other hosts used; all other members are about these */
    int agents, daemons, ranks; /* 1: each is started through a shim */
    const char *reporter;       /* REPORTER of mode `agent`, see hrun/shim/shim.h */
    char *shim;                 /* path, NULL if none is needed */
    struct hrun_strvec agent;   /* the remote shell */
    double limit_s;             /* for a host to pass its checks */
    int managed;                /* 1: a resource manager starts mpirun's daemons; not in a heterogeneous job */
    int prrte;                  /* 1: mpirun is that of Open MPI 5 */
    int rank_notes;             /* 1: shims send notes when a rank begins and ends */
    /* While the job runs. */
    char *fifo;
    struct hrun_words notes;    /* notes from the FIFO */
    int nup, nranks, ndone;     /* hosts that are up, ranks that have begun, that have ended with 0 */
    char bad_end[256];          /* a host whose daemon could not be started, or "" */
    int bad_status;
    int failed_rank, rank_status;   /* the first rank that failed, and its wait status (0: none) */
    struct hrun_strvec open;    /* hosts whose agent has begun and not ended */
};

#define HRUN_REACH_INIT { .notes = HRUN_WORDS_INIT }

/* Plan the shims and agents of a job; m is NULL for engine ssh, which needs hrun on every host. Errors: HRUN_EENGINE
 * (no agent, no shim, another version of Open MPI on a host), HRUN_ECHANGED (a host's cached version differs),
 * HRUN_EINVAL (bindings or threads that need hrun on all hosts, hosts that were not asked). */
int hrun_reach_plan(const struct hrun_job *job, const struct hrun_openmpi *m, struct hrun_reach *out,
                    struct hrun_error *err);
void hrun_reach_release(struct hrun_reach *reach);

/* Functions of a run r use r->reach. hrun_reach_options appends mpirun's options for the job to v, and those for each
 * program to `each`; hrun_reach_agents the option that names the agents; hrun_reach_env variables for mpirun. */
void hrun_reach_options(const struct hrun_run *r, struct hrun_strvec *v, struct hrun_strvec *each);
void hrun_reach_agents(const struct hrun_reach *reach, struct hrun_strvec *v);
void hrun_reach_env(const struct hrun_run *r, struct hrun_strvec *env);

/* For engine ssh, which starts the agents itself: append the words that start command (NULL-terminated) on a host
 * through the agent. */
void hrun_reach_agent_words(const struct hrun_run *r, const struct hrun_host *host, char *const *command,
                            struct hrun_strvec *v);

/* Check that no text that mpirun writes into remote shell commands has a special meaning for the shell. mpirun puts
 * double quotes around most of it: the job's folder, parameters of --mca and of the environment env. It does not quote
 * its own path, Open MPI's folder (OPAL_PREFIX), and parameters that become part of the command (orte_launch_agent,
 * plm_rsh_args, plm_rsh_chdir, plm_rsh_pass_libpath), also from a parameter file. hrun's own text is safe, and -x, the
 * program and its arguments are not in these commands. Errors: HRUN_EINVAL (with what to change). */
int hrun_reach_check_shells(const struct hrun_run *r, const struct hrun_openmpi *m, const struct hrun_strvec *env,
                            struct hrun_error *err);

/* Make the FIFO for the notes. Sets r->watch_fd and r->begun_s. Errors: HRUN_EIO. */
int hrun_reach_listen(struct hrun_run *r, struct hrun_error *err);
/* The watch of struct hrun_driver: read the notes that have come. */
int hrun_reach_watch(struct hrun_run *r);
/* The abandon of struct hrun_driver: agents that still run wait for a lost host. */
void hrun_reach_abandon(struct hrun_run *r);
/* After a job without a failure so far: find out whether mpirun could not start a process, has lost a host, or reports
 * 0 although not all ranks ended with 0. Result: -1 with *err if mpirun has failed; else r->out has the result. */
int hrun_reach_check_end(struct hrun_run *r, struct hrun_error *err);

/* 1 inside an allocation of a resource manager that Open MPI supports, else 0. */
int hrun_in_resource_manager(void);

#endif
