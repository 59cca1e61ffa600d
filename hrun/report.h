/* report.h - what hrun says: the dry run, the cluster, one line after a run; for people (document.h: for machines) */
#ifndef HRUN_REPORT_H
#define HRUN_REPORT_H

#include "session/ledger.h"
#include "probe.h"
#include "session/document.h"
#include "session/work.h"

/* Append the dry run. ledger: of what others use. tune: what is tuned, NULL: that was not asked for. words: what the
 * user typed. With -v the rankfile or host file follows. */
int report_plan(const struct context *c, const struct decision *d, const struct command *cmd,
                const struct ledger *ledger, const struct probe *probe, const struct tune *tune, char *const *words,
                struct hrun_buf *out, struct hrun_error *err);

/* Append the cluster (--show-cluster); signatures may be shorter than the sub-clusters when they are not known. */
int report_cluster(const struct context *c, struct hrun_buf *out, struct hrun_error *err);

/* The hrun-calibrate command that would make the missing profile, measure a stale one anew, or the decision's size as
 * well, or measure what a formula lacks, as the user would type it after a run of the decision's size. */
enum calibrate_how { CALIBRATE_MEASURE, CALIBRATE_AGAIN, CALIBRATE_SIZE };
void report_calibrate_command(const struct context *c, enum calibrate_how how, const struct decision *d,
                              char *const *words, struct hrun_buf *out);

/* Of the sub-clusters with a drift the one with the most runs, or -1. */
int report_drift(const struct decision *d);

/* Append the models that miss their own measurements (hrun_models_misses). */
void report_misses(const struct decision *d, struct hrun_buf *out);

/* One line before a run without a profile, and one after every run; "" when there is nothing to say. told: the size
 * reached the program; recorded: the run is in the log. */
void report_before(const struct context *c, const struct decision *d, const struct ledger *ledger, char *const *words,
                   struct hrun_buf *out);
void report_after(const struct context *c, const struct decision *d, const struct work_result *r, int told,
                  int recorded, char *const *words, struct hrun_buf *out);

/* Append the hosts of the first n PEs of a sub-cluster, folded; of a long list the beginning and how many they are. */
void report_hosts(const struct hrun_cluster *cl, const struct hrun_subcluster *s, int n, struct hrun_buf *out);
/* The same of those that hold ranks of sub-cluster sub, in the order of these. */
void report_rank_hosts(const struct hrun_layout *l, int sub, struct hrun_buf *out);

#endif
