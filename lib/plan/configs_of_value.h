/* configs_of_value.h - all configurations with P processes and one given value, in their order
 *
 * Purpose: for one P and one threshold ("level"), over the options of value <= level: can sum Pi Mi = P be
 * met, with how few PEs, by which configurations. Configurations of value exactly `level` are paths through
 * the sub-clusters that take at least one option of that value; they come out by PEs, then lexicographically.
 *
 * Method: free[k][s] and need[k][s], the fewest PEs by which sub-clusters k.. can hold s processes; `need`
 * with an option of value = level among them. Of the sums s only those matter from which P can still be met:
 * at least P minus what sub-clusters before k can hold, and at most what those from k on can hold. So a
 * window is never wider than the capacity exceeds P, which near the least feasible level is little.
 */
#ifndef HRUN_PLAN_CONFIGS_OF_VALUE_H
#define HRUN_PLAN_CONFIGS_OF_VALUE_H

#include "plan/space.h"

struct plan_level {
    const struct plan_space *s;
    int P;
    const double *v;          /* nopt values at P, +infinity: not usable */
    double level;
    int *lo, *width;          /* nsubs + 1: the window of sums of each layer */
    uint32_t **free, **need;  /* nsubs + 1 layers; `need` only if asked for */
    uint32_t *pool;
    int *queue;               /* positions of a sliding minimum */
    struct plan_path *paths;  /* candidates of the enumeration */
    int *pairs;               /* of the candidates: 2 nsubs each */
    size_t pool_cap, queue_cap, pairs_cap;
    int npaths, paths_cap;
};

void plan_level_init(struct plan_level *l, const struct plan_space *s);
void plan_level_release(struct plan_level *l);

/* Compute the layers; with_need: also those that plan_level_add uses. Result: 1 if some configuration of value <= level
 * has P processes. */
int plan_level_build(struct plan_level *l, int P, const double *v, double level, int with_need);

/* Add the configurations of value exactly `level` to best, in their order, until one is not good enough.
 * row is that of P. */
void plan_level_add(struct plan_level *l, const struct plan_row *row, struct plan_best *best);

#endif
