/* oracle.h - what a search sees of a model: a small table of functions
 *
 * Purpose: lib/plan searches over any separable model T(C) = max over used sub-clusters i of Ti(N, P, Mi)
 * (paper 000, section 4.1) without knowing what is behind it; tests search made-up ones. A model that is not separable,
 * because the network's part depends on all hosts used, has such a one as a lower bound.
 * Terms: an *option* is a pair (sub-cluster, M): "M processes on each PE used there".
 */
#ifndef HRUN_MODEL_ORACLE_H
#define HRUN_MODEL_ORACLE_H

#include "base/config.h"
#include "base/error.h"

#include <stdint.h>

/* ------------------------------------------------------------------ shares of work in whole units */

/* How long each of n processes takes by its share: with u >= 1 units base_s + u unit_s. */
struct hrun_line {
    int64_t n;              /* 0: they cannot be used */
    double base_s;          /* finite */
    double unit_s;          /* finite, >= 0 */
    int64_t most;           /* so many units fit into the memory of one, at least 0 */
};

/* The most units, up to `limit`, that one process does by t; 0: not even one. */
int64_t hrun_line_units(const struct hrun_line *p, double t, int64_t limit);

/* The shares of v[n] (n >= 1, each v[i].n >= 1) by which the slowest process ends as early as can be: share[i], the
 * units of each process of v[i], so that all together have `units` or, as processes of one line have equal shares, a
 * few more. Result: the time of the slowest; INFINITY, with share untouched, when there are more processes than units
 * or they do not fit. */
double hrun_balance(const struct hrun_line *v, int n, int64_t units, int64_t *share);

/* ------------------------------------------------------------------ the oracle */

struct hrun_option {
    int sub;   /* sub-cluster, from 0 */
    int m;     /* processes per PE, >= 1 */
};

/* A configuration that is known better than by its model: its time is that of the oracle times the factor, or it is not
 * to be chosen. */
struct hrun_known {
    struct hrun_config config;
    double factor;              /* finite, > 0 */
    double doubt;               /* > 0: in the order it counts as if its time were this much longer still, below 1
                                   shorter: others, less known, are less to be trusted. 0: as 1 */
    int excluded;               /* 1: not to be chosen; factor and doubt do not count */
};

/* A function that is NULL is not known; beside it stands what a search then does. */
struct hrun_oracle {
    void *ctx;
    int nsubs;
    int noptions;
    const struct hrun_option *options;   /* by sub, then by m, ascending, distinct */

    /* Ti of every option for P processes in all: t[noptions], seconds. Called for a P that the rule accepts.
     * An entry that is not finite or not positive (as coefficients may make it) means that the option cannot
     * be used at this P. 0, or -1 with *err when a term in use has no finite value at this P: an expression
     * that divides by zero where the rule accepts P is a mistake to mend, no reason to choose another P. */
    int (*times)(void *ctx, int P, double *t, struct hrun_error *err);

    /* Lower bounds of the usable Ti over all P in lo..hi: b[noptions]; +infinity where no P in the interval
     * is usable. NULL: no bounds are known and every P is looked at. 0, or -1 with *err; it fails also where
     * times fails at a P of lo..hi that the rule accepts. So whether a search over 1..hi fails does not
     * depend on what it prunes, nor on which P the memory allows. (Terms with coefficient 0 are not in use; a
     * value that overflows beyond P = 1,000,000 is seen only by times.) */
    int (*bounds)(void *ctx, int lo, int hi, double *b, struct hrun_error *err);

    /* Is P allowed by the rule? 1, 0, or -1 with *err. */
    int (*rule)(void *ctx, int P, struct hrun_error *err);

    /* Bytes per process; NULL: memory does not limit. 0 or -1. */
    int (*memory)(void *ctx, int P, double *bytes, struct hrun_error *err);

    /* NULL: the model is separable. Else the time of a configuration of P processes as a whole, while `times` and
     * `bounds` are of lower bounds: *time_s is not below the time of any option used;
     * INFINITY: it cannot be used. *limiting is the sub-cluster that takes so long, the first of several. Asked only
     * where all options used have usable times. 0, or -1 with *err. */
    int (*whole)(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                 struct hrun_error *err);

    /* NULL: not known. A configuration's time is that of hrun_balance over the options that it uses, or longer where
     * `whole` says so: v[noptions], with v[o].n = m where option o can be used at this P, and the units that are shared
     * out. 0, or -1 with *err as `times`. */
    int (*lines)(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err);
    /* The same over all P in lo..hi: base_s and unit_s are not above those of any P there that can be used, `most` is
     * not below them, and *units is the least of them; n = 0 where no P can be used. NULL: not known. */
    int (*lines_bound)(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err);

    /* NULL: not known. A lower bound of `whole` for every configuration with P processes in all that is as this one on
     * sub-clusters 0..known-1, some of which are used; on the others this one is 0, and anything may be. Asked as
     * `whole` is. 0, or -1 with *err. */
    int (*part)(void *ctx, const struct hrun_config *config, int known, int P, double *time_s, struct hrun_error *err);
    /* How often it may be asked, 0: as is right where it takes a tenth of a microsecond. */
    long parts;
};

#endif
