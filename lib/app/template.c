/* template.c - {N}, {P}, {shares}, {constant} and {expression} in texts; see template.h for the contracts */
#include "app/template.h"

#include "base/alloc.h"
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void hrun_app_add_value(struct hrun_buf *out, double value)
{
    char s[32];

    if (value == floor(value) && fabs(value) <= (double)HRUN_COUNT_MAX) {
        hrun_buf_addf(out, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    snprintf(s, sizeof s, "%.15g", value);
    if (strtod(s, NULL) == value)
        hrun_buf_adds(out, s);
    else
        hrun_buf_addf(out, "%.17g", value);
}

void hrun_app_consts_text(const struct hrun_app *app, struct hrun_buf *out)
{
    const char *comma = "";

    for (int i = 0; i < app->nconsts; i++) {
        if (app->consts[i].is)
            continue;
        hrun_buf_addf(out, "%s%s=", comma, app->consts[i].name);
        hrun_app_add_value(out, app->consts[i].value);
        comma = ",";
    }
    if (app->run.threads_fill) {
        hrun_buf_addf(out, "%sthreads:%s", comma, app->run.threads ? app->run.threads : "fill");
        comma = ",";
    }
    if (app->variant)
        hrun_buf_addf(out, "%svariant:%s", comma, app->variant);
}

static const char SHARES[] = "shares:";
#define FORMS "{shares:FORM}, by which they are " HRUN_SHARE_FORMS

/* 1 if name[len] is "shares:FORM", else 0. */
static int has_form(const char *name, size_t len)
{
    return len >= sizeof SHARES - 1 && !memcmp(name, SHARES, sizeof SHARES - 1);
}

/* The length of the name in braces at s ("{name}", "{shares:FORM}"), or 0. */
static size_t name_length(const char *s)
{
    size_t n = 1;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    if (s[n] == ':' && has_form(s + 1, n))
        n += strcspn(s + n, "{}\n");
    return s[n] == '}' && n > 1 && !isdigit((unsigned char)s[1]) ? n - 1 : 0;
}

static int name_is(const char *name, const char *s, size_t len)
{
    return strlen(name) == len && !memcmp(name, s, len);
}

struct expansion {
    const struct hrun_app *app;
    const struct hrun_app_values *values;   /* NULL: the template is only checked */
    struct hrun_buf *out;
    int uses_size, uses_shares;
};

struct hrun_const *hrun_app_find_const(const struct hrun_app *app, const char *name, size_t len)
{
    for (int i = 0; app && i < app->nconsts; i++)
        if (name_is(app->consts[i].name, name, len))
            return &app->consts[i];
    return NULL;
}

/* 1 if name[len] is N, P, shares, shares:FORM or a constant, else 0. */
static int is_known_name(const struct hrun_app *app, const char *name, size_t len)
{
    return name_is("N", name, len) || name_is("P", name, len) || name_is("shares", name, len) || has_form(name, len) ||
           hrun_app_find_const(app, name, len);
}

/* ------------------------------------------------------------------ shares */

static double share_of(const struct hrun_app_dealt *d, int64_t r)
{
    return d->share ? d->share[r] : 1;
}

/* Append the shares as "4*96,2*64": runs of equal shares are folded. */
static void add_folded(const struct hrun_app_dealt *d, struct hrun_buf *out)
{
    for (int64_t first = 0, next; first < d->P; first = next) {
        double own = share_of(d, first);

        for (next = first + 1; next < d->P && share_of(d, next) == own;)
            next++;
        hrun_buf_addf(out, own == floor(own) ? "%s%" PRId64 "*%.0f" : "%s%" PRId64 "*%.6g", first ? "," : "",
                      next - first, own);
    }
}

/* Append the shares separated by `between`; "*": folded. */
static void add_share_list(const struct hrun_app_dealt *d, const char *between, struct hrun_buf *out)
{
    if (!strcmp(between, "*")) {
        add_folded(d, out);
        return;
    }
    for (int64_t r = 0; r < d->P; r++) {
        hrun_buf_adds(out, r ? between : "");
        hrun_app_add_value(out, share_of(d, r));
    }
}

/* Append whole numbers >= 1 that add up to `total` >= P. Shares are rounded down, but not below 1. Then the ranks that
 * are farthest off gain or lose 1 each, until the sum is right. sum: the sum of the shares. */
static void add_whole_shares(const struct hrun_app_dealt *d, double sum, int64_t total, const char *between,
                      struct hrun_buf *out)
{
    autofree double *v = xcalloc((size_t)d->P + 1, sizeof *v);
    int64_t left = total;

    for (int64_t r = 0; r < d->P; r++) {
        v[r] = fmax(floor((double)total * (share_of(d, r) / sum)), 1);
        left -= (int64_t)v[r];
    }
    for (; left; left += left < 0 ? 1 : -1) {
        int64_t who = -1;
        double most = 0;

        for (int64_t r = 0; r < d->P; r++) {
            double off = (double)total * (share_of(d, r) / sum) - v[r];

            if (left < 0 && v[r] == 1)
                continue;
            off = left < 0 ? -off : off;
            if (who < 0 || off > most) {
                who = r;
                most = off;
            }
        }
        v[who] += left < 0 ? -1 : 1;
    }
    add_share_list(&(struct hrun_app_dealt){ v, d->P, 0 }, between, out);
}

enum { OWNERS_MAX = 1000000 };

/* Append the rank of each of `units` units; see hrun_app_add_shares. */
static int add_owners(const struct hrun_app_dealt *d, double units, const char *between, struct hrun_buf *out,
                      struct hrun_error *err)
{
    enum { LAPS = 8 };
    autofree double *owner = NULL;
    double least = INFINITY, most = 0, laps;
    int64_t n = 0;

    for (int64_t r = 0; r < d->P; r++) {
        double own = share_of(d, r);

        if (own != floor(own))
            return hrun_fail(err, HRUN_EINVAL, "owners are of whole units, and rank %" PRId64 " has a share of %.6g: "
                             "write units, fractions or cuts", r, own);
        least = fmin(least, own);
        most = fmax(most, own);
    }
    if (units > OWNERS_MAX)
        return hrun_fail(err, HRUN_EINVAL, "the owners of %.0f units would be a list of as many numbers, and at most "
                         "%d are written: deal out larger units, or write {shares:units}", units, OWNERS_MAX);
    owner = xcalloc((size_t)units + 1, sizeof *owner);
    laps = d->cyclic ? fmax(least, fmin(LAPS, most)) : 1;
    for (double lap = 0; lap < laps; lap++)
        for (int64_t r = 0; r < d->P; r++) {
            double own = share_of(d, r), upto = floor(own * (lap + 1) / laps + 0.5);

            for (double k = floor(own * lap / laps + 0.5); k < upto; k++)
                owner[n++] = (double)r;
        }
    add_share_list(&(struct hrun_app_dealt){ owner, n, 0 }, between, out);
    return 0;
}

int hrun_app_form_counts(const char *form)
{
    return !strncmp(form, "units", 5) || !strncmp(form, "owners", 6);
}

int hrun_app_add_shares(const char *form, size_t len, const struct hrun_app_dealt *d, struct hrun_buf *out,
                        struct hrun_error *err)
{
    const char *colon = memchr(form, ':', len), *end = form + len;
    autofree char *name = xstrndup(form, colon ? (size_t)(colon - form) : len), *behind = NULL;
    const char *between = " ";
    double sum = 0, upto = 0;
    int64_t total;
    char *rest;

    if (!len) {
        add_folded(d, out);
        return 0;
    }
    if (colon && colon + 1 == end)
        return hrun_fail(err, HRUN_EINVAL, "nothing stands behind the colon of '%.*s', and the numbers would run "
                         "together: write what stands between them, or leave the colon out", (int)len, form);
    if (colon) {
        behind = xstrndup(colon + 1, (size_t)(end - colon - 1));
        between = strcmp(behind, "\\n") ? behind : "\n";
    }
    for (int64_t r = 0; r < d->P; r++)
        sum += share_of(d, r);
    if (!strcmp(name, "units")) {
        add_share_list(d, between, out);
        return 0;
    }
    if (!strcmp(name, "owners"))
        return add_owners(d, sum, between, out, err);
    if (!strcmp(name, "fractions") || !strcmp(name, "cuts")) {
        int cuts = *form == 'c';

        if (!strcmp(between, "*"))
            return hrun_fail(err, HRUN_EINVAL, "'*' puts equal shares together where they are units, owners or a "
                             "number that they add up to, not %s", name);
        for (int64_t r = 0; r < d->P - cuts; r++) {
            upto += share_of(d, r);
            hrun_buf_addf(out, "%s%.10g", r ? between : "", (cuts ? upto : share_of(d, r)) / sum);
        }
        return 0;
    }
    total = strtoll(name, &rest, 10);
    if (!isdigit((unsigned char)*name) || *rest || total < 1 || total > HRUN_COUNT_MAX)
        return hrun_fail(err, HRUN_EINVAL, "shares are written as " HRUN_SHARE_FORMS ", not '%s'", name);
    if (total < d->P)
        return hrun_fail(err, HRUN_EINVAL, "shares of %" PRId64 " processes do not add up to %" PRId64 ": each is at "
                         "least 1", d->P, total);
    add_whole_shares(d, sum, total, between, out);
    return 0;
}

static int add_expression(struct expansion *x, const char *text, struct hrun_error *err)
{
    static const char *const vars[] = { "N", "P" };
    const struct hrun_app_values *v = x->values;
    struct hrun_expr *e = hrun_expr_compile(text, vars, 2, x->app->consts, x->app->nconsts, err);
    int rc = 0;
    double y = 0;

    if (!e)
        return -1;
    x->uses_size |= hrun_expr_uses(e, 0);
    if (v && hrun_expr_uses(e, 0) && v->N == 0)
        rc = hrun_fail(err, HRUN_EINVAL, "{%s} needs the problem size N, which is not known: say -N SIZE", text);
    else if (v)
        rc = hrun_expr_eval(e, (const double[]){ (double)v->N, (double)v->P }, &y, err);
    if (v && !rc && !(y == floor(y) && fabs(y) <= (double)HRUN_COUNT_MAX))
        rc = hrun_fail(err, HRUN_EINVAL, "{%s} is %.10g at N=%" PRId64 ", P=%" PRId64 ", and a computed value in a "
                       "template is a whole number: write round(), floor() or ceil()", text, y, v->N, v->P);
    if (v && !rc)
        hrun_app_add_value(x->out, y);
    hrun_expr_destroy(e);
    return rc;
}

/* Append the shares in the form of name[len]: "shares" or "shares:FORM". */
static int add_form(const char *name, size_t len, const struct hrun_app_dealt *dealt, struct hrun_buf *out,
                    struct hrun_error *err)
{
    size_t form = sizeof SHARES - 1;

    if (!has_form(name, len))
        return hrun_app_add_shares("", 0, dealt, out, err);
    if (len == form)
        return hrun_fail(err, HRUN_EINVAL, "{shares:} has no form behind its colon: write {shares} or " FORMS);
    return hrun_app_add_shares(name + form, len - form, dealt, out, err);
}

/* 1 if name[len] is "shares" or "shares:FORM" with a valid form, else 0. */
static int is_shares(const char *name, size_t len)
{
    autorelease(hrun_buf_release) struct hrun_buf none = HRUN_BUF_INIT;

    return name_is("shares", name, len) ||
           (has_form(name, len) && !add_form(name, len, &(struct hrun_app_dealt){ .P = 1 }, &none, NULL));
}

const char *hrun_app_find_shares(const char *text, const char **form, size_t *len)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        size_t n = name_length(at), begin = sizeof SHARES - 1;

        if ((at > text && at[-1] == '{') || !is_shares(at + 1, n))
            continue;
        *form = n > begin ? at + 1 + begin : "";
        *len = n > begin ? n - begin : 0;
        return at;
    }
    return NULL;
}

/* Append the value of a known name. */
static int add_braced_value(struct expansion *x, const char *name, size_t len, struct hrun_error *err)
{
    const struct hrun_app_values *values = x->values;
    const struct hrun_const *c = hrun_app_find_const(x->app, name, len);

    x->uses_size |= name_is("N", name, len);
    x->uses_shares |= name_is("shares", name, len) || has_form(name, len);
    if (!values && has_form(name, len))
        return add_form(name, len, &(struct hrun_app_dealt){ .P = 1 }, x->out, err);
    if (c && c->is)
        return add_expression(x, c->name, err);
    if (!values)
        return 0;
    if (name_is("N", name, len) && values->N == 0)
        return hrun_fail(err, HRUN_EINVAL, "{N} is the problem size, which is not known: it needs -N SIZE");
    if (x->app && x->app->shares.units && values->N == 0 &&
        (name_is("shares", name, len) || (has_form(name, len) && hrun_app_form_counts(name + sizeof SHARES - 1))))
        return hrun_fail(err, HRUN_EINVAL, "{%.*s} are units of work, and how many there are follows from the problem "
                         "size, which is not known: it needs -N SIZE", (int)len, name);
    if (c)
        hrun_app_add_value(x->out, c->value);
    else if (len == 1)
        hrun_buf_addf(x->out, "%" PRId64, *name == 'N' ? values->N : values->P);
    else
        return add_form(name, len, &(struct hrun_app_dealt){ values->share, values->P,
                                                             x->app && x->app->shares.cyclic }, x->out, err);
    return 0;
}

/* Append the value of the braces at s; *len: length of the braces and the text in them. */
static int add_braces(struct expansion *x, const char *s, size_t *len, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;
    size_t n = name_length(s);
    autofree char *text = NULL;
    struct hrun_error inner;
    int rc;

    *len = n + 2;
    if (n && is_known_name(x->app, s + 1, n))
        return add_braced_value(x, s + 1, n, err);
    if (n) {
        for (int i = 0; i < x->app->nconsts; i++)
            hrun_buf_addf(&list, ", {%s}", x->app->consts[i].name);
        return hrun_fail(err, HRUN_EINVAL, "unknown word {%.*s} (known: {N}, {P}, {shares}%s); a plain brace is "
                         "written '{{'", (int)n, s + 1, list.data);
    }
    n = strcspn(s + 1, "{}\n");
    if (s[1 + n] != '}' || strspn(s + 1, " \t") == n)
        return hrun_fail(err, HRUN_EINVAL, "'{' does not begin a word in braces; a plain brace is written '{{'");
    *len = n + 2;
    text = xstrndup(s + 1, n);
    rc = add_expression(x, text, &inner);
    if (rc && inner.code == HRUN_EPARSE)
        hrun_fail(err, HRUN_EINVAL, "{%s}: %s; a plain brace is written '{{'", text, inner.text);
    else if (rc && err)
        *err = inner;
    return rc;
}

/* Expand a template. *where: the place of a mistake. */
static int expand_template(struct expansion *x, const char *text, const char **where, struct hrun_error *err)
{
    const char *s = text;

    while (*s) {
        size_t plain = strcspn(s, "{"), len;

        hrun_buf_add(x->out, s, plain);
        s += plain;
        *where = s;
        if (!*s)
            break;
        if (s[1] == '{') {
            hrun_buf_addc(x->out, '{');
            s += 2;
            continue;
        }
        if (add_braces(x, s, &len, err))
            return -1;
        s += len;
    }
    return 0;
}

/* Check a template, and set x->uses_size and x->uses_shares. */
static int check_braces(struct expansion *x, const char *text, const char **where, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf out = HRUN_BUF_INIT;

    x->out = &out;
    return expand_template(x, text, where, err);
}

int hrun_template_check(const struct hrun_app *app, const char *text, struct hrun_error *err)
{
    struct expansion x = { .app = app };
    const char *where = text;

    return check_braces(&x, text, &where, err) ? (int)(where - text) : -1;
}

void hrun_app_inputs_use(const struct hrun_app *app, int with_args, int *size, int *shares)
{
    struct expansion x = { .app = app };
    const char *where;

    if (app->run.stdin_text)
        check_braces(&x, app->run.stdin_text, &where, NULL);
    for (int i = 0; with_args && i < app->run.nargs; i++)
        check_braces(&x, app->run.args[i], &where, NULL);
    for (int i = 0; i < app->run.nprepare; i++)
        for (int k = 0; k < app->run.prepare[i].nwords; k++)
            check_braces(&x, app->run.prepare[i].words[k], &where, NULL);
    for (int i = 0; i < app->run.nfiles; i++) {
        check_braces(&x, app->run.files[i].path, &where, NULL);
        check_braces(&x, app->run.files[i].content, &where, NULL);
    }
    *size = x.uses_size;
    *shares = x.uses_shares;
}

int hrun_app_expand(const struct hrun_app *app, const char *text, const struct hrun_app_values *values,
                    struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf mine = HRUN_BUF_INIT;
    struct expansion x = { .app = app, .values = values, .out = &mine };
    const char *where = text;
    int rc = expand_template(&x, text, &where, err), line = 1;

    if (!rc)
        hrun_buf_add(out, mine.data, mine.len);
    for (const char *s = text; s < where; s++)
        line += *s == '\n';
    if (rc && strchr(text, '\n'))
        hrun_fail_prefix(err, "line %d", line);
    return rc;
}

/* 1 if the text at the brace s resembles shares: "{share:100", "{Shares}", "{shares units}"; else 0. */
static int resembles_shares(const char *s)
{
    size_t n = sizeof "{share" - 1;

    if (strncasecmp(s, "{share", n))
        return 0;
    n += s[n] == 's' || s[n] == 'S';
    return !s[n] || strchr(": }", s[n]);
}

/* Report text at s that resembles shares but has no valid form. */
static int fail_misspelt(const char *word, const char *s, struct hrun_error *err)
{
    const char *form = s + strcspn(s, ": }");
    size_t len = strcspn(form, "}");
    autofree char *name = hrun_strf("shares%s%.*s", len ? ":" : "", len ? (int)len - 1 : 0, len ? form + 1 : "");

    if (is_shares(name, strlen(name)))
        return hrun_fail(err, HRUN_EINVAL, "'%s': did you mean {%s}? {{ makes a plain brace", word, name);
    return hrun_fail(err, HRUN_EINVAL, "'%s': shares are written as {shares} or " FORMS "; {{ makes a plain brace",
                     word);
}

static int expand_names(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                        int is_variable, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf mine = HRUN_BUF_INIT;
    struct expansion x = { .app = app, .values = values, .out = &mine };
    const char *s = word;

    while (*s) {
        int literal = s[0] == '{' && s[1] == '{';
        size_t len = *s == '{' ? name_length(s + literal) : 0;
        const char *name = s + literal + 1;
        int known = is_variable ? name_is("P", name, len) || is_shares(name, len) ||
                                  (name_is("N", name, len) && values->N && !(app && app->fixed))
                                : is_known_name(app, name, len);

        /* "${shares:-none}" is an expression of a shell. */
        if (!len || !known || (s > word && s[-1] == '$' && has_form(name, len) && !is_shares(name, len))) {
            int resembles = !is_variable && resembles_shares(s + literal);

            if (resembles && !literal && (s == word || s[-1] != '$'))
                return fail_misspelt(word, s, err);
            s += resembles && literal;
            hrun_buf_addc(&mine, *s++);
            continue;
        }
        s += literal;
        if (literal)
            hrun_buf_add(&mine, s, len + 2);
        else if (add_braced_value(&x, s + 1, len, err)) {
            if (has_form(s + 1, len))
                hrun_fail_prefix(err, "'%s'", word);
            return -1;
        }
        s += len + 2;
    }
    hrun_buf_add(out, mine.data, mine.len);
    return 0;
}

int hrun_app_expand_word(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                         struct hrun_buf *out, struct hrun_error *err)
{
    return expand_names(app, word, values, 0, out, err);
}

int hrun_app_expand_variable(const struct hrun_app *app, const char *word, const struct hrun_app_values *values,
                             struct hrun_buf *out, struct hrun_error *err)
{
    return expand_names(app, word, values, 1, out, err);
}
