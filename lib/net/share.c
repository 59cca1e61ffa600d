/* share.c - max-min fair rates by progressive filling (replay.h)
 *
 * The rates of all open flows rise with a common level, in proportion to their shares. A flow is closed at its limit,
 * or together with all others of a resource when that is full.
 */
#include "net/replay.h"

#include <math.h>

/* Levels with a smaller relative difference are equal: rounding of sums and quotients of some hundred terms. */
static const double SAME = 1e-12;

/* The level at which a resource is full. */
static double share_full_level(const struct share_resource *r)
{
    return r->left / r->weight;
}

static void share_begin(struct share_flow *flows, int n, struct share_resource *resources, int *open)
{
    for (int f = 0; f < n; f++) {
        open[f] = f;
        for (int u = 0; u < flows[f].nuse; u++) {
            struct share_resource *r = &resources[flows[f].use[u]];

            r->left = r->capacity;
            r->weight = 0;
        }
    }
    for (int f = 0; f < n; f++)
        for (int u = 0; u < flows[f].nuse; u++)
            resources[flows[f].use[u]].weight += flows[f].weight[u] * flows[f].share;
}

/* Set the rates of the open flows that are closed now, and -1 for the others. Flows with limits below the level at
 * which the next resource is full come first: they leave more to the others and so raise that level. */
static void share_set_rates(struct share_flow *flows, const struct share_resource *resources, const int *open, int n)
{
    double level = INFINITY;
    int closed = 0;

    for (int i = 0; i < n; i++)
        for (int u = 0; u < flows[open[i]].nuse; u++)
            level = fmin(level, share_full_level(&resources[flows[open[i]].use[u]]));
    for (int i = 0; i < n; i++) {
        struct share_flow *f = &flows[open[i]];

        f->rate = f->limit < INFINITY && f->limit <= level * f->share * (1 + SAME) ? f->limit : -1;
        closed += f->rate >= 0;
    }
    for (int i = 0; i < n && !closed; i++) {
        struct share_flow *f = &flows[open[i]];

        for (int u = 0; u < f->nuse; u++)
            if (share_full_level(&resources[f->use[u]]) <= level * (1 + SAME))
                f->rate = level * f->share;
    }
}

void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *open)
{
    share_begin(flows, n, resources, open);
    while (n > 0) {
        int kept = 0;

        share_set_rates(flows, resources, open, n);
        for (int i = 0; i < n; i++) {
            const struct share_flow *f = &flows[open[i]];

            if (f->rate < 0) {
                open[kept++] = open[i];
                continue;
            }
            for (int u = 0; u < f->nuse; u++) {
                struct share_resource *r = &resources[f->use[u]];

                r->left = fmax(r->left - f->rate * f->weight[u], 0);
                r->weight -= f->weight[u] * f->share;
            }
        }
        n = kept;
    }
}
