/* at_size.h - what is known of an application at one size N: predictor and corrections, for any question about it */
#ifndef HRUN_SESSION_AT_SIZE_H
#define HRUN_SESSION_AT_SIZE_H

#include "session/context.h"
#include "session/log_corrections.h"
#include "session/profiles.h"

struct at_size {
    int64_t N;
    struct hrun_models **models;  /* of the profiles, NULL: none; the array is owned */
    struct hrun_predictor *predictors[3];   /* by enum hrun_sharing; NULL for shares that cannot be dealt out */
    struct hrun_predictor *unpaced[3];      /* of unequal shares without the pace; NULL: they have none */
    struct corrected known;       /* of equal shares, or of what the family deals out */
    struct corrected dealt;       /* of unequal shares if they can be dealt out; else empty */
};

/* Needs profiles of which some sub-cluster has models; these and c must outlive it. On failure *out needs no release.
 * Errors: those of the store and of lib/model. */
int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err);
void at_size_release(struct at_size *a);

/* Memory of a PE of each sub-cluster, in bytes, for struct hrun_predictor_source; the caller frees it. */
double *size_memory(const struct context *c);

#endif
