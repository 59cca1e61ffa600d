/* load.c - the keys of a definition, its variants, and errors in it; see load.h */
#include "app/load.h"

#include "app/template.h"
#include "base/alloc.h"
#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1000, VARIANTS_MAX = 32 };  /* limits, since each entry of a list is compared with all others */

static const struct hrun_word families[] = {
    { "npt", 1 + HRUN_APP_NPT }, { "weak", 1 + HRUN_APP_WEAK }, { "ring", 1 + HRUN_APP_RING },
    { "analytic", 1 + HRUN_APP_ANALYTIC }, { NULL, 0 }
};
static const struct hrun_word scratches[] = {
    { "link", 1 + HRUN_APP_SCRATCH_LINK }, { "copy", 1 + HRUN_APP_SCRATCH_COPY }, { "none", 1 + HRUN_APP_SCRATCH_NONE },
    { NULL, 0 }
};
static const struct hrun_word size_words[] = {
    { "fixed", SIZE_FIXED }, { "command", SIZE_COMMAND }, { "number", SIZE_NUMBER }, { NULL, 0 }
};
static const struct hrun_word deals[] = { { "block", 0 }, { "cyclic", 1 }, { NULL, 0 } };
static const struct hrun_word threads_words[] = { { "fill", 1 }, { NULL, 0 } };

const char *hrun_app_family_name(enum hrun_app_family family)
{
    return families[family].word;
}

/* hrun-app(5) describes the keys. Empty texts are refused after reading, with a better message. */
#define TEXT(key, s, m) { HRUN_KEY(key, s, m), .empty = 1 }
#define MAYBE_TEXT(key, s, m) { HRUN_KEY(key, s, m), .empty = 1, .optional = 1 }
#define MAYBE_WORD(key, s, m, list) { HRUN_KEY(key, s, m), .words = (list), .optional = 1 }
#define MAYBE_LIST(key, s, m, n, ...) { HRUN_KEY_LIST(key, s, m, n), .optional = 1, .max = LIST_MAX, __VA_ARGS__ }

static const struct hrun_key terms_keys[] = {
    { HRUN_KEY_LIST("np", struct raw_terms, np, nnp), .empty = 1, .min = 1, .max = LIST_MAX },
    { HRUN_KEY_LIST("n", struct raw_terms, n, nn), .empty = 1, .min = 1, .max = LIST_MAX },
    MAYBE_LIST("p", struct raw_terms, p, npt, .empty = 1, .min = 1),
    { NULL }
};

static const struct hrun_key file_keys[] = {
    TEXT("path", struct hrun_app_file, path), TEXT("content", struct hrun_app_file, content), { NULL }
};

static const struct hrun_key time_keys[] = {
    TEXT("match", struct raw_time, match), MAYBE_TEXT("file", struct raw_time, file),
    MAYBE_TEXT("value", struct raw_time, value), { NULL }
};

static const struct hrun_key const_keys[] = {
    TEXT("name", struct raw_const, name), { HRUN_KEY("value", struct raw_const, value) },
    MAYBE_TEXT("file", struct raw_const, file), { HRUN_KEY("line", struct raw_const, line), .optional = 1 }, { NULL }
};

static const struct hrun_key ring_keys[] = {
    TEXT("local", struct raw_ring, local), TEXT("step", struct raw_ring, step), TEXT("bytes", struct raw_ring, bytes),
    { NULL }
};

static const struct hrun_key step_keys[] = {
    TEXT("name", struct hrun_named_expr, name), TEXT("is", struct hrun_named_expr, is), { NULL }
};

/* Keys of an entry of a variant's `constants`. */
static const struct hrun_key value_keys[] = {
    TEXT("name", struct raw_const, name), { HRUN_KEY("value", struct raw_const, value) }, { NULL }
};

/* Keys of a variant, which replace the definition's. */
static const struct hrun_key variant_keys[] = {
    TEXT("name", struct raw_variant, name),
    MAYBE_TEXT("title", struct raw_variant, title),
    MAYBE_TEXT("rule", struct raw_variant, rule),
    MAYBE_TEXT("memory", struct raw_variant, memory),
    MAYBE_LIST("args", struct raw_variant, args, nargs, .empty = 1),
    MAYBE_LIST("constants", struct raw_variant, constants, nconstants, .keys = value_keys),
    { HRUN_KEY_PTR("terms", struct raw_variant, terms), .keys = terms_keys, .optional = 1 },
    MAYBE_LIST("where", struct raw_variant, where, nwhere, .keys = step_keys),
    MAYBE_TEXT("formula", struct raw_variant, formula),
    { NULL }
};

static const struct hrun_key weak_keys[] = {
    MAYBE_TEXT("rows", struct raw_weak, rows), MAYBE_TEXT("unit", struct raw_weak, unit),
    MAYBE_TEXT("memory", struct raw_weak, memory), { NULL }
};

static const struct hrun_key shares_keys[] = {
    TEXT("units", struct raw_shares, units), MAYBE_TEXT("min", struct raw_shares, min),
    MAYBE_TEXT("memory", struct raw_shares, memory), MAYBE_WORD("deal", struct raw_shares, cyclic, deals), { NULL }
};

static const struct hrun_key prepare_keys[] = {
    MAYBE_LIST("run", struct raw_prepare, run, nrun, .min = 1),
    MAYBE_LIST("mpi", struct raw_prepare, mpi, nmpi, .min = 1), { NULL }
};

static const struct hrun_key build_keys[] = {
    TEXT("on", struct hrun_app_build, on), TEXT("program", struct hrun_app_build, program), { NULL }
};

static const struct hrun_key app_keys[] = {
    TEXT("name", struct definition, app.name),
    MAYBE_TEXT("title", struct definition, app.title),
    MAYBE_LIST("programs", struct definition, app.programs.names, app.programs.n, .empty = 1),
    MAYBE_LIST("builds", struct definition, app.programs.builds, app.programs.nbuilds, .keys = build_keys),
    MAYBE_WORD("family", struct definition, family, families),
    MAYBE_TEXT("rule", struct definition, rule),
    MAYBE_LIST("procs_per_pe", struct definition, app.procs_per_pe, app.nprocs_per_pe, .min = 1),
    MAYBE_TEXT("memory", struct definition, memory),
    MAYBE_WORD("threads", struct definition, app.run.threads_fill, threads_words),
    { HRUN_KEY_PTR("terms", struct definition, terms), .keys = terms_keys, .optional = 1 },
    { HRUN_KEY_PTR("ring", struct definition, ring), .keys = ring_keys, .optional = 1 },
    MAYBE_LIST("where", struct definition, where, nwhere, .keys = step_keys),
    MAYBE_TEXT("formula", struct definition, formula),
    { HRUN_KEY_LIST("variants", struct definition, variants, nvariants), .keys = variant_keys, .optional = 1,
      .min = 1, .max = VARIANTS_MAX },
    { HRUN_KEY_PTR("weak", struct definition, weak), .keys = weak_keys, .optional = 1 },
    { HRUN_KEY_PTR("shares", struct definition, shares), .keys = shares_keys, .optional = 1 },
    MAYBE_LIST("constants", struct definition, constants, nconstants, .keys = const_keys),
    MAYBE_LIST("derived", struct definition, derived, nderived, .keys = step_keys),
    MAYBE_LIST("files", struct definition, app.run.files, app.run.nfiles, .keys = file_keys),
    MAYBE_LIST("prepare", struct definition, prepare, nprepare, .keys = prepare_keys),
    MAYBE_LIST("args", struct definition, app.run.args, app.run.nargs, .empty = 1),
    MAYBE_TEXT("stdin", struct definition, app.run.stdin_text),
    MAYBE_WORD("scratch", struct definition, scratch, scratches),
    { HRUN_KEY_PTR("time", struct definition, time), .keys = time_keys, .optional = 1 },
    MAYBE_WORD("size", struct definition, size, size_words),
    { HRUN_KEY_LIST("sizes", struct definition, app.sizes.v, app.sizes.n), .optional = 1, .max = LIST_MAX },
    { NULL }
};

static const struct hrun_schema app_schema = { app_keys, sizeof(struct definition) };

/* ------------------------------------------------------------------ errors with their place */

const char *hrun_load_at(struct hrun_load *l, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(l->path, sizeof l->path, fmt, ap);
    va_end(ap);
    return l->path;
}

static int variant_has_key(const struct raw_variant *v, const char *key, size_t len)
{
    const struct { const char *key; int given; } keys[] = {
        { "title", v->title != NULL }, { "rule", v->rule != NULL }, { "memory", v->memory != NULL },
        { "args", v->nargs }, { "terms", v->terms != NULL }, { "where", v->nwhere }, { "formula", v->formula != NULL },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == len && !strncmp(keys[i].key, key, len))
            return keys[i].given;
    return 0;
}

int hrun_load_bad_at(const struct hrun_load *l, const char *path, int offset, const char *fmt, ...)
{
    char text[HRUN_ERROR_TEXT], own[128] = "";
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (l->variant && variant_has_key(l->variant, path, strcspn(path, ".[")))
        snprintf(own, sizeof own, "variants[%u].%s", l->nth, path);
    return hrun_yaml_fail(l->marks, *own ? own : path, offset, l->err, HRUN_EPARSE, "%s", text);
}

int hrun_load_bad_expr(const struct hrun_load *l, const char *path, const struct hrun_error *inner)
{
    return hrun_load_bad_at(l, path, inner->column > 0 ? inner->column - 1 : 0, "%s", inner->text);
}

struct hrun_expr *hrun_load_expr(struct hrun_load *l, const char *path, const char *text, const char *const *vars,
                                 int nvars)
{
    struct hrun_error inner;
    struct hrun_expr *e = hrun_expr_compile(text, vars, nvars, l->app->consts, l->app->nconsts, &inner);

    if (!e)
        hrun_load_bad_expr(l, path, &inner);
    return e;
}

int hrun_load_check_template(struct hrun_load *l, const char *path, const char *text)
{
    struct hrun_error inner;
    int offset = hrun_template_check(l->app, text, &inner);

    return offset < 0 ? 0 : hrun_load_bad_at(l, path, offset, "%s", inner.text);
}

/* ------------------------------------------------------------------ the whole */

/* Load a definition or a variant, without the definition's variants. */
static int load_definition(struct hrun_load *l, const char *file, char *const *defines)
{
    l->app->file = xstrdup(file);
    return hrun_load_values(l, defines) || hrun_load_model(l) || hrun_load_inputs(l) ? -1 : 0;
}

#define SWAP(a, b) do { __typeof__(a) kept = (a); (a) = (b); (b) = kept; } while (0)

static void apply_variant(struct definition *d, struct raw_variant *v)
{
    if (v->title)
        SWAP(v->title, d->app.title);
    if (v->rule)
        SWAP(v->rule, d->rule);
    if (v->memory)
        SWAP(v->memory, d->memory);
    if (v->nargs) {
        SWAP(v->args, d->app.run.args);
        SWAP(v->nargs, d->app.run.nargs);
    }
    if (v->nwhere || v->terms) {
        SWAP(v->where, d->where);
        SWAP(v->nwhere, d->nwhere);
    }
    if (v->terms || v->formula) {
        SWAP(v->terms, d->terms);
        SWAP(v->formula, d->formula);
    }
}

/* Load a variant as a definition: parse the text again and replace keys by those of the variant. */
static int load_variant(struct hrun_load *l, unsigned nth, char *const *defines)
{
    const struct raw_variant *v = &l->d->variants[nth];
    struct hrun_load one = { .variant = v, .nth = nth, .marks = l->marks, .err = l->err };
    const char *path = hrun_load_at(l, "variants[%u].name", nth);
    void *data;
    char *name;

    if (!hrun_app_is_name(v->name) || strchr(v->name, '.'))
        return hrun_load_bad(l, path, "'%s' cannot be the name of a variant: lower-case letters, digits, '_' and '-', "
                             "a letter or digit first", v->name);
    for (unsigned k = 0; k < nth; k++)
        if (!strcmp(v->name, l->d->variants[k].name))
            return hrun_load_bad(l, path, "there are two variants '%s'", v->name);
    if (hrun_yaml_parse(l->app->file, l->marks->text, l->marks->len, &app_schema, &data, NULL, l->err))
        return -1;
    one.d = data;
    one.app = &one.d->app;
    apply_variant(one.d, &one.d->variants[nth]);
    l->app->variants[l->app->nvariants++] = one.app;
    if (load_definition(&one, l->app->file, defines))
        return -1;
    one.app->variant = xstrdup(v->name);
    name = hrun_strf("%s.%s", one.app->name, v->name);
    free(one.app->name);
    one.app->name = name;
    return 0;
}

int hrun_app_parse(const char *name, const char *text, size_t len, char *const *defines, struct hrun_app **out,
                   struct hrun_error *err)
{
    struct hrun_yaml *marks = NULL;
    struct hrun_load l = { .err = err };
    void *data;
    int rc;

    if (hrun_yaml_parse(name, text, len, &app_schema, &data, &marks, err))
        return -1;
    l.d = data;
    l.app = &l.d->app;
    l.marks = marks;
    l.app->variants = xcalloc((size_t)l.d->nvariants + 1, sizeof *l.app->variants);
    rc = load_definition(&l, name, defines);
    for (unsigned i = 0; i < l.d->nvariants && !rc; i++)
        rc = load_variant(&l, i, defines);
    if (rc)
        hrun_app_destroy(l.app);
    else
        *out = l.app;
    hrun_yaml_free(&app_schema, NULL, marks);
    return rc;
}

int hrun_app_load(const char *file, char *const *defines, struct hrun_app **out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    return hrun_file_read(file, (size_t)16 << 20, &text, err) ? -1
           : hrun_app_parse(file, text.data, text.len, defines, out, err);
}

static void destroy_terms(struct hrun_terms *t)
{
    for (int i = 0; i < t->n; i++)
        hrun_expr_destroy(t->v[i].expr);
    free(t->v);
}

void hrun_app_destroy(struct hrun_app *app)
{
    if (!app)
        return;

    struct hrun_expr *const exprs[] = {
        app->rule, app->memory, app->time.value, app->law.ring.local, app->law.ring.step,
        app->law.ring.bytes, app->law.weak.rows, app->law.weak.unit, app->law.weak.memory, app->shares.units,
        app->shares.min, app->shares.memory
    };

    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
        hrun_expr_destroy(exprs[i]);
    destroy_terms(&app->np);
    destroy_terms(&app->nt);
    destroy_terms(&app->pt);
    hrun_formula_destroy(app->law.formula);
    free(app->consts);
    free(app->run.presets);
    free(app->run.prepare);
    free(app->run.threads);
    free(app->file);
    free(app->variant);
    for (int i = 0; i < app->nvariants; i++)
        hrun_app_destroy(app->variants[i]);
    free(app->variants);
    hrun_yaml_free(&app_schema, app, NULL);     /* app is the first member of its definition */
}
