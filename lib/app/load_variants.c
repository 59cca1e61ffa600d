/* load_variants.c - the algorithms of a definition; see load.h */
#include "app/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static int load_variant(struct hrun_load *l, const char *file, unsigned nth, char *const *defines, int ndefines)
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
    one.app = calloc(1, sizeof *one.app);
    if (!one.app)
        return hrun_fail_nomem(l->err);
    l->app->variants[l->app->nvariants++] = one.app;
    if (hrun_load_all(&one, file, defines, ndefines) || hrun_load_text(l, v->name, &one.app->variant))
        return -1;
    name = hrun_strf("%s.%s", one.app->name, v->name);
    if (!name)
        return hrun_fail_nomem(l->err);
    free(one.app->name);
    one.app->name = name;
    return 0;
}

int hrun_load_variants(struct hrun_load *l, const char *file, char *const *defines, int ndefines)
{
    unsigned n = l->raw->variants_count;

    l->app->variants = calloc((size_t)n + 1, sizeof *l->app->variants);
    if (!l->app->variants)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < n; i++)
        if (load_variant(l, file, i, defines, ndefines))
            return -1;
    return 0;
}
