/* jobs.c - hrun plan FILE: read, find, say; see jobs.h */
#include "jobs.h"

#include "base/list.h"
#include "base/units.h"
#include "plan/plan.h"
#include "../run/report.h"
#include "../run/run.h"
#include "session/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the PEs of a job */

/* Ascending numbers as ranges. */
static void add_numbers(const int *v, int n, struct hrun_buf *out)
{
    size_t start = out->len;

    for (int i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && v[last + 1] == v[last] + 1;)
            last++;
        hrun_range_add(out, start, v[i], v[last]);
    }
}

/* The n PEs pe[n] of a sub-cluster: hosts where a PE is one, else the host and the numbers of its PEs. */
static int add_pes(const struct hrun_cluster *cl, const struct hrun_subcluster *s, const int *pe, int n,
                   struct hrun_buf *out)
{
    char **names = calloc((size_t)n + 1, sizeof *names);
    int *index = calloc((size_t)n + 1, sizeof *index);
    int first = 0, rc = names && index ? 0 : -1;

    for (int i = 0; i < n && !rc; i++) {
        names[i] = cl->hosts[s->pes[pe[i]].host].name;
        index[i - first] = s->pes[pe[i]].index;
        if (s->level == HRUN_LEVEL_NODE || (i + 1 < n && s->pes[pe[i + 1]].host == s->pes[pe[i]].host))
            continue;
        hrun_buf_addf(out, "%s%s:", first ? "," : "", names[i]);
        add_numbers(index, i + 1 - first, out);
        first = i + 1;
    }
    if (!rc && s->level == HRUN_LEVEL_NODE)
        hrun_hostlist_print(names, (size_t)n, out);
    free(names);
    free(index);
    return rc;
}

/* The same for all sub-clusters that a job uses. */
static int add_places(const struct jobs *j, const struct context *c, const struct hrun_schedule *s, int job,
                      struct hrun_buf *out)
{
    const struct hrun_cluster *cl = c->cluster;
    const int *pes = j->kinds[j->v[job].kind].ways[s->v[job].way].pes, *pe = s->v[job].pe;

    for (int i = 0; i < cl->nsubs; pe += pes[i], i++) {
        if (!pes[i])
            continue;
        hrun_buf_addf(out, "%s%s ", pe == s->v[job].pe ? "" : "  ", cl->subs[i].name);
        if (add_pes(cl, &cl->subs[i], pe, pes[i], out))
            return -1;
    }
    return out->failed ? -1 : 0;
}

static void add_config(const struct jobs *j, const struct context *c, const struct hrun_schedule *s, int job,
                       struct hrun_buf *out)
{
    const struct job_kind *k = &j->kinds[j->v[job].kind];
    size_t at = (size_t)s->v[job].way * (size_t)c->cluster->nsubs;

    hrun_config_print(k->pes + at, k->procs + at, c->cluster->nsubs, out);
}

/* The variant of a job's way, or NULL. */
static const char *variant_of(const struct jobs *j, const struct hrun_schedule *s, int job)
{
    return j->kinds[j->v[job].kind].variant[s->v[job].way];
}

/* The words that start a job as planned. */
static void add_command(const struct jobs *j, const struct context *c, const struct hrun_schedule *s, int job,
                        struct hrun_buf *out)
{
    const struct job_kind *k = &j->kinds[j->v[job].kind];

    hrun_buf_adds(out, "hrun --wait -app ");
    hrun_buf_add_shell(out, k->app);
    if (variant_of(j, s, job))
        hrun_buf_addf(out, " --variant %s", variant_of(j, s, job));
    if (c->set->profile_path) {
        hrun_buf_adds(out, " --profile-path ");
        hrun_buf_add_shell(out, c->set->profile_path);
    }
    report_where(c, out);
    hrun_buf_addf(out, " -N %lld --config '", (long long)k->N);
    add_config(j, c, s, job, out);
    hrun_buf_addc(out, '\'');
    for (unsigned i = 0; i < k->ndefines; i++) {
        hrun_buf_adds(out, " -D ");
        hrun_buf_add_shell(out, k->defines[i]);
    }
    hrun_buf_addc(out, ' ');
    hrun_buf_add_shell(out, k->program ? k->program : "PROGRAM");
    for (unsigned i = 0; i < k->nargs; i++) {
        hrun_buf_addc(out, ' ');
        hrun_buf_add_shell(out, k->args[i]);
    }
}

/* Jobs by their start, those of one start as in the file. NULL: no memory. */
static int *by_start(const struct hrun_schedule *s)
{
    int *order = calloc((size_t)s->njobs, sizeof *order);

    for (int i = 0; order && i < s->njobs; i++) {
        int k = i;

        for (; k > 0 && s->v[order[k - 1]].start_s > s->v[i].start_s; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return order;
}

/* ------------------------------------------------------------------ text */

static void add_summary(const struct hrun_schedule *s, struct hrun_buf *out)
{
    hrun_buf_addf(out, "\n  %s after ", s->njobs == 1 ? "it ends" : "all end");
    hrun_add_seconds(out, s->makespan_s);
    hrun_buf_adds(out, "; each at its best, one after the other: ");
    hrun_add_seconds(out, s->serial_s);
    if (s->serial_s > s->makespan_s)
        hrun_buf_addf(out, " (%.2f times as long)", s->serial_s / s->makespan_s);
    if (s->exact) {
        hrun_buf_adds(out, "\n  no schedule of these configurations is shorter\n");
    } else {
        hrun_buf_adds(out, "\n  none can be shorter than ");
        hrun_add_seconds(out, s->bound_s);
        hrun_buf_addf(out, " (%.3g %% less)\n", 100 * (1 - s->bound_s / s->makespan_s));
    }
}

static int add_table(const struct jobs *j, const struct context *c, const struct hrun_schedule *s, const int *order,
                     struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("rrlrll");
    struct hrun_buf cell = HRUN_BUF_INIT;
    int rc = t ? 0 : -1;

    if (t)
        hrun_table_row(t, "start", "end", "job", "N", "configuration", "PEs");
    for (int i = 0; i < s->njobs && !rc; i++) {
        int job = order[i];

        for (int end = 0; end < 2; end++) {
            hrun_buf_reset(&cell);
            hrun_add_seconds(&cell, end ? s->v[job].end_s : s->v[job].start_s);
            hrun_table_cell(t, "%s", cell.data);
        }
        hrun_table_cell(t, "%s", j->v[job].name);
        hrun_table_cell(t, "%lld", (long long)j->kinds[j->v[job].kind].N);
        hrun_buf_reset(&cell);
        add_config(j, c, s, job, &cell);
        if (variant_of(j, s, job))
            hrun_buf_addf(&cell, " %s", variant_of(j, s, job));
        hrun_table_cell(t, "%s", cell.data);
        hrun_buf_reset(&cell);
        rc = add_places(j, c, s, job, &cell);
        hrun_table_cell(t, "%s", rc ? "" : cell.data);
    }
    rc = rc ? rc : hrun_table_render(t, 2, out);
    hrun_buf_release(&cell);
    hrun_table_destroy(t);
    return rc;
}

int jobs_print(const struct jobs *j, const struct context *c, const int *npes, const struct hrun_schedule *s,
               int verbose, struct hrun_buf *out, struct hrun_error *err)
{
    int *order = by_start(s), total = 0, rc = order ? 0 : -1;

    for (int i = 0; i < c->cluster->nsubs; i++)
        total += npes[i];
    hrun_buf_addf(out, "%d job%s on %d PE%s in %d sub-cluster%s\n\n", j->n, j->n == 1 ? "" : "s", total,
                  total == 1 ? "" : "s", c->cluster->nsubs, c->cluster->nsubs == 1 ? "" : "s");
    rc = rc ? rc : add_table(j, c, s, order, out);
    add_summary(s, out);
    if (verbose && !rc) {
        hrun_buf_adds(out, "\nTo run them so, in this order, each entered before the next:\n\n");
        for (int i = 0; i < s->njobs; i++) {
            hrun_buf_adds(out, "  ");
            add_command(j, c, s, order[i], out);
            hrun_buf_adds(out, " & sleep 1\n");
        }
    }
    free(order);
    return rc || out->failed ? hrun_fail_nomem(err) : 0;
}

/* ------------------------------------------------------------------ JSON */

static json_t *job_json(const struct jobs *j, const struct context *c, const struct hrun_schedule *s, int job)
{
    const struct hrun_cluster *cl = c->cluster;
    const struct job_kind *k = &j->kinds[j->v[job].kind];
    const struct hrun_schedule_way *w = &k->ways[s->v[job].way];
    struct hrun_buf config = HRUN_BUF_INIT, command = HRUN_BUF_INIT;
    json_t *places = json_array(), *o;
    const int *pe = s->v[job].pe;

    for (int i = 0; i < cl->nsubs; pe += w->pes[i], i++) {
        json_t *list = json_array();

        for (int e = 0; e < w->pes[i]; e++)
            json_array_append_new(list, json_pack("{s:s, s:i}", "host", cl->hosts[cl->subs[i].pes[pe[e]].host].name,
                                                  "pe", cl->subs[i].pes[pe[e]].index));
        if (w->pes[i])
            json_array_append_new(places, json_pack("{s:s, s:o}", "subcluster", cl->subs[i].name, "pes", list));
        else
            json_decref(list);
    }
    add_config(j, c, s, job, &config);
    add_command(j, c, s, job, &command);
    o = config.failed || command.failed ? NULL
        : json_pack("{s:s, s:s, s:s?, s:I, s:s, s:f, s:f, s:f, s:O, s:s}", "name", j->v[job].name, "app", k->app,
                    "variant", variant_of(j, s, job), "N", (json_int_t)k->N, "config", config.data,
                    "start_s", s->v[job].start_s, "end_s", s->v[job].end_s,
                    "time_s", w->time_s, "places", places, "command", command.data);
    json_decref(places);
    hrun_buf_release(&config);
    hrun_buf_release(&command);
    return o;
}

int jobs_json(const struct jobs *j, const struct context *c, const int *npes, const struct hrun_schedule *s,
              struct hrun_buf *out, struct hrun_error *err)
{
    json_t *list = json_array(), *subs = json_array();
    int *order = by_start(s), failed = !order;

    for (int i = 0; i < c->cluster->nsubs; i++)
        failed |= json_array_append_new(subs, json_pack("{s:s, s:i}", "name", c->cluster->subs[i].name, "pes",
                                                        npes[i]));
    for (int i = 0; i < s->njobs && !failed; i++)
        failed |= json_array_append_new(list, job_json(j, c, s, order[i]));
    free(order);
    return json_print(json_pack("{s:o, s:o, s:f, s:f, s:f, s:b}", "jobs", failed ? NULL : list, "subclusters", subs,
                                "makespan_s", s->makespan_s, "one_after_the_other_s", s->serial_s, "bound_s",
                                s->bound_s, "exact", s->exact), out, err);
}

/* ------------------------------------------------------------------ the errand */

/* The search, of which job j has ways. */
static int find_schedule(const struct jobs *j, const struct context *c, const int *npes, struct hrun_schedule **out,
                         struct hrun_error *err)
{
    struct hrun_schedule_job *v = calloc((size_t)j->n, sizeof *v);
    int rc = -1;

    if (!v)
        return hrun_fail_nomem(err);
    for (int i = 0; i < j->n; i++)
        v[i] = (struct hrun_schedule_job){ j->kinds[j->v[i].kind].ways, j->kinds[j->v[i].kind].nways };
    rc = hrun_schedule_find(&(struct hrun_schedule_problem){ c->cluster->nsubs, npes, v, j->n }, HRUN_SCHEDULE_LOOKS,
                            out, err);
    free(v);
    return rc;
}

int run_plan(const struct hrun_settings *s, char **words)
{
    struct jobs j = { 0 };
    struct context c = { .set = &s->common };
    struct hrun_schedule *found = NULL;
    struct hrun_buf out = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    int *npes = NULL, status = 0;

    if (!words[0] || words[1])
        hrun_fail(&err, HRUN_EINVAL, "hrun plan takes one file of jobs, not %s (hrun plan --help); a program of this "
                  "name is started as ./plan", words[0] ? "several" : "none");
    if (err.code || jobs_read(words[0], &j, &err) || jobs_ways(s, &j, &c, &npes, &err) ||
        find_schedule(&j, &c, npes, &found, &err) ||
        (s->common.json ? jobs_json(&j, &c, npes, found, &out, &err)
                        : jobs_print(&j, &c, npes, found, s->common.verbose, &out, &err)))
        status = context_complain("hrun", &err);
    else
        fputs(out.data, stdout);
    hrun_schedule_destroy(found);
    hrun_buf_release(&out);
    context_release(&c);
    free(npes);
    jobs_release(&j);
    return status;
}
