/* textplot.h - small plots of text, for terminals
 *
 * Purpose: marks and curves over logarithmic axes in a few lines; where a terminal shows UTF-8 with its line drawing
 * characters, else in ASCII.
 * Invariants: no line is wider than asked for, or than its labels need; marks stand over curves, earlier series over
 * later ones; values that are not finite and above 0 are left out.
 */
#ifndef CALIB_TEXTPLOT_H
#define CALIB_TEXTPLOT_H

#include "base/buf.h"

struct textplot_point {
    double x, y;
};

struct textplot_series {
    char mark;              /* 0: a curve, which its points only support: between them it is straight */
    const struct textplot_point *v;
    int n;
};

struct textplot {
    const char *xname;      /* "N" */
    int width, height;      /* of all, and of what is inside the axes, in characters */
    int unicode;
};

/* Append the plot: y are seconds, x whole numbers. Without a point nothing is appended. Result: 0,
 * or -1 when memory ran out. */
int textplot_draw(const struct textplot *t, const struct textplot_series *v, int n, struct hrun_buf *out);

#endif
