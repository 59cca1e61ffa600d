/* groups.c - which sub-clusters may be measured at the same time; see campaign.h */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

/* The number of PEs of sub-cluster i that the campaign uses: always its first ones. */
static int pes_used(const struct campaign *g, int i)
{
    int most = 0;

    for (int k = 0; k < g->n; k++)
        if (g->v[k].pes[i] > most)
            most = g->v[k].pes[i];
    return most;
}

static void merge(int *group, int n, int from, int into)
{
    for (int i = 0; i < n; i++)
        if (group[i] == from)
            group[i] = into;
}

/* Sub-clusters that use a host in common come into one group, all that are joined so far included. */
static void join_by_hosts(const struct hrun_cluster *cl, const struct campaign *g, int *group, int *owner)
{
    for (int h = 0; h < cl->nhosts; h++)
        owner[h] = -1;
    for (int i = 0; i < cl->nsubs; i++) {
        int used = pes_used(g, i);

        for (int k = 0; k < used; k++) {
            int h = cl->subs[i].pes[k].host;

            if (owner[h] < 0)
                owner[h] = i;
            else if (group[owner[h]] != group[i])
                merge(group, cl->nsubs, group[i], group[owner[h]]);
        }
    }
}

/* Number the groups 0, 1, ... in the order of the sub-clusters; those without a point are in none. Result: how many. */
static int number(const struct campaign *g, int n, int *group)
{
    int groups = 0;

    for (int i = 0; i < n; i++)
        group[i] = campaign_has(g, i) ? n + group[i] : -1;
    for (int i = 0; i < n; i++)
        if (group[i] >= n)
            merge(group, n, group[i], groups++);
    return groups;
}

int groups_make(const struct context *c, int parallel, struct campaign *g, struct hrun_error *err)
{
    const struct hrun_cluster *cl = c->cluster;
    int *group = calloc((size_t)cl->nsubs, sizeof *group), *owner = calloc((size_t)cl->nhosts, sizeof *owner);
    int files = c->app->nfiles > 0 || c->app->time_file, several = 0;

    if (!group || !owner) {
        free(owner);
        free(group);
        return hrun_fail_nomem(err);
    }
    for (int i = 0; i < cl->nsubs; i++) {
        group[i] = parallel && !files ? i : 0;
        several += campaign_has(g, i);
    }
    join_by_hosts(cl, g, group, owner);
    g->ngroups = number(g, cl->nsubs, group);
    g->group = group;
    g->nsubs = cl->nsubs;
    g->together = g->ngroups > 1 || !parallel ? NULL
                : several == 1 ? "there is one sub-cluster to measure"
                : files ? "the application reads or writes files in the working directory, which all its runs share"
                : "the sub-clusters share hosts";
    free(owner);
    return 0;
}

void groups_text(const struct context *c, const struct campaign *g, struct hrun_buf *out)
{
    for (int k = 0; k < g->ngroups; k++) {
        int n = 0;

        hrun_buf_adds(out, k ? "; " : "");
        for (int i = 0; i < g->nsubs; i++)
            if (g->group[i] == k)
                hrun_buf_addf(out, "%s%s", n++ ? ", " : "", c->cluster->subs[i].name);
    }
}
