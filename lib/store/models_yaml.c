/* models_yaml.c - models as YAML text, and back; see internal.h for the contracts */
#include "base/alloc.h"
#include "store/internal.h"
#include "base/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the file holds. An empty text is left out. */
struct file_term {
    char *term;
    double k;
};

struct file_record {
    char *family, *method, *note;
    int M, P, dof, npoints, pmin, pmax;
    int64_t nmin, nmax;
    double s2, sigma_abs_s, sigma_rel, train_mean, train_max;
    struct file_term *terms;
    unsigned nterms;
    char **cov;            /* row i: i + 1 numbers, the lower triangle */
    unsigned ncov;
};

struct file {
    int version, samples;
    char *app, *signature, *subcluster, *consts, *fitted, *newest;
    int *dynamic, *master, *ignores; /* NULL: 0 */
    struct file_record *models;
    unsigned nmodels;
};

static const struct hrun_key term_keys[] = {
    { HRUN_KEY("term", struct file_term, term) }, { HRUN_KEY("k", struct file_term, k) }, { NULL }
};

static const struct hrun_key record_keys[] = {
    { HRUN_KEY("family", struct file_record, family) },
    { HRUN_KEY("method", struct file_record, method) },
    { HRUN_KEY("M", struct file_record, M) },
    { HRUN_KEY("P", struct file_record, P) },
    { HRUN_KEY_LIST("terms", struct file_record, terms, nterms), .keys = term_keys, .flow = 1 },
    { HRUN_KEY_LIST("cov", struct file_record, cov, ncov) },
    { HRUN_KEY("s2", struct file_record, s2) },
    { HRUN_KEY("dof", struct file_record, dof) },
    { HRUN_KEY("sigma_abs_s", struct file_record, sigma_abs_s) },
    { HRUN_KEY("sigma_rel", struct file_record, sigma_rel) },
    { HRUN_KEY("npoints", struct file_record, npoints) },
    { HRUN_KEY("nmin", struct file_record, nmin) },
    { HRUN_KEY("nmax", struct file_record, nmax) },
    { HRUN_KEY("pmin", struct file_record, pmin) },
    { HRUN_KEY("pmax", struct file_record, pmax) },
    { HRUN_KEY("train_mean", struct file_record, train_mean) },
    { HRUN_KEY("train_max", struct file_record, train_max) },
    { HRUN_KEY("note", struct file_record, note), .optional = 1, .empty = 1 },
    { NULL }
};

static const struct hrun_key file_keys[] = {
    { HRUN_KEY("version", struct file, version) },
    { HRUN_KEY("app", struct file, app) },
    { HRUN_KEY("signature", struct file, signature) },
    { HRUN_KEY("subcluster", struct file, subcluster), .optional = 1, .empty = 1 },
    { HRUN_KEY("consts", struct file, consts), .optional = 1, .empty = 1 },
    { HRUN_KEY("fitted", struct file, fitted), .optional = 1, .empty = 1 },
    { HRUN_KEY("newest", struct file, newest), .optional = 1, .empty = 1 },
    { HRUN_KEY("samples", struct file, samples) },
    { HRUN_KEY("dynamic", struct file, dynamic), .optional = 1 },
    { HRUN_KEY("master", struct file, master), .optional = 1 },
    { HRUN_KEY("ignores_shares", struct file, ignores), .optional = 1 },
    { HRUN_KEY_LIST("models", struct file, models, nmodels), .keys = record_keys },
    { NULL }
};

static const struct hrun_schema file_schema = { file_keys, sizeof(struct file) };

/* ---------------------------------------------------------------- to text */

static char *nonempty(char *s)
{
    return s && *s ? s : NULL;
}

/* Only the arrays of a record that is to be written are its own, the texts are borrowed. */
static void drop_record(struct file_record *f)
{
    free(f->terms);
    for (unsigned i = 0; f->cov && i < f->ncov; i++)
        free(f->cov[i]);
    free(f->cov);
}

static void fill_file_record(const struct hrun_fit_record *r, struct file_record *f)
{
    size_t n = (size_t)r->nterms;

    *f = (struct file_record){
        .family = r->family, .method = r->method, .note = nonempty(r->note), .M = r->M, .P = r->P,
        .dof = r->dof, .npoints = r->npoints, .pmin = r->pmin, .pmax = r->pmax, .nmin = r->nmin,
        .nmax = r->nmax, .s2 = r->s2, .sigma_abs_s = r->sigma_abs_s, .sigma_rel = r->sigma_rel,
        .train_mean = r->train_mean, .train_max = r->train_max,
        .terms = xcalloc(n + 1, sizeof *f->terms), .cov = xcalloc(n + 1, sizeof *f->cov)
    };
    for (size_t i = 0; i < n; i++) {
        struct hrun_buf row = HRUN_BUF_INIT;

        f->terms[f->nterms++] = (struct file_term){ r->terms[i], r->k[i] };
        for (size_t j = 0; j <= i; j++)
            hrun_buf_addf(&row, "%s%.17g", j ? " " : "", r->cov[i * n + j]);
        f->cov[i] = hrun_buf_detach(&row);
        f->ncov++;
    }
}

int store_print_models(const struct hrun_models *m, struct hrun_buf *out, struct hrun_error *err)
{
    struct file f = {
        .version = STORE_MODELS_VERSION, .samples = m->nsamples, .app = m->app, .signature = m->signature,
        .subcluster = nonempty(m->subcluster), .consts = nonempty(m->consts), .fitted = nonempty(m->fitted),
        .newest = nonempty(m->newest), .models = xcalloc((size_t)m->n + 1, sizeof *f.models)
    };
    struct hrun_tasking tasking = m->tasking;
    locale_t old, c = hrun_locale_enter(&old);
    int rc;

    f.dynamic = tasking.dynamic ? &tasking.dynamic : NULL;
    f.master = tasking.master ? &tasking.master : NULL;
    f.ignores = tasking.ignores ? &tasking.ignores : NULL;
    for (; f.nmodels < (unsigned)m->n; f.nmodels++)
        fill_file_record(&m->v[f.nmodels], &f.models[f.nmodels]);
    rc = hrun_yaml_print(&file_schema, &f, out, err);
    hrun_locale_leave(c, old);
    for (unsigned i = 0; i < f.nmodels; i++)
        drop_record(&f.models[i]);
    free(f.models);
    return rc;
}

/* ---------------------------------------------------------------- from text */

/* n blank-separated finite numbers, the whole of text. 0 or -1. */
static int parse_row(const char *text, size_t n, double *out)
{
    int saved = errno;

    for (size_t i = 0; i < n; i++) {
        size_t len;
        char *end;

        if (i && *text++ != ' ')
            return -1;
        /* strtod would also take blanks, words, and hexadecimal numbers. */
        len = strspn(text, "+-.0123456789eE");
        out[i] = strtod(text, &end);
        if (!len || end != text + len || !isfinite(out[i]))
            return -1;
        text = end;
    }
    errno = saved;
    return *text ? -1 : 0;
}

static char *copy(const char *text)
{
    return xstrdup(text ? text : "");
}

/* The model that the file's i-th one describes. */
static int take_record(const struct file_record *f, unsigned i, struct hrun_fit_record *r,
                       const struct hrun_yaml *marks, struct hrun_error *err)
{
    char where[STORE_WHERE];
    size_t n = f->nterms;

    *r = (struct hrun_fit_record){
        .family = copy(f->family), .method = copy(f->method), .note = copy(f->note), .M = f->M, .P = f->P,
        .dof = f->dof, .npoints = f->npoints, .pmin = f->pmin, .pmax = f->pmax, .nmin = f->nmin,
        .nmax = f->nmax, .s2 = f->s2, .sigma_abs_s = f->sigma_abs_s, .sigma_rel = f->sigma_rel,
        .train_mean = f->train_mean, .train_max = f->train_max,
        .terms = xcalloc(n + 1, sizeof *r->terms), .k = xcalloc(n + 1, sizeof *r->k),
        .cov = xcalloc(n * n + 1, sizeof *r->cov)
    };
    snprintf(where, sizeof where, "models[%u].cov", i);
    if (f->ncov != n)
        return hrun_yaml_fail(marks, where, 0, err, HRUN_ECORRUPT, "%s has %u rows for %zu terms", where,
                              f->ncov, n);
    for (size_t j = 0; j < n; j++) {
        r->terms[j] = copy(f->terms[j].term);
        r->nterms++;
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

/* The models that a loaded file describes; NULL with *err. */
static struct hrun_models *take_models(const struct file *f, const char *app, const char *signature,
                                       const struct hrun_yaml *marks, struct hrun_error *err)
{
    struct hrun_models *m = xcalloc(1, sizeof *m);
    struct hrun_error why = { 0 };
    char where[STORE_WHERE];

    m->app = copy(f->app);
    m->signature = copy(f->signature);
    m->subcluster = copy(f->subcluster);
    m->consts = copy(f->consts);
    m->fitted = copy(f->fitted);
    m->newest = copy(f->newest);
    m->nsamples = f->samples;
    m->tasking = (struct hrun_tasking){ f->dynamic ? *f->dynamic : 0, f->master ? *f->master : 0,
                                         f->ignores ? *f->ignores : 0 };
    m->v = xcalloc((size_t)f->nmodels + 1, sizeof *m->v);
    if (f->version != STORE_MODELS_VERSION) {
        hrun_yaml_fail(marks, "version", 0, err, HRUN_ECORRUPT, "there never was a version %d", f->version);
        goto fail;
    }
    if (strcmp(m->app, app)) {
        hrun_yaml_fail(marks, "app", 0, err, HRUN_ECORRUPT, "the models are of application '%s', the file is "
                       "in the folder of '%s'", m->app, app);
        goto fail;
    }
    if (strcmp(m->signature, signature)) {
        hrun_yaml_fail(marks, "signature", 0, err, HRUN_ECORRUPT, "the models are of sub-clusters '%s', the "
                       "file is named for '%s': models of another machine do not hold here", m->signature,
                       signature);
        goto fail;
    }
    for (unsigned i = 0; i < f->nmodels; i++) {
        m->n++;
        if (take_record(&f->models[i], i, &m->v[i], marks, err))
            goto fail;
    }
    if (store_check_models(m, where, &why)) {
        hrun_yaml_fail(marks, where, 0, err, HRUN_ECORRUPT, "%s", why.text);
        goto fail;
    }
    return m;
fail:
    hrun_models_destroy(m);
    return NULL;
}

int store_parse_models(const char *path, const char *text, size_t len, const char *app, const char *signature,
                       struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_models *m = NULL;
    struct hrun_yaml *marks = NULL;
    void *f = NULL;
    locale_t old, c = hrun_locale_enter(&old);

    if (!hrun_yaml_parse(path, text, len, &file_schema, &f, &marks, err))
        m = take_models(f, app, signature, marks, err);
    hrun_yaml_free(&file_schema, f, marks);
    hrun_locale_leave(c, old);
    if (!m)
        return -1;
    *out = m;
    return 0;
}
