/* weak_option.h - the coefficients of the family weak at a size, from the records of one or two; not for other rooms
 *
 * How a size without a record of its own is predicted: see weak_family.h.
 */
#ifndef HRUN_MODEL_WEAK_OPTION_H
#define HRUN_MODEL_WEAK_OPTION_H

#include "model/weak.h"
#include "model/weak_family.h"

struct hrun_weak_option {
    double k[HRUN_WEAK_TERMS];
    double cov[HRUN_WEAK_TERMS * HRUN_WEAK_TERMS]; /* of k, with the variance of a residual */
    double s2, sigma_abs_s, sigma_rel;
    int dof;
    int64_t nmin, nmax;         /* the sizes of its records */
    int64_t most;               /* units that fit into the memory of a process; -1: it depends on P */
};

/* 1: M of these models can be predicted at N, *out says by what; 0: it cannot. */
int hrun_weak_option_at(const struct hrun_app *app, const struct hrun_models *m, int M, int64_t N,
                        struct hrun_weak_option *out);

/* HRUN_ENODATA: no sub-cluster has models by which N can be predicted; which sizes there are models of. Result: -1. */
int hrun_weak_fail_size(const struct hrun_predictor_source *from, struct hrun_error *err);

#endif
