/* explore.h - which configuration to try, so that repeated runs find the best one
 *
 * Purpose: several configurations may be the best as far as predictions go. After a run of the best predicted one, one
 * of those whose predicted loss is bounded may be tried: the one that may be the quickest by its interval (Kaufmann,
 * Cappe and Garivier, On Bayesian upper confidence bounds for bandit problems, AISTATS 2012). What was run is known
 * better, so its interval shrinks, and the best one remains.
 * Invariants: the answer depends on nothing but the arguments.
 */
#ifndef HRUN_PLAN_EXPLORE_H
#define HRUN_PLAN_EXPLORE_H

struct hrun_explore_arm {
    double value;          /* predicted value of the objective, > 0 */
    double sd;             /* standard deviation of ln(true value / predicted): what is not known of it */
    int runs;              /* runs of it at this N that made the prediction */
};

/* The one of v[n] to run, v[0] being the best predicted one (n >= 1). loss: the predicted loss that is allowed, 0.05
 * for 5 %; runs: of any configuration at this N so far; last: the one that was run last at this N, -1: none of them.
 * Result: 0 when the best is to be run: because it was not the last, because nothing else may be quicker, or because
 * that would cost too much. */
int hrun_explore_pick(const struct hrun_explore_arm *v, int n, double loss, int runs, int last);

/* How many of v[n] may be quicker than v[0] at an allowed loss, and were not run often enough to decide it. */
int hrun_explore_open(const struct hrun_explore_arm *v, int n, double loss, int runs);

#endif
