/* schedule.h - several jobs on one cluster: which PEs for each, and in which order, so that all end soonest
 *
 * Purpose: other jobs can use the PEs that one leaves idle (paper 000, section 8). A job has several ways to run: PEs
 * of each sub-cluster, and its time on them. A schedule gives each job a way and a start, so that no more PEs are in
 * use at once than there are; its last end (the makespan) is to be early.
 * Method: jobs are placed one after the other, each as soon as enough PEs are free. Placed in the order of the starts
 * of a shortest schedule they end as early as in that schedule. Orders and ways are searched by branch and bound, with
 * the area that the jobs need at least as the bound; where that takes too long, small changes improve the best one.
 * Invariants: a schedule is no longer than the quickest ways one after the other; the answer depends on nothing but
 * the arguments; PEs of a sub-cluster are equivalent, and at each moment each is used by one job at most.
 */
#ifndef HRUN_JOBS_SCHEDULE_H
#define HRUN_JOBS_SCHEDULE_H

#include "base/config.h"
#include "base/error.h"

struct hrun_schedule_way {
    struct hrun_config config;  /* no more PEs than there are */
    double time_s;          /* finite, > 0 */
    char *variant;          /* jobs.h: of the definition, where it has several and none was named; else NULL; owned */
};

struct hrun_schedule_job {
    const struct hrun_schedule_way *ways;
    int nways;              /* >= 1 */
};

struct hrun_schedule_problem {
    int nsubs;
    const int *npes;        /* nsubs: PEs there are */
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
    int *order;             /* jobs by their start, those of one start as in the problem; owned */
    int njobs;
    double makespan_s;
    double serial_s;        /* the quickest way of each, one after the other */
    double bound_s;         /* no schedule of these ways is shorter */
    int exact;              /* 1: makespan_s is the least there is */
};

/* looks: the number of partial schedules that branch and bound tries, and about the number of complete ones after that;
 * HRUN_SCHEDULE_LOOKS takes some tenths of a second for twenty jobs.
 * Errors: HRUN_EINVAL (times so unlike that the shortest is lost in the sum of the longest). *out is untouched then. */
enum { HRUN_SCHEDULE_LOOKS = 20000 };
int hrun_schedule_find(const struct hrun_schedule_problem *problem, long looks, struct hrun_schedule **out,
                       struct hrun_error *err);
void hrun_schedule_destroy(struct hrun_schedule *s);

#endif
