/* balance.c - shares of the work with which the slowest process ends as early as possible; see oracle.h */
#include "model/oracle.h"

#include <math.h>

static double line_time(const struct hrun_line *p, int64_t u)
{
    return p->base_s + (double)u * p->unit_s;
}

int64_t hrun_line_units(const struct hrun_line *p, double t, int64_t limit)
{
    int64_t most = p->most < limit ? p->most : limit, u, lo, hi;
    double about;

    if (most < 1 || line_time(p, 1) > t)
        return 0;
    if (line_time(p, most) <= t)
        return most;
    about = (t - p->base_s) / p->unit_s;
    u = about < 1 ? 1 : about > (double)most ? most : (int64_t)about;
    lo = u > 1 && line_time(p, u - 1) <= t ? u - 1 : 1;     /* lo is done by t; rounding may make u too large */
    hi = u + 2 < most && line_time(p, u + 2) > t ? u + 2 : most;
    while (hi - lo > 1) {
        u = lo + (hi - lo) / 2;
        if (line_time(p, u) <= t)
            lo = u;
        else
            hi = u;
    }
    return lo;
}

/* The units that each process completes by t, at least 1. */
static int64_t done_units(const struct hrun_line *p, double t, int64_t units)
{
    int64_t u = hrun_line_units(p, t, units / p->n + 1);

    return u > 1 ? u : 1;
}

/* 1 if the processes complete all units by t, else 0. Each process counts for at least one unit. */
static int is_done_by(const struct hrun_line *v, int n, int64_t units, double t)
{
    int64_t left = units;

    for (int i = 0; i < n && left > 0; i++)
        left -= done_units(&v[i], t, units) * v[i].n;
    return left <= 0;
}

/* The slowest part whose processes can each give back a unit, or -1. */
static int slowest_spare(const struct hrun_line *v, int n, const int64_t *share, int64_t excess)
{
    int found = -1;

    for (int i = 0; i < n; i++)
        if (share[i] > 1 && v[i].n <= excess &&
            (found < 0 || line_time(&v[i], share[i]) > line_time(&v[found], share[found])))
            found = i;
    return found;
}

/* Units that each process of a part gives back at once: one, or more if rounding keeps its time constant. */
static int64_t units_to_spare(const struct hrun_line *p, int64_t share, int64_t excess)
{
    int64_t by = excess / p->n < share - 1 ? excess / p->n : share - 1;

    while (by > 1 && line_time(p, share - by) < line_time(p, share))
        by /= 2;
    return by;
}

double hrun_balance(const struct hrun_line *v, int n, int64_t units, int64_t *share)
{
    double lo = INFINITY, hi = -INFINITY, time_s = -INFINITY;
    int64_t processes = 0, excess = -units;

    for (int i = 0; i < n; i++) {
        int64_t most = v[i].most < units / v[i].n + 1 ? v[i].most : units / v[i].n + 1;

        if (most < 1 || v[i].n > units - processes)
            return INFINITY;
        processes += v[i].n;
        lo = fmin(lo, line_time(&v[i], 1));
        hi = fmax(hi, line_time(&v[i], most));
    }
    if (!isfinite(hi) || !is_done_by(v, n, units, hi))
        return INFINITY;
    if (is_done_by(v, n, units, lo))
        hi = lo;
    for (double mid = 0.5 * lo + 0.5 * hi; mid > lo && mid < hi; mid = 0.5 * lo + 0.5 * hi) {
        if (is_done_by(v, n, units, mid))
            hi = mid;
        else
            lo = mid;
    }
    for (int i = 0; i < n; i++) {
        share[i] = done_units(&v[i], hi, units);
        excess += share[i] * v[i].n;
    }
    for (int i; (i = slowest_spare(v, n, share, excess)) >= 0;) {
        int64_t by = units_to_spare(&v[i], share[i], excess);

        share[i] -= by;
        excess -= by * v[i].n;
    }
    for (int i = 0; i < n; i++)
        time_s = fmax(time_s, line_time(&v[i], share[i]));
    return time_s;
}
