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
#include "truth.h"

struct trial {
    const struct truth *truth;
    const struct hrun_app *app;
    struct truth_noise noise;
    int repetitions;         /* of each measurement that a method makes of the grid */
    struct hrun_netview *net; /* the network of the cluster; NULL: not known */
    int nsizes;              /* truth->ntrain sizes to train from, then truth->nother others */
    int64_t sizes[2 * TRUTH_SIZES_MAX];
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

/* For a method that has models of all sub-clusters (NULL where there are none): choose with them at every size. */
int accuracy_choose(const struct trial *trial, struct hrun_models *const *models, struct answer *answers,
                    struct hrun_error *err);

/* One method at one size of one trial. */
struct outcome {
    int served;              /* 0: no choice was made, and the rest is nothing */
    double epsilon, delta;
    int covered;             /* 1: another run of the choice, with noise but without glitch, fell into the interval */
};

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

/* Allocations that do not depend on the size (paper 000, section 6.1), one process on each PE: one PE of the first
 * sub-cluster, all of it, all of the first two, ... *n of them into out[TRUTH_SUBS_MAX + 1]. */
struct allocation {
    int pes[TRUTH_SUBS_MAX], procs[TRUTH_SUBS_MAX];
    struct summary summary;  /* of epsilon alone; asked - served sizes are those that the rule forbids */
};
void accuracy_static(const struct trial *trial, struct allocation *out, int *n);

/* network.c: the network of a table's cluster from dir: what was estimated of it, PLATFORM.txt (records of the
 * benchmark), else what it is, PLATFORM.yaml; *net and *view are NULL when there is neither. To be given to
 * hrun_netview_destroy and hrun_net_destroy. Errors: those of lib/net and lib/model, HRUN_ENOMEM. */
int accuracy_network(const char *dir, const struct truth *t, struct hrun_net **net, struct hrun_netview **view,
                     struct hrun_error *err);

/* The sizes of a trial from its table. */
void accuracy_sizes(struct trial *trial);

#endif
