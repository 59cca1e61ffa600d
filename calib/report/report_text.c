/* report_text.c - a report as tables of text: what PDF and browsers without JavaScript show; see report.h */
#include "report.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { BEST_SHOWN = 8 };

/* A column: what stands above it, and the member that it shows. Those that end in _s are times, epsilon and delta
 * parts of 1. */
struct column {
    const char *head, *key;
};

static void add_member_cell(struct hrun_table *t, const char *key, const json_t *v)
{
    struct hrun_buf b = HRUN_BUF_INIT;
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
    hrun_buf_release(&b);
}

/* spec: l or r for each column. Of more than `most` rows the first are shown. */
static void add_rows_of(const char *title, const json_t *rows, size_t most, const char *spec,
                        const struct column *columns, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create(spec);
    size_t n = json_array_size(rows) < most ? json_array_size(rows) : most;

    for (size_t k = 0; k < strlen(spec); k++)
        hrun_table_cell(t, "%s", columns[k].head);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < strlen(spec); k++)
            add_member_cell(t, columns[k].key, json_object_get(json_array_get(rows, i), columns[k].key));
    hrun_buf_addf(out, "\n%s\n\n", title);
    if (n)
        hrun_table_render(t, 2, out);
    else
        hrun_buf_adds(out, "  nothing is known\n");
    hrun_table_destroy(t);
}

void report_text(const json_t *root, const char *models, struct hrun_buf *out)
{
    static const struct column subs[] = { { "sub-cluster", "name" }, { "PEs", "pes" }, { "profile", "signature" },
                                          { "runs used", "used" } };
    static const struct column best[] = { { "configuration", "config" }, { "P", "P" }, { "predicted", "predicted_s" },
                                          { "ranked as", "ranked_s" } };
    static const struct column sizes[] = {
        { "N", "N" }, { "recorded", "recorded" }, { "valid", "valid" }, { "chosen", "chosen" },
        { "predicted", "predicted_s" }, { "actual", "measured_s" }, { "delta", "delta" }, { "best recorded", "best" },
        { "its time", "best_s" }, { "epsilon", "epsilon" },
    };
    static const struct column costs[] = { { "on", "on" }, { "runs", "runs" }, { "failed", "failed" },
                                           { "time", "wall_s" }, { "PE time", "pe_s" } };
    const char *network = json_string_value(json_object_get(json_object_get(root, "network"), "text"));
    const char *why = json_string_value(json_object_get(root, "why_no_plan"));

    hrun_buf_addf(out, "%s\n", json_string_value(json_object_get(root, "title")));
    add_rows_of("Sub-clusters and profiles", json_object_get(root, "subclusters"), SIZE_MAX, "lrlr", subs, out);
    add_rows_of("The choice", json_object_get(json_object_get(root, "plan"), "choices"), BEST_SHOWN, "lrrr", best, out);
    if (why)
        hrun_buf_addf(out, "  %s\n", why);
    add_rows_of("How good the choice is", json_object_get(root, "sizes"), SIZE_MAX, "rrrlrrrlrr", sizes, out);
    hrun_buf_addf(out, "\nFit\n\n%s", models);
    if (network)
        hrun_buf_addf(out, "\nThe network\n\n%s", network);
    add_rows_of("Runs and what they cost", json_object_get(root, "costs"), SIZE_MAX, "lrrrr", costs, out);
}
