/* test_why.c - why choices of `make accuracy` are not the best ones (tests/accuracy/why.c): each cause on a table where
 * it is the one, and what sums of them say */
#include "accuracy/accuracy.h"
#include "tap.h"

/* Two sub-clusters of one PE. At each of three sizes to train from: a alone, b alone, both. */
enum { SIZES = 3, AT_ONE = 3 };

static struct truth_run runs[] = {
    { 10, { 0, 1 }, { 0, 1 }, 1, 2.0 }, { 10, { 1, 0 }, { 1, 0 }, 1, 1.5 }, { 10, { 1, 1 }, { 1, 1 }, 2, 1.0 },
    { 20, { 0, 1 }, { 0, 1 }, 1, 4.0 }, { 20, { 1, 0 }, { 1, 0 }, 1, 3.0 }, { 20, { 1, 1 }, { 1, 1 }, 2, 2.0 },
    { 30, { 0, 1 }, { 0, 1 }, 1, 6.0 }, { 30, { 1, 0 }, { 1, 0 }, 1, 4.6 }, { 30, { 1, 1 }, { 1, 1 }, 2, 4.5 },
};
static struct truth table = { .nsubs = 2, .npes = { 1, 1 }, .procs_max = { 1, 1 }, .train = { 10, 20, 30 },
                              .ntrain = SIZES, .runs = runs, .nruns = SIZES * AT_ONE };
static struct insight seen[SIZES * AT_ONE];
static struct trial trial = { .truth = &table, .noise = TRUTH_NOISE_DEFAULT, .repetitions = 1, .nsizes = SIZES,
                              .sizes = { 10, 20, 30 }, .insights = seen };

/* What the method says of run i: so much of its true time, with an interval of +- half. */
static void says(int i, double factor, double half, int made)
{
    double t = factor * runs[i].time_s;

    seen[i] = (struct insight){ made, t, t * (1 - half), t * (1 + half) };
}

/* The outcome when run i was chosen. */
static struct outcome chosen(int i)
{
    int size = i / AT_ONE;
    const struct truth_run *best = truth_best(&table, trial.sizes[size]);
    struct answer a = { &runs[i], seen[i].predicted_s, seen[i].low_s, seen[i].high_s };
    struct outcome out = { .served = 1, .epsilon = runs[i].time_s / best->time_s - 1,
                           .delta = a.predicted_s / runs[i].time_s - 1 };

    accuracy_blame(&trial, &a, size, &out);
    return out;
}

static void clear(void)
{
    memset(seen, 0, sizeof seen);
}

static void test_causes(void)
{
    struct outcome o;

    says(5, 1.0, 0.1, 0);
    is_str(accuracy_cause_name(chosen(5).cause), "none", "the best is no miss");

    says(7, 1.0, 0.1, 1);
    says(8, 1.0, 0.1, 0);
    o = chosen(7);
    is_str(accuracy_cause_name(o.cause), "noise", "2.2 %% apart, one run of each tells 5.5 %%: noise");
    is_num(o.apart, 1.959964 * 0.02 * sqrt(2), 1e-9, "which is 1.96 times the scatter of a difference");
    says(7, 1.0, 0.1, 20);
    says(8, 1.0, 0.1, 20);
    o = chosen(7);
    is_str(accuracy_cause_name(o.cause), "few runs", "20 runs of each tell 1.2 %%: noise is no excuse");
    ok(o.runs_chosen == 20 && o.runs_best == 20 && o.runs_near == 0, "how often both were run");

    clear();
    says(4, 1.0, 0.1, 3);
    says(5, 1.6, 0.1, 0);
    o = chosen(4);
    is_str(accuracy_cause_name(o.cause), "model", "the best is quicker than its interval says: the model");
    is_num(o.best_delta, 0.6, 1e-9, "by 60 %%");
    says(5, 1.6, 0.5, 0);
    is_str(accuracy_cause_name(chosen(4).cause), "not run", "its interval holds, and nobody has tried it");
    seen[2].made = 1;
    seen[8].made = 2;
    o = chosen(4);
    is_str(accuracy_cause_name(o.cause), "few runs", "it was run at sizes next to this one");
    ok(o.runs_best == 0 && o.runs_near == 3, "three times");
    ok(chosen(1).runs_near == 0 && chosen(1).runs_best == 1, "the smallest size has one neighbour, with no run");
    says(4, 0.6, 0.1, 0);
    is_str(accuracy_cause_name(chosen(4).cause), "model", "the choice is slower than its interval says: the model");
    clear();
    says(4, 1.0, 0.1, 0);
    o = chosen(4);
    ok(o.cause == CAUSE_MODEL && isnan(o.best_delta), "so it is when the best cannot be predicted");
    trial.noise.sigma = 0;
    says(8, 1.0, 0.1, 0);
    says(7, 1.0, 0.1, 0);
    is_str(accuracy_cause_name(chosen(7).cause), "not run", "without noise nothing is its fault");
    ok(chosen(7).once_epsilon == 0, "and who measures all of it finds the best");
    trial.noise.sigma = 0.02;
}

/* To measure all once loses what the true times of the three say, seed by seed. */
static void test_once(void)
{
    double sum = 0, want = 0;

    clear();
    says(7, 1.0, 0.1, 0);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct truth_noise quiet = { seed, 0.02, 0, 1, 1 };

        trial.noise.seed = seed;
        sum += chosen(7).once_epsilon;
        want += truth_measure(&runs[7], &quiet, 0) < truth_measure(&runs[8], &quiet, 0) ? 4.6 / 4.5 - 1 : 0;
    }
    is_num(sum, want, 1e-9, "one run of each, without glitches, the quickest is taken");
    ok(sum > 0.1, "which is wrong now and then");
}

static void test_sums(void)
{
    struct outcome v[2 * SIZES] = { { 0 } };
    struct trials t = { .nseeds = 2, .nsizes = SIZES, .outcomes = v };
    struct miss misses[4];
    double share[CAUSES];

    clear();
    trial.noise.seed = 1;
    for (int i = 0; i < SIZES * AT_ONE; i++)
        says(i, 1.0, 0.1, 0);
    v[0] = chosen(0);               /* 100 %, the intervals hold, never run */
    v[1] = chosen(4);               /* 50 %, twice */
    v[2] = chosen(8);
    v[3] = chosen(2);
    v[4] = chosen(4);
    v[5] = chosen(7);               /* 2.2 % */
    is_num(accuracy_causes(&t, share), (v[0].once_epsilon + v[5].once_epsilon) / 6, 0.02, "the mean of measuring all");
    is_num(share[CAUSE_NOISE], (4.6 / 4.5 - 1) / (2 + 4.6 / 4.5 - 1), 1e-9, "a part of epsilon is noise");
    is_num(share[CAUSE_NOT_RUN], 1 - share[CAUSE_NOISE], 1e-9, "the rest was never run");
    ok(share[CAUSE_MODEL] == 0 && share[CAUSE_NONE] == 0, "and no part anything else");
    is_int(accuracy_misses(&t, 0, 4, misses), 3, "three misses, the same ones of several seeds being one");
    ok(misses[0].sum >= misses[1].sum && misses[1].sum > misses[2].sum && misses[2].seeds == 1, "in order");
    is_int(accuracy_misses(&t, 1, 1, misses), 1, "as many as are asked for");
    ok(misses[0].worst.epsilon == 1.0 && misses[0].size == 0, "the worst first");
    v[0].served = 0;
    is_int(accuracy_misses(&t, 1, 4, misses), 2, "what got no choice is not among them");
    ok(misses[0].seeds == 2 && misses[0].size == 1 && misses[0].sum == 1.0, "both seeds of it are counted");
}

int main(void)
{
    test_causes();
    test_once();
    test_sums();
    return tap_done();
}
