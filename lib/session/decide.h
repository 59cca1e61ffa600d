/* decide.h - choose the configuration to run
 *
 * Purpose: turn a context and a question into one configuration, its prediction and the reasons: by the model, by the
 * user's options (--config, -n), or, without a profile, as mpirun would place the processes.
 * Invariants: a decision does not change context, profiles or at_size. But evaluating their expressions and predictors
 * stores variables, so only one thread may use them.
 */
#ifndef HRUN_SESSION_DECIDE_H
#define HRUN_SESSION_DECIDE_H

#include "hrun.h"
#include "layout/layout.h"
#include "model/corrections.h"
#include "plan/learn.h"
#include "plan/plan.h"
#include "session/at_size.h"
#include "session/context.h"
#include "session/profiles.h"

#include <jansson.h>
#include <limits.h>

enum {
    QUESTION_PROCS_MAX = INT_MAX / 2, QUESTION_PES_MAX = INT_MAX,
    QUESTION_TOP_MAX = 1000,
    QUESTION_INTERVAL = -1        /* for `within` */
};

/* Options of hrun that direct the choice, by their names. NULL or 0: not given. The caller owns the strings. */
struct question {
    int64_t procs;                /* -n */
    const char *config, *use;
    const char *objective;        /* NULL: time, or cost with within */
    double within;                /* 0.1: at most 10 % slower than the fastest; QUESTION_INTERVAL: not slower than the
                                     upper end of the interval of the fastest */
    double max_time_s, max_cost, max_energy_j;
    int64_t max_pes;
    double max_loss;              /* 0.1: the fewest processes of a ring with at most 10 % loss by imbalance */
    int64_t top;
    double explore;               /* 0.05: a trial may be predicted 5 % slower than the best; <= 0: no trials */
    const char *shares;           /* "equal", "proportional", "best"; NULL: "best" */
    int oversubscribe;
    const struct hrun_layout *mapped; /* placement by the user (--map-by), which is only predicted; or NULL */
    int unrecorded;               /* --no-record */
    int anew;                     /* 1: ignore what the last run prepared in the working directory */
    int table;                    /* 1: also compute time against cost or energy */
};

enum decided_by {
    BY_MODEL,      /* the search over all configurations */
    BY_USER,       /* --config, or -n without models */
    BY_DEFAULT,    /* no profile: one process per PE, the largest P that the rule accepts */
    BY_PROBE,      /* no profile: speeds measured by a small run (probe.h) */
    BY_KINDS,      /* no profile: speeds of the core kinds of one host, or earlier runs (core_kinds.h) */
    BY_RUNS        /* no profile: earlier runs of the command (struct learning) */
};

/* A sub-cluster in a decision. Members but npes and each are borrowed from the profiles. */
struct sub_view {
    struct hrun_models *models;
    const char *why_not, *other_engine;
    int needs_network;
    int npes;                     /* usable PEs (--use) */
    int each;                     /* processes per PE that mpirun would start: one per core for a command, else 1 */
};

/* How far a prediction lies outside the measured range. */
struct beyond {
    double factor;                /* 1: inside */
    int sub;                      /* the sub-cluster for which the factor is largest */
    int64_t measured[2];          /* measured range of `sub` */
};

/* --explore with models: a configuration that is run in place of the plan's best. */
struct exploring {
    int on;                       /* 1: a trial is run */
    double loss;                  /* predicted, relative to the best: 0.01 for 1 % */
    int open;                     /* configurations that may be faster than the best, including this one */
    const char *nothing;          /* why --explore tries no configuration; else NULL */
};

/* --explore of a command without models: the evidence of its runs (plan/learn.h). */
struct learning {
    int on;
    enum hrun_learn_why why;
    int after_trial;              /* 1: the last run was a trial */
    char *best;                   /* "(4,1,0,0)", the best known configuration; owned; NULL: none */
    int best_runs;
    double best_s, usual_s, account_s;
    double expected_s, low_s, high_s;   /* time expected of the trial (HRUN_LEARN_TRIES) */
};

/* --finest: the choice of the size. */
struct finest {
    int on;
    int64_t N;
    int64_t limit;                /* the largest size considered */
    int given;                    /* 1: -N gives the limit; 0: it follows from the measured sizes */
    int64_t next;                 /* the next larger size that the rule accepts; 0: none up to the limit */
    char why[640];                /* why `next` was not chosen */
    int64_t measure;              /* a size to measure, as one measured size cannot predict others; else 0 */
};

/* The prediction for the chosen configuration. */
struct prediction {
    int known;                    /* 0: the other members are unset */
    struct hrun_interval time;    /* s */
    double *sub_time_s;           /* nsubs: Ti, corrected by runs; 0 for unused sub-clusters; owned */
    int limiting;                 /* the sub-cluster with the largest Ti */
    double cost, energy_j;        /* NAN if prices or powers are not known */
    struct hrun_balance balance;  /* family ring; q = 0: not known */
};

/* The evidence for the prediction. */
struct prediction_basis {
    enum hrun_method method;
    int formula;                  /* 1: a formula predicts (struct hrun_family) */
    int nsamples;                 /* measurements that the models were fitted to */
    double newest_s;              /* age of the newest measurement; -1: not known */
    const char *measured_with;    /* settings of the calibration if they differ from those of this run; borrowed from
                                     the profiles; else NULL */
    int network;                  /* 1: the prediction uses the network (context.net) */
    double network_age_s;         /* -1: not known */
    const char *network_note;     /* a note on the network for the user; borrowed from the profiles; or NULL */
    double factor;                /* correction of the prediction by runs of this configuration; 1: none */
    int runs_here, runs_elsewhere;    /* runs of this configuration at this N, and at other sizes */
    int64_t sizes[2];             /* least and largest N of the runs of any configuration; 0: not known */
    struct beyond beyond_n, beyond_p; /* how far N and P lie outside the measured range */
    struct hrun_drift *drift;     /* nsubs: drift of the runs that each sub-cluster limits; .runs = 0: none; owned */
};

/* How the work is divided among the processes. */
struct work_shares {
    enum hrun_sharing how;        /* equal unless the definition has `shares` */
    double *each;                 /* nsubs: share of a process there (hrun_predictor_shares); NULL: equal; owned */
    double *unwatched;            /* `each` without hrun_waits_pace; NULL: no run was traced; owned */
    int could_deal;               /* 1: models can divide the work unequally */
    struct hrun_choice equal;     /* with could_deal, BY_MODEL: the best with equal shares; P = 0: not known */
    double unequal_s;             /* if equal shares were chosen: the best time with unequal shares */
    struct hrun_tasking tasking;  /* how the program divides the work, concluded from its runs */
};

/* What mpirun would start: processes on every PE. */
struct plain_start {
    struct hrun_config config;
    int known;                    /* 1: the time is predicted */
    double time_s, ranked_s;      /* as in struct hrun_choice */
    int runs;                     /* of this configuration at this N */
    int valid;                    /* 1: rule and memory accept config, and it has the number of processes asked for */
    int excluded_P;               /* the number of processes asked for, if only this number excludes config; else 0 */
};

/* For an application that prepares its input: the choice between the last preparation and a new one. */
struct kept_preparation {
    int on;                       /* 1: the last preparation is used again, as preparing the best would take longer
                                     than it saves */
    double prepare_s;             /* duration of the last preparation; 0: the best is prepared, or not known */
    double best_s;                /* predicted time of the best configuration, which is not run */
};

/* Configurations excluded because they failed at this N. */
struct failed_configs {
    int n;
    char *configs;                /* separated by blanks; owned; NULL: none */
    char *why;                    /* how the last of them failed; owned */
};

/* BY_KINDS, BY_DEFAULT: why this configuration. */
struct fallback {
    int kinds_run;                /* configurations run so far, of which this one was fastest; 0: chosen by speed */
    double run_s;                 /* > 0: time of the command's fastest run, which replaces the default */
    int failures, usual;          /* earlier failed runs with the usual number of processes, and this number */
    int granted;                  /* 1: the allocation determines processes and cores */
};

struct decided_goal {
    const struct hrun_objective *objective; /* what was minimised; NULL: nothing */
    double max_loss;              /* question.max_loss */
    struct hrun_plan *pareto;     /* time against pareto_of; owned; NULL: not asked for */
    const struct hrun_objective *pareto_of;
};

/* The configuration to run, its prediction, and the reasons for reports. */
struct decision {
    enum decided_by by;
    int64_t N;                    /* 0: not given */
    int nsubs;
    struct sub_view *subs;
    struct hrun_config config;
    int P;
    int has_config;               /* 0: P ranks go round the PEs of config; no configuration describes such a run */
    struct work_shares shares;
    struct prediction predicted;
    struct prediction_basis basis;
    struct decided_goal goal;
    struct hrun_plan *plan;       /* BY_MODEL: best first, alternatives behind; else NULL */
    struct plain_start plain;
    struct kept_preparation kept;
    struct failed_configs failed;
    struct fallback fallback;
    struct exploring explores;
    struct learning learning;
    struct finest finest;
};

struct hrun_opt;
/* Apply function of an option: read "time=30m,pes=8,within=10%" into a question; `within` may be "interval". */
int question_limit(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

/* Decide for size N (0: not given). p: the profiles of c, empty if the application or N is not known; p and c must
 * outlive *out. On failure *out needs no release. Errors: those of the rooms; HRUN_EINFEASIBLE with the nearest sizes
 * that have a valid configuration; the error of reading a profile that is needed. */
int decision_make(struct context *c, const struct question *q, const struct profiles *p, int64_t N,
                  struct decision *out, struct hrun_error *err);
/* decision_make for the size of `at`, which was made from p and must outlive *out. Several decisions may share `at`. */
int decision_make_at(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                     struct decision *out, struct hrun_error *err);
void decision_release(struct decision *d);

/* 1 if --explore runs another configuration than the best known, else 0. */
int decision_is_trial(const struct decision *d);
/* 1 if N lies outside the sizes that were run, else 0. */
int decision_is_outside(const struct decision *d);

/* Append what makes the prediction uncertain, separated by commas: "1 run", "never run, N 2.0 x beyond what was
 * measured"; nothing for a configuration that was run twice at this size. */
void decision_doubts(const struct decision *d, struct hrun_buf *out);

/* The time, cost or energy of a decision with a prediction, by its objective. */
double decision_value(const struct decision *d);

#endif
