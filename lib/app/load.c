/* load.c - a definition as it stands in the file -> a checked struct hrun_app; see app.h for the contracts */
#include "app/internal.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1000, VARIANTS_MAX = 32 };  /* entries of a list are compared with each other */

/* hrun-app(5) describes the keys. Empty texts are refused below, where what they are for is known. */
#define TEXT(key, s, m) { HRUN_KEY(key, s, m), .empty = 1 }
#define MAYBE_TEXT(key, s, m) { HRUN_KEY(key, s, m), .empty = 1, .optional = 1 }
#define MAYBE_LIST(key, s, m, ...) { HRUN_KEY_LIST(key, s, m, m##_count), .optional = 1, .max = LIST_MAX, __VA_ARGS__ }

static const struct hrun_key terms_keys[] = {
    { HRUN_KEY_LIST("np", struct raw_terms, np, np_count), .empty = 1, .min = 1, .max = LIST_MAX },
    { HRUN_KEY_LIST("n", struct raw_terms, n, n_count), .empty = 1, .min = 1, .max = LIST_MAX },
    MAYBE_LIST("p", struct raw_terms, p, .empty = 1, .min = 1),
    { NULL }
};

static const struct hrun_key file_keys[] = {
    TEXT("path", struct raw_file, path), TEXT("content", struct raw_file, content), { NULL }
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
    TEXT("name", struct raw_step, name), TEXT("is", struct raw_step, is), { NULL }
};

/* Of a variant: in place of the definition's. */
static const struct hrun_key value_keys[] = {
    TEXT("name", struct raw_const, name), { HRUN_KEY("value", struct raw_const, value) }, { NULL }
};

static const struct hrun_key variant_keys[] = {
    TEXT("name", struct raw_variant, name),
    MAYBE_TEXT("title", struct raw_variant, title),
    MAYBE_TEXT("rule", struct raw_variant, rule),
    MAYBE_TEXT("memory", struct raw_variant, memory),
    MAYBE_LIST("args", struct raw_variant, args, .empty = 1),
    MAYBE_LIST("constants", struct raw_variant, constants, .keys = value_keys),
    { HRUN_KEY_PTR("terms", struct raw_variant, terms), .keys = terms_keys, .optional = 1 },
    MAYBE_LIST("where", struct raw_variant, where, .keys = step_keys),
    MAYBE_TEXT("formula", struct raw_variant, formula),
    { NULL }
};

static const struct hrun_key weak_keys[] = {
    MAYBE_TEXT("rows", struct raw_weak, rows), MAYBE_TEXT("unit", struct raw_weak, unit),
    MAYBE_TEXT("memory", struct raw_weak, memory), { NULL }
};

static const struct hrun_key shares_keys[] = {
    TEXT("units", struct raw_shares, units), MAYBE_TEXT("min", struct raw_shares, min),
    MAYBE_TEXT("memory", struct raw_shares, memory), MAYBE_TEXT("deal", struct raw_shares, deal), { NULL }
};

static const struct hrun_key prepare_keys[] = {
    MAYBE_LIST("run", struct raw_prepare, run, .min = 1), MAYBE_LIST("mpi", struct raw_prepare, mpi, .min = 1), { NULL }
};

static const struct hrun_key build_keys[] = {
    TEXT("on", struct raw_build, on), TEXT("program", struct raw_build, program), { NULL }
};

static const struct hrun_key app_keys[] = {
    TEXT("name", struct raw_app, name),
    MAYBE_TEXT("title", struct raw_app, title),
    MAYBE_LIST("programs", struct raw_app, programs, .empty = 1),
    MAYBE_LIST("builds", struct raw_app, builds, .keys = build_keys),
    MAYBE_TEXT("family", struct raw_app, family),
    MAYBE_TEXT("rule", struct raw_app, rule),
    MAYBE_LIST("procs_per_pe", struct raw_app, procs_per_pe, .min = 1),
    MAYBE_TEXT("memory", struct raw_app, memory),
    MAYBE_TEXT("threads", struct raw_app, threads),
    { HRUN_KEY_PTR("terms", struct raw_app, terms), .keys = terms_keys, .optional = 1 },
    { HRUN_KEY_PTR("ring", struct raw_app, ring), .keys = ring_keys, .optional = 1 },
    MAYBE_LIST("where", struct raw_app, where, .keys = step_keys),
    MAYBE_TEXT("formula", struct raw_app, formula),
    { HRUN_KEY_LIST("variants", struct raw_app, variants, variants_count), .keys = variant_keys, .optional = 1,
      .min = 1, .max = VARIANTS_MAX },
    { HRUN_KEY_PTR("weak", struct raw_app, weak), .keys = weak_keys, .optional = 1 },
    { HRUN_KEY_PTR("shares", struct raw_app, shares), .keys = shares_keys, .optional = 1 },
    MAYBE_LIST("constants", struct raw_app, constants, .keys = const_keys),
    MAYBE_LIST("derived", struct raw_app, derived, .keys = step_keys),
    MAYBE_LIST("files", struct raw_app, files, .keys = file_keys),
    MAYBE_LIST("prepare", struct raw_app, prepare, .keys = prepare_keys),
    MAYBE_LIST("args", struct raw_app, args, .empty = 1),
    MAYBE_TEXT("stdin", struct raw_app, stdin_text),
    MAYBE_TEXT("scratch", struct raw_app, scratch),
    { HRUN_KEY_PTR("time", struct raw_app, time), .keys = time_keys, .optional = 1 },
    MAYBE_TEXT("size", struct raw_app, size),
    { HRUN_KEY_LIST("sizes", struct raw_app, sizes, sizes_count), .optional = 1, .max = LIST_MAX },
    { NULL }
};

static const struct hrun_schema app_schema = { app_keys, sizeof(struct raw_app) };

/* ------------------------------------------------------------------ copies, and errors with their place */

char *hrun_load_text(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

void hrun_load_list(char *const *from, unsigned n, char ***out, int *nout)
{
    *out = xcalloc(n + 1u, sizeof **out);
    for (unsigned i = 0; i < n; i++)
        (*out)[i] = xstrdup(from[i]);
    *nout = (int)n;
}

const char *hrun_load_place(const struct hrun_load *l, const char *path, char room[HRUN_LOAD_PLACE])
{
    const struct raw_variant *v = l->variant;
    const struct { const char *key; int given; } keys[] = {
        { "title", v && v->title }, { "rule", v && v->rule }, { "memory", v && v->memory },
        { "args", v && v->args_count }, { "terms", v && v->terms }, { "where", v && v->where_count },
        { "formula", v && v->formula },
    };
    size_t len = strcspn(path, ".[");

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].given && strlen(keys[i].key) == len && !strncmp(keys[i].key, path, len)) {
            snprintf(room, HRUN_LOAD_PLACE, "variants[%u].%s", l->nth, path);
            return room;
        }
    return path;
}

int hrun_load_bad(const struct hrun_load *l, const char *path, const char *fmt, ...)
{
    char text[HRUN_ERROR_TEXT], room[HRUN_LOAD_PLACE];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hrun_yaml_fail(l->marks, hrun_load_place(l, path, room), 0, l->err, HRUN_EPARSE, "%s", text);
}

int hrun_load_fail_inside(const struct hrun_load *l, const char *path, int offset, const struct hrun_error *inner)
{
    char room[HRUN_LOAD_PLACE];

    return hrun_yaml_fail(l->marks, hrun_load_place(l, path, room), offset, l->err, HRUN_EPARSE, "%s", inner->text);
}

int hrun_load_check_template(const struct hrun_load *l, const char *path, const char *text)
{
    struct hrun_error inner = { .code = HRUN_OK };
    int offset = 0;

    return hrun_template_check(l->app, text, &offset, &inner) ? hrun_load_fail_inside(l, path, offset, &inner) : 0;
}

/* ------------------------------------------------------------------ the whole */

/* All of a definition, or of a variant, but its variants. */
static int load_definition(struct hrun_load *l, const char *file, char *const *defines)
{
    return hrun_load_values(l, file, defines) || hrun_load_model(l) || hrun_load_inputs(l) ? -1 : 0;
}

static int check_variant(const struct hrun_load *l, const struct raw_app *raw, unsigned nth)
{
    const struct raw_variant *v = &raw->variants[nth];
    char path[64];

    snprintf(path, sizeof path, "variants[%u].name", nth);
    if (!hrun_app_is_name(v->name) || strchr(v->name, '.'))
        return hrun_load_bad(l, path, "'%s' cannot be the name of a variant: lower-case letters, digits, '_' and '-', "
                             "a letter or digit first", v->name);
    for (unsigned k = 0; k < nth; k++)
        if (!strcmp(v->name, raw->variants[k].name))
            return hrun_load_bad(l, path, "there are two variants '%s'", v->name);
    return 0;
}

/* A variant is a definition of its own, with its keys in place of the definition's. */
static int load_variant(struct hrun_load *l, const char *file, unsigned nth, char *const *defines)
{
    const struct raw_variant *v = &l->raw->variants[nth];
    struct raw_app raw = *l->raw;
    struct hrun_load one = { .raw = &raw, .variant = v, .nth = nth, .marks = l->marks, .err = l->err };
    char *name;

    if (check_variant(l, l->raw, nth))
        return -1;
    raw.variants = NULL;
    raw.variants_count = 0;
    raw.title = v->title ? v->title : raw.title;
    raw.rule = v->rule ? v->rule : raw.rule;
    raw.memory = v->memory ? v->memory : raw.memory;
    if (v->args_count) {
        raw.args = v->args;
        raw.args_count = v->args_count;
    }
    if (v->terms || v->formula) {
        raw.terms = v->terms;
        raw.formula = v->formula;
    }
    if (v->where_count || v->terms) {
        raw.where = v->where;
        raw.where_count = v->where_count;
    }
    one.app = xcalloc(1, sizeof *one.app);
    l->app->variants[l->app->nvariants++] = one.app;
    if (load_definition(&one, file, defines))
        return -1;
    one.app->variant = xstrdup(v->name);
    name = hrun_strf("%s.%s", one.app->name, v->name);
    free(one.app->name);
    one.app->name = name;
    return 0;
}

static int load_variants(struct hrun_load *l, const char *file, char *const *defines)
{
    unsigned n = l->raw->variants_count;

    l->app->variants = xcalloc((size_t)n + 1, sizeof *l->app->variants);
    for (unsigned i = 0; i < n; i++)
        if (load_variant(l, file, i, defines))
            return -1;
    return 0;
}

/* Make the definition of what was read, and free that. */
static int make_definition(const char *file, void *data, struct hrun_yaml *marks, char *const *defines,
                           struct hrun_app **out, struct hrun_error *err)
{
    struct hrun_load l = { .raw = data, .marks = marks, .app = xcalloc(1, sizeof *l.app), .err = err };
    int rc = load_definition(&l, file, defines) || load_variants(&l, file, defines) ? -1 : 0;

    if (rc)
        hrun_app_destroy(l.app);
    else
        *out = l.app;
    hrun_yaml_free(&app_schema, data, marks);
    return rc;
}

int hrun_app_load(const char *file, char *const *defines, struct hrun_app **out,
                  struct hrun_error *err)
{
    struct hrun_yaml *marks = NULL;
    void *data = NULL;

    return hrun_yaml_load(file, &app_schema, &data, &marks, err) ? -1
           : make_definition(file, data, marks, defines, out, err);
}

int hrun_app_parse(const char *name, const char *text, size_t len, char *const *defines,
                   struct hrun_app **out, struct hrun_error *err)
{
    struct hrun_yaml *marks = NULL;
    void *data = NULL;

    return hrun_yaml_parse(name, text, len, &app_schema, &data, &marks, err) ? -1
           : make_definition(name, data, marks, defines, out, err);
}
