/* learn_belief.h - the belief behind learn.h
 *
 * Purpose: predict times of all configurations from a few runs, by a sample of particles and a Gaussian process.
 * Invariants: no two points have the same configuration; particles are equally likely.
 */
#ifndef HRUN_PLAN_LEARN_BELIEF_H
#define HRUN_PLAN_LEARN_BELIEF_H

#include "plan/learn.h"

enum { LEARN_PARTICLES = 256, LEARN_POINTS = 40 };   /* number of particles, limit of points */

struct learn_point {       /* a configuration */
    struct hrun_config config;
    int P;
    double log_s;          /* ln of the median of the times of its runs */
    int runs;
};

struct learn_belief;

/* Make the belief from points[n], 1 <= n <= LEARN_POINTS. Borrows points and subs. The caller frees the result. */
struct learn_belief *learn_belief_create(const struct hrun_learn_sub *subs, int nsubs,
                                         const struct learn_point *points, int n);

/* Time of an option by particle k, in an arbitrary unit. If the particle is separable, the time of a configuration is
 * the largest of these, apart from messages between two sides of the network. */
double learn_option_time(const struct learn_belief *b, int k, int i, int m, int P);
int learn_is_separable(const struct learn_belief *b, int k);
struct learn_outlook {
    double mean, sd;       /* of ln time */
    double expected;       /* mean of time / best_s */
    double gain;           /* mean of max(0, 1 - time / best_s) */
};
void learn_predict(const struct learn_belief *b, const struct learn_point *x, double best_s, struct learn_outlook *out);

#endif
