/* load_pieces.c - what the files that load a definition share; see load.h */
#include "app/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *hrun_load_copy(const struct hrun_load *l, const char *s)
{
    char *c = strdup(s);

    if (!c)
        hrun_fail_nomem(l->err);
    return c;
}

int hrun_load_text(const struct hrun_load *l, const char *s, char **out)
{
    *out = s ? hrun_load_copy(l, s) : NULL;
    return s && !*out ? -1 : 0;
}

int hrun_load_list(const struct hrun_load *l, char *const *from, unsigned n, char ***out, int *nout)
{
    char **v = calloc(n + 1u, sizeof *v);

    if (!v)
        return hrun_fail_nomem(l->err);
    *out = v;
    for (unsigned i = 0; i < n; i++) {
        v[i] = hrun_load_copy(l, from[i]);
        if (!v[i])
            return -1;
        *nout = (int)i + 1;
    }
    return 0;
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

    if (inner->code == HRUN_ENOMEM)
        return hrun_fail_nomem(l->err);
    return hrun_yaml_fail(l->marks, hrun_load_place(l, path, room), offset, l->err, HRUN_EPARSE, "%s", inner->text);
}

int hrun_load_check_template(const struct hrun_load *l, const char *path, const char *text)
{
    struct hrun_error inner = { .code = HRUN_OK };
    int offset = 0;

    return hrun_template_check(l->app, text, &offset, &inner) ? hrun_load_fail_inside(l, path, offset, &inner) : 0;
}
