/* jobs.h - hrun plan FILE: several jobs on one cluster, proposed as order and PEs (paper 000, section 8)
 *
 * Purpose: a file lists jobs; for each the profile tells the ways to run it, on the whole cluster and on parts of it;
 * hrun/jobs finds which to take and when to start each, so that the last ends soonest. Nothing is started.
 * Invariants: a way is what hrun itself would choose on so many PEs of each sub-cluster; the proposal is no longer than
 * each job at its best, one after the other.
 */
#ifndef HRUN_JOBS_H
#define HRUN_JOBS_H

#include "../run/options.h"
#include "schedule.h"
#include "session/context.h"

struct job_kind {           /* jobs that differ in nothing but their names */
    const char *app;
    int64_t N;
    char *const *defines;
    unsigned ndefines;
    const char *program;    /* NULL: not told */
    char *const *args;
    unsigned nargs;
    int nways;
    struct hrun_schedule_way *ways;
    int *pes, *procs;       /* nways by nsubs */
    char **variant;         /* nways: of the definition, where it has several and none was named; else NULL; owned */
};

struct job {
    char *name;
    int kind;
};

struct jobs {
    void *data;             /* the file's, for the texts of the kinds */
    struct hrun_yaml *marks;
    struct job_kind *kinds;
    int nkinds;
    struct job *v;
    int n;
};

/* Read a file of jobs (hrun-plan(1)). Errors: those of hrun_yaml_load; HRUN_EPARSE with the place of what is
 * wrong. jobs_release is safe either way. */
int jobs_read(const char *path, struct jobs *out, struct hrun_error *err);
void jobs_release(struct jobs *j);

/* Find the ways of each kind. c: what stays of the cluster for the words on the screen, filled here; npes[nsubs] of it
 * may be used, *npes is to be freed. Errors: those of the rooms, with the job's name in front. */
int jobs_ways(const struct hrun_settings *s, struct jobs *j, struct context *c, int **npes, struct hrun_error *err);

/* Append the proposal, as text or as JSON. */
int jobs_print(const struct jobs *j, const struct context *c, const int *npes, const struct hrun_schedule *s,
               int verbose, struct hrun_buf *out, struct hrun_error *err);
int jobs_json(const struct jobs *j, const struct context *c, const int *npes, const struct hrun_schedule *s,
              struct hrun_buf *out, struct hrun_error *err);

/* The errand; words: a file of jobs. Result: the exit status. */
int run_plan(const struct hrun_settings *s, char **words);

#endif
