/* models_yaml.c - models as YAML text, and back; see internal.h for the contracts */
#include "base/alloc.h"
#include "store/internal.h"
#include "base/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The content of the file. Empty texts are left out. */
struct file_term {
    char *term;
    double k;
};

struct file_record {
    struct hrun_fit_record r;   /* all but its terms and covariances */
    struct file_term *terms;
    unsigned nterms;
    char **cov;                 /* row i: i + 1 numbers, the lower triangle */
    unsigned ncov;
};

struct models_file {
    int version;
    struct hrun_models m;       /* all but its records */
    struct file_record *models;
    unsigned nmodels;
};

static const struct hrun_key term_keys[] = {
    { HRUN_KEY("term", struct file_term, term) }, { HRUN_KEY("k", struct file_term, k) }, { NULL }
};

static const struct hrun_key record_keys[] = {
    { HRUN_KEY("family", struct file_record, r.family) },
    { HRUN_KEY("method", struct file_record, r.method) },
    { HRUN_KEY("M", struct file_record, r.M) },
    { HRUN_KEY("P", struct file_record, r.P) },
    { HRUN_KEY_LIST("terms", struct file_record, terms, nterms), .keys = term_keys, .flow = 1 },
    { HRUN_KEY_LIST("cov", struct file_record, cov, ncov) },
    { HRUN_KEY("s2", struct file_record, r.s2) },
    { HRUN_KEY("dof", struct file_record, r.dof) },
    { HRUN_KEY("sigma_abs_s", struct file_record, r.sigma_abs_s) },
    { HRUN_KEY("sigma_rel", struct file_record, r.sigma_rel) },
    { HRUN_KEY("npoints", struct file_record, r.npoints) },
    { HRUN_KEY("nmin", struct file_record, r.nmin) },
    { HRUN_KEY("nmax", struct file_record, r.nmax) },
    { HRUN_KEY("pmin", struct file_record, r.pmin) },
    { HRUN_KEY("pmax", struct file_record, r.pmax) },
    { HRUN_KEY("train_mean", struct file_record, r.train_mean) },
    { HRUN_KEY("train_max", struct file_record, r.train_max) },
    { HRUN_KEY("note", struct file_record, r.note), .optional = 1, .empty = 1 },
    { NULL }
};

static const struct hrun_key models_keys[] = {
    { HRUN_KEY("version", struct models_file, version) },
    { HRUN_KEY("app", struct models_file, m.app) },
    { HRUN_KEY("signature", struct models_file, m.signature) },
    { HRUN_KEY("subcluster", struct models_file, m.subcluster), .optional = 1, .empty = 1 },
    { HRUN_KEY("consts", struct models_file, m.consts), .optional = 1, .empty = 1 },
    { HRUN_KEY("fitted", struct models_file, m.fitted), .optional = 1, .empty = 1 },
    { HRUN_KEY("newest", struct models_file, m.newest), .optional = 1, .empty = 1 },
    { HRUN_KEY("samples", struct models_file, m.nsamples) },
    { HRUN_KEY("dynamic", struct models_file, m.tasking.dynamic), .sparse = 1 },
    { HRUN_KEY("master", struct models_file, m.tasking.master), .sparse = 1 },
    { HRUN_KEY("ignores_shares", struct models_file, m.tasking.ignores), .sparse = 1 },
    { HRUN_KEY_LIST("models", struct models_file, models, nmodels), .keys = record_keys },
    { NULL }
};

static const struct hrun_schema models_schema = { models_keys, sizeof(struct models_file) };

/* ---------------------------------------------------------------- to text */

/* The texts of *f are borrowed from r. */
static void fill_file_record(const struct hrun_fit_record *r, struct file_record *f)
{
    size_t n = (size_t)r->nterms;

    *f = (struct file_record){ .r = *r, .terms = xcalloc(n + 1, sizeof *f->terms),
                               .cov = xcalloc(n + 1, sizeof *f->cov), .nterms = r->nterms, .ncov = r->nterms };
    for (size_t i = 0; i < n; i++) {
        struct hrun_buf row = HRUN_BUF_INIT;

        f->terms[i] = (struct file_term){ r->terms[i], r->k[i] };
        for (size_t j = 0; j <= i; j++)
            hrun_buf_addf(&row, "%s%.17g", j ? " " : "", r->cov[i * n + j]);
        f->cov[i] = hrun_buf_detach(&row);
    }
}

int store_print_models(const struct hrun_models *m, struct hrun_buf *out, struct hrun_error *err)
{
    struct models_file f = { .version = STORE_MODELS_VERSION, .m = *m,
                             .models = xcalloc((size_t)m->n + 1, sizeof *f.models), .nmodels = m->n };
    locale_t old, c = hrun_locale_enter(&old);
    int rc;

    for (int i = 0; i < m->n; i++)
        fill_file_record(&m->v[i], &f.models[i]);
    rc = hrun_yaml_print(&models_schema, &f, out, err);
    hrun_locale_leave(c, old);
    for (int i = 0; i < m->n; i++) {
        for (unsigned j = 0; j < f.models[i].ncov; j++)
            free(f.models[i].cov[j]);
        free(f.models[i].cov);
        free(f.models[i].terms);
    }
    free(f.models);
    return rc;
}

/* ---------------------------------------------------------------- from text */

/* Parse text as exactly n blank-separated finite numbers. 0 or -1. */
static int parse_row(const char *text, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t len;
        char *end;

        if (i && *text++ != ' ')
            return -1;
        /* strtod also accepts blanks, words and hexadecimal numbers. */
        len = strspn(text, "+-.0123456789eE");
        out[i] = strtod(text, &end);
        if (!len || end != text + len || !isfinite(out[i]))
            return -1;
        text = end;
    }
    return *text ? -1 : 0;
}

static void set_if_missing(char **text)
{
    if (!*text)
        *text = xstrdup("");
}

/* Move the file's model i to *r. */
static int take_record(struct file_record *f, unsigned i, struct hrun_fit_record *r, const struct hrun_yaml *marks,
                       struct hrun_error *err)
{
    char where[STORE_WHERE];
    size_t n = f->nterms;

    *r = f->r;
    f->r = (struct hrun_fit_record){ 0 };
    set_if_missing(&r->note);
    r->terms = xcalloc(n + 1, sizeof *r->terms);
    r->k = xcalloc(n + 1, sizeof *r->k);
    r->cov = xcalloc(n * n + 1, sizeof *r->cov);
    snprintf(where, sizeof where, "models[%u].cov", i);
    if (f->ncov != n)
        return hrun_yaml_fail(marks, where, 0, err, HRUN_ECORRUPT, "%s has %u rows for %zu terms", where,
                              f->ncov, n);
    for (size_t j = 0; j < n; j++) {
        r->terms[r->nterms++] = f->terms[j].term;
        f->terms[j].term = NULL;
        r->k[j] = f->terms[j].k;
        snprintf(where, sizeof where, "models[%u].cov[%zu]", i, j);
        if (parse_row(f->cov[j], j + 1, r->cov + j * n))
            return hrun_yaml_fail(marks, where, 0, err, HRUN_ECORRUPT, "%s is not %zu finite number%s", where,
                                  j + 1, j ? "s" : "");
        for (size_t l = 0; l < j; l++)
            r->cov[l * n + j] = r->cov[j * n + l];
    }
    return 0;
}

/* Move the models of a loaded file to *m, which the caller destroys also after an error. */
static int take_models(struct models_file *f, const char *app, const char *signature, struct hrun_models *m,
                       const struct hrun_yaml *marks, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    char where[STORE_WHERE];

    *m = f->m;
    f->m = (struct hrun_models){ 0 };
    set_if_missing(&m->subcluster);
    set_if_missing(&m->consts);
    set_if_missing(&m->fitted);
    set_if_missing(&m->newest);
    m->v = xcalloc((size_t)f->nmodels + 1, sizeof *m->v);
    if (f->version != STORE_MODELS_VERSION)
        return hrun_yaml_fail(marks, "version", 0, err, HRUN_ECORRUPT, "there never was a version %d", f->version);
    if (strcmp(m->app, app))
        return hrun_yaml_fail(marks, "app", 0, err, HRUN_ECORRUPT, "the models are of application '%s', the file is "
                              "in the folder of '%s'", m->app, app);
    if (strcmp(m->signature, signature))
        return hrun_yaml_fail(marks, "signature", 0, err, HRUN_ECORRUPT, "the models are of sub-clusters '%s', the "
                              "file is named for '%s': models of another machine do not hold here", m->signature,
                              signature);
    for (unsigned i = 0; i < f->nmodels; i++) {
        m->n++;
        if (take_record(&f->models[i], i, &m->v[i], marks, err))
            return -1;
    }
    return store_check_models(m, where, &why)
           ? hrun_yaml_fail(marks, where, 0, err, HRUN_ECORRUPT, "%s", why.text) : 0;
}

int store_parse_models(const char *path, const struct hrun_buf *text, const char *app, const char *signature,
                       struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_models *m = xcalloc(1, sizeof *m);
    struct hrun_yaml *marks = NULL;
    void *f = NULL;
    locale_t old, c = hrun_locale_enter(&old);
    int rc = hrun_yaml_parse(path, text->data, text->len, &models_schema, &f, &marks, err) ||
             take_models(f, app, signature, m, marks, err) ? -1 : 0;

    hrun_yaml_free(&models_schema, f, marks);
    hrun_locale_leave(c, old);
    if (rc)
        hrun_models_destroy(m);
    else
        *out = m;
    return rc;
}
