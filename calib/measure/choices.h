/* choices.h - what hrun would choose at each size, asked of hrun itself (session/decide.h)
 *
 * Purpose: the end of a budget tells the best configurations, with the times and intervals that hrun --dry-run gives
 * afterwards.
 * Invariants: nothing but stored models and logs is asked; where nothing is known of a size the reason is given.
 */
#ifndef CALIB_MEASURE_CHOICES_H
#define CALIB_MEASURE_CHOICES_H

#include "../common/calib_options.h"
#include "session/decide.h"

struct choice {
    int64_t N;
    int made;                  /* 1: d is a decision; 0: nothing is left to choose from */
    struct decision d;
};

struct choices {
    struct profiles known;     /* the decisions borrow from them */
    struct choice *v;          /* in order of N; owned */
    int n;
    int exact;                 /* 1: times do not scatter, one run is enough */
    int fixed;                 /* 1: the work is always the same, N says nothing */
};

/* Ask for sizes[nsizes], into the zeroed *out; c must outlive it. Errors: those of profiles_load and of decision_make,
 * but HRUN_EINFEASIBLE. */
int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err);
void choices_release(struct choices *c);

/* Append a table: the choice of each size, its time, and what it rests on. */
void choices_table(const struct choices *c, struct hrun_buf *out);

/* Append what hrun starts from now on at the largest size that it knows, and what that gains; spent_s: what it took to
 * know. Nothing where none is known. */
void choices_gain(const struct choices *c, double spent_s, struct hrun_buf *out);

/* Append in words how well the times are known, and at how many sizes the choice was not run there; nothing when there
 * are none. */
void choices_words(const struct choices *c, struct hrun_buf *out);

#endif
