/* cost.c - how long a run will take; see internal.h */
#include "plan/design/internal.h"

#include <math.h>

/* Growth of time with N that is taken for granted until two sizes are known: that of dense linear algebra, the largest
 * of the shipped definitions, so that nothing takes longer than foretold. */
static const double GROWTH = 3;

/* What starting and ending a run adds to its time: the median of what it did so far. */
static double start_overhead(const struct hrun_design *d)
{
    double last[2 * DESIGN_SURPRISES + 1];
    int n = 0;

    for (int i = d->runs.n; i-- > 0 && n < (int)(sizeof last / sizeof *last); )
        if (d->runs.v[i].time_s > 0)
            last[n++] = fmax(d->runs.v[i].wall_s - d->runs.v[i].time_s, 0);
    return design_median(last, n);
}

static double run_distance(const struct hrun_design *d, const struct design_run *r, const struct dealt_config *config,
                           int P, int64_t N)
{
    double far = fabs(log((double)N / (double)r->N)) + fabs(log((double)P / r->P));

    for (int i = 0; i < d->nsubs; i++)
        far += !config->c.pes[i] != !r->config.c.pes[i];
    return far;
}

double design_cost(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N, double model_s)
{
    const struct design_run *near = NULL, *lo = NULL, *hi = NULL;
    double least = INFINITY, slope = GROWTH, wall = 0;
    int same = 0;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];
        double far;

        if (r->time_s <= 0)
            continue;
        if (r->N == N && same_dealt_config(&r->config, config)) {
            wall += r->wall_s;
            same++;
        }
        far = run_distance(d, r, config, P, N);
        if (far < least) {
            least = far;
            near = r;
        }
        lo = !lo || r->N < lo->N ? r : lo;
        hi = !hi || r->N > hi->N ? r : hi;
    }
    if (same)
        return wall / same;
    if (model_s > 0 && isfinite(model_s))
        return model_s + start_overhead(d);
    if (!near)
        return 0;
    if (hi->N > lo->N)
        slope = fmin(fmax(log(hi->time_s / lo->time_s) / log((double)hi->N / (double)lo->N), 0), GROWTH);
    return near->time_s * pow(fmax((double)N / (double)near->N, 1), slope) + start_overhead(d);
}
