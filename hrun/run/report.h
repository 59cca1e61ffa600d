/* report.h - what hrun says to people: the dry run, the cluster, one line after a run */
#ifndef HRUN_REPORT_H
#define HRUN_REPORT_H

#include "run.h"

/* Append the dry run; with -v also the rankfile or host file. */
int report_plan(const struct prepared *p, const struct command *cmd, struct hrun_buf *out, struct hrun_error *err);

/* Append the cluster (--show-cluster); signatures may be shorter than the sub-clusters when they are not known. */
void report_cluster(const struct context *c, struct hrun_buf *out);

/* The hrun-calibrate command that would make the missing profile, measure a stale one anew, or the decision's size as
 * well, or measure what a formula lacks, as the user would type it after a run of the decision's size. */
enum calibrate_how { CALIBRATE_MEASURE, CALIBRATE_AGAIN, CALIBRATE_SIZE };
void report_calibrate_command(const struct context *c, enum calibrate_how how, const struct decision *d,
                              char *const *words, struct hrun_buf *out);

/* Of the sub-clusters with a drift the one with the most runs, or -1. */
int report_drift(const struct decision *d);

/* What the default has a process on each of: "core", "node", ..., or "PE" where they differ. */
const char *report_unit(const struct context *c, const struct decision *d);
/* Append where the processes of a default go: "one per core of kind0". */
void report_places(const struct context *c, const struct decision *d, struct hrun_buf *out);
/* Append the models that miss their own measurements (hrun_models_misses). */
void report_misses(const struct decision *d, struct hrun_buf *out);

/* Append lead and a line with the number of threads that hrun sets; nothing where it sets none. */
void report_threads(const struct hrun_layout *l, const char *lead, struct hrun_buf *out);

/* One line before a run without a profile, and one after every run; "" when there is nothing to say. size_is_passed:
 * the size reached the program; recorded: the run is in the log. */
void report_before(const struct prepared *p, struct hrun_buf *out);
void report_after(const struct prepared *p, const struct work_result *r, int size_is_passed, int recorded,
                  struct hrun_buf *out);

/* Append the hosts of the first n PEs of a sub-cluster, folded; of a long list the beginning and how many they are. */
void report_hosts(const struct hrun_cluster *cl, const struct hrun_subcluster *s, int n, struct hrun_buf *out);
/* The same of those that hold ranks of sub-cluster sub, in the order of these. */
void report_rank_hosts(const struct hrun_layout *l, int sub, struct hrun_buf *out);

/* ---------------------------------------------------------------- report_parts
 *
 * What a dry run and a run both say, for hrun's reports alone
 *
 * Purpose: one wording for the dry run (report.c) and for what is said around a run (report_run.c).
 * Invariants: each appends to out.
 */

/* Why another configuration than the plan's best is run, a line: "may be as quick as the best known, (4,1,0,0) 61.8 s;
 * predicted loss 1.4 %; 3 such are left". */
void report_exploring(const struct decision *d, struct hrun_buf *out);

/* Why the configuration is run that earlier runs of the command tell (BY_RUNS): "may be quicker than the best known,
 * (4,1,0,0) 61.8 s: expected to take 55 s (40 s .. 76 s)", "the best known, expected to take 61.8 s as 3 runs before";
 * and what a trial of so many seconds has brought. */
void report_learning(const struct decision *d, struct hrun_buf *out);
void report_tried(const struct decision *d, double time_s, struct hrun_buf *out);

/* Why what was prepared last is run once more, though another configuration would be quicker: "as in the last run here,
 * which takes 240 ms: the best would take 168 ms, and 2.03 s to prepare it; --force does", a line. */
void report_kept(const struct decision *d, struct hrun_buf *out);

/* Why this configuration and not another: what runs have corrected, alternatives, costs, balance, how much was
 * searched, and the size that was chosen; lines of a dry run. */
void report_choice(const struct context *c, const struct decision *d, char *const *words, struct hrun_buf *out);

/* What has changed, and the command that measures it anew, a line each that begins with `lead`; nothing where nothing
 * has. */
void report_changed(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out);

/* That the profile was measured with other options that change times than those of this run, and what to type, a line
 * that begins with `lead`; nothing where it was not. */
void report_settings(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                     struct hrun_buf *out);

/* Append " OPTION VALUE" for a shell; nothing without a value. */
void report_option(const char *option, const char *value, struct hrun_buf *out);
/* The options that the user gave to say which machine it is, each after a blank. */
void report_where(const struct context *c, struct hrun_buf *out);

/* The engine is a part of what a profile is about, and may have been chosen by where hrun was started: a line about
 * sub-cluster i, which has a profile for another one. */
void report_other_engine(const struct context *c, const struct decision *d, int i, struct hrun_buf *out);

/* Does the prediction lie so far outside what was measured that it is worth saying? */
int report_extrapolates(const struct decision *d);
/* That, and the command that measures a size outside of those that were run; lines that begin with `lead`. */
void report_outside(const struct context *c, const struct decision *d, const char *lead, char *const *words,
                    struct hrun_buf *out);
/* In which of N and P, how far, and where; no end of a line. */
void report_extrapolation(const struct context *c, const struct decision *d, struct hrun_buf *out);

#endif
