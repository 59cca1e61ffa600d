/* variants.h - which of an application's algorithms will be run (paper 003, section 3.4)
 *
 * Purpose: a definition may hold variants. Each is decided for as an application of its own is, and the best of them is
 * taken: A_i is the best on a cluster where its performance is the least of all (eq. 1), each in the configuration that
 * is best for it.
 * Invariants: context.app is one of context.variants_of->variants, the first until one is chosen.
 */
#ifndef HRUN_SESSION_VARIANTS_H
#define HRUN_SESSION_VARIANTS_H

#include "session/decide.h"

struct variant_view {
    const char *name;           /* of the definition */
    struct profiles known;
    struct decision d;
    int decided;                /* 1: d is filled */
    int predicted;              /* 1: and so are time_s and value */
    double time_s;              /* of its best configuration */
    double value;               /* what is minimised: s, cost or J */
    char *why_not;              /* owned: why there is no decision or prediction, or NULL */
};

struct variants {
    struct variant_view *v;
    int n;                      /* 0: the definition has none, or the user named one */
    int chosen;
};

/* Decide for every variant and choose the best, which becomes c->app. With --limit within and --explore the quickest
 * variant is chosen, and they choose among its configurations. Without any prediction the first variant is chosen.
 * Errors: that of the first variant, where none has a valid configuration, or of the one that is nearest to the limits,
 * where none keeps them; those of the rooms. *out is to be released also on failure. */
int variants_choose(struct context *c, const struct question *q, int64_t N, struct variants *out,
                    struct hrun_error *err);
/* Move the chosen variant's profiles and decision to the caller, who releases them. */
void variants_move_chosen(struct variants *v, struct profiles *known, struct decision *d);
void variants_release(struct variants *v);

/* Keep in *nearest (zeroed before the first) the error of the variant that is nearest to the limits, or where it is not
 * for them, the first. */
void variants_nearest(const struct hrun_error *why, struct hrun_error *nearest);

/* The best of those that were not chosen, -1: none is predicted. */
int variants_next(const struct variants *v);

/* Append "cannon; next best: columns (4,1,3,1) +3.1 %". */
void variants_print(const struct variants *v, struct hrun_buf *out);
/* The same for machines; null where there are none. */
json_t *variants_json(const struct variants *v);

#endif
