/* explore.h - choose the configuration to try, so that repeated runs find the best one
 *
 * Purpose: predictions may leave several configurations that can be the best. After a run of the best predicted one,
 * another configuration of bounded predicted loss may be tried: the one whose interval has the lowest end (Kaufmann,
 * Cappe and Garivier, On Bayesian upper confidence bounds for bandit problems, AISTATS 2012). Runs narrow the interval
 * of a configuration until only the best one remains.
 * Invariants: the answer depends only on the arguments.
 */
#ifndef HRUN_PLAN_EXPLORE_H
#define HRUN_PLAN_EXPLORE_H

struct hrun_explore_arm {
    double value;          /* predicted value of the objective, > 0 */
    double sd;             /* standard deviation of ln(true value / predicted value) */
    int runs;              /* number of runs at this N; the prediction is based on these */
};

/* Choose the arm of v[n], n >= 1, to run. v[0]: the best predicted one; loss: the allowed predicted loss, 0.05 for 5 %;
 * runs: number of runs at this N, of all configurations; last: index of the arm run last at this N, -1: none of them.
 * Result: an index; 0 if the last run was not of v[0], or if no arm of allowed loss may be quicker. */
int hrun_explore_pick(const struct hrun_explore_arm *v, int n, double loss, int runs, int last);

/* The number of arms of v[n] that may be quicker than v[0] and whose predicted loss is allowed. */
int hrun_explore_open(const struct hrun_explore_arm *v, int n, double loss, int runs);

#endif
