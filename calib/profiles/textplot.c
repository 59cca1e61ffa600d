/* textplot.c - small plots of text; see profiles.h for the contract */
#include "profiles.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The characters of a plot: the corner, the two axes, a tick, a point of a curve. */
struct strokes {
    const char *corner, *across, *down, *tick, *curve;
};
static const struct strokes ascii = { "+", "-", "|", "+", "." };
static const struct strokes fine = { "\xe2\x94\x94", "\xe2\x94\x80", "\xe2\x94\x82", "\xe2\x94\xa4", "\xc2\xb7" };

enum { INDENT = 2, CURVE = 1, LEAST_WIDTH = 16 };

struct canvas {
    char *cells;                /* rows from the top; 0 empty, CURVE, or a mark */
    int rows, columns;
    double low[2], high[2];     /* ln of x and y */
};

static int is_drawn(const struct textplot_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && p->x > 0 && p->y > 0;
}

static int find_plot_ranges(struct canvas *c, const struct textplot_series *v, int n)
{
    int found = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < v[i].n; k++) {
            double at[2] = { log(v[i].v[k].x), log(v[i].v[k].y) };

            if (!is_drawn(&v[i].v[k]))
                continue;
            for (int a = 0; a < 2; a++) {
                c->low[a] = found ? fmin(c->low[a], at[a]) : at[a];
                c->high[a] = found ? fmax(c->high[a], at[a]) : at[a];
            }
            found = 1;
        }
    return found;
}

/* The index of the cell, out of n, for a value on axis a; the middle one if the axis has a single value. */
static int place(const struct canvas *c, int a, double ln, int n)
{
    double range = c->high[a] - c->low[a];

    return range > 0 ? (int)lround((ln - c->low[a]) / range * (n - 1)) : (n - 1) / 2;
}

static void set_cell(struct canvas *c, double lnx, double lny, char what)
{
    c->cells[(c->rows - 1 - place(c, 1, lny, c->rows)) * c->columns + place(c, 0, lnx, c->columns)] = what;
}

/* Draw the line from a to b, one cell in each column. */
static void put_line(struct canvas *c, const struct textplot_point *a, const struct textplot_point *b)
{
    double x0 = log(a->x), y0 = log(a->y), x1 = log(b->x), y1 = log(b->y);
    int n = abs(place(c, 0, x1, c->columns) - place(c, 0, x0, c->columns));

    for (int i = 0; i <= n; i++)
        set_cell(c, x0 + (n ? (x1 - x0) * i / n : 0), y0 + (n ? (y1 - y0) * i / n : 0), CURVE);
}

static void put_series(struct canvas *c, const struct textplot_series *s)
{
    const struct textplot_point *last = NULL;

    for (int k = 0; k < s->n; k++) {
        if (!is_drawn(&s->v[k]))
            continue;
        if (s->mark)
            set_cell(c, log(s->v[k].x), log(s->v[k].y), s->mark);
        else
            put_line(c, last ? last : &s->v[k], &s->v[k]);
        last = &s->v[k];
    }
}

static void print_row(const struct canvas *c, int row, const struct strokes *s, struct hrun_buf *out)
{
    const char *cells = c->cells + row * c->columns;
    int n = c->columns;

    while (n > 0 && !cells[n - 1])
        n--;
    for (int k = 0; k < n; k++) {
        if (cells[k] == CURVE)
            hrun_buf_adds(out, s->curve);
        else
            hrun_buf_addc(out, cells[k] ? cells[k] : ' ');
    }
    hrun_buf_addc(out, '\n');
}

/* Make the labels of the top, the middle and the bottom row. Result: the width of the widest. */
static int make_labels(const struct canvas *c, struct hrun_text *labels)
{
    int width = 0;

    for (int i = 0; i < 3; i++) {
        double share = i == 1 ? 1 - (double)(c->rows / 2) / (c->rows - 1) : i == 0;

        labels[i] = hrun_seconds(exp(c->low[1] + share * (c->high[1] - c->low[1])));
        width = (int)strlen(labels[i].s) > width ? (int)strlen(labels[i].s) : width;
    }
    return width;
}

static void print_x_axis(const struct canvas *c, const char *name, int margin, const struct strokes *s,
                         struct hrun_buf *out)
{
    char low[32], high[32] = "";
    int gap;

    hrun_buf_addf(out, "%*s%s", margin, "", s->corner);
    for (int k = 0; k < c->columns; k++)
        hrun_buf_adds(out, s->across);
    snprintf(low, sizeof low, "%.0f", exp(c->low[0]));
    if (c->high[0] > c->low[0])
        snprintf(high, sizeof high, "%.0f", exp(c->high[0]));
    gap = c->columns - (int)(strlen(low) + strlen(high) + strlen(name));
    hrun_buf_addf(out, "\n%*s%s", margin + 1, "", low);
    if (gap >= 2)
        hrun_buf_addf(out, "%*s%s%*s%s", gap / 2, "", name, gap - gap / 2, "", high);
    else
        hrun_buf_addf(out, " %s", name);
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    hrun_buf_addc(out, '\n');
}

void textplot_draw(const struct textplot *t, const struct textplot_series *v, int n, struct hrun_buf *out)
{
    const struct strokes *s = t->unicode ? &fine : &ascii;
    struct canvas c = { .rows = t->height < 3 ? 3 : t->height };
    struct hrun_text labels[3];
    int width;

    if (!find_plot_ranges(&c, v, n))
        return;
    if (c.high[1] == c.low[1])
        c.rows = 3;
    width = make_labels(&c, labels);
    c.columns = t->width - INDENT - width - 2;
    if (c.columns < LEAST_WIDTH)
        c.columns = LEAST_WIDTH;
    c.cells = xcalloc((size_t)c.rows * (size_t)c.columns, 1);
    for (int pass = 0; pass < 2; pass++)
        for (int i = n - 1; i >= 0; i--)
            if (!v[i].mark == !pass)
                put_series(&c, &v[i]);
    for (int row = 0; row < c.rows; row++) {
        int which = row == 0 ? 0 : row == c.rows / 2 ? 1 : row == c.rows - 1 ? 2 : -1;

        if (c.high[1] == c.low[1] && which != 1)
            which = -1;
        hrun_buf_addf(out, "%*s%*s %s", INDENT, "", width, which < 0 ? "" : labels[which].s,
                      which < 0 ? s->down : s->tick);
        print_row(&c, row, s, out);
    }
    print_x_axis(&c, t->xname, INDENT + width + 1, s, out);
    free(c.cells);
}
