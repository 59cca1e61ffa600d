/* runs.h - the runs of a campaign
 *
 * Invariants: each event is passed to on_event; a run is in the log, with its time or as failed, before its event; an
 * interrupted run is not recorded.
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
    const struct scratch *scratch; /* folders of the runs, owned by the caller; NULL: they run in the working folder */
    int verbose;              /* 1: messages of the engine are passed on as events */
    struct campaign *g;
    int retries;              /* number of retries of a failed run */
    int trace;                /* 1: the runs are watched */
    void (*on_event)(void *ctx, const struct event *e);
    void *ctx;
    /* Used by runs_make: */
    struct ledger *ledger;
    int said_unwatched;       /* 1: an event has reported why runs cannot be watched */
    int finds_rule;           /* 1: find the rule of a command from the numbers of processes that it refuses */
    double limit_s;           /* the design's limit for the current run (design.h) */
    int *slow_host;           /* for each sub-cluster: 1 + the slowest host, found by copies; 0: not known */
    struct spending {
        double time_s;        /* time of the last run; 0: it failed */
        int too_short;        /* 1: the last run ended with a time of 0 s */
        int too_slow;         /* 1: the last run exceeded limit_s */
        double wall_s;        /* time of all runs */
        double waited_s;      /* time of waits for other users' runs */
        double begun_s;       /* the clock minus wall_s and waited_s, taken at the start and after each chosen run; what
                                 it grows by from one run to the next is the pause between them */
    } spent;
};

/* Make the runs of the grid, or those that the campaign's budget chooses. The grid's outermost loop is over
 * repetitions, so after an early stop most points have a run. Result: 0, or the number of the signal that stopped it.
 * Errors: those of work_run except HRUN_EENGINE, which counts as a failed run; those of work_record. */
int runs_make(struct runs *r, struct hrun_error *err);

/* As work_run, but a failure of the engine or a host is reported in *r as a failure of the run. */
int runs_start(const struct work *w, struct hrun_layout *l, struct work_result *r, struct hrun_error *err);

/* ---------------------------------------------------------------- copies
 *
 * Runs of one process each at the same time, on many PEs (paper 001, section V.A)
 *
 * Purpose: time a process on a host whose PEs are all busy, and keep the other PEs of hosts busy during a run of
 * several processes. Each copy is a separate run, in a child process.
 * Invariants: no child outlives copies_run or copies_end, and none survives this process; copies are not recorded
 * singly.
 */

/* The slowest of several copies, or one that failed, and its PE. */
struct copy_result {
    struct work_result result;
    int pe;
};

/* Run a copy on each of pes[n] of the point's sub-cluster. Simulated copies do not disturb each other, so a few run at
 * a time. Result: 0 with *out, also if a run failed or the engine could not start it; -1 with *err on other errors. */
int copies_run(struct runs *runs, const struct point *p, const int *pes, int n, struct copy_result *out,
               struct hrun_error *err);

/* Keep pes[n] busy with copies of the point's work until copies_end. Errors: HRUN_EIO. */
struct copies;
struct copies *copies_start(struct runs *runs, const struct point *p, const int *pes, int n, struct hrun_error *err);
void copies_end(struct copies *c);

/* ---------------------------------------------------------------- loaded
 *
 * Runs whose processes have a given share of the work, on hosts with all PEs busy
 *
 * Purpose: a family with its own points (struct hrun_family, model/model.h) may request copies of a one-process run on
 * all PEs of the hosts, and runs of few processes (paper 001, section IV). Processes are spread over four hosts, or
 * over all if four have too few PEs. As in a large run, a host between two others then has messages both ways on its
 * link. Copies keep the other PEs of these hosts busy.
 */

/* order[npes], ascending: the PEs for a run on npes PEs, spread over hosts as above, with the slowest host among them
 * (slow_host; -1: not known). */
void loaded_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order);

/* Run once a point whose `work` is not 0. w: its share and program are set already. Result: 0 with *r, also if the run
 * failed or the engine could not start it; -1 with *err on other errors. */
int loaded_run(struct runs *runs, const struct point *p, const struct work *w, struct work_result *r,
               struct hrun_error *err);

#endif
