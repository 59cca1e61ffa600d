/* internal.h - the state of a design; private to lib/plan/design
 *
 * Invariants:
 *   - runs are in the order in which they were added; time_s = 0 marks a run that failed for good;
 *   - each fit of the models makes new beliefs about the candidates at each size.
 */
#ifndef HRUN_PLAN_DESIGN_INTERNAL_H
#define HRUN_PLAN_DESIGN_INTERNAL_H

#include "base/buf.h"
#include "plan/design/design.h"
#include "plan/plan.h"

/* A choice stands if no further run at its size has an expected gain of this fraction of its time: a hundredth of a
 * worst error of 3 %. */
#define DESIGN_SETTLED 3e-4

/* A size is changed by at most this fraction to satisfy the rule: half of the step between sizes that grow by a factor
 * of 1.5, so that changed sizes stay distinct. */
#define DESIGN_SIZE_SHIFT 0.25

/* A run that is longer by this factor than the quickest at its size is useless at every size. */
#define DESIGN_SLOW 4.

struct dealt_config {
    struct hrun_config c;
    int dealt;                  /* 1: the work is divided in unequal shares over several sub-clusters, else 0 */
};
/* dealt is ignored if the configuration uses one sub-cluster. */
struct dealt_config make_dealt_config(const struct hrun_config *config, int dealt);
int same_dealt_config(const struct dealt_config *a, const struct dealt_config *b);

struct design_run {
    struct dealt_config config;
    int P, sub;                 /* sub: the only sub-cluster used, -1: several */
    char *text, *shares;        /* the configuration and its shares, in the notation of measurements; NULL: equal */
    double *share;              /* nsubs: fraction of the work for each process; NULL: equal */
    char date[16];              /* its number, which keeps runs of equal times distinct */
    int64_t N;
    double time_s, wall_s;
};

struct design_point {           /* a possible homogeneous run */
    int sub, m, pes, P;
    int64_t N;
    int size;                   /* index of its size, from which N may differ by the rule */
    struct dealt_config config;
};

/* A part of the budget is reserved for the end. A round of the reserve runs the choice at each size once. The first
 * round is for choices of the last fit that were never run, the second for repetitions or for the next best ones. */
enum { DESIGN_ROUNDS = 2 };
/* Largest fraction of the budget that is reserved, so that most of a short budget is left to find the choices. Before
 * the first choice this fraction is reserved, because long runs on single PEs could use it up. */
#define DESIGN_RESERVE_MOST 0.3

struct design_plan {            /* a run of the present stage */
    struct dealt_config config;
    int64_t N;
    enum hrun_design_stage stage;
    double model_s;             /* time by the models when it was planned; 0: not known, or the run was made */
    double expected_s;
    int rounds;                 /* rounds of the reserve that the run must not use */
};

/* Limit of the prediction errors that are kept, those of the first runs: enough for a standard deviation to 10 %. Later
 * runs resemble earlier ones. */
enum { DESIGN_ERRORS = 50 };

/* All runs of one configuration at one size. */
struct design_group {
    struct dealt_config config;
    int P, sub, limiting;       /* limiting: the sub-cluster whose Ti is largest by the models, -1 not known */
    int64_t N;
    int n, kept;                /* successful runs, and undisturbed ones of these */
    int failed;
    double least;               /* the shortest time, s */
    double log_t;               /* mean of ln time of the undisturbed runs */
    double var;                 /* variance of log_t */
    double model;               /* ln of the models' time; NaN: none */
    double common;              /* with one sub-cluster: part of `model` by the common factor of runs on several */
};

/* ln(time / the models' uncorrected time) of a homogeneous group. */
double design_missed(const struct design_group *g);

/* The belief about one configuration at one size. */
struct design_belief {
    struct dealt_config config;
    int P, limiting, runs, failed;
    int queued;                 /* 1: in the present stage */
    double model_s;             /* time by the models */
    double mean, sd;            /* of ln time, from the models, their errors nearby, and runs of this configuration */
    double gain;                /* knowledge gradient of one more run, relative */
};

struct design_size {
    int64_t N;
    struct design_belief *v;
    int n;
    int complete;               /* v has all valid configurations */
    int choice;                 /* index of the configuration that hrun would choose, -1 none */
    int greedy;                 /* index of the best by predicted time alone; a run of it may make it the choice */
    double sd_factor;           /* >= 1: factor of the standard deviations in the choice of runs */
    double loss, half;          /* expected relative loss, half width of the choice's 95 % interval */
    int settled;
};

/* The added runs, in their order. */
struct design_runs {
    struct design_run *v;
    int n, cap;
    struct hrun_buf names, signatures, consts; /* in the notation of measurements */
    int64_t too_short;          /* the largest N of a run that was too short to print its time; 0: none */
    double error[DESIGN_ERRORS];  /* ln(time / models' time) of the first runs with a prediction */
    int nerrors;
};

/* The runs of the present stage. */
struct stage_queue {
    struct design_plan *v;
    int n, cap, next;           /* v[next..n-1] are the remaining runs */
    int too_long;               /* 1: runs longer than the rest of the budget were left out */
};

/* The results of the last fit. */
struct design_fitted {
    int nruns;                  /* number of runs in the fit */
    struct hrun_models **models;    /* nsubs, NULL before the first fit; equal pointers for sub-clusters of one kind */
    struct hrun_corrections *corrections[2]; /* for equal and unequal shares; NULL: none */
    struct design_group *groups;    /* of all runs */
    int ngroups;
    int exact;                  /* 1: times do not scatter, so no run needs a repetition */
    double noise, noise_s;      /* scatter of one run: relative, and in seconds */
    double least_s;             /* shorter times are too inexact (hrun_times_least); 0: no limit */
    double rounding_s;          /* standard deviation of the rounding of times, equal for all runs of a group */
    double training;            /* relative standard deviation of homogeneous groups from their fit */
    double misfit;              /* relative standard deviation of measured groups from the models */
};

/* Wall times. */
struct design_budget {
    double before_s;            /* runs from before */
    double paused_s;            /* pauses between runs */
    double round_s;             /* one round of the reserve */
    double own_s;               /* budget by own_budget, without its last rounds */
    double screening_s;         /* screening, with own_budget */
    double varied_s;            /* variants of choices */
    int closing;                /* 1: only the reserve is left; 0 again if a budget by own_budget grows */
};

struct hrun_design {
    const struct hrun_app *app;
    const struct hrun_design_sub *subs;
    int nsubs;
    struct hrun_design_settings set;
    int *procs, nprocs;
    struct design_point *points;
    int npoints, points_cap;
    struct design_runs runs;
    struct stage_queue queue;
    struct design_fitted fit;
    struct design_budget budget;
    struct design_size *sizes;
    int nsizes;
    double *share;              /* nsubs: of the last run that hrun_design_next returned */
    int screened;               /* rounds of screening so far */
    uint64_t rng;
    struct hrun_design_state state;
};

/* screen.c: make all homogeneous points. */
int design_points(struct hrun_design *d, struct hrun_error *err);
/* If set.own_sizes, drop the smallest sizes whose times are too short. */
void design_drop_short(struct hrun_design *d);
/* Queue the next round of screening. */
int design_screen(struct hrun_design *d, struct hrun_error *err);

/* design.c: expected wall time of a run; model_s: its time by the models, 0: not known. 0 before the first run. */
double design_cost(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N, double model_s);
/* Wall time above which a run of the only size is slow; INFINITY before the first successful run. */
double design_slow_s(const struct hrun_design *d);
/* 1 if there is no budget or its rest covers the run and these rounds of the reserve, else 0. */
int design_affords(const struct hrun_design *d, double expected_s, int rounds);
/* Sort v[n]. Result: the upper median; 0 if n is 0. */
double design_median(double *v, int n);
/* 1 if a configuration was run at N, with success or not, or is queued, else 0. */
int design_is_known(const struct hrun_design *d, const struct dealt_config *config, int64_t N);
void design_queue(struct hrun_design *d, const struct dealt_config *config, int64_t N, enum hrun_design_stage stage,
                  double model_s, double expected_s);

/* refit.c: fit models to all runs and set d->fit; an entry of its models is NULL if there is no model. */
int design_fit(struct hrun_design *d, struct hrun_error *err);
void design_drop_models(struct hrun_design *d);

/* Set rounding_s, exact and least_s of d->fit. */
void design_assess_times(struct hrun_design *d);
/* Relative standard deviation of one run that takes time_s, with its rounding. */
double design_noise(const struct hrun_design *d, double time_s);
/* 1 if unequal shares are to be tried, else 0. */
int design_deals(const struct hrun_design *d);
/* The models at one size, and the problem of a search with them. */
struct size_models {
    struct hrun_predictor *p[2];    /* for equal and unequal shares, equal pointers if models cannot divide the work;
                                       NULL: no models */
    struct hrun_plan_problem problem[2];
    struct hrun_plan_sub subs[HRUN_SUBS_MAX];
};
/* Make the models of a size. *m must not be moved in memory. size_models_release is needed after an error, too. */
int design_models_at(const struct hrun_design *d, int64_t N, struct size_models *m, struct hrun_error *err);
void size_models_release(struct size_models *m);
/* Set share[nsubs] from the models and pace[nsubs] (struct hrun_predictor_source). */
int design_shares(const struct hrun_design *d, const struct dealt_config *config, int64_t N, const double *pace,
                  double *share, struct hrun_error *err);
/* Evaluate a configuration by the predictor for its kind of shares. Result: 1 and *c; 0: no model predicts it or, with
 * check, it is not valid. */
int design_evaluate(struct size_models *m, const struct dealt_config *config, int check, struct hrun_choice *c);

/* belief.c: make d->sizes from models and groups. */
int design_believe(struct hrun_design *d, struct hrun_error *err);
/* Set the gains of runs at one size, with its sd_factor. */
void design_gains(struct hrun_design *d, struct design_size *s);
void design_drop_sizes(struct hrun_design *d);

/* stage.c: queue the runs of the next stage; if there are none, d->state.end gives the reason. */
int design_stage(struct hrun_design *d, struct hrun_error *err);

#endif
