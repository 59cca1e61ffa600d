/* template.c - {N}, {P}, {shares} and {constant} in texts; see app.h for the contracts */
#include "app/internal.h"

#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hrun_app_add_value(struct hrun_buf *out, double value)
{
    char *s;

    if (value == floor(value) && fabs(value) <= (double)HRUN_COUNT_MAX) {
        hrun_buf_addf(out, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    s = hrun_strf("%.15g", value);
    if (!s) {
        out->failed = 1;
        return;
    }
    if (strtod(s, NULL) == value)
        hrun_buf_adds(out, s);
    else
        hrun_buf_addf(out, "%.17g", value);
    free(s);
}

void hrun_app_consts_text(const struct hrun_app *app, struct hrun_buf *out)
{
    for (int i = 0; i < app->nconsts; i++) {
        hrun_buf_addf(out, "%s%s=", i ? "," : "", app->consts[i].name);
        hrun_app_add_value(out, app->consts[i].value);
    }
    if (app->threads_fill)
        hrun_buf_addf(out, "%sthreads:%s", app->nconsts ? "," : "", app->threads ? app->threads : "fill");
    if (app->variant)
        hrun_buf_addf(out, "%svariant:%s", app->nconsts || app->threads_fill ? "," : "", app->variant);
}

/* The length of the name in braces at s ("{name}"), or 0. */
static size_t name_length(const char *s)
{
    size_t n = 1;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return s[n] == '}' && n > 1 && !isdigit((unsigned char)s[1]) ? n - 1 : 0;
}

static int is(const char *name, const char *s, size_t len)
{
    return strlen(name) == len && !memcmp(name, s, len);
}

/* Does name[len] stand for something? */
static int is_known(const struct hrun_app *app, const char *name, size_t len)
{
    if (is("N", name, len) || is("P", name, len) || is("shares", name, len))
        return 1;
    for (int i = 0; app && i < app->nconsts; i++)
        if (is(app->consts[i].name, name, len))
            return 1;
    return 0;
}

/* Append the value of a known name. */
static int add(const struct hrun_app *app, const char *name, size_t len, const struct hrun_app_values *values,
               struct hrun_buf *out, struct hrun_error *err)
{
    if (is("N", name, len) && values->N == 0)
        return hrun_fail(err, HRUN_EINVAL, "{N} is the problem size, which is not known: it needs -N SIZE");
    if (len == 1 && (*name == 'N' || *name == 'P')) {
        hrun_buf_addf(out, "%" PRId64, *name == 'N' ? values->N : values->P);
        return 0;
    }
    if (is("shares", name, len)) {
        if (values->shares)
            hrun_buf_adds(out, values->shares);
        else
            hrun_buf_addf(out, "%" PRId64 "*1", values->P);
        return 0;
    }
    for (int i = 0; i < app->nconsts; i++)
        if (is(app->consts[i].name, name, len))
            hrun_app_add_value(out, app->consts[i].value);
    return 0;
}

static int fail_unknown(const struct hrun_app *app, const char *name, size_t len, struct hrun_error *err)
{
    struct hrun_buf list = HRUN_BUF_INIT;

    for (int i = 0; i < app->nconsts; i++)
        hrun_buf_addf(&list, ", {%s}", app->consts[i].name);
    hrun_fail(err, HRUN_EINVAL, "unknown word {%.*s} (known: {N}, {P}, {shares}%s); a plain brace is written '{{'",
              (int)len, name, list.data);
    hrun_buf_release(&list);
    return -1;
}

/* Append text expanded. *where: the place of a mistake. */
static int expand(const struct hrun_app *app, const char *text, const struct hrun_app_values *values,
                  struct hrun_buf *out, const char **where, struct hrun_error *err)
{
    const char *s = text;

    while (*s) {
        size_t plain = strcspn(s, "{"), len;

        hrun_buf_add(out, s, plain);
        s += plain;
        *where = s;
        if (!*s)
            break;
        if (s[1] == '{') {
            hrun_buf_addc(out, '{');
            s += 2;
            continue;
        }
        len = name_length(s);
        if (len == 0)
            return hrun_fail(err, HRUN_EINVAL, "'{' does not begin a word in braces; a plain brace is "
                             "written '{{'");
        if (!is_known(app, s + 1, len))
            return fail_unknown(app, s + 1, len, err);
        if (add(app, s + 1, len, values, out, err))
            return -1;
        s += len + 2;
    }
    return out->failed ? hrun_fail_nomem(err) : 0;
}

int hrun_template_check(const struct hrun_app *app, const char *text, int *offset, struct hrun_error *err)
{
    struct hrun_buf out = HRUN_BUF_INIT;
    const char *where = text;
    int rc = expand(app, text, &(struct hrun_app_values){ 1, 1, NULL }, &out, &where, err);

    if (rc)
        *offset = (int)(where - text);
    hrun_buf_release(&out);
    return rc;
}

int hrun_app_expand(const struct hrun_app *app, const char *text, const struct hrun_app_values *values,
                    struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf mine = HRUN_BUF_INIT;
    const char *where;
    int rc = expand(app, text, values, &mine, &where, err);

    if (!rc)
        hrun_buf_add(out, mine.data, mine.len);
    hrun_buf_release(&mine);
    return rc || !out->failed ? rc : hrun_fail_nomem(err);
}

int hrun_app_expand_word(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                         struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_buf mine = HRUN_BUF_INIT;
    const char *s = word;
    int rc = -1;

    while (*s) {
        int literal = s[0] == '{' && s[1] == '{';
        size_t len = *s == '{' ? name_length(s + literal) : 0;

        if (len == 0 || !is_known(app, s + literal + 1, len)) {
            hrun_buf_addc(&mine, *s++);
            continue;
        }
        s += literal;
        if (literal)
            hrun_buf_add(&mine, s, len + 2);
        else if (add(app, s + 1, len, values, &mine, err))
            goto out;
        s += len + 2;
    }
    if (!mine.failed)
        hrun_buf_add(out, mine.data, mine.len);
    rc = mine.failed || out->failed ? hrun_fail_nomem(err) : 0;
out:
    hrun_buf_release(&mine);
    return rc;
}
