/* search_one_P.h - the best configurations of one P, for separable objectives
 *
 * Purpose: T(C) = max of Ti(N, P, Mi) over the used sub-clusters (paper 000, section 4.1). At a fixed P the
 * best value is therefore the least threshold ("level") for which Pi exist with sum Pi Mi = P and options of
 * value <= level only. Invariant: after plan_solve of some P, the list holds the best of all configurations
 * of all P solved so far.
 */
#ifndef HRUN_PLAN_SEARCH_ONE_P_H
#define HRUN_PLAN_SEARCH_ONE_P_H

#include "plan/configs_of_value.h"
#include "plan/space.h"

struct plan_solver {
    struct plan_space *space;  /* borrowed */
    struct plan_best *best;    /* borrowed */
    struct plan_level level;
    double *levels;            /* nopt: different values at P, ascending */
    int *order;                /* nopt: options at P by value */
    long *held;                /* nsubs: scratch */
    long nrows, nbuilt;        /* P looked at, levels built */
};

void plan_solver_init(struct plan_solver *S, struct plan_space *s, struct plan_best *best);
void plan_solver_release(struct plan_solver *S);

/* Add to the list what P has to offer. 0, or -1: errors of the oracle. */
int plan_solve(struct plan_solver *S, int P, struct hrun_error *err);

/* Is there the capacity for lo processes with options of value v[o] <= limit, when P <= hi? */
int plan_has_capacity(const struct plan_space *s, const double *v, double limit, int lo, int hi);

#endif
