/* breaks.h - structural breaks of a line
 *
 * Purpose: find the message sizes at which protocols change. Bai and Perron, "Computation and analysis of multiple
 * structural change models", J. of Applied Econometrics 18, 2003 (paper 002, section 3): for each number of pieces 1..m
 * with at least h points each, dynamic programming finds the partition with the least sum of squares, exactly; the
 * number of pieces is the one with the least BIC. Slopes are >= 0, as times do not fall with the size within a piece.
 * Invariants: a piece has at least h points and two different x; ties go to the earliest breaks and the fewest pieces.
 * BIC = n ln(rss / n) + p ln n, where p = 3 npieces - 1 counts the coefficients of the lines and the breaks; residuals
 * within rounding errors of exact lines count as 0. */
#ifndef HRUN_NET_BREAKS_H
#define HRUN_NET_BREAKS_H

#include "base/error.h"

#include <stddef.h>

struct hrun_breaks {
    int npieces;
    size_t *first;             /* npieces: index of the first point of each; first[0] = 0; owned */
    double *c0, *c1;           /* npieces: the line c0 + c1 x of each; owned */
    double rss;                /* weighted sum of squared residuals of all pieces */
    double bic;
};
void hrun_breaks_release(struct hrun_breaks *b);

enum { HRUN_BREAKS_POINTS_MAX = 4096 };

/* Points by ascending x, which may repeat: a break never separates equal x. Residuals are multiplied by the weights
 * before they are squared. */
struct hrun_breaks_points {
    const double *x, *y;
    const double *w;           /* weights, > 0; NULL: all 1 */
    size_t n;
};

/* Find the breaks. least: fewest points of a piece, >= 2. most: largest number of pieces, >= 1. The time is
 * proportional to n^2 and to most. Errors: HRUN_EINVAL (more than HRUN_BREAKS_POINTS_MAX points), HRUN_ENODATA (fewer
 * than `least` points or than two different x). */
int hrun_breaks_find(const struct hrun_breaks_points *points, size_t least, int most, struct hrun_breaks *out,
                     struct hrun_error *err);

#endif
