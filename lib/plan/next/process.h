/* process.h - what the models miss, as a Gaussian process; not for other rooms */
#ifndef HRUN_DESIGN_PROCESS_H
#define HRUN_DESIGN_PROCESS_H

#include "plan/next/internal.h"

/* The groups that tell of a size: all with a model, not too far in N. */
struct process {
    const struct design_group **g;
    double *c, *l;          /* n by n, lower triangles: covariance of what is alike, Cholesky factor of the whole */
    double *w;              /* n: covariance^-1 times their misses */
    double *k;              /* n: scratch */
    int n;
};

/* How far models are off a run that was not made yet, relative: a standard deviation. */
double design_misfit(const struct hrun_design *d);

/* Errors: HRUN_ENOMEM; nothing is to be freed then. */
int process_make(const struct hrun_design *d, int64_t N, struct process *p, struct hrun_error *err);
void process_free(struct process *p);

/* Fill mean and sd of a configuration at a size from its model_s. */
void process_ask(const struct hrun_design *d, struct process *p, int64_t N, struct design_belief *b);

#endif
