/* schedule.h - several jobs on one cluster: which PEs for each, and in which order, so that all end soonest
 *
 * Purpose: paper 000, section 8, names what a configuration leaves idle as room for other runs. A job has several
 * ways to run: PEs of each sub-cluster, and the time that it takes on them. A schedule takes one way of each and a
 * time to start, so that no more PEs are in use at once than there are; the last end (the makespan) is to be early.
 * Method: jobs are placed one after the other, each as early as its way fits in (serial schedule generation, Kolisch,
 * Serial and parallel resource-constrained project scheduling methods revisited, EJOR 1996): for every choice of ways
 * one of the orders gives the shortest schedule. Orders and ways are searched by branch and bound, with the area that
 * the jobs need at least as the bound; where that takes too long the search goes on from the best found by small
 * changes, and the gap to the bound is told.
 * Invariants: a schedule is no longer than the quickest ways one after the other; the answer depends on nothing but
 * the arguments; PEs of a sub-cluster are equivalent, and at each moment each is used by one job at most.
 */
#ifndef HRUN_JOBS_SCHEDULE_H
#define HRUN_JOBS_SCHEDULE_H

#include "base/error.h"

struct hrun_schedule_way {
    const int *pes;         /* nsubs: PEs used of each sub-cluster, at least one in all */
    double time_s;          /* finite, > 0 */
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
    int *pe;                /* its PEs: pes[0] numbers in sub-cluster 0, ascending, then those in the next; owned */
};

struct hrun_schedule {
    struct hrun_scheduled *v;  /* of each job, as in the problem; owned */
    int njobs;
    double makespan_s;
    double serial_s;        /* the quickest way of each, one after the other */
    double bound_s;         /* no schedule of these ways is shorter */
    int exact;              /* 1: makespan_s is the least there is */
};

/* looks: about so many partial schedules are tried for proving, and as many complete ones after that;
 * HRUN_SCHEDULE_LOOKS takes some tenths of a second for twenty jobs.
 * Errors: HRUN_EINVAL (numbers of jobs, ways, PEs, times; a way with more PEs than there are; times so unlike that the
 * shortest is lost in the sum of the longest), HRUN_ENOMEM. *out is untouched then. */
enum { HRUN_SCHEDULE_LOOKS = 20000 };
int hrun_schedule_find(const struct hrun_schedule_problem *problem, long looks, struct hrun_schedule **out,
                       struct hrun_error *err);
void hrun_schedule_destroy(struct hrun_schedule *s);

/* ---------------------------------------------------------------- inside hrun/jobs: placing jobs in time */

/* PEs in use over time: used[i * nsubs + s] from time_s[i] to time_s[i + 1]; after the last nothing is. Invariant:
 * time_s[0] = 0, times ascend strictly. */
struct timeline {
    double *time_s;
    int *used;
    int n, cap, nsubs;
};

/* -1 with HRUN_ENOMEM. cap: steps that it can have; a job adds two at most. */
int timeline_init(struct timeline *t, int nsubs, int njobs, struct hrun_error *err);
void timeline_release(struct timeline *t);
void timeline_clear(struct timeline *t);
void timeline_copy(struct timeline *to, const struct timeline *from);

/* Use pes[nsubs] for time_s as early as npes[nsubs] allow; result: the start. */
double timeline_place(struct timeline *t, const int *npes, const struct hrun_schedule_way *way);

/* What is searched: an order of jobs and a way for each. */
struct solution {
    int *order, *way;
    double makespan_s;
};

/* No schedule is shorter: the largest, over several weights w of the sub-clusters, of the area w.pes time that the jobs
 * need at least, over w.npes; and the longest of the quickest ways. weights: 2 nsubs; the first
 * half receives those of the largest. */
double schedule_bound(const struct hrun_schedule_problem *p, double *weights);

/* The least area of each job under these weights, over all PEs': seconds of the whole cluster. */
void schedule_areas(const struct hrun_schedule_problem *p, const double *weights, double *area_s);

#endif
