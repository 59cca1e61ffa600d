/* netview_net.c - a view of a cluster's sub-clusters on its network; see netview.h */
#include "model/netview.h"

#include <stdlib.h>

static int predict(const void *ctx, const struct hrun_net_call *call, const struct hrun_net_ranks *ranks,
                   double *time_s, struct hrun_error *err)
{
    struct hrun_net_time t;

    if (hrun_net_predict(ctx, call, ranks, &t, err))
        return -1;
    *time_s = t.time_s;
    return 0;
}

static int bound(const void *ctx, const struct hrun_net_call *call, int n, const struct hrun_net_ranks *some,
                 int beside, double *time_s, struct hrun_error *err)
{
    return hrun_net_bound(ctx, call, n, some, beside, time_s, err);
}

struct hrun_netview_source hrun_netview_source_of(const struct hrun_net *net)
{
    return (struct hrun_netview_source){ net, net->nhosts, predict, bound };
}

struct hrun_netview *hrun_netview_create(const struct hrun_net *net, const struct hrun_cluster *cluster,
                                         struct hrun_error *err)
{
    struct hrun_netview_source source = hrun_netview_source_of(net);
    struct hrun_netview_sub *subs = calloc((size_t)cluster->nsubs + 1, sizeof *subs);
    struct hrun_netview_pe *pes = NULL, *at;
    struct hrun_netview *v = NULL;
    size_t npes = 0;

    for (int i = 0; i < cluster->nsubs; i++)
        npes += (size_t)cluster->subs[i].npes;
    at = pes = calloc(npes + 1, sizeof *pes);
    if (!subs || !pes) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (int i = 0; i < cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &cluster->subs[i];

        subs[i] = (struct hrun_netview_sub){ s->name, s->npes, at };
        for (int p = 0; p < s->npes; p++, at++) {
            const struct hrun_host *h = &cluster->hosts[s->pes[p].host];
            int host = hrun_net_find(net, h->name);

            if (host < 0) {
                hrun_fail(err, HRUN_ENODATA, "the network of %s does not know host %s", net->date, h->name);
                goto out;
            }
            *at = (struct hrun_netview_pe){ host, hrun_net_kind(net, host, s->kind), h->group };
        }
    }
    v = hrun_netview_of(&source, subs, cluster->nsubs, err);
out:
    free(subs);
    free(pes);
    return v;
}
