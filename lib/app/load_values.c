/* load_values.c - the names, constants, numbers and words of a definition; see load.h for the contracts */
#include "app/load.h"

#include "app/template.h"
#include "base/alloc.h"
#include "base/file.h"
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

static int load_names(struct hrun_load *l)
{
    const struct hrun_app_programs *programs = &l->app->programs;
    const char *name = l->app->name, *base = hrun_base_name(l->app->file);
    size_t len = strlen(base);

    if (len > 5 && !strcmp(base + len - 5, ".yaml"))
        len -= 5;
    if (!hrun_app_is_name(name))
        return hrun_load_bad(l, "name", "'%s' cannot be a name: lower-case letters, digits, '.', '_' and '-', a letter "
                             "or digit first", name);
    if (strlen(name) != len || strncmp(name, base, len))
        return hrun_load_bad(l, "name", "the name '%s' is not that of the file: call the file %s.yaml, or write name: "
                             "%.*s", name, name, (int)len, base);
    for (int i = 0; i < programs->n; i++) {
        const char *p = programs->names[i], *path = hrun_load_at(l, "programs[%d]", i);

        if (!*p || strchr(p, '/'))
            return hrun_load_bad(l, path, "'%s' is not the name of a program: it is compared without its folders", p);
        for (int k = 0; k < i; k++)
            if (!strcmp(p, programs->names[k]))
                return hrun_load_bad(l, path, "'%s' is listed twice", p);
    }
    for (int i = 0; i < programs->nbuilds; i++)
        if (!*programs->builds[i].on || !*programs->builds[i].program)
            return hrun_load_bad(l, hrun_load_at(l, "builds[%d].%s", i, *programs->builds[i].on ? "program" : "on"),
                                 "a build says on which sub-cluster or machine it runs, and which program it is: "
                                 "{on: aarch64, program: ./solver.arm}");
    return 0;
}

static int compare_consts(const void *a, const void *b)
{
    return strcmp(((const struct hrun_const *)a)->name, ((const struct hrun_const *)b)->name);
}

/* Append a constant or a derived value. path: place of its name in the file. */
static int add_const(struct hrun_load *l, const char *path, const struct hrun_const *c)
{
    struct hrun_app *app = l->app;

    if (!hrun_expr_is_name(c->name) || !strcmp(c->name, "N") || !strcmp(c->name, "P") || !strcmp(c->name, "T") ||
        !strcmp(c->name, "shares"))
        return hrun_load_bad(l, path, "'%s' cannot be the name of a constant: up to 100 letters, digits and '_', "
                             "no digit first, not a function, nor N, P, T or shares", c->name);
    if (hrun_app_find_const(app, c->name, strlen(c->name)))
        return hrun_load_bad(l, path, "'%s' is defined twice", c->name);
    app->consts[app->nconsts++] = *c;
    return 0;
}

/* Append the preset of constant i, if it has one. */
static int add_preset(struct hrun_load *l, unsigned i)
{
    const struct raw_const *c = &l->d->constants[i];
    struct hrun_app_run *run = &l->app->run;
    const char *path = hrun_load_at(l, "constants[%u].%s", i, c->file ? "file" : "line");
    int k = 0;

    if (!c->file && !c->line)
        return 0;
    if (!c->file || c->line < 1)
        return hrun_load_bad(l, path, "give both 'file' and 'line' (from 1): the place of the value in the user's "
                             "file");
    while (k < run->nfiles && strcmp(run->files[k].path, c->file))
        k++;
    if (k == run->nfiles)
        return hrun_load_bad(l, path, "there is no '%s' under 'files'", c->file);
    run->presets[run->npresets++] = (struct hrun_app_preset){ c->name, c->file, c->line, c->value };
    return 0;
}

static int load_consts(struct hrun_load *l)
{
    struct hrun_app *app = l->app;
    const struct raw_const *v = l->d->constants;
    unsigned n = l->d->nconstants;

    app->consts = xcalloc((size_t)n + (size_t)l->d->nderived + 1, sizeof *app->consts);
    app->run.presets = xcalloc((size_t)n + 1, sizeof *app->run.presets);
    for (unsigned i = 0; i < n; i++) {
        struct hrun_const c = { v[i].name, v[i].value, NULL };

        if (add_const(l, hrun_load_at(l, "constants[%u].name", i), &c) || add_preset(l, i))
            return -1;
    }
    qsort(app->consts, n, sizeof *app->consts, compare_consts);
    return 0;
}

/* Load `derived`: values computed from N, P, constants and earlier values. */
static int load_derived(struct hrun_load *l)
{
    enum { DERIVED_MAX = 12 };
    static const char *const vars[] = { "N", "P" };
    struct hrun_app *app = l->app;
    const struct hrun_named_expr *v = l->d->derived;
    int n = l->d->nderived;

    /* Each use of a value copies its expression, so chains of values become long. */
    if (n > DERIVED_MAX)
        return hrun_load_bad(l, "derived", "there are %d derived values, and at most %d may be", n, DERIVED_MAX);
    for (int i = 0; i < n; i++) {
        const char *path = hrun_load_at(l, "derived[%d].name", i);
        char unknown[HRUN_EXPR_NAME_MAX + 32];
        struct hrun_error inner;
        struct hrun_expr *e;

        if (!strcmp(v[i].name, "M"))
            return hrun_load_bad(l, path, "'M' cannot be the name of a value: it is the number of processes per PE");
        if (add_const(l, path, &(struct hrun_const){ v[i].name, 0, v[i].is }))
            return -1;
        path = hrun_load_at(l, "derived[%d].is", i);
        e = hrun_expr_compile(v[i].is, vars, 2, app->consts, app->nconsts - 1, &inner);
        hrun_expr_destroy(e);
        for (int k = i; !e && k < n; k++) {
            snprintf(unknown, sizeof unknown, "unknown variable '%.*s'", HRUN_EXPR_NAME_MAX, v[k].name);
            if (!strncmp(inner.text, unknown, strlen(unknown)))
                return hrun_load_bad(l, path, "'%s' uses '%s', which is not above it: a value may use those that stand "
                                     "before it", v[i].name, v[k].name);
        }
        if (!e)
            return hrun_load_bad_expr(l, path, &inner);
    }
    return 0;
}

/* Set the constants of a variant. They override all other values, so their presets are dropped. */
static int load_own_values(struct hrun_load *l)
{
    const struct raw_variant *v = l->variant;
    struct hrun_app_run *run = &l->app->run;

    for (unsigned i = 0; v && i < v->nconstants; i++) {
        const char *name = v->constants[i].name, *path = hrun_load_at(l, "variants[%u].constants[%u].name", l->nth, i);
        struct hrun_const *c = hrun_app_find_const(l->app, name, strlen(name));

        if (!c)
            return hrun_load_bad(l, path, "there is no '%s' under 'constants' or 'derived'", name);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(v->constants[k].name, name))
                return hrun_load_bad(l, path, "'%s' is defined twice", name);
        c->value = v->constants[i].value;
        c->is = NULL;
        for (int p = 0; p < run->npresets; p++)
            if (!strcmp(run->presets[p].name, name))
                run->presets[p--] = run->presets[--run->npresets];
    }
    return 0;
}

/* Apply -D NAME=VALUE. The last -D for a name holds. */
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
        c->value = value;
        c->is = NULL;
        return 0;
    }
    for (int i = 0; i < app->nconsts; i++)
        hrun_buf_addf(&list, "%s%s", i ? ", " : "", app->consts[i].name);
    return hrun_fail(l->err, HRUN_EINVAL, "-D %.*s: %s has no constant of this name (%s%s)", (int)len, text,
                     app->name, app->nconsts ? "it has: " : "it has none", list.data);
}

static int load_procs(struct hrun_load *l)
{
    struct hrun_app *app = l->app;
    int *v = app->procs_per_pe;

    app->suits_pes = l->d->size && !app->nprocs_per_pe;
    if (!app->nprocs_per_pe) {
        app->procs_per_pe = xcalloc(1, sizeof *v);
        app->procs_per_pe[app->nprocs_per_pe++] = 1;
        return 0;
    }
    for (int i = 0; i < app->nprocs_per_pe; i++) {
        const char *path = hrun_load_at(l, "procs_per_pe[%d]", i);

        if (v[i] < 1)
            return hrun_load_bad(l, path, "%d processes on a PE: at least 1 is needed", v[i]);
        if (v[i] > HRUN_PROCS_PER_PE_MAX)
            return hrun_load_bad(l, path, "%d processes on a PE: at most %d are possible", v[i],
                                 HRUN_PROCS_PER_PE_MAX);
        for (int k = 0; k < i; k++)
            if (v[k] == v[i])
                return hrun_load_bad(l, path, "%d is listed twice", v[i]);
    }
    qsort(v, (size_t)app->nprocs_per_pe, sizeof *v, hrun_compare_ints);
    return 0;
}

static int order_sizes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Refuse keys that a definition with `size: command` cannot have. */
static int check_of_command(const struct hrun_load *l)
{
    const struct definition *d = l->d;
    const struct hrun_app_run *run = &l->app->run;
    const struct { const char *key; int given; } others[] = {
        { "family", d->family }, { "memory", d->memory != NULL }, { "threads", run->threads_fill },
        { "terms", d->terms != NULL }, { "formula", d->formula != NULL }, { "variants", d->nvariants > 0 },
        { "builds", l->app->programs.nbuilds }, { "constants", d->nconstants > 0 }, { "derived", d->nderived },
        { "files", run->nfiles }, { "args", run->nargs }, { "stdin", run->stdin_text != NULL },
        { "scratch", d->scratch }, { "shares", d->shares != NULL }, { "prepare", d->nprepare > 0 },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return hrun_load_bad(l, others[i].key, "a definition with size: command has no '%s': leave one of them out",
                                 others[i].key);
    return 0;
}

static int load_sizes(struct hrun_load *l)
{
    struct hrun_app_sizes *sizes = &l->app->sizes;

    l->app->fixed = l->d->size == SIZE_FIXED;
    sizes->of_command = l->d->size == SIZE_COMMAND;
    if (sizes->n && (l->app->fixed || sizes->of_command))
        return hrun_load_bad(l, "sizes", "with size: %s there are no other sizes: leave one of the keys out",
                             l->app->fixed ? "fixed" : "command");
    if (sizes->of_command && check_of_command(l))
        return -1;
    if (l->app->fixed) {
        free(sizes->v);      /* an empty list */
        sizes->v = xcalloc(1, sizeof *sizes->v);
        sizes->v[sizes->n++] = 1;
    }
    for (int i = 0; i < sizes->n; i++) {
        const char *path = hrun_load_at(l, "sizes[%d]", i);

        if (sizes->v[i] < 1 || sizes->v[i] > HRUN_COUNT_MAX)
            return hrun_load_bad(l, path, "a size is a whole number from 1 to %lld", (long long)HRUN_COUNT_MAX);
        for (int k = 0; k < i; k++)
            if (sizes->v[k] == sizes->v[i])
                return hrun_load_bad(l, path, "the size %lld is listed twice", (long long)sizes->v[i]);
    }
    if (sizes->n)
        qsort(sizes->v, (size_t)sizes->n, sizeof *sizes->v, order_sizes);
    return 0;
}

int hrun_load_values(struct hrun_load *l, char *const *defines)
{
    const struct definition *d = l->d;
    int family = d->family ? d->family - 1 : d->formula ? HRUN_APP_ANALYTIC : HRUN_APP_NPT;

    l->app->family = (enum hrun_app_family)family;
    l->app->run.scratch = d->scratch ? (enum hrun_app_scratch)(d->scratch - 1) : HRUN_APP_SCRATCH_LINK;
    if (load_names(l) || load_consts(l) || load_derived(l))
        return -1;
    for (char *const *define = defines; define && *define; define++)
        if (apply_define(l, *define))
            return -1;
    return load_own_values(l) || load_procs(l) || load_sizes(l) ? -1 : 0;
}
