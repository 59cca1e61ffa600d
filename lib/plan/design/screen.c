/* screen.c - homogeneous points, and screening: each sub-cluster alone, then all together; see design.h */
#include "base/alloc.h"
#include "plan/design/internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ homogeneous points */

enum { ALL_PES_UP_TO = 4 };

/* Limit of steps to an accepted size. Rules are periodic with P or P^2, so more steps would find nothing new. */
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
    struct hrun_config config;
    double bytes;

    for (int j = 0; j < n; j++) {
        if (pes[j] > d->subs[sub].npes)
            continue;
        P = pes[j] * m;
        config = hrun_config_alone(d->nsubs, sub, (int)pes[j], m);
        for (int k = 0; k < d->set.nsizes; k++) {
            N = hrun_design_size(d->app, d->set.sizes[k], P, err);
            if (N < 0 || (N && hrun_app_memory(d->app, N, P, &bytes, err)))
                return -1;
            if (!N || (d->subs[sub].memory_bytes > 0 && bytes * m > d->subs[sub].memory_bytes))
                continue;
            add_design_point(d, (struct design_point){ .sub = sub, .m = m, .pes = (int)pes[j], .P = (int)P, .N = N,
                                                       .size = k, .config = make_dealt_config(&config, 0) });
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
                         d->app->fixed ? "; --again forgets a rule learnt from failed runs" : "");
    return 0;
}

/* ------------------------------------------------------------------ sizes that are too short */

/* 1 if the quickest run at the smallest size is too short, else 0. */
static int smallest_is_short(const struct hrun_design *d)
{
    double begin = (1 - DESIGN_SIZE_SHIFT) * (double)d->set.sizes[0], least = INFINITY;
    double end = ((double)d->set.sizes[0] + (double)d->set.sizes[1]) / 2;

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].time_s > 0 && (double)d->runs.v[i].N > begin && (double)d->runs.v[i].N < end)
            least = fmin(least, d->runs.v[i].time_s);
    return least < d->fit.least_s || d->runs.too_short >= d->set.sizes[0];
}

void design_drop_short(struct hrun_design *d)
{
    enum { LEFT = 3 };

    if (!d->set.own_sizes)
        return;
    design_assess_times(d);
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

/* ------------------------------------------------------------------ the first runs */

/* Number of screened sizes. */
enum { SCREENS = 2 };
/* Limit of the cost of screening at the middle size, as a part of the budget. */
static const double SCREEN_SHARE = 0.1;
/* Limit of the cost of a run on the whole cluster, as a part of the budget. Its expected cost is only an upper bound,
 * from a run at another size. */
static const double WHOLE_SHARE = 0.02;

/* The largest number of PEs, up to `most`, of the points with this sub-cluster, M and size; 0: none. */
static int find_most_pes(const struct hrun_design *d, int sub, int m, int size, int most)
{
    int found = 0;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *q = &d->points[i];

        if (q->sub == sub && q->m == m && q->size == size && q->pes <= most && q->pes > found)
            found = q->pes;
    }
    return found;
}

/* 1 if a configuration is slow at the smallest size, with own_budget; else 0. A slow configuration is not screened at a
 * larger size, because no budget limits the run yet; screen_rest adds its second size. */
static int is_slow_config(const struct hrun_design *d, const struct dealt_config *config)
{
    double least = INFINITY, own = INFINITY;

    for (int i = 0; i < d->runs.n && d->set.own_budget > 0; i++) {
        const struct design_run *r = &d->runs.v[i];

        if (r->time_s <= 0 || (d->nsizes > 1 && r->N >= d->set.sizes[1]) ||
            (double)r->N < (1 - DESIGN_SIZE_SHIFT) * (double)d->set.sizes[0])
            continue;
        least = fmin(least, r->time_s);
        if (same_dealt_config(&r->config, config))
            own = fmin(own, r->time_s);
    }
    return isfinite(own) && own > DESIGN_SLOW * least;
}

/* The cost of a point; INFINITY if it was run. */
static double point_cost(const struct hrun_design *d, const struct design_point *p)
{
    return design_is_known(d, &p->config, p->N) ? INFINITY : design_cost(d, &p->config, p->P, p->N, 0);
}

/* Queue a point unless it was run. */
static void queue_point(struct hrun_design *d, const struct design_point *p, double cost)
{
    if (!isinf(cost))
        design_queue(d, &p->config, p->N, HRUN_DESIGN_SCREEN, 0, cost);
}

/* The cost of the screening points at a size, one PE and all PEs, that were not run. queue: 1 to queue them. */
static double screen_size(struct hrun_design *d, int size, int queue)
{
    double cost = 0;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];
        double one;

        if (p->size != size || (p->pes != 1 && p->pes != find_most_pes(d, p->sub, p->m, size, INT_MAX)))
            continue;
        one = point_cost(d, p);
        if (isinf(one) || (size > 0 && is_slow_config(d, &p->config)))
            continue;
        cost += one;
        if (queue)
            queue_point(d, p, one);
    }
    return cost;
}

static int find_most_procs(const struct hrun_design *d, int sub)
{
    int most = 0;

    for (int i = 0; i < d->npoints; i++)
        if (d->points[i].sub == sub && d->points[i].m > most)
            most = d->points[i].m;
    return most;
}

/* 1 if a run on this sub-cluster alone with M processes per PE was slow (design_slow_s), else 0. */
static int was_slow_alone(const struct hrun_design *d, int sub, int m)
{
    double slow_s = design_slow_s(d);

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].sub == sub && d->runs.v[i].config.c.procs[sub] == m && d->runs.v[i].wall_s >= slow_s)
            return 1;
    return 0;
}

/* The shortest time of a run on one PE of this sub-cluster with M processes; sub = -1: of all runs. */
static double least_time_s(const struct hrun_design *d, int sub, int m)
{
    double least = INFINITY;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];

        if (r->time_s > 0 && (sub < 0 || (r->sub == sub && r->config.c.pes[sub] == 1 && r->config.c.procs[sub] == m)))
            least = fmin(least, r->time_s);
    }
    return least;
}

/* Rounds of screening at one size. FIXED_SCREENS is their number with the rounds on the whole cluster: one with equal
 * shares before ALL, one with unequal shares after it. */
enum { ALL, SOME, OTHERS, FIXED_SCREENS = 5 };

/* Queue a round at the only size. ALL: all PEs of each sub-cluster with each M. SOME: a quarter of the PEs, because one
 * PE would be slower by up to the number of PEs; if all PEs were slow, perhaps by messages, one PE with the largest M.
 * OTHERS: if the run on one PE was quick, one PE with the other M. */
static void screen_one_size(struct hrun_design *d, int round)
{
    enum { FEW = 4 };

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];
        int all = find_most_pes(d, p->sub, p->m, p->size, INT_MAX), most = find_most_procs(d, p->sub);
        int slow = round != ALL && was_slow_alone(d, p->sub, p->m), few = slow || all < 2 * FEW ? 1 : all / FEW;
        double quick_s = DESIGN_SLOW / 2 * least_time_s(d, -1, 0);
        int skip = round == SOME ? slow && p->m != most
                 : round == OTHERS && (!slow || least_time_s(d, p->sub, most) > quick_s);

        if (!skip && p->pes == (round == ALL ? all : find_most_pes(d, p->sub, p->m, p->size, few)))
            queue_point(d, p, point_cost(d, p));
    }
}

/* 1 if there are enough runs for the model of one PE (several = 0) or of several PEs: two sizes, or the only size; else
 * 0. */
static int knows_two_sizes(const struct hrun_design *d, int sub, int m, int several)
{
    int64_t N = 0;

    if (d->app->fixed && (!several || was_slow_alone(d, sub, m)))
        return 1;
    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];

        if (r->sub != sub || r->time_s <= 0 || r->config.c.procs[sub] != m || (r->config.c.pes[sub] > 1) != several)
            continue;
        if ((N && r->N != N) || d->app->fixed)
            return 1;
        N = r->N;
    }
    return 0;
}

/* For each model with runs of fewer than two sizes, because the rule refused points or runs failed, queue the cheapest
 * point without a run. */
static void screen_rest(struct hrun_design *d)
{
    for (int k = 0; k < 2 * d->nsubs * d->nprocs; k++) {
        int sub = k / 2 / d->nprocs, m = d->procs[k / 2 % d->nprocs], several = k % 2;
        const struct design_point *best = NULL;
        double least = INFINITY;

        if (knows_two_sizes(d, sub, m, several))
            continue;
        for (int i = 0; i < d->npoints; i++) {
            const struct design_point *p = &d->points[i];
            double cost = p->sub == sub && p->m == m && (p->pes > 1) == several ? point_cost(d, p) : INFINITY;

            if (cost < least) {
                least = cost;
                best = p;
            }
        }
        if (best)
            queue_point(d, best, least);
    }
}

/* 1 if rule and memory allow P processes at N, else 0; -1 on errors. */
static int is_run_allowed(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N,
                          struct hrun_error *err)
{
    double bytes;
    int good = hrun_app_rule(d->app, N, P, err);

    if (good <= 0 || hrun_app_memory(d->app, N, P, &bytes, err))
        return good ? -1 : 0;
    for (int i = 0; i < d->nsubs; i++)
        if (d->subs[i].memory_bytes > 0 && bytes * config->c.procs[i] > d->subs[i].memory_bytes)
            return 0;
    return 1;
}

/* Set the largest configuration that is allowed at N with m processes per PE, or the limit of a sub-cluster. If not all
 * PEs are allowed, those of the last sub-clusters are left out. Result: P; 0 if fewer than two sub-clusters remain; -1
 * on errors. */
static int set_largest_config(const struct hrun_design *d, int m, int64_t N, struct dealt_config *config,
                              struct hrun_error *err)
{
    int P = 0, used, good = 0;

    for (int i = 0; i < d->nsubs; i++) {
        int most = d->subs[i].most ? d->subs[i].most : m;

        config->c.pes[i] = d->subs[i].npes;
        config->c.procs[i] = 0;
        for (int j = 0; j < d->nprocs && config->c.pes[i]; j++)
            if (d->procs[j] <= m && d->procs[j] <= most && d->procs[j] > config->c.procs[i])
                config->c.procs[i] = d->procs[j];
        config->c.pes[i] = config->c.procs[i] ? config->c.pes[i] : 0;
        P += config->c.pes[i] * config->c.procs[i];
    }
    for (int i = d->nsubs - 1; i >= 0; i--)
        while (config->c.pes[i] && !(good = is_run_allowed(d, config, P, N, err))) {
            P -= config->c.procs[i];
            config->c.procs[i] *= --config->c.pes[i] > 0;
        }
    used = 0;
    for (int i = 0; i < d->nsubs; i++)
        used += config->c.pes[i] > 0;
    return good < 0 ? -1 : good && used > 1 ? P : 0;
}

/* Queue runs on the whole cluster, unless they are too long, with each M at every second size below the largest, so
 * that the models interpolate in P. deal: 1 for unequal shares, with equal ones in addition at the smallest sizes, to
 * detect a program that ignores its shares. */
static int screen_whole(struct hrun_design *d, int deal, struct hrun_error *err)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };

    for (int k = d->nsizes > 1 ? d->nsizes - 2 : 0; k >= 0; k -= 2)
        for (int j = 0; j < d->nprocs; j++) {
            int64_t N = d->set.sizes[k];
            int P = set_largest_config(d, d->procs[j], N, &config, err);

            if (P < 0)
                return -1;
            for (config.dealt = deal; P && config.dealt >= 0 && (config.dealt == deal || k < 2); config.dealt--) {
                double cost = design_is_known(d, &config, N) ? INFINITY : design_cost(d, &config, P, N, 0);

                if (!isinf(cost) && (d->set.budget_s <= 0 || cost <= WHOLE_SHARE * d->set.budget_s))
                    design_queue(d, &config, N, HRUN_DESIGN_SCREEN, 0, cost);
            }
        }
    return 0;
}

int design_screen(struct hrun_design *d, struct hrun_error *err)
{
    int rounds = d->nsizes > 1 ? SCREENS : 1, size = 0, deals = d->nsubs > 1 && design_deals(d);

    if (d->app->fixed && d->screened < FIXED_SCREENS) {
        int round = d->screened++;

        if (round == 0)
            return d->nsubs > 1 ? screen_whole(d, 0, err) : 0;
        if (round == 2)
            return deals ? screen_whole(d, 1, err) : 0;
        screen_one_size(d, round > 2 ? round - 2 : ALL);
        return 0;
    }
    if (!d->app->fixed && d->screened == rounds && d->nsubs > 1) {
        d->screened++;
        return screen_whole(d, deals, err);
    }
    if (d->app->fixed || d->screened >= rounds) {
        screen_rest(d);
        return 0;
    }
    if (d->screened) {
        size = (d->nsizes - 1) / 2 > 1 ? (d->nsizes - 1) / 2 : 1;
        while (size > 1 && d->set.budget_s > 0 && screen_size(d, size, 0) > SCREEN_SHARE * d->set.budget_s)
            size--;
    }
    d->screened++;
    screen_size(d, size, 1);
    return 0;
}
