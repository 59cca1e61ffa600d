/* accuracy.h - how good are the choices: methods tried on ground truth with made-up noise
 *
 * Purpose: a method makes models from noisy measurements of one table (truth.h) and chooses a configuration for each
 * size. From the table is known what the choice really takes, and what the best one takes:
 *   epsilon = (actual time of the choice - best time) / best time               (paper 000, section 4.1)
 *   delta   = (predicted - actual time of the choice) / actual time             (paper 000, section 6.2)
 * Invariants: a method sees measurements alone, never the table's times, nor which configuration is the best; one
 * trial (table, seed) is the same for every method.
 * Adding a method: a row of accuracy_methods, and a function when it is more than other options of a fit.
 */
#ifndef HRUN_TESTS_ACCURACY_H
#define HRUN_TESTS_ACCURACY_H

#include "app/app.h"
#include "base/error.h"
#include "model/model.h"
#include "net/net.h"
#include "truth.h"

#include <jansson.h>

/* What a method knows of one run of the table, beside its answers: by it is said why a choice was not the best. */
struct insight {
    int made;                /* how often it was measured */
    double predicted_s, low_s, high_s;   /* with the 95 % interval of one run; 0: no prediction */
};

struct trial {
    const struct truth *truth;
    const struct hrun_app *app;
    struct truth_noise noise;
    int repetitions;         /* of each measurement that a method makes of the grid */
    struct hrun_netview *net; /* the network of the cluster; NULL: not known */
    int nsizes;              /* truth->ntrain sizes to train from, then truth->nother others */
    int64_t sizes[2 * TRUTH_SIZES_MAX];
    struct insight *insights;    /* of truth->runs[]; zeros at first, filled by methods */
};

struct answer {              /* for one size */
    const struct truth_run *choice;      /* NULL: no configuration was found that the method takes for valid */
    double predicted_s, low_s, high_s;   /* with the 95 % interval of one run */
};

struct method {
    const char *name;
    const char *what;        /* for people, one line */
    struct hrun_fit_options options;
    /* Fill answers[trial->nsizes]; add the seconds of all measurements made to *cost_s. */
    int (*decide)(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                  struct hrun_error *err);
};

extern const struct method accuracy_methods[];   /* ends with a NULL name */

/* The whole grid, all sub-clusters fitted together. */
int accuracy_joint(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                   struct hrun_error *err);

/* automatic.c: the same, with terms from a library. */
int accuracy_automatic(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                       struct hrun_error *err);

/* extrap.c: Extra-P's published approach, with exponents of 0 and above, and with negative ones. */
int accuracy_extrap(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                    struct hrun_error *err);
int accuracy_extrap_negative(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                             struct hrun_error *err);

/* designed.c: runs chosen for a twentieth of the time of all configurations. */
int accuracy_designed(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                      struct hrun_error *err);

/* For a method that measured the grid and has models of all sub-clusters from it (NULL where there are none): choose
 * with them at every size. */
int accuracy_choose(const struct trial *trial, struct hrun_models *const *models, struct answer *answers,
                    struct hrun_error *err);

/* Why a choice is not the best one: the first of these that is true. */
enum cause {
    CAUSE_NONE,              /* it is the best, or as good */
    CAUSE_NOISE,             /* both times lie nearer than as many runs as were made of them, one at least, can tell */
    CAUSE_MODEL,             /* the best is quicker, or the choice slower, than its 95 % interval says */
    CAUSE_NOT_RUN,           /* the intervals hold, and the best was run neither at this size nor at a trained one
                                next to it */
    CAUSE_FEW_RUNS,          /* it was, but not often enough to tell */
    CAUSES
};
const char *accuracy_cause_name(enum cause c);   /* "noise" */

/* One method at one size of one trial. */
struct outcome {
    int served;              /* 0: no choice was made, and the rest is nothing */
    double epsilon, delta;
    int covered;             /* 1: another run of the choice, with noise but without glitch, fell into the interval */
    enum cause cause;
    double once_epsilon;     /* of the quickest when every configuration was run as often as it was, but once at least,
                                with noise but without glitches: what noise alone costs who measures everything */
    double best_delta;       /* (predicted - actual) / actual time of the best one; NaN: not predicted */
    double apart;            /* relative difference that the noise of the runs made hides */
    size_t chosen, best;     /* indices of truth->runs */
    int runs_chosen, runs_best, runs_near;   /* at this size; of the best at trained sizes next to it */
};

/* why.c: fill an outcome whose epsilon is known, of a method's answer at size number `size`. */
void accuracy_blame(const struct trial *trial, const struct answer *a, int size, struct outcome *out);

struct trials {              /* of one method on one table, over all seeds */
    const struct method *method;
    int nseeds, nsizes, ntrain;
    struct outcome *outcomes;    /* [seed * nsizes + size] */
    double *cost_s;              /* [seed] */
};

/* Run all seeds from `first_seed` on, in `jobs` processes. *out: nmethods entries, one for each of methods; to be
 * given to accuracy_release. Errors: those of the methods, naming method and seed; HRUN_EIO. */
int accuracy_run(const struct truth *t, const struct hrun_app *app, struct hrun_netview *net,
                 const struct method *const *methods, int nmethods, const struct truth_noise *noise, int repetitions,
                 int nseeds, int jobs, struct trials **out, struct hrun_error *err);
void accuracy_release(struct trials *trials);

/* Mean and worst over seeds and sizes [from, to); worst: of the largest absolute value. */
struct summary {
    int asked, served;
    double epsilon_mean, epsilon_worst, delta_mean, delta_worst, covered;
    int64_t worst_size;      /* where the worst epsilon is, an index of trial->sizes */
};
struct summary accuracy_summary(const struct trials *t, int from, int to);

/* What misses epsilon: outcomes of one choice, best one and cause at one size, from all seeds. */
struct miss {
    int size, seeds;         /* index of trial->sizes; how many seeds */
    double sum;              /* of their epsilon */
    struct outcome worst;    /* that with the largest */
};
/* Up to `most` of them into out, those with the largest sum first, or by_worst with the largest epsilon. Result: how
 * many; -1: no memory. */
int accuracy_misses(const struct trials *t, int by_worst, int most, struct miss *out);
/* Parts of the sum of epsilon by cause into share[CAUSES], of 1; all 0 when it is 0. Result: the mean of
 * once_epsilon. */
double accuracy_causes(const struct trials *t, double *share);

/* show.c: why, for people. Print, for the methods that miss it, how much of epsilon has which cause, and the choices
 * that cost most of the mean, or of which single ones are worst. */
enum missing { MISSES_NOTHING, MISSES_MEAN, MISSES_WORST };
void accuracy_print_why(const struct trial *trial, const struct trials *v, const enum missing *missing, int nmethods);
/* The same of one method into the object j, whether it misses epsilon or not: parts of epsilon, the choices that cost
 * most, and epsilon of who measures all once. */
void accuracy_json_why(json_t *j, const struct trial *trial, const struct trials *v);

/* Whose configurations have sub-clusters behind several switches, so that messages pass what lies between these. */
struct crossings {
    int served, chosen, best;        /* choices; how many of them cross, how many of the best ones do */
    int needless, missing;           /* the choice crosses where the best does not; the other way round */
};
struct crossings accuracy_crossings(const struct truth *t, const int *switch_of, const struct trials *v);

/* Allocations that do not depend on the size (paper 000, section 6.1), one process on each PE: one PE of the first
 * sub-cluster, all of it, all of the first two, ... *n of them into out[TRUTH_SUBS_MAX + 1]. */
struct allocation {
    struct hrun_config config;
    struct summary summary;  /* of epsilon alone; asked - served sizes are those that the rule forbids */
};
void accuracy_static(const struct trial *trial, struct allocation *out, int *n);

/* network.c: the network of a table's cluster from the folder dir of tests/accuracy/tables. */
struct accuracy_network {
    struct hrun_net *net;            /* NULL: there is none */
    struct hrun_netview *view;       /* of the sub-clusters of the table, or NULL */
    char what[256];                  /* which one it is, for people */
    int switch_of[TRUTH_SUBS_MAX];   /* behind which switch each sub-cluster truly is, from 0 */
    int nswitches;                   /* 0: not known */
};
/* What is estimated from PLATFORM.txt, the records of the benchmark; where there are none, or if exact is 1, what the
 * platform says of itself, PLATFORM.yaml. To be given to accuracy_network_close, also when it failed. Errors: those of
 * lib/net and lib/model. */
int accuracy_network_open(const char *dir, int exact, const struct truth *t, struct accuracy_network *out,
                          struct hrun_error *err);
void accuracy_network_close(struct accuracy_network *n);

/* The sizes of a trial from its table. */
void accuracy_sizes(struct trial *trial);

#endif
