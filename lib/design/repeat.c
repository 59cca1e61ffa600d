/* repeat.c - runs of one sub-cluster that are doubtful, again; see internal.h */
#include "design/internal.h"

#include <math.h>

/* Of single runs this far from the fit, in standard deviations of one run, one in 15,000 is undisturbed. */
static const double DOUBTFUL = 4;
/* Made again so often at most, while no two runs agree: of 20 runs one is disturbed, of 8,000 three in a row. */
enum { REPEATS = 3 };

/* A run that nothing would contradict is made twice when it takes at most this part of the budget: one in twenty is
 * disturbed, and what a model is led astray by at a small size it never recovers from. */
static const double CHEAP = 5e-4;
/* Of two runs one is disturbed in a tenth of cases, and what is left is one that nothing confirms: so much rarer, a
 * third may take so much longer. */
static const double TORN = 10;

/* Is it of a model that has no more points than terms? Then it may follow each of them, also a disturbed one. */
static int uncontradicted(const struct hrun_design *d, const struct design_group *g)
{
    int several = g->config[g->sub] > 1, M = g->config[d->nsubs + g->sub], points = 0;

    for (int i = 0; i < d->ngroups; i++) {
        const struct design_group *h = &d->groups[i];

        points += h->sub == g->sub && h->kept && h->config[d->nsubs + h->sub] == M &&
                  (h->config[h->sub] > 1) == several;
    }
    return points <= (several ? d->app->np.n : d->app->nt.n);
}

/* May it be made again because nothing, or none of its other runs, confirms it? */
static int unconfirmed(const struct hrun_design *d, const struct design_group *g)
{
    double most = CHEAP * d->set.budget_s, cost = design_cost(d, g->config, g->P, g->N, g->least);

    return d->set.budget_s > 0 && ((g->n > 1 && cost <= TORN * most) || (cost <= most && uncontradicted(d, g)));
}

int design_repeats(struct hrun_design *d, struct hrun_error *err)
{
    int known = 0;              /* whether times scatter: some configuration was run twice */

    for (int i = 0; i < d->ngroups; i++)
        known |= d->groups[i].n > 1;
    /* As long as it is not known one run is made again alone, which may save the others. */
    for (int i = 0; i < d->ngroups && !d->exact && (known || d->next == d->nqueue); i++) {
        const struct design_group *g = &d->groups[i];
        double sd;

        if (g->sub < 0 || g->kept != 1 || g->n > REPEATS || g->failed || !isfinite(g->model))
            continue;
        sd = hypot(design_noise(d, g->least), d->training);
        if ((fabs(g->log_t - g->model) > DOUBTFUL * sd || unconfirmed(d, g)) &&
            design_queue(d, g->config, g->N, HRUN_DESIGN_REPEAT, 0,
                         design_cost(d, g->config, g->P, g->N, g->least), err))
            return -1;
    }
    return 0;
}
