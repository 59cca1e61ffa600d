/* explore.c - choose the configuration to try; see explore.h */
#include "plan/explore.h"

#include <math.h>

/* 95 % of a normal distribution lie within this many standard deviations. */
static const double NORMAL_95 = 1.959963984540054;

/* A smaller relative difference of values is ignored: half of the scatter of runs on a quiet node. */
static const double MATTERS = 0.01;

/* The low end of the 95 % interval. With many runs n it is lower: the quantile 1 - 1/n of Bayes-UCB, by its asymptotic
 * expansion, so that a configuration whose first runs were disturbed is tried again eventually. */
static double low_end(const struct hrun_explore_arm *a, int runs)
{
    static const double FOUR_PI = 12.566370614359172;
    double width = runs > 1 ? sqrt(fmax(NORMAL_95 * NORMAL_95, 2 * log(runs) - log(FOUR_PI * log(runs)))) : NORMAL_95;

    return a->value * exp(-width * a->sd);
}

/* 1 if v[i] may be better than v[0] by more than MATTERS and its predicted loss is allowed, else 0. */
static int may_be_quicker(const struct hrun_explore_arm *v, int i, double loss, int runs)
{
    return v[i].value <= (1 + loss) * v[0].value &&
           low_end(&v[i], runs) < fmin(low_end(&v[0], runs), (1 - MATTERS) * v[0].value);
}

int hrun_explore_pick(const struct hrun_explore_arm *v, int n, double loss, int runs, int last)
{
    int best = 0;

    if (last != 0)
        return 0;
    for (int i = 1; i < n; i++) {
        double a, b;

        if (!may_be_quicker(v, i, loss, runs))
            continue;
        a = low_end(&v[i], runs);
        b = low_end(&v[best], runs);
        if (!best || a < b || (a == b && v[i].runs < v[best].runs))
            best = i;
    }
    return best;
}

int hrun_explore_open(const struct hrun_explore_arm *v, int n, double loss, int runs)
{
    int open = 0;

    for (int i = 1; i < n; i++)
        open += may_be_quicker(v, i, loss, runs);
    return open;
}
