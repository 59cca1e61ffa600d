/* report_html.c - a report as one page that needs nothing else; see report.h
 *
 * The page is well-formed XML as well as HTML 5. Text that comes from measurements or definitions is escaped, all of it
 * in one place.
 */
#include "report.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    "body{margin:0;padding:16px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 .25rem;overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.5rem 0 .75rem;border-top:1px solid var(--grid);padding-top:1rem}\n"
    "h3{font-size:1rem;margin:1.5rem 0 .5rem}\n"
    "p{max-width:75ch}\n"
    ".soft,figcaption span,.note{color:var(--soft)}\n"
    ".note{font-size:.875rem}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:1rem 0}\n"
    ".tile{background:var(--card);border:1px solid var(--grid);border-radius:8px;padding:10px 14px}\n"
    ".tile b{display:block;font-size:1.35rem;font-weight:600;overflow-wrap:anywhere}\n"
    ".tile span{color:var(--soft);font-size:.875rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,460px),1fr));gap:16px}\n"
    "figure{margin:0;background:var(--card);border:1px solid var(--grid);border-radius:8px;padding:10px;min-width:0}\n"
    "figcaption{font-size:.9375rem;overflow-wrap:anywhere}\n"
    "figcaption b{display:block}\n"
    "figcaption span{font-size:.8125rem}\n"
    "svg{display:block;width:100%;height:auto}\n"
    ".table{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 10px;border-bottom:1px solid var(--grid);text-align:left;white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}\n"
    "td:last-child:not(.r){white-space:normal;min-width:14em}\n"
    ".r{text-align:right}\n"
    "@media (max-width:600px){body{padding:12px}table{font-size:.8125rem}th,td{padding:4px 6px}}\n"
    "summary{cursor:pointer;margin:.75rem 0}\n"
    "pre{overflow-x:auto;font-size:.8125rem}\n"
    "footer{margin:2.5rem 0 1rem;color:var(--soft);font-size:.875rem}\n";

/* Backgrounds: of the page, and of what stands on it. */
static const struct plot_colour_row grounds[] = { { "page", 0xf9f9f7, 0x0d0d0d }, { "card", 0xffffff, 0x1a1a19 } };

/* ------------------------------------------------------------------ escaping */

/* Length of the UTF-8 character at s that XML may hold, 0 if there is none. */
static size_t character(const unsigned char *s)
{
    size_t n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : *s >= 0xe0 && *s < 0xf0 ? 3
             : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (n == 1)
        return *s >= 0x20 && *s != 0x7f ? 1 : *s == '\n' || *s == '\t';
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
                   (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe)))
        return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
        return 0;
    return n;
}

static void escape(const char *text, struct hrun_buf *out)
{
    static const struct { char c; const char *as; } marks[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" },
    };

    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = character(s), k = 0;

        while (k < sizeof marks / sizeof *marks && marks[k].c != (char)*s)
            k++;
        if (k < sizeof marks / sizeof *marks)
            hrun_buf_adds(out, marks[k].as);
        else if (n)
            hrun_buf_add(out, s, n);
        else
            hrun_buf_adds(out, "\xef\xbf\xbd");
        s += n ? n : 1;
    }
}

static void element(const char *name, const char *text, struct hrun_buf *out)
{
    hrun_buf_addf(out, "<%s>", name);
    escape(text, out);
    hrun_buf_addf(out, "</%.*s>\n", (int)strcspn(name, " "), name);
}

/* ------------------------------------------------------------------ the parts */

static void add_colours(int dark, struct hrun_buf *out)
{
    hrun_buf_adds(out, ":root{");
    for (size_t i = 0; i < sizeof grounds / sizeof *grounds; i++)
        hrun_buf_addf(out, "--%s:#%06x;", grounds[i].name, dark ? grounds[i].dark : grounds[i].light);
    for (int i = 0; i < PLOT_COLOURS; i++)
        hrun_buf_addf(out, "--%s:#%06x;", plot_colour(i)->name, dark ? plot_colour(i)->dark : plot_colour(i)->light);
    hrun_buf_adds(out, "}");
}

static void add_head(const struct report *r, struct hrun_buf *out)
{
    struct hrun_buf title = HRUN_BUF_INIT;

    report_title(r, &title);
    hrun_buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<meta name=\"color-scheme\" content=\"light dark\"/>\n");
    element("title", title.data, out);
    hrun_buf_adds(out, "<style>\n");
    add_colours(0, out);
    hrun_buf_adds(out, "\n@media (prefers-color-scheme:dark){");
    add_colours(1, out);
    hrun_buf_addf(out, "}\n%s</style>\n</head>\n<body>\n<main>\n", STYLE);
    element("h1", title.data, out);
    out->failed |= title.failed;
    hrun_buf_release(&title);
}

static void tile(const char *value, const char *what, struct hrun_buf *out)
{
    hrun_buf_adds(out, "<div class=\"tile\">");
    element("b", value, out);
    element("span", what, out);
    hrun_buf_adds(out, "</div>\n");
}

/* The mean deviation of the fit from the runs that it was made of. */
static double mean_miss(const struct report *r)
{
    double mean = 0;
    int n = 0;

    for (int i = 0; i < r->nruns; i++)
        if (r->runs[i].fit > 0) {
            n++;
            mean += (fabs(r->runs[i].fit / r->runs[i].s->time_s - 1) - mean) / n;
        }
    return n ? mean : NAN;
}

static void add_tiles(const struct report *r, struct hrun_buf *out)
{
    struct hrun_buf value = HRUN_BUF_INIT, what = HRUN_BUF_INIT;
    struct report_errors e;
    double wall = 0, miss = mean_miss(r);

    for (int i = 0; i < r->nruns; i++)
        wall += r->runs[i].s->wall_s;
    hrun_buf_adds(out, "<div class=\"tiles\">\n");
    hrun_add_count(&value, r->nruns);
    tile(value.data, r->nruns == 1 ? "run recorded" : "runs recorded", out);
    hrun_buf_reset(&value);
    hrun_add_seconds(&value, wall);
    tile(value.data, "spent on them", out);
    if (!isnan(miss)) {
        hrun_buf_reset(&value);
        hrun_buf_addf(&value, "%.1f %%", 100 * miss);
        tile(value.data, "mean deviation of the fit", out);
    }
    report_errors(r, report_delta, &e);
    if (e.n) {
        hrun_buf_reset(&value);
        hrun_buf_addf(&value, "%.1f %%", 100 * e.mean);
        hrun_buf_addf(&what, "mean |\xce\xb4| of the choice at %d size%s", e.n, e.n == 1 ? "" : "s");
        tile(value.data, what.data, out);
    }
    if (r->plan) {
        hrun_buf_reset(&value);
        hrun_buf_reset(&what);
        hrun_add_seconds(&value, r->plan->v[0].time_s);
        hrun_buf_addf(&what, "predicted at N = %lld with ", (long long)r->N);
        hrun_config_print(r->plan->v[0].pes, r->plan->v[0].procs, r->nsubs, &what);
        if (r->c->app->shares.units)
            hrun_buf_adds(&what, ", with equal shares");
        tile(value.data, what.data, out);
    }
    hrun_buf_adds(out, "</div>\n");
    out->failed |= value.failed || what.failed;
    hrun_buf_release(&value);
    hrun_buf_release(&what);
}

static void add_paragraphs(const char *text, struct hrun_buf *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        char *one = hrun_strf("%.*s", (int)n, text);

        out->failed |= !one;
        if (one)
            element("p class=\"note\"", one, out);
        free(one);
        text += n + (text[n] == '\n');
    }
}

static void add_table(const struct report_table *t, struct hrun_buf *out)
{
    size_t ncol = strlen(t->spec);

    if (t->folded) {
        hrun_buf_adds(out, "<details>");
        element("summary", t->title, out);
    } else if (t->title) {
        element("h3", t->title, out);
    }
    hrun_buf_adds(out, "<div class=\"table\"><table>\n");
    for (size_t i = 0; i < t->cells.n; i++) {
        const char *name = i < ncol ? "th" : "td";

        hrun_buf_adds(out, i % ncol ? "" : i == 0 ? "<thead><tr>" : i == ncol ? "<tbody><tr>" : "<tr>");
        hrun_buf_addf(out, "<%s%s>", name, t->spec[i % ncol] == 'r' ? " class=\"r\"" : "");
        escape(t->cells.v[i], out);
        hrun_buf_addf(out, "</%s>", name);
        hrun_buf_adds(out, (i + 1) % ncol ? "" : i + 1 == ncol ? "</tr></thead>\n" : "</tr>\n");
    }
    hrun_buf_adds(out, "</tbody></table></div>\n");
    if (t->note)
        add_paragraphs(t->note, out);
    if (t->folded)
        hrun_buf_adds(out, "</details>\n");
}

static int add_figure(const struct plot *p, int number, struct hrun_buf *out, struct hrun_error *err)
{
    char id[32];

    snprintf(id, sizeof id, "figure-%d", number);
    hrun_buf_addf(out, "<figure>\n<figcaption id=\"%s-caption\">", id);
    element("b", p->title, out);
    if (p->caption)
        element("span", p->caption, out);
    hrun_buf_adds(out, "</figcaption>\n");
    if (plot_svg(p, id, out, err))
        return -1;
    hrun_buf_adds(out, "</figure>\n");
    return 0;
}

static void add_tables(const struct report_parts *parts, int section, struct hrun_buf *out)
{
    for (int i = 0; i < parts->ntables; i++)
        if (parts->tables[i].section == section)
            add_table(&parts->tables[i], out);
}

/* The tables of the choice stand beside its only figure. */
static int add_section(const struct report_parts *parts, int section, struct hrun_buf *out, struct hrun_error *err)
{
    int some = 0, rc = 0;

    for (int i = 0; i < parts->nplots && !rc; i++)
        if (parts->plots[i]->section == section) {
            hrun_buf_adds(out, some++ ? "" : "<div class=\"figures\">\n");
            rc = add_figure(parts->plots[i], i + 1, out, err);
        }
    if (some && section == REPORT_CHOICE) {
        hrun_buf_adds(out, "<div>\n");
        add_tables(parts, section, out);
        hrun_buf_adds(out, "</div>\n</div>\n");
        return rc;
    }
    hrun_buf_adds(out, some ? "</div>\n" : "");
    add_tables(parts, section, out);
    return rc;
}

int report_html(const struct report_parts *parts, struct hrun_buf *out, struct hrun_error *err)
{
    const struct report *r = parts->r;
    char now[21];

    add_head(r, out);
    add_tiles(r, out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        if (s == REPORT_NETWORK && !r->net)
            continue;
        hrun_buf_adds(out, "<section>\n");
        element("h2", report_section_title(s), out);
        if (s == REPORT_CHOICE && r->why_no_plan)
            element("p", r->why_no_plan, out);
        if (add_section(parts, s, out, err))
            return -1;
        if (s == REPORT_FIT && parts->waits) {
            element("h3", "Who waits", out);
            element("pre", parts->waits, out);
        }
        hrun_buf_adds(out, "</section>\n");
    }
    hrun_date_now(now);
    hrun_buf_addf(out, "<footer>Made by hrun-calibrate report %s, %s.</footer>\n</main>\n</body>\n</html>\n",
                  HRUN_VERSION, now);
    return out->failed ? hrun_fail_nomem(err) : 0;
}
