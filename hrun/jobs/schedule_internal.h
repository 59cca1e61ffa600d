/* internal.h - inside hrun/jobs: placing jobs in time */
#ifndef HRUN_SCHEDULE_INTERNAL_H
#define HRUN_SCHEDULE_INTERNAL_H

#include "schedule.h"

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
