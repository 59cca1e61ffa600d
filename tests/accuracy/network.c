/* network.c - the network of a table's cluster; see accuracy.h */
#include "accuracy.h"

#include "base/file.h"
#include "net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
                 double *time_s, struct hrun_error *err)
{
    return hrun_net_bound(ctx, call, n, some, 0, time_s, err);
}

/* The view: hosts of sub-cluster NAME are NAME-0, NAME-1, ... */
static struct hrun_netview *make_view(const struct hrun_net *net, const struct truth *t, struct hrun_error *err)
{
    struct hrun_netview_source source = { net, net->nhosts, predict, bound };
    struct hrun_netview_sub subs[TRUTH_SUBS_MAX];
    struct hrun_netview_pe *pes[TRUTH_SUBS_MAX] = { NULL };
    struct hrun_netview *v = NULL;
    int ok = 1;

    for (int i = 0; i < t->nsubs && ok; i++) {
        pes[i] = calloc((size_t)t->npes[i], sizeof *pes[i]);
        ok = pes[i] != NULL;
        for (int p = 0; ok && p < t->npes[i]; p++) {
            char name[TRUTH_NAME + 16];

            snprintf(name, sizeof name, "%s-%d", t->names[i], p);
            pes[i][p].host = hrun_net_find(net, name);
        }
        subs[i] = (struct hrun_netview_sub){ t->names[i], t->npes[i], pes[i] };
    }
    if (ok)
        v = hrun_netview_of(&source, subs, t->nsubs, err);
    else
        hrun_fail_nomem(err);
    for (int i = 0; i < t->nsubs; i++)
        free(pes[i]);
    return v;
}

int accuracy_network(const char *dir, const struct truth *t, struct hrun_net **net, struct hrun_netview **view,
                     struct hrun_error *err)
{
    char *file = hrun_strf("%s/%s.yaml", dir, t->platform);
    struct hrun_net *n = NULL;
    int rc = -1;

    if (!file)
        return hrun_fail_nomem(err);
    if (access(file, R_OK)) {
        rc = 0;
        goto out;
    }
    if (hrun_net_load(file, &n, err))
        goto out;
    *view = make_view(n, t, err);
    if (!*view)
        goto out;
    *net = n;
    n = NULL;
    rc = 0;
out:
    hrun_net_destroy(n);
    free(file);
    return rc;
}
