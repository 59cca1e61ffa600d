/* calib_report.c - hrun-calibrate report: make the document, and write it as a page or as images; see calib_report.h */
#include "calib_report.h"

#include "../network/calib_network.h"
#include "../profiles/profiles.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t TEMPLATE_MAX = (size_t)1 << 20;

/* ------------------------------------------------------------------ the document */

/* Add the sub-clusters and each profile once; append each profile's models and waits as text. */
static void add_subs_and_profiles(const struct report *r, json_t *root, struct hrun_buf *text)
{
    json_t *subs = json_array(), *profiles = json_array();

    for (int i = 0; i < r->nsubs; i++) {
        const struct report_sub *sub = &r->subs[i];
        const struct hrun_subcluster *cl = &r->c->cluster->subs[i];
        const char *signature = r->signatures.v[sub->log];
        struct hrun_models *m = r->known.subs[i].models;

        json_array_append_new(subs, json_pack("{s:s, s:s, s:i, s:s, s:i, s:s?, s:f, s:f}", "name", sub->name,
                                              "signature", signature, "pes", sub->npes, "fitted", m ? m->fitted : "",
                                              "used", m ? m->nsamples : 0, "why_not", r->known.subs[i].why_not,
                                              "cost_per_hour", cl->cost_per_hour, "power_w", cl->power_w));
        if (!report_is_first(r, i))
            continue;
        json_array_append_new(profiles, profile_json(r->c->app->name, signature, &r->logs[sub->log], 0, m));
        hrun_buf_addf(text, "  %s\n", sub->name);
        if (m)
            models_table(&m, 1, 0, text);
        waits_show(&r->logs[sub->log], signature, text);
    }
    json_object_update_new(root, json_pack("{s:o, s:o}", "subclusters", subs, "profiles", profiles));
}

/* The costs of runs: on each sub-cluster alone, on several, and in all. */
static json_t *costs_json(const struct report *r)
{
    json_t *all = json_array();

    for (int sub = 0; sub <= r->nsubs + 1; sub++) {
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
        if (n)
            json_array_append_new(all, json_pack("{s:s, s:i, s:i, s:f, s:f}", "on",
                                                 sub < r->nsubs ? r->subs[sub].name : sub == r->nsubs ? "several"
                                                 : "all", "runs", n, "failed", failed, "wall_s", wall_s, "pe_s", pe_s));
    }
    return all;
}

/* Make the document, and its tables as text. */
static int make_document(struct report *r, const struct calib_settings *s, json_t *root, struct hrun_buf *text,
                         struct hrun_error *err)
{
    const struct hrun_app *app = r->c->app;
    int has_title = app->title && *app->title && strcmp(app->title, app->name);
    autorelease(hrun_buf_release) struct hrun_buf models = HRUN_BUF_INIT;
    json_t *others = json_array();
    char now[21];
    int rc;

    for (size_t i = 0; i < r->others.n; i++)
        json_array_append_new(others, json_string(r->others.v[i]));
    hrun_date_now(now);
    json_object_update_new(root, json_pack("{s:o, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:o}", "title",
                                           json_sprintf(has_title ? "%s: %s" : "%s", app->name, app->title), "made",
                                           now, "version", HRUN_VERSION, "costs", costs_json(r), "others", others,
                                           "bad_records", (json_int_t)r->bad, "no_longer_count", (json_int_t)r->old,
                                           "other_constants", (json_int_t)r->other_consts, "network",
                                           report_network(s)));
    add_subs_and_profiles(r, root, &models);
    rc = report_add_choices(r, s->N, root, err);
    report_text(root, models.data, text);
    return rc;
}

/* ------------------------------------------------------------------ files */

/* Append text escaped for HTML; in_script = 1: JSON in a script, in which "</script>" and "<!--" must not occur. */
static void add_escaped(const char *text, int in_script, struct hrun_buf *out)
{
    for (const char *s = text; *s; s++) {
        if (strchr(in_script ? "<" : "&<>\"'", *s))
            hrun_buf_addf(out, in_script ? "\\u%04x" : "&#%d;", *s);
        else
            hrun_buf_addc(out, (unsigned char)*s < 0x20 && *s != '\n' ? ' ' : *s);
    }
}

/* Write the page with the document in place of @TITLE@, @TEXT@ and @DATA@. */
static int write_html(const json_t *root, const char *tables, const char *page, const char *path,
                      struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;
    autofree char *data = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
    const struct { const char *mark, *text; } places[] = {
        { "@TITLE@", json_string_value(json_object_get(root, "title")) }, { "@TEXT@", tables }, { "@DATA@", data },
    };

    while (*page) {
        size_t k = 0;

        while (k < 3 && strncmp(page, places[k].mark, strlen(places[k].mark)))
            k++;
        if (k < 3)
            add_escaped(places[k].text, k == 2, &out);
        else
            hrun_buf_addc(&out, *page);
        page += k < 3 ? strlen(places[k].mark) : 1;
    }
    return hrun_file_replace(path, out.data, out.len, 0666, err);
}

/* Write a PDF with these tables, or if tables is NULL: NAME-1.png, NAME-2.png, ... for NAME.png, and print the name and
 * title of each. */
static int write_images(const json_t *root, const char *tables, const char *script, const char *path,
                        struct hrun_error *err)
{
    static const char begin[] = "\x89PNG\r\n\x1a\n", title_begin[] = "figure ";
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT, titles = HRUN_BUF_INIT;
    const char *at, *end, *title, *next;
    int n = 0;

    if (report_draw(root, script, tables, &out, &titles, err))
        return -1;
    if (tables)
        return hrun_file_replace(path, out.data, out.len, 0666, err);
    end = out.data + out.len;
    title = titles.data;
    for (at = out.data; at < end; at = next) {
        autofree char *name = hrun_strf("%.*s-%d.png", (int)(strlen(path) - strlen(".png")), path, ++n);

        next = memmem(at + 1, (size_t)(end - at) - 1, begin, strlen(begin));
        next = next ? next : end;
        if (hrun_file_replace(name, at, (size_t)(next - at), 0666, err))
            return -1;
        title = strstr(title, title_begin);
        title = title ? title + strlen(title_begin) : "";
        printf("%s  %.*s\n", name, (int)strcspn(title, "\n"), title);
    }
    return 0;
}

/* The kind of output, by the suffix of its file. */
enum output_kind { TO_HTML, TO_PDF, TO_PNG };

static int find_output_kind(const char *path, enum output_kind *out, struct hrun_error *err)
{
    static const char *const suffixes[] = { ".html", ".pdf", ".png" };
    size_t len = path ? strlen(path) : 0;

    if (!path)
        return hrun_fail(err, HRUN_EINVAL, "where to? say -o FILE.html, -o FILE.pdf or -o FILE.png");
    for (*out = TO_HTML; *out <= TO_PNG; ++*out) {
        size_t n = strlen(suffixes[*out]);

        if (len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, suffixes[*out]))
            return 0;
    }
    return hrun_fail(err, HRUN_EINVAL, "-o %s: the suffix says what is made; give FILE.html, FILE.pdf or FILE.png",
                     path);
}

/* ------------------------------------------------------------------ the command */

/* Find the application, which a word or -app names; else the only one with profiles. */
static int find_report_app(struct context *c, struct settings *set, char **apps, struct hrun_strvec *names,
                           struct hrun_error *err)
{
    const char *other = apps[0] && apps[1] ? apps[1] : set->app;
    autorelease(hrun_buf_release) struct hrun_buf all = HRUN_BUF_INIT;

    if (apps[0] && other && strcmp(apps[0], other))
        return hrun_fail(err, HRUN_EINVAL, "a report is of one application, not of %s and %s", apps[0], other);
    set->app = apps[0] ? apps[0] : set->app;
    if (!set->app && calib_apps(c, names, err))
        return -1;
    if (!set->app && !names->n)
        return hrun_fail(err, HRUN_ENODATA, "no profiles in %s", hrun_store_dir(c->store));
    for (size_t i = 0; i < names->n; i++)
        hrun_buf_addf(&all, "%s%s", i ? ", " : "", names->v[i]);
    if (!set->app && names->n > 1)
        return hrun_fail(err, HRUN_EINVAL, "say which application with -app; there are profiles of %s", all.data);
    set->app = set->app ? set->app : names->v[0];
    if (context_app(c, NULL, err))
        return -1;
    if (c->variants_of && !set->variant)
        return hrun_fail(err, HRUN_EINVAL, "%s has %d variants, and a report is of one, as of %s.%s",
                         c->variants_of->name, c->variants_of->nvariants, c->variants_of->name,
                         c->variants_of->variants[0]->variant);
    return 0;
}

int calib_report(const struct calib_settings *settings, char **apps)
{
    struct calib_settings s = *settings;
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    autorelease(context_release) struct context c = { .set = &s.common };
    autorelease(report_release) struct report r = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT, template = HRUN_BUF_INIT;
    struct hrun_error err = { 0 };
    json_t *root = json_object();
    autofree char *path = NULL;
    enum output_kind kind = TO_HTML;
    int rc = find_output_kind(s.output, &kind, &err) || context_open_store(&c, &err) ||
             find_report_app(&c, &s.common, apps, &names, &err) || network_of_options(&c, " of this report", &err) ||
             report_gather(&c, &s, &r, &err) || make_document(&r, &s, root, &text, &err) ? -1 : 0;

    if (!rc) {
        /* The profile folder that is searched last is in the share folder, as are the templates. */
        path = hrun_strf("%s/../report.%s", c.app_dirs.v[c.app_dirs.n - 1], kind == TO_HTML ? "html" : "gnuplot");
        rc = hrun_file_read(path, TEMPLATE_MAX, &template, &err);
    }
    if (!rc)
        rc = kind == TO_HTML ? write_html(root, text.data, template.data, s.output, &err)
             : write_images(root, kind == TO_PDF ? text.data : NULL, template.data, s.output, &err);
    json_decref(root);
    for (size_t i = 0; i < r.others.n && !rc && !s.common.quiet; i++)
        fprintf(stderr, "%s %s%s", i ? "," : "hrun-calibrate: the report is of the sub-clusters calibrated last; not "
                "shown:", r.others.v[i], i + 1 < r.others.n ? "" : "\n");
    return rc ? context_complain("hrun-calibrate", &err) : 0;
}
