/* jobs.h - hrun plan FILE: order and PEs of several jobs on one cluster (paper 000, section 8)
 *
 * Purpose: PEs that one job leaves idle can run other jobs. A file lists jobs. The profile of a job gives its modes,
 * hrun's choices on the whole cluster and on parts of it. A schedule assigns a mode and a start to each job, within the
 * PEs of the cluster; its makespan, the end of the last job, is minimised. Nothing is started.
 * Method: jobs are placed in some order, each as soon as enough PEs are free; jobs placed in the order of their starts
 * in a shortest schedule have its makespan. Branch and bound searches orders and modes; the bound is the least area of
 * the jobs. If that takes too long, small random changes improve the best schedule found.
 * Invariants: a schedule is at most as long as all jobs one after the other, each in its quickest mode; the result
 * depends only on the arguments; PEs of a sub-cluster are equivalent, and at most one job uses a PE at a time.
 */
#ifndef HRUN_JOBS_H
#define HRUN_JOBS_H

#include "../run/options.h"
#include "session/context.h"

struct job_mode {
    struct hrun_config config;  /* within the PEs of the cluster */
    double time_s;              /* finite, > 0 */
    char *variant;              /* if the definition has several and --variant names none; else NULL; owned */
};

struct job_entry {              /* an entry of the file; NULL: not given */
    char *name, *app, *program;
    int64_t N;
    int *count;
    char **defines, **args;
    unsigned defines_count, args_count;
    struct job_mode *modes;     /* set by jobs_find_modes; owned */
    int nmodes;
};

struct job {
    char *name;
    struct job_entry *entry;
    const struct job_mode *mode;    /* this and the next members are set by jobs_schedule */
    double start_s, end_s;
    int *pe;                    /* its PEs: P1 numbers in sub-cluster 1, ascending, then P2 in sub-cluster 2, ... */
};

enum { JOBS_MAX = 1000 };

struct jobs {
    struct job_file *file;
    struct hrun_yaml *marks;
    struct job *v;              /* in the order of the file; jobs_schedule sorts them by start */
    int n;                      /* 1 .. JOBS_MAX */
    struct context c;           /* of the first job; its cluster is that of all jobs */
    int nsubs, *npes;           /* PEs of each sub-cluster that may be used */
    double makespan_s;          /* this and the next members are set by jobs_schedule */
    double serial_s;            /* total time of the quickest mode of each job */
    double bound_s;             /* lower bound of the makespan */
    int exact;                  /* 1: makespan_s is proved to be the least */
};

/* Read a file of jobs (hrun-plan(1)). Errors: those of hrun_yaml_load; HRUN_EPARSE with the place. jobs_release is safe
 * after success and failure, and on a zeroed *j. */
int jobs_read(const char *path, struct jobs *j, struct hrun_error *err);
void jobs_release(struct jobs *j);

/* Find the cluster, and the modes of each job on it. Errors: those of lib/session, with the job's name in front. */
int jobs_find_modes(const struct hrun_settings *s, struct jobs *j, struct hrun_error *err);

/* Find a schedule. looks: limit of the partial schedules that branch and bound tries; the number of random changes is
 * proportional to it. JOBS_LOOKS takes some tenths of a second for twenty jobs.
 * Errors: HRUN_EINVAL (the time of a job is lost in the rounding of the sum of all). */
enum { JOBS_LOOKS = 20000 };
int jobs_schedule(struct jobs *j, long looks, struct hrun_error *err);

/* Run `hrun plan FILE`. words: the file of jobs. Result: the exit status. */
int run_plan(const struct hrun_settings *s, char **words);

#endif
