/* probe_parts.h - what the files of hrun/probe*.c share
 *
 * probe.c knows the options and the order of things, probe_run.c makes runs and finds speeds in them, probe_choose.c
 * finds and tries configurations.
 */
#ifndef HRUN_PROBE_PARTS_H
#define HRUN_PROBE_PARTS_H

#include "probe.h"

#include "model/speeds.h"

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
/* Make the first run, or those of each sub-cluster alone, and fill the speeds. */
int probe_measure(struct probing *g, struct hrun_error *err);
/* Can anything be quicker than the default, whatever the speeds are? 1, 0, or -1. */
int probe_is_open(struct probing *g, struct hrun_error *err);
/* Choose, and change g->d. */
int probe_choose(struct probing *g, struct hrun_error *err);

#endif
