/* srun.h - shared by the files of engine srun (internal) */
#ifndef HRUN_LAUNCH_SRUN_H
#define HRUN_LAUNCH_SRUN_H

#include "launch/job.h"
#include "launch/slurm.h"

/* The components of the job that are used. */
struct hrun_srun_parts {
    struct hrun_srun_part *v;
    int n, ngroups;
    char *name;                 /* of the allocation */
    char *nodes;                /* "h[2-3]": the nodes used, in the allocation's order, if the job has one component and
                                   more nodes; else NULL. See srun.c */
};

/* Assign the ranks of a layout to the components of the allocation. Errors: HRUN_EINVAL (a host is not in it, ranks are
 * not ordered by component), HRUN_EENGINE (not an allocation of Slurm), those of hrun_allocation_find; *p is then
 * empty. */
int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err);
void hrun_srun_parts_release(struct hrun_srun_parts *p);

/* ---- srun_watch.c: a running step */

enum { HRUN_SRUN_GROUPS = 128 };   /* components of a heterogeneous job; Slurm's own limit (MAX_HET_JOB_COMPS) */

/* A step; r->state of the functions below. */
struct hrun_srun {
    char *srun, *scancel, *shim;    /* paths */
    int mpich;
    struct hrun_srun_parts parts;
    int first_rank[HRUN_SRUN_GROUPS];   /* of each component: rank of its first task */
    const char *job_ids[HRUN_SRUN_GROUPS];  /* of each component; NULL if it has no separate job number */
    struct hrun_strvec steps;       /* "12.0"; of a heterogeneous job one for each component used */
    int started;                    /* number of tasks started */
    char notice[64];                /* step that the next line of srun is about */
    int aborted;
    int suspect;                    /* a rank killed by SIGKILL, perhaps because another one failed; -1: none */
    int suspect_after;              /* 1: it was killed after the abort of the step */
    int completed;                  /* the last rank that ended with 0 before the step was aborted; -1: none */
    double completed_s;
    char complaint[256];            /* last error message of srun, or "" */
};

/* Functions of struct hrun_driver. */
void bring_srun_signal(struct hrun_run *r, int sig);
void read_srun_line(struct hrun_run *r, char *line);
void blame_suspect(struct hrun_run *r);
void srun_ended(struct hrun_run *r, int status);

#endif
