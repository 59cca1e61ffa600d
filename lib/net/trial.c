/* trial.c - experiments in plain numbers, and many messages that share one limit; see fitting.h */
#include "net/fitting.h"
#include "net/net_parts.h"

#include <float.h>
#include <math.h>

const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes)
{
    return net_segment_of(given->segments, given->nsegments, bytes);
}

double net_second_bytes(const struct hrun_net_record *r)
{
    return r->back_bytes > 0 ? r->back_bytes : r->bytes;
}

/* ---------------------------------------------------------------- many messages that share one limit */

/* Fair rates of the messages that are under way (left > 0, started), by weights: those that alone are slower than their
 * share keep their own, the others share what is left. */
static void fair_rates(int n, const double *left, const double *start, double now, const double *alone,
                       const double *weight, double shared_by, double *rate)
{
    double rest = 1 / shared_by, open = 0;
    int again = 1;

    for (int i = 0; i < n; i++) {
        rate[i] = 0;
        open += left[i] > 0 && start[i] <= now ? weight[i] : 0;
    }
    while (again && open > 0) {
        double share = rest / open;

        again = 0;
        for (int i = 0; i < n; i++)
            if (left[i] > 0 && start[i] <= now && rate[i] == 0 && alone[i] * share * weight[i] >= 1) {
                rate[i] = 1 / alone[i];
                rest -= rate[i];
                open -= weight[i];
                again = 1;
            }
    }
    for (int i = 0; i < n && rest > 0 && open > 0; i++)
        if (left[i] > 0 && start[i] <= now && rate[i] == 0)
            rate[i] = rest * weight[i] / open;
}

void net_share(int n, const double *start_s, const double *alone_s_per_byte, const double *way_s, double bytes,
               double shared_s_per_byte, double *end_s, double *work)
{
    double *left = work, *rate = work + n, *alone = work + 2 * n, *weight = work + 3 * n, now = INFINITY;
    const double rounding = n * 16 * DBL_EPSILON;  /* of a sum over up to 2 n events */
    int busy = n;

    for (int i = 0; i < n; i++) {
        left[i] = bytes;
        weight[i] = way_s && way_s[i] > 0 ? 1 / way_s[i] : 1;
        alone[i] = fmax(alone_s_per_byte[i], shared_s_per_byte);
        end_s[i] = start_s[i] + bytes * alone[i];
        now = fmin(now, start_s[i]);
    }
    if (!(shared_s_per_byte > 0) || !(bytes > 0))
        return;
    while (busy > 0) {
        double next = INFINITY;

        fair_rates(n, left, start_s, now, alone, weight, shared_s_per_byte, rate);
        for (int i = 0; i < n; i++) {
            if (left[i] > 0 && start_s[i] > now)
                next = fmin(next, start_s[i]);
            if (rate[i] > 0)
                next = fmin(next, now + left[i] / rate[i]);
        }
        for (int i = 0; i < n; i++) {
            if (!(rate[i] > 0))
                continue;
            left[i] -= rate[i] * (next - now);
            if (left[i] > rounding * bytes)
                continue;
            left[i] = 0;
            end_s[i] = next;
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
