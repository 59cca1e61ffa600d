/* report_pages.c - a report as PDF, and its plots as PNG; see report.h */
#include "report.h"
#include "plot.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* A page in tenths of an inch, and the text that it holds at 7 points: a character of a monospaced font is 0.6 of its
 * height wide. */
enum { PAGE_WIDTH = 80, PAGE_HEIGHT = 55, TEXT_POINTS = 7, MARGIN_LINES = 2 };
enum { LINES = PAGE_HEIGHT * 72 / 10 / (TEXT_POINTS + 2) - 2 * MARGIN_LINES,
       COLUMNS = PAGE_WIDTH * 72 * 10 / 10 / (TEXT_POINTS * 6) - 6 };

/* ------------------------------------------------------------------ text */

/* Append text[len], broken between words into lines of at most COLUMNS characters. */
static void add_wrapped(const char *text, struct hrun_buf *out)
{
    size_t at = 0;

    while (*text) {
        size_t n = strcspn(text, " \n"), width = hrun_text_width(text, n);

        if (at && at + 1 + width > COLUMNS) {
            hrun_buf_addc(out, '\n');
            at = 0;
        }
        hrun_buf_adds(out, at ? " " : "");
        hrun_buf_add(out, text, n);
        at += width + (at > 0);
        text += n;
        text += strspn(text, " \n");
    }
    hrun_buf_addc(out, '\n');
}

static int add_table(const struct report_table *t, struct hrun_buf *out)
{
    struct hrun_table *table = hrun_table_create(t->spec);
    int rc;

    if (!table)
        return -1;
    for (size_t i = 0; i < t->cells.n; i++)
        hrun_table_cell(table, "%s", t->cells.v[i]);
    rc = hrun_table_render(table, 2, out);
    hrun_table_destroy(table);
    hrun_buf_addc(out, '\n');
    if (t->note)
        add_wrapped(t->note, out);
    return rc;
}

static int add_text(const struct report_parts *parts, struct hrun_buf *out)
{
    report_title(parts->r, out);
    hrun_buf_adds(out, "\n");
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        int some = 0;

        for (int i = 0; i < parts->ntables; i++) {
            const struct report_table *t = &parts->tables[i];

            if (t->section != s || t->folded)
                continue;
            if (!some++)
                hrun_buf_addf(out, "\n%s\n\n", report_section_title(s));
            if (add_table(t, out))
                return -1;
        }
        if (s == REPORT_CHOICE && parts->r->why_no_plan) {
            hrun_buf_addf(out, "\n%s\n\n", report_section_title(s));
            add_wrapped(parts->r->why_no_plan, out);
        }
        if (s == REPORT_FIT && parts->waits)
            hrun_buf_addf(out, "\nWho waits\n\n%s", parts->waits);
    }
    return 0;
}

/* ------------------------------------------------------------------ pages of text */

static void begin_page(struct hrun_buf *script)
{
    hrun_buf_adds(script, "reset\nset encoding utf8\nunset border\nunset tics\nunset key\nset margins 0,0,0,0\n");
}

static void end_page(struct hrun_buf *script)
{
    hrun_buf_adds(script, "plot [0:1] [0:1] 2 notitle\n");
}

static void add_line(int at, const char *text, size_t len, struct hrun_buf *script)
{
    char *line = hrun_strf("%.*s", (int)len, text);

    if (!line) {
        script->failed = 1;
        return;
    }
    hrun_buf_addf(script, "set label %d ", at + 1);
    plot_quote(line, 400, script);
    hrun_buf_addf(script, " at screen 0.03, screen %.4f left noenhanced font 'monospace,%d' textcolor rgb '#%06x'\n",
                  1 - (double)(at + MARGIN_LINES) / (LINES + 2 * MARGIN_LINES), TEXT_POINTS,
                  plot_colour(PLOT_INK)->light);
    free(line);
}

static void add_text_pages(const char *text, struct hrun_buf *script)
{
    while (*text) {
        begin_page(script);
        for (int i = 0; i < LINES && *text; i++) {
            size_t n = strcspn(text, "\n");

            if (n)
                add_line(i, text, n, script);
            text += n + (text[n] == '\n');
        }
        end_page(script);
    }
}

int report_pdf(const struct report_parts *parts, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf script = HRUN_BUF_INIT, text = HRUN_BUF_INIT;
    int rc = -1;

    if (add_text(parts, &text) || text.failed) {
        hrun_fail_nomem(err);
        goto done;
    }
    hrun_buf_addf(&script, "set terminal pdfcairo size %d.%din,%d.%din font 'sans,12' noenhanced\n", PAGE_WIDTH / 10,
                  PAGE_WIDTH % 10, PAGE_HEIGHT / 10, PAGE_HEIGHT % 10);
    add_text_pages(text.data, &script);
    for (int i = 0; i < parts->nplots; i++)
        plot_script(parts->plots[i], 1, &script);
    rc = gnuplot_run(&script, out, err);
done:
    hrun_buf_release(&script);
    hrun_buf_release(&text);
    return rc;
}

/* Twice as fine as the page's figures. */
int report_png(const struct plot *plot, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf script = HRUN_BUF_INIT;
    int rc;

    hrun_buf_addf(&script, "set terminal pngcairo size %d,%d font 'sans,20' linewidth 2 pointscale 2 noenhanced\n",
                  2 * PLOT_WIDTH, 2 * PLOT_HEIGHT);
    plot_script(plot, 1, &script);
    rc = gnuplot_run(&script, out, err);
    hrun_buf_release(&script);
    return rc;
}
