/* discover.h - find the terms of an application from its measurements
 *
 * Purpose: terms for a definition of an application whose theory is not known.
 * Method: forward selection from the library of terms (basis.h). All series (a sub-cluster with a number of processes
 * per PE) have the same terms and coefficients >= 0 of their own (NNLS on weighted rows, as in model.h). The error that
 * is minimised is the mean absolute error at points that a fit has not seen, in units of the scatter of a run: each
 * (N, P) is left out once (hrun_fit_leave_out), and with three or more P > M the smaller ones predict the largest P.
 * The first term is divided work, c f(N) / P. The result is the shortest list that is not worse than the best one by a
 * standard error of the difference (Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, section 7.10).
 * In a second selection, measurements that contradict the first count less (Huber, fit/fit.h).
 * Compare Calotoiu et al., "Using automated performance modeling to find scalability bugs in complex codes" (SC'13):
 * their normal form has the same products, of exponents >= 0 and with coefficients of either sign.
 */
#ifndef HRUN_MODEL_DISCOVER_H
#define HRUN_MODEL_DISCOVER_H

#include "model/model.h"

struct hrun_discover_point {
    int series;              /* 0, 1, ...: points of one series have the same coefficients */
    int64_t N;               /* >= 1 */
    int P, M;                /* P >= M >= 1; runs on one PE have P = M */
    double time_s;           /* finite, > 0 */
};

struct hrun_discovery {
    struct hrun_strvec np;   /* terms over N and P, divided work first */
    struct hrun_strvec n;    /* terms over N, with P fixed */
    struct hrun_strvec p;    /* terms over T and P */
    double error;            /* mean |fit - T| / T at points left out */
    double beyond;           /* mean |fit - T| / T at the largest P, predicted by the smaller ones; NaN: too few P */
    int points;              /* number of different (series, N, P) left out: with P > M if there are any */
};

/* Choose terms by points[n], in any order. In a series with only one P > M the runs on one PE (P = M) are used, too:
 * all of their time except constants is divided work. If there are only such runs, all work counts as divided. Only the
 * weights of options (sigma_abs_s, sigma_rel) are used. Errors: HRUN_ENODATA (fewer than two sizes N),
 * HRUN_EINVAL (a point that breaks an invariant). Release *out. */
int hrun_discover(const struct hrun_discover_point *points, size_t n, const struct hrun_fit_options *options,
                  struct hrun_discovery *out, struct hrun_error *err);
void hrun_discovery_release(struct hrun_discovery *d);

#endif
