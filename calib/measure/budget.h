/* budget.h - a campaign whose runs are chosen one by one (lib/plan/design), within a budget
 *
 * Purpose: the default campaign of hrun-calibrate, limited by --budget. budget.c makes the design from options and
 * logs, and describes plan and result.
 * Invariants: the design contains every good run in the log that counts for these sub-clusters. It also contains every
 * failed configuration that hrun excludes. A budget applies to one call of hrun-calibrate; earlier runs cost nothing.
 */
#ifndef CALIB_MEASURE_BUDGET_H
#define CALIB_MEASURE_BUDGET_H

#include "campaign.h"
#include "plan/design/design.h"

struct budget {
    struct lists lists;
    struct hrun_design_sub *subs;
    struct hrun_design *design;
    double *share;            /* working memory: the share of each sub-cluster in one run */
    double limit_s, target;   /* 0: none */
    int finds;                /* 1: no budget is given; the design finds one */
    int runs;                 /* 0: no limit */
    int known;                /* good runs in the log at the start */
    uint64_t seed;
};

/* 1 if runs are chosen one by one, 0 for the full grid. Errors (-1): HRUN_EINVAL (an option that needs --full-grid). */
int budget_wanted(const struct calib_settings *s, struct hrun_error *err);

/* As campaign_build, for a campaign with a budget: *g has only the points of the log. Release *g also after an error.
 * Errors: HRUN_EINVAL (bad options, nothing to measure), those of the store and of hrun_design_create. */
int budget_build(struct context *c, const struct calib_settings *s, struct campaign *g, struct hrun_error *err);
void budget_destroy(struct budget *b);

/* Append a description of the first runs, for --dry-run. Errors: those of hrun_design_next. */
int budget_plan(const struct context *c, const struct campaign *g, struct hrun_buf *out, struct hrun_error *err);

/* Append one sentence, without a newline, on why the campaign ended and how good its choices are. */
void budget_verdict(const struct campaign *g, struct hrun_buf *out);

#endif
