/* models.c - the fitted models of one profile: a YAML file that is replaced as a whole; see store.h
 *
 * The file's last line is the CRC-32 of all before it. It is checked before anything else is believed; the
 * version comes next, as a newer one may have other keys; then the schema; then the invariants of the values.
 */
#include "store/internal.h"
#include "base/file.h"

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

/* Check one model. On failure `where` is the path of the value in the file. */
static int check_record(const struct hrun_fit_record *r, int i, char where[STORE_WHERE],
                        struct hrun_error *err)
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

    snprintf(where, STORE_WHERE, "models[%d].family", i);
    if (store_check_name("a family of models", r->family, err))
        return -1;
    snprintf(where, STORE_WHERE, "models[%d].method", i);
    if (store_check_name("a method of fitting", r->method, err))
        return -1;
    for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
        snprintf(where, STORE_WHERE, "models[%d].%s", i, counts[j].key);
        if (counts[j].v < counts[j].min)
            return hrun_fail(err, HRUN_EINVAL, "%s is %lld: it cannot be below %lld", where,
                             (long long)counts[j].v, (long long)counts[j].min);
    }
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
        snprintf(where, STORE_WHERE, "models[%d].%s", i, numbers[j].key);
        if (!isfinite(numbers[j].v) || numbers[j].v < 0)
            return hrun_fail(err, HRUN_EINVAL, "%s is %g: it must be finite and not negative", where,
                             numbers[j].v);
    }
    snprintf(where, STORE_WHERE, "models[%d].terms", i);
    if (r->nterms < 0 || (r->nterms > 0 && (!r->terms || !r->k || !r->cov)))
        return hrun_fail(err, HRUN_EINVAL, "%s: terms, coefficients or covariances are missing", where);
    for (int j = 0; j < r->nterms; j++) {
        snprintf(where, STORE_WHERE, "models[%d].terms[%d]", i, j);
        if (!r->terms[j] || !*r->terms[j])
            return hrun_fail(err, HRUN_EINVAL, "%s is empty", where);
        snprintf(where, STORE_WHERE, "models[%d].terms[%d].k", i, j);
        if (!isfinite(r->k[j]))
            return hrun_fail(err, HRUN_EINVAL, "%s is %g: it must be finite", where, r->k[j]);
        snprintf(where, STORE_WHERE, "models[%d].cov[%d]", i, j);
        for (int l = 0; l < r->nterms; l++)
            if (!isfinite(r->cov[(size_t)j * r->nterms + l]))
                return hrun_fail(err, HRUN_EINVAL, "%s holds %g: it must be finite", where,
                                 r->cov[(size_t)j * r->nterms + l]);
    }
    return 0;
}

int store_check_models(const struct hrun_models *m, char where[STORE_WHERE], struct hrun_error *err)
{
    snprintf(where, STORE_WHERE, "app");
    if (store_check_name("an application", m->app, err))
        return -1;
    snprintf(where, STORE_WHERE, "signature");
    if (store_check_name("a sub-cluster signature", m->signature, err))
        return -1;
    snprintf(where, STORE_WHERE, "%s", m->tasking.dynamic ? "dynamic" : "master");
    if (m->tasking.master < 0 || m->tasking.master > m->tasking.dynamic || m->tasking.dynamic > 1)
        return hrun_fail(err, HRUN_EINVAL, "dynamic is %d and master %d: each is 0 or 1, and a master deals out "
                         "dynamically",
                         m->tasking.dynamic, m->tasking.master);
    snprintf(where, STORE_WHERE, "ignores_shares");
    if (m->tasking.ignores < 0 || m->tasking.ignores > !m->tasking.dynamic)
        return hrun_fail(err, HRUN_EINVAL,
                         "ignores_shares is %d: it is 0 or 1, and 0 where work is dealt out dynamically",
                         m->tasking.ignores);
    snprintf(where, STORE_WHERE, "samples");
    if (m->nsamples < 0)
        return hrun_fail(err, HRUN_EINVAL, "samples is %d: it cannot be below 0", m->nsamples);
    snprintf(where, STORE_WHERE, "models");
    if (m->n < 0 || (m->n && !m->v))
        return hrun_fail(err, HRUN_EINVAL, "models are missing");
    for (int i = 0; i < m->n; i++)
        if (check_record(&m->v[i], i, where, err))
            return -1;
    return 0;
}

/* ---------------------------------------------------------------- checksum and version */

/* Check the checksum in the last line. */
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

/* The version in a models file; it is read without regard to other keys. */
static long models_file_version(const char *text)
{
    static const char key[] = "\nversion: ";
    const char *at = strstr(text, key);

    return at ? strtol(at + sizeof key - 1, NULL, 10) : STORE_MODELS_VERSION;
}

/* ---------------------------------------------------------------- writing */

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
    char where[STORE_WHERE];
    int lock, rc;

    hrun_buf_adds(&text, HEAD);
    if (store_check_models(m, where, err) || store_print_models(m, &text, err))
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

/* Append the remedy for unusable models of this or an older version. */
static void renew(struct hrun_error *err)
{
    size_t len = strlen(err->text);

    if (err->code == HRUN_EPARSE || err->code == HRUN_ECORRUPT)
        snprintf(err->text + len, sizeof err->text - len,
                 "; `hrun-calibrate fit` makes the models anew from the measurements");
}

static int read_models(const char *path, const char *app, const char *signature, struct hrun_models **out,
                       struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

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
    renew(err);
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
