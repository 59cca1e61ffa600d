/* runs.h - making the runs of a campaign, each stored at once, and telling of them
 *
 * Invariants:
 *   - what has happened is told as events; nothing but campaign_note (campaign.h) changes a campaign once it is built;
 *   - every run is in the log when its event is told: as a time, or as failed;
 *   - an interrupted run says nothing about the application and is not recorded.
 */
#ifndef CALIB_RUNS_H
#define CALIB_RUNS_H

#include "campaign.h"

#include "session/scratch.h"

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
    int *slow_host;           /* of each sub-cluster: the slowest host that copies have found, -1: none was looked for;
                                 runs_make's own */
    void (*tell)(void *ctx, const struct event *e);
    void *ctx;
    struct spending {
        double time_s;        /* of the last run, 0 when it failed */
        int too_short;        /* the last run told a time of 0 s */
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

#endif
