/* why.c - why choices are not the best ones: computed from what the method knew and the table has, see accuracy.h */
#include "accuracy.h"
#include "configs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 97.5 % quantile of the normal distribution. */
static const double Z95 = 1.959964;

const char *accuracy_cause_name(enum cause c)
{
    static const char *const names[] = { "none", "noise", "model", "not run", "few runs" };

    return names[c];
}

/* ---------------------------------------------------------------- one outcome */

/* The mean of `times` runs with noise but without glitches. */
static double measured(const struct truth_run *run, const struct truth_noise *noise, int times)
{
    struct truth_noise quiet = *noise;
    double sum = 0.0;

    quiet.glitches = 0.0;
    for (int i = 0; i < times; i++)
        sum += truth_measure(run, &quiet, i);
    return sum / times;
}

static int once_at_least(int made)
{
    return made > 1 ? made : 1;
}

/* Epsilon of who measures every configuration at N, and takes the quickest. */
static double once(const struct trial *trial, int64_t N, double best_s)
{
    size_t n;
    const struct truth_run *runs = truth_at(trial->truth, N, &n), *quickest = NULL;
    double least = INFINITY;

    for (size_t i = 0; i < n; i++) {
        double t = measured(&runs[i], &trial->noise,
                            once_at_least(trial->insights[runs + i - trial->truth->runs].made));

        if (t < least) {
            least = t;
            quickest = &runs[i];
        }
    }
    return quickest ? quickest->time_s / best_s - 1.0 : 0.0;
}

/* How often this configuration was run at the trained sizes below and above N. */
static int near_runs(const struct trial *trial, const struct truth_run *run)
{
    const struct truth *t = trial->truth;
    int64_t below = 0, above = 0, next[2];
    int n = 0;

    for (int i = 0; i < t->ntrain; i++) {
        if (t->train[i] < run->N)
            below = t->train[i];
        if (t->train[i] > run->N && !above)
            above = t->train[i];
    }
    next[0] = below;
    next[1] = above;
    for (int i = 0; i < 2; i++) {
        const struct hrun_config config = config_of(t->nsubs, run->pes, run->procs);
        const struct truth_run *there = next[i] ? truth_find(t, next[i], &config) : NULL;

        n += there ? trial->insights[there - t->runs].made : 0;
    }
    return n;
}

static enum cause find_cause(const struct outcome *o, const struct insight *best, double best_s, double chosen_s,
                             const struct answer *a)
{
    if (chosen_s <= best_s)
        return CAUSE_NONE;
    if (log(chosen_s / best_s) <= o->apart)
        return CAUSE_NOISE;
    if (!(best->predicted_s > 0) || best_s < best->low_s || chosen_s > a->high_s)
        return CAUSE_MODEL;
    return o->runs_best || o->runs_near ? CAUSE_FEW_RUNS : CAUSE_NOT_RUN;
}

void accuracy_blame(const struct trial *trial, const struct answer *a, int size, struct outcome *out)
{
    const struct truth *t = trial->truth;
    const struct truth_run *best = truth_best(t, trial->sizes[size]);
    const struct insight *of_best = &trial->insights[best - t->runs];

    out->chosen = (size_t)(a->choice - t->runs);
    out->best = (size_t)(best - t->runs);
    out->runs_chosen = trial->insights[out->chosen].made;
    out->runs_best = of_best->made;
    out->runs_near = near_runs(trial, best);
    out->best_delta = of_best->predicted_s > 0 ? of_best->predicted_s / best->time_s - 1.0 : NAN;
    out->apart = Z95 * trial->noise.sigma *
                 sqrt(1.0 / once_at_least(out->runs_chosen) + 1.0 / once_at_least(out->runs_best));
    out->once_epsilon = once(trial, trial->sizes[size], best->time_s);
    out->cause = find_cause(out, of_best, best->time_s, a->choice->time_s, a);
}

/* ---------------------------------------------------------------- all of them */

static int by_sum(const void *a, const void *b)
{
    const struct miss *x = a, *y = b;

    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    return (x->worst.chosen > y->worst.chosen) - (x->worst.chosen < y->worst.chosen);
}

static int by_largest(const void *a, const void *b)
{
    const struct miss *x = a, *y = b;

    if (x->worst.epsilon != y->worst.epsilon)
        return x->worst.epsilon < y->worst.epsilon ? 1 : -1;
    return by_sum(a, b);
}

static void count_in(struct miss *v, int *n, int size, const struct outcome *o)
{
    int k = 0;

    while (k < *n && (v[k].size != size || v[k].worst.chosen != o->chosen || v[k].worst.best != o->best ||
                      v[k].worst.cause != o->cause))
        k++;
    if (k == *n)
        v[(*n)++] = (struct miss){ .size = size, .worst = *o };
    v[k].seeds++;
    v[k].sum += o->epsilon;
    if (o->epsilon > v[k].worst.epsilon)
        v[k].worst = *o;
}

int accuracy_misses(const struct trials *t, int by_worst, int most, struct miss *out)
{
    struct miss *v = calloc((size_t)t->nseeds * (size_t)t->nsizes + 1, sizeof *v);
    int n = 0;

    if (!v)
        return -1;
    for (int i = 0; i < t->nseeds * t->nsizes; i++)
        if (t->outcomes[i].served && t->outcomes[i].cause != CAUSE_NONE)
            count_in(v, &n, i % t->nsizes, &t->outcomes[i]);
    qsort(v, (size_t)n, sizeof *v, by_worst ? by_largest : by_sum);
    n = n < most ? n : most;
    memcpy(out, v, (size_t)n * sizeof *v);
    free(v);
    return n;
}

double accuracy_causes(const struct trials *t, double *share)
{
    double sum = 0.0, once_sum = 0.0;
    int served = 0;

    for (int c = 0; c < CAUSES; c++)
        share[c] = 0.0;
    for (int i = 0; i < t->nseeds * t->nsizes; i++) {
        const struct outcome *o = &t->outcomes[i];

        if (!o->served)
            continue;
        served++;
        sum += o->epsilon;
        share[o->cause] += o->epsilon;
        once_sum += o->once_epsilon;
    }
    for (int c = 0; c < CAUSES && sum > 0.0; c++)
        share[c] /= sum;
    return served ? once_sum / served : 0.0;
}
