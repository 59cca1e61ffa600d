/* measure.c - making the runs of a calibration, one by one, each stored at once */
#include "calib.h"

#include "../hrun/work.h"
#include "base/table.h"
#include "base/units.h"
#include "campaign.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* When this many different points have failed and none has worked, the program is called wrongly: stop. */
enum { HOPELESS = 3, RETRIES = 1 };

struct progress {
    const struct calib_settings *s;
    int tty;                  /* stderr is a terminal: one line that is rewritten */
    int done, total;
    int good, failed_points;
    char last_failure[640];
};

static void clear_line(const struct progress *p)
{
    if (p->tty)
        fputs("\r\033[K", stderr);
}

/* "[ 12/60] amd-core  N=800  P=2 (2 PEs x 1)": before a run, rewritten afterwards with its time. */
static void show_point(const struct progress *p, const struct context *c, const struct campaign *g,
                       const struct point *point, const struct work_result *r)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    int width = snprintf(NULL, 0, "%d", p->total);
    double left = campaign_time_left(g);

    if (p->s->common.quiet || (!r && !p->tty))
        return;
    hrun_buf_addf(&out, "[%*d/%d] %s  N=%-8lld P=%-3d (%d PE%s x %d)  ", width, p->done + (r == NULL), p->total,
                  c->cluster->subs[point->sub].name, (long long)point->N, point->pes * point->m, point->pes,
                  point->pes == 1 ? "" : "s", point->m);
    if (!r)
        hrun_buf_adds(&out, "running");
    else if (r->ok)
        hrun_add_seconds(&out, r->time_s);
    else
        hrun_buf_addf(&out, "failed: %s%s%s", r->status, r->detail[0] ? ": " : "", r->detail);
    if (left > 0 && p->done < p->total) {
        hrun_buf_adds(&out, "   about ");
        if (left < 1)
            hrun_buf_adds(&out, "a second");
        else
            hrun_add_seconds(&out, round(left));
        hrun_buf_adds(&out, " left");
    }
    clear_line(p);
    fputs(out.data, stderr);
    if (!p->tty || (r && !r->ok))
        fputc('\n', stderr);
    fflush(stderr);
    hrun_buf_release(&out);
}

static void hear(void *ctx, const char *text)
{
    const struct progress *p = ctx;

    if (p->s->common.verbose) {
        clear_line(p);
        fprintf(stderr, "hrun-calibrate: %s\n", text);
    }
}

/* Run one point once. 0: ran (r tells how), -1: could not be run. */
static int run_point(struct context *c, struct progress *p, char **words, const struct point *point,
                     struct work_result *r, struct hrun_error *err)
{
    int n = c->cluster->nsubs, rc = -1;
    int *pes = calloc((size_t)n, sizeof *pes), *procs = calloc((size_t)n, sizeof *procs);
    struct work w = { .c = c, .N = point->N, .words = words, .quiet_run = 1, .on_message = hear, .ctx = p };
    struct hrun_layout *l = NULL;

    if (!pes || !procs) {
        hrun_fail_nomem(err);
        goto done;
    }
    pes[point->sub] = point->pes;
    procs[point->sub] = point->m;
    l = hrun_layout_create(c->cluster, pes, procs, err);
    if (!l || work_find_program(&w, l->nranks, err) || work_run(&w, l, r, err))
        goto done;
    /* An interrupted run says nothing about the application. */
    if (!r->outcome.interrupted && !r->outcome.signalled && work_record(&w, pes, procs, r, "calibration", err))
        goto done;
    rc = 0;
done:
    hrun_layout_destroy(l);
    free(procs);
    free(pes);
    return rc;
}

/* One point, with retries. 0, -1 (error), or the number of the signal that interrupted. */
static int measure_point(struct context *c, struct progress *p, char **words, const struct campaign *g,
                         struct point *point, int retries, struct hrun_error *err)
{
    struct work_result r = { 0 };

    for (;;) {
        show_point(p, c, g, point, NULL);
        if (run_point(c, p, words, point, &r, err))
            return -1;
        if (r.outcome.interrupted || r.outcome.signalled)
            return r.outcome.interrupted ? r.outcome.interrupted : r.outcome.signalled;
        if (r.ok) {
            point->wall_s = (point->wall_s * point->have + r.outcome.wall_s) / (point->have + 1);
            point->have++;
            p->done++;
            p->good++;
            show_point(p, c, g, point, &r);
            return 0;
        }
        snprintf(p->last_failure, sizeof p->last_failure, "%s%s%s", r.status, r.detail[0] ? ": " : "", r.detail);
        show_point(p, c, g, point, &r);
        if (++point->failed > retries) {
            /* Given up: it counts as done, without a measurement. */
            p->done += g->wanted - point->have;
            p->failed_points++;
            point->have = g->wanted;
            return 0;
        }
    }
}

/* --again: a mark in the log of each sub-cluster to be measured; what stands before it no longer counts. */
static int mark_anew(struct context *c, const struct campaign *g, struct hrun_error *err)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    struct hrun_sample mark = { .N = 1, .P = 1, .M = 1, .pes = 1, .status = (char *)HRUN_STATUS_ANEW,
                                .origin = (char *)"calibration", .version = (char *)HRUN_VERSION };
    char date[21];
    int rc = 0;

    hrun_app_consts_text(c->app, &consts);
    hrun_date_now(date);
    mark.consts = consts.data;
    mark.date = date;
    for (int i = 0; i < c->cluster->nsubs && !rc; i++) {
        if (campaign_has(g, i))
            rc = hrun_store_append(c->store, c->app->name, c->signatures.v[i], &mark, err);
    }
    hrun_buf_release(&consts);
    return rc;
}

static int make_runs(struct context *c, struct progress *p, char **words, struct campaign *g, int retries,
                     struct hrun_error *err)
{
    /* Repetitions outermost: stopped early, there is still one run of everything. */
    for (int rep = 0; rep < g->wanted; rep++) {
        for (int i = 0; i < g->n; i++) {
            int rc = g->v[i].have <= rep ? measure_point(c, p, words, g, &g->v[i], retries, err) : 0;

            if (rc)
                return rc;
            if (!p->good && p->failed_points >= HOPELESS) {
                clear_line(p);
                return hrun_fail(err, HRUN_ENODATA,
                                 "the first %d points all failed (%s); is this how the program is started? Every run "
                                 "needs the size, for instance '{N}' among its arguments",
                                 HOPELESS, p->last_failure);
            }
        }
    }
    return 0;
}

static int show_plan(const struct context *c, const struct campaign *g)
{
    struct hrun_table *t = hrun_table_create("lrrrrr");
    struct hrun_buf out = HRUN_BUF_INIT;
    int rc;

    if (!t)
        return -1;
    hrun_table_row(t, "sub-cluster", "N", "P", "PEs", "procs/PE", "runs");
    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        hrun_table_cell(t, "%s", c->cluster->subs[p->sub].name);
        hrun_table_cell(t, "%lld", (long long)p->N);
        hrun_table_cell(t, "%d", p->pes * p->m);
        hrun_table_cell(t, "%d", p->pes);
        hrun_table_cell(t, "%d", p->m);
        hrun_table_cell(t, "%d", p->have < g->wanted ? g->wanted - p->have : 0);
    }
    rc = hrun_table_render(t, 0, &out);
    hrun_buf_addf(&out, "%d runs to make; %d points that the rule and %d that the memory excludes\n", campaign_left(g),
                  g->skipped_rule, g->skipped_memory);
    fputs(out.data, stdout);
    hrun_table_destroy(t);
    hrun_buf_release(&out);
    return rc;
}

/* Fit every sub-cluster of the campaign and print the table. */
static int fit_all(struct context *c, const struct campaign *g, struct hrun_error *err)
{
    int n = c->cluster->nsubs, k = 0, rc = 0;
    struct hrun_models **models = calloc((size_t)n, sizeof *models);
    struct hrun_buf out = HRUN_BUF_INIT;

    if (!models)
        return hrun_fail_nomem(err);
    for (int i = 0; i < n && !rc; i++) {
        if (campaign_has(g, i))
            rc = fit_and_store(c, c->signatures.v[i], c->cluster->subs[i].name, &models[k++], err);
    }
    if (!rc && models_table(models, k, c->set->verbose, &out))
        rc = hrun_fail_nomem(err);
    if (!rc)
        fputs(out.data, stdout);
    for (int i = 0; i < k; i++)
        hrun_models_destroy(models[i]);
    free(models);
    hrun_buf_release(&out);
    return rc;
}

static int prepare(struct context *c, const struct calib_settings *s, char **words, struct campaign *g,
                   struct hrun_error *err)
{
    struct work w = { .c = c, .words = words };

    c->set = &s->common;
    if (context_app(c, words[0], err))
        return -1;
    if (!c->app)
        return hrun_fail(err, HRUN_ENOENT, "no app definition knows the program %s; name one with -app (hrun --list-apps)",
                         words[0]);
    /* Which MPI it is must be known before the grid; a program built per size is there for some size. */
    w.N = s->sizes ? strtoll(s->sizes, NULL, 10) : c->app->nsizes ? c->app->sizes[0] : 1;
    if (work_find_program(&w, 0, err) || context_cluster(c, &s->common, err) || context_engine(c, err))
        return -1;
    if (!context_is_real(c))
        return hrun_fail(err, HRUN_EINVAL, "the topology is a description (HWLOC_XMLFILE or HWLOC_SYNTHETIC is set): times "
                         "measured here say nothing about it; unset the variable");
    w.N = 0; /* sizes differ from run to run: only {N} tells them */
    if (!work_size_is_told(&w))
        return hrun_fail(err, HRUN_EINVAL, "the size N does not reach the program: write {N} where it stands, for instance "
                         "%s '{N}'", words[0]);
    return campaign_build(c, s, g, err);
}

int calib_measure(const struct calib_settings *s, char **words)
{
    struct context c = { 0 };
    struct campaign g = { 0 };
    struct hrun_error err = { 0 };
    struct progress p = { .s = s, .tty = isatty(STDERR_FILENO) };
    int64_t retries = RETRIES;
    int rc, status = 0;

    if (!words[0]) {
        fputs("hrun-calibrate: no program given; say hrun-calibrate [OPTION]... PROGRAM, or hrun-calibrate --help\n",
              stderr);
        return STATUS_FAILED;
    }
    rc = s->retries ? hrun_parse_count("--retries", s->retries, 0, 1000, &retries, &err) : 0;
    if (!rc)
        rc = prepare(&c, s, words, &g, &err);
    if (!rc && s->dry_run) {
        rc = show_plan(&c, &g) ? hrun_fail_nomem(&err) : 0;
    } else if (!rc) {
        p.total = campaign_left(&g);
        if (!s->common.quiet && p.total < g.n * g.wanted)
            fprintf(stderr, "hrun-calibrate: %d of %d runs are measured already (--again measures them anew)\n",
                    g.n * g.wanted - p.total, g.n * g.wanted);
        rc = s->again ? mark_anew(&c, &g, &err) : 0;
        if (!rc)
            rc = make_runs(&c, &p, words, &g, (int)retries, &err);
        clear_line(&p);
        if (rc > 0) {
            fprintf(stderr, "hrun-calibrate: stopped; %d measurement%s kept, the same command%s goes on from here\n",
                    p.good, p.good == 1 ? " is" : "s are", s->again ? " without --again" : "");
            status = 128 + rc;
            rc = 0;
        } else if (!rc && !s->no_fit) {
            rc = fit_all(&c, &g, &err);
        }
        if (!rc && p.failed_points) {
            fprintf(stderr, "hrun-calibrate: %d point%s failed and %s left out (last: %s)\n", p.failed_points,
                    p.failed_points == 1 ? "" : "s", p.failed_points == 1 ? "is" : "are", p.last_failure);
            status = status ? status : STATUS_FAILED;
        }
    }
    if (rc)
        status = context_complain("hrun-calibrate", &err);
    campaign_release(&g);
    context_release(&c);
    return status;
}
