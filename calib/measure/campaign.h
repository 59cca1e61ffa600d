/* campaign.h - which runs a calibration makes, how they went, and how long they will take
 *
 * Purpose: the grid sizes x PEs x processes per PE of each sub-cluster alone (paper 000, section 4.1: models are made
 * from homogeneous sub-clusters), fitted to the application's rule, less what is measured already.
 * Invariants: points are distinct; each satisfies rule and memory limit; a point with a rule such as N % P == 0 uses
 * the valid size nearest to the wanted one (section 5.2: "we cannot use arbitrary sizes but must choose the multiples
 * of the specified P"). Once it is built nothing but campaign_note changes a campaign.
 */
#ifndef CALIB_MEASURE_CAMPAIGN_H
#define CALIB_MEASURE_CAMPAIGN_H

#include "../common/calib_options.h"
#include "session/context.h"

struct point {
    int64_t N;
    struct hrun_config config;
    int P;                    /* processes in all */
    double work;              /* family weak: the rows of each process, else 0 */
    double *share;            /* part of the work of each process of a sub-cluster; NULL: equal */
    int copies;               /* 1: each process is a run of its own, all at the same time (runs.h) */
    int sub;                  /* the only sub-cluster used; -1: several */
    int have;                 /* good measurements on disk */
    int failed;               /* attempts that failed in this campaign */
    int refused;              /* 1: the last attempt failed by the program's own exit status */
    int left_out;             /* 1: it failed too often, or its sub-cluster is given up */
    double wall_s;            /* mean wall time of its good runs, 0 unknown */
};

struct budget;

struct campaign {
    struct point *v;
    int n, cap;
    struct budget *budget;    /* runs are chosen one by one (budget.h), owned; NULL: the grid */
    int wanted;               /* repetitions of each point of the grid */
    int skipped_rule, skipped_memory; /* grid points that could not be made valid */
    int nsubs;
    /* Since it was built. */
    int good;                 /* good runs */
    int failed_points;        /* points left out because the program failed */
    int hosts_failed;         /* runs that an engine or a host made fail */
    int no_time;              /* runs that ended well, but whose time is not known */
    int too_short;            /* runs that ended well with a time of 0 s */
    char last_failure[640];
    double step_s;            /* resolution of the times of the log and of the good runs */
    int timed;                /* number of these times */
};

/* What happens while the runs are made. */
enum event_kind { EVENT_BEGIN, EVENT_RUN, EVENT_GIVEN_UP, EVENT_WORDS };
struct event {
    enum event_kind kind;
    int point;                /* BEGIN, RUN: index */
    int sub;                  /* GIVEN_UP */
    /* RUN. */
    int ok;                   /* 1: a measurement; 0: failed: text says how */
    int left_out;             /* it failed for the last time */
    int host_failed;          /* the engine or a host failed, not the application */
    int no_time;              /* the application ended well, but its time is not known */
    int too_short;            /* it ended well with a time of 0 s */
    int too_slow;             /* it was ended because others are far quicker */
    int refused;              /* the program ended it with a status of its own */
    double time_s, wall_s;
    char text[640];           /* RUN, GIVEN_UP: why; WORDS: what the engine says */
};

/* Build the grid. Errors: HRUN_EINVAL (bad lists, no sizes known, nothing left to measure). */
int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
void campaign_release(struct campaign *g);

void campaign_note(struct campaign *g, const struct event *e);
/* Count a good run of a point (NULL: of none of this campaign), of the log or of now. */
void campaign_count(struct campaign *g, struct point *p, double time_s, double wall_s);
/* The resolution of measured times as far as is known; 0: not known. */
double campaign_step(const struct campaign *g);

/* The point with this configuration (PEs and processes per PE of each of g->nsubs sub-clusters), size, and equal shares
 * (NULL) or others, which become these; made when it is not there yet. Result: its index. */
int campaign_point(struct campaign *g, const struct hrun_config *config, const double *share, int64_t N);

/* 1 if this sub-cluster is to be measured. */
int campaign_has(const struct campaign *g, int sub);

/* Runs that are still to be made on one sub-cluster, or with sub = -1 on all. */
int campaign_left(const struct campaign *g, int sub);
/* Their expected wall time: known points by their own mean, others by the nearest known one; 0 while none is. */
double campaign_time_left(const struct campaign *g, int sub);
/* 1 when all that are left were run before. */
int campaign_left_is_sure(const struct campaign *g);

/* The time (s) after which a run of point i is taken to hang: a minute for a slow start, and 20 times the longest wall
 * time that the known points of its sub-clusters let expect. That grows with the cube of N, and in proportion to the
 * part Mi/P of the work on each PE. 0: of a sub-cluster that it uses nothing is known yet. */
double campaign_limit(const struct campaign *g, int i);

/* Append the table of points, and under it the runs and times of each sub-cluster and in all. */
void campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out);

#endif
