/* srun.h - what the files of engine srun share (internal) */
#ifndef HRUN_LAUNCH_SRUN_H
#define HRUN_LAUNCH_SRUN_H

#include "launch/job.h"

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

/* ---- srun_watch.c: a running step */

enum { HRUN_SRUN_GROUPS = 128 };   /* components of a heterogeneous job; Slurm's own limit (MAX_HET_JOB_COMPS) */

struct hrun_srun_watch {
    struct hrun_strvec steps;       /* "12.0"; of a heterogeneous job one for each component used */
    int started;                    /* tasks */
    int first_rank[HRUN_SRUN_GROUPS + 1];   /* of each component: rank of its first task */
    char *job_ids[HRUN_SRUN_GROUPS];    /* of each component, owned; NULL where it has no number of its own */
    char notice[64];                /* the step that the next line is about */
    int aborted;
    int suspect;                    /* a rank killed by SIGKILL, perhaps only the consequence of another; -1: none */
    int suspect_after;              /* 1: it was killed when the step was aborted already */
    int completed;                  /* the last rank that ended with 0 before the step was aborted, -1 */
    double completed_s;
    char complaint[256];            /* of srun, the last one; "" */
    char *scancel;                  /* path */
};

extern const struct hrun_launcher hrun_srun_launcher;   /* r->state is a struct hrun_srun_watch */

/* ---- srun_parts.c */

struct hrun_srun_part {
    int group;                  /* component */
    int first, nranks;          /* ranks first..first+nranks-1 */
    int nhosts;
    struct hrun_strvec nodes;   /* of each rank */
};

struct hrun_srun_parts {
    struct hrun_srun_part *v;
    int n, ngroups;
    char *name;                 /* of the allocation */
    char *nodes;                /* "h[2-3]": the nodes used, in the allocation's order, when they are not all of a job
                                   of one component; else NULL. See srun.c */
};

/* Give the ranks of a layout to the components of the allocation. Errors: HRUN_EINVAL (a host is not part of it, ranks
 * not ordered by component), HRUN_EENGINE (this is no allocation of Slurm), those of hrun_allocation_find; *p is empty
 * then. */
int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err);
void hrun_srun_parts_release(struct hrun_srun_parts *p);
/* -1 with HRUN_EENGINE: that program of Slurm is not there. */
int hrun_srun_missing(struct hrun_error *err, const char *name);

/* The name by which Slurm knows host h of the cluster; the caller frees it. *group: its component. Errors: HRUN_EINVAL
 * (it is not of the allocation), HRUN_ENOMEM. */
char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err);

/* ---- srun.c */

/* Append the caller's environment for an srun: without what an outer launcher left there and without the variables that
 * act as options of srun. Errors: HRUN_ENOMEM. */
int hrun_srun_clean_env(struct hrun_strvec *env, struct hrun_error *err);

#endif
