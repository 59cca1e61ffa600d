/* schedule.h - schedule several jobs on one cluster with the least makespan
 *
 * Purpose: other jobs can use the PEs that one leaves idle (paper 000, section 8). A job has several ways to run: PEs
 * of each sub-cluster, and its time on them. A schedule gives each job a way and a start, within the PEs of the
 * cluster, and minimises its last end (the makespan).
 * Method: jobs are placed one after the other, each as soon as enough PEs are free. In the order of starts of a
 * shortest schedule this gives its makespan. Branch and bound searches orders and ways; the bound is the least area of
 * the jobs. If that takes too long, small random changes improve the best schedule found.
 * Invariants: a schedule is no longer than the quickest ways one after the other; the result depends only on the
 * arguments; PEs of a sub-cluster are equivalent, and each is used by at most one job at a time.
 */
#ifndef HRUN_JOBS_SCHEDULE_H
#define HRUN_JOBS_SCHEDULE_H

#include "base/config.h"
#include "base/error.h"

struct hrun_schedule_way {
    struct hrun_config config;  /* no more PEs than there are */
    double time_s;          /* finite, > 0 */
    char *variant;          /* variant of the definition, if it has several and none was named; else NULL; owned */
};

struct hrun_schedule_job {
    const struct hrun_schedule_way *ways;
    int nways;              /* >= 1 */
};

struct hrun_schedule_problem {
    int nsubs;
    const int *npes;        /* nsubs: PEs of each sub-cluster */
    const struct hrun_schedule_job *jobs;
    int njobs;              /* 1 .. HRUN_SCHEDULE_JOBS_MAX; equal jobs have the same `ways` */
};

enum { HRUN_SCHEDULE_JOBS_MAX = 1000 };

struct hrun_scheduled {     /* of one job */
    int way;
    double start_s, end_s;
    int *pe;                /* its PEs: P1 numbers in the first sub-cluster, ascending, then those in the next; owned */
};

struct hrun_schedule {
    struct hrun_scheduled *v;  /* of each job, as in the problem; owned */
    int *order;             /* jobs sorted by start, then by number; owned */
    int njobs;
    double makespan_s;
    double serial_s;        /* total time of the quickest way of each job */
    double bound_s;         /* lower bound of the makespan */
    int exact;              /* 1: makespan_s is proved to be the least */
};

/* looks: limit of the partial schedules that branch and bound tries, and scale of the number of changes after that.
 * HRUN_SCHEDULE_LOOKS takes some tenths of a second for twenty jobs.
 * Errors: HRUN_EINVAL (the shortest time is below the rounding of the sum of the others); *out is then untouched. */
enum { HRUN_SCHEDULE_LOOKS = 20000 };
int hrun_schedule_find(const struct hrun_schedule_problem *problem, long looks, struct hrun_schedule **out,
                       struct hrun_error *err);
void hrun_schedule_destroy(struct hrun_schedule *s);

#endif
