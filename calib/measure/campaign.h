/* campaign.h - the runs of a calibration, their outcomes, and the expected time of the remaining runs
 *
 * Purpose: the grid sizes x PEs x processes per PE of each sub-cluster alone (paper 000, section 4.1: models are made
 * from homogeneous sub-clusters), adapted to the application's rule, without runs that the log already has.
 * Invariants: points are distinct; each satisfies rule and memory limit; with a rule such as N % P == 0 a point has the
 * valid size nearest to the wanted one (section 5.2: "we cannot use arbitrary sizes but must choose the multiples of
 * the specified P"). Only campaign_note, campaign_count and campaign_point change a campaign once it is built.
 */
#ifndef CALIB_MEASURE_CAMPAIGN_H
#define CALIB_MEASURE_CAMPAIGN_H

#include "../common/calib_options.h"
#include "session/context.h"

struct point {
    int64_t N;
    struct hrun_config config;
    int P;                    /* processes in all */
    double work;              /* family weak: the rows of each process; else 0 */
    double *share;            /* part of the work of each process of a sub-cluster; NULL: equal */
    int copies;               /* 1: each process is a separate run, all at the same time (runs.h) */
    int sub;                  /* the only sub-cluster used; -1: several */
    int have;                 /* good measurements on disk */
    int failed;               /* attempts that failed in this campaign */
    int refused;              /* 1: the last attempt failed with the program's own exit status */
    int left_out;             /* 1: no more attempts, as it failed too often or its sub-cluster is given up */
    double wall_s;            /* mean wall time of its good runs; 0: unknown */
};

struct budget;

struct campaign {
    struct point *v;
    int n, cap;
    struct budget *budget;    /* for runs chosen one by one (budget.h), owned; NULL: the grid */
    int wanted;               /* repetitions of each point of the grid */
    int skipped_rule, skipped_memory; /* grid points that could not be made valid */
    int nsubs;
    /* Counted since the campaign was built: */
    int good;                 /* good runs */
    int failed_points;        /* points left out because the program failed */
    int hosts_failed;         /* runs that failed because of an engine or a host */
    int no_time;              /* runs that ended well without a known time */
    int too_short;            /* runs that ended well with a time of 0 s */
    char last_failure[640];
    double step_s;            /* resolution of the times of the log and of the good runs */
    int timed;                /* number of these times */
};

/* How a run ended. */
enum run_end {
    RUN_GOOD,                 /* a measurement */
    RUN_FAILED,
    RUN_REFUSED,              /* with the program's own exit status */
    RUN_HOST_FAILED,          /* the engine or a host failed, not the application */
    RUN_NO_TIME,              /* the application ended well, but its time is not known */
    RUN_TOO_SHORT,            /* the application ended well with a time of 0 s */
    RUN_TOO_SLOW              /* ended by hrun-calibrate, as other configurations are much quicker */
};

/* An event during the runs. */
enum event_kind { EVENT_BEGIN, EVENT_RUN, EVENT_GIVEN_UP, EVENT_WORDS };
struct event {
    enum event_kind kind;
    int point;                /* BEGIN, RUN: index of the point */
    int sub;                  /* GIVEN_UP: the sub-cluster; nsubs: runs on several */
    /* RUN. */
    enum run_end end;         /* a failure is described in text */
    int left_out;             /* 1: the point is not tried again */
    double time_s, wall_s;
    char text[640];           /* RUN, GIVEN_UP: the reason; WORDS: a message of the engine */
};

/* Build the grid; release *g also after an error. Errors: HRUN_EINVAL (bad lists, no sizes known, nothing left to
 * measure). */
int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *g, struct hrun_error *err);
void campaign_release(struct campaign *g);

/* Update the counts and the event's point. */
void campaign_note(struct campaign *g, const struct event *e);
/* Count a good run, new or from the log. p: its point; NULL: the campaign has no point for it. */
void campaign_count(struct campaign *g, struct point *p, double time_s, double wall_s);
/* The resolution of measured times, s; 0 if there are too few times to know it. */
double campaign_step(const struct campaign *g);

/* Find or add the point with this configuration (for g->nsubs sub-clusters) and size, and set its shares (copied; NULL:
 * equal). Result: its index. */
int campaign_point(struct campaign *g, const struct hrun_config *config, const double *share, int64_t N);

/* 1 if the campaign measures this sub-cluster, else 0. */
int campaign_has(const struct campaign *g, int sub);

/* The number of runs left on one sub-cluster, or on all if sub is -1. */
int campaign_left(const struct campaign *g, int sub);
/* The expected wall time of the runs left, s, from each point's own mean, else from the nearest known point; 0 if no
 * point is known. */
double campaign_time_left(const struct campaign *g, int sub);
/* 1 if all points left have run before, else 0. */
int campaign_left_is_sure(const struct campaign *g);

/* The time after which a run of point i counts as hanging, s: a minute for a slow start, plus 20 times the longest wall
 * time extrapolated from the known points of its sub-clusters, with the cube of N and in proportion to the part Mi/P of
 * the work on each PE. 0: no point of one of its sub-clusters is known yet. */
double campaign_limit(const struct campaign *g, int i);

/* Append the table of points, then the runs and times of each sub-cluster and in all. */
void campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out);

#endif
