/* probe.h - hrun --probe: measure the speeds of the PEs by a small run, and choose the configuration of the real run
 *
 * Purpose: for an application without a profile (paper 004, section 5.2). A small traced run with one process per PE
 * measures the computing time of each process; if it cannot be traced, each sub-cluster runs alone and is timed. From
 * these speeds (model/model.h) the search finds the fastest configuration. This replaces the default, one process per
 * PE, if the predicted gain exceeds the resolution of the probe and a second small run confirms the gain. So the loss
 * is at most the time of the probe, if small runs represent the real one.
 * Invariants: after a failure or a signal no run is started; each good run is recorded like any other.
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
    int not_needed;            /* 1: there is a profile; then all below is 0 */
    int useful;                /* 0: the default is the fastest for any speeds, so nothing is run */
    int64_t N;                 /* size of the first run */
    struct hrun_config config; /* of that run, one process on each PE */
    int P;                     /* its processes */
    int apart;                 /* 1: the sub-clusters run alone, one after the other, each on its part of config */
    char why[512];             /* the reason for apart; "": none */
    int runs;                  /* number of runs so far */
    double cost_s;             /* their total time, by the clock of the job's hosts */
    int unlike;                /* 1: another configuration replaces the default */
    double predicted, shown;   /* time of the last configuration tried over that of the default: prediction, and
                                  result of the small run; 0: none was tried */
    int64_t shown_N;           /* size of that small run */
    char kept[256];            /* why the default is kept; "": it is replaced, or no reason is known */
    int status;                /* hrun's exit status if a run was interrupted or took too long, else 0 */
};

/* Check that the options give the size of the real run. Errors: HRUN_EINVAL. */
int probe_check(const struct hrun_settings *s, struct hrun_error *err);

/* After the decision: choose size and configuration of the first run. w: the real run; d: its default. Errors:
 * HRUN_EINVAL (the size does not reach the program, bad --probe=SIZE), HRUN_EINFEASIBLE (no size to probe with). */
int probe_plan(struct probe *p, const struct work *w, const struct hrun_settings *s, const struct decision *d,
               struct hrun_error *err);

/* Make the runs, and put another configuration into d if it is better. Errors: those of work_run, and HRUN_EENGINE for
 * a failed run. */
int probe_make(struct probe *p, const struct work *w, const struct hrun_settings *s, struct decision *d,
               struct hrun_error *err);
void probe_release(struct probe *p);

/* The plan of a probe for a dry run, as lines and as JSON (null without --probe). */
void probe_print(const struct probe *p, struct hrun_buf *out);
json_t *probe_json(const struct probe *p, int nsubs);
/* probe_announce: print what will be probed. probe_after: append a line about the probe after the real run, which took
 * job_s. */
void probe_announce(const struct probe *p, const struct settings *set);
void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out);

/* ---------------------------------------------------------------- probe_parts
 *
 * Shared by hrun/run/probe*.c: probe.c checks options and orders the steps, probe_run.c makes runs and computes speeds,
 * probe_choose.c finds and tries configurations.
 */

struct small_run {
    int64_t N;
    struct hrun_config config;
    struct waits *waits;       /* NULL: the run is not traced */
    double time_s;             /* out: time of the application */
    double launch_s;           /* out: additional time of the launch */
};

struct probing {
    struct probe *p;
    const struct work *w;      /* the real run */
    const struct hrun_settings *s;
    struct decision *d;
    struct context *c;
    struct hrun_speed *v;      /* nsubs */
    int **procs;               /* nsubs: candidates of Mi if there is no definition */
    int P0;                    /* number of processes that v refers to */
    double comm_s;             /* time spent in messages, s */
    double unsure;             /* relative uncertainty of the slowest of v */
    int alone;                 /* 1: sub-clusters that run apart run one process each */
    struct small_run base;     /* the default at a small size; N = 0: not run yet */
};

/* Make a small run, and record it. */
int probe_run(struct probing *g, struct small_run *run, struct hrun_error *err);
/* Run the default at size N, into g->base. */
int probe_run_default(struct probing *g, int64_t N, struct waits *waits, struct hrun_error *err);
/* Set the candidates of Mi, and the number of processes of a PE that do not slow each other down. The caller frees g->v
 * and g->procs. */
void probe_options(struct probing *g);
/* Set *growth to the time of the work at size N over its time at size n: the largest ratio of the definition's terms in
 * N alone, but at least N/n and 1. Errors: those of the terms. */
int probe_growth(const struct hrun_app *app, int64_t n, int64_t N, double *growth, struct hrun_error *err);
/* Make the first run, or one of each sub-cluster alone, and fill the speeds. */
int probe_measure(struct probing *g, struct hrun_error *err);
/* 1 if some speeds could make another configuration faster than the default, 0 if none, or -1 with *err. */
int probe_is_open(struct probing *g, struct hrun_error *err);
/* Choose the configuration of the real run, and set it in g->d. */
int probe_choose(struct probing *g, struct hrun_error *err);

/* ---------------------------------------------------------------- probe_size
 *
 * Small sizes that the rule accepts with given numbers of processes; used by probe.c
 *
 * Invariant: a search tries a bounded number of sizes for any rule.
 */

/* 1 if the rule accepts (N, P) and a process of it fits into the memory of each usable PE, 0 if not, or -1 with
 * *err. */
int probe_size_accepts(const struct context *c, const struct decision *d, int64_t N, int P, struct hrun_error *err);

struct size_search {
    const struct context *c;
    const struct decision *d;
    int64_t from, to;          /* sizes */
    int P, Q;                  /* numbers of processes to be accepted; Q = 0: P alone */
};

/* Find the first accepted size: among the sizes near `from` that P and Q divide, then all sizes near `from`, then
 * doublings of `from`, then halvings of d->N. 1 with *N, 0: there is none, or -1 with *err. */
int probe_size_find(const struct size_search *s, int64_t *N, struct hrun_error *err);

/* Choose the size of a probe: `asked`, else the smallest of the definition's sizes, else about d->N / 8. *P: the most
 * processes that the rule accepts there, at most one on each PE and at least one on each usable sub-cluster. Errors:
 * HRUN_EINFEASIBLE, those of the rule. */
int probe_size_choose(const struct context *c, const struct decision *d, int64_t asked, int64_t *N, int *P,
                      struct hrun_error *err);

#endif
