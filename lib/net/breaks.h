/* breaks.h - structural breaks of a line
 *
 * Purpose: where do protocols change with the message size? Bai and Perron, "Computation and analysis of multiple
 * structural change models", J. of Applied Econometrics 18, 2003 (paper 002, section 3): of all partitions into 1..m
 * pieces of at least h points the one with the least sum of squares by dynamic programming, and of their numbers the
 * one with the least BIC. Exact: brute force over all partitions gives the same.
 * A larger message takes no less time within a piece: slopes are >= 0.
 * Invariants: a piece has at least h points and two different x; of equal sums the earliest breaks, of equal BIC the
 * fewest pieces. BIC = n ln(rss / n) + p ln n, where p = 3 npieces - 1 counts the coefficients of the lines and the
 * breaks; what rounding alone makes of exact lines counts as no residual. */
#ifndef HRUN_NET_BREAKS_H
#define HRUN_NET_BREAKS_H

#include "base/error.h"

#include <stddef.h>

struct hrun_breaks {
    int npieces;
    size_t *first;             /* npieces: index of the first point of each; first[0] = 0; owned */
    double *c0, *c1;           /* npieces: the line c0 + c1 x of each; owned */
    double rss;                /* weighted sum of squared residuals */
    double bic;
};
void hrun_breaks_release(struct hrun_breaks *b);

enum { HRUN_BREAKS_POINTS_MAX = 4096 };

/* Points by ascending x, which may repeat: a break never separates equal x. Residuals are multiplied by the weights
 * before they are squared. */
struct hrun_breaks_points {
    const double *x, *y;
    const double *w;           /* > 0, or NULL: 1 */
    size_t n;
};

/* least: points of a piece, >= 2. most: pieces, >= 1. Time: n^2 most.
 * Errors: HRUN_EINVAL (more than HRUN_BREAKS_POINTS_MAX points), HRUN_ENODATA (fewer than `least` points or than two
 * different x). */
int hrun_breaks_find(const struct hrun_breaks_points *points, size_t least, int most, struct hrun_breaks *out,
                     struct hrun_error *err);

#endif
