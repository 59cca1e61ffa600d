/* decide.h - which configuration will be run
 *
 * Purpose: from a context and a question to one configuration with what is known of it: by the model, by the user's
 * word (--config, -n), or, without a profile, as mpirun would.
 * Invariants: context, profiles and at_size are not changed by a decision, but their expressions and predictors hold
 * the variables of an evaluation: one thread at a time.
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

/* What the user asks for, by the names of hrun's options; NULL or 0 where not given. The caller owns all of it. */
struct question {
    int64_t procs;                /* -n */
    const char *config, *use;
    const char *objective;        /* NULL: time, or cost with within */
    double within;                /* 0.1: at most 10 % slower than the quickest; QUESTION_INTERVAL: than the end of its
                                     95 % interval */
    double max_time_s, max_cost, max_energy_j;
    int64_t max_pes;
    double max_loss;              /* 0.1: the fewest processes of a ring that lose no more than 10 % by imbalance */
    int64_t top;
    double explore;               /* 0.05: the predicted loss may be 5 %; not above 0: nothing is tried */
    const char *shares;           /* "equal", "proportional", "best"; NULL: "best" */
    int oversubscribe;
    const struct hrun_layout *mapped; /* the user says where ranks go (--map-by): it is only predicted; or NULL */
    int unrecorded;               /* --no-record: the run will not be learnt from */
    int anew;                     /* 1: what was prepared in the working folder last does not count */
    int table;                    /* 1: time against cost or energy is wanted, too */
};

enum decided_by {
    BY_MODEL,      /* the search chose it */
    BY_USER,       /* --config, or -n without models */
    BY_DEFAULT,    /* no profile: one process per PE, the largest P that the rule accepts */
    BY_PROBE,      /* no profile: the speeds that a small run has shown (probe.h) */
    BY_KINDS,      /* no profile: the speeds of the kinds of cores of one host, or earlier runs (kinds) */
    BY_RUNS        /* no profile: earlier runs show the best known, or what to try (struct learning) */
};

struct sub_view {  /* what the decision knows of one sub-cluster; all but npes as in its profiles, which it borrows */
    struct hrun_models *models;
    const char *why_not, *other_engine;
    int needs_network;
    int npes;                     /* PEs that may be used (--use) */
    int each;                     /* processes that mpirun would start on each: one per core of a command, else 1 */
};

struct beyond {    /* how far a prediction lies outside what was measured */
    double factor;                /* 1: inside */
    int sub;                      /* the sub-cluster whose model it lies farthest outside of */
    int64_t measured[2];          /* its range */
};

struct exploring { /* --explore: what is run in place of the best of the plan */
    int on;                       /* 1: another configuration than the plan's best */
    double loss;                  /* predicted, over the best: 0.01 for 1 % */
    int open;                     /* configurations that may be quicker than the best, this one included */
    const char *nothing;          /* why --explore tries nothing, and the best is run; else NULL */
};

struct learning {  /* --explore of a command without models: what its runs show (plan/learn.h) */
    int on;
    enum hrun_learn_why why;
    int after_trial;              /* 1: the last run was one of another configuration than the best known */
    char *best;                   /* "(4,1,0,0)", the best known; owned; NULL: none is */
    int best_runs;
    double best_s, usual_s, account_s;
    double expected_s, low_s, high_s;   /* HRUN_LEARN_TRIES: of what is tried */
};

struct finest {    /* --finest: the size was chosen, too */
    int on;
    int64_t N;
    int64_t limit;                /* the largest that was looked at */
    int given;                    /* 1: by -N, else because of what was measured */
    int64_t next;                 /* the next larger size that the rule accepts, 0: none up to the limit */
    char why[640];                /* why not that one */
    int64_t measure;              /* 0, or a size to measure: one alone was, and others follow from two */
};

/* What is predicted of the configuration. */
struct prediction {
    int known;                    /* 0: all below is unset */
    struct hrun_interval time;    /* s */
    double *sub_time_s;           /* nsubs: Ti of the used ones, else 0; corrected as the time is; owned */
    int limiting;                 /* the sub-cluster whose Ti is largest */
    double cost, energy_j;        /* NAN where prices or powers are not known */
    struct hrun_balance balance;  /* family ring; q = 0: not known */
};

/* What the prediction rests on. */
struct prediction_basis {
    enum hrun_method method;
    int formula;                  /* 1: a formula predicts (struct hrun_family) */
    int nsamples;                 /* measurements behind the models */
    double newest_s;              /* age of the newest; -1: not known */
    const char *measured_with;    /* settings of the calibration that differ from this run's; the profiles'; or NULL */
    int network;                  /* 1: the prediction asks the network (context.net) */
    double network_age_s;         /* -1: not known */
    const char *network_note;     /* what the user should know of it; the profiles'; or NULL */
    double factor;                /* by which runs of this configuration corrected the prediction, else 1 */
    int runs_here, runs_elsewhere;    /* of this configuration at this N, at others */
    int64_t sizes[2];             /* least and largest N that was run of any configuration; 0: not known */
    struct beyond beyond_n, beyond_p; /* how far N and P lie outside what was measured, of the sub-clusters used */
    struct hrun_drift *drift;     /* nsubs: of the runs that each limits; .runs = 0: none; owned */
};

/* How the work is divided among the processes. */
struct work_shares {
    enum hrun_sharing how;        /* equal unless the definition has `shares` */
    double *each;                 /* nsubs: of each process there (hrun_predictor_shares); NULL: equal; owned */
    double *unwatched;            /* the same without hrun_waits_pace; NULL: no run was watched; owned */
    int could_deal;               /* 1: models can divide the work unequally */
    struct hrun_choice equal;     /* then, where the models chose: the best with equal shares; P = 0: not known */
    double unequal_s;             /* where equal ones are chosen all the same: the best time with unequal ones */
    struct hrun_tasking tasking;  /* how the program divides the work, as its runs show */
};

/* mpirun's way: every PE, as many processes on each as mpirun would start. */
struct plain_start {
    struct hrun_config config;
    int known;                    /* 1: its time is predicted */
    double time_s, ranked_s;      /* ranked: as that of a struct hrun_choice */
    int runs;                     /* of this configuration at this N */
    int valid;                    /* 1: rule and memory accept it, and it has as many processes as are asked for */
    int excluded_P;               /* the number of processes that is asked for, where that alone excludes it; else 0 */
};

/* Of an application that prepares its input. */
struct kept_preparation {
    int on;                       /* 1: what was prepared last is run again, as preparing the best takes longer than it
                                     saves */
    double prepare_s;             /* what preparing took last time; 0: the best is prepared, or that is not known */
    double best_s;                /* the time of the best, which is not run */
};

struct failed_configs {           /* left out because they failed at this N */
    int n;
    char *configs;                /* with blanks between; owned; NULL: none */
    char *why;                    /* how the last of them failed; owned */
};

struct fallback {                 /* BY_KINDS, BY_DEFAULT: why this configuration */
    int kinds_run;                /* configurations tried so far, of which this is the quickest; 0: by core speed */
    double run_s;                 /* > 0: in place of the default the quickest run of the command, in s */
    int failures, usual;          /* how often the usual number of processes failed in earlier runs */
    int granted;                  /* 1: processes and their cores as the allocation grants them */
};

struct decided_goal {
    const struct hrun_objective *objective; /* what was minimised; NULL: nothing was */
    double max_loss;              /* as asked for; 0: it was not */
    struct hrun_plan *pareto;     /* time against pareto_of; owned; NULL: not asked for */
    const struct hrun_objective *pareto_of;
};

/* The configuration that will be run, what is predicted of it, and, for reports, why it was chosen. */
struct decision {
    enum decided_by by;
    int64_t N;                    /* 0: not given */
    int nsubs;
    struct sub_view *subs;
    struct hrun_config config;
    int P;
    int has_config;               /* 0: a plain layout of P ranks round the PEs of config, no configuration */
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
/* For the option table: "time=30m,pes=8,within=10%" into a question's limits; `within` may be "interval". */
int question_limit(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

/* Decide for size N (0: not given). p: the profiles of c; nothing is loaded where the application or N is not known. p
 * and c must outlive *out. On failure nothing is kept. Errors: those of the rooms; HRUN_EINFEASIBLE with the nearest
 * sizes N that have a valid configuration; that of a profile which is needed and cannot be read. */
int decision_make(struct context *c, const struct question *q, const struct profiles *p, int64_t N,
                  struct decision *out, struct hrun_error *err);
/* The same for the size of `at`, which was made from p: several decisions share its models. It must outlive *out. */
int decision_make_at(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                     struct decision *out, struct hrun_error *err);
void decision_release(struct decision *d);

/* Is something run in place of the best that is known, because of --explore? */
int decision_is_trial(const struct decision *d);
/* Does N lie outside of the sizes that were run? */
int decision_is_outside(const struct decision *d);

/* What makes the prediction of a configuration less sure than that of one that was run twice at its size: append it,
 * with commas between, or nothing: "1 run", "never run", "N 2.0 x, P 1.7 x beyond what was measured". */
void decision_doubts(const struct decision *d, struct hrun_buf *out);

/* What was minimised: the time, cost or energy of a decision with a prediction. */
double decision_value(const struct decision *d);

#endif
