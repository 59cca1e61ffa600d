/* plot.h - figures as data, and as scripts for gnuplot
 *
 * Purpose: a figure is axes and series of numbers; what draws it, and for which medium, is decided afterwards.
 * Invariants:
 *   - when memory runs out `failed` is set and stays set, as with struct hrun_buf;
 *   - values that cannot be drawn (not finite, or not above 0 on a logarithmic axis) are left out;
 *   - of text that comes from measurements nothing reaches gnuplot that it could take for anything but a character;
 *   - light colours differ from each other: plot_svg finds them again in what gnuplot makes.
 */
#ifndef CALIB_REPORT_PLOT_H
#define CALIB_REPORT_PLOT_H

#include "base/buf.h"
#include "base/error.h"

/* ---------------------------------------------------------------- gnuplot
 *
 * Running gnuplot(1), over pipes alone
 *
 * Invariants: no shell, no file of ours, no start-up file of the user; when hrun-calibrate ends, however it does,
 * gnuplot's pipes close and it ends, too.
 */

/* Append to *out what gnuplot writes to its standard output for this script. Errors: HRUN_ENOENT (gnuplot is not
 * installed: says what to install), HRUN_EIO (it cannot be started, or refuses the script: its words), HRUN_ENOMEM. */
int gnuplot_run(const struct hrun_buf *script, struct hrun_buf *out, struct hrun_error *err);

enum plot_axis {
    PLOT_SIZES,         /* N, logarithmic */
    PLOT_BYTES,         /* of messages, logarithmic, powers of two */
    PLOT_PROCESSES,     /* P, logarithmic, powers of two */
    PLOT_SECONDS,       /* logarithmic */
    PLOT_AMOUNT,        /* money or energy, logarithmic */
    PLOT_PERCENT        /* linear */
};

enum plot_style {
    PLOT_POINTS, PLOT_LINE,
    PLOT_BAND,          /* from low to high; y does not count */
    PLOT_INTERVALS,     /* points with a bar from low to high */
    PLOT_CHOSEN         /* the same, to be seen first */
};

enum { PLOT_SERIES = 8, PLOT_STEPS = 6 };
enum plot_colour {
    PLOT_INK, PLOT_SOFT, PLOT_MUTED, PLOT_GRID,
    PLOT_FIRST_SERIES,                                  /* things without an order: sub-clusters */
    PLOT_FIRST_STEP = PLOT_FIRST_SERIES + PLOT_SERIES,  /* things with one, from little to much: N, P */
    PLOT_COLOURS = PLOT_FIRST_STEP + PLOT_STEPS
};

/* The name of a colour as a CSS variable, and its values for a light and a dark background, 0xRRGGBB. */
struct plot_colour_row {
    const char *name;
    unsigned light, dark;
};
const struct plot_colour_row *plot_colour(int colour);

struct plot_series {
    char *title;            /* of the legend; NULL: none */
    enum plot_style style;
    int colour, mark;       /* mark: the shape of points, from 0 */
    struct hrun_buf data;   /* lines "x y low high" */
    int n;
};

struct plot_range {
    enum plot_axis axis;
    const char *label;      /* static */
    double low, high;       /* of what was added; low > high: nothing yet */
};

struct plot {
    int section;            /* of the report; its maker's */
    char *title, *caption;
    struct plot_range x, y;
    struct plot_series *v;
    int n;
    int failed;
};

struct plot *plot_create(enum plot_axis x, const char *xlabel, enum plot_axis y, const char *ylabel);
void plot_destroy(struct plot *p);
void plot_set_title(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void plot_set_caption(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A new series; those added later are drawn over it. title "" or NULL: not in the legend. Result: its index. */
int plot_series(struct plot *p, enum plot_style style, int colour, int mark, const char *title);
void plot_add(struct plot *p, int series, double x, double y, double low, double high);
int plot_is_empty(const struct plot *p);

/* Append what gnuplot needs to draw the figure, after a `set terminal`; with_title: the title is part of it. */
void plot_script(const struct plot *p, int with_title, struct hrun_buf *out);
/* Append text as one quoted word for gnuplot, at most `most` characters of it. */
void plot_quote(const char *text, int most, struct hrun_buf *out);
/* Append at most 7 ticks of an axis, as "label" value pairs. */
void plot_ticks(const struct plot_range *r, struct hrun_buf *out);

/* The figure as an SVG element that stands inside of a page: colours are var(--NAME) of plot_colour, ids begin with
 * `id`, no address is in it. Errors: those of gnuplot_run. */
int plot_svg(const struct plot *p, const char *id, struct hrun_buf *out, struct hrun_error *err);

/* Its size in points of the page, which is that of a phone: larger screens show two beside each other. */
enum { PLOT_WIDTH = 420, PLOT_HEIGHT = 320 };

#endif
