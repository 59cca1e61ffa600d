/* at_size.h - what is known of an application at one size N: predictor and corrections, for any question about it */
#ifndef HRUN_SESSION_AT_SIZE_H
#define HRUN_SESSION_AT_SIZE_H

#include "session/context.h"
#include "session/log_corrections.h"
#include "session/profiles.h"

struct at_size {
    int64_t N;
    struct hrun_models **models;  /* of the profiles, NULL: none; the array is owned */
    struct hrun_predictor *predictor;
    struct corrected known;       /* of equal shares, or of what the family deals out */
    struct corrected dealt;       /* of unequal ones, where the definition has `shares`; else empty */
};

/* Needs profiles of which some sub-cluster has models; these and c must outlive it. On failure nothing is kept. Errors:
 * those of the store and of lib/model. */
int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err);
void at_size_release(struct at_size *a);

/* Tell a predictor what the PEs of c's cluster hold. Errors: those of hrun_predictor_limit_memory. */
int size_limit_memory(const struct context *c, struct hrun_predictor *p, struct hrun_error *err);

#endif
