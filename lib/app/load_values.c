/* load_values.c - the names, constants, numbers and words of a definition; see internal.h for the contracts */
#include "app/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hrun_app_is_name(const char *s)
{
    size_t len = strlen(s);

    return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len && *s && !strchr("._-", *s) &&
           !(len >= 5 && !strcmp(s + len - 5, ".yaml"));
}

static int load_builds(const struct hrun_load *l)
{
    struct hrun_app *app = l->app;
    char path[64];

    app->builds = xcalloc(l->raw->builds_count + 1u, sizeof *app->builds);
    for (unsigned i = 0; i < l->raw->builds_count; i++) {
        const struct raw_build *b = &l->raw->builds[i];

        snprintf(path, sizeof path, "builds[%u].%s", i, *b->on ? "program" : "on");
        if (!*b->on || !*b->program)
            return hrun_load_bad(l, path, "a build says on which sub-cluster or machine it runs, and which program it "
                                 "is: {on: aarch64, program: ./solver.arm}");
        app->nbuilds = (int)i + 1;
        app->builds[i].on = xstrdup(b->on);
        app->builds[i].program = xstrdup(b->program);
    }
    return 0;
}

static int load_names(struct hrun_load *l, const char *file)
{
    const char *name = l->raw->name, *base = hrun_base_name(file);
    size_t len = strlen(base);
    char path[64];

    if (len > 5 && !strcmp(base + len - 5, ".yaml"))
        len -= 5;
    if (!hrun_app_is_name(name))
        return hrun_load_bad(l, "name", "'%s' cannot be a name: lower-case letters, digits, '.', '_' and '-', a letter "
                             "or digit first", name);
    if (strlen(name) != len || strncmp(name, base, len))
        return hrun_load_bad(l, "name", "the name '%s' is not that of the file: call the file %s.yaml, or write name: "
                             "%.*s", name, name, (int)len, base);
    for (unsigned i = 0; i < l->raw->programs_count; i++) {
        const char *p = l->raw->programs[i];
        snprintf(path, sizeof path, "programs[%u]", i);
        if (!*p || strchr(p, '/'))
            return hrun_load_bad(l, path, "'%s' is not the name of a program: it is compared without its folders", p);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(p, l->raw->programs[k]))
                return hrun_load_bad(l, path, "'%s' is listed twice", p);
    }
    l->app->name = xstrdup(name);
    l->app->title = hrun_load_text(l->raw->title);
    l->app->file = xstrdup(file);
    hrun_load_list(l->raw->programs, l->raw->programs_count, &l->app->programs, &l->app->nprograms);
    return load_builds(l);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hrun_const *)a)->name, ((const struct hrun_const *)b)->name);
}

/* The name, at path, of a constant or a derived value becomes that of the next entry of app->consts. */
static int add_const(struct hrun_load *l, const char *path, const char *name)
{
    struct hrun_app *app = l->app;

    if (!hrun_expr_is_name(name) || !strcmp(name, "N") || !strcmp(name, "P") || !strcmp(name, "T") ||
        !strcmp(name, "shares"))
        return hrun_load_bad(l, path, "'%s' cannot be the name of a constant: up to 100 letters, digits and '_', "
                             "no digit first, not a function, nor N, P, T or shares", name);
    for (int k = 0; k < app->nconsts; k++)
        if (!strcmp(name, app->consts[k].name))
            return hrun_load_bad(l, path, "'%s' is defined twice", name);
    app->consts[app->nconsts++].name = xstrdup(name);
    return 0;
}

/* Where the user's file says constant i. */
static int add_preset(struct hrun_load *l, unsigned i)
{
    const struct raw_const *c = &l->raw->constants[i];
    struct hrun_app_preset *p = &l->app->presets[l->app->npresets];
    unsigned k = 0;
    char path[64];

    snprintf(path, sizeof path, "constants[%u].%s", i, c->file ? "file" : "line");
    if (!c->file || c->line < 1)
        return c->file || c->line ? hrun_load_bad(l, path, "'file' and 'line', from 1, stand together: where a file of "
                                                  "the user's says the value") : 0;
    while (k < l->raw->files_count && strcmp(l->raw->files[k].path, c->file))
        k++;
    if (k == l->raw->files_count)
        return hrun_load_bad(l, path, "there is no '%s' under 'files'", c->file);
    l->app->npresets++;
    *p = (struct hrun_app_preset){ .name = xstrdup(c->name), .file = xstrdup(c->file), .line = c->line,
                                   .value = c->value };
    return 0;
}

static int load_consts(struct hrun_load *l)
{
    struct hrun_app *app = l->app;
    unsigned n = l->raw->constants_count;
    char path[64];

    app->consts = xcalloc((size_t)n + l->raw->derived_count + 1, sizeof *app->consts);
    app->presets = xcalloc((size_t)n + 1, sizeof *app->presets);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "constants[%u].name", i);
        if (add_const(l, path, l->raw->constants[i].name) || add_preset(l, i))
            return -1;
        app->consts[i].value = l->raw->constants[i].value;
    }
    qsort(app->consts, n, sizeof *app->consts, by_name);
    return 0;
}

/* Values that follow from N, P, constants and the values before them. */
static int load_derived(struct hrun_load *l)
{
    enum { DERIVED_MAX = 12 };
    static const char *const vars[] = { "N", "P" };
    struct hrun_app *app = l->app;
    const struct raw_step *v = l->raw->derived;
    char path[64], unknown[HRUN_EXPR_NAME_MAX + 32];

    /* Each use of a value is a copy of its expression, so that chains of them grow. */
    if (l->raw->derived_count > DERIVED_MAX)
        return hrun_load_bad(l, "derived", "there are %u derived values, and at most %d may be", l->raw->derived_count,
                             DERIVED_MAX);
    for (unsigned i = 0; i < l->raw->derived_count; i++) {
        struct hrun_error inner = { .code = HRUN_OK };
        struct hrun_expr *e;

        snprintf(path, sizeof path, "derived[%u].name", i);
        if (!strcmp(v[i].name, "M"))
            return hrun_load_bad(l, path, "'M' cannot be the name of a value: it is the number of processes per PE");
        if (add_const(l, path, v[i].name))
            return -1;
        snprintf(path, sizeof path, "derived[%u].is", i);
        e = hrun_expr_compile(v[i].is, vars, 2, app->consts, app->nconsts - 1, &inner);
        hrun_expr_destroy(e);
        for (unsigned k = i; !e && k < l->raw->derived_count; k++) {
            snprintf(unknown, sizeof unknown, "unknown variable '%.*s'", HRUN_EXPR_NAME_MAX, v[k].name);
            if (!strncmp(inner.text, unknown, strlen(unknown)))
                return hrun_load_bad(l, path, "'%s' uses '%s', which is not above it: a value may use those that stand "
                                     "before it", v[i].name, v[k].name);
        }
        if (!e)
            return hrun_load_fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
        app->consts[app->nconsts - 1].is = xstrdup(v[i].is);
    }
    return 0;
}

static void set_const(struct hrun_const *c, double value)
{
    c->value = value;
    free(c->is);
    c->is = NULL;
}

/* No file of the user's says the value of this constant. */
static void drop_preset(struct hrun_app *app, const char *name)
{
    for (int i = 0; i < app->npresets; i++)
        if (!strcmp(app->presets[i].name, name)) {
            free(app->presets[i].name);
            free(app->presets[i].file);
            app->presets[i--] = app->presets[--app->npresets];
        }
}

/* The values of a variant; they are what it is, so that they count before all others. */
static int load_own_values(struct hrun_load *l)
{
    const struct raw_variant *v = l->variant;

    for (unsigned i = 0; v && i < v->constants_count; i++) {
        struct hrun_const *c = hrun_app_find_const(l->app, v->constants[i].name, strlen(v->constants[i].name));
        char path[64];

        snprintf(path, sizeof path, "variants[%u].constants[%u].name", l->nth, i);
        if (!c)
            return hrun_load_bad(l, path, "there is no '%s' under 'constants' or 'derived'", v->constants[i].name);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(v->constants[k].name, c->name))
                return hrun_load_bad(l, path, "'%s' is defined twice", c->name);
        set_const(c, v->constants[i].value);
        drop_preset(l->app, c->name);
    }
    return 0;
}

/* -D NAME=VALUE; of two for one name the later counts. */
static int apply_define(struct hrun_load *l, const char *text)
{
    struct hrun_app *app = l->app;
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    const char *eq = strchr(text, '=');
    size_t len = eq ? (size_t)(eq - text) : strlen(text);
    struct hrun_const *c = hrun_app_find_const(app, text, len);
    char what[64];
    double value;

    if (!eq)
        return hrun_fail(l->err, HRUN_EINVAL, "-D %s has no value: write -D %s=VALUE", text, text);
    if (c) {
        snprintf(what, sizeof what, "-D %s", c->name);
        if (hrun_parse_number(what, eq + 1, &value, l->err))
            return -1;
        set_const(c, value);
        return 0;
    }
    for (int i = 0; i < app->nconsts; i++)
        hrun_buf_addf(&list, "%s%s", i ? ", " : "", app->consts[i].name);
    return hrun_fail(l->err, HRUN_EINVAL, "-D %.*s: %s has no constant of this name (%s%s)", (int)len, text,
                     app->name, app->nconsts ? "it has: " : "it has none", list.data);
}

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static int load_procs(struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    struct hrun_app *app = l->app;
    unsigned n = raw->procs_per_pe_count;
    char path[64];

    app->procs_per_pe = xcalloc(n + 1u, sizeof *app->procs_per_pe);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "procs_per_pe[%u]", i);
        if (raw->procs_per_pe[i] < 1)
            return hrun_load_bad(l, path, "%d processes on a PE: at least 1 is needed", raw->procs_per_pe[i]);
        if (raw->procs_per_pe[i] > HRUN_PROCS_PER_PE_MAX)
            return hrun_load_bad(l, path, "%d processes on a PE: at most %d are possible", raw->procs_per_pe[i],
                                 HRUN_PROCS_PER_PE_MAX);
        for (unsigned k = 0; k < i; k++)
            if (raw->procs_per_pe[k] == raw->procs_per_pe[i])
                return hrun_load_bad(l, path, "%d is listed twice", raw->procs_per_pe[i]);
        app->procs_per_pe[i] = raw->procs_per_pe[i];
    }
    if (n == 0)
        app->procs_per_pe[n++] = 1;
    app->nprocs_per_pe = (int)n;
    qsort(app->procs_per_pe, n, sizeof *app->procs_per_pe, by_int);
    return 0;
}

/* Which of the known words stands at key: its index; -1 is a mistake, which is told. */
static int load_choice(const struct hrun_load *l, const char *key, const char *word, const char *const *known)
{
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    const char *near;
    size_t n = 0;

    for (; known[n]; n++) {
        if (!strcmp(known[n], word))
            return (int)n;
        hrun_buf_addf(&list, "%s%s", n ? ", " : "", known[n]);
    }
    near = hrun_nearest(word, known, n);
    return hrun_load_bad(l, key, "'%s' is not known (known: %s)%s%s%s", word, list.data,
                         near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

const char *const hrun_app_family_names[] = { "npt", "weak", "ring", "analytic", NULL };
static const char *const scratch_names[] = { "link", "copy", "none", NULL };

static int load_choices(const struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    int family = raw->formula ? HRUN_APP_ANALYTIC : HRUN_APP_NPT, scratch = HRUN_APP_SCRATCH_LINK;

    if ((raw->family && (family = load_choice(l, "family", raw->family, hrun_app_family_names)) < 0) ||
        (raw->scratch && (scratch = load_choice(l, "scratch", raw->scratch, scratch_names)) < 0))
        return -1;
    l->app->family = (enum hrun_app_family)family;
    l->app->scratch = (enum hrun_app_scratch)scratch;
    return 0;
}

static int load_threads(struct hrun_load *l)
{
    const char *how = l->raw->threads;

    if (how && strcmp(how, "fill"))
        return hrun_load_bad(l, "threads", "'%s' is not known: write threads: fill, or leave the key out, and hrun "
                             "sets no number of threads", how);
    l->app->threads_fill = how != NULL;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* What a command has of its own, a definition for commands cannot say. */
static int check_of_command(const struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    const struct { const char *key; int given; } others[] = {
        { "family", raw->family != NULL }, { "memory", raw->memory != NULL }, { "threads", raw->threads != NULL },
        { "terms", raw->terms != NULL }, { "formula", raw->formula != NULL }, { "variants", raw->variants_count > 0 },
        { "builds", raw->builds_count > 0 }, { "constants", raw->constants_count > 0 },
        { "derived", raw->derived_count > 0 }, { "files", raw->files_count > 0 }, { "args", raw->args_count > 0 },
        { "stdin", raw->stdin_text != NULL }, { "scratch", raw->scratch != NULL }, { "shares", raw->shares != NULL },
        { "prepare", raw->prepare_count > 0 },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return hrun_load_bad(l, others[i].key, "a definition with size: command has no '%s': leave one of them out",
                                 others[i].key);
    return 0;
}

static int load_sizes(struct hrun_load *l)
{
    enum { FIXED, COMMAND, NUMBER };
    static const char *const known[] = { "fixed", "command", "number", NULL };
    const struct raw_app *raw = l->raw;
    int which = raw->size ? load_choice(l, "size", raw->size, known) : 0;
    unsigned n = raw->sizes_count;
    char path[64];

    if (which < 0)
        return -1;
    if (raw->size && which != NUMBER && n)
        return hrun_load_bad(l, "sizes", "with size: %s there are no other sizes: leave one of the keys out",
                             raw->size);
    l->app->sizes = xcalloc(n + 2u, sizeof *l->app->sizes);
    l->app->of_command = which == COMMAND;
    if (l->app->of_command && check_of_command(l))
        return -1;
    l->app->fixed = raw->size && which == FIXED;
    l->app->suits_pes = raw->size && !raw->procs_per_pe_count;
    if (l->app->fixed)
        l->app->sizes[l->app->nsizes++] = 1;
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "sizes[%u]", i);
        if (raw->sizes[i] < 1 || raw->sizes[i] > HRUN_COUNT_MAX)
            return hrun_load_bad(l, path, "a size is a whole number from 1 to %lld", (long long)HRUN_COUNT_MAX);
        for (unsigned k = 0; k < i; k++)
            if (raw->sizes[k] == raw->sizes[i])
                return hrun_load_bad(l, path, "the size %lld is listed twice", (long long)raw->sizes[i]);
        l->app->sizes[i] = raw->sizes[i];
    }
    if (n == 0)
        return 0;
    l->app->nsizes = (int)n;
    qsort(l->app->sizes, n, sizeof *l->app->sizes, by_size);
    return 0;
}

int hrun_load_values(struct hrun_load *l, const char *file, char *const *defines)
{
    if (load_names(l, file) || load_consts(l) || load_derived(l))
        return -1;
    for (char *const *d = defines; d && *d; d++)
        if (apply_define(l, *d))
            return -1;
    return load_own_values(l) || load_procs(l) || load_threads(l) || load_choices(l) || load_sizes(l) ? -1 : 0;
}
