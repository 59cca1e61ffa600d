/* variants.h - choose among the algorithms of an application (paper 003, section 3.4)
 *
 * Purpose: a definition may have variants. hrun makes a decision for each, as for a separate application, and chooses
 * the best (eq. 1).
 * Invariants: context.app is one of context.variants_of->variants: the first one until variants_choose.
 */
#ifndef HRUN_SESSION_VARIANTS_H
#define HRUN_SESSION_VARIANTS_H

#include "session/decide.h"

struct variant_view {
    struct hrun_app *app;
    struct profiles known;
    struct decision d;
    int decided;                /* 1: d is set */
    int predicted;              /* 1: time_s and value are also set */
    double time_s;              /* predicted for the best configuration of the variant */
    double value;               /* of the objective: s, cost or J */
    char *why_not;              /* owned: why there is no decision or prediction; or NULL */
};

struct variants {
    struct variant_view *v;
    int n;                      /* 1 if the definition has no variants or the user named one; 0: nothing is loaded */
    int chosen;                 /* index into v */
};

/* Load the profiles of all variants, or of c->app alone if it has no variants or the user named one. *out must be
 * zeroed; release *out also on failure. Errors: those of profiles_load. */
int variants_load(struct context *c, struct variants *out, struct hrun_error *err);
/* Decide for every loaded variant. The best becomes c->app; without predictions, the first one with a decision. With
 * --limit within or --explore the fastest becomes c->app, and these options apply to its configurations only. Errors:
 * those of decision_make; if all decisions fail, of the variant nearest to the limits, else of the first variant. */
int variants_choose(struct context *c, const struct question *q, int64_t N, struct variants *out,
                    struct hrun_error *err);
/* Move the chosen variant's profiles and decision to the caller, who releases them. */
void variants_move_chosen(struct variants *v, struct profiles *known, struct decision *d);
void variants_release(struct variants *v);

/* Append the chosen variant and the next best: "cannon; next best: columns (4,1,3,1) +3.1 %". */
void variants_print(const struct variants *v, struct hrun_buf *out);
/* The variants as JSON; null if nothing is loaded. */
json_t *variants_json(const struct variants *v);

#endif
