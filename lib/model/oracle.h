/* oracle.h - the interface of models for searches: a small table of functions
 *
 * Purpose: lib/plan searches over any separable model T(C) = max over used sub-clusters i of Ti(N, P, Mi) (paper 000,
 * section 4.1) through this table; tests search artificial ones. A model that is not separable, because the network's
 * part depends on all hosts used, has a separable lower bound.
 * Terms: an *option* is a pair (sub-cluster, M): "M processes on each PE used there".
 */
#ifndef HRUN_MODEL_ORACLE_H
#define HRUN_MODEL_ORACLE_H

#include "base/config.h"
#include "base/error.h"

#include <stdint.h>

/* ------------------------------------------------------------------ shares of work in whole units */

/* Time in s of each of n processes with u >= 1 units of work: base_s + u unit_s. */
struct hrun_line {
    int64_t n;              /* 0: the processes cannot be used */
    double base_s;          /* finite */
    double unit_s;          /* finite, >= 0 */
    int64_t most;           /* the units that fit into the memory of one process, at least 0 */
};

/* Returns the largest number of units, up to `limit`, that one process completes in t s; 0: none. */
int64_t hrun_line_units(const struct hrun_line *p, double t, int64_t limit);

/* Divide `units` among the processes of v[n] (n >= 1, each v[i].n >= 1) so that the slowest ends as early as possible.
 * share[i]: units of each process of v[i]. All processes of v[i] have equal shares, so the sum may be a little above
 * `units`. Returns the time of the slowest; INFINITY, with share untouched, if there are more processes than units or
 * the units do not fit. */
double hrun_balance(const struct hrun_line *v, int n, int64_t units, int64_t *share);

/* ------------------------------------------------------------------ the oracle */

struct hrun_option {
    int sub;   /* sub-cluster, from 0 */
    int m;     /* processes per PE, >= 1 */
};

/* A configuration whose runs give a factor on the oracle's time, or a configuration that must not be chosen. */
struct hrun_known {
    struct hrun_config config;
    double factor;              /* finite, > 0 */
    double rank_factor;         /* > 0: configurations are ranked by their time times this. Above 1: the time is less
                                   certain than for configurations that never ran; below 1: more. 0 means 1 */
    int excluded;               /* 1: it must not be chosen; factor and rank_factor do not count */
};

/* Functions return 0, or -1 with *err, unless their comment says otherwise. ctx, nsubs, options, `times` and `rule` are
 * always set. Each other function is NULL if the model does not have it:
 *     bounds        every P is looked at
 *     memory        memory does not limit P
 *     whole         the model is separable: a configuration's time is the longest of its options' `times`
 *     lines         work is not shared out in units
 *     lines_bound   `lines` has no bounds over several P
 *     part          parts of configurations have no bounds: configurations come in the order of `times` */
struct hrun_oracle {
    void *ctx;
    int nsubs;
    int noptions;
    const struct hrun_option *options;   /* by sub, then by m, ascending, distinct */

    /* Ti of every option for P processes in all: t[noptions], seconds. Called for a P that the rule accepts. If an
     * entry is not finite or not positive, the option cannot be used at this P. Fails if a term in use has no finite
     * value at this P: an expression that divides by zero at a P that the rule accepts must be mended, not avoided. */
    int (*times)(void *ctx, int P, double *t, struct hrun_error *err);

    /* Lower bounds of the usable Ti over all P in lo..hi: b[noptions]; +infinity if no P of the interval is usable.
     * Fails also if `times` fails at a P of lo..hi that the rule accepts: the failure of a search over 1..hi depends
     * neither on its pruning nor on the P that the memory allows. (Terms with coefficient 0 are not in use; only
     * `times` sees a value that overflows beyond P = 1,000,000.) */
    int (*bounds)(void *ctx, int lo, int hi, double *b, struct hrun_error *err);

    /* 1 if the rule allows P, 0 if not, -1 with *err. */
    int (*rule)(void *ctx, int P, struct hrun_error *err);

    /* Bytes per process. */
    int (*memory)(void *ctx, int P, double *bytes, struct hrun_error *err);

    /* The time of a configuration of P processes as a whole; `times` and `bounds` are then lower bounds. *time_s is not
     * below the time of any option used; INFINITY: the configuration cannot be used. *limiting is the slowest
     * sub-cluster, the first of several. Called only if all options used have usable times. */
    int (*whole)(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                 struct hrun_error *err);

    /* Arguments of hrun_balance at P: v[noptions], with v[o].n = m if option o can be used at this P, and the units. A
     * configuration's time is that of hrun_balance over the options that it uses; `whole` may give a longer one. */
    int (*lines)(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err);
    /* Bounds of `lines` over all usable P in lo..hi: base_s and unit_s are not above those of any P, `most` is not
     * below, and *units is the least. n = 0 if no P can be used. */
    int (*lines_bound)(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err);

    /* A lower bound of `whole` for every configuration with P processes in all that is equal to *config on
     * sub-clusters 0..known-1. *config uses some of these and no others. Called under the conditions of `whole`. */
    int (*part)(void *ctx, const struct hrun_config *config, int known, int P, double *time_s, struct hrun_error *err);
    /* Largest number of calls of `part` in one search; 0: the default, for a call that takes a tenth of a
     * microsecond. */
    long parts;
};

#endif
