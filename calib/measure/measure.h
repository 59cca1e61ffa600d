/* measure.h - a campaign: its points, its budget, its runs, and what is said of them */
#ifndef CALIB_MEASURE_MEASURE_H
#define CALIB_MEASURE_MEASURE_H

#include "../common/options.h"
#include "plan/next/design.h"
#include "session/decide.h"
#include "session/work.h"

/* ---------------------------------------------------------------- campaign
 *
 * Which runs a calibration makes, how they went, and how long they will take
 *
 * Purpose: the grid sizes x PEs x processes per PE of each sub-cluster alone (paper 000, section 4.1: models are made
 * from homogeneous sub-clusters), fitted to the application's rule, less what is measured already.
 * Invariants: points are distinct; each satisfies rule and memory limit; a point with a rule such as N % P == 0 uses
 * the valid size nearest to the wanted one (section 5.2: "we cannot use arbitrary sizes but must choose the multiples
 * of the specified P").
 */

struct point {
    int64_t N;
    int *pes, *procs;         /* of each sub-cluster: PEs, and processes on each of them */
    int P;                    /* processes in all */
    double work;              /* family weak: the rows of each process, else 0 */
    double *share;            /* of the whole of the work, of each process of a sub-cluster; NULL: equal */
    int copies;               /* 1: each process is a run of its own, all at the same time (measure.h) */
    int sub;                  /* the only sub-cluster used; -1: several */
    int have;                 /* good measurements on disk */
    int failed;               /* attempts that failed in this campaign */
    int refused;              /* 1: the last one did, by the program's own exit status */
    int left_out;             /* 1: it failed too often, or its sub-cluster is given up */
    double wall_s;            /* mean wall time of its good runs, 0 unknown */
};

struct budget;

struct campaign {
    struct point *v;
    int n, cap;
    struct budget *budget;    /* runs are chosen one by one (measure.h), owned; NULL: the grid */
    int wanted;               /* repetitions of each point of the grid */
    int skipped_rule, skipped_memory; /* grid points that could not be made valid */
    int nsubs;
    int good, failed_points, hosts_failed; /* since it was built: good runs; points left out, and runs that an engine
                                 or a host made fail */
    int no_time;              /* runs that ended well, but of which the time is not known */
    int too_short;            /* runs that ended well and told a time of 0 s */
    double step_s;            /* the steps in which the times of the log and of the good runs are told */
    int timed;                /* how many these are */
    char last_failure[640];
};

/* What happens while the runs are made. */
enum event_kind { EVENT_BEGIN, EVENT_RUN, EVENT_GIVEN_UP, EVENT_WORDS };
struct event {
    enum event_kind kind;
    int point;                /* BEGIN, RUN: index */
    int sub;                  /* GIVEN_UP */
    int ok;                   /* RUN: 1 a measurement, 0 failed: text says how */
    int left_out;             /* RUN: it failed for the last time */
    int host_failed;          /* RUN: the engine or a host failed, not the application */
    int no_time;              /* RUN: the application ended well, but its time is not known */
    int too_short;            /* RUN: it ended well and told a time of 0 s */
    int too_slow;             /* RUN: it was ended because others are far quicker */
    int refused;              /* RUN: the program ended it with a status of its own */
    double time_s, wall_s;    /* RUN */
    char text[640];           /* RUN, GIVEN_UP: why; WORDS: what the engine says */
};

/* Build the grid. Errors: HRUN_EINVAL (bad lists, no sizes known, nothing left to measure). */
int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
void campaign_release(struct campaign *g);

void campaign_note(struct campaign *g, const struct event *e);

/* Look at a measured time, and the steps in which times are told as far as is known: 0, not known. */
void campaign_see_time(struct campaign *g, double time_s);
double campaign_step(const struct campaign *g);

/* The point with this configuration (PEs and processes per PE of each of g->nsubs sub-clusters), size, and equal shares
 * (NULL) or others, which become these; made when it is not there yet. Result: its index. */
int campaign_point(struct campaign *g, const int *pes, const int *procs, const double *share, int64_t N);

/* 1 if this sub-cluster is to be measured. */
int campaign_has(const struct campaign *g, int sub);

/* Runs that are still to be made; of one sub-cluster, or with sub = -1 of all. */
int campaign_left(const struct campaign *g, int sub);
/* Their expected wall time, the same way: known points by their own mean, others by the nearest known one; 0 while none
 * is. */
double campaign_time_left(const struct campaign *g, int sub);
/* 1 when all that are left were run before. */
int campaign_left_is_sure(const struct campaign *g);

/* The time (s) after which a run of point i is taken to hang, by what is known of its sub-clusters: 20 times the
 * longest time to be expected of it, and a minute for a slow start. To be expected is the wall time of any known point
 * there, for a larger N times the cube of the growth in N, for a larger part Mi/P of the work on each PE in proportion
 * to it. 0: of a sub-cluster that it uses nothing is known yet. */
double campaign_limit(const struct campaign *g, int i);

/* Append the table of points, and under it the runs and times of each sub-cluster and in all. */
void campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out);

/* ---------------------------------------------------------------- budget
 *
 * A campaign whose runs are chosen one by one (lib/plan/next), within a budget
 *
 * Purpose: what hrun-calibrate does by default, and --budget limits: from options and log to
 * a design, and back to words.
 * Invariants: the design knows every good run of the log that counts and is of these sub-clusters, mixed ones included,
 * and what failed there for good after something had worked, so that it does not choose what hrun excludes;
 * what was known before costs nothing of the budget; budget and runs are those of one call of hrun-calibrate.
 */

struct budget {
    struct lists lists;
    struct hrun_design_sub *subs;
    struct hrun_design *design;
    double *share;            /* of each sub-cluster: scratch */
    double limit_s, target;   /* 0: none */
    int finds;                /* 1: the design finds a budget */
    int runs;                 /* 0: no limit */
    int known;                /* good runs that the log held */
    uint64_t seed;
};

/* Are runs chosen (1), or is it the full grid (0)? Errors (-1): HRUN_EINVAL (an option of the other way). */
int budget_wanted(const struct calib_settings *s, struct hrun_error *err);

/* Instead of campaign_build: *out has no points but those of the log, and its budget. Errors: HRUN_EINVAL
 * (bad options, nothing to measure), those of the store and of hrun_design_create. */
int budget_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
void budget_destroy(struct budget *b);

/* Append what will be done first, for --dry-run. Errors: those of hrun_design_next. */
int budget_plan(const struct context *c, const struct campaign *g, struct hrun_buf *out, struct hrun_error *err);

/* Append why the campaign ended and what it is worth, one sentence without a newline; what hrun makes of it is told by
 * measure.h. */
void budget_verdict(const struct campaign *g, struct hrun_buf *out);

/* ---------------------------------------------------------------- runs
 *
 * Making the runs of a campaign, each stored at once, and telling of them
 *
 * Invariants:
 *   - what has happened is told as events; nothing but campaign_note (measure.h) changes a campaign once it is built;
 *   - every run is in the log when its event is told: as a time, or as failed;
 *   - an interrupted run says nothing about the application and is not recorded.
 */

struct work_result;

struct runs {
    struct context *c;
    char **words;             /* program and arguments */
    const struct scratch *scratch; /* folders of the runs; NULL: they run in the working folder. The caller's */
    int verbose;              /* 1: the engine's words are told, too */
    struct campaign *g;
    int retries;              /* of a failed run */
    int trace;                /* 1: the runs are watched */
    struct ledger *ledger;    /* while the runs are made */
    int told_why;             /* why a run could not be watched has been told */
    int finds_rule;           /* 1: a command: which numbers of processes it accepts is told by its runs */
    double limit_s;           /* of the run that is made, as the design says (design.h) */
    int *slow_host;           /* of each sub-cluster: the slowest host that copies have found, -1: none was looked for;
                                 runs_make's own */
    void (*tell)(void *ctx, const struct event *e);
    void *ctx;
    struct spending {
        double time_s;        /* of the last run, 0 when it failed */
        int too_short;        /* the last run told a time of 0 s */
        int too_slow;         /* the last run was ended by limit_s */
        double wall_s;        /* of all runs */
    } spent;
};

/* Make the runs of the grid, or those that the campaign's budget chooses.
 * Of the grid, repetitions are outermost: stopped early, there is still one run of everything. Result: 0, or the
 * number of the signal that stopped it. Errors: all of work_run but HRUN_EENGINE, which is the failure of a run;
 * those of work_record. */
int runs_make(struct runs *r, struct hrun_error *err);

/* A run that could not be started because the engine, or a host, failed: a failure of its own kind. */
void runs_engine_failed(struct work_result *r, const struct hrun_error *err);

/* A run that was ended by our own limit, not the user's: how to get another. */
struct work;
void runs_tell_limit(const struct work *w, struct work_result *r);

/* The engine's words, where they are told. ctx: struct runs. */
void runs_hear(void *ctx, const char *text);

/* ---- progress: what hrun-calibrate shows while it measures, on standard error */

struct progress {
    const struct context *c;
    const struct campaign *g;     /* events are noted in it before they are shown */
    int quiet;
    int tty;                      /* stderr is a terminal: one line that is rewritten */
    int total;                    /* runs to be made */
    double heard_s;               /* when the last run ended, or the first began */
    double busy_s, wall_s;        /* of all runs so far: by this clock, with what passes between runs; by their own */
    int runs;                     /* how many these are */
};

/* Real seconds that are left, by what runs have taken so far and what passes between them. 0: not known. */
double progress_left(const struct progress *p);

void progress_start(struct progress *p, const struct context *c, const struct campaign *g);
void progress_show(void *progress, const struct event *e);
/* To be called before anything else is written to standard error. */
void progress_clear(const struct progress *p);

/* ---------------------------------------------------------------- choices
 *
 * What hrun would choose at each size, asked of hrun itself (service/decide.h)
 *
 * Purpose: the end of a budget tells the best configurations. Their times and intervals are those that hrun --dry-run
 * gives afterwards, from the models that were stored and the runs in the logs.
 * Invariants: nothing but stored models and logs is asked; of a size where nothing is known it is said why.
 */

struct choice {
    int64_t N;
    char *config;              /* "(4,1,0,0)"; owned; "-": none is known */
    double time_s, low_s, high_s;
    int P, plain_P;            /* processes: of this one, and as mpirun would start it */
    int is_plain;              /* 1: they are the same */
    double plain_s;            /* predicted of that; 0: not known, or not possible */
    int runs_here, runs_elsewhere;  /* of this configuration, at this N and at others */
    char *doubts;              /* why it is less sure than one that was run twice (decision_doubts), or ""; owned */
    char *next;                /* the runner-up, "(3,1,0,0) +2.1 %"; owned; "" where there is none */
    const char *why;           /* why there is no prediction, or NULL; with P > 0 it was run, in time_s */
};

struct choices {
    struct choice *v;          /* in order of N; owned */
    int n;
    int exact;                 /* 1: times do not scatter, one run is enough */
    int fixed;                 /* 1: the work is always the same, N says nothing */
};

/* Ask for sizes[nsizes]. Without stored models there are none. Errors: those of decide but HRUN_EINFEASIBLE. */
int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err);
void choices_release(struct choices *c);

/* Append a table: the choice of each size, its time, and what it rests on. */
void choices_table(const struct choices *c, struct hrun_buf *out);

/* Append what hrun starts from now on, and what that gains, of the largest size at which it is known; spent_s: what
 * it took to know. Nothing where none is known. */
void choices_gain(const struct choices *c, double spent_s, struct hrun_buf *out);

/* Append in words how well the times are known, and at how many sizes the choice was not run there; nothing when there
 * are none. */
void choices_words(const struct choices *c, struct hrun_buf *out);

/* ---------------------------------------------------------------- copies
 *
 * Runs of one process each at the same time, on many PEs (paper 001, section V.A)
 *
 * Purpose: what a process takes on a host whose PEs are all busy, and runs of several processes whose hosts' other PEs
 * are busy meanwhile. Each copy is a run of its own, in a process of its own.
 * Invariants: none of these processes outlives a call that ends them, nor this process; copies are never recorded one
 * by one.
 */

/* Run a copy on each of pes[n] of the point's sub-cluster, *r tells of the slowest, or of one that failed, and
 * *slowest which that was (index into pes). Simulated hosts do not disturb each other: there the copies are run a few
 * at a time. 0: they ran, or could not be started (*r tells); -1 with *err. */
int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct work_result *r, int *slowest,
               struct hrun_error *err);

/* Keep pes[n] busy with copies of the point's work until copies_end. Errors: HRUN_EIO. */
struct copies;
struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err);
void copies_end(struct copies *c);

/* ---------------------------------------------------------------- loaded
 *
 * Runs whose processes have a given share of the work, on hosts of which all PEs are kept busy
 *
 * Purpose: a family that tells which points it wants (struct hrun_family, model/model.h) may ask for copies of a run of
 * one process on all PEs of the hosts, and for runs of few processes (paper 001, section IV). Where PEs are cores of
 * one host, processes are spread over four hosts, so that there is one between two others, whose link carries messages
 * both ways, as in a large run; the other PEs of these hosts are kept busy meanwhile (measure.h).
 */

/* The PEs that a run on npes of them uses, order[npes], ascending: over hosts as above, the slowest known one among
 * them (-1: none is known). */
void loaded_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order);

/* Make a run of point i, which has work, once, and record it. 0: it ran, or could not be started (*r tells how); -1
 * with *err. */
int loaded_run(struct runs *runs, int i, struct work_result *r, struct hrun_error *err);

/* ---------------------------------------------------------------- new
 *
 * Hrun-calibrate --new and --vary: an app definition for a program that nobody knows the theory of
 *
 * Purpose: find the rule by trying (new_rule.c), measure with a definition that is good for that alone, choose terms
 * from the measurements (lib/model/model.h), write the definition, and fit with it (new.c). Of --vary, of which a
 * number in the command is the size, it is that of the command (session/context.h, "problem"), else the user's own.
 * Invariants: the definition appears as a whole, when all is measured, or not at all; one that is there is replaced
 * only with --force, that of a command always: its sizes and rule count on. Measurements are kept from the first on,
 * as of any calibration: after a stop the same command goes on.
 */

/* What is known so far. */
struct new_app {
    const char *name;
    char *const *words;            /* program and arguments */
    struct context *command;       /* of --vary: its problem, and what is known of it; NULL: --new */
    const char *time_match, *time_file, *time_value;   /* as a definition has them, or NULL */
    int suits;                     /* 1: processes per PE follow the cluster (hrun_app_suit) */
    struct lists lists;            /* sizes, processes per PE */
    struct hrun_buf rule, rule_from;  /* expression; what it rests on */
};

/* Find the rule by runs on c's cluster, which hold as many processes per PE as need be, the smallest size first.
 * c: with program, cluster and engine. 0; the number of the signal that stopped it; -1 with *err (HRUN_ENODATA: no run
 * worked, or no rule agrees with all). */
int new_find_rule(struct context *c, struct new_app *a, struct hrun_error *err);

/* Of --vary: the words become those with {N} in place of the number, a->command is what is known of them; of that, or
 * of their program, processes per PE, rule and time count on. Errors: HRUN_EINVAL (no such number, a
 * definition that knows the command, {N} among the words), those of problem_begin. */
int vary_begin(struct calib_settings *s, struct new_app *a, struct hrun_error *err);

#endif
