/* learn.h - choose the configuration to run next, from earlier runs of the same problem alone
 *
 * Purpose: a command without calibration becomes quicker from run to run. Runs and speeds of PEs give a belief about
 * the time of every configuration. A trial is made if its expected gain exceeds its cost and its loss is allowed.
 * Belief: ln T = a + ln(s + max over used i of (Wi g(Mi)/P + Ci P^y Mi^r)) + e. Wi is the time of all the work for one
 * process of sub-cluster i, near 1/speed; g(Mi) the slowdown of processes that share a PE (cores, memory); Ci, y and r
 * describe messages; s is the serial time. The network may have two sides: messages take longer if a configuration uses
 * both. In programs that hand out tasks, the work takes 1 over the sum of 1/(Wi g(Mi)) over all processes. e is a
 * Gaussian process over the configurations; a is free. The unknowns have wide priors; particles sample them (Del Moral,
 * Doucet and Jasra, Sequential Monte Carlo samplers, J. R. Stat. Soc. B 68, 2006).
 * Account: let u be the median of the runs of the usual configuration. Each run adds `loss` times u. A run that
 * learning chose also adds u minus the median of its configuration; if it failed, it subtracts u instead. A trial is
 * made only if the account covers its expected loss. So the expected total time is at most (1 + loss) times the total
 * without learning.
 * Invariants: the answer depends only on the arguments (the seed is fixed), and not on the order of equal runs.
 * Every accepted number of processes is assumed to work until a run with it fails.
 */
#ifndef HRUN_PLAN_LEARN_H
#define HRUN_PLAN_LEARN_H

#include "base/config.h"
#include "base/error.h"

enum { HRUN_LEARN_SUBS = 16 };   /* limit of nsubs */

struct hrun_learn_sub {
    int npes;              /* number of PEs that may be used */
    int cores;             /* of a PE, at least 1 */
    double speed;          /* of a process alone on a PE, relative to the other sub-clusters, > 0 */
    int known;             /* 1: the speed was measured; 0: it is a guess */
    const int *procs;      /* Mi that may be tried, nprocs of them, ascending */
    int nprocs;
};

struct hrun_learn_run {
    struct hrun_config config;
    double time_s;         /* > 0; 0: the program failed */
    int learnt;            /* 1: learning chose the configuration; 0: the user chose it, or it is the usual one */
};

struct hrun_learn_question {
    const struct hrun_learn_sub *subs;
    int nsubs;
    struct hrun_config config;   /* the usual one */
    const struct hrun_learn_run *runs;
    int nruns;
    double loss;           /* 0.05: 5 % */
    int (*accepts)(void *ctx, int P);   /* 1 if P processes may run, else 0; NULL: any number may */
    void *ctx;
};

enum hrun_learn_why {
    HRUN_LEARN_USUAL,      /* the usual configuration has fewer than two runs; the first may have been disturbed */
    HRUN_LEARN_TRIES,      /* a trial: not the best known configuration */
    HRUN_LEARN_DEBT,       /* no trial: the account is below 0 */
    HRUN_LEARN_SAVES,      /* no trial yet: some would pay, but the account does not cover their expected loss */
    HRUN_LEARN_DONE        /* nothing better is likely */
};

struct hrun_learn_answer {
    enum hrun_learn_why why;
    struct hrun_config config;   /* to run next: the usual one, the trial or the best known one */
    int best, best_runs;   /* the best known configuration: index of its last run, number of its runs; -1, 0: none */
    double best_s, usual_s;   /* medians; 0: not known */
    double expected_s, low_s, high_s;   /* HRUN_LEARN_TRIES: predicted time of the trial, and its 95 % interval */
    double account_s;
};

/* Choose the configuration to run next. Errors: HRUN_EINVAL (more than HRUN_LEARN_SUBS sub-clusters); *out is untouched
 * then. */
int hrun_learn_next(const struct hrun_learn_question *q, struct hrun_learn_answer *out, struct hrun_error *err);

#endif
