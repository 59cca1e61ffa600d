/* stage.c - which stage comes next, and the mixed runs; see design.h */
#include "base/alloc.h"
#include "model/predict.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last part of a budget goes first to what would be chosen: nothing is tried that was not run, but for a choice
 * that was not, as long as there is anything of the kind to do. */
static const double FINAL_PART = 0.15;
/* Where a choice stands before the budget is spent, its size goes on with what would be better if beliefs were so much
 * less certain than they are. */
static const double DOUBT = 2;
/* Of a budget that is found and not given. */
static const double OWN_ROUNDS = 12, OWN_RUNS = 8, OWN_LEAST = 8;
/* At one size, as of a command, whose choice takes up to SHORT_S with its start: a first answer within two minutes. */
static const double SHORT_S = 2.5, SHORT_BUDGET_S = 105;
/* Beside screening and last rounds it is no more than this part of what all configurations would take, where they are
 * so few that all are candidates. */
static const double OWN_SHARE = 0.1;
/* Where more than this is expected to be lost by what is chosen, in the mean of sizes, it is so many times as much. */
static const double LOSS_MORE = 0.02, MORE = 2;
/* What is run at its end, because the last fit chooses it, is bounded by so many times the budget and some rounds. */
static const double OVER = 1.5, OVER_ROUNDS = 4;
/* More runs than these for each model and each size tell nothing new, however short they are. */
enum { OPTION_RUNS = 20, SIZE_RUNS = 10 };
/* Variants of a choice: those that are predicted to take no more than so many times as long, in at most this part of
 * the budget. */
static const double VARY_SLOW = 1.6, ADD_SLOW = 6, VARY_SHARE = 0.15;
/* Most runs at one size in a stage; and how often what is chosen is to be run. */
enum { AT_ONE_SIZE = 4, CONFIRMED = 2 };
/* The next best is run in the end where ln time is expected to be no more above that of the choice: what models say of
 * what was never run at a size is often that far off. */
static const double RIVAL = 0.15;

/* Of single runs this far from the fit, in standard deviations of one run, one in 15,000 is undisturbed. */
static const double DOUBTFUL = 4;
/* Made again so often at most, while no two runs agree: of 20 runs one is disturbed, of 8,000 three in a row. */
enum { REPEATS = 3 };

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Random order (Hunold and Carpen-Amarie, arXiv 1505.07734): what drifts with time must not look like N or P. */
static void shuffle(struct hrun_design *d)
{
    for (int i = d->queue.n - 1; i > d->queue.next; i--) {
        int j = d->queue.next + (int)(next_random(&d->rng) % (uint64_t)(i - d->queue.next + 1));
        struct design_plan t = d->queue.v[i];

        d->queue.v[i] = d->queue.v[j];
        d->queue.v[j] = t;
    }
}

/* Has that part begun, of time or of runs? */
static int is_final_part(const struct hrun_design *d)
{
    const struct hrun_design_state *st = &d->state;

    return (d->set.budget_s > 0 && st->spent_s > (1 - FINAL_PART) * d->set.budget_s) ||
           (d->set.runs > 0 && st->runs > (1 - FINAL_PART) * d->set.runs);
}

/* How many rounds of the reserve a run must leave. The reserve is for choices that were never run; at the end its first
 * round is also for choices that were. */
static int rounds_beside(const struct hrun_design *d, const struct design_size *s, const struct design_belief *b)
{
    int is_unseen_choice = s->choice >= 0 && b == s->v + s->choice && !b->runs;

    return is_unseen_choice ? 0 : d->budget.closing ? DESIGN_ROUNDS - 1 : DESIGN_ROUNDS;
}

/* The run at this size that pays most: the choice while it was not run, or what would be the choice without caution,
 * else the largest gain per second. */
static struct design_belief *mixed_run(struct hrun_design *d, const struct design_size *s, int known_only,
                                       double *cost)
{
    struct design_belief *best = NULL;
    double rate = 0;

    for (int i = 0; i < s->n; i++) {
        struct design_belief *b = &s->v[i];
        double one;

        if (b->failed || b->queued || (known_only && !b->runs && i != s->choice) ||
            (b->gain < DESIGN_SETTLED && ((i != s->choice && i != s->hope) || b->runs)))
            continue;
        one = fmax(design_cost(d, &b->config, b->P, s->N, b->model_s), 1e-9);
        if (!design_affords(d, one, rounds_beside(d, s, b))) {
            d->queue.too_long = 1;
            continue;
        }
        if ((i == s->choice || (i == s->hope && !known_only)) && !b->runs) {
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

/* The same, with doubt while there is a budget and nothing else to do at this size. */
static struct design_belief *doubted_run(struct hrun_design *d, struct design_size *s, int known_only, double *cost)
{
    struct design_belief *b = mixed_run(d, s, known_only, cost);

    if (b || known_only || s->choice < 0 || d->set.budget_s <= 0 || s->doubt >= DOUBT)
        return b;
    s->doubt = DOUBT;
    design_gains(d, s);
    return mixed_run(d, s, known_only, cost);
}

/* All sizes count alike, and what is found at one is a guess for its neighbours: so runs are made in inverse
 * proportion to the root of their cost, which for given time makes the sum of variances least (Neyman allocation). */
static void queue_mixed_runs(struct hrun_design *d, int known_only)
{
    double most = 0;

    for (int i = 0; i < d->nsizes; i++) {
        double cost = 0;

        if (doubted_run(d, &d->sizes[i], known_only, &cost))
            most = fmax(most, cost);
    }
    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *s = &d->sizes[i];

        for (int k = 0, runs = 1; k < runs; k++) {
            double cost = 0;
            struct design_belief *b = mixed_run(d, s, known_only, &cost);

            if (!b)
                break;
            runs = (int)fmin(fmax(round(sqrt(most / cost)), 1), AT_ONE_SIZE);
            b->queued = 1;
            design_queue(d, &b->config, s->N, HRUN_DESIGN_CHOICE, b->runs ? 0 : b->model_s, cost);
            d->queue.v[d->queue.n - 1].rounds = rounds_beside(d, s, b);
        }
    }
}

/* Queue a configuration that was never run at this size, and may be the better one. */
static int queue_variant(struct hrun_design *d, struct size_models *m, const struct design_size *s,
                         struct dealt_config *config, double slow, struct hrun_error *err)
{
    struct hrun_choice c;
    double cost;
    int rc, used = 0;

    for (int i = 0; i < d->nsubs; i++)
        used += config->c.pes[i] > 0;
    config->dealt &= used > 1;
    if (design_is_known(d, config, s->N))
        return 0;
    rc = design_evaluate(m, config, 1, &c, err);
    if (rc <= 0)
        return rc;
    cost = design_cost(d, config, c.P, s->N, c.time_s);
    if (c.time_s <= slow * s->v[s->choice].model_s && design_affords(d, cost, DESIGN_ROUNDS) &&
        d->budget.varied_s + cost <= VARY_SHARE * d->set.budget_s) {
        d->budget.varied_s += cost;
        design_queue(d, config, s->N, HRUN_DESIGN_CHOICE, c.time_s, cost);
    }
    return 0;
}

/* Variants of the choice at size s: with all PEs of each sub-cluster that it leaves out (added), or without each of its
 * sub-clusters; and with other numbers of processes on each. */
static int vary_size(struct hrun_design *d, const struct design_size *s, int added, struct hrun_error *err)
{
    const struct dealt_config *choice = s->choice >= 0 ? &s->v[s->choice].config : NULL;
    struct size_models m;
    int rc = 0;

    if (!choice)
        return 0;
    if (design_models_at(d, s->N, &m, err))
        return -1;
    for (int i = 0; m.p && i < d->nsubs && !rc; i++)
        for (int k = added ? 0 : -1; k < d->nprocs && added == !choice->c.pes[i] && d->subs[i].npes > 0 && !rc; k++) {
            struct dealt_config config = *choice;

            config.c.pes[i] = k < 0 ? 0 : added ? d->subs[i].npes : choice->c.pes[i];
            config.c.procs[i] = k < 0 ? 0 : d->procs[k];
            rc = queue_variant(d, &m, s, &config, added ? ADD_SLOW : VARY_SLOW, err);
        }
    hrun_predictor_destroy(m.p);
    return rc;
}

/* What models get wrong of all that was run alike shows where one thing is changed. What is added may be far slower
 * than it is predicted, or quicker: that is seen at the smallest size, where it costs least. */
static int vary_choice(struct hrun_design *d, struct hrun_error *err)
{
    if (d->nsizes > 1 && vary_size(d, &d->sizes[0], 1, err))
        return -1;
    return vary_size(d, &d->sizes[d->nsizes - 1], 0, err);
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

/* Homogeneous runs that lie far from the fit once more. */
static void queue_repeats(struct hrun_design *d)
{
    int known = 0;              /* whether times scatter: some configuration was run twice */

    for (int i = 0; i < d->fit.ngroups; i++)
        known |= d->fit.groups[i].n > 1;
    /* As long as it is not known one run is made again alone, which may save the others. */
    for (int i = 0; i < d->fit.ngroups && !d->fit.exact && (known || d->queue.next == d->queue.n); i++) {
        const struct design_group *g = &d->fit.groups[i];
        double sd;

        if (g->sub < 0 || g->kept != 1 || g->n > REPEATS || g->failed || !isfinite(g->model))
            continue;
        sd = hypot(design_noise(d, g->least), d->fit.training);
        if (fabs(design_missed(g)) > DOUBTFUL * sd)
            design_queue(d, &g->config, g->N, HRUN_DESIGN_REPEAT, 0,
                         design_cost(d, &g->config, g->P, g->N, g->least));
    }
}

/* What is doubtful, then at the end of a budget what was run, then anything. */
static int fill_queue(struct hrun_design *d, struct hrun_error *err)
{
    queue_repeats(d);
    if (d->queue.next == d->queue.n && d->set.budget_s > 0 && !is_final_part(d) && vary_choice(d, err))
        return -1;
    if (d->queue.next == d->queue.n && is_final_part(d))
        queue_mixed_runs(d, 1);
    if (d->queue.next == d->queue.n)
        queue_mixed_runs(d, 0);
    return 0;
}

/* How many models there are: one for each number of processes per PE of each sub-cluster. */
static int options_of(const struct hrun_design *d)
{
    int n = 0;

    for (int i = 0; i < d->nsubs; i++)
        n += d->subs[i].npes ? d->nprocs : 0;
    return n;
}

static int most_runs(const struct hrun_design *d)
{
    return OPTION_RUNS * options_of(d) + SIZE_RUNS * d->nsizes;
}

/* What all configurations of all sizes would take; INFINITY where they are too many to look at. */
static double all_s(const struct hrun_design *d)
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
    double runs_s = d->set.own_budget * more * (OWN_ROUNDS + OWN_RUNS * options_of(d) / d->nsizes) * b->round_s;
    double most_s = d->set.own_budget * OWN_SHARE * all_s(d), own_s;

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
    b->closing |= d->state.spent_s >= own_s || d->state.runs > most_runs(d);
}

/* What a round of the reserve costs, as far as it may, and with it a budget of its own. */
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

/* What has to be run at a size in the end: the choice; rival: the next best, where it was never run and may be the
 * better one. NULL: nothing has to. */
static const struct design_belief *finalist(const struct hrun_design *d, const struct design_size *s, int rival)
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

/* The end: no size is to be left with a choice that was never run, nor, where times scatter, run only once: what seems
 * to be the best may have been lucky. These come before all else, and then the next best. Short runs come first: where
 * one tells, what was found at its size also changes what is predicted for longer ones. */
static void queue_finalist(struct hrun_design *d)
{
    int enough = d->set.own_budget > 0 && d->state.runs > most_runs(d) + DESIGN_ROUNDS * d->nsizes;
    const struct design_belief *best = NULL;
    double least = INFINITY;
    int64_t N = 0;

    for (int rival = 0; rival < 2 && !best && !enough; rival++)
        for (int i = 0; i < d->nsizes; i++) {
            const struct design_belief *b = finalist(d, &d->sizes[i], rival);
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

int design_conclude(struct hrun_design *d, struct hrun_error *err)
{
    struct hrun_error own = { 0 };

    if (d->fit.models && d->fit.nruns == d->runs.n)
        return 0;
    if (!design_fit(d, &own) && !design_believe(d, &own))
        return 0;
    if (err)
        *err = own;
    return -1;
}

int design_stage(struct hrun_design *d, struct hrun_error *err)
{
    struct hrun_error own = { 0 };

    d->queue.n = d->queue.next = d->queue.too_long = 0;
    design_drop_short(d);
    for (int before = -1; !d->budget.closing && d->queue.next == d->queue.n && d->screened != before; ) {
        before = d->screened;
        if (design_screen(d, &own))
            goto fail;
    }
    if (d->queue.next == d->queue.n) {
        if (design_fit(d, &own) || design_believe(d, &own))
            goto fail;
        if (d->set.target > 0 && target_reached(d)) {
            d->state.end = HRUN_DESIGN_TARGET;
            return 0;
        }
        keep_reserve(d);
        if (!d->budget.closing && fill_queue(d, &own))
            goto fail;
        d->budget.closing |= d->queue.next == d->queue.n && d->queue.too_long;
        if (d->queue.next == d->queue.n)
            queue_finalist(d);
    }
    if (d->queue.next == d->queue.n)
        d->state.end = d->budget.closing || d->queue.too_long ? HRUN_DESIGN_BUDGET
                     : d->state.sizes && d->state.settled == d->state.sizes ? HRUN_DESIGN_STABLE
                     : HRUN_DESIGN_EXHAUSTED;
    shuffle(d);
    return 0;
fail:
    if (err)
        *err = own;
    return -1;
}
