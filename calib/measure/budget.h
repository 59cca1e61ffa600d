/* budget.h - a campaign whose runs are chosen one by one (lib/plan/design), within a budget
 *
 * Purpose: what hrun-calibrate does by default, and --budget limits: from options and log to a design, and back to
 * words.
 * Invariants: the design knows every good run of the log that counts on these sub-clusters, and every configuration
 * that hrun excludes for its failures. Known runs cost nothing of the budget, which is that of one call of
 * hrun-calibrate.
 */
#ifndef CALIB_MEASURE_BUDGET_H
#define CALIB_MEASURE_BUDGET_H

#include "campaign.h"
#include "plan/design/design.h"

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

/* Append why the campaign ended and what it is worth, one sentence without a newline. */
void budget_verdict(const struct campaign *g, struct hrun_buf *out);

#endif
