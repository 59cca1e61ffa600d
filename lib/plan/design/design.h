/* design.h - choose the next run, so that few runs show which configuration is best
 *
 * Purpose: choose calibration runs one by one (experiment design) from an application, its sub-clusters and earlier
 * measurements. No I/O and no clock: hrun-calibrate makes the runs, tests take times from tables.
 * Stages, each a batch of runs in random order, followed by a new fit of all models:
 *   screen   each sub-cluster and M: one PE and all PEs at a small and a middle size; then the whole cluster with
 *            each M at every second size, so that models need not extrapolate in P. An application of one size begins
 *            with the whole cluster. If the run on all PEs was not slow, a quarter of them is run instead of one PE:
 *            one PE would take longer by a factor of up to the number of PEs;
 *   choice   at each size, the choice if it was never run; then the run with the largest expected reduction of the
 *            choice's time per second (knowledge gradient, Frazier, Powell, Dayanik 2008), which may be a repetition.
 *            With a budget, also variants of the choice at the smallest and the largest size;
 *   repeat   a homogeneous run that lies far from the fit is repeated;
 *   the end  at most three tenths of a budget are reserved to run each choice twice: choices of the last fit that were
 *            never run are run, the shortest first, until all choices stand.
 * Invariants:
 *   - every run satisfies rule and memory and fits the sub-clusters;
 *   - the next run depends only on the settings (with their seed) and on the runs added, in their order;
 *   - a configuration that failed at a size is not proposed again at this size; the caller may narrow the rule.
 * Terms: a *run* is a configuration (P1,M1,...) at a size N; its *cost* is wall time. A choice *stands* if no further
 * run is expected to improve it. The budget is charged with the measured cost of runs, never with estimates.
 */
#ifndef HRUN_DESIGN_H
#define HRUN_DESIGN_H

#include "app/app.h"
#include "base/error.h"
#include "model/model.h"

#include <stdint.h>

/* The wall time above which a run of a command is slow; least_s: wall time of the quickest run. */
double hrun_design_slow_s(double least_s);

struct hrun_design_sub {
    const char *name, *signature;
    int npes;                   /* PEs that may be used; 0: the sub-cluster is not used */
    int most;                   /* limit of processes per PE; 0: that of the definition */
    double memory_bytes;        /* per PE; 0: not limited */
};

/* Strings and arrays of subs and settings must outlive the design. */
struct hrun_design_settings {
    const int64_t *sizes;       /* sizes of runs, at each of which the choice must stand; >= 1, ascending */
    int nsizes;                 /* >= 1 */
    int own_sizes;              /* 1: sizes whose times are too short to be exact (hrun_times_least) may be dropped, the
                                   smallest first; three are left */
    const int64_t *pes;         /* numbers of PEs of homogeneous runs, ascending; NULL: hrun_design_pes */
    int npes;
    const int64_t *procs;       /* processes per PE, ascending; NULL: the definition's */
    int nprocs;
    double budget_s;            /* limit of wall time; 0: not limited */
    double own_budget;          /* > 0: each fit sets budget_s to this part of a time that follows from the cost of the
                                   choices: twice as much while the expected loss is above 2 %, a part of the cost of
                                   all configurations if they are few, less than two minutes for short runs of one
                                   size. Runs from before are charged to it */
    int runs;                   /* limit of runs; 0: not limited */
    double target;              /* 0.05: stop when at every size the 95 % interval of the choice's time is within +- 5 %
                                   and its expected loss is at most 5 %; 0: no target */
    uint64_t seed;              /* of the random order within a stage */
    struct hrun_fit_options fit;
};

enum hrun_design_stage { HRUN_DESIGN_SCREEN, HRUN_DESIGN_CHOICE, HRUN_DESIGN_REPEAT };
const char *hrun_design_stage_name(enum hrun_design_stage s);   /* "screen", "choice", "repeat" */

struct hrun_design_run {
    struct hrun_config config;
    const double *share;        /* part of all work for each process of sub-cluster i; NULL: equal */
    int P;
    int64_t N;
    enum hrun_design_stage stage;
    double expected_s;          /* wall time; 0: not known yet */
    double limit_s;             /* limit of wall time if there is one size: a longer run is no candidate, so it may be
                                   ended and added as failed; 0: none */
};

enum hrun_design_end {
    HRUN_DESIGN_GOES_ON, HRUN_DESIGN_BUDGET, HRUN_DESIGN_RUNS, HRUN_DESIGN_TARGET, HRUN_DESIGN_STABLE,
    HRUN_DESIGN_EXHAUSTED       /* nothing is left that could be run */
};

struct hrun_design_state {
    enum hrun_design_end end;
    int runs, failed;           /* runs made under this design, and failed ones of these */
    double spent_s;             /* wall time of these runs and of pauses */
    double budget_s;            /* 0: not limited, or not known yet */
    double left_s;              /* expected remaining wall time; with a budget: its rest; 0: not known */
    int sizes, settled;         /* sizes with a valid configuration, and those of them where the choice stands */
    int dropped;                /* number of dropped sizes, the smallest ones; the others are numbered from 0 */
    double loss;                /* mean over sizes: expected relative loss of the choice; NaN while not known */
    double interval;            /* largest relative half width over sizes of the choice's 95 % interval; NaN as loss */
    enum hrun_design_stage stage; /* of the last run that hrun_design_next returned */
    int queued;                 /* remaining runs of this stage */
    int exact;                  /* 1: times do not scatter */
    int ignores;                /* 1: runs show that the program ignores its shares of the work */
};

struct hrun_design;

/* Make a design. Errors: HRUN_EINVAL (no run is possible; the message says why), errors of the rule and of memory. */
struct hrun_design *hrun_design_create(const struct hrun_app *app, const struct hrun_design_sub *subs, int nsubs,
                                       const struct hrun_design_settings *settings, struct hrun_error *err);
void hrun_design_destroy(struct hrun_design *d);

/* A run that was made. */
struct hrun_design_result {
    struct hrun_config config;
    const double *share;        /* as in struct hrun_design_run */
    int64_t N;
    double time_s;              /* the time that models predict; 0: the run failed for good */
    double wall_s;
    int counts;                 /* 1: made under this design, charged to the budget; 0: from before, not charged */
};

/* Add a run. Errors: HRUN_EINVAL (configuration does not fit the sub-clusters, invalid time or wall time); the design
 * is unchanged then. */
int hrun_design_add(struct hrun_design *d, const struct hrun_design_result *result, struct hrun_error *err);
/* Charge the budget with a pause between runs. Further runs are expected to need the mean pause per run. */
void hrun_design_add_pause(struct hrun_design *d, double pause_s);

/* Report that a run at N was too short for the program to print its time; the run is added with hrun_design_add. */
void hrun_design_too_short(struct hrun_design *d, int64_t N);

/* Set *run to the next run. Several runs may be in progress: a second call before hrun_design_add gives the following
 * run. Result: 1; 0: the design has ended (hrun_design_state gives the reason); -1 on errors of lib/model, lib/plan and
 * the application's expressions. */
int hrun_design_next(struct hrun_design *d, struct hrun_design_run *run, struct hrun_error *err);

const struct hrun_design_state *hrun_design_state(const struct hrun_design *d);

/* 1 if the choice at size number i stands, else 0. *loss: its expected relative loss, NaN: not known. */
int hrun_design_stands(const struct hrun_design *d, int i, double *loss);

/* ------------------------------------------------------------------ homogeneous points, also of the full grid */

/* Set v to the numbers of PEs to measure on a sub-cluster of npes PEs: 1 to 4 (paper 000, Table VI measures P = 1..4),
 * then 6, 8, 12, 16, 24, ... and npes. v has room for HRUN_DESIGN_PES entries. Result: the number of entries. */
enum { HRUN_DESIGN_PES = 64 };
int hrun_design_pes(int npes, int64_t *v);

/* The size nearest to N that the rule accepts for P, at most a quarter of N away; 0 if there is none, -1 on error
 * (paper 000, section 5.2: "we cannot use arbitrary sizes but must choose the multiples of the specified P"). */
int64_t hrun_design_size(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err);

#endif
