/* plan_command.c - hrun plan FILE: read the jobs, find a schedule, print it; see jobs.h */
#include "jobs.h"

#include "base/json.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "../run/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the PEs of a job */

/* Append the PEs pe[n] of a sub-cluster: hosts if a PE is a whole host, else each host with the numbers of its PEs. */
static void add_job_pes(const struct hrun_cluster *cl, const struct hrun_subcluster *s, const int *pe, int n,
                        struct hrun_buf *out)
{
    autofree char **names = xcalloc((size_t)n + 1, sizeof *names);
    size_t start = 0;

    for (int i = 0; i < n; i++)
        names[i] = cl->hosts[s->pes[pe[i]].host].name;
    if (s->level == HRUN_LEVEL_NODE)
        hrun_hostlist_print(names, (size_t)n, out);
    for (int i = 0, last; i < n && s->level != HRUN_LEVEL_NODE; i = last + 1) {
        for (last = i; last + 1 < n && names[last + 1] == names[i] &&
             s->pes[pe[last + 1]].index == s->pes[pe[last]].index + 1;)
            last++;
        if (!i || names[i - 1] != names[i]) {
            hrun_buf_addf(out, "%s%s:", i ? "," : "", names[i]);
            start = out->len;
        }
        hrun_range_add(out, start, s->pes[pe[i]].index, s->pes[pe[last]].index);
    }
}

/* Append the command that starts a job as planned. */
static void add_job_command(const struct context *c, const struct job *job, struct hrun_buf *out)
{
    const struct job_entry *e = job->entry;

    hrun_buf_adds(out, "hrun --wait");
    report_option("-app", e->app, out);
    report_option("--variant", job->mode->variant, out);
    report_option("--profile-path", c->set->profile_path, out);
    report_where(c, out);
    hrun_buf_addf(out, " -N %lld --config '%s'", (long long)e->N, hrun_config_text(&job->mode->config).s);
    for (unsigned i = 0; i < e->defines_count; i++)
        report_option("-D", e->defines[i], out);
    report_option("", e->program ? e->program : "PROGRAM", out);
    for (unsigned i = 0; i < e->args_count; i++)
        report_option("", e->args[i], out);
}

/* ------------------------------------------------------------------ text */

static void add_summary(const struct jobs *j, struct hrun_buf *out)
{
    hrun_buf_addf(out, "\n  %s after %s; each at its best, one after the other: %s",
                  j->n == 1 ? "it ends" : "all end", hrun_seconds(j->makespan_s).s, hrun_seconds(j->serial_s).s);
    if (j->serial_s > j->makespan_s)
        hrun_buf_addf(out, " (%.2f times as long)", j->serial_s / j->makespan_s);
    if (j->exact)
        hrun_buf_adds(out, "\n  no schedule of these configurations is shorter\n");
    else
        hrun_buf_addf(out, "\n  none can be shorter than %s (%.3g %% less)\n", hrun_seconds(j->bound_s).s,
                      100 * (1 - j->bound_s / j->makespan_s));
}

static void add_job_row(const struct context *c, const struct job *job, struct hrun_table *t)
{
    const struct hrun_cluster *cl = c->cluster;
    autorelease(hrun_buf_release) struct hrun_buf places = HRUN_BUF_INIT;
    const int *pe = job->pe;

    for (int i = 0; i < cl->nsubs; pe += job->mode->config.pes[i], i++)
        if (job->mode->config.pes[i]) {
            hrun_buf_addf(&places, "%s%s ", places.len ? "  " : "", cl->subs[i].name);
            add_job_pes(cl, &cl->subs[i], pe, job->mode->config.pes[i], &places);
        }
    hrun_table_cell(t, "%s", hrun_seconds(job->start_s).s);
    hrun_table_cell(t, "%s", hrun_seconds(job->end_s).s);
    hrun_table_cell(t, "%s", job->name);
    hrun_table_cell(t, "%lld", (long long)job->entry->N);
    hrun_table_cell(t, "%s%s%s", hrun_config_text(&job->mode->config).s, job->mode->variant ? " " : "",
                    job->mode->variant ? job->mode->variant : "");
    hrun_table_cell(t, "%s", places.data);
}

static void print_plan_text(const struct jobs *j, struct hrun_buf *out)
{
    const struct context *c = &j->c;
    struct hrun_table *t = hrun_table_create("rrlrll");
    int total = 0;

    for (int i = 0; i < c->cluster->nsubs; i++)
        total += j->npes[i];
    hrun_buf_addf(out, "%s on %s in %s\n\n", hrun_counted(j->n, "job").s, hrun_counted(total, "PE").s,
                  hrun_counted(c->cluster->nsubs, "sub-cluster").s);
    hrun_table_row(t, "start", "end", "job", "N", "configuration", "PEs");
    for (int i = 0; i < j->n; i++)
        add_job_row(c, &j->v[i], t);
    hrun_table_render(t, 2, out);
    hrun_table_destroy(t);
    add_summary(j, out);
    if (!c->set->verbose)
        return;
    hrun_buf_adds(out, "\nTo run the jobs as planned, enter these commands in this order:\n\n");
    for (int i = 0; i < j->n; i++) {
        hrun_buf_adds(out, "  ");
        add_job_command(c, &j->v[i], out);
        hrun_buf_adds(out, " & sleep 1\n");
    }
}

/* ------------------------------------------------------------------ JSON */

static json_t *job_json(const struct context *c, const struct job *job)
{
    const struct hrun_cluster *cl = c->cluster;
    autorelease(hrun_buf_release) struct hrun_buf command = HRUN_BUF_INIT;
    json_t *places = json_array();
    const int *pe = job->pe;

    for (int i = 0; i < cl->nsubs; i++) {
        json_t *list = json_array();

        for (int e = 0; e < job->mode->config.pes[i]; e++, pe++)
            json_array_append_new(list, json_pack("{s:s, s:i}", "host", cl->hosts[cl->subs[i].pes[*pe].host].name,
                                                  "pe", cl->subs[i].pes[*pe].index));
        if (job->mode->config.pes[i])
            json_array_append_new(places, json_pack("{s:s, s:O}", "subcluster", cl->subs[i].name, "pes", list));
        json_decref(list);
    }
    add_job_command(c, job, &command);
    return json_pack("{s:s, s:s, s:s?, s:I, s:s, s:f, s:f, s:f, s:o, s:s}", "name", job->name, "app", job->entry->app,
                     "variant", job->mode->variant, "N", (json_int_t)job->entry->N, "config",
                     hrun_config_text(&job->mode->config).s, "start_s", job->start_s, "end_s", job->end_s,
                     "time_s", job->mode->time_s, "places", places, "command", command.data);
}

static void print_plan_json(const struct jobs *j, struct hrun_buf *out)
{
    json_t *list = json_array(), *subs = json_array();

    for (int i = 0; i < j->c.cluster->nsubs; i++)
        json_array_append_new(subs, json_pack("{s:s, s:i}", "name", j->c.cluster->subs[i].name, "pes", j->npes[i]));
    for (int i = 0; i < j->n; i++)
        json_array_append_new(list, job_json(&j->c, &j->v[i]));
    hrun_json_print(json_pack("{s:o, s:o, s:f, s:f, s:f, s:b}", "jobs", list, "subclusters", subs, "makespan_s",
                              j->makespan_s, "one_after_the_other_s", j->serial_s, "bound_s", j->bound_s, "exact",
                              j->exact), out);
}

/* ------------------------------------------------------------------ the command */

int run_plan(const struct hrun_settings *s, char **words)
{
    autorelease(jobs_release) struct jobs j = { .c = { .set = &s->common } };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };

    if (!words[0] || words[1])
        hrun_fail(&err, HRUN_EINVAL, "hrun plan takes one file of jobs, not %s (hrun plan --help); a program of this "
                  "name is started as ./plan", words[0] ? "several" : "none");
    if (err.code || jobs_read(words[0], &j, &err) || jobs_find_modes(s, &j, &err) ||
        jobs_schedule(&j, JOBS_LOOKS, &err))
        return context_complain("hrun", &err);
    (s->common.json ? print_plan_json : print_plan_text)(&j, &out);
    fputs(out.data, stdout);
    return 0;
}
