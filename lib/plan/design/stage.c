/* stage.c - which stage comes next, and the mixed runs; see design.h */
#include "base/alloc.h"
#include "model/predict.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last part of a budget goes first to runs of configurations that were run before, and to choices. */
static const double FINAL_PART = 0.15;
/* Where a choice stands before the budget is spent, the gains at its size are computed with standard deviations that
 * are this many times larger. */
static const double SD_FACTOR = 2;
/* A budget that is found: rounds of the choices, runs for each model, rounds beyond screening at least. */
static const double OWN_ROUNDS = 12, OWN_RUNS = 8, OWN_LEAST = 8;
/* At one size, as of a command, whose choice takes up to SHORT_S with its start: a first answer within two minutes. */
static const double SHORT_S = 2.5, SHORT_BUDGET_S = 105;
/* Besides screening and the last rounds, it is at most this part of the time of all configurations, where these are few
 * enough to be candidates. */
static const double OWN_SHARE = 0.1;
/* It is MORE times as large while the expected relative loss, in the mean of sizes, is above LOSS_MORE. */
static const double LOSS_MORE = 0.02, MORE = 2;
/* With the choices that are run at its end, it is at most OVER times as large, and OVER_ROUNDS rounds of them. */
static const double OVER = 1.5, OVER_ROUNDS = 4;
/* Runs for each model and for each size beyond which nothing new is learnt, however short they are. */
enum { OPTION_RUNS = 20, SIZE_RUNS = 10 };
/* Variants of a choice are run that are predicted to be at most VARY_SLOW times slower (ADD_SLOW: with a sub-cluster
 * added), in at most VARY_SHARE of the budget. */
static const double VARY_SLOW = 1.6, ADD_SLOW = 6, VARY_SHARE = 0.15;
/* Most runs at one size in a stage; runs of a choice at the end. */
enum { AT_ONE_SIZE = 4, CONFIRMED = 2 };
/* The next best is run at the end where its mean of ln time is above that of the choice by at most this: models are
 * often that far off where nothing was run. */
static const double RIVAL = 0.15;

/* A single run that is this many standard deviations off the fit is repeated: one in 15,000 undisturbed ones is. */
static const double OUTLIER = 4;
/* Most repetitions while no two runs agree: of 20 runs one is disturbed, of 8,000 three in a row. */
enum { REPEATS = 3 };

/* Random order (Hunold and Carpen-Amarie, arXiv 1505.07734): what drifts with time must not look like N or P. The
 * numbers are from splitmix64 (Steele, Lea, Flood 2014). */
static void shuffle_queue(struct hrun_design *d)
{
    for (int i = d->queue.n - 1; i > d->queue.next; i--) {
        uint64_t z = d->rng += 0x9e3779b97f4a7c15u;
        struct design_plan t = d->queue.v[i];
        int j;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        j = d->queue.next + (int)((z ^ (z >> 31)) % (uint64_t)(i - d->queue.next + 1));
        d->queue.v[i] = d->queue.v[j];
        d->queue.v[j] = t;
    }
}

/* Has the last part of the budget begun, of time or of runs? */
static int is_final_part(const struct hrun_design *d)
{
    const struct hrun_design_state *st = &d->state;

    return (d->set.budget_s > 0 && st->spent_s > (1 - FINAL_PART) * d->set.budget_s) ||
           (d->set.runs > 0 && st->runs > (1 - FINAL_PART) * d->set.runs);
}

/* How many rounds of the reserve a run must leave. The reserve is for choices that were never run; once the design is
 * closing, its first round is also for other runs. */
static int rounds_to_leave(const struct hrun_design *d, const struct design_size *s, const struct design_belief *b)
{
    int is_unseen_choice = s->choice >= 0 && b == s->v + s->choice && !b->runs;

    return is_unseen_choice ? 0 : d->budget.closing ? DESIGN_ROUNDS - 1 : DESIGN_ROUNDS;
}

/* The next run at a size: the choice, or the choice without caution, while it was not run; else the largest gain per
 * second. */
static struct design_belief *find_mixed_run(struct hrun_design *d, const struct design_size *s, int known_only,
                                            double *cost)
{
    struct design_belief *best = NULL;
    double rate = 0;

    for (int i = 0; i < s->n; i++) {
        struct design_belief *b = &s->v[i];
        double one;

        if (b->failed || b->queued || (known_only && !b->runs && i != s->choice) ||
            (b->gain < DESIGN_SETTLED && ((i != s->choice && i != s->greedy) || b->runs)))
            continue;
        one = fmax(design_cost(d, &b->config, b->P, s->N, b->model_s), 1e-9);
        if (!design_affords(d, one, rounds_to_leave(d, s, b))) {
            d->queue.too_long = 1;
            continue;
        }
        if ((i == s->choice || (i == s->greedy && !known_only)) && !b->runs) {
            *cost = one;
            return b;
        }
        if (b->gain / one > rate) {
            rate = b->gain / one;
            best = b;
            *cost = one;
        }
    }
    return best;
}

/* Queue runs at all sizes. All sizes have the same weight, so the number of runs at each is inversely proportional to
 * the root of their cost: in a given time this makes the sum of variances least (Neyman allocation). */
static void queue_mixed_runs(struct hrun_design *d, int known_only)
{
    double most = 0;

    for (int i = 0; i < d->nsizes; i++) {
        struct design_size *s = &d->sizes[i];
        double cost = 0;

        /* With a budget and nothing to run at this size, look again with larger standard deviations. */
        if (!find_mixed_run(d, s, known_only, &cost) && !known_only && s->choice >= 0 && d->set.budget_s > 0 &&
            s->sd_factor < SD_FACTOR) {
            s->sd_factor = SD_FACTOR;
            design_gains(d, s);
            find_mixed_run(d, s, known_only, &cost);
        }
        most = fmax(most, cost);
    }
    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *s = &d->sizes[i];

        for (int k = 0, runs = 1; k < runs; k++) {
            double cost = 0;
            struct design_belief *b = find_mixed_run(d, s, known_only, &cost);

            if (!b)
                break;
            runs = (int)fmin(fmax(round(sqrt(most / cost)), 1), AT_ONE_SIZE);
            b->queued = 1;
            design_queue(d, &b->config, s->N, HRUN_DESIGN_CHOICE, b->runs ? 0 : b->model_s, cost);
            d->queue.v[d->queue.n - 1].rounds = rounds_to_leave(d, s, b);
        }
    }
}

/* Queue a variant of the choice that was never run at this size, if it is predicted to be at most `slow` times slower
 * and the budget affords it. */
static void queue_variant(struct hrun_design *d, struct size_models *m, const struct design_size *s,
                          struct dealt_config *config, double slow)
{
    struct hrun_choice c;
    double cost;

    *config = make_dealt_config(&config->c, config->dealt);
    if (design_is_known(d, config, s->N) || !design_evaluate(m, config, 1, &c))
        return;
    cost = design_cost(d, config, c.P, s->N, c.time_s);
    if (c.time_s <= slow * s->v[s->choice].model_s && design_affords(d, cost, DESIGN_ROUNDS) &&
        d->budget.varied_s + cost <= VARY_SHARE * d->set.budget_s) {
        d->budget.varied_s += cost;
        design_queue(d, config, s->N, HRUN_DESIGN_CHOICE, c.time_s, cost);
    }
}

/* Queue variants of the choice at size s. added: with all PEs of one sub-cluster more. Else: with one sub-cluster less,
 * or another number of processes per PE on one. */
static int queue_variants_at(struct hrun_design *d, const struct design_size *s, int added, struct hrun_error *err)
{
    const struct dealt_config *choice = s->choice >= 0 ? &s->v[s->choice].config : NULL;
    struct size_models m;

    if (!choice)
        return 0;
    if (design_models_at(d, s->N, &m, err))
        return -1;
    for (int i = 0; m.p[0] && i < d->nsubs; i++)
        for (int k = added ? 0 : -1; k < d->nprocs && added == !choice->c.pes[i] && d->subs[i].npes > 0; k++) {
            struct dealt_config config = *choice;

            config.c.pes[i] = k < 0 ? 0 : added ? d->subs[i].npes : choice->c.pes[i];
            config.c.procs[i] = k < 0 ? 0 : d->procs[k];
            queue_variant(d, &m, s, &config, added ? ADD_SLOW : VARY_SLOW);
        }
    size_models_release(&m);
    return 0;
}

/* Is the time of the choice known well enough at every size? */
static int target_reached(const struct hrun_design *d)
{
    int seen = 0;

    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *s = &d->sizes[i];

        if (s->choice < 0)
            continue;
        seen++;
        if (!s->v[s->choice].runs || s->half > d->set.target || s->loss > d->set.target)
            return 0;
    }
    return seen > 0;
}

/* Repeat homogeneous runs that lie far from the fit. While no configuration was run twice, repeat one alone: if its
 * times do not scatter, no other needs a repetition. */
static void queue_repeats(struct hrun_design *d)
{
    int known = 0;              /* whether times scatter: some configuration was run twice */

    for (int i = 0; i < d->fit.ngroups; i++)
        known |= d->fit.groups[i].n > 1;
    for (int i = 0; i < d->fit.ngroups && !d->fit.exact && (known || d->queue.next == d->queue.n); i++) {
        const struct design_group *g = &d->fit.groups[i];
        double sd;

        if (g->sub < 0 || g->kept != 1 || g->n > REPEATS || g->failed || !isfinite(g->model))
            continue;
        sd = hypot(design_noise(d, g->least), d->fit.training);
        if (fabs(design_missed(g)) > OUTLIER * sd)
            design_queue(d, &g->config, g->N, HRUN_DESIGN_REPEAT, 0,
                         design_cost(d, &g->config, g->P, g->N, g->least));
    }
}

/* Repetitions come first, then variants, then mixed runs; at the end of a budget, of configurations that were run.
 * Variants show errors of the models that are the same in all runs so far. Sub-clusters are added at the smallest size,
 * where runs cost least: the predictions for these may be far off. */
static int fill_queue(struct hrun_design *d, struct hrun_error *err)
{
    queue_repeats(d);
    if (d->queue.next == d->queue.n && d->set.budget_s > 0 && !is_final_part(d) &&
        ((d->nsizes > 1 && queue_variants_at(d, &d->sizes[0], 1, err)) ||
         queue_variants_at(d, &d->sizes[d->nsizes - 1], 0, err)))
        return -1;
    if (d->queue.next == d->queue.n && is_final_part(d))
        queue_mixed_runs(d, 1);
    if (d->queue.next == d->queue.n)
        queue_mixed_runs(d, 0);
    return 0;
}

/* One for each number of processes per PE of each sub-cluster. */
static int count_design_models(const struct hrun_design *d)
{
    int n = 0;

    for (int i = 0; i < d->nsubs; i++)
        n += d->subs[i].npes ? d->nprocs : 0;
    return n;
}

static int max_design_runs(const struct hrun_design *d)
{
    return OPTION_RUNS * count_design_models(d) + SIZE_RUNS * d->nsizes;
}

/* The cost of all configurations at all sizes; INFINITY where they are too many to be candidates. */
static double total_cost_s(const struct hrun_design *d)
{
    double sum = 0;

    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *s = &d->sizes[i];

        if (!s->complete)
            return INFINITY;
        for (int k = 0; k < s->n; k++)
            sum += s->v[k].failed ? 0 : design_cost(d, &s->v[k].config, s->v[k].P, s->N, s->v[k].model_s);
    }
    return sum;
}

/* Find the budget of a design that has none given. It pays for some rounds of the choices at all sizes, and for runs of
 * each model at one size; where configurations are few, for no more than a part of all. It never pays for less than
 * screening and, within that part, some rounds more. The time of runs known from before is subtracted. The last rounds
 * come on top, up to a bound. */
static void find_budget(struct hrun_design *d)
{
    struct design_budget *b = &d->budget;
    double more = d->state.loss > LOSS_MORE ? MORE : 1, rounds_s = DESIGN_ROUNDS * b->round_s;
    double rounds = OWN_ROUNDS + OWN_RUNS * count_design_models(d) / d->nsizes;
    double runs_s = d->set.own_budget * more * rounds * b->round_s;
    double most_s = d->set.own_budget * OWN_SHARE * total_cost_s(d), own_s;

    if (d->nsizes == 1 && b->round_s <= SHORT_S)
        runs_s = fmin(runs_s, d->set.own_budget * SHORT_BUDGET_S);
    if (b->screening_s <= 0)
        b->screening_s = d->state.spent_s;
    own_s = fmax(fmin(runs_s, most_s), b->screening_s + fmin(OWN_LEAST * b->round_s, most_s));
    own_s = fmax(own_s - b->before_s, 0);
    d->set.budget_s = fmax(own_s, fmin(d->state.spent_s + rounds_s, OVER * own_s + OVER_ROUNDS * rounds_s));
    if (own_s > b->own_s)
        b->closing = 0;         /* it has grown */
    b->own_s = own_s;
    b->closing |= d->state.spent_s >= own_s || d->state.runs > max_design_runs(d);
}

/* Set the cost of a round of the reserve, and the budget if it is to be found. */
static void keep_reserve(struct hrun_design *d)
{
    double round_s = 0;

    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *s = &d->sizes[i];
        const struct design_belief *b;

        if (s->choice < 0)
            continue;
        b = &s->v[s->choice];
        round_s += design_cost(d, &b->config, b->P, s->N, b->model_s);
    }
    if (!(round_s > 0))
        return;
    d->budget.round_s = round_s;
    if (d->set.own_budget > 0)
        find_budget(d);
    d->budget.round_s = fmin(d->budget.round_s, DESIGN_RESERVE_MOST * d->set.budget_s / DESIGN_ROUNDS);
}

/* The configuration to be run at a size at the end: the choice, until it was run often enough; rival: the next best, if
 * it was never run and may be better. NULL: none. */
static const struct design_belief *find_finalist(const struct hrun_design *d, const struct design_size *s, int rival)
{
    const struct design_belief *choice = s->choice < 0 ? NULL : &s->v[s->choice], *next = NULL;

    if (!choice || choice->failed)
        return NULL;
    if (!rival)
        return choice->runs < (d->fit.exact ? 1 : CONFIRMED) ? choice : NULL;
    for (int i = 0; i < s->n; i++)
        if (i != s->choice && !s->v[i].failed && (!next || s->v[i].mean < next->mean))
            next = &s->v[i];
    return next && !next->runs && next->mean < choice->mean + RIVAL ? next : NULL;
}

/* At the end, run each choice that was never run or, where times scatter, only once: it may have been lucky. Then run
 * the next best ones. Short runs come first, as they also improve the predictions at other sizes. */
static void queue_finalist(struct hrun_design *d)
{
    int enough = d->set.own_budget > 0 && d->state.runs > max_design_runs(d) + DESIGN_ROUNDS * d->nsizes;
    const struct design_belief *best = NULL;
    double least = INFINITY;
    int64_t N = 0;

    for (int rival = 0; rival < 2 && !best && !enough; rival++)
        for (int i = 0; i < d->nsizes; i++) {
            const struct design_belief *b = find_finalist(d, &d->sizes[i], rival);
            double cost = b ? design_cost(d, &b->config, b->P, d->sizes[i].N, b->model_s) : 0;

            if (b && (!best || b->runs < best->runs || (b->runs == best->runs && cost < least)) &&
                design_affords(d, cost, 0)) {
                best = b;
                least = cost;
                N = d->sizes[i].N;
            }
        }
    if (best) {
        design_queue(d, &best->config, N, HRUN_DESIGN_CHOICE, best->model_s, least);
        d->queue.v[d->queue.n - 1].rounds = 0;
    } else if (!enough && d->budget.closing) {
        queue_mixed_runs(d, 1);
    }
}

int design_stage(struct hrun_design *d, struct hrun_error *err)
{
    d->queue.n = d->queue.next = d->queue.too_long = 0;
    design_drop_short(d);
    for (int before = -1; !d->budget.closing && d->queue.next == d->queue.n && d->screened != before; ) {
        before = d->screened;
        if (design_screen(d, err))
            return -1;
    }
    if (d->queue.next == d->queue.n) {
        if (design_fit(d, err) || design_believe(d, err))
            return -1;
        if (d->set.target > 0 && target_reached(d)) {
            d->state.end = HRUN_DESIGN_TARGET;
            return 0;
        }
        keep_reserve(d);
        if (!d->budget.closing && fill_queue(d, err))
            return -1;
        d->budget.closing |= d->queue.next == d->queue.n && d->queue.too_long;
        if (d->queue.next == d->queue.n)
            queue_finalist(d);
    }
    if (d->queue.next == d->queue.n)
        d->state.end = d->budget.closing || d->queue.too_long ? HRUN_DESIGN_BUDGET
                     : d->state.sizes && d->state.settled == d->state.sizes ? HRUN_DESIGN_STABLE
                     : HRUN_DESIGN_EXHAUSTED;
    shuffle_queue(d);
    return 0;
}
