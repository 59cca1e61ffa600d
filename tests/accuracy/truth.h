/* truth.h - ground truth: the times of all configurations of an application on a cluster, and measurements made of it
 *
 * Purpose: experiments with models and designs, for which a table (tests/accuracy/tables) stands in for the cluster.
 * Invariants: a table has every configuration that the rule allows, at every size; sub-clusters and configurations are
 * as in plan.h; times are finite and positive. Measurements are the true times with noise, which depends on seed,
 * size, configuration and repetition alone, not on the order in which they are made.
 */
#ifndef HRUN_TESTS_TRUTH_H
#define HRUN_TESTS_TRUTH_H

#include "base/config.h"
#include "base/error.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

enum { TRUTH_SUBS_MAX = 8, TRUTH_SIZES_MAX = 64, TRUTH_NAME = 64 };

struct truth_run {
    int64_t N;
    int pes[TRUTH_SUBS_MAX], procs[TRUTH_SUBS_MAX];  /* Pi, Mi */
    int P;                   /* sum Pi Mi */
    double time_s;
};

struct truth {
    char app[TRUTH_NAME], platform[TRUTH_NAME];
    char definition[256];    /* the app definition, relative to the top of the tree */
    int nsubs;
    char names[TRUTH_SUBS_MAX][TRUTH_NAME];
    int npes[TRUTH_SUBS_MAX];
    int procs_max[TRUTH_SUBS_MAX];      /* most processes on a PE there */
    int64_t train[TRUTH_SIZES_MAX], other[TRUTH_SIZES_MAX];  /* sizes to fit from; further ones to try the fit at */
    int ntrain, nother;
    struct truth_run *runs;  /* by N, then lexicographically by (P1,M1,P2,M2,...); owned */
    size_t nruns;
};

/* sets.csv of the folder `dir`: all tables, without their runs. *sets is the caller's, to be freed (truth_release is
 * not needed). Errors: HRUN_ENOENT, HRUN_EIO, HRUN_EPARSE with file and line. */
int truth_list(const char *dir, struct truth **sets, size_t *n, struct hrun_error *err);

/* Read the runs of one of them from dir/APP-PLATFORM.csv. Errors: as above; HRUN_EPARSE also for a configuration that
 * the set does not have, or that stands there twice. */
int truth_load(const char *dir, struct truth *t, struct hrun_error *err);
void truth_release(struct truth *t);

/* The run of this configuration at N; NULL when the rule forbids it. */
const struct truth_run *truth_find(const struct truth *t, int64_t N, const struct hrun_config *config);
/* The fastest at N, of equals the first; NULL when there is none. */
const struct truth_run *truth_best(const struct truth *t, int64_t N);
/* The runs at N: the first of them and how many. */
const struct truth_run *truth_at(const struct truth *t, int64_t N, size_t *n);

/* The sub-cluster of a homogeneous run; -1 for a mixed one. */
int truth_alone(const struct truth *t, const struct truth_run *run);

struct truth_noise {
    uint64_t seed;
    double sigma;            /* of the relative, normal noise of every run */
    double glitches;         /* share of runs that take glitch_min to glitch_max times as long, uniformly */
    double glitch_min, glitch_max;
};
#define TRUTH_NOISE_DEFAULT { 1, 0.02, 0.05, 1.2, 3.0 }
#define TRUTH_NOISE_NONE { 0, 0.0, 0.0, 1.0, 1.0 }

/* Repetition `repetition` (from 0) of a run, measured: seconds, above 0. */
double truth_measure(const struct truth_run *run, const struct truth_noise *noise, int repetition);

/* The same as the record that sub-cluster `sub`, which takes part, keeps of it. consts: of the definition, may be
 * NULL. Runs with different repetitions have different dates. Errors: HRUN_EINVAL (sub takes no part; more than a
 * day's seconds of repetitions). */
int truth_sample(const struct truth *t, const struct truth_run *run, int sub, const struct truth_noise *noise,
                 int repetition, const char *consts, struct hrun_sample *out, struct hrun_error *err);

/* The homogeneous runs of sub-cluster `sub` at the sizes to train from, each `repetitions` times: what hrun-calibrate
 * measures without a budget. Appends to *out (start from zeros; hrun_samples_release) and adds the seconds that it
 * took to *cost_s. */
int truth_train(const struct truth *t, int sub, const struct truth_noise *noise, int repetitions, const char *consts,
                struct hrun_samples *out, double *cost_s, struct hrun_error *err);

/* Seconds, without noise, of all runs at the sizes to train from: of the homogeneous ones (mixed = 0), or of all. */
double truth_cost(const struct truth *t, int mixed);

#endif
