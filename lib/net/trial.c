/* trial.c - experiments in plain numbers, and many messages that share one limit; see fitting.h */
#include "base/alloc.h"
#include "net/fitting.h"
#include "net/net_parts.h"

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
    double *all = xcalloc(8 * (size_t)n + 1, sizeof *all);

    return (struct net_flows){ .n = n, .start_s = all, .alone_s_per_byte = all + n, .way_s = all + 2 * n,
                               .end_s = all + 3 * n, .room = all + 4 * n };
}

void net_flows_release(struct net_flows *f)
{
    free(f->start_s);
}

/* A message while they share. */
struct sharer {
    double left, rate, alone, weight;
};

/* Set weighted fair rates of the messages under way: those that alone are slower than their share keep their own rate;
 * the others share the rest. */
static void fair_rates(const struct net_flows *f, struct sharer *v, double now)
{
    double rest = 1 / f->shared_s_per_byte, open = 0;
    int again = 1;

    for (int i = 0; i < f->n; i++) {
        v[i].rate = 0;
        open += v[i].left > 0 && f->start_s[i] <= now ? v[i].weight : 0;
    }
    while (again && open > 0) {
        double share = rest / open;

        again = 0;
        for (int i = 0; i < f->n; i++)
            if (v[i].left > 0 && f->start_s[i] <= now && v[i].rate == 0 && v[i].alone * share * v[i].weight >= 1) {
                v[i].rate = 1 / v[i].alone;
                rest -= v[i].rate;
                open -= v[i].weight;
                again = 1;
            }
    }
    for (int i = 0; i < f->n && rest > 0 && open > 0; i++)
        if (v[i].left > 0 && f->start_s[i] <= now && v[i].rate == 0)
            v[i].rate = rest * v[i].weight / open;
}

void net_flows_share(const struct net_flows *f)
{
    struct sharer *v = (struct sharer *)(void *)f->room;
    double now = INFINITY;
    const double rounding = f->n * 16 * DBL_EPSILON;  /* of a sum over up to 2 n events */
    int busy = f->n;

    for (int i = 0; i < f->n; i++) {
        double alone = fmax(f->alone_s_per_byte[i], f->shared_s_per_byte);

        v[i] = (struct sharer){ f->bytes, 0, alone, f->way_s[i] > 0 ? 1 / f->way_s[i] : 1 };
        f->end_s[i] = f->start_s[i] + f->bytes * alone;
        now = fmin(now, f->start_s[i]);
    }
    if (!(f->shared_s_per_byte > 0) || !(f->bytes > 0))
        return;
    while (busy > 0) {
        double next = INFINITY;

        fair_rates(f, v, now);
        for (int i = 0; i < f->n; i++) {
            if (v[i].left > 0 && f->start_s[i] > now)
                next = fmin(next, f->start_s[i]);
            if (v[i].rate > 0)
                next = fmin(next, now + v[i].left / v[i].rate);
        }
        for (int i = 0; i < f->n; i++) {
            if (!(v[i].rate > 0))
                continue;
            v[i].left -= v[i].rate * (next - now);
            if (v[i].left > rounding * f->bytes)
                continue;
            v[i].left = 0;
            f->end_s[i] = next;
            busy--;
        }
        now = next;
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
