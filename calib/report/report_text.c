/* report_text.c - a report as tables of text, for PDF and for browsers without JavaScript; see calib_report.h */
#include "calib_report.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* Members that end in _s are times in s; epsilon and delta are fractions. */
struct text_table {
    const char *title, *path;       /* path: of the array whose objects are its rows */
    size_t most;                    /* rows shown */
    const char *spec;               /* l or r for each column */
    const char *heads[10], *keys[10];
};
static const struct text_table choice_tables[] = {
    { "Sub-clusters and profiles", "subclusters", SIZE_MAX, "lrlr", { "sub-cluster", "PEs", "profile", "runs used" },
      { "name", "pes", "signature", "used" } },
    { "The choice", "plan/choices", 8, "lrrr", { "configuration", "P", "predicted", "ranked as" },
      { "config", "P", "predicted_s", "ranked_s" } },
    { "How good the choice is", "sizes", SIZE_MAX, "rrrlrrrlrr",
      { "N", "recorded", "valid", "chosen", "predicted", "actual", "delta", "best recorded", "its time", "epsilon" },
      { "N", "recorded", "valid", "chosen", "predicted_s", "measured_s", "delta", "best", "best_s", "epsilon" } },
};
static const struct text_table costs_table = {
    "Runs and what they cost", "costs", SIZE_MAX, "lrrrr", { "on", "runs", "failed", "time", "PE time" },
    { "on", "runs", "failed", "wall_s", "pe_s" },
};

json_t *report_member(const json_t *root, const char *path)
{
    const json_t *at = root;

    for (size_t n; *path && at; path += n + (path[n] == '/')) {
        char key[32];

        n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        at = json_object_get(at, key);
    }
    return (json_t *)at;
}

static void add_member_cell(struct hrun_table *t, const char *key, const json_t *v)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    size_t len = strlen(key);

    if (json_is_string(v))
        hrun_buf_adds(&b, json_string_value(v));
    else if (!json_is_number(v))
        hrun_buf_adds(&b, "-");
    else if (len > 2 && !strcmp(key + len - 2, "_s"))
        hrun_buf_adds(&b, hrun_seconds(json_number_value(v)).s);
    else if (!strcmp(key, "epsilon") || !strcmp(key, "delta"))
        hrun_buf_addf(&b, "%.1f %%", 100 * json_number_value(v));
    else
        hrun_buf_addf(&b, "%.9g", json_number_value(v));
    hrun_table_cell(t, "%s", b.data);
}

static void add_text_table(const struct text_table *what, const json_t *root, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create(what->spec);
    const json_t *rows = report_member(root, what->path);
    size_t n = json_array_size(rows) < what->most ? json_array_size(rows) : what->most;

    for (size_t k = 0; what->spec[k]; k++)
        hrun_table_cell(t, "%s", what->heads[k]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; what->spec[k]; k++)
            add_member_cell(t, what->keys[k], json_object_get(json_array_get(rows, i), what->keys[k]));
    hrun_buf_addf(out, "\n%s\n\n", what->title);
    if (n)
        hrun_table_render(t, 2, out);
    else
        hrun_buf_adds(out, "  nothing is known\n");
    hrun_table_destroy(t);
}

void report_text(const json_t *root, const char *models, struct hrun_buf *out)
{
    const char *network = json_string_value(report_member(root, "network/text"));
    const char *why = json_string_value(report_member(root, "why_no_plan"));

    hrun_buf_addf(out, "%s\n", json_string_value(json_object_get(root, "title")));
    for (size_t i = 0; i < sizeof choice_tables / sizeof *choice_tables; i++)
        add_text_table(&choice_tables[i], root, out);
    if (why)
        hrun_buf_addf(out, "\n%s\n", why);
    hrun_buf_addf(out, "\nFit\n\n%s", models);
    if (network)
        hrun_buf_addf(out, "\nThe network\n\n%s", network);
    add_text_table(&costs_table, root, out);
}
