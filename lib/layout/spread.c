/* spread.c - choose some of the equal PEs of a host; see layout.h for the contract */
#include "layout/layout.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>

/* Objects that contain PEs, the largest first. PEs are spread evenly over the objects in this order. */
static const enum hrun_object domains[] = { HRUN_OBJECT_PACKAGE, HRUN_OBJECT_NUMA, HRUN_OBJECT_L3, HRUN_OBJECT_L2 };

enum { NDOMAINS = sizeof domains / sizeof domains[0] };

struct candidate {
    int pe, chosen;
    int first[NDOMAINS];        /* the first candidate in its domain */
    int used[NDOMAINS];         /* number of chosen PEs in the domain; valid for its first candidate */
};

/* Choose one more candidate, whose domains have the fewest chosen PEs; the largest domain counts first. */
static void choose_emptiest(struct candidate *v, int n)
{
    int best = -1, d;

    for (int k = 0; k < n; k++) {
        if (v[k].chosen)
            continue;
        for (d = 0; best >= 0 && d < NDOMAINS - 1 && v[v[k].first[d]].used[d] == v[v[best].first[d]].used[d]; d++)
            continue;
        if (best < 0 || v[v[k].first[d]].used[d] < v[v[best].first[d]].used[d])
            best = k;
    }
    v[best].chosen = 1;
    for (d = 0; d < NDOMAINS; d++)
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
        for (int k = 0; k < n; k++) {
            long core = -1, last;

            hrun_range_next(s->pes[v[k].pe].cores, HRUN_RANGES_MAX, &core, &last);
            for (int d = 0; d < NDOMAINS; d++) {
                at[k * NDOMAINS + d] = hrun_topo_object(t, (int)core, domains[d]);
                while (at[v[k].first[d] * NDOMAINS + d] != at[k * NDOMAINS + d])
                    v[k].first[d]++;
            }
        }
        for (int i = 0; i < want; i++)
            choose_emptiest(v, n);
    }
    for (int k = 0; k < n && count < want; k++)
        if (v[k].chosen || !t || want >= n)
            out[count++] = v[k].pe;
    return count;
}
