/* weak.c - the runs that the family weak is made of; see weak.h */
#include "weak.h"

#include "base/units.h"

#include <stdlib.h>

/* As the paper has them, of PEs with one process each. With more on each, three PEs are the fewest of which one lies
 * between two others, and with five the logarithm differs enough. */
enum { FEW = 4, MORE = 8, FEW_PES = 3, MORE_PES = 5, HOSTS = 4 };

/* The two numbers of PEs, 0: none. */
static void choose_pes(int npes, int m, int *few, int *more)
{
    int want_few = m > 1 ? FEW_PES : FEW, want_more = m > 1 ? MORE_PES : MORE;

    *more = npes < want_more ? npes : want_more;
    *few = want_few < *more ? want_few : *more > 2 ? (*more + 1) / 2 : 0;
    if (*more < 2)
        *more = m > 1 ? 1 : 0;   /* one PE of several processes is better than nothing */
}

/* The six runs of one size. */
static int add_size(struct context *c, int i, int m, int npes, int loaded, int64_t P, int64_t N, struct campaign *g,
                    struct hrun_error *err)
{
    int64_t units, unit, full, most;
    int pes[3] = { loaded, 0, 0 };

    if (hrun_app_mesh(c->app, N, &units, &unit, err))
        return -1;
    full = (units + P - 1) / P;
    if (hrun_app_units_fitting(c->app, N, P, units, unit, (double)c->cluster->subs[i].memory_bytes / m, &most, err))
        return -1;
    if (most < 2) {
        g->skipped_memory += 6;
        return 0;
    }
    full = full < most ? full : most;
    if (full < 2 || units < 2) {
        g->skipped_rule += 6;
        return 0;
    }
    choose_pes(npes, m, &pes[1], &pes[2]);
    for (int k = 0; k < 3; k++)
        for (int half = 0; half < 2 && pes[k]; half++)
            if (campaign_share(g, i, pes[k], m, N, (double)((half ? full / 2 : full) * unit), k == 0, err) < 0)
                return -1;
    return 0;
}

int weak_points(struct context *c, const struct calib_settings *s, const struct lists *l, int i, int m,
                struct campaign *g, struct hrun_error *err)
{
    int64_t own = (int64_t)l->most[i] * m, P = s->P && s->P < own ? s->P : own;

    for (int k = 0; k < l->sizes.n; k++)
        if (add_size(c, i, m, l->most[i], l->most[i], P, l->sizes.v[k], g, err))
            return -1;
    return 0;
}

/* ------------------------------------------------------------------ where they run */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Take up to n PEs of a host. Result: how many are taken in all. */
static int take(const struct hrun_subcluster *sub, int host, int n, int *order, int taken, int npes)
{
    for (int k = 0; k < sub->npes && n > 0 && taken < npes; k++)
        if (sub->pes[k].host == host) {
            order[taken++] = k;
            n--;
        }
    return taken;
}

/* The next host of the sub-cluster after the first `from` PEs whose host is not `but`. *from moves behind it. */
static int next_host(const struct hrun_subcluster *sub, int *from, int but)
{
    for (int k = *from; k < sub->npes; k++)
        if (sub->pes[k].host != but && (k == 0 || sub->pes[k].host != sub->pes[k - 1].host)) {
            *from = k + 1;
            return sub->pes[k].host;
        }
    return -1;
}

/* How many processes the k-th of the hosts gets: nearly as many on each. */
static int part(int npes, int hosts, int k)
{
    return npes / hosts + (k < npes % hosts);
}

void weak_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order)
{
    int hosts = 0, here = 0, taken = 0, host, at = 0, k = 0;

    for (int i = 0; i < sub->npes; i++) {
        hosts += i == 0 || sub->pes[i].host != sub->pes[i - 1].host;
        here += sub->pes[i].host == sub->pes[0].host;
    }
    /* No more hosts than HOSTS where these have PEs enough. */
    if (hosts > HOSTS && npes <= HOSTS * here)
        hosts = HOSTS;
    if (slow_host >= 0)
        taken = take(sub, slow_host, part(npes, hosts, k++), order, taken, npes);
    while (taken < npes && k < hosts && (host = next_host(sub, &at, slow_host)) >= 0)
        taken = take(sub, host, part(npes, hosts, k++), order, taken, npes);
    /* Hosts with fewer PEs than the first: whatever is left. */
    for (int i = 0; i < sub->npes && taken < npes; i++) {
        int there = 0;

        for (int j = 0; j < taken; j++)
            there |= order[j] == i;
        if (!there)
            order[taken++] = i;
    }
    qsort(order, (size_t)npes, sizeof *order, by_number);
}
