/* learn.h - which configuration of a problem to run next, when nothing but earlier runs of it is known
 *
 * Purpose: a command that nobody calibrated becomes quicker from run to run. Runs and speeds of PEs make a belief of
 * the time of every configuration, which says which one to try, if that pays and the loss is allowed.
 * Belief: ln T = a + ln(s + max over used i of (Wi g(Mi)/P + Ci P^y Mi^r)) + e. Wi is the work of a kind, near 1/speed,
 * g what processes of a PE cost each other (cores, memory); C, y and r are messages, which take longer between two
 * sides of the network; s is serial. Programs that hand out tasks divide the work by the sum of speeds. e is a Gaussian
 * process over the configurations; a is free. The unknowns have wide priors and are a sample of particles (Del Moral,
 * Doucet and Jasra, Sequential Monte Carlo samplers, J. R. Stat. Soc. B 68, 2006).
 * Account: let u be the median of the runs of the usual configuration. Each run puts `loss` times u into the account,
 * and one that learning chose takes out what the median of its configuration is above u, or puts in what it is below. A
 * failed run takes out u. A trial is made only where its expected loss is in the account, so all runs together are
 * expected to take at most 1 + loss times what they would have taken without learning.
 * Invariants: the answer depends on nothing but the arguments (the sample is drawn from a fixed seed), and not on the
 * order of runs that are alike. Any number of processes that is accepted is taken to work until runs show otherwise.
 */
#ifndef HRUN_PLAN_LEARN_H
#define HRUN_PLAN_LEARN_H

#include "base/config.h"
#include "base/error.h"

enum { HRUN_LEARN_SUBS = 16 };   /* the most */

struct hrun_learn_sub {
    int npes;              /* that may be used; 0: none */
    int cores;             /* of a PE, at least 1 */
    double speed;          /* of a process alone against others, > 0 */
    int known;             /* 1: it was measured; 0: guessed */
    const int *procs;      /* Mi that may be tried, nprocs of them, ascending */
    int nprocs;
};

struct hrun_learn_run {
    struct hrun_config config;
    double time_s;         /* > 0; 0: the program failed */
    int learnt;            /* 1: learning chose the configuration, 0: the user, or it is the usual one */
};

struct hrun_learn_question {
    const struct hrun_learn_sub *subs;
    int nsubs;
    struct hrun_config config;   /* the usual one */
    const struct hrun_learn_run *runs;
    int nruns;
    double loss;           /* 0.05: 5 % */
    int (*accepts)(void *ctx, int P);   /* may P processes run? NULL: any may */
    void *ctx;
};

enum hrun_learn_why {
    HRUN_LEARN_USUAL,      /* the usual configuration did not run twice yet: the second shows a disturbed first */
    HRUN_LEARN_TRIES,      /* another configuration than the best known is run */
    HRUN_LEARN_DEBT,       /* trials have lost more than is allowed: it is paid back first */
    HRUN_LEARN_SAVES,      /* what pays may lose more than is in the account */
    HRUN_LEARN_DONE        /* nothing better is likely */
};

struct hrun_learn_answer {
    enum hrun_learn_why why;
    struct hrun_config config;   /* to be run: the usual, the one tried, else the best known */
    int best, best_runs;   /* a run of the best known configuration, and how many it has; -1 and 0: none is known */
    double best_s, usual_s;   /* medians; 0: not known */
    double expected_s, low_s, high_s;   /* HRUN_LEARN_TRIES: of it, the middle and 95 % */
    double account_s;      /* < 0: to be paid back */
};

/* Errors: HRUN_EINVAL (too many sub-clusters); *out is untouched then. */
int hrun_learn_next(const struct hrun_learn_question *q, struct hrun_learn_answer *out, struct hrun_error *err);

#endif
