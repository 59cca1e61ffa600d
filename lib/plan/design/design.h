/* design.h - which run to make next, so that few runs show which configuration is best
 *
 * Purpose: choose calibration runs one by one (experiment design) from an application, its sub-clusters and what was
 * measured so far. No I/O and no clock: hrun-calibrate makes real runs by it, tests look times up in tables.
 * Stages, each a batch of runs in random order, after which all models are fitted anew:
 *   screen   each sub-cluster and M: one PE and all PEs at a small and a middle size; then the whole cluster with
 *            each M at every second size, so that models need not extrapolate in P. An application of one size begins
 *            with the whole cluster, and where all PEs were not slow, a quarter of them is run instead of one PE, which
 *            would take as many times longer as there are PEs;
 *   choice   at each size, the choice while it was not run; then the run that is expected to lower the time of the
 *            choice most per second (knowledge gradient, Frazier, Powell, Dayanik 2008), which may be a repetition.
 *            With a budget, also variants of the choice at the smallest and the largest size;
 *   repeat   a homogeneous run that lies far from the fit is repeated;
 *   the end  a reserve, at most three tenths of a budget, is kept to run each choice twice: choices of the last fit
 *            that were never run are run, the shortest first, until all choices stand.
 * Invariants:
 *   - every run satisfies rule and memory and fits the sub-clusters;
 *   - what comes next depends on the settings (with their seed) and on the runs added, in their order, alone;
 *   - a configuration that failed at a size is not proposed at this size again; the caller may narrow the rule.
 * Terms: a *run* is a configuration (P1,M1,...) at a size N; its *cost* is wall time. The budget is charged with the
 * measured cost of runs, never with estimates.
 */
#ifndef HRUN_DESIGN_H
#define HRUN_DESIGN_H

#include "app/app.h"
#include "base/error.h"
#include "model/model.h"

#include <stdint.h>

/* The wall time from which a run of a command is slow, if the quickest took least_s. */
double hrun_design_slow_s(double least_s);

struct hrun_design_sub {
    const char *name, *signature;
    int npes;                   /* PEs that may be used; 0: the sub-cluster is left alone */
    int most;                   /* processes per PE at most; 0: as the definition says */
    double memory_bytes;        /* per PE; 0: not limited */
};

/* Strings and arrays of subs and settings are to outlive the design. */
struct hrun_design_settings {
    const int64_t *sizes;       /* at which runs may be made and the choice must stand; ascending from 1 on */
    int nsizes;                 /* >= 1 */
    int own_sizes;              /* 1: they may be given up, the smallest first, where times are too short to tell
                                   anything (hrun_times_least); three are left */
    const int64_t *pes;         /* numbers of PEs of homogeneous runs, ascending; NULL: hrun_design_pes */
    int npes;
    const int64_t *procs;       /* processes per PE, ascending; NULL: the definition's */
    int nprocs;
    double budget_s;            /* wall time to be spent; 0: not limited */
    double own_budget;          /* > 0: budget_s is found anew with each fit, as this part of a time that follows from
                                   the cost of the choices: twice as much while the expected loss is above 2 %, a part
                                   of the cost of all configurations where they are few, less than two minutes for
                                   short runs of one size. Runs known from before are charged to it */
    int runs;                   /* runs to be made; 0: not limited */
    double target;              /* e.g. 0.05: stop when at every size the time of the choice is known to +- 5 % (95 %
                                   interval) and expected to be that near to the best; 0: no target */
    uint64_t seed;              /* of the order within a stage */
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
    double limit_s;             /* of an application of one size: what takes longer by the clock is no candidate, and
                                   may be ended and added as failed; 0: none */
};

enum hrun_design_end {
    HRUN_DESIGN_GOES_ON, HRUN_DESIGN_BUDGET, HRUN_DESIGN_RUNS, HRUN_DESIGN_TARGET, HRUN_DESIGN_STABLE,
    HRUN_DESIGN_EXHAUSTED       /* nothing is left that could be run */
};

struct hrun_design_state {
    enum hrun_design_end end;
    int runs, failed;           /* made under this design, failed ones among them */
    double spent_s;             /* their wall time, and that of pauses */
    double budget_s;            /* 0: not limited, or not known yet */
    double left_s;              /* expected; 0 not known. With a budget never more than what is left of it */
    int sizes, settled;         /* sizes with a valid configuration; of them those where the choice stands */
    int dropped;                /* sizes that were given up, the smallest ones; the others are numbered from 0 */
    double loss;                /* mean over sizes: expected relative loss of the choice; NaN while not known */
    double interval;            /* largest half width over sizes of the choice's 95 % interval, relative; NaN */
    enum hrun_design_stage stage; /* of the run given out last */
    int queued;                 /* runs of this stage that are still to come */
    int exact;                  /* 1: times do not scatter */
    int ignores;                /* 1: runs show that the program ignores its shares of the work */
};

struct hrun_design;

/* Errors: HRUN_EINVAL (nothing that could be run; says why), errors of the rule and of
 * memory. */
struct hrun_design *hrun_design_create(const struct hrun_app *app, const struct hrun_design_sub *subs, int nsubs,
                                       const struct hrun_design_settings *settings, struct hrun_error *err);
void hrun_design_destroy(struct hrun_design *d);

/* A run that was made. */
struct hrun_design_result {
    struct hrun_config config;
    const double *share;        /* as in struct hrun_design_run */
    int64_t N;
    double time_s;              /* that models predict; 0: the run failed for good */
    double wall_s;
    int counts;                 /* 1: made under this design; 0: known from before, and costs nothing */
};

/* Errors: HRUN_EINVAL (no configuration of these sub-clusters, a time or wall time that is none); nothing changes
 * then. */
int hrun_design_add(struct hrun_design *d, const struct hrun_design_result *result, struct hrun_error *err);
/* Charge the budget with time between runs, which is expected in front of each further run as well. */
void hrun_design_add_pause(struct hrun_design *d, double pause_s);

/* Besides hrun_design_add: a run at N was too short for the program to print its time. */
void hrun_design_too_short(struct hrun_design *d, int64_t N);

/* The next run: 1 and *run; 0 when it is time to stop (hrun_design_state says why); -1 on errors: those of lib/model,
 * lib/plan and of the application's expressions. Asked again without a run added it gives the run after
 * that one: several may be on their way. */
int hrun_design_next(struct hrun_design *d, struct hrun_design_run *run, struct hrun_error *err);

const struct hrun_design_state *hrun_design_state(const struct hrun_design *d);

/* Does the choice at size number i stand? *loss: its expected relative loss, NaN: not known. */
int hrun_design_stands(const struct hrun_design *d, int i, double *loss);

/* ------------------------------------------------------------------ homogeneous points, also of the full grid */

/* Numbers of PEs worth measuring of a sub-cluster of npes: all up to 4 (paper 000, Table VI measures P = 1..4), then
 * 6, 8, 12, 16, 24, ... and all. v has room for HRUN_DESIGN_PES entries; result: how many. */
enum { HRUN_DESIGN_PES = 64 };
int hrun_design_pes(int npes, int64_t *v);

/* The size nearest to N that the rule accepts for P, at most a quarter of N away; 0 if there is none, -1 on error
 * (paper 000, section 5.2: "we cannot use arbitrary sizes but must choose the multiples of the specified P"). */
int64_t hrun_design_size(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err);

#endif
