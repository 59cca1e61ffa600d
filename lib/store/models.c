/* models.c - the fitted models of one profile: a YAML file that is replaced as a whole; see store.h
 *
 * The file's last line is the CRC-32 of all lines before. A reader first checks this CRC-32; then the version, as a
 * newer version may have other keys; then the schema; then the invariants of the values.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/yaml.h"
#include "store/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The limit of lib/base/yaml.c; some hundred models take less than a MiB. */
#define MODELS_MAX ((size_t)16 << 20)

#define HEAD "# Models fitted by hrun-calibrate; format: hrun-profile(5).\n"
#define CRC_MARK "# crc32 "
enum { CRC_DIGITS = 8, CRC_LINE = sizeof CRC_MARK - 1 + CRC_DIGITS + 1 };

/* ---------------------------------------------------------------- releasing */

void hrun_fit_record_release(struct hrun_fit_record *r)
{
    for (int i = 0; r->terms && i < r->nterms; i++)
        free(r->terms[i]);
    free(r->terms);
    free(r->k);
    free(r->cov);
    free(r->family);
    free(r->method);
    free(r->note);
    memset(r, 0, sizeof *r);
}

void hrun_models_destroy(struct hrun_models *m)
{
    if (!m)
        return;
    for (int i = 0; m->v && i < m->n; i++)
        hrun_fit_record_release(&m->v[i]);
    free(m->v);
    free(m->app);
    free(m->signature);
    free(m->subcluster);
    free(m->consts);
    free(m->fitted);
    free(m->newest);
    free(m);
}

/* ---------------------------------------------------------------- invariants */

static int check_record(const struct hrun_fit_record *r, int i, struct hrun_error *err)
{
    const struct { const char *key; double v; } numbers[] = {
        { "s2", r->s2 }, { "sigma_abs_s", r->sigma_abs_s }, { "sigma_rel", r->sigma_rel },
        { "train_mean", r->train_mean }, { "train_max", r->train_max },
    };
    const struct { const char *key; int64_t v, min; } counts[] = {
        { "M", r->M, 1 }, { "P", r->P, 0 }, { "dof", r->dof, 0 }, { "npoints", r->npoints, 0 },
        { "nmin", r->nmin, 0 }, { "nmax", r->nmax, r->nmin }, { "pmin", r->pmin, 0 },
        { "pmax", r->pmax, r->pmin },
    };

    if (store_check_name("a family of models", r->family, err) ||
        store_check_name("a method of fitting", r->method, err))
        return -1;
    for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
        if (counts[j].v < counts[j].min)
            return hrun_fail(err, HRUN_EINVAL, "models[%d].%s is %lld: it cannot be below %lld", i, counts[j].key,
                             (long long)counts[j].v, (long long)counts[j].min);
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
        if (!isfinite(numbers[j].v) || numbers[j].v < 0)
            return hrun_fail(err, HRUN_EINVAL, "models[%d].%s is %g: it must be finite and not negative", i,
                             numbers[j].key, numbers[j].v);
    for (int j = 0; j < r->nterms; j++) {
        if (!isfinite(r->k[j]))
            return hrun_fail(err, HRUN_EINVAL, "models[%d].terms[%d].k is %g: it must be finite", i, j, r->k[j]);
        for (int l = 0; l < r->nterms; l++)
            if (!isfinite(r->cov[(size_t)j * r->nterms + l]))
                return hrun_fail(err, HRUN_EINVAL, "models[%d].cov[%d] holds %g: it must be finite", i, j,
                                 r->cov[(size_t)j * r->nterms + l]);
    }
    return 0;
}

int store_check_models(const struct hrun_models *m, struct hrun_error *err)
{
    const struct hrun_tasking *t = &m->tasking;

    if (store_check_name("an application", m->app, err) ||
        store_check_name("a sub-cluster signature", m->signature, err))
        return -1;
    if (t->master < 0 || t->master > t->dynamic || t->dynamic > 1 || t->ignores < 0 || t->ignores > !t->dynamic)
        return hrun_fail(err, HRUN_EINVAL, "dynamic is %d, master %d and ignores_shares %d: each is 0 or 1, a master "
                         "hands out tasks dynamically, and shares are not ignored then", t->dynamic, t->master,
                         t->ignores);
    if (m->nsamples < 0)
        return hrun_fail(err, HRUN_EINVAL, "samples is %d: it cannot be below 0", m->nsamples);
    for (int i = 0; i < m->n; i++)
        if (check_record(&m->v[i], i, err))
            return -1;
    return 0;
}

/* ---------------------------------------------------------------- YAML */

/* The content of the file. Empty texts are left out. */
struct file_term {
    char *term;
    double k;
};

struct file_record {
    struct hrun_fit_record r;   /* without its terms and covariances */
    struct file_term *terms;
    unsigned nterms;
    char **cov;                 /* row i: i + 1 numbers, the lower triangle */
    unsigned ncov;
};

struct models_file {
    int version;
    struct hrun_models m;       /* without its records */
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

/* Parse text as exactly n blank-separated finite numbers. Result: 0 or -1. */
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
static int move_record(struct file_record *f, unsigned i, struct hrun_fit_record *r, const struct hrun_yaml *marks,
                       struct hrun_error *err)
{
    char where[80];
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

/* Move the models of a loaded file to *m. The caller destroys *m, also after an error. */
static int move_models(struct models_file *f, const char *app, const char *signature, struct hrun_models *m,
                       const struct hrun_yaml *marks, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    *m = f->m;
    f->m = (struct hrun_models){ 0 };
    set_if_missing(&m->subcluster);
    set_if_missing(&m->consts);
    set_if_missing(&m->fitted);
    set_if_missing(&m->newest);
    m->v = xcalloc((size_t)f->nmodels + 1, sizeof *m->v);
    if (f->version != STORE_MODELS_VERSION)
        return hrun_yaml_fail(marks, "version", 0, err, HRUN_ECORRUPT, "version %d is unknown", f->version);
    if (strcmp(m->app, app))
        return hrun_yaml_fail(marks, "app", 0, err, HRUN_ECORRUPT, "the models are of application '%s', the file is "
                              "in the folder of '%s'", m->app, app);
    if (strcmp(m->signature, signature))
        return hrun_yaml_fail(marks, "signature", 0, err, HRUN_ECORRUPT, "the models are of sub-clusters '%s', the "
                              "file is named for '%s': models of another machine do not hold here", m->signature,
                              signature);
    for (unsigned i = 0; i < f->nmodels; i++) {
        m->n++;
        if (move_record(&f->models[i], i, &m->v[i], marks, err))
            return -1;
    }
    return store_check_models(m, &why) ? hrun_yaml_fail(marks, "", 0, err, HRUN_ECORRUPT, "%s", why.text) : 0;
}

int store_parse_models(const char *path, const struct hrun_buf *text, const char *app, const char *signature,
                       struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_models *m = xcalloc(1, sizeof *m);
    struct hrun_yaml *marks = NULL;
    void *f = NULL;
    locale_t old, c = hrun_locale_enter(&old);
    int rc = hrun_yaml_parse(path, text->data, text->len, &models_schema, &f, &marks, err) ||
             move_models(f, app, signature, m, marks, err) ? -1 : 0;

    hrun_yaml_free(&models_schema, f, marks);
    hrun_locale_leave(c, old);
    if (rc)
        hrun_models_destroy(m);
    else
        *out = m;
    return rc;
}

/* ---------------------------------------------------------------- checksum and version */

static int check_crc(const char *path, const struct hrun_buf *text, struct hrun_error *err)
{
    size_t body = text->len > CRC_LINE ? text->len - CRC_LINE : 0;
    const char *line = text->data + body;
    char want[CRC_LINE + 1];

    if (!body || line[-1] != '\n' || memcmp(line, CRC_MARK, sizeof CRC_MARK - 1)
        || line[CRC_LINE - 1] != '\n')
        return hrun_fail_at(err, HRUN_ECORRUPT, path, 0, 0, "the models are damaged: the last line with the "
                            "checksum is missing");
    snprintf(want, sizeof want, CRC_MARK "%08lx\n",
             crc32(0, (const unsigned char *)text->data, (unsigned)body));
    if (memcmp(line, want, CRC_LINE))
        return hrun_fail_at(err, HRUN_ECORRUPT, path, 0, 0, "the models are damaged or were edited: the last "
                            "line says '%.*s', the text has '%.*s'", CRC_LINE - 1, line, CRC_LINE - 1, want);
    return 0;
}

/* The version in a models file. All other keys are ignored. */
static long models_file_version(const char *text)
{
    static const char key[] = "\nversion: ";
    const char *at = strstr(text, key);

    return at ? strtol(at + sizeof key - 1, NULL, 10) : STORE_MODELS_VERSION;
}

/* ---------------------------------------------------------------- the file */

/* Refuse to replace the models of a newer hrun. A damaged file may be replaced, whatever its version is. The caller
 * holds the lock. */
static int check_old(const char *path, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (hrun_file_read(path, MODELS_MAX, &text, &why)) {
        if (why.code != HRUN_ENOENT && err)
            *err = why;
        return why.code == HRUN_ENOENT ? 0 : -1;
    }
    if (check_crc(path, &text, NULL) || models_file_version(text.data) <= STORE_MODELS_VERSION)
        return 0;
    return hrun_fail_at(err, HRUN_EEXISTS, path, 0, 0, "a newer hrun wrote the models (version %ld, this hrun "
                        "writes %d): they are kept; fit with the newer hrun, or name another data folder with "
                        "HRUN_DATA", models_file_version(text.data), STORE_MODELS_VERSION);
}

int hrun_store_put_models(struct hrun_store *s, const struct hrun_models *m, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *path = NULL;
    int lock, rc;

    hrun_buf_adds(&text, HEAD);
    if (store_check_models(m, err) || store_print_models(m, &text, err))
        return -1;
    hrun_buf_addf(&text, CRC_MARK "%08lx\n", crc32(0, (const unsigned char *)text.data, (unsigned)text.len));
    path = store_path(s, m->app, m->signature, ".yaml", err);
    lock = store_lock(s, m->app, m->signature, err);
    rc = lock < 0 || check_old(path, err) || hrun_file_replace(path, text.data, text.len, 0666, err)
         ? store_advise(err, "the models stored before stand") : 0;
    if (lock >= 0)
        store_unlock(s, lock);
    return rc;
}

static int read_models(const char *path, const char *app, const char *signature, struct hrun_models **out,
                       struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    size_t len;

    if (hrun_file_read(path, MODELS_MAX, &text, err)) {
        *out = NULL;
        return err->code == HRUN_ENOENT ? 0 : -1;
    }
    if (!check_crc(path, &text, err) && models_file_version(text.data) > STORE_MODELS_VERSION)
        return hrun_fail_at(err, HRUN_ECORRUPT, path, 0, 0, "a newer hrun wrote the models (version %ld, this hrun "
                            "reads up to %d): use the newer hrun, or name another data folder with HRUN_DATA",
                            models_file_version(text.data), STORE_MODELS_VERSION);
    if (!err->code && !store_parse_models(path, &text, app, signature, out, err))
        return 0;
    len = strlen(err->text);
    if (err->code == HRUN_EPARSE || err->code == HRUN_ECORRUPT)
        snprintf(err->text + len, sizeof err->text - len,
                 "; `hrun-calibrate fit` makes the models anew from the measurements");
    return -1;
}

int hrun_store_get_models(struct hrun_store *s, const char *app, const char *signature,
                          struct hrun_models **out, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    autofree char *path = s ? store_path(s, app, signature, ".yaml", err) : NULL;
    struct hrun_models *found = NULL;

    if (s && (!path || read_models(path, app, signature, &found, &why))) {
        if (path && err)
            *err = why;
        return -1;
    }
    *out = found;
    return 0;
}
