/* share.c - max-min fair rates by filling up (share.h)
 *
 * A level rises, and with it all rates, each as its share says; a flow stops at its limit, or with all others of a resource when that is full. What stops
 * within a rounding error of the same level stops in the same step.
 */
#include "net/share.h"

#include <math.h>

/* Levels that differ by less are the same: rates are sums and quotients of some hundred terms. */
static const double SAME = 1e-12;

static int list_resources(struct share_flow *flows, int n, struct share_resource *resources, int *list)
{
    int nlist = 0;

    for (int f = 0; f < n; f++) {
        flows[f].rate = -1;
        for (int u = 0; u < flows[f].nuse; u++) {
            struct share_resource *r = &resources[flows[f].use[u]];

            if (!r->listed) {
                *r = (struct share_resource){ .capacity = r->capacity, .left = r->capacity, .listed = 1 };
                list[nlist++] = flows[f].use[u];
            }
            r->weight += flows[f].weight[u] * flows[f].share;
            r->unset++;
        }
    }
    return nlist;
}

static void set_rate(struct share_flow *flow, double rate, struct share_resource *resources)
{
    flow->rate = rate;
    for (int u = 0; u < flow->nuse; u++) {
        struct share_resource *r = &resources[flow->use[u]];

        r->left = fmax(r->left - rate * flow->weight[u], 0);
        r->weight -= flow->weight[u] * flow->share;
        r->unset--;
    }
}

/* The level at which the next resource is full. */
static double next_full(const struct share_resource *resources, const int *list, int nlist)
{
    double level = INFINITY;

    for (int i = 0; i < nlist; i++) {
        const struct share_resource *r = &resources[list[i]];

        if (r->unset)
            level = fmin(level, r->left / r->weight);
    }
    return level;
}

static int stop_at_limits(struct share_flow *flows, int n, double level, struct share_resource *resources)
{
    int stopped = 0;

    for (int f = 0; f < n; f++)
        if (flows[f].rate < 0 && flows[f].limit <= level * flows[f].share * (1 + SAME)) {
            set_rate(&flows[f], flows[f].limit, resources);
            stopped++;
        }
    return stopped;
}

/* In two passes, for to stop a flow changes what its other resources have left. */
static int stop_at_full(struct share_flow *flows, int n, double level, struct share_resource *resources,
                        const int *list, int nlist)
{
    int stopped = 0;

    for (int i = 0; i < nlist; i++) {
        struct share_resource *r = &resources[list[i]];

        if (r->unset)
            r->listed = r->left / r->weight <= level * (1 + SAME) ? 2 : 1;
    }
    for (int f = 0; f < n; f++) {
        int full = 0;

        for (int u = 0; flows[f].rate < 0 && u < flows[f].nuse; u++)
            full |= resources[flows[f].use[u]].listed == 2;
        if (full) {
            set_rate(&flows[f], level * flows[f].share, resources);
            stopped++;
        }
    }
    return stopped;
}

void share_rates(struct share_flow *flows, int n, struct share_resource *resources, int *scratch)
{
    int nlist = list_resources(flows, n, resources, scratch), left = n;

    while (left > 0) {
        double level = next_full(resources, scratch, nlist);
        int stopped = stop_at_limits(flows, n, level, resources);

        if (!stopped)
            stopped = stop_at_full(flows, n, level, resources, scratch, nlist);
        left -= stopped;
    }
    for (int i = 0; i < nlist; i++)
        resources[scratch[i]].listed = 0;
}
