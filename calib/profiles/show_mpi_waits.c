/* show_mpi_waits.c - what show tells of watched runs; see profiles.h for the contracts */
#include "profiles.h"

#include "base/list.h"
#include "base/units.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ who waits */

/* The watched runs with M processes per PE. */
struct group {
    int M, runs, mixed, awaited;
    double computing, imbalance;       /* means */
    double overhead;                   /* largest */
};

/* Did the others of a mixed run wait for the sub-cluster with this signature? */
static int awaited(const struct hrun_sample *s, const char *signature)
{
    for (int i = 0, n = hrun_list_count(s->signatures); i < n; i++)
        if (hrun_list_is(s->signatures, i, signature) && hrun_list_is(s->cluster, i, s->limits))
            return 1;
    return 0;
}

static int by_m(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return (x->M > y->M) - (x->M < y->M);
}

static void add_run(struct group *g, const struct hrun_sample *s, const struct hrun_trace_sub *seen,
                    const char *signature)
{
    double share = seen->elapsed_s > 0 ? seen->compute_mean_s / seen->elapsed_s : 0;
    double imbalance = seen->compute_mean_s > 0 ? seen->compute_s / seen->compute_mean_s : 1;

    g->runs++;
    g->mixed += s->mixed;
    g->awaited += s->mixed && awaited(s, signature);
    g->computing += (share - g->computing) / g->runs;
    g->imbalance += (imbalance - g->imbalance) / g->runs;
    g->overhead = fmax(g->overhead, seen->overhead);
}

/* *groups gets memory that the caller frees. Result: how many; -1: no memory. */
static int make_groups(const struct hrun_samples *samples, const char *signature, struct group **groups)
{
    struct group *v = calloc(samples->n + 1, sizeof *v);
    int n = 0;

    for (size_t i = 0; v && i < samples->n; i++) {
        const struct hrun_sample *s = &samples->v[i];
        struct hrun_trace_sub seen;
        int k = 0;

        if (!s->ok || !s->trace || !s->trace[0] || hrun_trace_decode(s->trace, &seen, NULL))
            continue;
        while (k < n && v[k].M != s->M)
            k++;
        n += k == n;
        v[k].M = s->M;
        add_run(&v[k], s, &seen, signature);
        hrun_trace_sub_release(&seen);
    }
    if (v)
        qsort(v, (size_t)n, sizeof *v, by_m);
    *groups = v;
    return v ? n : -1;
}

int waits_show(const struct hrun_samples *samples, const char *signature, struct hrun_buf *out, struct hrun_error *err)
{
    struct group *g;
    int n = make_groups(samples, signature, &g), rc = 0;
    struct hrun_table *t = n > 0 ? hrun_table_create("rrrrrr") : NULL;

    if (n < 0 || (n > 0 && !t))
        rc = hrun_fail_nomem(err);
    if (t)
        hrun_table_row(t, "procs/PE", "runs watched", "computing", "imbalance", "waited for in mixed runs",
                       "watching took");
    for (int i = 0; t && i < n; i++) {
        hrun_table_cell(t, "%d", g[i].M);
        hrun_table_cell(t, "%d", g[i].runs);
        hrun_table_cell(t, "%.0f %%", 100 * g[i].computing);
        hrun_table_cell(t, "%.2f", g[i].imbalance);
        if (g[i].mixed)
            hrun_table_cell(t, "%d of %d", g[i].awaited, g[i].mixed);
        else
            hrun_table_cell(t, "-");
        hrun_table_cell(t, "%.*f %%", g[i].overhead < 0.01 ? 3 : 0, 100 * g[i].overhead);
    }
    if (t) {
        hrun_buf_addc(out, '\n');
        rc = hrun_table_render(t, 0, out) || out->failed ? hrun_fail_nomem(err) : 0;
    }
    hrun_table_destroy(t);
    free(g);
    return rc;
}

json_t *waits_json(const struct hrun_samples *samples, const char *signature)
{
    struct group *g;
    int n = make_groups(samples, signature, &g);
    json_t *all = n < 0 ? NULL : json_array();

    for (int i = 0; all && i < n; i++)
        json_array_append_new(all, json_pack("{s:i, s:i, s:f, s:f, s:i, s:i, s:f}", "M", g[i].M, "runs", g[i].runs,
                                             "computing", g[i].computing, "imbalance", g[i].imbalance, "mixed",
                                             g[i].mixed, "limited", g[i].awaited, "overhead", g[i].overhead));
    free(g);
    return all;
}

/* ------------------------------------------------------------------ terms */

/* All watched runs as points. *seen gets memory that release_points frees. */
static int make_points(const struct hrun_samples *samples, struct hrun_trace_point **points,
                       struct hrun_trace_sub **seen)
{
    int n = 0;

    *points = calloc(samples->n + 1, sizeof **points);
    *seen = calloc(samples->n + 1, sizeof **seen);
    for (size_t i = 0; *points && *seen && i < samples->n; i++) {
        const struct hrun_sample *s = &samples->v[i];

        if (!s->ok || !s->trace || !s->trace[0] || hrun_trace_decode(s->trace, &(*seen)[n], NULL))
            continue;
        (*points)[n] = (struct hrun_trace_point){ .N = (double)s->N, .P = s->P, .M = s->M, .mixed = s->mixed,
                                                  .seen = &(*seen)[n] };
        n++;
    }
    return *points && *seen ? n : -1;
}

static void release_points(struct hrun_trace_point *points, struct hrun_trace_sub *seen, int n)
{
    for (int i = 0; seen && i < n; i++)
        hrun_trace_sub_release(&seen[i]);
    free(points);
    free(seen);
}

static int propose(const struct hrun_samples *samples, struct hrun_trace_terms *t, struct hrun_error *err)
{
    struct hrun_trace_point *points;
    struct hrun_trace_sub *seen;
    int n = make_points(samples, &points, &seen);
    int rc = n < 0 ? hrun_fail_nomem(err) : hrun_trace_propose(points, n, t, err);

    release_points(points, seen, n);
    return rc;
}

static void add_form(const char *what, const struct hrun_form *f, struct hrun_buf *out)
{
    hrun_buf_adds(out, what);
    hrun_form_print(f, out);
    hrun_buf_addf(out, " (within %.0f %%)", 100 * (exp(f->spread) - 1));
}

static void add_list(const char *key, const struct hrun_strvec *v, struct hrun_buf *out)
{
    hrun_buf_addf(out, "  %s[", key);
    for (size_t i = 0; i < v->n; i++)
        hrun_buf_addf(out, "%s\"%s\"", i ? ", " : "", v->v[i]);
    hrun_buf_adds(out, "]\n");
}

int waits_terms(const struct hrun_samples *samples, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_trace_terms t;
    struct hrun_table *table;
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc;

    if (propose(samples, &t, err))
        return -1;
    table = hrun_table_create("lrlll");
    if (table)
        hrun_table_row(table, "", "of the time", "calls grow as", "bytes grow as", "terms");
    for (int i = 0; table && i < t.n; i++) {
        const struct hrun_trace_proposal *p = &t.v[i];

        hrun_table_cell(table, "%s", p->name[0] ? p->name : "computing");
        hrun_table_cell(table, "%.1f %%", 100 * p->share);
        for (int k = 0; k < 2; k++) {
            hrun_buf_reset(&b);
            if (k == 0 || p->has_bytes)
                add_form(p->name[0] ? "" : "time ", k ? &p->bytes : &p->count, &b);
            hrun_table_cell(table, "%s", b.len ? b.data : "-");
        }
        hrun_buf_reset(&b);
        for (size_t k = 0; k < p->terms.n; k++)
            hrun_buf_addf(&b, "%s%s", k ? ", " : "", p->terms.v[k]);
        hrun_table_cell(table, "%s", b.data);
    }
    hrun_buf_adds(out, "  terms that its watched runs propose:\n\n");
    rc = !table || hrun_table_render(table, 2, out) ? -1 : 0;
    hrun_buf_addc(out, '\n');
    add_list("np: ", &t.np, out);
    add_list("n:  ", &t.only_n, out);
    if (!t.varied_n)
        hrun_buf_adds(out, "  all runs had one N: nothing is known of how it grows with N\n");
    if (!t.varied_p)
        hrun_buf_adds(out, "  all runs had one P: nothing is known of how it grows with P\n");
    if (rc || out->failed || b.failed)
        rc = hrun_fail_nomem(err);
    hrun_table_destroy(table);
    hrun_buf_release(&b);
    hrun_trace_terms_release(&t);
    return rc;
}

static json_t *form_json(const struct hrun_form *f)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    json_t *o;

    hrun_form_print(f, &b);
    o = json_pack("{s:s, s:f}", "form", b.data, "spread", f->spread);
    hrun_buf_release(&b);
    return o;
}

static json_t *list_json(const struct hrun_strvec *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n; i++)
        json_array_append_new(all, json_string(v->v[i]));
    return all;
}

json_t *waits_terms_json(const struct hrun_samples *samples, struct hrun_error *err)
{
    struct hrun_trace_terms t;
    json_t *all = json_array(), *o;

    if (propose(samples, &t, err)) {
        json_decref(all);
        return NULL;
    }
    for (int i = 0; i < t.n; i++)
        json_array_append_new(all, json_pack("{s:s, s:f, s:i, s:o, s:o?, s:o}", "call",
                                             t.v[i].name[0] ? t.v[i].name : "computing", "share", t.v[i].share,
                                             "points", t.v[i].points, "count", form_json(&t.v[i].count), "bytes",
                                             t.v[i].has_bytes ? form_json(&t.v[i].bytes) : NULL, "terms",
                                             list_json(&t.v[i].terms)));
    o = json_pack("{s:o, s:o, s:o, s:b, s:b}", "calls", all, "np", list_json(&t.np), "n", list_json(&t.only_n),
                  "varied_N", t.varied_n, "varied_P", t.varied_p);
    hrun_trace_terms_release(&t);
    return o;
}
