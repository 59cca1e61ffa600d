/* coll_report.c - reports on the tuning of collective operations; see session/coll_tuning.h for the contracts */
#include "../preloaded/coll_choice.h"
#include "base/alloc.h"
#include "base/trace_lines.h"
#include "base/units.h"
#include "session/coll_tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes are 1 B to 4 MiB, as the library uses for variants with counts, with STEPS per doubling (coll_round). A choice
 * for MANY processes needs 1 ms; with more processes only powers of two are tried. */
enum { OCTAVES = 22, STEPS = 4, MANY = 64, SIZES = OCTAVES * STEPS + 3 };

/* A range of sizes with the same algorithm. */
struct range {
    const char *op, *way;
    double from, to;               /* bytes; to = -1: variants with counts */
    double segment;                /* the largest segment */
    double least, most;            /* range of the speedup; 0: not known */
};

struct ranges {
    struct range *v;
    size_t n;
};

/* ---------------------------------------------------------------- before a run */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sizes at which choices can change, ascending: sizes[SIZES]. */
static size_t find_size_limits(const struct hrun_net_tuning *t, double *sizes)
{
    const struct hrun_net_thresholds *limits = &t->net->thresholds;
    int steps = t->world.n > MANY ? 1 : STEPS;
    size_t n = 0, kept = 0;

    for (int e = 0; e < OCTAVES; e++)
        for (int k = 0; k < steps; k++)
            sizes[n++] = ceil(ldexp(1 + (double)k / steps, e));
    sizes[n++] = ldexp(1, OCTAVES);
    if (limits->gather_M2 > 0) {
        sizes[n++] = fmax(1, ceil(limits->gather_M1));
        sizes[n++] = floor(limits->gather_M2) + 1;
    }
    qsort(sizes, n, sizeof *sizes, by_size);
    for (size_t i = 0; i < n; i++)
        if (!kept || sizes[i] > sizes[kept - 1])
            sizes[kept++] = sizes[i];
    return kept;
}

static void add_size_range(struct ranges *r, const struct range *more)
{
    struct range *last = r->n ? &r->v[r->n - 1] : NULL;

    if (last && last->op == more->op && last->way == more->way && last->to + 1 == more->from) {
        last->to = more->to;
        last->segment = fmax(last->segment, more->segment);
        last->least = fmin(last->least, more->least);
        last->most = fmax(last->most, more->most);
        return;
    }
    r->v = xrealloc(r->v, (r->n + 1) * sizeof *r->v);
    r->v[r->n++] = *more;
}

static void find_operation(const struct hrun_net_tuning *t, enum hrun_net_op op, const double *sizes, size_t n,
                           struct ranges *out)
{
    for (size_t i = 0; i + 1 < n; i++) {
        struct coll_choice c;
        double speedup;

        coll_choose(t, &t->world, op, 0, coll_round(t->net, sizes[i]), &c);
        speedup = c.library_s > 0 && c.time_s > 0 ? c.library_s / c.time_s : 0;
        if (c.way)
            add_size_range(out, &(struct range){ hrun_net_op_name(op), c.way, sizes[i], sizes[i + 1] - 1, c.segment,
                                            speedup, speedup });
        coll_choice_release(&c);
    }
}

static void find_with_counts(const struct hrun_net_tuning *t, enum hrun_net_op op, const char *name, struct ranges *out)
{
    double M2 = t->net->thresholds.gather_M2;
    struct coll_choice c;

    if (!coll_choose_v(t, &t->world, op, 0, &c))
        return;
    add_size_range(out, &(struct range){ .op = name, .way = c.way, .from = 1, .to = -1,
                                         .segment = op == HRUN_NET_GATHER ? coll_piece(t->net, M2) : 0 });
    coll_choice_release(&c);
}

/* The sizes for which each operation is tuned. The caller frees out->v. */
static void find_ranges(const struct tune *t, struct ranges *out)
{
    static const enum hrun_net_op ops[] = { HRUN_NET_SCATTER, HRUN_NET_GATHER, HRUN_NET_BCAST };
    struct hrun_net_tuning *tuning = hrun_net_tuning_read(t->text.data);
    double sizes[SIZES];
    size_t n;

    *out = (struct ranges){ NULL, 0 };
    if (!tuning)
        return;
    n = find_size_limits(tuning, sizes);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        find_operation(tuning, ops[i], sizes, n, out);
    find_with_counts(tuning, HRUN_NET_SCATTER, "scatterv", out);
    find_with_counts(tuning, HRUN_NET_GATHER, "gatherv", out);
    hrun_net_tuning_destroy(tuning);
}

static void add_way(struct hrun_buf *b, const char *way, double segment, int counts)
{
    hrun_buf_adds(b, way);
    if (segment > 0)
        hrun_buf_addf(b, "%s%s",
                      counts ? ", irregular parts in pieces of " : !strcmp(way, "pieces") ? " of " : ", segments of ",
                      hrun_bytes(segment).s);
}

static void add_times_as_fast(struct hrun_buf *b, double times)
{
    hrun_buf_addf(b, times < 9.95 ? "%.1f" : "%.0f", times);
}

static void add_range_row(const struct range *r, struct hrun_table *t)
{
    autorelease(hrun_buf_release) struct hrun_buf sizes = HRUN_BUF_INIT, way = HRUN_BUF_INIT, speed = HRUN_BUF_INIT;

    if (r->to < 0) {
        hrun_buf_adds(&sizes, "whatever the counts");
    } else {
        hrun_buf_addf(&sizes, "%s to %s", hrun_bytes(r->from).s, hrun_bytes(r->to).s);
    }
    add_way(&way, r->way, r->segment, r->to < 0);
    if (r->most > 0) {
        add_times_as_fast(&speed, r->least);
        if (r->most - r->least >= 0.05 * r->most) {
            hrun_buf_adds(&speed, " to ");
            add_times_as_fast(&speed, r->most);
        }
        hrun_buf_adds(&speed, " times as fast");
    }
    hrun_table_row(t, r->op, sizes.data, way.data, speed.data);
}

void tuned_plan(const struct tune *t, struct hrun_buf *out)
{
    struct hrun_table *table;
    struct ranges r;

    if (t->why[0])
        return;              /* reported by say_untuned */
    find_ranges(t, &r);
    if (!r.n) {
        hrun_buf_adds(out, "  tuned operations  none: by the model Open MPI's own ways are the quickest\n");
        return;
    }
    hrun_buf_adds(out, "  tuned operations, by the model (root 0; each is tried before it stays):\n");
    table = hrun_table_create("llll");
    for (size_t i = 0; i < r.n; i++)
        add_range_row(&r.v[i], table);
    hrun_table_render(table, 4, out);
    hrun_table_destroy(table);
    free(r.v);
}

static json_t *real_or_null(int known, double v)
{
    return known ? json_real(v) : json_null();
}

json_t *tuned_plan_json(const struct tune *t)
{
    json_t *operations = json_array();
    struct ranges r = { NULL, 0 };

    if (!t->why[0])
        find_ranges(t, &r);
    for (size_t i = 0; i < r.n; i++) {
        const struct range *v = &r.v[i];

        json_array_append_new(
            operations, json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "operation", v->op, "from_bytes",
                                  real_or_null(v->to >= 0, v->from), "to_bytes", real_or_null(v->to >= 0, v->to),
                                  "way", v->way, "segment_bytes", real_or_null(v->segment > 0, v->segment),
                                  "speedup_least", real_or_null(v->most > 0, v->least), "speedup_most",
                                  real_or_null(v->most > 0, v->most)));
    }
    free(r.v);
    return json_pack("{s:s?, s:o}", "why_not", t->why[0] ? t->why : NULL, "operations", operations);
}

/* ---------------------------------------------------------------- after a run */

struct tuning_record {
    char op[16], way[16];
    int ranks, root, kept;
    long calls;
    double bytes, segment, library_s, ours_s;
};

/* Set *record to the RECORD in a line "coll RECORD CHECK". Result: its length; 0 if the line is not valid. */
static size_t record_of(const char *line, size_t len, const char **record)
{
    const size_t word = sizeof HRUN_COLL_REPORT - 1;
    char check[16];

    if (len < word + 10 || memcmp(line, HRUN_COLL_REPORT, word) || line[len - 9] != ' ' || memchr(line, 0, len))
        return 0;
    snprintf(check, sizeof check, "%08lx", (unsigned long)hrun_trace_check(line, len - 9));
    if (memcmp(check, line + len - 8, 8))
        return 0;
    *record = line + word;
    return len - 9 - word;
}

static void add_times(const struct tuning_record *v, struct hrun_buf *out)
{
    hrun_buf_addf(out, "%s against Open MPI's %s", hrun_seconds(v->ours_s).s, hrun_seconds(v->library_s).s);
}

static void add_fate(const struct tuning_record *v, struct hrun_buf *out)
{
    if (v->kept > 1) {
        hrun_buf_adds(out, "as was forced");
    } else if (v->kept < 0) {
        hrun_buf_adds(out, "not decided: the run ended before it had been tried");
    } else {
        hrun_buf_adds(out, v->kept ? "stays: " : "dropped: ");
        add_times(v, out);
    }
}

static void add_record_row(const struct tuning_record *v, struct hrun_table *t)
{
    autorelease(hrun_buf_release) struct hrun_buf way = HRUN_BUF_INIT, fate = HRUN_BUF_INIT;
    int counts = v->bytes < 0;

    add_way(&way, v->way, v->segment, counts);
    add_fate(v, &fate);
    hrun_table_cell(t, "%s%s", v->op, counts ? "v" : "");
    hrun_table_cell(t, "%s", counts ? "any" : hrun_bytes(v->bytes).s);
    hrun_table_cell(t, "%d", v->ranks);
    hrun_table_cell(t, "%d", v->root);
    hrun_table_cell(t, "%s", way.data);
    hrun_table_cell(t, "%ld", v->calls);
    hrun_table_cell(t, "%s", fate.data);
}

/* Add rows for the records. *more: number of operations that the library did not report. Result: the number of rows. */
static int add_records(const struct hrun_buf *lines, struct hrun_table *t, int *more)
{
    int n = 0;

    for (const char *line = lines->data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        const char *record = NULL;
        size_t len = record_of(line, (size_t)(end - line), &record);
        char text[HRUN_TRACE_LINE];
        struct tuning_record v;

        if (!len || len >= sizeof text)
            continue;
        memcpy(text, record, len);
        text[len] = 0;
        if (sscanf(text, "m,%d", more) == 1 ||
            sscanf(text, "k,%15[a-z],%d,%d,%lf,%15[a-z],%lf,%d,%ld,%lf,%lf", v.op, &v.ranks, &v.root, &v.bytes, v.way,
                   &v.segment, &v.kept, &v.calls, &v.library_s, &v.ours_s) != 10)
            continue;
        add_record_row(&v, t);
        n++;
    }
    return n;
}

void tuned_report(const struct tune *t, struct hrun_buf *out)
{
    struct hrun_table *table = hrun_table_create("lrrrlrl");
    int more = 0, n;

    hrun_table_row(table, "", "bytes", "processes", "root", "way", "calls", "");
    n = add_records(&t->lines, table, &more);
    if (!n) {
        hrun_buf_adds(out, "hrun: no collective operation was tuned: none was called often enough with one size and "
                           "root, or the model finds no quicker way (see --dry-run)\n");
    } else {
        hrun_buf_adds(out, "hrun: tuned operations, as rank 0 saw them:\n");
        hrun_table_render(table, 2, out);
    }
    if (more)
        hrun_buf_addf(out, "hrun: and %d more\n", more);
    hrun_table_destroy(table);
}
