/* report.c - hrun-calibrate report: gathers what is known into one document, and puts that into a page; see report.h */
#include "report.h"

#include "../network/network.h"
#include "../profiles/profiles.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t TEMPLATE_MAX = (size_t)1 << 20;

/* ------------------------------------------------------------------ the document */

static json_t *subs_json(const struct report *r)
{
    json_t *all = json_array();

    for (int i = 0; i < r->nsubs; i++) {
        const struct hrun_subcluster *cl = &r->c->cluster->subs[i];
        const struct hrun_models *m = r->known.subs[i].models;

        json_array_append_new(all, json_pack("{s:s, s:s, s:i, s:i, s:s, s:i, s:s?, s:f, s:f}", "name",
                                             r->subs[i].name, "signature", r->subs[i].signature, "pes",
                                             r->subs[i].npes, "same", r->subs[i].same, "fitted", m ? m->fitted : "",
                                             "used", m ? m->nsamples : 0, "why_not", r->known.subs[i].why_not,
                                             "cost_per_hour", cl->cost_per_hour, "power_w", cl->power_w));
    }
    return all;
}

/* The profiles, and their tables of models and waits as text. */
static void add_profiles(const struct report *r, json_t *root, struct hrun_buf *text)
{
    json_t *all = json_array();

    json_object_set_new(root, "profiles", all);
    for (int i = 0; i < r->nsubs; i++) {
        struct hrun_models *m = r->known.subs[i].models;

        if (r->subs[i].same != i)
            continue;
        json_array_append_new(all, profile_json(r->c->app->name, r->subs[i].signature, &r->subs[i].samples, 0, m));
        hrun_buf_addf(text, "  %s\n", r->subs[i].name);
        if (m)
            models_table(&m, 1, 0, text);
        waits_show(&r->subs[i].samples, r->subs[i].signature, text);
    }
}

static json_t *strings_json(const struct hrun_strvec *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n; i++)
        json_array_append_new(all, json_string(v->v[i]));
    return all;
}

/* What the runs on one sub-cluster cost (sub < nsubs), on several (= nsubs), or all (above); NULL: there are none. */
static json_t *cost_json(const struct report *r, int sub)
{
    double wall_s = 0, pe_s = 0;
    int n = 0, failed = 0;

    for (int i = 0; i < r->nruns; i++) {
        const struct report_run *run = &r->runs[i];

        if (sub <= r->nsubs && (run->sub < 0 ? r->nsubs : run->sub) != sub)
            continue;
        n++;
        failed += !run->s->ok;
        wall_s += run->s->wall_s;
        pe_s += run->s->wall_s * run->npes;
    }
    return n ? json_pack("{s:s, s:i, s:i, s:f, s:f}", "on", sub < r->nsubs ? r->subs[sub].name
                         : sub == r->nsubs ? "several" : "all", "runs", n, "failed", failed, "wall_s", wall_s, "pe_s",
                         pe_s) : NULL;
}

/* The document, and as text for those who cannot see the page. */
static int make_document(struct report *r, const struct calib_settings *s, json_t *root, struct hrun_buf *text,
                         struct hrun_error *err)
{
    const struct hrun_app *app = r->c->app;
    int has_title = app->title && *app->title && strcmp(app->title, app->name);
    struct hrun_buf models = HRUN_BUF_INIT;
    json_t *costs = json_array();
    char now[21];
    int rc;

    for (int i = 0; i <= r->nsubs + 1; i++)
        json_array_append_new(costs, cost_json(r, i));
    hrun_date_now(now);
    json_object_update_new(root, json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "title",
                                           json_sprintf(has_title ? "%s: %s" : "%s", app->name, app->title), "made",
                                           now, "version", HRUN_VERSION, "subclusters", subs_json(r), "costs", costs,
                                           "others", strings_json(&r->others), "bad_records", (json_int_t)r->bad,
                                           "no_longer_count", (json_int_t)r->old, "other_constants",
                                           (json_int_t)r->other_consts, "network", report_network(s)));
    add_profiles(r, root, &models);
    rc = report_add_choices(r, s->N, root, err);
    report_text(root, models.data, text);
    hrun_buf_release(&models);
    return rc;
}

/* ------------------------------------------------------------------ files */

/* A file of the share folder, beside the folder of the profiles that is searched last. */
static int read_share(const struct context *c, const char *name, struct hrun_buf *out, struct hrun_error *err)
{
    char *path = hrun_strf("%s/../%s", c->app_dirs.v[c->app_dirs.n - 1], name);
    int rc = hrun_file_read(path, TEMPLATE_MAX, out, err);

    free(path);
    return rc;
}

/* Text of measurements and definitions as text of a page. */
static void add_escaped(const char *text, struct hrun_buf *out)
{
    for (const char *s = text; *s; s++) {
        if (strchr("&<>\"'", *s))
            hrun_buf_addf(out, "&#%d;", *s);
        else if ((unsigned char)*s >= 0x20 || *s == '\n')
            hrun_buf_addc(out, *s);
        else
            hrun_buf_addc(out, ' ');
    }
}

/* JSON inside of a script element, which "</script>" or "<!--" would end or change. */
static void add_document(const json_t *root, struct hrun_buf *out)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));

    for (const char *s = text; *s; s++) {
        if (*s == '<')
            hrun_buf_adds(out, "\\u003c");
        else
            hrun_buf_addc(out, *s);
    }
    free(text);
}

/* The page with the document in the places of @TITLE@, @TEXT@ and @DATA@. */
static int write_html(const json_t *root, const char *page, const char *text, const char *path, struct hrun_error *err)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    int rc;

    for (const char *s = page; *s;) {
        size_t n = strcspn(s, "@");

        hrun_buf_add(&out, s, n);
        s += n;
        if (!strncmp(s, "@TITLE@", n = strlen("@TITLE@")))
            add_escaped(json_string_value(json_object_get(root, "title")), &out);
        else if (!strncmp(s, "@TEXT@", n = strlen("@TEXT@")))
            add_escaped(text, &out);
        else if (!strncmp(s, "@DATA@", n))
            add_document(root, &out);
        else
            hrun_buf_add(&out, s, n = *s != 0);
        s += n;
    }
    rc = hrun_file_replace(path, out.data, out.len, 0666, err);
    hrun_buf_release(&out);
    return rc;
}

static int write_pdf(const json_t *root, const char *script, const char *text, const char *path, struct hrun_error *err)
{
    struct hrun_buf out = HRUN_BUF_INIT, title = HRUN_BUF_INIT;
    int rc = report_image(root, script, text, 0, &out, &title, err) ||
             hrun_file_replace(path, out.data, out.len, 0666, err) ? -1 : 0;

    hrun_buf_release(&out);
    hrun_buf_release(&title);
    return rc;
}

/* NAME.png -> NAME-1.png, NAME-2.png, ...: each is named on standard output with what it shows. */
static int write_png(const json_t *root, const char *script, const char *text, const char *path, struct hrun_error *err)
{
    int stem = (int)strlen(path) - (int)strlen(".png"), rc = 0, more = 1;

    (void)text;
    for (int i = 1; !rc && more; i++) {
        struct hrun_buf png = HRUN_BUF_INIT, title = HRUN_BUF_INIT;
        char *name = hrun_strf("%.*s-%d.png", stem, path, i);

        rc = report_image(root, script, "", i, &png, &title, err);
        more = png.len > 0;
        if (!rc && more && !(rc = hrun_file_replace(name, png.data, png.len, 0666, err)))
            printf("%s  %.*s\n", name, (int)strcspn(title.data, "\n"), title.data);
        free(name);
        hrun_buf_release(&png);
        hrun_buf_release(&title);
    }
    return rc;
}

static const struct kind {
    const char *suffix, *share;     /* share: the file of the share folder that it is made by */
    int (*write)(const json_t *root, const char *share, const char *text, const char *path, struct hrun_error *err);
} kinds[] = {
    { ".html", "report.html", write_html }, { ".pdf", "report.gnuplot", write_pdf },
    { ".png", "report.gnuplot", write_png },
};

static const struct kind *find_output_kind(const char *path, struct hrun_error *err)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].suffix);

        if (len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, kinds[i].suffix))
            return &kinds[i];
    }
    hrun_fail(err, HRUN_EINVAL, "-o %s: the suffix says what is made; give FILE.html, FILE.pdf or FILE.png", path);
    return NULL;
}

/* ------------------------------------------------------------------ the errand */

/* The application that is meant: named by a word or by -app, or the only one that there is. */
static int find_report_app(struct context *c, struct settings *set, char **apps, struct hrun_strvec *names,
                           struct hrun_error *err)
{
    const char *other = apps[0] && apps[1] ? apps[1] : set->app;
    struct hrun_buf all = HRUN_BUF_INIT;

    if (apps[0] && other && strcmp(apps[0], other))
        return hrun_fail(err, HRUN_EINVAL, "a report is of one application, not of %s and %s", apps[0], other);
    if (apps[0])
        set->app = apps[0];
    if (!set->app) {
        if (calib_apps(c, names, err))
            return -1;
        if (!names->n)
            return hrun_fail(err, HRUN_ENODATA, "no profiles in %s", hrun_store_dir(c->store));
        for (size_t i = 0; i < names->n; i++)
            hrun_buf_addf(&all, "%s%s", i ? ", " : "", names->v[i]);
        if (names->n > 1)
            hrun_fail(err, HRUN_EINVAL, "say which application with -app; there are profiles of %s", all.data);
        else
            set->app = names->v[0];
        hrun_buf_release(&all);
        if (!set->app)
            return -1;
    }
    if (context_app(c, NULL, err))
        return -1;
    if (c->variants_of && !set->variant)
        return hrun_fail(err, HRUN_EINVAL, "%s has %d variants, and a report is of one, as of %s.%s",
                         c->variants_of->name, c->variants_of->nvariants, c->variants_of->name,
                         c->variants_of->variants[0]->variant);
    return 0;
}

/* A report is of one cluster; whoever wanted another is to know. */
static void name_other_profiles(const struct calib_settings *s, const struct report *r)
{
    if (!r->others.n || s->common.quiet)
        return;
    fprintf(stderr, "hrun-calibrate: the report is of the sub-clusters calibrated last; not shown:");
    for (size_t i = 0; i < r->others.n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", r->others.v[i]);
    fputs("\n", stderr);
}

int calib_report(const struct calib_settings *settings, char **apps)
{
    struct calib_settings s = *settings;
    struct context c = { .set = &s.common };
    struct report r = { 0 };
    struct hrun_strvec names = HRUN_STRVEC_INIT;
    struct hrun_buf text = HRUN_BUF_INIT, share = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    const struct kind *kind = NULL;
    json_t *root = json_object();
    int rc = -1;

    if (!s.output)
        hrun_fail(&err, HRUN_EINVAL, "where to? say -o FILE.html, -o FILE.pdf or -o FILE.png");
    else if ((kind = find_output_kind(s.output, &err)) && !context_open_store(&c, &err) &&
             !find_report_app(&c, &s.common, apps, &names, &err) && !network_of_options(&c, " of this report", &err) &&
             !report_gather(&c, &s, &r, &err) && !make_document(&r, &s, root, &text, &err) &&
             !read_share(&c, kind->share, &share, &err) &&
             !kind->write(root, share.data, text.data, s.output, &err)) {
        rc = 0;
        name_other_profiles(&s, &r);
    }
    rc = rc ? context_complain("hrun-calibrate", &err) : 0;
    json_decref(root);
    hrun_buf_release(&text);
    hrun_buf_release(&share);
    report_release(&r);
    hrun_strvec_release(&names);
    context_release(&c);
    return rc;
}
