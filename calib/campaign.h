/* campaign.h - which runs a calibration makes, and how long they will take
 *
 * Purpose: the grid sizes x PEs x processes per PE of each sub-cluster alone (paper 000, section 4.1: models are made
 * from homogeneous sub-clusters), fitted to the application's rule, less what is measured already.
 * Invariants: points are distinct; each satisfies rule and memory limit; a point with a rule such as N % P == 0 uses
 * the valid size nearest to the wanted one (section 5.2: "we cannot use arbitrary sizes but must choose the multiples
 * of the specified P").
 */
#ifndef CALIB_CAMPAIGN_H
#define CALIB_CAMPAIGN_H

#include "options.h"

struct point {
    int sub;                  /* sub-cluster */
    int64_t N;
    int pes, m;               /* PEs and processes on each: P = pes * m */
    int have;                 /* good measurements on disk */
    int failed;               /* attempts that failed in this campaign */
    double wall_s;            /* mean wall time of its good runs, 0 unknown */
};

struct campaign {
    struct point *v;
    int n;
    int wanted;               /* repetitions of each point */
    int skipped_rule, skipped_memory; /* grid points that could not be made valid */
    int skipped_pes;          /* numbers of PEs that a sub-cluster does not have */
};

/* Build the grid. Errors: HRUN_EINVAL (bad lists, no sizes known, nothing left to measure). */
int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err);
void campaign_release(struct campaign *g);

/* 1 if some point belongs to this sub-cluster. */
int campaign_has(const struct campaign *g, int sub);

/* Runs that are still to be made. */
int campaign_left(const struct campaign *g);
/* Their expected wall time: known points by their own mean, others scaled from the nearest known point by the growth
 * in N seen so far; 0 while that is not known. */
double campaign_time_left(const struct campaign *g);

#endif
