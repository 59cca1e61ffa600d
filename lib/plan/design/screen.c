/* screen.c - the first runs: each sub-cluster alone, then all together; see internal.h */
#include "base/alloc.h"
#include "plan/design/internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of screening. */
enum { SCREENS = 2 };
/* Screening of the middle size costs no more than this part of the budget. */
static const double SCREEN_SHARE = 0.1;
/* A run on the whole cluster costs no more than this part of the budget: what is expected is a bound only, from a run
 * at another size. */
static const double WHOLE_SHARE = 0.02;

/* The largest number of PEs, up to `most`, of the points of sub-cluster and M at a size. */
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

/* Screening runs one PE, and all PEs. */
static int is_screening_point(const struct hrun_design *d, const struct design_point *p, int size)
{
    return p->size == size && (p->pes == 1 || p->pes == find_most_pes(d, p->sub, p->m, size, INT_MAX));
}

/* Is a configuration slow at the smallest size? Then it is not screened at a larger one if the budget is to be found,
 * since nothing else keeps such a run short; screen_rest adds its second size. */
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

/* The cost of the screening points at a size that were not run. queue: queue them. */
static double screen_size(struct hrun_design *d, int size, int queue)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };
    double cost = 0, one;
    int failed;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];

        if (!is_screening_point(d, p, size))
            continue;
        design_point_config(d, p, &config);
        if (design_count(d, &config, p->N, &failed) || failed || (size > 0 && is_slow_config(d, &config)))
            continue;
        one = design_cost(d, &config, p->P, p->N, 0);
        cost += one;
        if (queue)
            design_queue(d, &config, p->N, HRUN_DESIGN_SCREEN, 0, one);
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

/* Did a run on this sub-cluster alone with M processes per PE take the time limit of slow runs or longer? */
static int was_slow_alone(const struct hrun_design *d, int sub, int m)
{
    double slow_s = design_slow_s(d);

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].sub == sub && d->runs.v[i].config.c.procs[sub] == m && d->runs.v[i].wall_s >= slow_s)
            return 1;
    return 0;
}

/* Did one PE with M processes take at most half of the limit of slow runs? */
static int is_one_pe_quick(const struct hrun_design *d, int sub, int m)
{
    double least = INFINITY, own = INFINITY;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];

        if (r->time_s <= 0)
            continue;
        least = fmin(least, r->time_s);
        if (r->sub == sub && r->config.c.pes[sub] == 1 && r->config.c.procs[sub] == m)
            own = fmin(own, r->time_s);
    }
    return own <= DESIGN_SLOW / 2 * least;
}

/* Rounds of screening at one size. There are FIXED_SCREENS with those on the whole cluster: with equal shares before
 * ALL, with unequal ones after it. */
enum { ALL, SOME, OTHERS, FIXED_SCREENS = 5 };

/* Queue a round at the only size. ALL: all PEs of each sub-cluster with each M. SOME: a quarter of them, as one PE
 * would take as many times longer as there are PEs; where all PEs were slow, messages may be the cause, and one PE with
 * the most processes is run. OTHERS: where that was quick, one PE with the other M. */
static void screen_one_size(struct hrun_design *d, int round)
{
    enum { FEW = 4 };
    struct dealt_config config = { .c.nsubs = d->nsubs };
    int failed;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];
        int all = find_most_pes(d, p->sub, p->m, p->size, INT_MAX), most = find_most_procs(d, p->sub);
        int slow = round != ALL && was_slow_alone(d, p->sub, p->m), few = slow || all < 2 * FEW ? 1 : all / FEW;

        if (p->pes != (round == ALL ? all : find_most_pes(d, p->sub, p->m, p->size, few)) ||
            (round == SOME && slow && p->m != most) || (round == OTHERS && !(slow && is_one_pe_quick(d, p->sub, most))))
            continue;
        design_point_config(d, p, &config);
        if (!design_count(d, &config, p->N, &failed) && !failed)
            design_queue(d, &config, p->N, HRUN_DESIGN_SCREEN, 0, design_cost(d, &config, p->P, p->N, 0));
    }
}

/* Does the model of one PE, or of several, have runs of two sizes, or of the only one? */
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

/* Queue the cheapest point that was not run for each model with runs of fewer than two sizes: the rule left out points,
 * or runs failed. */
static void screen_rest(struct hrun_design *d)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };
    int failed;

    for (int k = 0; k < 2 * d->nsubs * d->nprocs; k++) {
        int sub = k / 2 / d->nprocs, m = d->procs[k / 2 % d->nprocs], several = k % 2;
        const struct design_point *best = NULL;
        double least = INFINITY;

        if (knows_two_sizes(d, sub, m, several))
            continue;
        for (int i = 0; i < d->npoints; i++) {
            const struct design_point *p = &d->points[i];
            double cost;

            if (p->sub != sub || p->m != m || (p->pes > 1) != several)
                continue;
            design_point_config(d, p, &config);
            if (design_count(d, &config, p->N, &failed) || failed)
                continue;
            cost = design_cost(d, &config, p->P, p->N, 0);
            if (cost < least) {
                least = cost;
                best = p;
            }
        }
        if (best) {
            design_point_config(d, best, &config);
            design_queue(d, &config, best->N, HRUN_DESIGN_SCREEN, 0, least);
        }
    }
}

/* Do rule and memory allow P processes at N? 1 or 0, -1 on errors. */
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

/* Set the largest configuration that is allowed at N with m processes per PE, fewer on sub-clusters that allow fewer.
 * PEs are left out from the last sub-cluster on. Result: P, 0 if fewer than two sub-clusters remain, -1 on errors. */
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

/* Queue a run on the whole cluster, if it is not too long. */
static void screen_config(struct hrun_design *d, struct dealt_config *config, int P, int64_t N)
{
    double cost;

    if (design_is_known(d, config, N))
        return;
    cost = design_cost(d, config, P, N, 0);
    if (d->set.budget_s <= 0 || cost <= WHOLE_SHARE * d->set.budget_s)
        design_queue(d, config, N, HRUN_DESIGN_SCREEN, 0, cost);
}

/* Queue runs on the whole cluster with each M at every second size below the largest: with these the models interpolate
 * in P. deal: with unequal shares, and at the smallest sizes also with equal ones, which shows whether the program
 * respects its shares. */
static int screen_whole(struct hrun_design *d, int deal, struct hrun_error *err)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };

    for (int k = d->nsizes > 1 ? d->nsizes - 2 : 0; k >= 0; k -= 2) {
        for (int j = 0; j < d->nprocs; j++) {
            int64_t N = d->set.sizes[k];
            int P = set_largest_config(d, d->procs[j], N, &config, err);

            if (P < 0)
                return -1;
            config.dealt = deal;
            if (P)
                screen_config(d, &config, P, N);
            config.dealt = 0;
            if (P && deal && k < 2)
                screen_config(d, &config, P, N);
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
