/* show_profiles.c - show profiles as text and as JSON, and visit all profiles; see profiles.h */
#include "base/json.h"
#include "base/units.h"
#include "model/speeds.h"
#include "profiles.h"
#include "session/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_range_cell(struct hrun_table *t, int64_t lo, int64_t hi)
{
    if (lo == hi)
        hrun_table_cell(t, "%lld", (long long)lo);
    else
        hrun_table_cell(t, "%lld .. %lld", (long long)lo, (long long)hi);
}

void models_table(struct hrun_models *const *m, int n, int all, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("lrlrllrrrl");

    hrun_table_row(t, "sub-cluster", "procs/PE", "model", "runs", "N", "P", "terms", "mean error", "worst", "");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m[i]->n; j++) {
            const struct hrun_fit_record *r = &m[i]->v[j];
            int used = 0;

            if (!all && !strcmp(r->family, "nt"))
                continue;
            for (int k = 0; k < r->nterms; k++)
                used += r->k[k] != 0;
            hrun_table_cell(t, "%s", m[i]->subcluster[0] ? m[i]->subcluster : m[i]->signature);
            hrun_table_cell(t, "%d", r->M);
            hrun_table_cell(t, "%s/%s", r->family, r->method);
            hrun_table_cell(t, "%d", r->npoints);
            add_range_cell(t, r->nmin, r->nmax);
            add_range_cell(t, r->pmin, r->pmax);
            hrun_table_cell(t, "%d of %d", used, r->nterms);
            if (r->dof) {
                hrun_table_cell(t, "%.1f %%", 100 * r->train_mean);
                hrun_table_cell(t, "%.1f %%", 100 * r->train_max);
            } else {
                hrun_table_cell(t, "too few runs");
                hrun_table_cell(t, "-");
            }
            hrun_table_cell(t, "%s", all && r->note ? r->note : "");
        }
    hrun_table_render(t, 0, out);
    hrun_table_destroy(t);
}

void models_warn(struct hrun_models *const *m, int n)
{
    autorelease(hrun_buf_release) struct hrun_buf which = HRUN_BUF_INIT;

    hrun_models_misses(m, n, &which);
    if (which.len)
        fprintf(stderr, "hrun-calibrate: these models miss their own measurements by more than %.0f %% on average: "
                "%s; where times are short, measure larger sizes (--sizes) or more often (--budget, or -r with "
                "--full-grid), else see whether the terms of the definition describe the application\n",
                100 * HRUN_MODELS_MISS, which.data);
}

/* ------------------------------------------------------------------ show */

/* 1 if the text of a term calls a network operation, else 0. No definition is needed. */
static int is_network_term(const char *term)
{
    for (int op = 0; op < HRUN_NET_NOPS; op++) {
        const char *name = hrun_net_op_name((enum hrun_net_op)op), *at = strstr(term, name);

        if (at && at[strlen(name)] == '(')
            return 1;
    }
    return 0;
}

/* Append the formulas of all models, or of those that use network terms. Coefficients are in s per unit of the term;
 * those of network terms have no unit. */
static void add_formulas(const struct hrun_models *m, int all, struct hrun_buf *out)
{
    for (int i = 0; i < m->n; i++) {
        const struct hrun_fit_record *r = &m->v[i];
        int wanted = all, used = 0;

        for (int k = 0; k < r->nterms; k++)
            wanted |= r->k[k] != 0 && is_network_term(r->terms[k]);
        if (!wanted)
            continue;
        hrun_buf_addf(out, "  %s, ", r->family);
        if (r->P)
            hrun_buf_addf(out, "P = %d, ", r->P);
        hrun_buf_addf(out, "%s per PE: T =", hrun_counted(r->M, "process").s);
        for (int k = 0; k < r->nterms; k++)
            if (r->k[k] != 0)
                hrun_buf_addf(out, "%s %.3g%s%s", used++ ? " +" : "", r->k[k], strcmp(r->terms[k], "1") ? " " : "",
                              strcmp(r->terms[k], "1") ? r->terms[k] : "");
        hrun_buf_adds(out, used ? "\n" : " 0\n");
    }
}

json_t *profile_json(const char *app, const char *sig, const struct hrun_samples *samples, size_t old,
                     const struct hrun_models *m)
{
    json_t *models = json_array();

    for (int j = 0; m && j < m->n; j++) {
        const struct hrun_fit_record *r = &m->v[j];
        json_t *terms = json_array();

        for (int k = 0; k < r->nterms; k++)
            json_array_append_new(terms, json_pack("{s:s, s:f}", "term", r->terms[k], "k", r->k[k]));
        /* With as many coefficients as runs the fit is exact, and there is no training error. */
        json_array_append_new(models, json_pack("{s:s, s:s, s:i, s:i, s:o, s:i, s:I, s:I, s:i, s:i, s:o?, s:o?, s:i, "
                                                "s:s}", "family", r->family, "method", r->method, "M", r->M, "P", r->P,
                                                "terms", terms, "measurements", r->npoints, "N_min",
                                                (json_int_t)r->nmin, "N_max", (json_int_t)r->nmax, "P_min", r->pmin,
                                                "P_max", r->pmax, "train_error_mean",
                                                r->dof ? json_real(r->train_mean) : NULL, "train_error_max",
                                                r->dof ? json_real(r->train_max) : NULL, "dof", r->dof, "note",
                                                r->note ? r->note : ""));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o*, s:I, s:I}", "app", app, "signature", sig, "subcluster",
                     m ? m->subcluster : "", "fitted", m ? m->fitted : "", "models", models, "waits",
                     profile_waits_json(samples, sig), "bad_records", (json_int_t)samples->bad, "no_longer_count",
                     (json_int_t)old);
}

/* How profiles are shown. */
struct shown {
    json_t *root;             /* append to this JSON array; NULL: text */
    int plot;                 /* draw times over N */
};

struct stored_profile {
    const char *app, *signature;
    struct hrun_samples samples;
    size_t old;               /* measurements that no longer count */
    struct hrun_models *m;    /* NULL: there are none, or they cannot be read (reason in why) */
    struct hrun_error why;
};

/* Append a profile, headed by "lu on xeon.1c-...": its measurements and models. */
static void add_profile(struct context *c, const struct stored_profile *p, struct hrun_buf *out)
{
    autofree char *command = problem_title(c->set, p->app);
    size_t failed = 0, mixed = 0;
    double age;

    for (size_t i = 0; i < p->samples.n; i++) {
        failed += !p->samples.v[i].ok;
        mixed += p->samples.v[i].ok && p->samples.v[i].mixed;
    }
    hrun_buf_addf(out, "%s on %s\n", p->app, p->signature);
    if (command)
        hrun_buf_addf(out, "  %s\n", command);
    hrun_buf_addf(out, "  %s, %zu failed, %zu mixed", hrun_counted(p->samples.n, "measurement").s, failed, mixed);
    if (p->old)
        hrun_buf_addf(out, ", %zu older ones no longer count", p->old);
    if (p->samples.bad)
        hrun_buf_addf(out, ", %s skipped (%s)", hrun_counted(p->samples.bad, "bad record").s, p->samples.first_bad);
    if (p->m && p->m->consts && p->m->consts[0])
        hrun_buf_addf(out, "; constants %s", p->m->consts);
    if (p->m && !hrun_date_age(p->m->fitted, &age))
        hrun_buf_addf(out, "; fitted %s ago", hrun_age(age).s);
    hrun_buf_adds(out, p->m ? "\n\n" : p->why.code ? "\n  the models cannot be read\n" : "\n  no models yet\n");
    if (p->m) {
        models_table(&p->m, 1, c->set->verbose, out);
        add_formulas(p->m, c->set->verbose, out);
    }
}

static int append_profile_json(const struct stored_profile *p, json_t *root, struct hrun_error *err)
{
    json_t *o = profile_json(p->app, p->signature, &p->samples, p->old, p->m), *all = json_array();

    for (size_t i = 0; i < p->samples.n; i++) {
        const struct hrun_sample *s = &p->samples.v[i];

        json_array_append_new(all, json_pack("{s:I, s:i, s:i, s:i, s:f, s:f, s:b, s:b, s:s, s:s, s:s, s:s, s:s, s:s, "
                                             "s:f, s:f, s:s}", "N", (json_int_t)s->N, "P", s->P, "M", s->M, "pes",
                                             s->pes, "time_s", s->time_s, "wall_s", s->wall_s, "ok", s->ok, "mixed",
                                             s->mixed, "status", s->status, "origin", s->origin, "config", s->config,
                                             "consts", s->consts ? s->consts : "", "date", s->date, "limits",
                                             s->limits ? s->limits : "", "compute_s", s->compute_s, "mpi_s",
                                             s->mpi_s, "trace", s->trace ? s->trace : ""));
    }
    json_object_set_new(o, "measurements", all);
    json_object_set_new(o, "error", p->why.code ? json_string(p->why.text) : json_null());
    return !json_array_append_new(root, o) ? 0
           : hrun_fail(err, HRUN_EPARSE, "the profile of %s on %s cannot be shown as JSON", p->app, p->signature);
}

/* ctx: struct shown. */
static int visit_show(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err)
{
    const struct shown *how = ctx;
    struct stored_profile p = { .app = app, .signature = sig };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    int rc = 0;

    if (hrun_store_samples(c->store, app, sig, &p.samples, err))
        return -1;
    p.old = hrun_samples_current(&p.samples);
    hrun_store_get_models(c->store, app, sig, &p.m, &p.why);
    if (how->root) {
        rc = append_profile_json(&p, how->root, err);
    } else {
        add_profile(c, &p, &out);
        if (how->plot) {
            context_drop_app(c);
            show_plot(context_load_app(c, app, NULL) ? NULL : c->app, &p.samples, p.m, &out);
            context_drop_app(c);
        }
        waits_show(&p.samples, sig, &out);
        hrun_buf_addc(&out, '\n');
        fputs(out.data, stdout);
    }
    if (!rc && p.why.code) {
        *err = p.why;
        rc = -1;
    }
    hrun_models_destroy(p.m);
    hrun_samples_release(&p.samples);
    return rc;
}

int calib_apps(const struct context *c, struct hrun_strvec *names, struct hrun_error *err)
{
    size_t n = 0;

    if (hrun_store_apps(c->store, names, err))
        return -1;
    for (size_t i = 0; i < names->n; i++) {
        autorelease(hrun_strvec_release) struct hrun_strvec signatures = HRUN_STRVEC_INIT;

        /* A calibration that failed leaves an empty folder. A folder that cannot be read is reported at its visit. */
        if (strcmp(names->v[i], HRUN_PERF_APP) && strcmp(names->v[i], HRUN_KINDS_APP) &&
            (hrun_store_signatures(c->store, names->v[i], &signatures, NULL) || signatures.n))
            names->v[n++] = names->v[i];
        else
            free(names->v[i]);
    }
    while (names->n > n)
        names->v[--names->n] = NULL;
    return 0;
}

/* Append the variants of an application that have profiles, "app.variant", and the commands of a program,
 * "app-1a2b3c4d". Result: their number, or -1 with *err. */
static int add_variants(const struct context *c, const char *app, struct hrun_strvec *names, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT;
    size_t len = strlen(app);
    int n = 0, rc = calib_apps(c, &all, err);

    for (size_t i = 0; i < all.n && !rc; i++)
        if (!strncmp(all.v[i], app, len) &&
            (all.v[i][len] == '.' || (all.v[i][len] == '-' && strspn(all.v[i] + len + 1, "0123456789abcdef") == 8 &&
                                      !all.v[i][len + 9]))) {
            hrun_strvec_push(names, all.v[i]);
            n++;
        }
    return rc ? -1 : n;
}

int each_profile(struct context *c, char **apps, visit_fn *visit, void *ctx, int *seen)
{
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_error err = { 0 };
    int status = 0, found;

    *seen = 0;
    for (int i = 0; apps[i]; i++)
        hrun_strvec_push(&names, apps[i]);
    if (c->set->app)
        hrun_strvec_push(&names, c->set->app);
    if (!names.n && calib_apps(c, &names, &err))
        return context_complain("hrun-calibrate", &err);
    for (size_t i = 0; i < names.n; i++) {
        autorelease(hrun_strvec_release) struct hrun_strvec sigs = HRUN_STRVEC_INIT;

        if (hrun_store_signatures(c->store, names.v[i], &sigs, &err)) {
            status = context_complain("hrun-calibrate", &err);
            continue;
        }
        found = sigs.n ? 1 : add_variants(c, names.v[i], &names, &err);
        if (!found)
            hrun_fail(&err, HRUN_ENOENT, "there is no profile of %s in %s", names.v[i], hrun_store_dir(c->store));
        if (found <= 0)
            status = context_complain("hrun-calibrate", &err);
        for (size_t k = 0; k < sigs.n; k++) {
            if (visit(c, names.v[i], sigs.v[k], ctx, &err))
                status = context_complain("hrun-calibrate", &err);
            else
                ++*seen;
        }
    }
    return status;
}

int calib_show(const struct calib_settings *s, char **apps)
{
    autorelease(context_release) struct context c = { .set = &s->common };
    struct hrun_error err = { 0 };
    struct shown how = { .root = s->common.json ? json_array() : NULL, .plot = show_plot_wanted(s) };
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    int seen = 0, status;

    /* Plots use a definition if there is one. */
    if (how.plot && context_app(&c, NULL, &err))
        err = (struct hrun_error){ 0 };
    if (context_open_store(&c, &err))
        status = context_complain("hrun-calibrate", &err);
    else
        status = each_profile(&c, apps, visit_show, &how, &seen);
    if (how.root) {
        hrun_json_print(how.root, &out);
        fputs(out.data, stdout);
    } else if (!seen && !status) {
        printf("no profiles in %s\n", hrun_store_dir(c.store));
    }
    return status;
}
