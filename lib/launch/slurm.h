/* slurm.h - options, environment and messages of srun */
#ifndef HRUN_LAUNCH_SLURM_H
#define HRUN_LAUNCH_SLURM_H

#include "cluster/cluster.h"
#include "launch/launch.h"

#include <stddef.h>

/* ---- slurm */

/* Set the error for a missing program of Slurm. Result: -1 with HRUN_EENGINE. */
int hrun_srun_missing(struct hrun_error *err, const char *name);

/* The index of a host in the allocation, found by its name with or without domain, or as this host (is_local); -1: the
 * allocation does not have it. */
int hrun_allocation_index(const struct hrun_allocation *a, const char *name, int is_local);

/* Slurm's name of a host; the caller frees it. *group gets its component. Errors: HRUN_EINVAL (not in the
 * allocation). */
char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err);

/* Append the caller's environment for an srun, without the variables of an outer launcher and without those that act as
 * options of srun. */
void hrun_srun_clean_env(struct hrun_strvec *env);

/* The part of a step that is on one component of the job; most jobs have one. */
struct hrun_srun_part {
    int is_het;                 /* 1: the job has several components */
    int group;                  /* component */
    int first, nranks;          /* ranks first..first+nranks-1 */
    int nhosts;
    struct hrun_strvec nodes;   /* of each rank */
};

struct hrun_run;
/* Append the options of srun that place a part. nodes: a list of nodes, or a file with one for each rank (its name
 * contains '/'); mpi: the value of --mpi. */
void hrun_srun_push_placement(const struct hrun_srun_part *part, const char *nodes, const char *mpi,
                              struct hrun_strvec *v);
/* Append the options for a part of a step that hrun starts: the nodes are in a file in the job's folder, each rank may
 * use all CPUs granted on its node, srun is verbose, and the ranks' standard error goes to the output of r. Errors:
 * HRUN_EIO. */
int hrun_srun_push_step(const struct hrun_run *r, const struct hrun_srun_part *part, const char *mpi,
                        struct hrun_strvec *v, struct hrun_error *err);

/* ---- slurm.c: messages of srun -v about a running step */

enum hrun_srun_kind {
    HRUN_SRUN_NOTHING,          /* of no interest */
    HRUN_SRUN_STEP,             /* the step exists: step */
    HRUN_SRUN_STARTED,          /* ntasks more tasks run */
    HRUN_SRUN_NOTICE,           /* the next HRUN_SRUN_TASKS is about step */
    HRUN_SRUN_TASKS,            /* tasks have ended: first task, status, signal */
    HRUN_SRUN_ABORTED,          /* Slurm ends the step: its PMIx has lost a process, MPI_Abort, scancel */
    HRUN_SRUN_LOST,             /* text: a host that was lost */
    HRUN_SRUN_WAITING,          /* text: why the step cannot begin yet */
    HRUN_SRUN_COMPLAINT         /* text: another error of srun */
};

struct hrun_srun_said {
    enum hrun_srun_kind kind;
    char step[64];              /* "12.0" */
    int ntasks, task;
    int status;                 /* of a task: exit status, 128 + signal */
    int signal;                 /* signal that killed it, 0: none */
    const char *text;           /* points into the line */
    size_t len;                 /* of text */
};

/* Parse one line. */
void hrun_srun_read(const char *line, struct hrun_srun_said *out);

/* ---- remote_srun.c */

/* hrun_remote_run by steps of srun, if this is a Slurm allocation that has all these hosts and srun is in PATH. Result:
 * 1 if not (no effect), else as hrun_remote_run. */
int hrun_remote_srun(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                     struct hrun_error *errors, struct hrun_error *err);

/* Decode the output of srun --label and hrun-shim fold: "03: text." is a line of task 3, "03: text\" a piece of a line,
 * "03: =0" the end with the command's status. */
struct hrun_unfold {
    int n;                      /* tasks */
    struct hrun_buf *outputs;   /* n: the output of their commands */
    int *status;                /* n: the exit status of their commands; -1: none yet */
    struct hrun_buf line;
};
void hrun_unfold(void *unfold, const char *data, size_t len);

#endif
