/* trial.c - segments of messages, and many messages that share one limit; see trial.h */
#include "net/trial.h"

#include <float.h>
#include <math.h>

const struct hrun_net_segment *net_segment(const struct net_given *given, double bytes)
{
    const struct hrun_net_segment *s = given->segments;

    for (int i = 1; i < given->nsegments && given->segments[i].from_bytes <= bytes; i++)
        s = &given->segments[i];
    return s;
}

/* ---------------------------------------------------------------- many messages that share one limit */

/* Fair rates of the m messages that are under way (left > 0, started): those that alone are slower than the fair share
 * keep their own, the others share what is left. */
static void fair_rates(int n, const double *left, const double *start, double now, const double *alone,
                       double shared_by, double *rate)
{
    double rest = 1 / shared_by, share;
    int open = 0, again = 1;

    for (int i = 0; i < n; i++) {
        rate[i] = 0;
        open += left[i] > 0 && start[i] <= now;
    }
    while (again && open > 0) {
        again = 0;
        share = rest / open;
        for (int i = 0; i < n; i++)
            if (left[i] > 0 && start[i] <= now && rate[i] == 0 && alone[i] * share >= 1) {
                rate[i] = 1 / alone[i];
                rest -= rate[i];
                open--;
                again = 1;
            }
    }
    for (int i = 0; i < n && open > 0; i++)
        if (left[i] > 0 && start[i] <= now && rate[i] == 0)
            rate[i] = rest / open;
}

void net_share(int n, const double *start_s, const double *alone_s_per_byte, double bytes, double shared_s_per_byte,
               double *end_s, double *work)
{
    double *left = work, *rate = work + n, *alone = work + 2 * n, now = INFINITY;
    const double rounding = n * 16 * DBL_EPSILON;  /* of a sum over up to 2 n events */
    int busy = n;

    for (int i = 0; i < n; i++) {
        left[i] = bytes;
        alone[i] = fmax(alone_s_per_byte[i], shared_s_per_byte);
        end_s[i] = start_s[i] + bytes * alone[i];
        now = fmin(now, start_s[i]);
    }
    if (!(shared_s_per_byte > 0) || !(bytes > 0))
        return;
    while (busy > 0) {
        double next = INFINITY;

        fair_rates(n, left, start_s, now, alone, shared_s_per_byte, rate);
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
