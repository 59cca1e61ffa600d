/* report_runs.c - the recorded runs of an application, and the cluster that they ran on; see calib_report.h */
#include "calib_report.h"

#include "../profiles/profiles.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records with more PEs are ignored. */
enum { PES_MAX = 1 << 20 };

static const char *sub_signature(const struct report *r, int i)
{
    return r->signatures.v[r->subs[i].log];
}

/* ------------------------------------------------------------------ which sub-clusters */

static int read_app_logs(struct report *r, struct hrun_error *err)
{
    const char *app = r->c->app->name;

    if (hrun_store_signatures(r->c->store, app, &r->signatures, err))
        return -1;
    r->logs = xcalloc(r->signatures.n + 1, sizeof *r->logs);
    for (size_t i = 0; i < r->signatures.n; i++) {
        if (hrun_store_samples(r->c->store, app, r->signatures.v[i], &r->logs[i], err))
            return -1;
        r->bad += r->logs[i].bad;
        r->old += hrun_samples_current(&r->logs[i]);
    }
    return 0;
}

/* 1 if a is preferred to b (NULL: none), else 0. A calibration run is preferred to any other, which may have used a
 * part of the cluster; a later run to an earlier one. */
static int is_newer(const struct hrun_sample *a, const struct hrun_sample *b)
{
    int x = !strcmp(a->origin, "calibration"), y = b && !strcmp(b->origin, "calibration");

    return !b || (x != y ? x : strcmp(a->date, b->date) >= 0);
}

/* The newest calibration run, else the newest run, whose record names the sub-clusters, or NULL. *log: its log. */
static const struct hrun_sample *newest_calibration(const struct report *r, int *log)
{
    const struct hrun_sample *found = NULL;

    for (size_t i = 0; i < r->signatures.n; i++)
        for (size_t k = 0; k < r->logs[i].n; k++) {
            const struct hrun_sample *s = &r->logs[i].v[k];
            int n = hrun_list_count(s->cluster);
            struct hrun_config config;

            if (n && !hrun_config_parse(s->config, n, &config, NULL) && is_newer(s, found)) {
                found = s;
                *log = (int)i;
            }
        }
    return found;
}

static void add_report_sub(struct report *r, const char *name, int log)
{
    r->subs[r->nsubs++] = (struct report_sub){ .name = xstrdup(name), .log = log };
}

/* Set the sub-clusters and their profiles from the run of newest_calibration. Without a run each profile is a
 * sub-cluster. */
static void find_report_subs(struct report *r)
{
    int log = 0, n;
    const struct hrun_sample *last = newest_calibration(r, &log);

    n = last ? hrun_list_count(last->cluster) : 0;
    r->subs = xcalloc((size_t)n + r->signatures.n + 1, sizeof *r->subs);
    for (int i = 0; i < n; i++) {
        autofree char *name = hrun_list_copy(last->cluster, i);
        autofree char *signature = hrun_list_copy(last->signatures, i);

        for (int k = 0; n > 1 && k < (int)r->signatures.n; k++)
            if (signature && !strcmp(r->signatures.v[k], signature))
                add_report_sub(r, name, k);
        if (n == 1)
            add_report_sub(r, name, log);
    }
    n = r->nsubs;
    for (int i = 0; !n && i < (int)r->signatures.n && r->nsubs < HRUN_SUBS_MAX; i++)
        if (r->logs[i].n)
            add_report_sub(r, r->signatures.v[i], i);
    for (int k = 0; k < (int)r->signatures.n; k++) {
        int i = 0;

        while (i < r->nsubs && r->subs[i].log != k)
            i++;
        if (i == r->nsubs && r->logs[k].n)
            hrun_strvec_push(&r->others, r->signatures.v[k]);
    }
}

int report_is_first(const struct report *r, int i)
{
    int k = 0;

    while (r->subs[k].log != r->subs[i].log)
        k++;
    return k == i;
}

/* ------------------------------------------------------------------ which runs */

/* The report's sub-cluster that corresponds to the i-th of a run; -1: the run is of another cluster. */
static int match_report_sub(const struct report *r, const struct hrun_sample *s, int i)
{
    int named = i < hrun_list_count(s->signatures);

    for (int k = 0; k < r->nsubs; k++)
        if (hrun_list_is(s->cluster, i, r->subs[k].name) &&
            (!named || hrun_list_is(s->signatures, i, sub_signature(r, k))))
            return k;
    return -1;
}

/* Read the configuration of a run on the report's sub-clusters, and its number of PEs, from the text of its record.
 * Result: the number of sub-clusters used; 0: it used others, too, or the text has no configuration. */
static int read_report_config(const struct report *r, struct report_run *run, struct hrun_config *out)
{
    const struct hrun_sample *s = run->s;
    int n = hrun_list_count(s->cluster), used = 0, outside = 0;
    struct hrun_config theirs;

    run->npes = s->pes;
    if (!n || hrun_config_parse(s->config, n, &theirs, NULL))
        return 0;
    run->npes = 0;
    for (int i = 0; i < n; i++) {
        int k = theirs.pes[i] ? match_report_sub(r, s, i) : -1;

        run->npes += theirs.pes[i];
        used += k >= 0;
        outside |= theirs.pes[i] && k < 0;
        if (k >= 0) {
            out->pes[k] = theirs.pes[i];
            out->procs[k] = theirs.procs[i];
        }
    }
    return outside ? 0 : used;
}

/* Set the configuration of a run in the log of sub-cluster `sub`. It stays NULL if the run used other sub-clusters or
 * the record is contradictory. */
static void place_run(struct report *r, struct report_run *run, int sub)
{
    const struct hrun_sample *s = run->s;
    struct hrun_config config = { .nsubs = r->nsubs };
    int used = read_report_config(r, run, &config);
    double P = 0;

    run->sub = -1;
    /* A run on one sub-cluster belongs to the sub-cluster of its log, even if its name has changed. */
    if (!s->mixed && used != 1) {
        config = hrun_config_alone(r->nsubs, sub, s->pes, s->M);
        used = 1;
    }
    for (int i = 0; i < r->nsubs; i++) {
        if (config.pes[i] > PES_MAX)
            return;
        P += (double)config.pes[i] * config.procs[i];
    }
    if (!used || P != s->P)
        return;
    for (int i = 0; i < r->nsubs; i++) {
        r->subs[i].npes = config.pes[i] > r->subs[i].npes ? config.pes[i] : r->subs[i].npes;
        run->sub = used == 1 && config.pes[i] ? i : run->sub;
    }
    run->config = xmalloc(sizeof config);
    *run->config = config;
}

static int run_order(const void *a, const void *b)
{
    const struct hrun_sample *x = ((const struct report_run *)a)->s, *y = ((const struct report_run *)b)->s;
    int c;

    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    if ((c = strcmp(x->date, y->date)) || (c = strcmp(x->config, y->config)))
        return c;
    if (x->wall_s != y->wall_s)
        return x->wall_s < y->wall_s ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

static void find_runs(struct report *r)
{
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;
    size_t n = 0;
    int kept = 0;

    hrun_app_consts_text(r->c->app, &consts);
    for (int i = 0; i < r->nsubs; i++)
        n += r->logs[r->subs[i].log].n;
    r->runs = xcalloc(n + 1, sizeof *r->runs);
    for (int i = 0; i < r->nsubs; i++)
        for (size_t k = 0; report_is_first(r, i) && k < r->logs[r->subs[i].log].n; k++) {
            struct report_run *run = &r->runs[r->nruns++];
            const struct hrun_sample *s = run->s = &r->logs[r->subs[i].log].v[k];
            int other = strcmp(s->consts, consts.data) != 0;

            run->counts = s->ok && !other;
            run->dealt = s->mixed && hrun_sample_dealt(s);
            r->other_consts += (size_t)other;
            place_run(r, run, i);
        }
    qsort(r->runs, (size_t)r->nruns, sizeof *r->runs, run_order);
    for (int i = 0; i < r->nruns; i++) {
        const struct report_run *last = kept ? &r->runs[kept - 1] : NULL;

        /* A run on several sub-clusters is in the log of each, with exactly equal times. */
        if (last && last->s->mixed && r->runs[i].s->mixed && !run_order(last, &r->runs[i]))
            free(r->runs[i].config);
        else
            r->runs[kept++] = r->runs[i];
    }
    r->nruns = kept;
}

/* ------------------------------------------------------------------ the cluster */

/* Set price and power of PEs from the cluster file of the options; no host is contacted. A failure is printed, and the
 * report has no prices. */
static void find_prices(const struct calib_settings *s, struct hrun_cluster *cl)
{
    const char *path = s->common.machine.cluster_file;
    struct hrun_error err = { 0 };
    int priced = 0;

    for (int i = 0; path && i < cl->nsubs; i++) {
        struct hrun_subcluster *sub = &cl->subs[i];
        int rc = hrun_clusterfile_price(path, sub->name, &sub->cost_per_hour, &sub->power_w, &err);

        priced += rc > 0;
        if (rc < 0 && !s->common.quiet)
            fprintf(stderr, "hrun-calibrate: the report is without prices: %s\n", err.text);
        if (rc < 0)
            return;
    }
    for (int i = 0; priced && priced < cl->nsubs && i < cl->nsubs; i++)
        if (!(cl->subs[i].cost_per_hour > 0 || cl->subs[i].power_w > 0) && !s->common.quiet)
            fprintf(stderr, "hrun-calibrate: %s names no price and no power of sub-cluster %s: the report is without "
                    "time against cost\n", path, cl->subs[i].name);
}

/* Make the cluster of the runs, for lib/session. The name of its only host is in no network. */
static struct hrun_cluster *make_report_cluster(const struct report *r)
{
    struct hrun_cluster *cl = xcalloc(1, sizeof *cl);

    cl->source = xstrdup("earlier runs");
    cl->hosts = xcalloc(1, sizeof *cl->hosts);
    cl->hosts[0].name = xstrdup("(earlier runs)");
    cl->nhosts = 1;
    cl->subs = xcalloc((size_t)r->nsubs + 1, sizeof *cl->subs);
    cl->nsubs = r->nsubs;
    for (int i = 0; i < r->nsubs; i++)
        cl->subs[i] = (struct hrun_subcluster){
            .name = xstrdup(r->subs[i].name), .cpu_model = xstrdup(""), .core_kind = xstrdup(""),
            .npes = r->subs[i].npes, .pes = xcalloc((size_t)r->subs[i].npes + 1, sizeof *cl->subs[i].pes),
        };
    return cl;
}

int report_gather(struct context *c, const struct calib_settings *s, struct report *r, struct hrun_error *err)
{
    int same;

    r->c = c;
    if (read_app_logs(r, err))
        return -1;
    find_report_subs(r);
    find_runs(r);
    if (!r->nruns)
        return hrun_fail(err, HRUN_ENODATA, "there is no measurement of %s in %s; hrun-calibrate -app %s PROGRAM makes "
                         "some", c->app->name, hrun_store_dir(c->store), c->app->name);
    for (size_t i = 0; i < r->signatures.n; i++)
        suit_recorded(c->app, &r->logs[i]);
    c->cluster = make_report_cluster(r);
    find_prices(s, c->cluster);
    /* The network of the hosts that the options name counts only if it is that of the report's sub-clusters. */
    same = c->view && hrun_netview_nsubs(c->view) == r->nsubs;
    for (int i = 0; i < r->nsubs && same; i++)
        same = hrun_netview_find(c->view, r->subs[i].name) == i && hrun_netview_npes(c->view, i) >= r->subs[i].npes;
    if (!same) {
        hrun_netview_destroy(c->view);
        hrun_net_destroy(c->net);
        c->view = NULL;
        c->net = NULL;
    }
    c->engine = hrun_engine_find(r->runs[0].s->launcher.engine);
    c->engine = c->engine ? c->engine : hrun_engine_find("local");
    for (int i = 0; i < r->nsubs; i++)
        hrun_strvec_push(&c->signatures, sub_signature(r, i));
    if (profiles_load(c, &r->known, err))
        return -1;
    for (int i = 0; i < r->known.nsubs; i++)
        if (r->known.subs[i].unreadable)
            return hrun_fail(err, r->known.subs[i].unreadable, "%s", r->known.subs[i].why_not);
    return 0;
}

void report_release(struct report *r)
{
    profiles_release(&r->known);
    for (size_t i = 0; i < r->signatures.n && r->logs; i++)
        hrun_samples_release(&r->logs[i]);
    free(r->logs);
    hrun_strvec_release(&r->signatures);
    for (int i = 0; i < r->nsubs; i++)
        free(r->subs[i].name);
    free(r->subs);
    for (int i = 0; i < r->nruns; i++)
        free(r->runs[i].config);
    free(r->runs);
    hrun_strvec_release(&r->others);
}
