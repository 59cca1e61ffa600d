/* fit_profiles.c - fit models to the logs of all sub-clusters of a cluster together; see profiles.h */
#include "../network/calib_network.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "fit/fit.h"
#include "profiles.h"
#include "session/context_network.h"
#include "session/problem.h"

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

/* Profiles that are fitted together, and their models, not stored yet. */
struct batch {
    struct context *c;
    struct fit_one *v;
    int n;
    struct hrun_fit_options options;
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
        hrun_samples_release(&b->v[i].log);
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
    hrun_samples_current(&fresh);
    hrun_samples_release(&b->v[i].log);
    b->v[i].log = fresh;
    return 0;
}

/* Fit all profiles together. If that fails, fit each one alone; a profile whose fit fails has no models. */
static void fit_batch(struct batch *b, struct hrun_buf *skipped)
{
    struct hrun_error why = { 0 };

    batch_forget(b);
    for (int i = 0; i < b->n; i++)
        b->subs[i] = (struct hrun_joint_sub) { profile_name(&b->v[i]), b->v[i].signature, b->v[i].log.v, b->v[i].log.n,
                                               0 };
    if (hrun_model_fit_joint(b->c->app, b->subs, b->n, &b->options, b->models, skipped, &why)) {
        for (int i = 0; i < b->n; i++)
            if (hrun_model_fit_joint(b->c->app, &b->subs[i], 1, &b->options, &b->models[i], skipped, &why))
                b->models[i] = NULL;
    }
    /* Models are stored with the label, which may be empty, and not with the name that messages have. */
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

    if (!hrun_model_fit(b->c->app, b->v[i].log.v, b->v[i].log.n, &b->options, &none, NULL, err)) {
        hrun_models_destroy(none);
        hrun_fail(err, HRUN_ENODATA, "its models could not be fitted with those of the other sub-clusters");
    }
    return hrun_fail_prefix(err, "%s on %s", b->c->app->name, profile_name(&b->v[i]));
}

/* Store the models of profile i. The profile is locked while its log is searched for new records and while the models
 * are stored. So a calibration never replaces models that another calibration has fitted to more measurements. */
static int store_models(struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_store *s = b->c->store;
    int rc = 0;

    if (hrun_store_begin(s, b->c->app->name, b->v[i].signature, err))
        return -1;
    if (hrun_store_has_more(s, b->c->app->name, b->v[i].signature, &b->v[i].log)) {
        rc = read_profile_log(b, i, err);
        if (!rc)
            fit_batch(b, NULL);
    }
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
        struct fit_one *one = &b->v[i];
        struct hrun_error err = { 0 };

        if (!one->is_read && read_profile_log(b, i, &err)) {
            one->quiet = 1;
            status = context_complain("hrun-calibrate", &err);
        } else if (one->log.bad) {
            fprintf(stderr, "hrun-calibrate: %s skipped (%s)\n", hrun_counted(one->log.bad, "record").s,
                    one->log.first_bad);
        }
    }
    return status;
}

/* Warn if the measurements of profile i are too vague (hrun_samples_vague), however well models fit them. */
static void warn_vague(const struct batch *b, int i)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;

    hrun_samples_vague(b->v[i].log.v, b->v[i].log.n, &words);
    if (words.len)
        fprintf(stderr, "hrun-calibrate: %s on %s: %.*s\n", b->c->app->name, profile_name(&b->v[i]), (int)words.len - 1,
                words.data);
}

/* A good run, and the number of its profile. */
struct timed_run {
    const struct hrun_sample *s;
    int profile;
};

/* Order by size, profile, configuration and position in the log. */
static int compare_timed(const void *a, const void *b)
{
    const struct timed_run *x = a, *y = b;
    int order = (x->s->N > y->s->N) - (x->s->N < y->s->N);

    order = order ? order : x->profile - y->profile;
    order = order ? order : (x->s->P > y->s->P) - (x->s->P < y->s->P);
    order = order ? order : strcmp(x->s->config ? x->s->config : "", y->s->config ? y->s->config : "");
    return order ? order : (x->s > y->s) - (x->s < y->s);
}

static int are_repeated(const struct timed_run *x, const struct timed_run *y)
{
    return x->s->N == y->s->N && x->profile == y->profile && x->s->P == y->s->P && x->s->config && y->s->config &&
           !strcmp(x->s->config, y->s->config);
}

/* The quickest run at one size. */
struct quickest {
    int64_t N;
    double time_s;
};

/* The size from which runs take least_s: a measured one, else extrapolated from the two largest sizes. */
static double long_enough(const struct quickest *v, size_t n, double least_s)
{
    const struct quickest *a = n > 1 ? &v[n - 2] : NULL, *b = &v[n - 1];
    double power = a && b->time_s > a->time_s ? log(b->time_s / a->time_s) / log((double)b->N / (double)a->N) : 1;

    for (size_t i = 0; i < n; i++)
        if (v[i].time_s >= least_s)
            return (double)v[i].N;
    return (double)b->N * pow(least_s / b->time_s, 1 / fmin(fmax(power, 0.5), 3));
}

/* Warn of those sizes of v[n] whose quickest runs are shorter than least_s, and name a size that is large enough. */
static void warn_short(const struct batch *b, const struct quickest *v, size_t n, double least_s)
{
    autorelease(hrun_buf_release) struct hrun_buf words = HRUN_BUF_INIT;
    int fixed = b->c->app->fixed;
    double enough, unit;

    for (size_t i = 0; i < n; i++)
        if (v[i].time_s < least_s) {
            hrun_buf_adds(&words, words.len ? ", " : fixed ? "" : "at N = ");
            if (!fixed)
                hrun_buf_addf(&words, "%lld ", (long long)v[i].N);
            hrun_buf_addf(&words, "(%s)", hrun_seconds(v[i].time_s).s);
        }
    if (!words.len)
        return;
    enough = long_enough(v, n, least_s);
    unit = pow(10, fmax(floor(log10(enough)) - 1, 0));      /* two digits */
    hrun_buf_addf(&words, " are too short to tell much: from %s on, rounding and scatter of times would not matter; ",
                  hrun_seconds(least_s).s);
    if (fixed)
        hrun_buf_adds(&words, "give it more to do");
    else
        hrun_buf_addf(&words, "measure sizes from about N = %.0f on (--sizes), or find a finer time in its output "
                      "(time in the definition)", ceil(enough / unit) * unit);
    fprintf(stderr, "hrun-calibrate: %s: the quickest runs %s\n", b->c->app->name, words.data);
}

static void find_short_runs(const struct batch *b)
{
    autofree struct timed_run *runs = NULL;
    autofree struct quickest *quickest = NULL;
    autofree double *time_s = NULL;
    autofree int *thing = NULL;
    size_t n = 0, sizes = 0, cap = 0;

    for (int i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->v[i].log.n; k++)
            if (b->v[i].log.v[k].ok && !b->v[i].log.v[k].copies) {
                hrun_grow(runs, n + 1, cap);
                runs[n++] = (struct timed_run){ &b->v[i].log.v[k], i };
            }
    if (!n)
        return;
    qsort(runs, n, sizeof *runs, compare_timed);
    quickest = xcalloc(n, sizeof *quickest);
    time_s = xcalloc(n, sizeof *time_s);
    thing = xcalloc(n, sizeof *thing);
    for (size_t k = 0; k < n; k++) {
        const struct hrun_sample *s = runs[k].s;

        time_s[k] = s->time_s;
        thing[k] = k && are_repeated(&runs[k - 1], &runs[k]) ? thing[k - 1] : (int)k;
        if (!sizes || quickest[sizes - 1].N != s->N)
            quickest[sizes++] = (struct quickest){ s->N, s->time_s };
        quickest[sizes - 1].time_s = fmin(quickest[sizes - 1].time_s, s->time_s);
    }
    warn_short(b, quickest, sizes, hrun_times_least(time_s, thing, n));
}

int fit_together(struct context *c, struct fit_one *v, int n)
{
    size_t room = (size_t)n + 1;
    autorelease(batch_release) struct batch b = {
        .c = c, .v = v, .n = n, .subs = xcalloc(room, sizeof *b.subs), .models = xcalloc(room, sizeof *b.models),
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

void suit_recorded(struct hrun_app *app, const struct hrun_samples *log)
{
    int most = app->nprocs_per_pe ? app->procs_per_pe[app->nprocs_per_pe - 1] : 1;

    for (size_t i = 0; i < log->n; i++)
        most = log->v[i].M > most ? log->v[i].M : most;
    if (app->suits_pes)
        hrun_app_suit(app, &(int){ most > 2 ? most : 1 }, 1);
}

/* The name of a sub-cluster from the old models, else from the newest record with one; NULL if unknown. The caller
 * frees it. */
static char *known_name(struct context *c, const char *app, const char *sig, const struct hrun_samples *log)
{
    struct hrun_models *old = NULL;
    char *name = NULL;

    if (!hrun_store_get_models(c->store, app, sig, &old, NULL) && old && *old->subcluster)
        name = xstrdup(old->subcluster);
    hrun_models_destroy(old);
    for (size_t i = log->n; i-- > 0 && !name;)
        name = hrun_list_copy(log->v[i].cluster, hrun_list_find(log->v[i].signatures, sig));
    return name;
}

/* The profiles of one application, grouped by cluster. */
struct clusters {
    char *app;
    struct hrun_strvec sigs;
    struct fit_one *v;  /* for each profile: its name and, if readable, its log */
    size_t *first;      /* for each profile: the first one of its cluster */
};

static void clusters_release(struct clusters *k)
{
    for (size_t i = 0; i < k->sigs.n; i++) {
        free((char *)(uintptr_t)k->v[i].label);
        hrun_samples_release(&k->v[i].log);
    }
    free(k->app);
    free(k->v);
    free(k->first);
    hrun_strvec_release(&k->sigs);
    memset(k, 0, sizeof *k);
}

static void join_clusters(struct clusters *k, size_t i, size_t j)
{
    size_t from = k->first[i] > k->first[j] ? k->first[i] : k->first[j];
    size_t to = k->first[i] > k->first[j] ? k->first[j] : k->first[i];

    for (size_t m = 0; m < k->sigs.n; m++)
        if (k->first[m] == from)
            k->first[m] = to;
}

/* Group the profiles of an application: two are of one cluster if a valid record names both, or if a chain of such
 * records leads from one to the other. fit_together reports a log that cannot be read. */
static int find_clusters(struct context *c, const char *app, struct clusters *k, struct hrun_error *err)
{
    if (hrun_store_signatures(c->store, app, &k->sigs, err)) {
        hrun_strvec_release(&k->sigs);
        return -1;
    }
    k->app = xstrdup(app);
    k->v = xcalloc(k->sigs.n, sizeof *k->v);
    k->first = xcalloc(k->sigs.n, sizeof *k->first);
    for (size_t i = 0; i < k->sigs.n; i++)
        k->first[i] = i;
    for (size_t i = 0; i < k->sigs.n; i++) {
        struct fit_one *one = &k->v[i];

        one->signature = k->sigs.v[i];
        one->is_read = !hrun_store_samples(c->store, app, one->signature, &one->log, NULL);
        one->label = known_name(c, app, one->signature, &one->log);
        hrun_samples_current(&one->log);
        suit_recorded(c->app, &one->log);
        for (size_t r = 0; r < one->log.n; r++)
            for (size_t j = 0; j < k->sigs.n; j++)
                if (k->first[i] != k->first[j] && hrun_list_find(one->log.v[r].signatures, k->sigs.v[j]) >= 0)
                    join_clusters(k, i, j);
    }
    return 0;
}

/* Fit and show the profiles of one cluster; first: index of its first profile. Result: the exit status. */
static int fit_cluster(struct context *c, struct clusters *k, size_t first)
{
    autofree struct fit_one *v = xcalloc(k->sigs.n, sizeof *v);
    struct hrun_netview *view = c->view;
    int n = 0, status;

    for (size_t i = 0; i < k->sigs.n; i++) {
        if (k->first[i] != first)
            continue;
        v[n++] = k->v[i];
        k->v[i].log = (struct hrun_samples){ 0 };
        if (c->view && (!k->v[i].label || hrun_netview_find(c->view, k->v[i].label) < 0))
            c->view = NULL;     /* the network is that of other hosts */
    }
    if (view && !c->view && !c->set->quiet)
        fprintf(stderr, "hrun-calibrate: %s on %s: measured on other hosts than the options name; terms that ask for "
                "the network are left out\n", k->app, v[0].signature);
    status = fit_together(c, v, n);
    for (int i = 0; i < n; i++) {
        autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

        if (v[i].models) {
            models_table(&v[i].models, 1, c->set->verbose, &out);
            printf("%s on %s\n%s\n", k->app, v[i].signature, out.data);
            if (!c->set->quiet)
                models_warn(&v[i].models, 1);
        }
        hrun_models_destroy(v[i].models);
    }
    c->view = view;
    return status;
}

/* 1 if some run of a cluster was made by a calibration, else 0. */
static int is_calibrated(const struct clusters *k, size_t first)
{
    for (size_t i = 0; i < k->sigs.n; i++)
        for (size_t r = 0; k->first[i] == first && r < k->v[i].log.n; r++)
            if (k->v[i].log.v[r].origin && !strcmp(k->v[i].log.v[r].origin, "calibration"))
                return 1;
    return 0;
}

struct fitting {
    struct clusters clusters;
    int named;          /* 1: the user names the applications */
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
        if (context_load_app(c, app, err) || network_of_options(c, " of these models", err) ||
            find_clusters(c, app, k, err))
            return -1;
    }
    while (i < k->sigs.n && strcmp(k->sigs.v[i], sig))
        i++;
    if (i == k->sigs.n || k->first[i] != i)
        return 0;               /* the profile is gone, or fitted with the first of its cluster */
    if (!f->named && problem_is_app(c) && !is_calibrated(k, i))
        return 0;               /* hrun learns from the runs of a command without models */
    status = fit_cluster(c, k, i);
    f->status = status ? status : f->status;
    return 0;
}

int calib_fit(const struct calib_settings *s, char **apps)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    struct hrun_error err = { 0 };
    struct fitting f = { .clusters = { .sigs = HRUN_STRVEC_INIT }, .named = apps[0] != NULL };
    int seen, status;

    if (context_open_store(&c, &err) || context_app(&c, NULL, &err))
        status = context_complain("hrun-calibrate", &err);
    else
        status = each_profile(&c, apps, visit_fit, &f, &seen);
    clusters_release(&f.clusters);
    return status ? status : f.status;
}
