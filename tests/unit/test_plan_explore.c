/* Repeated runs find the best configuration: on made-up truths, with noise, glitches and failures. */
#include "fixture.h"
#include "plan/explore.h"

#include <stdlib.h>

enum { ARMS = 40, NIGHTS = 365 };

static const double NOISE = 0.02, MISSED = 0.05, LOSS = 0.05;

/* What is known of an arm: predictions miss by MISSED, runs scatter by NOISE; ln of the times over predicted. */
struct arm {
    double predicted, truth, sum;
    int runs;
};

/* The posterior of a normal mean with known variances. */
static double posterior(const struct arm *a, double *sd)
{
    double prior = 1 / (MISSED * MISSED), seen = a->runs / (NOISE * NOISE);

    *sd = sqrt(1 / (prior + seen));
    return a->runs ? a->sum / a->runs * seen / (prior + seen) : 0;
}

struct year {
    double loss;           /* mean time of all nights over that of the best, less 1 */
    double without;        /* the same without exploring */
    double last;           /* of the configuration taken for the best at the end, over the best one within the loss */
    int worst_predicted;   /* nights whose predicted loss exceeded what was allowed */
    int explored, explored_late; /* nights, and those of the last 100 */
};

static int by_value(const void *a, const void *b)
{
    const struct hrun_explore_arm *x = *(struct hrun_explore_arm *const *)a, *y = *(struct hrun_explore_arm *const *)b;

    return (x->value > y->value) - (x->value < y->value);
}

static struct year live(uint64_t seed, int narms, double spread)
{
    struct arm arms[ARMS] = { 0 };
    struct year y = { 0 };
    double best = INFINITY, reach = INFINITY, chosen = 0, known = 0;
    int last = 0;

    for (int i = 0; i < narms; i++) {
        arms[i].predicted = i ? 100 * exp(spread * rnd(&seed)) : 100;
        arms[i].truth = arms[i].predicted * exp(MISSED * rnd_normal(&seed));
        if (arms[i].predicted <= (1 + LOSS) * 100)
            best = fmin(best, arms[i].truth);
    }
    for (int night = 0; night < NIGHTS; night++) {
        struct hrun_explore_arm v[ARMS], sorted[ARMS], *order[ARMS];
        int pick, arm;

        for (int i = 0; i < narms; i++) {
            v[i].value = arms[i].predicted * exp(posterior(&arms[i], &v[i].sd));
            v[i].runs = arms[i].runs;
            order[i] = &v[i];
        }
        qsort(order, (size_t)narms, sizeof *order, by_value);
        for (int i = 0; i < narms; i++)
            sorted[i] = *order[i];
        pick = hrun_explore_pick(sorted, narms, LOSS, night, night && order[0] == &v[last] ? 0 : -1);
        arm = last = (int)(order[pick] - v);
        y.worst_predicted += sorted[pick].value > (1 + LOSS) * sorted[0].value * (1 + 1e-12);
        y.explored += pick > 0;
        y.explored_late += pick > 0 && night >= NIGHTS - 100;
        chosen = arms[order[0] - v].truth;
        known = order[0]->value;
        y.loss += (arms[arm].truth / best - 1) / NIGHTS;
        arms[arm].sum += log(arms[arm].truth / arms[arm].predicted) + NOISE * rnd_normal(&seed);
        arms[arm].runs++;
    }
    for (int i = 0; i < narms; i++)
        if (arms[i].runs || arms[i].predicted <= (1 + LOSS) * known)
            reach = fmin(reach, arms[i].truth);
    y.last = chosen / reach - 1;
    y.without = arms[0].truth / best - 1;
    return y;
}

static void test_years(void)
{
    static const struct { int arms; double spread; } cases[] = { { 4, 0.05 }, { 12, 0.1 }, { 40, 0.2 } };
    enum { SEEDS = 200 };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double loss = 0, without = 0, last = 0, late = 0;
        int found = 0, over = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct year y = live(seed, cases[c].arms, cases[c].spread);

            loss += 100 * y.loss / SEEDS;
            without += 100 * y.without / SEEDS;
            last += 100 * fmax(y.last, 0) / SEEDS;
            late += (double)y.explored_late / SEEDS;
            found += y.last <= 0.01;
            over += y.worst_predicted;
        }
        ok(found >= SEEDS - 2, "%d configurations: after %d nights the choice is within 1 %% of the best of those that "
           "it may try in %d of %d years; mean loss then %.2f %%", cases[c].arms, NIGHTS, found, SEEDS, last);
        ok(loss < without / 2, "over all nights %.2f %% are lost, %.2f %% without exploring", loss, without);
        is_int(over, 0, "no night is predicted to lose more than is allowed");
        ok(late < 25, "in the last 100 nights %.1f explore", late);
    }
}

static void test_rules(void)
{
    struct hrun_explore_arm v[4] = { { 100, 0.01, 5 }, { 102, 0.05, 0 }, { 102, 0.05, 2 },
                                     { 106, 0.5, 0 } };

    is_int(hrun_explore_pick(v, 4, 0.05, 7, 1), 0, "after another one the best has its turn");
    is_int(hrun_explore_pick(v, 4, 0.05, 7, 0), 1, "between those that may be as quick, the one tried least");
    is_int(hrun_explore_open(v, 4, 0.05, 7), 2, "two may be quicker");
    v[1].sd = v[2].sd = 0.001;
    is_int(hrun_explore_pick(v, 4, 0.05, 7, 0), 0, "what cannot be quicker is not tried");
    is_int(hrun_explore_open(v, 4, 0.05, 7), 0, "then none is left");
    is_int(hrun_explore_pick(v, 4, 0.07, 7, 0), 3, "a larger loss allows more");
    is_int(hrun_explore_pick(v, 4, 0.07, 7, 0), 3, "the same is asked, the same is answered");
    is_int(hrun_explore_pick(v, 1, 0.07, 7, 0), 0, "the only one is the best");
}

int main(void)
{
    test_rules();
    test_years();
    return tap_done();
}
