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
#include "session/context.h"

#include <jansson.h>
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
    BY_PROBE,      /* no profile: the speeds that a small run told (probe.h) */
    BY_KINDS,      /* no profile: the speeds of the kinds of cores of one host, or earlier runs (kinds) */
    BY_RUNS        /* no profile: earlier runs tell the best known, or what to try (struct learning) */
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
    int open;                     /* so many, this one included, may be quicker than the best */
    const char *nothing;          /* --explore was given, and the best is run because of this; else NULL */
};

struct learning {  /* --explore of a command without models: what its runs tell (plan/learn.h) */
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

/* Decide for size N (0: not given). p: those of c, nothing loaded where the application or N is not known; at: those of
 * this N, NULL: they are made for this decision. p and c must outlive it. On failure
 * nothing is kept. Errors: those of the rooms; HRUN_EINFEASIBLE with the nearest sizes N that have a valid
 * configuration; that of a profile which is needed and cannot be read. */
int decision_make(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                  int64_t N, struct decision *out, struct hrun_error *err);
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

/* ---------------------------------------------------------------- goals
 *
 * What is minimised, and what the choice must keep (paper 000, section 8)
 *
 * Purpose: --objective and --limit become an objective and limits of the search, and what was chosen
 * gets its cost and energy.
 * Invariant: where money or energy counts, every sub-cluster that may be used has a price or a power: a sub-cluster
 * without one is not taken to be free.
 */

struct goals {
    const struct hrun_objective *objective;
    struct hrun_plan_limits limits;
    double within;              /* as asked for; 0: no such limit */
    int any;                    /* 1: something but the time is minimised, or there is a limit */
};

/* The goals of a question. subs: of the cluster; those with npes = 0 are not used. Errors: HRUN_EINVAL (options that
 * contradict each other, a sub-cluster without price or power). */
int goals_read(const struct question *q, const struct hrun_cluster *cl, const struct hrun_plan_sub *subs,
               struct goals *out, struct hrun_error *err);

/* The upper end of a configuration's interval, into *high_s: 0, or -1 with *err. */
typedef int goals_slowest_fn(void *ctx, const struct hrun_choice *choice, double *high_s, struct hrun_error *err);

/* What --limit within allows: from the quickest configuration of the problem, whose limits are *limits, the
 * limit of time into *limits. Errors: those of the search and of slowest. */
int goals_within(const struct goals *g, const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
                 goals_slowest_fn *slowest, void *ctx, struct hrun_plan_limits *limits, struct hrun_error *err);

/* After the choice: d->cost and d->energy_j where prices and powers are known, and, when a table is wanted, d->pareto:
 * time against what is minimised, else against cost. */
void goals_tell(const struct goals *g, const struct hrun_plan_problem *problem, const struct hrun_known *known, int n,
               int table, struct decision *d);

/* ---- explore: hrun --explore: now and then another configuration than the best predicted one; see plan/internal.h */

/* Refuse what contradicts --explore. Errors: HRUN_EINVAL. */
int explore_check(const struct question *q, struct hrun_error *err);

/* When it is time to try another configuration than the best of d->plan: that one into d->pes, d->procs, d->P and
 * d->explores, else only why not into this. It is when the last run at this N was one of the best. Errors: those of
 * the search. */
int explore(const struct hrun_plan_problem *problem, const struct corrected *k, double loss, struct decision *d,
            struct hrun_error *err);

/* ---- learn: --explore of a command that was not calibrated; see plan/learn.h */

/* Do runs tell of this decision: BY_DEFAULT or BY_KINDS, of a command, with --explore? */
int learn_applies(const struct context *c, const struct question *q, const struct decision *d);

/* The configuration of d, for which learn_applies, is the usual one: from the runs of all logs on this cluster, as
 * hrun_store_recent has them, another one, unless it is to be that, and d->learning. Failed runs count where the
 * program failed, calibrations as runs that nobody chose. Speeds: c->kinds where they are known, else of profiles or
 * the system. Errors: those of the store and of hrun_learn_next. */
int learn_decide(struct context *c, double loss, struct decision *d, struct hrun_error *err);

/* Replace the default of a command in d where that number of processes failed in the last two runs or more and has not
 * worked since: by the largest number that worked in between, else by one that usual rules allow. After the first run
 * that worked with another number the default is started once more: its number is the reason only if it fails again.
 * The user is told, so with --quiet the default stays. Sets d->failures and d->usual. Errors: those of the store and
 * of decide_by_count. */
int learn_refused(struct context *c, struct decision *d, struct hrun_error *err);

/* Of a command whose models allow nothing that its rule accepts: the quickest run of all logs, as above, into d.
 * 0, 1: none has worked, or -1: errors of the store. */
int learn_quickest(struct context *c, struct decision *d, struct hrun_error *err);

/* ---------------------------------------------------------------- finest
 *
 * The largest size that memory, time and money allow (scenario 2 of paper 001)
 *
 * Purpose: --finest asks for the size N in place of the configuration alone: the largest one that the rule accepts and
 * that some configuration keeps the limits for (--limit, memory).
 * Invariants: sizes are looked at where a prediction is possible, up to FINEST_BEYOND times the largest one measured.
 * It is taken for granted that without the rule a larger size is never quicker, and never needs less memory, than a
 * smaller one: then the answer is exact, for all sizes above it are either refused by the rule or beyond the largest
 * that a search without the rule finds.
 */

/* Find it, at most `most` (0: no limit). p: the profiles of c. On failure of *out only measure is written. Errors:
 * HRUN_EINVAL (--config, --limit within), HRUN_ENODATA (no profile), HRUN_EINFEASIBLE (no size at
 * all), those of the rooms. */
int finest_find(struct context *c, const struct question *q, const struct profiles *p, int64_t most,
                struct finest *out, struct hrun_error *err);

/* ---- prediction: what is predicted of a configuration that was decided on */

/* Fill d's predictions: of its configuration, with shares as d->sharing has them and its predictor deals them,
 * corrected by runs of it, and of the mpirun-style one with equal shares. problem: of at->predictor. What the models
 * do not predict stays marked as not known. Errors: those of hrun_predictor_deal. */
int predicted_fill(struct decision *d, const struct at_size *at, const struct hrun_plan_problem *problem,
                   struct hrun_error *err);

/* What runs tell of configurations with shares as d->sharing has them. */
const struct corrected *predicted_known(const struct decision *d, const struct at_size *at);

/* By how much longer a configuration counts than it is expected to take, as all are compared: exp of the standard
 * deviation of what is not known of it. */
double predicted_doubt(const struct corrected *k, const struct hrun_config *config);

/* Append the network terms of the choice whose operations take irregular times (hrun_models_irregular). */
void predicted_irregular(const struct context *c, const struct decision *d, struct hrun_buf *out);

/* ---------------------------------------------------------------- unmodelled
 *
 * Configurations that no model chooses: the user's, and what mpirun would do
 *
 * Purpose: decide.c asks these where a question names a configuration or a number of processes, and where there is no
 * profile.
 * Invariants: of *d the PEs that may be used (subs[].npes) and N are there; by, pes, procs, P and has_config are
 * filled.
 */

/* Refuse a size of which not even one process has its least units of work. Errors: HRUN_EINFEASIBLE, those of
 * hrun_app_units. */
int decide_check_units(const struct context *c, const struct decision *d, struct hrun_error *err);

/* --config. Errors: HRUN_EPARSE, HRUN_EINVAL (more PEs than there are), HRUN_EINFEASIBLE (the rule). */
int decide_by_config(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* Refuse a configuration whose processes do not fit into the memory of the PEs: with the shares of d->share where it is
 * predicted, else with equal ones. Errors: HRUN_EINFEASIBLE (names the sub-cluster), those of hrun_app_memory. */
int decide_check_memory(const struct context *c, const struct decision *d, struct hrun_error *err);

/* The user's layout, q->mapped; it has a configuration where it is one. Errors: HRUN_EINFEASIBLE (the rule). */
int decide_by_layout(struct context *c, const struct question *q, struct decision *d, struct hrun_error *err);

/* P processes: one on each of the first PEs, of those with enough memory if they suffice, else as many on each of all
 * PEs, else no configuration. Errors: HRUN_EINFEASIBLE (the rule), those of hrun_app_memory. */
int decide_by_count(struct context *c, int P, struct decision *d, struct hrun_error *err);

/* One process per PE that has the memory for it, the largest number of them that the rule accepts. Errors:
 * HRUN_EINFEASIBLE (there is none; says which sizes have one), those of the rule. */
int decide_by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err);

/* Append the numbers of processes per PE of the definition's that models (NULL: none) of a sub-cluster do not predict,
 * or on one PE only: "4", "2 (but alone on one PE), 4". Nothing where all are, or of another family than npt. */
void models_wanting(const struct hrun_app *app, const struct hrun_models *models, struct hrun_buf *out);

/* Largest number of processes that the PEs take: one each, or as many as the definition allows. */
int64_t decide_capacity(const struct context *c, const struct decision *d);

/* ---------------------------------------------------------------- kinds
 *
 * Which kinds of cores of one host are used where nothing is known of the program
 *
 * Purpose: a laptop or workstation has fast and slow cores. One process on each core makes the fast ones wait for the
 * slow ones; without these, or with two processes on each fast core, equal shares of work may be done sooner. How quick
 * the kinds are a benchmark of KINDS_SECONDS tells once on a machine; the store keeps it.
 * How: time goes as max(Mi / si) / P over the kinds used, si being their speeds (model.h, "speeds"). The quickest
 * configuration with one process on a core is taken; one with two on some cores, whose cost is not known, where it
 * promises to be 30 % quicker (tests/trials/hybrid). Of these and one process on each core of the quickest kinds, be it
 * one kind, two, or all, the least median is taken whatever speeds say, where runs of several of them are known.
 * Invariants: kinds whose speeds differ by less than 10 % count as one. A benchmark is kept only where each core was
 * the benchmark's alone and cores of a kind were alike; one that was not is not made again for an hour.
 */
#define KINDS_SECONDS 1.5

/* Can there be anything to choose? A decision BY_DEFAULT over several kinds of cores of this one host, which is real,
 * without --use or a quota of processor time, of a program whose processes have no threads of hrun's. */
int kinds_matter(const struct context *c, const struct question *q, const struct decision *d);

/* c->kinds: of the store; else, where why_not is NULL, of the benchmark (with --refresh always, 1.5 s with all cores
 * busy); else not known, because of why_not. Needs c->signatures. That it cannot be kept is said. */
void kinds_find(struct context *c, const char *why_not);

/* Speeds of sub-clusters from the rates of their PEs, sub-cluster by sub-cluster, into speed[nsubs]. Result: 1; 0 with
 * why[size] where the rates cannot be trusted. */
int kinds_judge(const struct hrun_cluster *cl, const struct hrun_topo_rate *rates, double *speed, char *why,
                size_t size);

/* Choose by c->kinds and, with by_runs, earlier runs: pes, procs, P, by and kinds_run of a decision for which
 * kinds_matter; where neither is known it stays. Errors: those of the search. */
int kinds_decide(const struct context *c, int by_runs, struct decision *d, struct hrun_error *err);

/* Append "cores of kind0 (8) are 1.9 times as quick as those of kind1 (16), measured in 1.5 s", or why that is not
 * known. */
void kinds_print(const struct context *c, struct hrun_buf *out);
/* Append "one per core", "2 per core of kind0, one per core of kind1". */
void kinds_print_config(const struct context *c, const struct decision *d, struct hrun_buf *out);

/* ---------------------------------------------------------------- variants
 *
 * Which of an application's algorithms will be run (paper 003, section 3.4)
 *
 * Purpose: a definition may hold variants. Each is decided for as an application of its own is, and the best of them is
 * taken: A_i is the best on a cluster where its performance is the least of all (eq. 1), each in the configuration that
 * is best for it.
 * Invariants: context.app is one of context.variants_of->variants, the first until one is chosen.
 */

struct variant_view {
    const char *name;           /* of the definition */
    struct profiles known;
    struct decision d;
    int decided;                /* 1: d is filled */
    int predicted;              /* 1: and so are time_s and value */
    double time_s;              /* of its best configuration */
    double value;               /* what is minimised: s, cost or J */
    char *why_not;              /* owned: why there is no decision or prediction, or NULL */
};

struct variants {
    struct variant_view *v;
    int n;                      /* 0: the definition has none, or the user named one */
    int chosen;
};

/* Decide for every variant and take the best, which becomes c->app; its profiles and decision go to *known and *d. With
 * --limit within and --explore the quickest variant is taken, and they choose among its configurations. Without any
 * prediction the first variant is taken. Errors: that of the first variant, where none has a valid configuration, or of
 * the one that is nearest to the limits, where none keeps them; those of the rooms. *out, *known and *d are then
 * to be released as well. */
int variants_choose(struct context *c, const struct question *q, int64_t N, struct variants *out,
                    struct profiles *known, struct decision *d, struct hrun_error *err);
void variants_release(struct variants *v);

/* Keep in *nearest (zeroed before the first) the error of the variant that is nearest to the limits, or where it is not
 * for them, the first. */
void variants_nearest(const struct hrun_error *why, struct hrun_error *nearest);

/* The best of those that were not chosen, -1: none is predicted. */
int variants_next(const struct variants *v);

/* Append "cannon; next best: columns (4,1,3,1) +3.1 %". */
void variants_print(const struct variants *v, struct hrun_buf *out);
/* The same for machines; null where there are none. */
json_t *variants_json(const struct variants *v);

/* ---------------------------------------------------------------- placement
 *
 * The layout of a decision
 */

/* After a layout is made: share its cores out where the definition says `threads: fill`. The user's own
 * OMP_NUM_THREADS stays: the cores are shared out all the same, the numbers of threads are left to it. */
void placement_fill_threads(const struct context *c, struct hrun_layout *layout);

/* The layout of a decision, with its threads; the caller destroys it. Errors: those of lib/layout. */
int placement_layout(const struct context *c, const struct decision *d, struct hrun_layout **out,
                     struct hrun_error *err);

/* The layout that the user's words make for a question (hrun_layout_map), with threads; the caller destroys it. */
int placement_map(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout **out,
                  struct hrun_error *err);
/* Bind the ranks of a layout of a decision as the user says (hrun_layout_bind), with threads. */
int placement_bind(struct context *c, const struct question *q, const struct hrun_mapping *m, struct hrun_layout *l,
                   struct hrun_error *err);

/* ---------------------------------------------------------------- document
 *
 * Plans and clusters for machines, as JSON
 *
 * Purpose: hrun --dry-run --json, hrun --show-cluster --json and hrun_ask give the same documents (hrun(1)).
 */

/* What would be started. */
struct command {
    const struct hrun_layout *layout;
    const struct hrun_mapping *mapping; /* the user's words for where ranks go; NULL: there are none */
    char *const *argv;        /* program and arguments with everything replaced; NULL: no program is known */
    const struct hrun_job *job; /* for the programs of all ranks; NULL: all start argv */
    const char *mpirun;       /* the line to type: what engine mpirun or srun runs, the equivalent for local and smpi;
                                 NULL: no program is known */
    const char *yielding;     /* why waiting processes yield (hrun_job_yielding); "": they do not */
    const struct variants *variants; /* among which one was chosen; NULL or without any: there are none */
    json_t *more;             /* members that the command adds; NULL: none */
};

/* Append the plan. */
void document_plan(const struct context *c, const struct decision *d, const struct command *cmd, struct hrun_buf *out);

/* Append the cluster; signatures may be fewer than the sub-clusters when they are not known. */
void document_cluster(const struct context *c, struct hrun_buf *out);

#endif
