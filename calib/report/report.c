/* report.c - hrun-calibrate report: what profiles know, for people to look at; see report.h */
#include "report.h"

#include "../network/network.h"
#include "../profiles/profiles.h"
#include "base/file.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ files */

static int write_file(const char *path, const struct hrun_buf *b, struct hrun_error *err)
{
    return hrun_file_replace(path, b->data, b->len, 0666, err);
}

static int write_html(const struct report_parts *parts, const char *path, struct hrun_error *err)
{
    struct hrun_buf page = HRUN_BUF_INIT;
    int rc = report_html(parts, &page, err) || write_file(path, &page, err) ? -1 : 0;

    hrun_buf_release(&page);
    return rc;
}

static int write_pdf(const struct report_parts *parts, const char *path, struct hrun_error *err)
{
    struct hrun_buf pdf = HRUN_BUF_INIT;
    int rc = report_pdf(parts, &pdf, err) || write_file(path, &pdf, err) ? -1 : 0;

    hrun_buf_release(&pdf);
    return rc;
}

/* NAME.png -> NAME-1.png, NAME-2.png, ...: each is named on standard output with what it shows. */
static int write_png(const struct report_parts *parts, const char *path, struct hrun_error *err)
{
    int stem = (int)strlen(path) - (int)strlen(".png"), rc = 0;

    for (int i = 0; i < parts->nplots && !rc; i++) {
        struct hrun_buf png = HRUN_BUF_INIT;
        char *name = hrun_strf("%.*s-%d.png", stem, path, i + 1);

        rc = name ? 0 : hrun_fail_nomem(err);
        if (!rc && (report_png(parts->plots[i], &png, err) || write_file(name, &png, err)))
            rc = -1;
        if (!rc)
            printf("%s  %s\n", name, parts->plots[i]->title);
        free(name);
        hrun_buf_release(&png);
    }
    return rc;
}

static const struct kind {
    const char *suffix;
    int (*write)(const struct report_parts *parts, const char *path, struct hrun_error *err);
} kinds[] = { { ".html", write_html }, { ".pdf", write_pdf }, { ".png", write_png } };

static const struct kind *kind_of(const char *path, struct hrun_error *err)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].suffix);

        if (len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, kinds[i].suffix))
            return &kinds[i];
    }
    hrun_fail(err, HRUN_EINVAL, "-o %s: the name tells what is made; give FILE.html, FILE.pdf or FILE.png", path);
    return NULL;
}

/* ------------------------------------------------------------------ parts */

/* What watched runs tell, as text; *text stays NULL where none was watched. */
static int tell_waits(struct report *r, struct hrun_buf *out, struct hrun_error *err)
{
    for (int i = 0; i < r->nsubs; i++) {
        struct hrun_buf one = HRUN_BUF_INIT;
        int rc = r->subs[i].same == i ? waits_show(&r->subs[i].samples, r->subs[i].signature, &one, err) : 0;

        if (one.len)
            hrun_buf_addf(out, "%s\n%s\n", r->subs[i].name, one.data + strspn(one.data, "\n"));
        hrun_buf_release(&one);
        if (rc)
            return -1;
    }
    if (report_shares_waits(r, out, err))
        return -1;
    return out->failed ? hrun_fail_nomem(err) : 0;
}

static int make(struct report *r, const struct kind *kind, const char *path, struct hrun_error *err)
{
    struct report_parts parts = { .r = r };
    struct hrun_buf waits = HRUN_BUF_INIT;
    int rc = -1;

    if (tell_waits(r, &waits, err))
        goto done;
    parts.waits = waits.len ? waits.data : NULL;
    parts.plots = report_figures(r, &parts.nplots, err);
    if (parts.plots)
        parts.tables = report_tables(r, &parts.ntables, err);
    if (parts.tables)
        rc = kind->write(&parts, path, err);
done:
    report_tables_free(parts.tables, parts.ntables);
    for (int i = 0; parts.plots && i < parts.nplots; i++)
        plot_destroy(parts.plots[i]);
    free(parts.plots);
    hrun_buf_release(&waits);
    return rc;
}

/* ------------------------------------------------------------------ the errand */

/* The application that is meant: named by a word or by -app, or the only one that there is. */
static int find_app(struct context *c, struct settings *set, char **apps, struct hrun_strvec *names,
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
static void tell_others(const struct calib_settings *s, const struct report *r)
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
    struct hrun_error err = { 0 };
    const struct kind *kind = NULL;
    int rc = -1;

    if (!s.output)
        hrun_fail(&err, HRUN_EINVAL, "where to? say -o FILE.html, -o FILE.pdf or -o FILE.png");
    else if (!(kind = kind_of(s.output, &err)) || context_open_store(&c, &err) ||
             find_app(&c, &s.common, apps, &names, &err) || network_of_options(&c, " of this report", &err) ||
             report_gather(&c, s.N, &r, &err))
        ;
    else {
        report_network_find(&s, &r);
        report_prices_find(&s, &r);
        rc = report_tradeoffs(&r, &err) || make(&r, kind, s.output, &err) ? -1 : 0;
        if (!rc)
            tell_others(&s, &r);
        report_release(&r);
    }
    rc = rc ? context_complain("hrun-calibrate", &err) : 0;
    hrun_strvec_release(&names);
    context_release(&c);
    return rc;
}
