/* points.c - homogeneous points: numbers of PEs, and sizes that suit the rule; see design.h */
#include "plan/design/internal.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_PES_UP_TO = 4 };

/* Rules repeat with P or P^2: after this many steps no multiple is left to find. */
enum { STEPS_MAX = 1000000 };

int hrun_design_pes(int npes, int64_t *v)
{
    int n = 0;

    for (int p = 1; p <= npes && p <= ALL_PES_UP_TO; p++)
        v[n++] = p;
    for (int64_t p = ALL_PES_UP_TO; p < npes; p *= 2) {
        if (p + p / 2 < npes)
            v[n++] = p + p / 2;
        v[n++] = 2 * p < npes ? 2 * p : npes;
    }
    return n;
}

int64_t hrun_design_size(const struct hrun_app *app, int64_t N, int64_t P, struct hrun_error *err)
{
    int64_t reach = (int64_t)(DESIGN_SIZE_SHIFT * (double)N);

    for (int64_t d = 0; d <= reach && d <= STEPS_MAX; d++) {
        for (int side = -1; side <= 1; side += 2) {
            int64_t x = N + side * d;
            int good = x < 1 ? 0 : hrun_app_rule(app, x, P, err);

            if (good < 0)
                return -1;
            if (good)
                return x;
        }
    }
    return 0;
}

static void add_design_point(struct hrun_design *d, struct design_point p)
{
    for (int i = 0; i < d->npoints; i++)
        if (d->points[i].sub == p.sub && d->points[i].N == p.N && d->points[i].pes == p.pes && d->points[i].m == p.m)
            return;
    hrun_grow(d->points, d->npoints + 1, d->points_cap);
    d->points[d->npoints++] = p;
}

static int add_design_points(struct hrun_design *d, int sub, int m, struct hrun_error *err)
{
    int64_t own[HRUN_DESIGN_PES], P, N;
    const int64_t *pes = d->set.pes ? d->set.pes : own;
    int n = d->set.pes ? d->set.npes : hrun_design_pes(d->subs[sub].npes, own);
    double bytes;

    for (int j = 0; j < n; j++) {
        if (pes[j] > d->subs[sub].npes)
            continue;
        P = pes[j] * m;
        for (int k = 0; k < d->set.nsizes; k++) {
            N = hrun_design_size(d->app, d->set.sizes[k], P, err);
            if (N < 0 || (N && hrun_app_memory(d->app, N, P, &bytes, err)))
                return -1;
            if (!N || (d->subs[sub].memory_bytes > 0 && bytes * m > d->subs[sub].memory_bytes))
                continue;
            add_design_point(d, (struct design_point){ .sub = sub, .m = m, .pes = (int)pes[j], .P = (int)P, .N = N,
                                                       .size = k });
        }
    }
    return 0;
}

int design_points(struct hrun_design *d, struct hrun_error *err)
{
    for (int i = 0; i < d->nsubs; i++)
        for (int j = 0; d->subs[i].npes && j < d->nprocs; j++)
            if ((!d->subs[i].most || d->procs[j] <= d->subs[i].most) && add_design_points(d, i, d->procs[j], err))
                return -1;
    if (!d->npoints)
        return hrun_fail(err, HRUN_EINVAL, "there is nothing to measure: the rule '%s' and the memory leave no run at "
                         "these sizes%s", hrun_expr_text(d->app->rule),
                         d->app->fixed ? "; --again forgets a rule that failed runs have told" : "");
    return 0;
}

/* ------------------------------------------------------------------ sizes that are too short */

/* The shortest time that tells enough, from all runs so far. */
static void find_least_time(struct hrun_design *d)
{
    autofree double *time_s = xcalloc((size_t)d->runs.n + 1, sizeof *time_s);
    autofree int *thing = xcalloc((size_t)d->runs.n + 1, sizeof *thing);
    size_t n = 0;

    for (int i = 0; i < d->runs.n; i++) {
        int same = 0;

        if (d->runs.v[i].time_s <= 0)
            continue;
        while (d->runs.v[same].N != d->runs.v[i].N || !same_dealt_config(&d->runs.v[same].config, &d->runs.v[i].config))
            same++;
        time_s[n] = d->runs.v[i].time_s;
        thing[n++] = same;
    }
    d->state.least_s = hrun_times_least(time_s, thing, n);
}

/* Is the quickest run at the smallest size too short? */
static int smallest_is_short(const struct hrun_design *d)
{
    double begin = (1 - DESIGN_SIZE_SHIFT) * (double)d->set.sizes[0], least = INFINITY;
    double end = ((double)d->set.sizes[0] + (double)d->set.sizes[1]) / 2;

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].time_s > 0 && (double)d->runs.v[i].N > begin && (double)d->runs.v[i].N < end)
            least = fmin(least, d->runs.v[i].time_s);
    return least < d->state.least_s || d->runs.too_short >= d->set.sizes[0];
}

void design_drop_short(struct hrun_design *d)
{
    enum { LEFT = 3 };

    if (!d->set.own_sizes)
        return;
    find_least_time(d);
    while (d->nsizes > LEFT && smallest_is_short(d)) {
        int n = 0;

        design_drop_sizes(d);
        d->nsizes = --d->set.nsizes;
        d->set.sizes++;
        memmove(d->sizes, d->sizes + 1, (size_t)d->nsizes * sizeof *d->sizes);
        for (int i = 0; i < d->npoints; i++)
            if (d->points[i].size) {
                d->points[n] = d->points[i];
                d->points[n++].size--;
            }
        d->npoints = n;
        d->screened = d->screened > 1 ? d->screened : 0;
        d->state.dropped++;
    }
}
