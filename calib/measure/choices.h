/* choices.h - hrun's choice at each size, made by hrun's own decision (session/decide.h)
 *
 * Purpose: at the end of a budget, print the best configurations with the times and intervals of hrun --dry-run.
 * Invariants: choices rest only on stored models and logs; the table says why a size has no choice.
 */
#ifndef CALIB_MEASURE_CHOICES_H
#define CALIB_MEASURE_CHOICES_H

#include "../common/calib_options.h"
#include "session/decide.h"

struct choice {
    int64_t N;
    int made;                  /* 1: d is a decision; 0: no configuration is left */
    struct decision d;
};

struct choices {
    struct profiles known;     /* the decisions borrow from `known` */
    struct choice *v;          /* in order of N; owned */
    int n;
    int exact;                 /* 1: times do not scatter (simulation), so one run is enough */
    int fixed;                 /* 1: the work is always the same, and N has no meaning */
};

/* Fill the zeroed *out with hrun's choice at sizes[nsizes]; c must outlive *out. Errors: those of profiles_load and of
 * decision_make, except HRUN_EINFEASIBLE. */
int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err);
void choices_release(struct choices *c);

/* Append a table: the choice at each size, its time, and the runs behind it. */
void choices_table(const struct choices *c, struct hrun_buf *out);

/* For the largest size whose time is known, append the configuration that hrun now chooses, and what it gains over
 * mpirun's start. spent_s: time of the calibration. Nothing is appended if no time is known. */
void choices_gain(const struct choices *c, double spent_s, struct hrun_buf *out);

/* Append a text on the precision of the times, and on the number of sizes at which the choice was never run. */
void choices_words(const struct choices *c, struct hrun_buf *out);

#endif
