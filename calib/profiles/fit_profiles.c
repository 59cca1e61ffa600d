/* fit_profiles.c - fit models to the logs of all sub-clusters of a cluster together; see profiles.h */
#include "../network/calib_network.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "fit/fit.h"
#include "profiles.h"
#include "session/context_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fit_options(const struct settings *s, struct hrun_fit_options *out, struct hrun_error *err)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;

    if (s->fit.method && hrun_method_parse(s->fit.method, &options.method, err))
        return -1;
    if (s->fit.glitches > 0)
        options.glitches = s->fit.glitches;
    options.robust = !s->fit.no_robust;
    if (s->machine.platform)
        options.sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S;
    *out = options;
    return 0;
}

/* The logs of profiles, and the models made from them. */
struct batch {
    struct context *c;
    struct fit_one *v;
    int n;
    struct hrun_fit_options options;
    struct hrun_samples *logs;      /* of each profile, without records that no longer count */
    size_t *lengths;                /* for each profile: number of records in its log */
    struct hrun_joint_sub *subs;
    struct hrun_models **models;
};

static void batch_forget(struct batch *b)
{
    for (int i = 0; i < b->n; i++) {
        hrun_models_destroy(b->models[i]);
        b->models[i] = NULL;
    }
}

static void batch_release(struct batch *b)
{
    batch_forget(b);
    for (int i = 0; i < b->n; i++)
        hrun_samples_release(&b->logs[i]);
    free(b->logs);
    free(b->lengths);
    free(b->subs);
    free(b->models);
}

static const char *profile_name(const struct fit_one *one)
{
    return one->label && *one->label ? one->label : one->signature;
}

/* Read the log of profile i again. */
static int read_profile_log(struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_samples fresh = { 0 };

    if (hrun_store_samples(b->c->store, b->c->app->name, b->v[i].signature, &fresh, err))
        return -1;
    hrun_samples_release(&b->logs[i]);
    b->logs[i] = fresh;
    b->lengths[i] = fresh.n + fresh.bad;
    hrun_samples_current(&b->logs[i]);
    b->subs[i] = (struct hrun_joint_sub) { profile_name(&b->v[i]), b->v[i].signature, b->logs[i].v, b->logs[i].n, 0 };
    return 0;
}

/* Fit all profiles together. If that fails, fit each one alone to find the one that fails. */
static void fit_batch(struct batch *b, struct hrun_buf *skipped)
{
    struct hrun_error why = { 0 };

    batch_forget(b);
    if (hrun_model_fit_joint(b->c->app, b->subs, b->n, &b->options, b->models, skipped, &why)) {
        for (int i = 0; i < b->n; i++)
            if (hrun_model_fit_joint(b->c->app, &b->subs[i], 1, &b->options, &b->models[i], skipped, &why))
                b->models[i] = NULL;
    }
    /* The label, which may be empty, replaces the name used in messages. */
    for (int i = 0; i < b->n; i++)
        if (b->models[i]) {
            free(b->models[i]->subcluster);
            b->models[i]->subcluster = xstrdup(b->v[i].label ? b->v[i].label : "");
        }
}

/* Fail with the reason why profile i has no models. */
static int fail_unfitted(const struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_models *none = NULL;

    if (!hrun_model_fit(b->c->app, b->logs[i].v, b->logs[i].n, &b->options, &none, NULL, err)) {
        hrun_models_destroy(none);
        hrun_fail(err, HRUN_ENODATA, "its models could not be fitted with those of the other sub-clusters");
    }
    return hrun_fail_prefix(err, "%s on %s", b->c->app->name, profile_name(&b->v[i]));
}

/* Store the models of profile i. The profile is locked while its log is checked for new records and the models are
 * stored, so that a simultaneous calibration never replaces models by those of fewer measurements. */
static int store_models(struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_store *s = b->c->store;
    size_t before = b->lengths[i];
    int rc;

    if (hrun_store_begin(s, b->c->app->name, b->v[i].signature, err))
        return -1;
    rc = read_profile_log(b, i, err);
    if (!rc && b->lengths[i] != before)
        fit_batch(b, NULL);
    if (!rc)
        rc = b->models[i] ? hrun_store_put_models(s, b->models[i], err) : fail_unfitted(b, i, err);
    if (!rc) {
        b->v[i].models = b->models[i];
        b->models[i] = NULL;
    }
    hrun_store_end(s);
    return rc;
}

/* Read all logs. A log that cannot be read is reported on stderr and stays empty. Result: the exit status. */
static int read_logs(struct batch *b)
{
    int status = 0;

    for (int i = 0; i < b->n; i++) {
        struct hrun_error err = { 0 };

        b->subs[i] = (struct hrun_joint_sub) { profile_name(&b->v[i]), b->v[i].signature, NULL, 0, 0 };
        if (read_profile_log(b, i, &err)) {
            b->v[i].quiet = 1;
            status = context_complain("hrun-calibrate", &err);
        } else if (b->logs[i].bad) {
            fprintf(stderr, "hrun-calibrate: %s skipped (%s)\n", hrun_counted(b->logs[i].bad, "record").s,
                    b->logs[i].first_bad);
        }
    }
    return status;
}

/* Warn if the measurements of profile i are too vague (hrun_samples_vague), even if models fit them well. */
static void warn_vague(const struct batch *b, int i)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;

    hrun_samples_vague(b->logs[i].v, b->logs[i].n, &words);
    if (words.len)
        fprintf(stderr, "hrun-calibrate: %s on %s: %.*s\n", b->c->app->name, profile_name(&b->v[i]), (int)words.len - 1,
                words.data);
}

/* The quickest runs at one size. */
struct quickest {
    int64_t N;
    double time_s;
};

static int compare_quickest(const void *a, const void *b)
{
    const struct quickest *x = a, *y = b;

    return x->N != y->N ? (x->N > y->N) - (x->N < y->N) : (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* The size from which runs take least_s, extrapolated from the quickest runs of the two largest sizes. */
static double long_enough(const struct quickest *v, size_t n, double least_s)
{
    const struct quickest *a = n > 1 ? &v[n - 2] : NULL, *b = &v[n - 1];
    double power = a && b->time_s > a->time_s ? log(b->time_s / a->time_s) / log((double)b->N / (double)a->N) : 1;

    for (size_t i = 0; i < n; i++)
        if (v[i].time_s >= least_s)
            return (double)v[i].N;
    return (double)b->N * pow(least_s / b->time_s, 1 / fmin(fmax(power, 0.5), 3));
}

/* Warn of sizes whose quickest runs are too short for the resolution of their clock, with a size that is large enough.
 * v[n]: scratch. */
static void warn_short(const struct batch *b, struct quickest *v, size_t n, double least_s)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;
    int fixed = b->c->app->fixed;
    double enough, unit;
    size_t sizes = 0, kept = 0;

    qsort(v, n, sizeof *v, compare_quickest);
    for (size_t i = 0; i < n; i++)
        if (!kept || v[i].N != v[kept - 1].N)
            v[kept++] = v[i];
    for (size_t i = 0; i < kept; i++)
        if (v[i].time_s < least_s) {
            hrun_buf_adds(&words, sizes++ ? ", " : fixed ? "" : "at N = ");
            if (!fixed)
                hrun_buf_addf(&words, "%lld ", (long long)v[i].N);
            hrun_buf_addf(&words, "(%s)", hrun_seconds(v[i].time_s).s);
        }
    if (sizes) {
        enough = long_enough(v, kept, least_s);
        unit = pow(10, fmax(floor(log10(enough)) - 1, 0));      /* two digits */
        hrun_buf_addf(&words, " are too short to tell much: %s would be long enough for what times are rounded to, or "
                      "scatter by; ", hrun_seconds(least_s).s);
        if (!fixed)
            hrun_buf_addf(&words, "measure sizes from about N = %.0f on (--sizes), or find a finer time in its output "
                          "(time in the definition)", ceil(enough / unit) * unit);
        fprintf(stderr, "hrun-calibrate: %s: the quickest runs %s%s\n", b->c->app->name, words.data,
                fixed ? "give it more to do" : "");
    }
}

/* Look for such sizes in all logs. */
static void find_short_runs(const struct batch *b)
{
    size_t most = 1, n = 0, first = 0;     /* first: the number of a log's first record among all */
    autofree struct quickest *v = NULL;
    autofree double *time_s = NULL;
    autofree int *thing = NULL;

    for (int i = 0; i < b->n; i++)
        most += b->logs[i].n;
    v = xcalloc(most, sizeof *v);
    time_s = xcalloc(most, sizeof *time_s);
    thing = xcalloc(most, sizeof *thing);
    for (int i = 0; i < b->n; first += b->logs[i++].n)
        for (size_t k = 0; k < b->logs[i].n; k++) {
            const struct hrun_sample *s = &b->logs[i].v[k], *same = b->logs[i].v;

            if (!s->ok || s->copies)
                continue;
            while (same != s && (same->N != s->N || same->P != s->P || !same->config || !s->config ||
                                 strcmp(same->config, s->config)))
                same++;
            v[n] = (struct quickest){ s->N, s->time_s };
            time_s[n] = s->time_s;
            thing[n++] = (int)(first + (size_t)(same - b->logs[i].v));
        }
    warn_short(b, v, n, hrun_times_least(time_s, thing, n));
}

int fit_together(struct context *c, struct fit_one *v, int n)
{
    size_t room = (size_t)n + 1;
    autorelease(batch_release) struct batch b = {
        .c = c, .v = v, .n = n, .logs = xcalloc(room, sizeof *b.logs), .lengths = xcalloc(room, sizeof *b.lengths),
        .subs = xcalloc(room, sizeof *b.subs), .models = xcalloc(room, sizeof *b.models),
    };
    autorelease(hrun_buf_release) struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    int status;

    if (fit_options(c->set, &b.options, &err) || (c->cluster && c->engine && network_use(c, NULL, &err)))
        return context_complain("hrun-calibrate", &err);
    b.options.net = c->view;
    status = read_logs(&b);
    fit_batch(&b, &skipped);
    for (int i = 0; i < n; i++)
        if ((b.models[i] || !v[i].quiet) && store_models(&b, i, &err))
            status = context_complain("hrun-calibrate", &err);
    for (int i = 0; i < n && hrun_family_of(c->app)->has_forms; i++)
        if (v[i].models && !v[i].quiet && !c->set->quiet)
            warn_vague(&b, i);
    if (hrun_family_of(c->app)->has_forms && !c->set->quiet)
        find_short_runs(&b);
    if (skipped.len && (c->set->verbose || (b.options.glitches > 0 && !c->set->quiet)))
        fprintf(stderr, "%s", skipped.data);
    return status;
}

/* ------------------------------------------------------------------ hrun-calibrate fit */

/* The name of the sub-cluster in the profile's newest record that has one, or NULL. The caller frees it. */
static char *recorded_name(struct context *c, const char *app, const char *sig)
{
    autorelease(hrun_samples_release) struct hrun_samples log = { 0 };
    char *found = NULL;

    if (hrun_store_samples(c->store, app, sig, &log, NULL))
        return NULL;
    for (size_t i = log.n; i-- > 0 && !found;)
        found = hrun_list_copy(log.v[i].cluster, hrun_list_find(log.v[i].signatures, sig));
    return found;
}

/* The name of a sub-cluster from the old models, if they can be read, else from the log. The caller frees it. */
static char *known_name(struct context *c, const char *app, const char *sig)
{
    struct hrun_models *old = NULL;
    char *name = NULL;

    if (!hrun_store_get_models(c->store, app, sig, &old, NULL) && old && *old->subcluster)
        name = xstrdup(old->subcluster);
    hrun_models_destroy(old);
    return name ? name : recorded_name(c, app, sig);
}

/* The profiles of one application, grouped by cluster. */
struct clusters {
    char *app;
    struct hrun_strvec sigs;
    size_t *first;      /* for each profile: the first one of its cluster */
};

static void clusters_release(struct clusters *k)
{
    free(k->app);
    free(k->first);
    hrun_strvec_release(&k->sigs);
    memset(k, 0, sizeof *k);
}

/* Merge the clusters of profiles i and j. */
static void join_clusters(struct clusters *k, size_t i, size_t j)
{
    size_t from = k->first[i] > k->first[j] ? k->first[i] : k->first[j];
    size_t to = k->first[i] > k->first[j] ? k->first[j] : k->first[i];

    for (size_t m = 0; m < k->sigs.n; m++)
        if (k->first[m] == from)
            k->first[m] = to;
}

/* Group the profiles of an application: two are of one cluster if a valid record names both, directly or through
 * others. Each log is read once. */
static int find_clusters(struct context *c, const char *app, struct clusters *out, struct hrun_error *err)
{
    struct clusters k = { .app = xstrdup(app), .sigs = HRUN_STRVEC_INIT };

    if (hrun_store_signatures(c->store, app, &k.sigs, err)) {
        clusters_release(&k);
        return -1;
    }
    k.first = xcalloc(k.sigs.n + 1, sizeof *k.first);
    for (size_t i = 0; i < k.sigs.n; i++)
        k.first[i] = i;
    for (size_t i = 0; i < k.sigs.n; i++) {
        struct hrun_samples log = { 0 };

        if (hrun_store_samples(c->store, app, k.sigs.v[i], &log, NULL))
            continue;     /* reported when it is fitted */
        hrun_samples_current(&log);
        for (size_t r = 0; r < log.n; r++)
            for (size_t j = 0; j < k.sigs.n; j++)
                if (k.first[i] != k.first[j] && hrun_list_find(log.v[r].signatures, k.sigs.v[j]) >= 0)
                    join_clusters(&k, i, j);
        hrun_samples_release(&log);
    }
    *out = k;
    return 0;
}

/* Fit and show the profiles of the cluster whose first is `first`. Result: the exit status. */
static int fit_cluster(struct context *c, const struct clusters *k, size_t first)
{
    const struct hrun_strvec *sigs = &k->sigs;
    autofree struct fit_one *v = xcalloc(sigs->n + 1, sizeof *v);
    char **names = xcalloc(sigs->n + 1, sizeof *names);
    struct hrun_netview *view = c->view;
    int n = 0, status;

    for (size_t i = 0; i < sigs->n; i++) {
        if (k->first[i] != first)
            continue;
        names[n] = known_name(c, k->app, sigs->v[i]);
        v[n] = (struct fit_one) { sigs->v[i], names[n] ? names[n] : "", 0, NULL };
        n++;
        if (c->view && hrun_netview_find(c->view, v[n - 1].label) < 0)
            c->view = NULL;     /* it is of other hosts */
    }
    if (view && !c->view && !c->set->quiet)
        fprintf(stderr, "hrun-calibrate: %s on %s: not of the hosts that the options name; terms that ask for the "
                "network are left out\n", k->app, v[0].signature);
    status = fit_together(c, v, n);
    for (int i = 0; i < n; i++) {
        struct hrun_buf out = HRUN_BUF_INIT;

        if (v[i].models) {
            models_table(&v[i].models, 1, c->set->verbose, &out);
            printf("%s on %s\n%s\n", k->app, v[i].signature, out.data);
            if (!c->set->quiet)
                models_warn(&v[i].models, 1);
        }
        hrun_buf_release(&out);
    }
    c->view = view;
    for (int i = 0; i < n; i++) {
        hrun_models_destroy(v[i].models);
        free(names[i]);
    }
    free(names);
    return status;
}

/* State of the visits of profiles. */
struct fitting {
    struct clusters clusters;
    int status;         /* exit status so far */
};

/* Fit a cluster at the visit of its first profile. ctx: struct fitting. */
static int visit_fit(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err)
{
    struct fitting *f = ctx;
    struct clusters *k = &f->clusters;
    size_t i = 0;
    int status;

    if (!k->app || strcmp(k->app, app)) {
        clusters_release(k);
        context_drop_app(c);
        if (context_named(c, app, err) || network_of_options(c, " of these models", err) ||
            find_clusters(c, app, k, err))
            return -1;
    }
    while (i < k->sigs.n && strcmp(k->sigs.v[i], sig))
        i++;
    if (i == k->sigs.n || k->first[i] != i)
        return 0;               /* gone, or fitted with the first of its cluster */
    status = fit_cluster(c, k, i);
    f->status = status ? status : f->status;
    return 0;
}

int calib_fit(const struct calib_settings *s, char **apps)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    struct hrun_error err = { 0 };
    struct fitting f = { .clusters = { .sigs = HRUN_STRVEC_INIT } };
    int seen, status;

    if (context_open_store(&c, &err) || context_app(&c, NULL, &err))
        status = context_complain("hrun-calibrate", &err);
    else
        status = each_profile(&c, apps, visit_fit, &f, &seen);
    clusters_release(&f.clusters);
    return status ? status : f.status;
}
