/* report.h - reports as text: the dry run, the cluster, lines before and after a run
 *
 * Each function appends to out, unless its contract says otherwise. Functions with `lead` append whole lines that begin
 * with it.
 */
#ifndef HRUN_REPORT_H
#define HRUN_REPORT_H

#include "run.h"
#include "session/document.h"

/* Append the dry run; with -v also the rankfile or host file. */
int report_plan(const struct launch_plan *p, const struct command *cmd, struct hrun_buf *out, struct hrun_error *err);

/* Append the cluster (--show-cluster). c->signatures may have fewer entries than there are sub-clusters. */
void report_cluster(const struct context *c, struct hrun_buf *out);

/* The hrun-calibrate command that makes a missing profile or measures what a formula needs (CALIBRATE_MEASURE),
 * measures a profile again (CALIBRATE_AGAIN), or adds the decision's size to a profile (CALIBRATE_SIZE). */
enum calibrate_how { CALIBRATE_MEASURE, CALIBRATE_AGAIN, CALIBRATE_SIZE };
void report_calibrate_command(const struct context *c, enum calibrate_how how, const struct decision *d,
                              char *const *words, struct hrun_buf *out);

/* The sub-cluster with the most runs among those with a drift; -1: none has one. */
int report_drift(const struct decision *d);

/* The unit that each process of the default gets: "core", "node", ..., or "PE" if units differ. Appends nothing. */
const char *report_unit(const struct context *c, const struct decision *d);
/* The placement of a default's processes: "one per core of kind0". */
void report_places(const struct context *c, const struct decision *d, struct hrun_buf *out);
/* The models that miss their own measurements (hrun_models_misses). */
void report_misses(const struct decision *d, struct hrun_buf *out);

/* The number of threads that hrun sets; nothing if it sets none. */
void report_threads(const struct hrun_layout *l, const char *lead, struct hrun_buf *out);

/* Lines before and after a run. size_is_passed: the size reached the program; recorded: the run is in the log. */
void report_before(const struct launch_plan *p, struct hrun_buf *out);
void report_after(const struct launch_plan *p, const struct work_result *r, int size_is_passed, int recorded,
                  struct hrun_buf *out);

/* The hosts of the first n PEs of a sub-cluster, folded; a long list is cut, followed by the number of hosts. */
void report_hosts(const struct hrun_cluster *cl, const struct hrun_subcluster *s, int n, struct hrun_buf *out);
/* The hosts of the ranks of sub-cluster sub, in the order of these ranks. */
void report_rank_hosts(const struct hrun_layout *l, int sub, struct hrun_buf *out);

/* ---------------------------------------------------------------- report_parts
 *
 * One wording for the dry run (report.c) and for lines around a run (report_run.c)
 */

/* A line on why --explore runs another configuration than the plan's best: "may be as quick as the best known,
 * (4,1,0,0) 61.8 s; predicted loss 1.4 %; 3 such are left". */
void report_exploring(const struct decision *d, struct hrun_buf *out);

/* report_learning: why earlier runs of the command lead to this configuration (BY_RUNS): "may be quicker than the best
 * known, (4,1,0,0) 61.8 s: expected to take 55 s (40 s .. 76 s)", "the best known, expected to take 61.8 s as 3 runs
 * before". report_tried: the result of a trial that took time_s. */
void report_learning(const struct decision *d, struct hrun_buf *out);
void report_tried(const struct decision *d, double time_s, struct hrun_buf *out);

/* A line on why the last preparation is used again although another configuration is faster: "as in the last run
 * here, which takes 240 ms: the best would take 168 ms, and 2.03 s to prepare it; --force does". */
void report_kept(const struct decision *d, struct hrun_buf *out);

/* Lines of a dry run on the choice: corrections by runs, alternatives, costs, balance, the extent of the search, and
 * the size that --finest chose. */
void report_choice(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out);

/* If runs show that a machine has become faster or slower, a line with the command that measures it again. */
void report_changed(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out);

/* If the profile was measured with other options that affect times, a line with them and what to type. */
void report_settings(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                     struct hrun_buf *out);

/* Append " OPTION VALUE" for a shell; nothing without a value. */
void report_option(const char *option, const char *value, struct hrun_buf *out);
/* The given options that select data, machine and engine, each after a blank. */
void report_where(const struct context *c, struct hrun_buf *out);

/* A line on sub-cluster i, which has a profile for another engine only. */
void report_other_engine(const struct context *c, const struct decision *d, int i, struct hrun_buf *out);

/* 1 if the prediction is far enough outside the measured range to be mentioned, else 0. */
int report_extrapolates(const struct decision *d);
/* A line that the prediction extrapolates; if the size is outside the measured ones, with the command to measure it. */
void report_outside(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out);
/* Which of N and P extrapolates, how far, and where; without the end of the line. */
void report_extrapolation(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
