/* stage.c - the next stage, the budget and the mixed runs; see design.h */
#include "base/alloc.h"
#include "model/predict.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Last part of a budget, in which configurations that were run before, and choices, come first. */
static const double FINAL_PART = 0.15;
/* Factor of the standard deviations in the gains at a size whose choice stands before the budget is spent. */
static const double SD_FACTOR = 2;
/* Budget by own_budget: rounds of the choices, runs for each model, least number of rounds after screening. */
static const double OWN_ROUNDS = 12, OWN_RUNS = 8, OWN_LEAST = 8;
/* Budget for one size, as of a command, if the choice with its start takes up to SHORT_S: an answer in two minutes. */
static const double SHORT_S = 2.5, SHORT_BUDGET_S = 105;
/* Without screening and the last rounds, own_budget is at most this part of the time of all configurations, if these
 * are few enough to be candidates. */
static const double OWN_SHARE = 0.1;
/* Factor of the budget by own_budget while the mean expected relative loss over sizes is above LOSS_MORE. */
static const double LOSS_MORE = 0.02, MORE = 2;
/* The last rounds may extend a budget by own_budget to at most OVER times it plus OVER_ROUNDS rounds of the reserve. */
static const double OVER = 1.5, OVER_ROUNDS = 4;
/* Limit of useful runs, even short ones: for each model, and for each size. */
enum { OPTION_RUNS = 20, SIZE_RUNS = 10 };
/* Variants of a choice are run if their predicted time is at most VARY_SLOW times its time (ADD_SLOW with an added
 * sub-cluster), in at most the part VARY_SHARE of the budget. */
static const double VARY_SLOW = 1.6, ADD_SLOW = 6, VARY_SHARE = 0.15;
/* Limit of runs at one size in a stage; number of runs that a choice needs at the end. */
enum { AT_ONE_SIZE = 4, CONFIRMED = 2 };
/* The next best configuration is run at the end if its mean ln time exceeds that of the choice by at most this, a usual
 * error of models for configurations without runs. */
static const double RIVAL = 0.15;

/* A single run this many standard deviations from the fit is repeated: one in 15,000 undisturbed runs. */
static const double OUTLIER = 4;
/* Limit of repetitions while no two runs agree: if one run in 20 is disturbed, one in 8,000 starts three in a row. */
enum { REPEATS = 3 };

/* Shuffle the queue, so that a drift with time does not look like an effect of N or P (Hunold and Carpen-Amarie, arXiv
 * 1505.07734). The random numbers are from splitmix64 (Steele, Lea, Flood 2014). */
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

/* 1 in the last part of the budget, of time or of runs; else 0. */
static int is_final_part(const struct hrun_design *d)
{
    const struct hrun_design_state *st = &d->state;

    return (d->set.budget_s > 0 && st->spent_s > (1 - FINAL_PART) * d->set.budget_s) ||
           (d->set.runs > 0 && st->runs > (1 - FINAL_PART) * d->set.runs);
}

/* Number of rounds of the reserve that a run must not use. The reserve is for choices that were never run. When the
 * design is closing, the first round of the reserve is for other runs, too. */
static int rounds_to_leave(const struct hrun_design *d, const struct design_size *s, const struct design_belief *b)
{
    int is_unseen_choice = s->choice >= 0 && b == s->v + s->choice && !b->runs;

    return is_unseen_choice ? 0 : d->budget.closing ? DESIGN_ROUNDS - 1 : DESIGN_ROUNDS;
}

/* The next run at a size: the choice or the greedy choice if it was never run, else the one with the largest gain per
 * second. known_only: 1 for configurations with runs and the choice only. *cost: its expected wall time. */
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

/* Queue runs at all sizes. Sizes have equal weight, so the number of runs at each is inversely proportional to the root
 * of their cost, which minimises the sum of variances in a given time (Neyman allocation). */
static void queue_mixed_runs(struct hrun_design *d, int known_only)
{
    double most = 0;

    for (int i = 0; i < d->nsizes; i++) {
        struct design_size *s = &d->sizes[i];
        double cost = 0;

        /* With a budget and no run at this size, try again with larger standard deviations. */
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

/* Queue a variant of the choice that was never run at this size, if its predicted time is at most `slow` times that of
 * the choice and the budget allows it. */
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

/* Queue variants of the choice at size s. added: 1: with all PEs of a further sub-cluster; 0: without a sub-cluster of
 * the choice, or with another number of processes per PE on one. */
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

/* 1 if set.target is reached at every size with a choice, else 0. */
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

/* Queue repetitions of homogeneous runs that lie far from the fit. If no configuration was run twice yet, queue one
 * only: if the times of this one do not scatter, no other needs a repetition. */
static void queue_repeats(struct hrun_design *d)
{
    int known = 0;              /* 1: some configuration was run twice, so the scatter of times is known */

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

/* Queue repetitions, else variants, else mixed runs; in the last part of a budget mixed runs of configurations with
 * runs come first. Variants reveal errors of the models that all runs so far share. Predictions with a further
 * sub-cluster may be far off, so one is added only at the smallest size, where runs cost least. */
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

/* Number of models: one for each number of processes per PE of each sub-cluster. */
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

/* The cost of all configurations at all sizes; INFINITY if they are too many to be candidates. */
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

/* Set the budget by own_budget. It covers some rounds of the choices at all sizes and runs of each model at one size,
 * at most OWN_SHARE of the cost of all configurations. It covers at least screening and OWN_LEAST rounds, the rounds
 * within OWN_SHARE. The time of runs from before is subtracted. The last rounds are added, up to a limit. */
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
        b->closing = 0;         /* the budget has grown */
    b->own_s = own_s;
    b->closing |= d->state.spent_s >= own_s || d->state.runs > max_design_runs(d);
}

/* Set the cost of a round of the reserve and, with own_budget, the budget. */
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

/* The configuration to run at a size at the end. rival: 0: the choice, unless it has enough runs; 1: the next best, if
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

/* At the end, queue one run: of a choice that was never run; else, if times scatter, of a choice that was run once and
 * may be quick by chance; else of a next best. Short runs come first: they improve predictions at other sizes, too. */
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
