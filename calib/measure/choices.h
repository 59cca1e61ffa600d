/* choices.h - what hrun would choose at each size, asked of hrun itself (service/decide.h)
 *
 * Purpose: the end of a budget tells the best configurations. Their times and intervals are those that hrun --dry-run
 * gives afterwards, from the models that were stored and the runs in the logs.
 * Invariants: nothing but stored models and logs is asked; of a size where nothing is known it is said why.
 */
#ifndef CALIB_CHOICES_H
#define CALIB_CHOICES_H

#include "../common/options.h"

struct choice {
    int64_t N;
    char *config;              /* "(4,1,0,0)"; owned; "-": none is known */
    double time_s, low_s, high_s;
    int runs_here, runs_elsewhere;  /* of this configuration, at this N and at others */
    char *doubts;              /* why it is less sure than one that was run twice (decision_doubts), or ""; owned */
    char *next;                /* the runner-up, "(3,1,0,0) +2.1 %"; owned; "" where there is none */
    const char *why;           /* why none is known, or NULL */
};

struct choices {
    struct choice *v;          /* in order of N; owned */
    int n;
    int exact;                 /* 1: times do not scatter, one run is enough */
};

/* Ask for sizes[nsizes]. Without stored models there are none. Errors: those of decide but HRUN_EINFEASIBLE. */
int choices_ask(struct context *c, const struct calib_settings *s, const int64_t *sizes, int nsizes,
                struct choices *out, struct hrun_error *err);
void choices_release(struct choices *c);

/* Append a table: the choice of each size, its time, and what it rests on. -1: memory ran out. */
int choices_table(const struct choices *c, struct hrun_buf *out);

/* Append in words how well the times are known, and at how many sizes the choice was not run there; nothing when there
 * are none. */
void choices_words(const struct choices *c, struct hrun_buf *out);

#endif
