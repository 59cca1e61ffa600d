/* probe.h - hrun --probe: a small run tells the speeds of the PEs, and these where the real one goes
 *
 * Purpose: for an application without a profile (paper 004, section 5.2). A small run with one process per PE, watched,
 * tells how long each process computes; where it cannot be watched each sub-cluster runs alone, and its time tells.
 * From these speeds (model/speeds.h) the search finds the quickest configuration. It is taken where it is quicker than
 * the default, one process per PE, by more than the probe can resolve, and where one more small run shows that it is.
 * So the real run is not slower than the default but by what the probe itself took, as far as a small run tells.
 * Invariants: after a failure or a signal nothing more is started; each good run is recorded as any run is.
 */
#ifndef HRUN_PROBE_H
#define HRUN_PROBE_H

#include "options.h"
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
};

/* A probe needs a size. Errors: HRUN_EINVAL. */
int probe_check(const struct hrun_settings *s, struct hrun_error *err);

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
/* A line about a probe before it is made, and one after the real run, which took job_s. */
void probe_before(const struct probe *p, struct hrun_buf *out);
void probe_after(const struct probe *p, const struct decision *d, double job_s, struct hrun_buf *out);

#endif
