/* runs.h - making the runs of a campaign
 *
 * Invariants: what happens is passed on as events; every run is in the log when its event is passed on, as a time or as
 * failed; an interrupted run says nothing about the application and is not recorded.
 */
#ifndef CALIB_MEASURE_RUNS_H
#define CALIB_MEASURE_RUNS_H

#include "campaign.h"
#include "session/pes_in_use.h"
#include "session/scratch.h"
#include "session/work.h"

struct runs {
    struct context *c;
    char **words;             /* program and arguments */
    const struct scratch *scratch; /* folders of the runs; NULL: they run in the working folder. The caller's */
    int verbose;              /* 1: the engine's words are passed on, too */
    struct campaign *g;
    int retries;              /* of a failed run */
    int trace;                /* 1: the runs are watched */
    void (*on_event)(void *ctx, const struct event *e);
    void *ctx;
    /* runs_make's own. */
    struct ledger *ledger;
    int said_unwatched;       /* 1: the reason why runs cannot be watched has been passed on */
    int finds_rule;           /* 1: a command, whose rule follows from the numbers of processes that it refuses */
    double limit_s;           /* of the run that is made, as the design says (design.h) */
    int *slow_host;           /* of each sub-cluster: the slowest host that copies have found; -1: not known */
    struct spending {
        double time_s;        /* of the last run, 0 when it failed */
        int too_short;        /* 1: the last run ended with a time of 0 s */
        int too_slow;         /* 1: the last run was ended by limit_s */
        double wall_s;        /* of all runs */
    } spent;
};

/* Make the runs of the grid, or those that the campaign's budget chooses.
 * Of the grid, repetitions are outermost: stopped early, there is still one run of everything. Result: 0, or the
 * number of the signal that stopped it. Errors: all of work_run but HRUN_EENGINE, which is the failure of a run;
 * those of work_record. */
int runs_make(struct runs *r, struct hrun_error *err);

/* work_run, but a failure of the engine or of a host is one of the run, in *r. */
int runs_start(const struct work *w, struct hrun_layout *l, struct work_result *r, struct hrun_error *err);

/* Where our own limit has ended a run, not the user's: say in *r how to set another. */
void runs_explain_limit(const struct work *w, struct work_result *r);

/* For struct work: the engine's words. ctx: struct runs. */
void runs_on_message(void *ctx, const char *text);

/* ---------------------------------------------------------------- copies
 *
 * Runs of one process each at the same time, on many PEs (paper 001, section V.A)
 *
 * Purpose: what a process takes on a host whose PEs are all busy, and runs of several processes whose hosts' other PEs
 * are busy meanwhile. Each copy is a run of its own, in a process of its own.
 * Invariants: none of these processes outlives a call that ends them, nor this process; copies are never recorded one
 * by one.
 */

/* The slowest of several copies, or one that failed, and its PE. */
struct copy_result {
    struct work_result result;
    int pe;
};

/* Run a copy on each of pes[n] of the point's sub-cluster. Simulated hosts do not disturb each other: there the copies
 * are run a few at a time. 0: they ran, or could not be started (*out tells); -1 with *err. */
int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct copy_result *out,
               struct hrun_error *err);

/* Keep pes[n] busy with copies of the point's work until copies_end. Errors: HRUN_EIO. */
struct copies;
struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err);
void copies_end(struct copies *c);

/* ---------------------------------------------------------------- loaded
 *
 * Runs whose processes have a given share of the work, on hosts of which all PEs are kept busy
 *
 * Purpose: a family with points of its own (struct hrun_family, model/model.h) may ask for copies of a run of one
 * process on all PEs of the hosts, and for runs of few processes (paper 001, section IV). Where PEs are cores of
 * one host, processes are spread over four hosts, so that there is one between two others, whose link carries messages
 * both ways, as in a large run; copies keep the other PEs of these hosts busy meanwhile.
 */

/* The PEs that a run on npes of them uses, order[npes], ascending: over hosts as above, the slowest known one among
 * them (-1: none is known). */
void loaded_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order);

/* Make a run of point i, which has work, once, and record it. 0: it ran, or could not be started (*r tells how); -1
 * with *err. */
int loaded_run(struct runs *runs, int i, struct work_result *r, struct hrun_error *err);

#endif
