/* variants.h - which of an application's algorithms will be run (paper 003, section 3.4)
 *
 * Purpose: a definition may have variants. hrun decides for each as for an application of its own and takes the best,
 * each in its best configuration (eq. 1).
 * Invariants: context.app is one of context.variants_of->variants, the first until one is chosen.
 */
#ifndef HRUN_SESSION_VARIANTS_H
#define HRUN_SESSION_VARIANTS_H

#include "session/decide.h"

struct variant_view {
    struct hrun_app *app;
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

/* Load the profiles of all variants, or of c->app if it has none or the user named one. Errors: those of
 * profiles_load. *out, zeroed before, is to be released also on failure. */
int variants_load(struct context *c, struct variants *out, struct hrun_error *err);
/* Decide for every loaded variant and choose the best, which becomes c->app. With --limit within and --explore the
 * quickest variant is chosen, and they choose among its configurations. Without any prediction the first variant is
 * chosen. Errors: that of the variant nearest to the limits, else of the first; those of decision_make. */
int variants_choose(struct context *c, const struct question *q, int64_t N, struct variants *out,
                    struct hrun_error *err);
/* Move the chosen variant's profiles and decision to the caller, who releases them. */
void variants_move_chosen(struct variants *v, struct profiles *known, struct decision *d);
void variants_release(struct variants *v);

/* Append "cannon; next best: columns (4,1,3,1) +3.1 %". */
void variants_print(const struct variants *v, struct hrun_buf *out);
/* The same for machines; null where there are none. */
json_t *variants_json(const struct variants *v);

#endif
