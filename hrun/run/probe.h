/* probe.h - hrun --probe: a small run, or the beginning of the real one, tells the speeds of the PEs, and these where
 * the real one goes
 *
 * Purpose: for an application without a profile (paper 004, section 5.2). With a size, a small run with one process
 * per PE, watched, tells how long each process computes; where it cannot be watched each sub-cluster runs alone, and
 * its time tells. From these speeds (model/model.h) the search finds the quickest configuration. It is taken where it
 * is quicker than the default, one process per PE, by more than the probe can resolve, and where one more small run
 * shows that it is. So the real run is not slower than the default but by what the probe itself took, as far as a
 * small run tells.
 *
 * Without a size, a look: the real run is started by default, watched for some seconds with its output held back
 * (launch.h), and goes on unless the speeds say that another configuration is clearly quicker; then it is ended, and
 * begun anew in that one, which is looked at as long. Where that does less in a second (collective operations of a
 * process; messages, where the number of processes is the same), or fails, it is ended, too, and the default runs.
 * Guaranteed: a run that ends within the look, or that is kept, costs nothing but the watching; no more than two
 * looks, and two starts, are lost; where earlier runs of the command are known, a look takes at most a tenth of their
 * time (unless --probe=TIME says more), and the run is begun anew only for a predicted gain above that. Not
 * guaranteed: that the total is never more than 10 % above the default's where nobody knows how long that is; that
 * what comes after the look is like what was seen; and that the better configuration is found out where the program
 * calls no collective operation and the number of processes changes, for then nothing counts the same in both: there,
 * and where nobody knows how long the run takes, a fifth must be predicted to be gained.
 * Invariants: after a failure or a signal nothing more is started; each good run is recorded as any run is.
 */
#ifndef HRUN_PROBE_H
#define HRUN_PROBE_H

#include "model/model.h"
#include "options.h"
#include "session/decide.h"
#include "session/work.h"

#include <jansson.h>

struct probe {
    int asked;                 /* 1: --probe; else all below is 0 */
    int not_needed;            /* 1: there is a profile; all below is 0 then */
    int useful;                /* 0: whatever the speeds are, the default is the quickest by them; nothing is run */
    int64_t N;                 /* size of the first run */
    int *pes, *procs, P;       /* its configuration (nsubs each), one process on each PE; owned */
    int apart;                 /* 1: the sub-clusters run alone, one after the other, each on its part of that */
    char why[512];             /* why they do; "" */
    int runs;                  /* made so far */
    double cost_s;             /* what they took, by the clock of the job's hosts */
    int unlike;                /* 1: the default is left */
    double predicted, shown;   /* time of the last configuration tried over that of the default, as predicted, and as
                                  the small run shows; 0: none was tried */
    int64_t shown_N;           /* at this size */
    char kept[256];            /* why the default is kept; "" */
    int status;                /* of hrun, where a run was interrupted or took too long; else 0 */
    int is_look;               /* 1: it is one */
    /* Of a look; pes, procs and P are the default then, and runs those that were ended. */
    double look_s;             /* how long it takes; 0: there is none: because of `why`, or it is no look */
    double expected_s;         /* what the default takes, by earlier runs; 0: there were none */
    double asked_s;            /* when the watch was asked last, since the start */
    struct probe_rates { double collective, sent; } rates;   /* of the default; per second, of the busiest process */
    int64_t input_at;          /* where standard input begins, if it is a file */
};

/* Is what --probe asks for a look? */
int probe_is_look(const struct hrun_settings *s);
/* A probe by a small run needs a size. Errors: HRUN_EINVAL. */
int probe_check(const struct hrun_settings *s, char *const *words, struct hrun_error *err);

/* After decide: size and configuration of the first run. w is the real run, d its default. Errors: HRUN_EINVAL (the
 * size does not reach the program, --probe=SIZE), HRUN_EINFEASIBLE (no size to probe with), HRUN_ENOMEM. */
int probe_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
               struct hrun_error *err);

/* Make the runs, and change d where another configuration is to be run. Errors: those of work_run, and HRUN_EENGINE for
 * a run that failed. */
int probe_make(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
               struct hrun_error *err);
void probe_release(struct probe *p);

/* What will be probed, for a dry run: lines; and null or an object. */
void probe_print(const struct probe *p, const struct decision *d, struct hrun_buf *out);
json_t *probe_json(const struct probe *p, int nsubs);
/* A line on what is started in place of a run that a look has ended. */
void probe_begins_anew(const struct probe *p, const struct decision *d, struct hrun_buf *out);
/* A line about a probe before it is made, and one after the real run, which took job_s. */
void probe_before(const struct probe *p, struct hrun_buf *out);
void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out);

/* ---------------------------------------------------------------- probe_look
 *
 * Looks at the beginning of the real run
 */

/* Of probe_plan: how long a look takes, or why there is none. Errors: HRUN_ENOMEM. */
int look_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
              struct hrun_error *err);
/* For work.look, age_s after the start of a run of d, which failed: 1: fails. Where the run is to be ended d is what
 * is to be started. */
enum hrun_look look_decide(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
                           double age_s, int failed);
/* After a run that was ended, before the next one: its cost, and standard input from where it began. */
void look_ended(struct probe *p, const struct work_result *r);

/* ---------------------------------------------------------------- probe_parts
 *
 * What the files of hrun/probe*.c share
 *
 * probe.c knows the options and the order of things, probe_run.c makes runs and finds speeds in them, probe_choose.c
 * finds and tries configurations, probe_look.c looks at the real run.
 */

struct probing {
    struct probe *p;
    const struct work *w;      /* the real run */
    const struct hrun_settings *s;
    struct decision *d;
    struct context *c;
    struct hrun_speed *v;      /* nsubs */
    int **procs;               /* nsubs: Mi where there is no definition */
    int P0;                    /* processes that v is about */
    double comm_s;
    double unsure;             /* of the slowest of v */
    int alone;                 /* 1: where sub-clusters run apart, each runs one process */
    /* The default at a small size, where it was run. */
    int64_t base_N;            /* 0: it was not */
    double base_s, base_launch_s;
};

/* One small run, recorded. *time_s: of the application, *launch_s: what the launch took besides. waits: NULL: it is not
 * watched; else the caller's. */
int probe_run(struct probing *g, int64_t N, const int *pes, const int *procs, struct waits *waits, double *time_s,
              double *launch_s, struct hrun_error *err);
/* Which Mi are looked at, and how many processes of a PE do not slow each other down; g->v and g->procs are the
 * caller's to free. */
int probe_options(struct probing *g, struct hrun_error *err);
/* How much longer the work of size N takes than that of size n, at least 1: by the definition's terms in N alone the
 * one that grows most; in proportion where there are none. Errors: those of the terms. */
int probe_growth(const struct hrun_app *app, int64_t n, int64_t N, double *growth, struct hrun_error *err);
/* The speeds from a watched run, or from a part of one. */
void probe_take_watched(struct probing *g, const struct waits *w);
/* Why the program cannot be watched, as far as this is known before it runs, into p->why. */
int probe_ask_watched(struct probe *p, const struct context *c, struct hrun_error *err);
/* p->useful: where all PEs are alike, one process on each may be all that there is. */
int probe_ask_open(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
                   struct hrun_error *err);
/* With -v. */
void probe_tell_speeds(const struct probing *g);
void probe_release_speeds(struct probing *g);
/* Make the first run, or those of each sub-cluster alone, and fill the speeds. */
int probe_measure(struct probing *g, struct hrun_error *err);
/* Can anything be quicker than the default, whatever the speeds are? 1, 0, or -1. */
int probe_is_open(struct probing *g, struct hrun_error *err);
/* Does something that is counted tell whether P processes do more in a second than the default? */
int probe_is_comparable(const struct probe *p, int P);
/* Choose, and change g->d. */
int probe_choose(struct probing *g, struct hrun_error *err);
/* The same without a run, by the speeds that a look of age_s has told. */
int probe_choose_watched(struct probing *g, double age_s, struct hrun_error *err);

/* ---------------------------------------------------------------- probe_size
 *
 * Sizes that are small, and that the rule accepts with given numbers of processes; of hrun/run/probe.c
 *
 * Invariant: a search looks at a bounded number of sizes, whatever the rule.
 */

/* Is (N, P) accepted by the rule, and does a process of it fit on each PE that may be used? 1, 0, or -1. */
int probe_size_accepts(const struct context *c, const struct decision *d, int64_t N, int P, struct hrun_error *err);

/* The first size from..to at which P and Q processes (Q = 0: P alone) are accepted: first one that both divide, of
 * those near `from`, then any near it, then doublings of it and what halving d->N gives. 1 with *N, 0: none was found,
 * or -1. */
int probe_size_find(const struct context *c, const struct decision *d, int64_t from, int64_t to, int P, int Q,
                    int64_t *N, struct hrun_error *err);

/* The size of a probe: `asked`, else the smallest of the definition's sizes, else an eighth of d->N or so; and with it
 * the most processes that the rule accepts there, one on each PE, at least one on each of the `used` sub-clusters.
 * Errors: HRUN_EINFEASIBLE, those of the rule. */
int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int used, int total,
                      int64_t *N, int *P, struct hrun_error *err);

#endif
