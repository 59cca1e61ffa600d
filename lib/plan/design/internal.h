/* internal.h - the inside of a design; not for other rooms
 *
 * Invariants:
 *   - runs are in the order in which they were added; time_s = 0 marks one that failed for good;
 *   - beliefs of the candidates at each size are made anew when models are fitted.
 */
#ifndef HRUN_PLAN_DESIGN_INTERNAL_H
#define HRUN_PLAN_DESIGN_INTERNAL_H

#include "base/buf.h"
#include "plan/design/design.h"
#include "plan/plan.h"

/* A choice stands when no run at its size is expected to lower its time by this part: a hundredth of a worst error of
 * 3 %. */
#define DESIGN_SETTLED 3e-4

/* A size is moved by at most this part of itself to satisfy the rule: half of the step between sizes that grow by
 * a factor of 1.5, so that moved sizes stay apart. */
#define DESIGN_SIZE_SHIFT 0.25

/* A run that takes this many times longer than the quickest at its size does not help at any size. */
#define DESIGN_SLOW 4.

struct dealt_config {
    struct hrun_config c;
    int dealt;                  /* 1: the work is divided in unequal shares over several sub-clusters, else 0 */
};
/* dealt counts only over several sub-clusters. */
struct dealt_config make_dealt_config(const struct hrun_config *config, int dealt);
int same_dealt_config(const struct dealt_config *a, const struct dealt_config *b);

struct design_run {
    struct dealt_config config;
    int P, sub;                 /* sub: the only sub-cluster used, -1: several */
    char *text, *shares;        /* the configuration, and its shares, as measurements have them; NULL: equal */
    double *share;              /* nsubs: of the whole, of each process; NULL: equal */
    char date[16];              /* its number: repetitions that take exactly as long are several runs */
    int64_t N;
    double time_s, wall_s;
};

struct design_point {           /* a homogeneous run that may be made */
    int sub, m, pes, P;
    int64_t N;
    int size;                   /* index of the size it was made for */
    struct dealt_config config;
};

/* A reserve of the budget is kept for its end. A round of it runs the choice at each size once. The first round is for
 * choices of the last fit that were never run, the second for repetitions, or for the next best ones. */
enum { DESIGN_ROUNDS = 2 };
/* The reserve is at most this part of the budget, so that most of a short one is left to find the choices. While there
 * is no choice yet it is all of this part: long runs on single PEs would use it up. */
#define DESIGN_RESERVE_MOST 0.3

struct design_plan {            /* a run of the present stage */
    struct dealt_config config;
    int64_t N;
    enum hrun_design_stage stage;
    double model_s;             /* by the models when it was planned; 0: not known, or the run was made */
    double expected_s;
    int rounds;                 /* of the reserve that the run must leave */
};

/* Prediction errors that are kept, of the first runs: they give a standard deviation to a tenth. Later runs are of
 * configurations that are similar to earlier ones. */
enum { DESIGN_ERRORS = 50 };

/* All runs of one configuration at one size. */
struct design_group {
    struct dealt_config config;
    int P, sub, limiting;       /* limiting: the sub-cluster whose Ti is largest by the models, -1 not known */
    int64_t N;
    int n, kept;                /* good runs; of them undisturbed ones */
    int failed;
    double least;               /* the shortest time, s */
    double log_t;               /* mean of ln time of the undisturbed ones */
    double var;                 /* of that mean */
    double model;               /* ln of the models' time; NaN: none */
    double common;              /* part of `model`, of one sub-cluster: the correction that runs on several share */
};

/* ln(time / the models' uncorrected time) of a homogeneous group. */
double design_missed(const struct design_group *g);

/* What is believed of one configuration at one size. */
struct design_belief {
    struct dealt_config config;
    int P, limiting, runs, failed;
    int queued;                 /* 1: in the present stage */
    double model_s;             /* by the models */
    double mean, sd;            /* of ln time: models, what they missed nearby, runs of this configuration */
    double gain;                /* knowledge gradient of one more run, relative */
};

struct design_size {
    int64_t N;
    struct design_belief *v;
    int n;
    int complete;               /* v has all valid configurations */
    int choice;                 /* index of what hrun would choose, -1 none */
    int greedy;                 /* the choice by predicted time alone; it is run, so that it may become the choice */
    double sd_factor;           /* >= 1: factor of the standard deviations when runs are chosen */
    double loss, half;          /* expected relative loss, half width of the choice's 95 % interval */
    int settled;
};

/* The runs that were added, in their order. */
struct design_runs {
    struct design_run *v;
    int n, cap;
    struct hrun_buf names, signatures, consts; /* as measurements carry them */
    int64_t too_short;          /* the largest N of a run that was too short to print its time; 0: none */
    double error[DESIGN_ERRORS];  /* ln of time over the models' time, of the first runs that models predicted */
    int nerrors;
};

/* The runs of the present stage. */
struct stage_queue {
    struct design_plan *v;
    int n, cap, next;           /* v[next..n-1] are still to be given out */
    int too_long;               /* 1: runs were left out that take longer than the rest of the budget */
};

/* What the last fit found. */
struct design_fitted {
    int nruns;                  /* runs that the models know */
    struct hrun_models **models;    /* nsubs, NULL before the first fit; sub-clusters of one kind share theirs */
    struct hrun_corrections *corrections[2]; /* of equal and of unequal shares; NULL: none */
    struct design_group *groups;    /* of all runs */
    int ngroups;
    int exact;                  /* 1: times do not scatter, so no run needs to be repeated */
    double noise, noise_s;      /* scatter of one run: relative, and in seconds */
    double least_s;             /* shorter times are too inexact (hrun_times_least), 0: none are */
    double rounding_s;          /* standard deviation of the rounding of times, the same in all runs of a group */
    double training;            /* relative standard deviation of homogeneous groups about their fit */
    double misfit;              /* relative standard deviation of models against measured groups */
};

/* How the wall time is spent. */
struct design_budget {
    double before_s;            /* of the runs known from before */
    double paused_s;            /* between runs */
    double round_s;             /* of one round of the reserve */
    double own_s;               /* a budget that is found, without its last rounds */
    double screening_s;         /* of screening, with a budget that is found */
    double varied_s;            /* of variants of choices */
    int closing;                /* 1: only the reserve is left, until a budget that is found grows */
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
    double *share;              /* nsubs: of the run that was given out last */
    int screened;               /* rounds of screening */
    uint64_t rng;
    struct hrun_design_state state;
};

/* screen.c: make all homogeneous points. */
int design_points(struct hrun_design *d, struct hrun_error *err);
/* Give up the smallest sizes that are too short, with set.own_sizes. */
void design_drop_short(struct hrun_design *d);
/* The next round of screening. */
int design_screen(struct hrun_design *d, struct hrun_error *err);

/* design.c: expected wall time of a run that takes model_s by the models (0: not known); 0 while nothing was run. */
double design_cost(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N, double model_s);
/* Wall time from which a run of the only size is slow; INFINITY: no run succeeded yet. */
double design_slow_s(const struct hrun_design *d);
/* Does the budget, if any, leave the time for a run and these rounds of the reserve? */
int design_affords(const struct hrun_design *d, double expected_s, int rounds);
/* The median of v[n], of two in the middle the larger; v is sorted. 0 when n is 0. */
double design_median(double *v, int n);
/* Was a configuration run at N, with success or not, or is it queued? */
int design_is_known(const struct hrun_design *d, const struct dealt_config *config, int64_t N);
void design_queue(struct hrun_design *d, const struct dealt_config *config, int64_t N, enum hrun_design_stage stage,
                  double model_s, double expected_s);

/* refit.c: models from all runs, into d->fit (NULL entries in models where there are none). */
int design_fit(struct hrun_design *d, struct hrun_error *err);
void design_drop_models(struct hrun_design *d);

/* Set what rounding does to times, whether they scatter, and the shortest exact time, in d->fit. */
void design_assess_times(struct hrun_design *d);
/* Relative standard deviation of one run that takes time_s, with its rounding. */
double design_noise(const struct hrun_design *d, double time_s);
/* Are there unequal shares to be tried? */
int design_deals(const struct hrun_design *d);
/* The models at one size, and the problem of a search with them. */
struct size_models {
    struct hrun_predictor *p[2];    /* of equal and of unequal shares, the same if models cannot deal out work; NULL:
                                       there are no models */
    struct hrun_plan_problem problem[2];
    struct hrun_plan_sub subs[HRUN_SUBS_MAX];
};
/* Make the models of a size. *m must not be moved; release it, also after an error. */
int design_models_at(const struct hrun_design *d, int64_t N, struct size_models *m, struct hrun_error *err);
void size_models_release(struct size_models *m);
/* Set share[nsubs] by the present models and pace[nsubs] (struct hrun_predictor_source). */
int design_shares(const struct hrun_design *d, const struct dealt_config *config, int64_t N, const double *pace,
                  double *share, struct hrun_error *err);
/* Evaluate a configuration by the predictor of its shares. Result: 1 with *c; 0: no model predicts it or, with check,
 * it is not valid. */
int design_evaluate(struct size_models *m, const struct dealt_config *config, int check, struct hrun_choice *c);

/* belief.c: d->sizes from models and groups. */
int design_believe(struct hrun_design *d, struct hrun_error *err);
/* The gains of runs at one size, with its sd_factor. */
void design_gains(struct hrun_design *d, struct design_size *s);
void design_drop_sizes(struct hrun_design *d);

/* stage.c: the runs of the next stage into the queue; none: d->state.end says why. */
int design_stage(struct hrun_design *d, struct hrun_error *err);

#endif
