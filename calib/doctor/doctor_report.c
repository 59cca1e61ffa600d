/* doctor_report.c - figures and findings of `doctor` as text and JSON; see doctor.h */
#include "doctor.h"

#include "base/json.h"
#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the short report: number of PEs, and of findings of one check. */
enum { PES_SHOWN = 32, FINDINGS_SHOWN = 4 };

/* ---------------------------------------------------------------- text */

/* Add a fraction as a percentage; NAN: not known. */
static void add_percent_cell(struct hrun_table *t, double share)
{
    if (isnan(share))
        hrun_table_cell(t, "-");
    else
        hrun_table_cell(t, "%.1f %%", 100 * share);
}

static void add_pes_table(const struct doctor_data *d, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrlrrrr");

    hrun_table_row(t, "sub-cluster", "PE", "host", "kernel", "spread", "noise", "others");
    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];
        struct hrun_spread s = doctor_spread(&k->kernel);

        hrun_table_cell(t, "%s", d->subs[k->sub].name);
        hrun_table_cell(t, "%d", k->pe);
        hrun_table_cell(t, "%s", k->host_name);
        hrun_table_cell(t, "%s", k->kernel.n ? hrun_seconds(s.median).s : "-");
        add_percent_cell(t, k->kernel.n ? doctor_width(&s) : NAN);
        add_percent_cell(t, k->quanta ? k->mean / k->least - 1 : NAN);
        add_percent_cell(t, k->busy);
    }
    hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
}

/* One row for each size: the median of the pairs' medians, and the largest spread of a pair. */
static void add_messages_table(const char *what, const struct doctor_messages *v, int n, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrrr");
    autofree double *median = xcalloc((size_t)n + 1, sizeof *median);

    hrun_table_row(t, what, "pairs", "median", "worst spread");
    for (int i = 0; i < n; i++) {
        struct doctor_times medians = { median, 0 };
        double worst = 0;
        int first = 0;

        while (v[first].bytes != v[i].bytes)
            first++;
        for (int k = i; k < n && first == i; k++)
            if (v[k].bytes == v[i].bytes) {
                struct hrun_spread s = doctor_spread(&v[k].t);

                median[medians.n++] = s.median;
                worst = fmax(worst, doctor_width(&s));
            }
        if (first < i)
            continue;
        hrun_table_cell(t, "%.0f bytes", v[i].bytes);
        if (v[i].a >= 0)
            hrun_table_cell(t, "%d", medians.n);
        else
            hrun_table_cell(t, "all");
        hrun_table_cell(t, "%s", hrun_seconds(doctor_spread(&medians).median).s);
        hrun_table_cell(t, "%.0f %%", 100 * worst);
    }
    hrun_buf_addc(out, '\n');
    hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
}

static void add_findings(const struct findings *f, int all, struct hrun_buf *out)
{
    static const char *const names[] = { [DOCTOR_PROBLEM] = "PROBLEM", [DOCTOR_WARNING] = "warning" };

    for (int i = 0, next; i < f->n; i = next) {
        for (next = i; next < f->n && f->v[next].check == f->v[i].check; next++) {
            if (!all && next - i >= FINDINGS_SHOWN)
                continue;
            hrun_buf_addf(out, "%s  %s: %s", names[f->v[i].check->severity], f->v[i].check->name,
                          f->v[next].what);
            if (f->v[next].limit > 0 && !strcmp(f->v[next].check->unit, "s"))
                hrun_buf_addf(out, " (limit %.3g s)", f->v[next].limit);
            else if (f->v[next].limit > 0)
                hrun_buf_addf(out, " (limit %.3g %%)", 100 * f->v[next].limit);
            hrun_buf_addc(out, '\n');
        }
        if (!all && next - i > FINDINGS_SHOWN)
            hrun_buf_addf(out, "         and %d more like it (-v)\n", next - i - FINDINGS_SHOWN);
        hrun_buf_addf(out, "         -> %s\n", f->v[i].advice);
    }
}

void doctor_text(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f, int all,
                 struct hrun_buf *out)
{
    int nhosts = 0;

    for (int r = 0; r < d->nranks; r++)
        nhosts += doctor_leads(d, r);
    hrun_buf_addf(out, "%s in %s on %s\n\n", hrun_counted(d->nranks, "PE").s, hrun_counted(d->nsubs, "sub-cluster").s,
                  hrun_counted(nhosts, "host").s);
    if (all || d->nranks <= PES_SHOWN)
        add_pes_table(d, out);
    else
        hrun_buf_adds(out, "  -v shows the PEs one by one\n");
    if (d->ntrips)
        add_messages_table("round trip", d->trips, d->ntrips, out);
    if (d->pairs < d->pairs_all)
        hrun_buf_addf(out, "  (%d of %d pairs of neighbours were measured)\n", d->pairs, d->pairs_all);
    if (d->nalltoall)
        add_messages_table("all-to-all", d->alltoall, d->nalltoall, out);
    hrun_buf_addc(out, '\n');
    add_findings(f, all, out);
    if (f->n)
        hrun_buf_addc(out, '\n');
    hrun_buf_addf(out, "%s for a threshold of %.3g %%: %s, %s\n",
                  f->problems ? "Not predictable enough" : "Predictable enough", 100 * limits->spread,
                  hrun_counted(f->problems, "problem").s, hrun_counted(f->warnings, "warning").s);
}

/* ---------------------------------------------------------------- JSON */

/* The text as a JSON string. If it is not UTF-8, as names of hosts and processes may be, each byte above 0x7f becomes
 * "?". */
static json_t *printable_json(const char *s)
{
    autofree char *copy = xstrdup(s);
    json_t *j = json_string(s);

    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c >= 0x80 ? '?' : *c;
    return j ? j : json_string(copy);
}

static json_t *times_json(const struct doctor_times *t)
{
    struct hrun_spread s = doctor_spread(t);

    if (!t->n)
        return json_null();
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "samples", t->n, "median_s", s.median, "decile1_s",
                     s.low, "decile9_s", s.high, "mad_s", s.mad, "least_s", s.least, "most_s", s.most, "spread",
                     doctor_width(&s));
}

static json_t *pes_json(const struct doctor_data *d)
{
    json_t *a = json_array();

    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];
        json_t *facts = json_object(), *j = json_pack("{s:o, s:i, s:o, s:o}", "sub_cluster",
                                                      printable_json(d->subs[k->sub].name), "pe", k->pe, "host",
                                                      printable_json(k->host_name), "kernel", times_json(&k->kernel));

        if (k->quanta)
            json_object_set_new(j, "noise", json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "quanta", k->quanta,
                                                      "least_s", k->least, "mean_s", k->mean, "median_s", k->median,
                                                      "p99_s", k->p99, "most_s", k->most, "share",
                                                      k->mean / k->least - 1));
        if (!isnan(k->busy))
            json_object_set_new(j, "others", json_pack("{s:f, s:f}", "busy", k->busy, "stolen", k->stolen));
        if (!isnan(k->clock_offset))
            json_object_set_new(j, "clock", json_pack("{s:f, s:f}", "offset_s", k->clock_offset, "error_s",
                                                      k->clock_error));
        for (int i = 0; i < k->nfacts; i++)
            json_object_set_new(facts, k->facts[i].key, printable_json(k->facts[i].value));
        json_object_set_new(j, "settings", facts);
        json_array_append_new(a, j);
    }
    return a;
}

static json_t *messages_json(const struct doctor_data *d, const struct doctor_messages *v, int n)
{
    json_t *a = json_array();

    for (int i = 0; i < n; i++) {
        json_t *j = json_pack("{s:f, s:o}", "bytes", v[i].bytes, "time", times_json(&v[i].t));

        if (v[i].a >= 0) {
            json_object_set_new(j, "from", printable_json(d->ranks[v[i].a].host_name));
            json_object_set_new(j, "to", printable_json(d->ranks[v[i].b].host_name));
            json_object_set_new(j, "ranks", json_pack("[i, i]", v[i].a, v[i].b));
        }
        json_array_append_new(a, j);
    }
    return a;
}

static json_t *findings_json(const struct doctor_data *d, const struct findings *f)
{
    json_t *a = json_array();

    for (int i = 0; i < f->n; i++) {
        const struct finding *x = &f->v[i];
        json_t *j = json_pack("{s:s, s:s, s:o, s:s}", "severity",
                              x->check->severity == DOCTOR_PROBLEM ? "problem" : "warning", "check", x->check->name,
                              "what", printable_json(x->what), "advice", x->advice);

        if (x->rank >= 0) {
            json_object_set_new(j, "host", printable_json(d->ranks[x->rank].host_name));
            json_object_set_new(j, "sub_cluster", printable_json(d->subs[d->ranks[x->rank].sub].name));
        }
        if (x->rank >= 0 && x->check->about == ABOUT_PE)
            json_object_set_new(j, "pe", json_integer(d->ranks[x->rank].pe));
        if (x->check->unit) {
            json_object_set_new(j, "measured", json_real(x->measured));
            json_object_set_new(j, "unit", json_string(x->check->unit));
        }
        if (x->limit > 0)
            json_object_set_new(j, "limit", json_real(x->limit));
        json_array_append_new(a, j);
    }
    return a;
}

void doctor_json(const struct doctor_data *d, const struct doctor_limits *limits, const struct findings *f,
                 struct hrun_buf *out)
{
    json_t *root = json_pack("{s:b, s:f, s:i, s:i, s:o, s:o, s:o, s:o}", "predictable", !f->problems, "threshold",
                             limits->spread, "problems", f->problems, "warnings", f->warnings, "findings",
                             findings_json(d, f), "pes", pes_json(d), "round_trips",
                             messages_json(d, d->trips, d->ntrips), "alltoall",
                             messages_json(d, d->alltoall, d->nalltoall));

    hrun_json_print(root, out);
}
