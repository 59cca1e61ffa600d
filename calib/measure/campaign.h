/* campaign.h - which runs a calibration makes, how they went, and how long they will take
 *
 * Purpose: the grid sizes x PEs x processes per PE of each sub-cluster alone (paper 000, section 4.1: models are made
 * from homogeneous sub-clusters), fitted to the application's rule, less what is measured already.
 * Invariants: points are distinct; each satisfies rule and memory limit; a point with a rule such as N % P == 0 uses
 * the valid size nearest to the wanted one (section 5.2: "we cannot use arbitrary sizes but must choose the multiples
 * of the specified P").
 */
#ifndef CALIB_CAMPAIGN_H
#define CALIB_CAMPAIGN_H

#include "../common/lists.h"

struct point {
    int64_t N;
    int *pes, *procs;         /* of each sub-cluster: PEs, and processes on each of them */
    int P;                    /* processes in all */
    double work;              /* family weak: the rows of each process, else 0 */
    int copies;               /* 1: each process is a run of its own, all at the same time (copies.h) */
    int sub;                  /* the only sub-cluster used; -1: several */
    int have;                 /* good measurements on disk */
    int failed;               /* attempts that failed in this campaign */
    int left_out;             /* 1: it failed too often, or its sub-cluster is given up */
    double wall_s;            /* mean wall time of its good runs, 0 unknown */
};

struct budget;

struct campaign {
    struct point *v;
    int n;
    size_t cap;
    struct budget *budget;    /* runs are chosen one by one (budget.h), owned; NULL: the grid */
    int wanted;               /* repetitions of each point of the grid */
    int skipped_rule, skipped_memory; /* grid points that could not be made valid */
    int nsubs;
    int good, failed_points, hosts_failed; /* since it was built: good runs; points left out, and runs that an engine
                                 or a host made fail */
    int no_time;              /* runs that ended well, but of which the time is not known */
    int too_short;            /* runs that ended well and told a time of 0 s */
    double step_s;            /* the steps in which the times of the log and of the good runs are told */
    int timed;                /* how many these are */
    char last_failure[640];
};

/* What happens while the runs are made. */
enum event_kind { EVENT_BEGIN, EVENT_RUN, EVENT_GIVEN_UP, EVENT_WORDS };
struct event {
    enum event_kind kind;
    int point;                /* BEGIN, RUN: index */
    int sub;                  /* GIVEN_UP */
    int ok;                   /* RUN: 1 a measurement, 0 failed: text says how */
    int left_out;             /* RUN: it failed for the last time */
    int host_failed;          /* RUN: the engine or a host failed, not the application */
    int no_time;              /* RUN: the application ended well, but its time is not known */
    int too_short;            /* RUN: it ended well and told a time of 0 s */
    double time_s, wall_s;    /* RUN */
    char text[640];           /* RUN, GIVEN_UP: why; WORDS: what the engine says */
};

/* Build the grid. Errors: HRUN_EINVAL (bad lists, no sizes known, nothing left to measure). */
int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
void campaign_release(struct campaign *g);

void campaign_note(struct campaign *g, const struct event *e);

/* Look at a measured time, and the steps in which times are told as far as is known: 0, not known. */
void campaign_see_time(struct campaign *g, double time_s);
double campaign_step(const struct campaign *g);

/* The point with this configuration (PEs and processes per PE of each of g->nsubs sub-clusters) and size, made when it
 * is not there yet. Result: its index; -1 with HRUN_ENOMEM. */
int campaign_point(struct campaign *g, const int *pes, const int *procs, int64_t N, struct hrun_error *err);

/* 1 if this sub-cluster is to be measured. */
int campaign_has(const struct campaign *g, int sub);

/* Runs that are still to be made; of one sub-cluster, or with sub = -1 of all. */
int campaign_left(const struct campaign *g, int sub);
/* Their expected wall time, the same way: known points by their own mean, others by the nearest known one; 0 while none
 * is. */
double campaign_time_left(const struct campaign *g, int sub);
/* 1 when all that are left were run before. */
int campaign_left_is_sure(const struct campaign *g);

/* The time (s) after which a run of point i is taken to hang, by what is known of its sub-clusters: 20 times the
 * longest time to be expected of it, and a minute for a slow start. To be expected is the wall time of any known point
 * there, for a larger N times the cube of the growth in N, for a larger part Mi/P of the work on each PE in proportion
 * to it. 0: of a sub-cluster that it uses nothing is known yet. */
double campaign_limit(const struct campaign *g, int i);

/* Append the table of points, and under it the runs and times of each sub-cluster and in all. */
int campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out);

#endif
