/* report_parts.h - what a dry run and a run both say, for hrun's reports alone
 *
 * Purpose: one wording for the dry run (report.c) and for what is said around a run (report_run.c).
 * Invariants: each appends to out, whose `failed` tells when memory ran out.
 */
#ifndef HRUN_REPORT_PARTS_H
#define HRUN_REPORT_PARTS_H

#include "report.h"

/* Why another configuration than the plan's best is run, a line: "may be as quick as the best known, (4,1,0,0) 61.8 s;
 * predicted loss 1.4 %; 3 such are left". */
void report_exploring(const struct decision *d, struct hrun_buf *out);

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
