/* plot.c - figures as data and as scripts; see plot.h for the contracts */
#include "plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Series differ in hue and also in the shape of their marks; steps go from near the background to far from it. */
static const struct plot_colour_row colours[PLOT_COLOURS] = {
    { "ink", 0x0b0b0b, 0xffffff }, { "soft", 0x52514e, 0xc3c2b7 }, { "muted", 0x898781, 0x8a8880 },
    { "grid", 0xe1e0d9, 0x2c2c2a },
    { "s0", 0x2a78d6, 0x3987e5 }, { "s1", 0xeb6834, 0xd95926 }, { "s2", 0x1baf7a, 0x199e70 },
    { "s3", 0x4a3aa7, 0x9085e9 }, { "s4", 0xeda100, 0xc98500 }, { "s5", 0xe34948, 0xe66767 },
    { "s6", 0x008300, 0x0ca30c }, { "s7", 0xe87ba4, 0xd55181 },
    { "r0", 0x86b6ef, 0x184f95 }, { "r1", 0x5598e7, 0x256abf }, { "r2", 0x2b79d7, 0x3988e6 },
    { "r3", 0x1c5cab, 0x6da7ec }, { "r4", 0x104281, 0x9ec5f4 }, { "r5", 0x0a2a55, 0xcde2fb },
};

/* gnuplot's shapes: filled circle, square, triangle, diamond, triangle down; open circle, square, triangle. */
static const int shapes[] = { 7, 5, 9, 13, 11, 6, 4, 8 };

enum { TICKS_MAX = 7, KEY_MAX = 24 };
/* So many characters have room at the bottom of the narrowest figure. */
enum { WIDTH = 42 };
/* Of gnuplot's size of points: a hundred of them can be told apart. */
static const double MARK = 0.5;

const struct plot_colour_row *plot_colour(int colour)
{
    return &colours[colour];
}

struct plot *plot_create(enum plot_axis x, const char *xlabel, enum plot_axis y, const char *ylabel)
{
    struct plot *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->x = (struct plot_range){ x, xlabel, INFINITY, -INFINITY };
    p->y = (struct plot_range){ y, ylabel, INFINITY, -INFINITY };
    return p;
}

void plot_destroy(struct plot *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n; i++) {
        free(p->v[i].title);
        hrun_buf_release(&p->v[i].data);
    }
    free(p->v);
    free(p->title);
    free(p->caption);
    free(p);
}

static void set_text(struct plot *p, char **text, const char *fmt, va_list ap)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_vaddf(&b, fmt, ap);
    free(*text);
    *text = hrun_buf_detach(&b);
    p->failed |= !*text;
    hrun_buf_release(&b);
}

void plot_set_title(struct plot *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_text(p, &p->title, fmt, ap);
    va_end(ap);
}

void plot_set_caption(struct plot *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_text(p, &p->caption, fmt, ap);
    va_end(ap);
}

int plot_series(struct plot *p, enum plot_style style, int colour, int mark, const char *title)
{
    struct plot_series *v = realloc(p->v, ((size_t)p->n + 1) * sizeof *v);

    if (!v) {
        p->failed = 1;
        return -1;
    }
    p->v = v;
    v[p->n] = (struct plot_series){ .style = style, .colour = colour, .mark = mark };
    hrun_buf_init(&v[p->n].data);
    if (title && *title && !(v[p->n].title = strdup(title)))
        p->failed = 1;
    return p->n++;
}

static int is_log(enum plot_axis a)
{
    return a != PLOT_PERCENT;
}

static int fits(const struct plot_range *r, double v)
{
    return isfinite(v) && (v > 0 || !is_log(r->axis));
}

static void widen(struct plot_range *r, double v)
{
    if (fits(r, v)) {
        r->low = fmin(r->low, v);
        r->high = fmax(r->high, v);
    }
}

void plot_add(struct plot *p, int series, double x, double y, double low, double high)
{
    struct plot_series *s;

    if (series < 0 || !fits(&p->x, x))
        return;
    s = &p->v[series];
    if (s->style == PLOT_BAND)
        y = high;
    if (!fits(&p->y, y))
        return;
    if (s->style >= PLOT_BAND) {
        if (!isfinite(high))
            high = y;
        if (!isfinite(low))
            low = y;
        /* An interval that reaches to 0 ends at the lower edge of a logarithmic axis. */
        if (!fits(&p->y, low))
            low = y / 1000;
        else
            widen(&p->y, low);
        widen(&p->y, high);
    }
    widen(&p->x, x);
    widen(&p->y, y);
    hrun_buf_addf(&s->data, "%.9g %.9g %.9g %.9g\n", x, y, low, high);
    s->n++;
    p->failed |= s->data.failed;
}

int plot_is_empty(const struct plot *p)
{
    return p->x.low > p->x.high || p->y.low > p->y.high;
}

/* ------------------------------------------------------------------ axes */

/* What is shown of an axis: a little more than what was added. */
static void shown(const struct plot_range *r, double *low, double *high)
{
    double margin;

    if (is_log(r->axis)) {
        margin = fmax(0.04 * log(r->high / r->low), 0.1);
        *low = exp(log(r->low) - margin);
        *high = exp(log(r->high) + margin);
        return;
    }
    margin = fmax(0.05 * (r->high - r->low), 0.5);
    *low = r->low - margin;
    *high = r->high + margin;
}

static void label(enum plot_axis axis, double v, struct hrun_buf *out)
{
    if (axis == PLOT_PERCENT)       /* gnuplot takes labels of ticks for formats */
        hrun_buf_addf(out, fabs(v) < 1e-9 ? "0 %%%%" : "%+.6g %%%%", v);
    else if (axis == PLOT_BYTES)
        hrun_buf_addf(out, v < 1024 ? "%.9g B" : v < 1048576 ? "%.9g KiB" : "%.9g MiB",
                      v < 1024 ? v : v < 1048576 ? v / 1024 : v / 1048576);
    else if (axis != PLOT_SECONDS)
        hrun_buf_addf(out, "%.9g", v);
    else if (v < 0.99e-3)
        hrun_buf_addf(out, "%.4g us", 1e6 * v);
    else if (v < 0.99)
        hrun_buf_addf(out, "%.4g ms", 1e3 * v);
    else
        hrun_buf_addf(out, "%.9g s", v);
}

/* 1, 2 or 5 times a power of ten, at least v. */
static double nice(double v)
{
    double unit = pow(10, floor(log10(v)));

    return v <= unit * 1.0001 ? unit : v <= 2.0001 * unit ? 2 * unit : v <= 5.0001 * unit ? 5 * unit : 10 * unit;
}

/* At most `most` of them. */
static int add_linear(enum plot_axis axis, double low, double high, int most, double *v)
{
    double step = nice((high - low) / (most - 1));
    int n = 0;

    if (axis != PLOT_SECONDS && axis != PLOT_PERCENT)
        step = fmax(step, 1);
    for (double x = ceil(low / step) * step; x <= high && n < most; x += step)
        v[n++] = x;
    return n;
}

/* Powers of `base`, every `every`-th, with `parts` of them between two (1, or 3: 1, 2, 5); most + 1: they are more. */
static int add_powers(double low, double high, double base, int every, int parts, int most, double *v)
{
    static const double part[] = { 1, 2, 5 };
    int n = 0, first = (int)floor(log(low) / log(base)) - every;

    first -= ((first % every) + every) % every;
    for (int e = first; pow(base, e) <= high * 1.0000001; e += every)
        for (int k = 0; k < parts; k++) {
            double x = pow(base, e) * part[k];

            if (x < low * 0.9999999 || x > high * 1.0000001)
                continue;
            if (n == most)
                return n + 1;
            v[n++] = x;
        }
    return n;
}

static int add_ticks(const struct plot_range *r, int most, double *v)
{
    double low, high, base = r->axis == PLOT_PROCESSES || r->axis == PLOT_BYTES ? 2 : 10;
    int n = 0;

    shown(r, &low, &high);
    if (is_log(r->axis)) {
        n = add_powers(low, high, base, 1, base == 2 ? 1 : 3, most, v);
        for (int every = 1; n > most; every++)
            n = add_powers(low, high, base, every, 1, most, v);
    }
    return n < 2 ? add_linear(r->axis, low, high, most, v) : n;
}

/* Do n labels stand beside each other on the axis at the bottom, each as wide as the widest? */
static int have_room(enum plot_axis axis, const double *v, int n)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    size_t widest = 0;

    for (int i = 0; i < n; i++) {
        hrun_buf_reset(&b);
        label(axis, v[i], &b);
        widest = b.len > widest ? b.len : widest;
    }
    hrun_buf_release(&b);
    return (size_t)n * (widest + 1) <= WIDTH;
}

void plot_ticks(const struct plot_range *r, struct hrun_buf *out)
{
    int at_bottom = r->axis == PLOT_SIZES || r->axis == PLOT_BYTES || r->axis == PLOT_PROCESSES, n, most = TICKS_MAX;
    double v[TICKS_MAX];

    while ((n = add_ticks(r, most, v)) > 2 && most > 2 && at_bottom && !have_room(r->axis, v, n))
        most--;
    for (int i = 0; i < n; i++) {
        hrun_buf_addf(out, "%s'", i ? ", " : "");
        label(r->axis, v[i], out);
        hrun_buf_addf(out, "' %.9g", v[i]);
    }
}

static void add_axis(const char *which, const struct plot_range *r, struct hrun_buf *out)
{
    double low, high;

    shown(r, &low, &high);
    hrun_buf_addf(out, "%sset logscale %s\nset %srange [%.9g:%.9g]\nset %stics (", is_log(r->axis) ? "" : "un", which,
                  which, low, high, which);
    plot_ticks(r, out);
    hrun_buf_addf(out, ")\nset %slabel ", which);
    plot_quote(r->label, 80, out);
    hrun_buf_addf(out, " offset %s textcolor rgb '#%06x'\n", *which == 'x' ? "0,0.7" : "1,0", colours[PLOT_SOFT].light);
}

/* ------------------------------------------------------------------ the script */

void plot_quote(const char *text, int most, struct hrun_buf *out)
{
    int n = 0;

    hrun_buf_addc(out, '\'');
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        int begins = (*s & 0xc0) != 0x80;

        if (begins && n++ == most) {
            hrun_buf_adds(out, "\xe2\x80\xa6");
            break;
        }
        /* Quotes end the word; backquotes, backslashes and at signs may mean something to gnuplot elsewhere. */
        if (*s == '\'' || *s == '"' || *s == '`')
            hrun_buf_adds(out, "\xe2\x80\x99");
        else if (*s < 0x20 || *s == 0x7f || *s == '\\' || *s == '@')
            hrun_buf_addc(out, '_');
        else
            hrun_buf_addc(out, (char)*s);
    }
    hrun_buf_addc(out, '\'');
}

static void add_style(const struct plot_series *s, struct hrun_buf *out)
{
    unsigned rgb = colours[s->colour].light;
    int shape = shapes[(size_t)s->mark % (sizeof shapes / sizeof *shapes)];

    switch (s->style) {
    case PLOT_POINTS:
        hrun_buf_addf(out, "using 1:2 with points pt %d ps %.1f lc rgb '#%06x'", shape, MARK, rgb);
        break;
    case PLOT_LINE:
        hrun_buf_addf(out, "using 1:2 with lines lw 2 lc rgb '#%06x'", rgb);
        break;
    case PLOT_BAND:
        hrun_buf_addf(out, "using 1:3:4 with filledcurves fillstyle transparent solid 0.15 noborder lc rgb '#%06x'",
                      rgb);
        break;
    case PLOT_INTERVALS:
    case PLOT_CHOSEN:
        hrun_buf_addf(out, "using 1:2:3:4 with yerrorbars pt %d ps %.1f lw %d lc rgb '#%06x'", shape,
                      s->style == PLOT_CHOSEN ? 1.0 : MARK, s->style == PLOT_CHOSEN ? 2 : 1, rgb);
        break;
    }
}

void plot_script(const struct plot *p, int with_title, struct hrun_buf *out)
{
    int drawn = 0;

    hrun_buf_addf(out, "reset\nset encoding utf8\nset bars 0\nset pointintervalbox 0\n"
                  "set border 3 lc rgb '#%06x'\nset grid lt 1 lw 1 lc rgb '#%06x'\n"
                  "set tics nomirror scale 0.5 textcolor rgb '#%06x'\n"
                  "set key noenhanced outside bottom center horizontal Left reverse samplen 1.5\n"
                  "set key textcolor rgb '#%06x'\n",
                  colours[PLOT_MUTED].light, colours[PLOT_GRID].light, colours[PLOT_SOFT].light,
                  colours[PLOT_SOFT].light);
    hrun_buf_adds(out, with_title ? "" : "set tmargin 0.8\n");
    if (with_title && p->title) {
        hrun_buf_adds(out, "set title ");
        plot_quote(p->title, 80, out);
        hrun_buf_addf(out, " noenhanced textcolor rgb '#%06x'\n", colours[PLOT_INK].light);
    }
    add_axis("x", &p->x, out);
    add_axis("y", &p->y, out);
    for (int i = 0; i < p->n; i++)
        if (p->v[i].n)
            hrun_buf_addf(out, "$d%d << EOD\n%sEOD\n", i, p->v[i].data.data);
    for (int i = 0; i < p->n; i++) {
        if (!p->v[i].n)
            continue;
        hrun_buf_addf(out, "%s$d%d ", drawn++ ? ", " : "plot ", i);
        add_style(&p->v[i], out);
        if (p->v[i].title) {
            hrun_buf_adds(out, " title ");
            plot_quote(p->v[i].title, KEY_MAX, out);
        } else {
            hrun_buf_adds(out, " notitle");
        }
    }
    hrun_buf_addc(out, '\n');
    if (p->failed)
        out->failed = 1;
}
