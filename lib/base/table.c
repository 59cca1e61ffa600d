/* table.c - text tables for people; see units.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct hrun_table {
    size_t ncol;
    char *spec;                 /* ncol characters */
    struct hrun_strvec cells;   /* row by row */
};

struct hrun_table *hrun_table_create(const char *spec)
{
    struct hrun_table *t = xcalloc(1, sizeof *t);

    t->spec = xstrdup(spec);
    t->ncol = strlen(spec);
    return t;
}

void hrun_table_destroy(struct hrun_table *t)
{
    if (!t)
        return;
    hrun_strvec_release(&t->cells);
    free(t->spec);
    free(t);
}

void hrun_table_row(struct hrun_table *t, ...)
{
    va_list ap;

    /* finish a row that hrun_table_cell left incomplete, or else later columns would shift */
    while (t->ncol && t->cells.n % t->ncol)
        hrun_strvec_push(&t->cells, "");
    va_start(ap, t);
    for (size_t i = 0; i < t->ncol; i++) {
        const char *s = va_arg(ap, const char *);
        hrun_strvec_push(&t->cells, s ? s : "");
    }
    va_end(ap);
}

void hrun_table_cell(struct hrun_table *t, const char *fmt, ...)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    if (!t->ncol)
        return;
    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    hrun_strvec_push(&t->cells, b.data);
}

/* Count all bytes but continuations (10xxxxxx). */
size_t hrun_text_width(const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

const char *hrun_skip_characters(const char *s, size_t n)
{
    while (*s && (n || ((unsigned char)*s & 0xC0) == 0x80))
        n -= ((unsigned char)*s++ & 0xC0) != 0x80;
    return s;
}

void hrun_add_shortened(struct hrun_buf *out, const char *s, size_t columns)
{
    size_t all = hrun_text_width(s, strlen(s)), end = (columns - 2) / 2;

    if (all <= columns)
        hrun_buf_adds(out, s);
    else
        hrun_buf_addf(out, "%.*s..%s", (int)(hrun_skip_characters(s, columns - 2 - end) - s), s,
                      hrun_skip_characters(s, all - end));
}

int hrun_terminal_width(int fd)
{
    enum { WIDTH_MIN = 40, WIDTH = 80, WIDTH_MAX = 1000 };
    const char *set = getenv("COLUMNS");
    struct hrun_error ignored;
    int64_t width = WIDTH;
    struct winsize w;

    if (!ioctl(fd, TIOCGWINSZ, &w) && w.ws_col)
        width = w.ws_col;
    else if (set)
        hrun_parse_count("COLUMNS", set, 1, WIDTH_MAX, &width, &ignored);
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (int)width;
}

void hrun_table_render(const struct hrun_table *t, int indent, struct hrun_buf *out)
{
    enum { GAP = 2 };
    autofree size_t *widths = xcalloc(t->ncol, sizeof *widths);

    for (size_t i = 0; i < t->cells.n; i++) {
        size_t w = hrun_text_width(t->cells.v[i], strlen(t->cells.v[i]));
        if (w > widths[i % t->ncol])
            widths[i % t->ncol] = w;
    }
    for (size_t row = 0; row < t->cells.n; row += t->ncol) {
        /* blanks are written only before a further cell, so no line ends in blanks */
        size_t owed = indent > 0 ? (size_t)indent : 0;
        for (size_t col = 0; col < t->ncol && row + col < t->cells.n; col++) {
            const char *cell = t->cells.v[row + col];
            size_t pad = widths[col] - hrun_text_width(cell, strlen(cell));
            if (t->spec[col] == 'r')
                owed += pad;
            if (*cell) {
                hrun_buf_addn(out, ' ', owed);
                hrun_buf_adds(out, cell);
                owed = 0;
            }
            if (t->spec[col] != 'r')
                owed += pad;
            owed += GAP;
        }
        hrun_buf_addc(out, '\n');
    }
}
