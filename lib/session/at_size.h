/* at_size.h - predictors and corrections of an application at one size N, which several decisions can share */
#ifndef HRUN_SESSION_AT_SIZE_H
#define HRUN_SESSION_AT_SIZE_H

#include "session/context.h"
#include "session/log_corrections.h"
#include "session/profiles.h"

struct at_size {
    int64_t N;
    struct hrun_models **models;  /* nsubs: borrowed from the profiles; NULL: none; the array is owned */
    struct hrun_predictor *predictors[3];   /* by enum hrun_sharing; NULL: the models cannot predict these shares */
    struct hrun_predictor *unpaced[3];      /* predictors without corrected.pace; NULL: there is no pace */
    struct corrected known;       /* corrections for equal shares, or for the shares that the family sets */
    struct corrected dealt;       /* corrections for unequal shares; empty if the models cannot predict such shares */
};

/* Fill *out for size N. At least one sub-cluster of p must have models; p and c must outlive *out. On failure *out
 * needs no release. Errors: those of the store and of lib/model. */
int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err);
void at_size_release(struct at_size *a);

/* Memory of one PE of each sub-cluster (nsubs, in bytes), for struct hrun_predictor_source; the caller frees it. */
double *size_memory(const struct context *c);

#endif
