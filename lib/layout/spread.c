/* spread.c - which of the equal PEs of a host are used when not all are; see layout.h for the contract */
#include "layout/layout.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>

/* Around a PE, the largest first: evenness at one counts before that at the next. */
static const enum hrun_object domains[] = { HRUN_OBJECT_PACKAGE, HRUN_OBJECT_NUMA, HRUN_OBJECT_L3, HRUN_OBJECT_L2 };

enum { NDOMAINS = sizeof domains / sizeof domains[0] };

struct candidate {
    int pe, chosen;
    int first[NDOMAINS];        /* the first candidate in the same domain */
    int used[NDOMAINS];         /* of that first one: how many of the domain are chosen */
};

/* The domains of candidate k, which come after those of the ones before it. */
static void find_domains(const struct hrun_topo *t, const struct hrun_subcluster *sub, struct candidate *v, int *at,
                         int k)
{
    long core = -1, last;

    hrun_range_next(sub->pes[v[k].pe].cores, HRUN_RANGES_MAX, &core, &last);
    for (int d = 0; d < NDOMAINS; d++) {
        at[k * NDOMAINS + d] = hrun_topo_object(t, (int)core, domains[d]);
        for (v[k].first[d] = 0; at[v[k].first[d] * NDOMAINS + d] != at[k * NDOMAINS + d]; v[k].first[d]++)
            continue;
    }
}

/* Is candidate a in emptier domains than b? */
static int is_emptier(const struct candidate *v, int a, int b)
{
    for (int d = 0; d < NDOMAINS; d++) {
        int used_a = v[v[a].first[d]].used[d], used_b = v[v[b].first[d]].used[d];

        if (used_a != used_b)
            return used_a < used_b;
    }
    return 0;
}

static void choose_emptiest(struct candidate *v, int n)
{
    int best = -1;

    for (int k = 0; k < n; k++)
        if (!v[k].chosen && (best < 0 || is_emptier(v, k, best)))
            best = k;
    v[best].chosen = 1;
    for (int d = 0; d < NDOMAINS; d++)
        v[v[best].first[d]].used[d]++;
}

int layout_spread(const struct hrun_cluster *cluster, int sub, int first, const char *busy, int want, int *out)
{
    const struct hrun_subcluster *s = &cluster->subs[sub];
    const struct hrun_topo *t = cluster->hosts[s->pes[first].host].topo;
    autofree struct candidate *v = NULL;
    autofree int *at = NULL;
    int n = 0, count = 0;

    for (int p = first; p < s->npes && s->pes[p].host == s->pes[first].host; p++)
        n += !(busy && busy[p]);
    v = xcalloc((size_t)n + 1, sizeof *v);
    at = xcalloc((size_t)n + 1, NDOMAINS * sizeof *at);
    for (int p = first, k = 0; k < n; p++)
        if (!(busy && busy[p]))
            v[k++].pe = p;
    if (t && want < n) {
        for (int k = 0; k < n; k++)
            find_domains(t, s, v, at, k);
        for (int i = 0; i < want; i++)
            choose_emptiest(v, n);
    }
    for (int k = 0; k < n && count < want; k++)
        if (v[k].chosen || !t || want >= n)
            out[count++] = v[k].pe;
    return count;
}
