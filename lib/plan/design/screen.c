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

/* The most PEs of points of sub-cluster and M at a size, up to `most`. */
static int most_pes(const struct hrun_design *d, int sub, int m, int size, int most)
{
    int found = 0;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *q = &d->points[i];

        if (q->sub == sub && q->m == m && q->size == size && q->pes <= most && q->pes > found)
            found = q->pes;
    }
    return found;
}

/* Is it a point of screening at this size: one PE, or all that there are? */
static int screens(const struct hrun_design *d, const struct design_point *p, int size)
{
    return p->size == size && (p->pes == 1 || p->pes == most_pes(d, p->sub, p->m, size, INT_MAX));
}

/* Is a configuration slow at the smallest size? With a budget that is found nothing else keeps such a run short. Its
 * second size comes from screen_rest. */
static int is_slow(const struct hrun_design *d, const struct dealt_config *config)
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

/* What the points of screening at a size cost that were not run; queue: they are queued. */
static double screen_size(struct hrun_design *d, int size, int queue)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };
    double cost = 0, one;
    int failed;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];

        if (!screens(d, p, size))
            continue;
        design_point_config(d, p, &config);
        if (design_count(d, &config, p->N, &failed) || failed || (size > 0 && is_slow(d, &config)))
            continue;
        one = design_cost(d, &config, p->P, p->N, 0);
        cost += one;
        if (queue)
            design_queue(d, &config, p->N, HRUN_DESIGN_SCREEN, 0, one);
    }
    return cost;
}

static int most_procs(const struct hrun_design *d, int sub)
{
    int most = 0;

    for (int i = 0; i < d->npoints; i++)
        if (d->points[i].sub == sub && d->points[i].m > most)
            most = d->points[i].m;
    return most;
}

/* Was a run of sub-cluster and M alone ended, or could have been, because others are so much quicker? */
static int was_slow(const struct hrun_design *d, int sub, int m)
{
    double slow_s = design_slow_s(d);

    for (int i = 0; i < d->runs.n; i++)
        if (d->runs.v[i].sub == sub && d->runs.v[i].config.c.procs[sub] == m && d->runs.v[i].wall_s >= slow_s)
            return 1;
    return 0;
}

/* Is one PE alone with M processes among the quicker runs? */
static int one_is_quick(const struct hrun_design *d, int sub, int m)
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

/* Rounds of one size; and how many there are with those on the whole cluster, with equal shares at first, with unequal
 * ones after ALL. */
enum { ALL, SOME, OTHERS, FIXED_SCREENS = 5 };

/* Of one size: queue all PEs of each sub-cluster with each M, in the next round a few of them: one PE alone takes as
 * many times as long as there are PEs. Where all were slow, messages may be why, and one PE with the most processes
 * tells; where that is quick, others on it are tried in the last round. */
static void screen_one_size(struct hrun_design *d, int round)
{
    enum { FEW = 4 };
    struct dealt_config config = { .c.nsubs = d->nsubs };
    int failed;

    for (int i = 0; i < d->npoints; i++) {
        const struct design_point *p = &d->points[i];
        int all = most_pes(d, p->sub, p->m, p->size, INT_MAX), most = most_procs(d, p->sub);
        int slow = round != ALL && was_slow(d, p->sub, p->m), few = slow || all < 2 * FEW ? 1 : all / FEW;

        if (p->pes != (round == ALL ? all : most_pes(d, p->sub, p->m, p->size, few)) ||
            (round == SOME && slow && p->m != most) || (round == OTHERS && !(slow && one_is_quick(d, p->sub, most))))
            continue;
        design_point_config(d, p, &config);
        if (!design_count(d, &config, p->N, &failed) && !failed)
            design_queue(d, &config, p->N, HRUN_DESIGN_SCREEN, 0, design_cost(d, &config, p->P, p->N, 0));
    }
}

/* Does this model (one PE, or several) know two sizes, or the only one that there is? */
static int knows_two(const struct hrun_design *d, int sub, int m, int several)
{
    int64_t N = 0;

    if (d->app->fixed && (!several || was_slow(d, sub, m)))
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

/* A model that knows fewer than two sizes (the rule left out points, runs failed): its cheapest points that were not
 * run, one for each model at a time. */
static void screen_rest(struct hrun_design *d)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };
    int failed;

    for (int k = 0; k < 2 * d->nsubs * d->nprocs; k++) {
        int sub = k / 2 / d->nprocs, m = d->procs[k / 2 % d->nprocs], several = k % 2;
        const struct design_point *best = NULL;
        double least = INFINITY;

        if (knows_two(d, sub, m, several))
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

/* May P processes run at N, as far as rule and memory go? 1 or 0, -1 on errors. */
static int allowed(const struct hrun_design *d, const struct dealt_config *config, int P, int64_t N,
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

/* The largest configuration that may run at N with m processes on each PE, as far as sub-clusters bear so many: PEs are
 * left out from the last sub-cluster on. P, or 0 when it is not of several sub-clusters; -1 on errors. */
static int largest(const struct hrun_design *d, int m, int64_t N, struct dealt_config *config, struct hrun_error *err)
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
        while (config->c.pes[i] && !(good = allowed(d, config, P, N, err))) {
            P -= config->c.procs[i];
            config->c.procs[i] *= --config->c.pes[i] > 0;
        }
    used = 0;
    for (int i = 0; i < d->nsubs; i++)
        used += config->c.pes[i] > 0;
    return good < 0 ? -1 : good && used > 1 ? P : 0;
}

/* One run on the whole cluster, where it is not too long. */
static void screen_all(struct hrun_design *d, struct dealt_config *config, int P, int64_t N)
{
    double cost;

    if (design_is_known(d, config, N))
        return;
    cost = design_cost(d, config, P, N, 0);
    if (d->set.budget_s <= 0 || cost <= WHOLE_SHARE * d->set.budget_s)
        design_queue(d, config, N, HRUN_DESIGN_SCREEN, 0, cost);
}

/* Runs on the whole cluster at every second size, up to the last but one, with as many processes per PE as there are
 * values of: with them models interpolate in P where they would have to extrapolate. They are quick, as everything
 * works on them, and with unequal shares, `deal`, still quicker; these are told by what was run before. At the least
 * size equal ones are run, too, which shows whether the program heeds its shares. */
static int screen_whole(struct hrun_design *d, int deal, struct hrun_error *err)
{
    struct dealt_config config = { .c.nsubs = d->nsubs };

    for (int k = d->nsizes > 1 ? d->nsizes - 2 : 0; k >= 0; k -= 2) {
        for (int j = 0; j < d->nprocs; j++) {
            int64_t N = d->set.sizes[k];
            int P = largest(d, d->procs[j], N, &config, err);

            if (P < 0)
                return -1;
            config.dealt = deal;
            if (P)
                screen_all(d, &config, P, N);
            config.dealt = 0;
            if (P && deal && k < 2)
                screen_all(d, &config, P, N);
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
