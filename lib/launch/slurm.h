/* slurm.h - a Slurm allocation as its own programs see it, and what they say */
#ifndef HRUN_LAUNCH_SLURM_H
#define HRUN_LAUNCH_SLURM_H

#include "cluster/cluster.h"
#include "launch/launch.h"

#include <stddef.h>

/* ---- slurm: a Slurm allocation as its own programs see it */

/* -1 with HRUN_EENGINE: that program of Slurm is not there. */
int hrun_srun_missing(struct hrun_error *err, const char *name);

/* The index of a host in the allocation, by its name with or without domain, or as this host; -1: it is not of it. */
int hrun_allocation_index(const struct hrun_allocation *a, const char *name, int is_local);

/* The name by which Slurm knows host h of the cluster; the caller frees it. *group: its component. Errors: HRUN_EINVAL
 * (it is not of the allocation). */
char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err);

/* Append the caller's environment for an srun: without what an outer launcher left there and without the variables that
 * act as options of srun. */
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
/* Append the options of srun that place a part. nodes: a list of nodes, or a file with one for each rank (it has a '/'
 * in its name); mpi: of --mpi. */
void hrun_srun_push_placement(const struct hrun_srun_part *part, const char *nodes, const char *mpi,
                              struct hrun_strvec *v);
/* The same for a step that is started: nodes stand in a file in the job's folder, each rank sees all that was granted
 * on its node, srun tells what it does, and standard error of the ranks goes where r has it. Errors: HRUN_EIO. */
int hrun_srun_push_step(const struct hrun_run *r, const struct hrun_srun_part *part, const char *mpi,
                        struct hrun_strvec *v, struct hrun_error *err);

/* ---- srun_words.c: what srun -v says of a running step */

enum hrun_srun_kind {
    HRUN_SRUN_NOTHING,          /* of no interest */
    HRUN_SRUN_STEP,             /* the step exists: step */
    HRUN_SRUN_STARTED,          /* ntasks more tasks run */
    HRUN_SRUN_NOTICE,           /* the next HRUN_SRUN_TASKS is about step */
    HRUN_SRUN_TASKS,            /* tasks have ended: first task, status, signal */
    HRUN_SRUN_ABORTED,          /* Slurm ends the step: its PMIx has lost a process, MPI_Abort, scancel */
    HRUN_SRUN_LOST,             /* text: a host that went away */
    HRUN_SRUN_WAITING,          /* text: why the step cannot begin yet */
    HRUN_SRUN_COMPLAINT         /* text: another error of srun */
};

struct hrun_srun_said {
    enum hrun_srun_kind kind;
    char step[64];              /* "12.0" */
    int ntasks, task;
    int status;                 /* of a task: exit status, 128 + signal */
    int signal;                 /* that killed it, 0: none */
    const char *text;           /* in the line */
    size_t len;                 /* of text */
};

/* Understand one line. */
void hrun_srun_read(const char *line, struct hrun_srun_said *out);

/* ---- remote_srun.c */

/* hrun_remote_run by steps of srun, when this is a Slurm allocation that has all these hosts and srun is in PATH.
 * Result: 1 when it is not, and nothing has been done; else as hrun_remote_run. */
int hrun_remote_srun(const struct hrun_remote *what, char *const *hosts, int n, struct hrun_buf *outputs,
                     struct hrun_error *errors, struct hrun_error *err);

/* Take srun's labels and the shim's folds out of a stream ("03: text." a line, "03: text\" a piece of one, "03: =0" the
 * end with the command's status). */
struct hrun_unfold {
    int n;                      /* tasks */
    struct hrun_buf *outputs;   /* n: what their commands printed */
    int *status;                /* n: how their commands ended; -1: not yet */
    struct hrun_buf line;
};
void hrun_unfold(struct hrun_unfold *u, const char *data, size_t len);

#endif
