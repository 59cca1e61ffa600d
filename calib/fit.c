/* fit.c - models from the logs: all sub-clusters of a cluster together */
#include "calib.h"

#include "base/units.h"
#include "model/joint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fit_options(const struct common_settings *s, struct hrun_fit_options *out, struct hrun_error *err)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;

    if ((s->fit && hrun_method_parse(s->fit, &options.method, err)) ||
        (s->glitches && hrun_parse_number("--exclude-glitches", s->glitches, &options.glitches, err)))
        return -1;
    if (s->glitches && !(options.glitches > 0))
        return hrun_fail(err, HRUN_EINVAL, "--exclude-glitches %s: the factor must be above 0, for instance 0.9",
                         s->glitches);
    options.robust = options.select = !s->no_robust;
    *out = options;
    return 0;
}

/* The logs of profiles, and the models made from them. */
struct batch {
    struct context *c;
    struct fit_one *v;
    int n;
    struct hrun_fit_options options;
    struct hrun_samples *logs;      /* of each profile; what no longer counts is left out */
    size_t *lengths;                /* records that its log held */
    struct hrun_joint_sub *subs;
    struct hrun_models **models;
};

static int batch_alloc(struct batch *b, struct hrun_error *err)
{
    size_t n = (size_t)b->n + 1;

    b->logs = calloc(n, sizeof *b->logs);
    b->lengths = calloc(n, sizeof *b->lengths);
    b->subs = calloc(n, sizeof *b->subs);
    b->models = calloc(n, sizeof *b->models);
    return b->logs && b->lengths && b->subs && b->models ? 0 : hrun_fail_nomem(err);
}

static void batch_forget(struct batch *b)
{
    for (int i = 0; b->models && i < b->n; i++) {
        hrun_models_destroy(b->models[i]);
        b->models[i] = NULL;
    }
}

static void batch_release(struct batch *b)
{
    batch_forget(b);
    for (int i = 0; b->logs && i < b->n; i++)
        hrun_samples_release(&b->logs[i]);
    free(b->logs);
    free(b->lengths);
    free(b->subs);
    free(b->models);
}

static const char *name(const struct fit_one *one)
{
    return one->label && *one->label ? one->label : one->signature;
}

/* Read the log of profile i in place of what was read before. */
static int read_log(struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_samples fresh = { 0 };

    if (hrun_store_samples(b->c->store, b->c->app->name, b->v[i].signature, &fresh, err))
        return -1;
    hrun_samples_release(&b->logs[i]);
    b->logs[i] = fresh;
    b->lengths[i] = fresh.n + fresh.bad;
    hrun_samples_current(&b->logs[i]);
    b->subs[i] = (struct hrun_joint_sub) { name(&b->v[i]), b->v[i].signature, b->logs[i].v, b->logs[i].n };
    return 0;
}

/* The label, which may be none, in place of the name in messages. */
static int put_label(struct hrun_models *m, const char *label, struct hrun_error *err)
{
    char *copy = strdup(label ? label : "");

    if (!copy)
        return hrun_fail_nomem(err);
    free(m->subcluster);
    m->subcluster = copy;
    return 0;
}

/* Fit all. What spoils the fit of all together spoils one profile's: each is fitted alone then, to find it out. */
static int fit_batch(struct batch *b, struct hrun_buf *skipped, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    batch_forget(b);
    if (hrun_model_fit_joint(b->c->app, b->subs, b->n, &b->options, b->models, skipped, &why)) {
        if (why.code == HRUN_ENOMEM) {
            *err = why;
            return -1;
        }
        for (int i = 0; i < b->n; i++)
            if (hrun_model_fit_joint(b->c->app, &b->subs[i], 1, &b->options, &b->models[i], skipped, &why))
                b->models[i] = NULL;
    }
    for (int i = 0; i < b->n; i++)
        if (b->models[i] && put_label(b->models[i], b->v[i].label, err))
            return -1;
    return 0;
}

/* Why profile i has no models. */
static int tell_why(const struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_models *none = NULL;

    if (!hrun_model_fit(b->c->app, b->logs[i].v, b->logs[i].n, &b->options, &none, NULL, err)) {
        hrun_models_destroy(none);
        hrun_fail(err, HRUN_ENODATA, "its models could not be fitted with those of the other sub-clusters");
    }
    return hrun_fail_prefix(err, "%s on %s", b->c->app->name, name(&b->v[i]));
}

/* Store the models of profile i. Whoever measures the same at the same time must not put models of fewer measurements
 * over ours, nor we over theirs: the profile is ours while we look whether its log has grown, and store. */
static int store(struct batch *b, int i, struct hrun_error *err)
{
    struct hrun_store *s = b->c->store;
    size_t before = b->lengths[i];
    int rc = -1;

    if (hrun_store_begin(s, b->c->app->name, b->v[i].signature, err))
        return -1;
    if (read_log(b, i, err) || (b->lengths[i] != before && fit_batch(b, NULL, err)))
        goto done;
    rc = b->models[i] ? hrun_store_put_models(s, b->models[i], err) : tell_why(b, i, err);
    if (!rc) {
        b->v[i].models = b->models[i];
        b->models[i] = NULL;
    }
done:
    hrun_store_end(s);
    return rc;
}

/* Read all logs; one that cannot be read is told and left empty. Result: the exit status. */
static int read_logs(struct batch *b)
{
    int status = 0;

    for (int i = 0; i < b->n; i++) {
        struct hrun_error err = { 0 };

        b->subs[i] = (struct hrun_joint_sub) { name(&b->v[i]), b->v[i].signature, NULL, 0 };
        if (read_log(b, i, &err)) {
            b->v[i].quiet = 1;
            status = context_complain("hrun-calibrate", &err);
        } else if (b->logs[i].bad) {
            fprintf(stderr, "hrun-calibrate: %zu record%s skipped (%s)\n", b->logs[i].bad,
                    b->logs[i].bad == 1 ? "" : "s", b->logs[i].first_bad);
        }
    }
    return status;
}

int fit_together(struct context *c, struct fit_one *v, int n)
{
    struct batch b = { .c = c, .v = v, .n = n };
    struct hrun_buf skipped = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    int status = 0;

    if (fit_options(c->set, &b.options, &err) || batch_alloc(&b, &err)) {
        status = context_complain("hrun-calibrate", &err);
        goto done;
    }
    status = read_logs(&b);
    if (fit_batch(&b, &skipped, &err)) {
        status = context_complain("hrun-calibrate", &err);
        goto done;
    }
    for (int i = 0; i < n; i++)
        if ((b.models[i] || !v[i].quiet) && store(&b, i, &err))
            status = context_complain("hrun-calibrate", &err);
    if (skipped.len && (c->set->verbose || (b.options.glitches > 0 && !c->set->quiet)))
        fprintf(stderr, "%s", skipped.data);
done:
    hrun_buf_release(&skipped);
    batch_release(&b);
    return status;
}

/* ------------------------------------------------------------------ hrun-calibrate fit */

/* Does the comma-separated list hold this signature? */
static int holds(const char *list, const char *signature)
{
    size_t len = strlen(signature);

    for (const char *at = list; at && *at; at += *at == ',') {
        size_t n = strcspn(at, ",");

        if (n == len && !strncmp(at, signature, len))
            return 1;
        at += n;
    }
    return 0;
}

/* What a profile's newest record that tells it calls its sub-cluster, or NULL. The caller frees it. */
static char *recorded_name(struct context *c, const char *app, const char *sig)
{
    struct hrun_samples log = { 0 };
    char *found = NULL;

    if (hrun_store_samples(c->store, app, sig, &log, NULL))
        return NULL;
    for (size_t i = log.n; i-- > 0 && !found;) {
        const char *s = log.v[i].signatures, *name = log.v[i].cluster;

        while (s && *s && name && (strcspn(s, ",") != strlen(sig) || strncmp(s, sig, strlen(sig)))) {
            s += strcspn(s, ",");
            s += *s == ',';
            name = strchr(name, ',');
            name += name != NULL;
        }
        if (s && *s && name)
            found = strndup(name, strcspn(name, ","));
    }
    hrun_samples_release(&log);
    return found;
}

/* The name that people know a sub-cluster by: the old models have it, but may well be unreadable or not there. */
static char *known_name(struct context *c, const char *app, const char *sig)
{
    struct hrun_models *old = NULL;
    char *name = NULL;

    if (!hrun_store_get_models(c->store, app, sig, &old, NULL) && old && *old->subcluster)
        name = strdup(old->subcluster);
    hrun_models_destroy(old);
    return name ? name : recorded_name(c, app, sig);
}

/* Mark in near[n by n] which profiles a record that counts in profile i's log names as of the same cluster. */
static void find_near(struct context *c, const char *app, const struct hrun_strvec *sigs, size_t i, char *near)
{
    struct hrun_samples log = { 0 };

    if (hrun_store_samples(c->store, app, sigs->v[i], &log, NULL))
        return;     /* told when it is fitted */
    hrun_samples_current(&log);
    for (size_t k = 0; k < log.n; k++)
        for (size_t j = 0; j < sigs->n; j++)
            if (holds(log.v[k].signatures, sigs->v[j]))
                near[i * sigs->n + j] = near[j * sigs->n + i] = 1;
    hrun_samples_release(&log);
}

/* Mark which of sigs[n] are of one cluster with sigs[first], directly or through others: member[n]. near: scratch. */
static void find_group(struct context *c, const char *app, const struct hrun_strvec *sigs, size_t first, char *member,
                       char *near)
{
    int grown = 1;

    for (size_t i = 0; i < sigs->n; i++)
        find_near(c, app, sigs, i, near);
    member[first] = 1;
    while (grown) {
        grown = 0;
        for (size_t i = 0; i < sigs->n; i++)
            for (size_t j = 0; j < sigs->n && !member[i]; j++)
                if (member[j] && near[i * sigs->n + j])
                    member[i] = (char)(grown = 1);
    }
}

/* Fit and show one cluster's profiles. Result: the exit status. */
static int fit_group(struct context *c, const char *app, const struct hrun_strvec *sigs, const char *member,
                     struct hrun_error *err)
{
    struct fit_one *v = calloc(sigs->n + 1, sizeof *v);
    char **names = calloc(sigs->n + 1, sizeof *names);
    int n = 0, status = 0;

    if (!v || !names) {
        hrun_fail_nomem(err);
        status = context_complain("hrun-calibrate", err);
        goto done;
    }
    for (size_t i = 0; i < sigs->n; i++) {
        if (!member[i])
            continue;
        names[n] = known_name(c, app, sigs->v[i]);
        v[n] = (struct fit_one) { sigs->v[i], names[n] ? names[n] : "", 0, NULL };
        n++;
    }
    status = fit_together(c, v, n);
    for (int i = 0; i < n; i++) {
        struct hrun_buf out = HRUN_BUF_INIT;

        if (v[i].models && models_table(&v[i].models, 1, c->set->verbose, &out)) {
            hrun_fail_nomem(err);
            status = context_complain("hrun-calibrate", err);
        } else if (v[i].models) {
            printf("%s on %s\n%s\n", app, v[i].signature, out.data);
            if (!c->set->quiet)
                models_warn(&v[i].models, 1);
        }
        hrun_buf_release(&out);
    }
done:
    for (int i = 0; i < n; i++) {
        hrun_models_destroy(v[i].models);
        free(names[i]);
    }
    free(v);
    free(names);
    return status;
}

/* The first profile of a cluster stands for all. *ctx: the exit status of those that were fitted. */
static int visit_fit(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err)
{
    struct hrun_strvec sigs = HRUN_STRVEC_INIT;
    char *member = NULL, *near = NULL;
    size_t first = 0;
    int rc = -1, status, *all = ctx;

    hrun_app_destroy(c->app);
    c->app = NULL;
    if (hrun_app_find(&c->app_dirs, app, c->set->defines.v, (int)c->set->defines.n, &c->app, err) ||
        hrun_store_signatures(c->store, app, &sigs, err))
        goto done;
    member = calloc(sigs.n + 1, 1);
    near = calloc(sigs.n * sigs.n + 1, 1);
    if (!member || !near) {
        hrun_fail_nomem(err);
        goto done;
    }
    while (first < sigs.n && strcmp(sigs.v[first], sig))
        first++;
    rc = 0;
    if (first == sigs.n)
        goto done;
    find_group(c, app, &sigs, first, member, near);
    if (memchr(member, 1, first))
        goto done;              /* fitted with the first one */
    status = fit_group(c, app, &sigs, member, err);
    *all = status ? status : *all;
done:
    free(member);
    free(near);
    hrun_strvec_release(&sigs);
    return rc;
}

int calib_fit(const struct calib_settings *s, char **apps)
{
    struct context c = { .set = &s->common };
    struct hrun_error err = { 0 };
    int seen, status, fitted = 0;

    if (context_store(&c, &err) || context_app(&c, NULL, &err))
        status = context_complain("hrun-calibrate", &err);
    else
        status = each_profile(&c, apps, visit_fit, &fitted, &seen);
    context_release(&c);
    return status ? status : fitted;
}
