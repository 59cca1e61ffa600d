/* svg.c - what gnuplot draws as a part of a page; see plot_svg in plot.h
 *
 * gnuplot's SVG is a document of its own: several in one page would share their ids, bring addresses of name spaces
 * with them, and stay light where the page is dark. A table says what becomes of each piece.
 */
#include "plot.h"

#include <stdio.h>
#include <string.h>

/* One piece of text and what stands in its place; "%" there is the id of the figure. */
struct piece {
    const char *from, *to;
};

static const struct piece pieces[] = {
    { "xlink:href='#", "href='#%-" }, { " id='", " id='%-" }, { " id=\"", " id=\"%-" },
    { "color=\"black\"", "color=\"var(--ink)\"" }, { "fill=\"black\"", "fill=\"var(--ink)\"" },
    { "stroke=\"black\"", "stroke=\"var(--ink)\"" },
};

/* From its first text to its last a piece is left out. */
static const struct piece dropped[] = {
    { "<title>", "</title>\n" }, { "<desc>", "</desc>\n" }, { "<filter ", "</filter>\n" },
};

static int starts(const char *at, const char *word)
{
    return !strncmp(at, word, strlen(word));
}

static void add_to(const char *to, const char *id, struct hrun_buf *out)
{
    for (; *to; to++) {
        if (*to == '%')
            hrun_buf_adds(out, id);
        else
            hrun_buf_addc(out, *to);
    }
}

/* A colour as gnuplot writes it, "rgb( 42, 120, 214)" or "rgb(42,120,214)": its length, 0 when it is none of ours. */
static size_t add_colour(const char *at, struct hrun_buf *out)
{
    int r, g, b, n = 0;

    if (!starts(at, "rgb(") || sscanf(at, "rgb(%d ,%d ,%d)%n", &r, &g, &b, &n) < 3 || !n)
        return 0;
    for (int i = 0; i < PLOT_COLOURS; i++)
        if (plot_colour(i)->light == ((unsigned)r << 16 | (unsigned)g << 8 | (unsigned)b)) {
            hrun_buf_addf(out, "var(--%s)", plot_colour(i)->name);
            return (size_t)n;
        }
    return 0;
}

static size_t dropped_length(const char *at)
{
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        const char *end = starts(at, dropped[i].from) ? strstr(at, dropped[i].to) : NULL;

        /* Without the newline it ends all the same. */
        if (end)
            return (size_t)(end - at) + strlen(dropped[i].to);
    }
    return 0;
}

/* What gnuplot paints white behind marks with bars. */
static size_t drop_halo(const char *at)
{
    const char *end = starts(at, "<use ") ? strchr(at, '\n') : NULL;
    static const char white[] = " color='white'/>";

    return end && (size_t)(end - at) > strlen(white) && starts(end - strlen(white), white) ? (size_t)(end - at) : 0;
}

/* A group that holds nothing. */
static size_t drop_empty(const char *at)
{
    const char *end = starts(at, "<g fill=") ? strstr(at, ">\n") : NULL;

    return end && starts(end + 2, "</g>\n") ? (size_t)(end - at) + 7 : 0;
}

static size_t replace(const char *at, const char *id, struct hrun_buf *out)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (starts(at, pieces[i].from)) {
            add_to(pieces[i].to, id, out);
            return strlen(pieces[i].from);
        }
    return add_colour(at, out);
}

/* svg: gnuplot's document. 0, or -1 when it is none. */
static int adapt(const char *svg, const char *id, struct hrun_buf *out)
{
    const char *at = strstr(svg, "<svg");

    at = at ? strstr(at, ">\n") : NULL;
    if (!at)
        return -1;
    hrun_buf_addf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-caption\">", PLOT_WIDTH,
                  PLOT_HEIGHT, id);
    for (at += 1; *at;) {
        size_t n = *at == '<' ? dropped_length(at) : 0;

        n = n || *at != '<' ? n : drop_empty(at);
        n = n || *at != '<' ? n : drop_halo(at);
        n = n ? n : replace(at, id, out);
        if (!n)
            hrun_buf_addc(out, *at);
        at += n ? n : 1;
    }
    return 0;
}

int plot_svg(const struct plot *p, const char *id, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf script = HRUN_BUF_INIT, svg = HRUN_BUF_INIT;
    int rc;

    hrun_buf_addf(&script, "set terminal svg size %d,%d font 'sans-serif,13' noenhanced\n", PLOT_WIDTH, PLOT_HEIGHT);
    plot_script(p, 0, &script);
    rc = gnuplot_run(&script, &svg, err);
    if (!rc && adapt(svg.data, id, out))
        rc = hrun_fail(err, HRUN_EIO, "gnuplot made no SVG");
    if (!rc && out->failed)
        rc = hrun_fail_nomem(err);
    hrun_buf_release(&script);
    hrun_buf_release(&svg);
    return rc;
}
