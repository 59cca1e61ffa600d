/* probe.h - hrun --probe: a small run tells the speeds of the PEs, and these where the real one goes
 *
 * Purpose: for an application without a profile (paper 004, section 5.2). A small run with one process per PE, watched,
 * tells how long each process computes; where it cannot be watched each sub-cluster runs alone, and its time tells.
 * From these speeds (model/model.h) the search finds the quickest configuration. It is taken where it is quicker than
 * the default, one process per PE, by more than the probe can resolve, and where one more small run shows that it is.
 * So a user loses no more than the time of the probe, as far as a small run can tell.
 * Invariants: after a failure or a signal nothing more is started; each good run is recorded as any run is.
 */
#ifndef HRUN_PROBE_H
#define HRUN_PROBE_H

#include "model/model.h"
#include "model/speeds.h"
#include "options.h"
#include "session/decide.h"
#include "session/mpi_waits.h"
#include "session/work.h"

#include <jansson.h>

struct probe {
    int asked;                 /* 1: --probe; else all below is 0 */
    int not_needed;            /* 1: there is a profile; all below is 0 then */
    int useful;                /* 0: whatever the speeds are, the default is the quickest by them; nothing is run */
    int64_t N;                 /* size of the first run */
    struct hrun_config config; /* of that run, one process on each PE */
    int P;
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
};

/* A probe needs the size of the real run. Errors: HRUN_EINVAL. */
int probe_check(const struct hrun_settings *s, struct hrun_error *err);

/* After decide: size and configuration of the first run. w is the real run, d its default. Errors: HRUN_EINVAL (the
 * size does not reach the program, --probe=SIZE), HRUN_EINFEASIBLE (no size to probe with). */
int probe_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
               struct hrun_error *err);

/* Make the runs, and change d where another configuration is to be run. Errors: those of work_run, and HRUN_EENGINE for
 * a run that failed. */
int probe_make(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
               struct hrun_error *err);
void probe_release(struct probe *p);

/* The plan of a probe, for a dry run: as lines, and as JSON (null without --probe). */
void probe_print(const struct probe *p, struct hrun_buf *out);
json_t *probe_json(const struct probe *p, int nsubs);
/* Say what will be probed; and after the real run, which took job_s, a line about the probe. */
void probe_announce(const struct probe *p, const struct settings *set);
void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out);

/* ---------------------------------------------------------------- probe_parts
 *
 * What hrun/run/probe*.c share: probe.c reads options and orders the steps, probe_run.c makes runs and finds speeds in
 * them, probe_choose.c finds and tries configurations.
 */

struct small_run {
    int64_t N;
    struct hrun_config config;
    struct waits *waits;       /* NULL: it is not watched */
    double time_s;             /* out: time of the application */
    double launch_s;           /* out: what the launch took besides */
};

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
    struct small_run base;     /* the default at a small size; N is 0 while it was not run */
};

/* Make a small run, and record it. */
int probe_run(struct probing *g, struct small_run *run, struct hrun_error *err);
/* Run the default at size N, into g->base. */
int probe_run_default(struct probing *g, int64_t N, struct waits *waits, struct hrun_error *err);
/* Which Mi are looked at, and how many processes of a PE do not slow each other down; g->v and g->procs are the
 * caller's to free. */
void probe_options(struct probing *g);
/* How much longer the work of size N takes than that of size n, at least 1: by the definition's terms in N alone the
 * one that grows most; in proportion where there are none. Errors: those of the terms. */
int probe_growth(const struct hrun_app *app, int64_t n, int64_t N, double *growth, struct hrun_error *err);
/* Make the first run, or those of each sub-cluster alone, and fill the speeds. */
int probe_measure(struct probing *g, struct hrun_error *err);
/* Can anything be quicker than the default, whatever the speeds are? 1, 0, or -1. */
int probe_is_open(struct probing *g, struct hrun_error *err);
/* Choose, and change g->d. */
int probe_choose(struct probing *g, struct hrun_error *err);

/* ---------------------------------------------------------------- probe_size
 *
 * Sizes that are small, and that the rule accepts with given numbers of processes; of hrun/run/probe.c
 *
 * Invariant: a search looks at a bounded number of sizes, whatever the rule.
 */

/* Is (N, P) accepted by the rule, and does a process of it fit on each PE that may be used? 1, 0, or -1. */
int probe_size_accepts(const struct context *c, const struct decision *d, int64_t N, int P, struct hrun_error *err);

struct size_search {
    const struct context *c;
    const struct decision *d;
    int64_t from, to;          /* sizes */
    int P, Q;                  /* numbers of processes to be accepted; Q = 0: P alone */
};

/* Find the first accepted size: one that P and Q divide, of those near `from`, then any near it, then doublings of it
 * and what halving d->N gives. 1 with *N, 0: there is none, or -1. */
int probe_size_find(const struct size_search *s, int64_t *N, struct hrun_error *err);

/* Choose the size of a probe: `asked`, else the smallest of the definition's sizes, else an eighth of d->N or so; and
 * the most processes that the rule accepts there, one on each PE, at least one on each usable sub-cluster.
 * Errors: HRUN_EINFEASIBLE, those of the rule. */
int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int64_t *N, int *P,
                      struct hrun_error *err);

#endif
