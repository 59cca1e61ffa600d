/* report_tables.c - the tables of a report; see report.h */
#include "report.h"

#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST_SHOWN = 8 };

static const char *const sections[REPORT_SECTIONS] = {
    "Sub-clusters and profiles", "The choice", "How good the choice is", "Fit", "Time over N and P",
    "The network", "Runs and what they cost",
};

const char *report_section_title(int section)
{
    return sections[section];
}

void report_title(const struct report *r, struct hrun_buf *out)
{
    const struct hrun_app *app = r->c->app;

    hrun_buf_adds(out, app->name);
    if (app->title && *app->title && strcmp(app->title, app->name))
        hrun_buf_addf(out, ": %s", app->title);
}

/* ------------------------------------------------------------------ cells */

struct tables {
    const struct report *r;
    struct report_table *v;
    int n, failed;
};

static struct report_table *add_table(struct tables *t, int section, const char *title, const char *spec)
{
    struct report_table *v = realloc(t->v, ((size_t)t->n + 1) * sizeof *v);

    if (!v) {
        t->failed = 1;
        return NULL;
    }
    t->v = v;
    v[t->n] = (struct report_table){ .section = section, .title = title, .spec = spec };
    return &v[t->n++];
}

__attribute__((format(printf, 2, 3)))
static void cell(struct tables *t, const char *fmt, ...)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    if (!t->n || b.failed || hrun_strvec_push(&t->v[t->n - 1].cells, b.data))
        t->failed = 1;
    hrun_buf_release(&b);
}

static void heads(struct tables *t, const char *const *words)
{
    for (; *words; words++)
        cell(t, "%s", *words);
}

static void seconds_cell(struct tables *t, double seconds)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    if (seconds > 0)
        hrun_add_seconds(&b, seconds);
    cell(t, "%s", seconds > 0 ? b.data : "-");
    hrun_buf_release(&b);
}

static void config_cell(struct tables *t, const int *config)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    if (config)
        hrun_config_print(config, config + t->r->nsubs, t->r->nsubs, &b);
    cell(t, "%s", config ? b.data : "-");
    hrun_buf_release(&b);
}

static void add_note(struct tables *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_note(struct tables *t, const char *fmt, ...)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    hrun_buf_vaddf(&b, fmt, ap);
    va_end(ap);
    if (t->n && !(t->v[t->n - 1].note = hrun_buf_detach(&b)))
        t->failed = 1;
    hrun_buf_release(&b);
}

/* ------------------------------------------------------------------ the tables */

static void add_subs(struct tables *t)
{
    const struct report *r = t->r;
    struct hrun_buf others = HRUN_BUF_INIT;
    double age;

    add_table(t, REPORT_CLUSTER, NULL, "lrllr");
    heads(t, (const char *const[]){ "sub-cluster", "PEs", "profile", "fitted", "runs used", NULL });
    for (int i = 0; i < r->nsubs; i++) {
        const struct hrun_models *m = r->subs[r->subs[i].same].models;
        struct hrun_buf when = HRUN_BUF_INIT;

        cell(t, "%s", r->subs[i].name);
        cell(t, "%d", r->subs[i].npes);
        cell(t, "%s", r->subs[i].signature);
        if (m && !hrun_date_age(m->fitted, &age)) {
            hrun_add_age(&when, age);
            hrun_buf_adds(&when, " ago");
        }
        cell(t, "%s", m ? when.data : "never");
        cell(t, "%d", m ? m->nsamples : 0);
        hrun_buf_release(&when);
    }
    hrun_buf_adds(&others, "The sub-clusters are those of the newest calibration, each with as many PEs as a recorded "
                  "run used at most.");
    if (r->others.n)
        hrun_buf_addf(&others, " %zu other profile%s %s not shown:", r->others.n, r->others.n == 1 ? "" : "s",
                      r->others.n == 1 ? "is" : "are");
    for (size_t i = 0; i < r->others.n; i++)
        hrun_buf_addf(&others, "%s %s", i ? "," : "", r->others.v[i]);
    hrun_buf_adds(&others, r->others.n ? "." : "");
    add_note(t, "%s", others.data);
    hrun_buf_release(&others);
}

static void add_best(struct tables *t)
{
    const struct report *r = t->r;
    const struct hrun_plan *plan = r->plan;

    if (!plan)
        return;
    add_table(t, REPORT_CHOICE, NULL, "lrrr");
    heads(t, (const char *const[]){ "configuration", "P", "predicted", "behind", NULL });
    for (int i = 0; i < plan->n && i < BEST_SHOWN; i++) {
        struct hrun_buf b = HRUN_BUF_INIT;

        hrun_config_print(plan->v[i].pes, plan->v[i].procs, plan->nsubs, &b);
        cell(t, "%s", b.data);
        cell(t, "%d", plan->v[i].P);
        seconds_cell(t, plan->v[i].time_s);
        hrun_buf_reset(&b);
        if (i)
            hrun_plan_print_behind(plan->v[i].time_s, hrun_plan_is_doubted(plan, i), plan->v[i].ranked_s,
                                   plan->v[0].time_s, &b);
        else
            hrun_buf_adds(&b, "chosen");
        cell(t, "%s", b.data);
        hrun_buf_release(&b);
    }
    add_note(t, "PEs and processes on each PE of every sub-cluster, in the order above. Memory does not limit the "
         "configurations here; hrun --dry-run knows the hosts and says what fits.");
}

static void percent_cell(struct tables *t, const char *before, double value)
{
    if (isnan(value))
        cell(t, "-");
    else
        cell(t, "%s%.1f %%", before, 100 * value);
}

/* "mean 1.2 %, worst 3.4 % at 5 sizes" */
static void add_sum(const struct report *r, double (*value)(const struct report_size *s), const char *name,
                    struct hrun_buf *out)
{
    struct report_errors e;

    report_errors(r, value, &e);
    if (!e.n)
        hrun_buf_addf(out, "%s is not known at any size", name);
    else
        hrun_buf_addf(out, "%s: mean %.2f %%, worst %.2f %% at %d size%s", name, 100 * e.mean, 100 * e.worst, e.n,
                      e.n == 1 ? "" : "s");
}

static void add_errors(struct tables *t)
{
    const struct report *r = t->r;
    struct hrun_buf sums = HRUN_BUF_INIT;

    add_table(t, REPORT_ERRORS, NULL, "rllrrrlrr");
    heads(t, (const char *const[]){ "N", "recorded", "chosen", "predicted", "actual", "\xce\xb4", "best recorded",
                                    "its time", "\xce\xb5", NULL });
    for (int i = 0; i < r->nsizes; i++) {
        const struct report_size *s = &r->sizes[i];

        cell(t, "%lld", (long long)s->N);
        if (s->counted)
            cell(t, "%d of %.0f", s->recorded, s->valid);
        else
            cell(t, "%d", s->recorded);
        config_cell(t, s->chosen);
        seconds_cell(t, s->predicted_s);
        seconds_cell(t, s->measured_s);
        percent_cell(t, s->delta >= 0 ? "+" : "", s->delta);
        config_cell(t, s->best);
        seconds_cell(t, s->best_s);
        percent_cell(t, s->exact ? "" : "\xe2\x89\xa5 ", s->epsilon);
    }
    add_sum(r, report_epsilon, "\xce\xb5", &sums);
    hrun_buf_adds(&sums, "; ");
    add_sum(r, report_delta, "|\xce\xb4|", &sums);
    hrun_buf_adds(&sums, ". Had the models alone chosen among the recorded configurations, ");
    add_sum(r, report_ranked_epsilon, "\xce\xb5", &sums);
    hrun_buf_adds(&sums, "; ");
    add_sum(r, report_ranked_delta, "|\xce\xb4|", &sums);
    add_note(t, "%s.\n\xce\xb5 = (actual time of the chosen configuration - that of the truly best one) / the latter; "
         "\xce\xb4 = (predicted - actual time of the chosen one) / the latter; actual times are medians of runs. Both "
         "are known where the chosen configuration was run at that N. Where not all valid configurations were run the "
         "truly best one may be another: \xe2\x89\xa5 says that \xce\xb5 may be larger. The models were fitted to "
         "these very runs: others are missed by more.", sums.data);
    hrun_buf_release(&sums);
}

static void range_cell(struct tables *t, int64_t low, int64_t high)
{
    if (low == high)
        cell(t, "%lld", (long long)low);
    else
        cell(t, "%lld .. %lld", (long long)low, (long long)high);
}

static int is_model(const struct hrun_fit_record *m)
{
    return strcmp(m->family, "nt") != 0;
}

static void add_models(struct tables *t)
{
    const struct report *r = t->r;

    add_table(t, REPORT_FIT, "Models", "lrlrllrrl");
    heads(t, (const char *const[]){ "sub-cluster", "procs/PE", "model", "runs", "N", "P", "mean error", "worst", "note",
                                    NULL });
    for (int i = 0; i < r->nsubs; i++)
        for (int j = 0; r->subs[i].models && j < r->subs[i].models->n; j++) {
            const struct hrun_fit_record *m = &r->subs[i].models->v[j];

            if (!is_model(m))
                continue;
            cell(t, "%s", r->subs[i].name);
            cell(t, "%d", m->M);
            cell(t, "%s/%s", m->family, m->method);
            cell(t, "%d", m->npoints);
            range_cell(t, m->nmin, m->nmax);
            range_cell(t, m->pmin, m->pmax);
            if (m->dof) {
                cell(t, "%.1f %%", 100 * m->train_mean);
                cell(t, "%.1f %%", 100 * m->train_max);
            } else {
                cell(t, "too few runs");
                cell(t, "-");
            }
            cell(t, "%s", m->note ? m->note : "");
        }
}

static void add_formulas(struct tables *t)
{
    const struct report *r = t->r;

    if (!add_table(t, REPORT_FIT, "Formulas", "lrll"))
        return;
    t->v[t->n - 1].folded = 1;
    heads(t, (const char *const[]){ "sub-cluster", "procs/PE", "model", "time in seconds", NULL });
    for (int i = 0; i < r->nsubs; i++)
        for (int j = 0; r->subs[i].models && j < r->subs[i].models->n; j++) {
            const struct hrun_fit_record *m = &r->subs[i].models->v[j];
            struct hrun_buf b = HRUN_BUF_INIT;

            if (!is_model(m))
                continue;
            for (int k = 0; k < m->nterms; k++)
                if (m->k[k] != 0)
                    hrun_buf_addf(&b, "%s%.4g (%s)", b.len ? " + " : "", m->k[k], m->terms[k]);
            cell(t, "%s", r->subs[i].name);
            cell(t, "%d", m->M);
            cell(t, "%s/%s", m->family, m->method);
            cell(t, "%s", b.data);
            t->failed |= b.failed;
            hrun_buf_release(&b);
        }
}

static void cost_row(struct tables *t, const char *name, const struct report_cost *c)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_add_seconds(&b, c->wall_s);
    cell(t, "%s", name);
    cell(t, "%d", c->runs);
    cell(t, "%d", c->failed);
    cell(t, "%s", b.data);
    cell(t, "%.3g", c->pe_s / 3600);
    hrun_buf_release(&b);
}

static void add_costs(struct tables *t)
{
    const struct report *r = t->r;
    struct report_cost c, all = { 0 };

    add_table(t, REPORT_RUNS, "Cost", "lrrrr");
    heads(t, (const char *const[]){ "on", "runs", "failed", "time", "PE hours", NULL });
    for (int i = 0; i <= r->nsubs; i++) {
        report_cost(r, i < r->nsubs ? i : -1, &c);
        all.runs += c.runs;
        all.failed += c.failed;
        all.wall_s += c.wall_s;
        all.pe_s += c.pe_s;
        if (c.runs)
            cost_row(t, i < r->nsubs ? r->subs[i].name : "several", &c);
    }
    cost_row(t, "all", &all);
    if (r->bad || r->old || r->other_consts)
        add_note(t, "Beside these, %zu older run%s no longer count%s, and %zu damaged record%s skipped. %zu of the "
             "runs had other constants of the definition and %s not compared with the models.", r->old,
             r->old == 1 ? "" : "s",
             r->old == 1 ? "s" : "", r->bad, r->bad == 1 ? " was" : "s were", r->other_consts,
             r->other_consts == 1 ? "is" : "are");
}

static void add_network(struct tables *t)
{
    if (t->r->net && add_table(t, REPORT_NETWORK, "", "") && report_network_table(t->r, &t->v[t->n - 1]))
        t->failed = 1;
}

static void add_runs(struct tables *t)
{
    const struct report *r = t->r;

    if (!add_table(t, REPORT_RUNS, "All measurements", "lrrllrrrll"))
        return;
    t->v[t->n - 1].folded = 1;
    heads(t, (const char *const[]){ "date", "N", "P", "configuration", "of", "time", "fitted", "launch", "status",
                                    "origin", NULL });
    for (int i = 0; i < r->nruns; i++) {
        const struct hrun_sample *s = r->runs[i].s;

        cell(t, "%s", s->date ? s->date : "");
        cell(t, "%lld", (long long)s->N);
        cell(t, "%d", s->P);
        cell(t, "%s", s->config ? s->config : "");
        cell(t, "%s", s->cluster ? s->cluster : "");
        seconds_cell(t, s->time_s);
        seconds_cell(t, r->runs[i].fit);
        seconds_cell(t, s->wall_s);
        cell(t, "%s", s->status ? s->status : "");
        cell(t, "%s", s->origin ? s->origin : "");
    }
}

struct report_table *report_tables(const struct report *r, int *n, struct hrun_error *err)
{
    static void (*const add[])(struct tables *t) = {
        add_subs, add_best, add_errors, add_models, add_formulas, add_network, add_costs, add_runs,
    };
    struct tables t = { .r = r };
    int kept = 0;

    for (size_t i = 0; i < sizeof add / sizeof *add && !t.failed; i++)
        add[i](&t);
    for (int i = 0; i < t.n; i++) {
        if (t.v[i].cells.n > strlen(t.v[i].spec)) {
            t.v[kept++] = t.v[i];
        } else {
            hrun_strvec_release(&t.v[i].cells);
            free(t.v[i].note);
        }
    }
    *n = t.n = kept;
    if (!t.failed && t.v)
        return t.v;
    report_tables_free(t.v, t.n);
    hrun_fail_nomem(err);
    return NULL;
}

void report_tables_free(struct report_table *t, int n)
{
    for (int i = 0; t && i < n; i++) {
        hrun_strvec_release(&t[i].cells);
        free(t[i].note);
    }
    free(t);
}
