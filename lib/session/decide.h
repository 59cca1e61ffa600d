/* decide.h - which configuration will be run
 *
 * Purpose: from a context and a question to one configuration with what is known of it: by the model, by the user's
 * word (--config, -n), or, without a profile, as mpirun would.
 * Invariants: context, profiles and at_size are not changed by a decision, but their expressions and predictors hold
 * the variables of an evaluation: one thread at a time.
 */
#ifndef HRUN_SERVICE_DECIDE_H
#define HRUN_SERVICE_DECIDE_H

#include "model/model.h"
#include "session/size.h"

#include <limits.h>

enum {
    QUESTION_PROCS_MAX = INT_MAX / 2, QUESTION_PES_MAX = INT_MAX,
    QUESTION_TOP_MAX = 1000,
    QUESTION_INTERVAL = -1        /* for `within` */
};

/* What is asked for, by the names of hrun's options; NULL or 0 where nothing is. All of it is the caller's. */
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
    double explore;               /* 0.05: the predicted loss may be 5 % */
    int oversubscribe;
    int unrecorded;               /* --no-record: the run will not be learnt from */
    int table;                    /* 1: time against cost or energy is wanted, too */
};

enum decided_by {
    BY_MODEL,      /* the search chose it */
    BY_USER,       /* --config, or -n without models */
    BY_DEFAULT,    /* no profile: one process per PE, the largest P that the rule accepts */
    BY_PROBE       /* no profile: the speeds that a small run told (probe.h) */
};

struct sub_view {  /* what the decision knows of one sub-cluster; all but npes as in its profiles, which it borrows */
    struct hrun_models *models;
    const char *why_not, *other_engine;
    int needs_network;
    int npes;                     /* PEs that may be used (--use) */
};

struct beyond {    /* how far a prediction lies outside what was measured */
    double factor;                /* 1: inside */
    int sub;                      /* the sub-cluster whose model it lies farthest outside of */
    int64_t measured[2];          /* its range */
};

struct exploring { /* --explore: what is run in place of the best of the plan */
    int on;                       /* 1: another configuration than the plan's best */
    double loss;                  /* predicted, over the best: 0.01 for 1 % */
    int open;                     /* so many, this one included, may be quicker than the best */
    const char *nothing;          /* --explore was given, and the best is run because of this; else NULL */
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

struct decision {
    enum decided_by by;
    int64_t N;                    /* 0: not given */
    int nsubs;
    struct sub_view *subs;
    int *pes, *procs;             /* the configuration, nsubs each */
    int P;
    int has_config;               /* 0: a plain layout of P ranks round the PEs `pes`, no configuration */
    int predicted;                /* the fields below are known */
    double time_s, low_s, high_s;
    double *sub_time_s;           /* nsubs: Ti of the used ones, else 0; corrected as time_s is */
    double *share;                /* nsubs: of the work, of each process there (hrun_predictor_shares); NULL: equal */
    double factor;                /* what runs of this configuration have corrected its prediction by, else 1 */
    int runs_here, runs_elsewhere; /* how many at this N, and at others */
    int nfailed;                  /* configurations that were left out because they failed at this N */
    char *failed;                 /* them, with blanks between; owned; NULL: none */
    char *failed_why;             /* how the last of them failed; owned */
    int limiting;
    struct beyond beyond_n, beyond_p; /* in N and in P, of the sub-clusters used */
    int64_t sizes[2];             /* the least and the largest N that was run of anything here; 0: not known */
    struct hrun_drift *drift;     /* nsubs: of the runs that each limits; .runs = 0: none */
    struct exploring explores;
    struct finest finest;
    struct hrun_plan *plan;       /* BY_MODEL: best first, alternatives behind; else NULL */
    struct hrun_balance balance;  /* family ring, where predicted; q = 0: not known */
    double max_loss;              /* as asked for; 0: it was not */
    const char *objective;        /* what was minimised; static */
    double cost, energy_j;        /* predicted; NAN where prices or powers are not known */
    struct hrun_plan *pareto;     /* time against pareto_of ("cost"), or NULL */
    const char *pareto_of, *pareto_unit; /* static */
    int network;                  /* 1: the prediction asks the network (context.net) */
    double network_s;             /* its age, -1 unknown */
    const char *measured_with;    /* the calibration's settings, where they are not those of this run (conditions.h);
                                     of the profiles; or NULL */
    const char *network_note;     /* what is to be said of it, or NULL; of the profiles */
    int plain_known;              /* the mpirun-style configuration could be predicted */
    double plain_time_s, plain_ranked_s;    /* ranked: as that of a struct hrun_choice */
    int *plain_pes, *plain_procs; /* every PE, one process each */
    int plain_valid;              /* the rule and the memory accept it, and it has the processes that are asked for */
    int plain_P;                  /* the processes that are asked for, where these alone exclude it; else 0 */
    enum hrun_method method;
    int formula;                  /* 1: the prediction is by a formula (app->family analytic) */
    struct hrun_tasking tasking;        /* how the program deals its work out, as its runs show */
    int nsamples;                 /* measurements behind the models */
    double newest_s;              /* age of the newest, -1 unknown */
};

struct hrun_opt;
/* For the option table: "time=30m,pes=8,within=10%" into a question's limits; `within` may be "interval". */
int question_limit(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);


/* Decide for size N (0: not given). p: those of c, nothing loaded where the application or N is not known; at: those of
 * this N, NULL: they are made for this decision. p and c must outlive it. On failure
 * nothing is kept. Errors: those of the rooms; HRUN_EINFEASIBLE with the nearest sizes N that have a valid
 * configuration; that of a profile which is needed and cannot be read. */
int decision_make(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                  int64_t N, struct decision *out, struct hrun_error *err);
void decision_release(struct decision *d);

/* Does N lie outside of the sizes that were run? */
int decision_is_outside(const struct decision *d);

/* What makes the prediction of a configuration less sure than that of one that was run twice at its size: append it,
 * with commas between, or nothing: "1 run", "never run", "N 2.0 x, P 1.7 x beyond what was measured". */
void decision_doubts(const struct decision *d, struct hrun_buf *out);

/* What was minimised: the time, cost or energy of a decision with a prediction. */
double decision_value(const struct decision *d);

#endif
