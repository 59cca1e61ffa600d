/* report_gather.c - the runs of an application, and the cluster that they tell of; see report.h */
#include "report.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record that names more PEs is not believed. */
enum { PES_MAX = 1 << 20 };

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

/* ------------------------------------------------------------------ which sub-clusters */

/* The samples of all profiles of the application. */
struct logs {
    struct hrun_strvec signatures;
    struct hrun_samples *v;
};

static void logs_release(struct logs *l)
{
    for (size_t i = 0; l->v && i < l->signatures.n; i++)
        hrun_samples_release(&l->v[i]);
    free(l->v);
    hrun_strvec_release(&l->signatures);
}

static int read_app_logs(struct report *r, struct logs *l, struct hrun_error *err)
{
    const char *app = r->c->app->name;

    if (hrun_store_signatures(r->c->store, app, &l->signatures, err))
        return -1;
    l->v = xcalloc(l->signatures.n + 1, sizeof *l->v);
    for (size_t i = 0; i < l->signatures.n; i++) {
        if (hrun_store_samples(r->c->store, app, l->signatures.v[i], &l->v[i], err))
            return -1;
        r->bad += l->v[i].bad;
        r->old += hrun_samples_current(&l->v[i]);
    }
    return 0;
}

/* Later runs go before earlier ones, and calibration before all others, which may be made on a part of the cluster. */
static int is_newer(const struct hrun_sample *a, const struct hrun_sample *b)
{
    int x = !strcmp(or_empty(a->origin), "calibration"), y = b ? !strcmp(or_empty(b->origin), "calibration") : 0;

    return !b || (x != y ? x : strcmp(or_empty(a->date), or_empty(b->date)) >= 0);
}

/* The newest run that names the sub-clusters of its configuration; *log: where it stands. NULL: there is none. */
static const struct hrun_sample *newest_calibration(const struct logs *l, size_t *log)
{
    const struct hrun_sample *found = NULL;

    for (size_t i = 0; i < l->signatures.n; i++)
        for (size_t k = 0; k < l->v[i].n; k++) {
            const struct hrun_sample *s = &l->v[i].v[k];
            int n = hrun_list_count(s->cluster), *config = xcalloc(2 * (size_t)n + 1, sizeof *config);

            if (n && !hrun_config_parse(or_empty(s->config), n, config, config + n, NULL) && is_newer(s, found)) {
                found = s;
                *log = i;
            }
            free(config);
        }
    return found;
}

static void add_sub(struct report *r, const char *name, const char *signature)
{
    struct report_sub *s = &r->subs[r->nsubs];

    s->name = xstrdup(name);
    s->signature = xstrdup(signature);
    for (s->same = 0; s->same < r->nsubs && strcmp(r->subs[s->same].signature, signature); s->same++)
        ;
    r->nsubs++;
}

static int is_stored(const struct logs *l, const char *signature)
{
    for (size_t i = 0; i < l->signatures.n; i++)
        if (!strcmp(l->signatures.v[i], signature))
            return 1;
    return 0;
}

/* The sub-clusters as the newest run names them, with their profiles; where it does not, each profile is one. */
static void find_subs(struct report *r, const struct logs *l)
{
    size_t log = 0;
    const struct hrun_sample *last = newest_calibration(l, &log);
    int n = last ? hrun_list_count(last->cluster) : 0;

    r->subs = xcalloc((size_t)n + l->signatures.n + 1, sizeof *r->subs);
    for (int i = 0; i < n; i++) {
        char *name = hrun_list_copy(last->cluster, i), *signature = hrun_list_copy(last->signatures, i);

        if (n == 1 || is_stored(l, or_empty(signature)))
            add_sub(r, name, n == 1 ? l->signatures.v[log] : signature);
        free(name);
        free(signature);
    }
    for (size_t i = 0; !r->nsubs && i < l->signatures.n; i++)
        if (l->v[i].n)
            add_sub(r, l->signatures.v[i], l->signatures.v[i]);
}

/* Hand the samples over. Profiles of no sub-cluster are named. */
static void fill_subs(struct report *r, struct logs *l)
{
    for (size_t k = 0; k < l->signatures.n; k++) {
        int i = 0;

        while (i < r->nsubs && strcmp(r->subs[i].signature, l->signatures.v[k]))
            i++;
        if (i < r->nsubs) {
            r->subs[i].samples = l->v[k];
            memset(&l->v[k], 0, sizeof l->v[k]);
        } else if (l->v[k].n) {
            hrun_strvec_push(&r->others, l->signatures.v[k]);
        }
    }
}

/* ------------------------------------------------------------------ which runs */

static int sub_of(const struct report *r, const struct hrun_sample *s, int i)
{
    int named = i < hrun_list_count(s->signatures);

    for (int k = 0; k < r->nsubs; k++)
        if (hrun_list_is(s->cluster, i, r->subs[k].name) &&
            (!named || hrun_list_is(s->signatures, i, r->subs[k].signature)))
            return k;
    return -1;
}

/* Does a configuration have P processes, on numbers of PEs that can be believed? */
static int is_plausible(const struct report *r, const int *config, int P)
{
    double sum = 0;     /* the text of a record may say anything */

    for (int i = 0; i < r->nsubs; i++) {
        if (config[i] > PES_MAX)
            return 0;
        sum += (double)config[i] * config[r->nsubs + i];
    }
    return sum == P;
}

/* The configuration of a run on the report's sub-clusters; it stays NULL where it used others. */
static void place_run(struct report *r, struct report_run *run, int log)
{
    const struct hrun_sample *s = run->s;
    int n = hrun_list_count(s->cluster), known = 1, used = 0;
    int *theirs = xcalloc(2 * (size_t)n + 1, sizeof *theirs), *ours = xcalloc(2 * (size_t)r->nsubs, sizeof *ours);

    run->sub = -1;
    run->npes = s->pes;
    if (n && !hrun_config_parse(or_empty(s->config), n, theirs, theirs + n, NULL)) {
        run->npes = 0;
        for (int i = 0; i < n; i++) {
            int k = theirs[i] ? sub_of(r, s, i) : -1;

            run->npes += theirs[i];
            used += k >= 0;
            known = known && (!theirs[i] || k >= 0);
            if (k >= 0) {
                ours[k] = theirs[i];
                ours[r->nsubs + k] = theirs[n + i];
                run->sub = used == 1 ? k : -1;
            }
        }
    }
    /* A run on one sub-cluster is its log's, whatever the sub-cluster was called then. */
    if (!s->mixed && (!known || used != 1)) {
        memset(ours, 0, 2 * (size_t)r->nsubs * sizeof *ours);
        ours[log] = s->pes;
        ours[r->nsubs + log] = s->M;
        run->sub = log;
        known = used = 1;
    }
    free(theirs);
    if (!known || !used || !is_plausible(r, ours, s->P)) {
        free(ours);
        run->sub = -1;
        return;
    }
    run->config = ours;
    for (int k = 0; k < r->nsubs; k++)
        if (ours[k] > r->subs[k].npes)
            r->subs[k].npes = ours[k];
}

static int run_order(const void *a, const void *b)
{
    const struct hrun_sample *x = ((const struct report_run *)a)->s, *y = ((const struct report_run *)b)->s;
    int c;

    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    if ((c = strcmp(or_empty(x->date), or_empty(y->date))) || (c = strcmp(or_empty(x->config), or_empty(y->config))))
        return c;
    if (x->wall_s != y->wall_s)
        return x->wall_s < y->wall_s ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* A run on several sub-clusters stands in the log of each; times are kept to the last bit. */
static int is_again(const struct hrun_sample *a, const struct hrun_sample *b)
{
    return a->mixed && b->mixed && a->N == b->N && a->P == b->P && a->time_s == b->time_s && a->wall_s == b->wall_s &&
           !strcmp(or_empty(a->date), or_empty(b->date)) && !strcmp(or_empty(a->config), or_empty(b->config));
}

static void find_runs(struct report *r)
{
    struct hrun_buf consts = HRUN_BUF_INIT;
    size_t n = 0;
    int kept = 0;

    hrun_app_consts_text(r->c->app, &consts);
    for (int i = 0; i < r->nsubs; i++)
        n += r->subs[i].samples.n;
    r->runs = xcalloc(n + 1, sizeof *r->runs);
    for (int i = 0; i < r->nsubs; i++)
        for (size_t k = 0; k < r->subs[i].samples.n; k++) {
            struct report_run *run = &r->runs[r->nruns++];
            const struct hrun_sample *s = run->s = &r->subs[i].samples.v[k];
            int other = strcmp(or_empty(s->consts), consts.data) != 0;

            run->counts = s->ok && !other;
            run->dealt = s->mixed && hrun_sample_dealt(s);
            r->other_consts += other;
            place_run(r, run, i);
        }
    qsort(r->runs, (size_t)r->nruns, sizeof *r->runs, run_order);
    for (int i = 0; i < r->nruns; i++) {
        if (kept && is_again(r->runs[kept - 1].s, r->runs[i].s))
            free(r->runs[i].config);
        else
            r->runs[kept++] = r->runs[i];
    }
    r->nruns = kept;
    hrun_buf_release(&consts);
}

/* ------------------------------------------------------------------ the cluster */

/* What PEs cost and draw, as the cluster file of the options says, without asking a host. What fails is said: a report
 * does without. */
static void find_prices(const struct calib_settings *s, struct hrun_cluster *cl)
{
    const char *path = s->common.cluster_file;
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

/* The cluster that the runs tell of, for lib/session: its only host has a name that no network knows. */
static struct hrun_cluster *make_cluster(const struct report *r)
{
    struct hrun_cluster *cl = xcalloc(1, sizeof *cl);

    cl->source = xstrdup("earlier runs");
    cl->hosts = xcalloc(1, sizeof *cl->hosts);
    cl->hosts[0].name = xstrdup("(earlier runs)");
    cl->nhosts = 1;
    cl->subs = xcalloc((size_t)r->nsubs + 1, sizeof *cl->subs);
    cl->nsubs = r->nsubs;
    for (int i = 0; i < r->nsubs; i++) {
        struct hrun_subcluster *s = &cl->subs[i];

        s->name = xstrdup(r->subs[i].name);
        s->cpu_model = xstrdup("");
        s->core_kind = xstrdup("");
        s->npes = r->subs[i].npes;
        s->pes = xcalloc((size_t)s->npes + 1, sizeof *s->pes);
    }
    return cl;
}

/* The network of the hosts that the options name counts if the report is of their sub-clusters. */
static void drop_other_network(const struct report *r)
{
    struct context *c = r->c;
    int same = c->view && hrun_netview_nsubs(c->view) == r->nsubs;

    for (int i = 0; i < r->nsubs && same; i++)
        same = hrun_netview_find(c->view, r->subs[i].name) == i && hrun_netview_npes(c->view, i) >= r->subs[i].npes;
    if (same)
        return;
    hrun_netview_destroy(c->view);
    hrun_net_destroy(c->net);
    c->view = NULL;
    c->net = NULL;
}

int report_gather(struct context *c, const struct calib_settings *s, struct report *r, struct hrun_error *err)
{
    struct logs logs = { 0 };
    int rc = -1;

    r->c = c;
    if (read_app_logs(r, &logs, err))
        goto done;
    find_subs(r, &logs);
    fill_subs(r, &logs);
    find_runs(r);
    if (!r->nruns) {
        hrun_fail(err, HRUN_ENODATA, "there is no measurement of %s in %s; hrun-calibrate -app %s PROGRAM makes some",
                  c->app->name, hrun_store_dir(c->store), c->app->name);
        goto done;
    }
    c->cluster = make_cluster(r);
    find_prices(s, c->cluster);
    drop_other_network(r);
    c->engine = hrun_engine_find(or_empty(r->runs[0].s->engine));
    c->engine = c->engine ? c->engine : hrun_engine_find("local");
    for (int i = 0; i < r->nsubs; i++)
        hrun_strvec_push(&c->signatures, r->subs[i].signature);
    rc = profiles_load(c, &r->known, err);
    for (int i = 0; i < r->known.nsubs && !rc; i++)
        if (r->known.subs[i].unreadable)
            rc = hrun_fail(err, r->known.subs[i].unreadable, "%s", r->known.subs[i].why_not);
done:
    logs_release(&logs);
    return rc;
}

void report_release(struct report *r)
{
    profiles_release(&r->known);
    for (int i = 0; i < r->nsubs; i++) {
        free(r->subs[i].name);
        free(r->subs[i].signature);
        hrun_samples_release(&r->subs[i].samples);
    }
    free(r->subs);
    for (int i = 0; i < r->nruns; i++)
        free(r->runs[i].config);
    free(r->runs);
    hrun_strvec_release(&r->others);
}
