/* spread.h - how much samples of one thing scatter, and whether samples of several things differ
 *
 * Conventions: samples are finite, in any order, and untouched. Errors of all: HRUN_ENODATA (no sample),
 * HRUN_ENONFINITE, HRUN_ENOMEM; outputs are untouched then.
 */
#ifndef HRUN_FIT_SPREAD_H
#define HRUN_FIT_SPREAD_H

#include "base/error.h"

#include <stddef.h>

struct hrun_spread {
    double median;
    double low, high;      /* first and ninth decile, interpolated */
    double mad;            /* median absolute deviation from the median, as a standard deviation: times 1.4826 (Maronna,
                              Martin, Yohai, Robust Statistics, section 2.4) */
    double least, most;
};

/* Put v[n] into ascending order. */
void hrun_sort(double *v, size_t n);

/* Of v[n], n >= 1. */
int hrun_spread_of(const double *v, size_t n, struct hrun_spread *out, struct hrun_error *err);

/* The steps in which a clock tells time_s[n], all above 0, as far as their digits show: 0.01 of 0.31 and 2.5; INFINITY
 * without any. A time of half a step stands for one that the clock told as 0. */
double hrun_times_step(const double *time_s, size_t n);
/* The standard deviation of what rounding to such steps does to a time (of a uniform distribution one step wide). 0
 * where fewer than five times are known: their last digits may be zeros by accident. */
double hrun_times_rounding(const double *time_s, size_t n);

/* The shortest time that tells more of a thing than of its clock: 50 steps, and 20 standard deviations of what
 * repetitions scatter by whatever their time is. The latter shows where the shorter half of six pairs or more scatters
 * by more than in proportion to the longer half. 0: any time. Arguments as below. Errors (-1): memory ran out. */
int hrun_times_least(const double *time_s, const int *thing, size_t n, double *least_s);

/* Do times not scatter at all, as those of a simulation that counts operations? 1 when two of one thing are equal, none
 * of one thing differ, and the clock would have shown it: its step is at most a ten-
 * thousandth of an equal pair's time. (Two of times that scatter by 1 % agree so once in 350.) 0 otherwise. time_s[n]
 * are above 0, thing[i] says of what time_s[i] is. Equal are times to nine digits, which is what files keep. */
int hrun_times_repeat(const double *time_s, const int *thing, size_t n);

/* Are k groups of samples, v[i][0..n[i]-1], of one distribution? W. Kruskal, W. Wallis, "Use of ranks in one-criterion
 * variance analysis", J. Amer. Statist. Assoc. 47, 1952: H on mean ranks, corrected for ties. *h gets H, *p the
 * probability of an H that large if they are: the upper tail of chi-square with k - 1 degrees of freedom, good from
 * five samples a group on. All samples equal: H is 0 and p is 1.
 * Errors: HRUN_EINVAL (k < 2). */
int hrun_kruskal_wallis(const double *const *v, const size_t *n, size_t k, double *h, double *p,
                        struct hrun_error *err);

#endif
