/* jobs.h - hrun plan FILE: several jobs on one cluster, proposed as order and PEs (paper 000, section 8)
 *
 * Purpose: a file lists jobs. The profile of each gives ways to run it, on the whole cluster and on parts of it.
 * schedule.h chooses a way and a start for each so that the last job ends as early as possible. Nothing is started.
 * Invariants: a way is hrun's own choice for a given number of PEs of each sub-cluster; the proposal takes no longer
 * than all jobs one after the other, each in its quickest way.
 */
#ifndef HRUN_JOBS_H
#define HRUN_JOBS_H

#include "../run/options.h"
#include "schedule.h"
#include "session/context.h"

struct job_entry {          /* an entry of the file; NULL: not given */
    char *name, *app, *program;
    int64_t N;
    int *count;
    char **defines, **args;
    unsigned defines_count, args_count;
    struct hrun_schedule_way *ways;     /* the same for each of its jobs; owned, set by jobs_ways */
    int nways;
};

struct job {
    char *name;
    struct job_entry *entry;
    const struct hrun_schedule_way *way;    /* as planned, set by run_plan */
    const struct hrun_scheduled *at;
};

struct jobs {
    struct job_file *file;
    struct hrun_yaml *marks;
    struct job *v;
    int n;
    struct context c;                   /* of the first job; its cluster is that of all jobs */
    int *npes;                          /* PEs of each sub-cluster that may be used */
    struct hrun_schedule *schedule;
};

/* Read a file of jobs (hrun-plan(1)). Errors: those of hrun_yaml_load; HRUN_EPARSE with the place. jobs_release is safe
 * after success and failure, and on a zeroed *j. */
int jobs_read(const char *path, struct jobs *j, struct hrun_error *err);
void jobs_release(struct jobs *j);

/* Find the cluster, and the ways to run each job on it. Errors: those of the rooms, with the job's name in front. */
int jobs_ways(const struct hrun_settings *s, struct jobs *j, struct hrun_error *err);

/* hrun plan FILE; words: the file of jobs. Result: the exit status. */
int run_plan(const struct hrun_settings *s, char **words);

#endif
