/* trial.c - experiments in plain numbers, and many messages that share one limit; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "net/net_parts.h"
#include "net/replay.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes)
{
    return net_segment_of(given->segments, given->nsegments, bytes);
}

double net_second_bytes(const struct hrun_net_record *r)
{
    return r->back_bytes > 0 ? r->back_bytes : r->bytes;
}

/* ---------------------------------------------------------------- many messages that share one limit */

struct net_flows net_flows_make(int n)
{
    double *all = xcalloc(4 * (size_t)n + 1, sizeof *all);

    return (struct net_flows){ .n = n, .start_s = all, .alone_s_per_byte = all + n, .way_s = all + 2 * n,
                               .end_s = all + 3 * n };
}

void net_flows_release(struct net_flows *f)
{
    free(f->start_s);
}

void net_flows_share(const struct net_flows *f)
{
    autofree struct share_flow *flows = xcalloc((size_t)f->n, sizeof *flows);
    autofree int *open = xcalloc((size_t)f->n, sizeof *open);
    struct share_resource shared = { .capacity = 1 / f->shared_s_per_byte };
    const double rounding = f->n * 16 * DBL_EPSILON;  /* rounding error of a sum over up to 2 n events */
    double next = INFINITY;
    int nflows = 0;

    for (int i = 0; i < f->n; i++) {
        f->end_s[i] = f->start_s[i] + f->bytes * fmax(f->alone_s_per_byte[i], f->shared_s_per_byte);
        next = fmin(next, f->start_s[i]);
    }
    if (!(f->shared_s_per_byte > 0) || !(f->bytes > 0))
        return;
    for (double now = -INFINITY, last; next < INFINITY;) {
        int kept = 0;

        last = now;
        now = next;
        next = INFINITY;
        for (int k = 0; k < nflows; k++) {
            flows[k].left -= flows[k].rate * (now - last);
            if (flows[k].left > rounding * f->bytes)
                flows[kept++] = flows[k];
            else
                f->end_s[flows[k].message] = now;
        }
        nflows = kept;
        for (int i = 0; i < f->n; i++)
            if (f->start_s[i] > now)
                next = fmin(next, f->start_s[i]);
            else if (f->start_s[i] > last)
                flows[nflows++] = (struct share_flow){
                    .nuse = 1, .weight = { 1 }, .message = i, .left = f->bytes,
                    .limit = 1 / fmax(f->alone_s_per_byte[i], f->shared_s_per_byte),
                    .share = f->way_s[i] > 0 ? 1 / f->way_s[i] : 1 };
        share_rates(flows, nflows, &shared, open);
        for (int k = 0; k < nflows; k++)
            next = fmin(next, now + flows[k].left / flows[k].rate);
    }
}

/* ---------------------------------------------------------------- experiments */

#include "net/trial_stages.h"

int net_trial_is_row(const struct hrun_net_record *r)
{
    return trials[r->kind] != NULL && r->kind != HRUN_NET_BOTH;
}

double net_trial(const struct net_columns *c, const struct net_given *given, const double *x,
                 const struct hrun_net_record *r)
{
    struct trial t = { c, given, x };

    return trials[r->kind](&t, r);
}
