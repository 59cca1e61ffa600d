/* learn_belief.h - the belief behind learn.h
 *
 * Purpose: predicted times of all configurations from a few runs, as a sample of particles and a Gaussian process.
 * Invariants: points differ from each other; particles are equally likely.
 */
#ifndef HRUN_PLAN_LEARN_BELIEF_H
#define HRUN_PLAN_LEARN_BELIEF_H

#include "plan/learn.h"

enum { LEARN_PARTICLES = 256, LEARN_POINTS = 40 };   /* of points the most */

struct learn_point {       /* a configuration */
    struct hrun_config config;
    int P;
    double log_s;          /* of the median of its runs */
    int runs;
};

struct learn_belief;

/* Of points[n], 1 <= n <= LEARN_POINTS, borrowed as subs are. The caller frees the result. */
struct learn_belief *learn_belief_create(const struct hrun_learn_sub *subs, int nsubs,
                                         const struct learn_point *points, int n);

/* The time of an option by particle k, without its unit. Where the particle is separable, the largest of these is the
 * time of a configuration, without what lies between two sides of the network. */
double learn_option_time(const struct learn_belief *b, int k, int i, int m, int P);
int learn_is_separable(const struct learn_belief *b, int k);
struct learn_outlook {
    double mean, sd;       /* of ln of the time */
    double expected;       /* the mean of the time over best_s */
    double gain;           /* the mean of what is less than best_s, over it */
};
void learn_predict(const struct learn_belief *b, const struct learn_point *x, double best_s, struct learn_outlook *out);

#endif
