/* load.c - a definition as it stands in the file -> a checked struct hrun_app; see app.h for the contracts */
#include "app/internal.h"

#include "base/units.h"

#include <ctype.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of each expression, in the order in which values are given at evaluation. */
static const char *const vars_np[] = { "N", "P" };
static const char *const vars_n[] = { "N" };
static const char *const vars_tpn[] = { "T", "P", "N" };

/* What one loading works on. */
struct load {
    const struct raw_app *raw;
    const struct raw_variant *variant;  /* whose keys stand in raw in place of the definition's; NULL: none */
    unsigned nth;                       /* of the variants */
    const struct hrun_yaml *marks;
    struct hrun_app *app;
    struct hrun_error *err;
};

/* ------------------------------------------------------------------ pieces */

static char *copy(const struct load *l, const char *s)
{
    char *c = strdup(s);

    if (!c)
        hrun_fail_nomem(l->err);
    return c;
}

/* Copy an optional text. Result: 0 or -1. */
static int copy_text(const struct load *l, const char *s, char **out)
{
    *out = s ? copy(l, s) : NULL;
    return s && !*out ? -1 : 0;
}

/* Copy a list of texts. */
static int copy_list(const struct load *l, char *const *from, unsigned n, char ***out, int *nout)
{
    char **v = calloc(n + 1u, sizeof *v);

    if (!v)
        return hrun_fail_nomem(l->err);
    *out = v;
    for (unsigned i = 0; i < n; i++) {
        v[i] = copy(l, from[i]);
        if (!v[i])
            return -1;
        *nout = (int)i + 1;
    }
    return 0;
}

enum { PLACE_MAX = 128 };

/* Where the value at path stands in the file: that of a variant among its own keys, if it has it. */
static const char *place_of(const struct load *l, const char *path, char room[PLACE_MAX])
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
            snprintf(room, PLACE_MAX, "variants[%u].%s", l->nth, path);
            return room;
        }
    return path;
}

/* A mistake at the beginning of the value at path. Result: -1. */
__attribute__((format(printf, 3, 4)))
static int bad(const struct load *l, const char *path, const char *fmt, ...)
{
    char text[HRUN_ERROR_TEXT], room[PLACE_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hrun_yaml_fail(l->marks, place_of(l, path, room), 0, l->err, HRUN_EPARSE, "%s", text);
}

/* An error with the place of the value at path, the message being that of a deeper function. */
static int fail_inside(const struct load *l, const char *path, int offset, const struct hrun_error *inner)
{
    char room[PLACE_MAX];

    if (inner->code == HRUN_ENOMEM)
        return hrun_fail_nomem(l->err);
    return hrun_yaml_fail(l->marks, place_of(l, path, room), offset, l->err, HRUN_EPARSE, "%s", inner->text);
}

static struct hrun_expr *compile(const struct load *l, const char *path, const char *text,
                                 const char *const *vars, int nvars)
{
    struct hrun_error inner = { .code = HRUN_OK };
    struct hrun_expr *e = hrun_expr_compile_calls(text, vars, nvars, l->app->consts, l->app->nconsts,
                                                  hrun_app_functions, hrun_app_nfunctions, &inner);

    if (!e)
        fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
    return e;
}

/* Where an expression calls functions of the network: 0, or -1 unless it is a network term and may be one. */
static int check_calls(const struct load *l, const char *path, const struct hrun_expr *e, int allowed)
{
    char room[PLACE_MAX];
    const char *name;
    int at;

    if (!hrun_expr_calls(e) || (allowed && hrun_expr_is_scaled_call(e)))
        return 0;
    path = place_of(l, path, room);
    name = hrun_app_functions[hrun_expr_call_function(e, 0)].name;
    at = hrun_expr_call_column(e, 0) - 1;
    if (!allowed)
        return hrun_yaml_fail(l->marks, path, at, l->err, HRUN_EPARSE, "'%s' is what the network takes, and stands "
                              "only in terms under 'np'", name);
    return hrun_yaml_fail(l->marks, path, at, l->err, HRUN_EPARSE, "a term with '%s' is this alone, times and over "
                          "other things, as N*ring(8*N)/P is: write what is added as a term of its own", name);
}

/* An expression that is none of the network. */
static struct hrun_expr *compile_plain(const struct load *l, const char *path, const char *text)
{
    struct hrun_expr *e = compile(l, path, text, vars_np, 2);

    if (!e || !check_calls(l, path, e, 0))
        return e;
    hrun_expr_destroy(e);
    return NULL;
}

static int check_template(const struct load *l, const char *path, const char *text)
{
    struct hrun_error inner = { .code = HRUN_OK };
    int offset = 0;

    return hrun_template_check(l->app, text, &offset, &inner) ? fail_inside(l, path, offset, &inner) : 0;
}

/* ------------------------------------------------------------------ keys */

const char *const hrun_app_patterns[] = { "ring", "grid", "alltoall", NULL };

/* [a-z0-9][a-z0-9._-]*, so that a name is a file name anywhere and never an option. */
static int is_app_name(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == strlen(s) && *s &&
           !strchr("._-", *s);
}

static int load_names(struct load *l, const char *file)
{
    const char *name = l->raw->name, *base = strrchr(file, '/');
    size_t len;
    char path[64];

    base = base ? base + 1 : file;
    len = strlen(base);
    if (len > 5 && !strcmp(base + len - 5, ".yaml"))
        len -= 5;
    if (!is_app_name(name))
        return bad(l, "name", "'%s' cannot be a name: lower-case letters, digits, '.', '_' and '-', a "
                   "letter or digit first", name);
    if (strlen(name) != len || strncmp(name, base, len))
        return bad(l, "name", "the name '%s' is not that of the file: call the file %s.yaml, or write name: "
                   "%.*s", name, name, (int)len, base);
    for (unsigned i = 0; i < l->raw->programs_count; i++) {
        const char *p = l->raw->programs[i];
        snprintf(path, sizeof path, "programs[%u]", i);
        if (!*p || strchr(p, '/'))
            return bad(l, path, "'%s' is not the name of a program: it is compared without its folders", p);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(p, l->raw->programs[k]))
                return bad(l, path, "'%s' is listed twice", p);
    }
    if (copy_text(l, name, &l->app->name) || copy_text(l, l->raw->title, &l->app->title) ||
        copy_text(l, file, &l->app->file))
        return -1;
    return copy_list(l, l->raw->programs, l->raw->programs_count, &l->app->programs, &l->app->nprograms);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hrun_const *)a)->name, ((const struct hrun_const *)b)->name);
}

static int load_consts(struct load *l)
{
    struct hrun_app *app = l->app;
    unsigned n = l->raw->constants_count;

    app->consts = calloc(n + 1u, sizeof *app->consts);
    if (!app->consts)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < n; i++) {
        const char *name = l->raw->constants[i].name;
        char path[64];

        snprintf(path, sizeof path, "constants[%u].name", i);
        if (!hrun_expr_is_name(name) || !strcmp(name, "N") || !strcmp(name, "P") || !strcmp(name, "T") ||
            !strcmp(name, "shares"))
            return bad(l, path, "'%s' cannot be the name of a constant: letters, digits and '_', no digit "
                       "first, not a function, nor N, P, T or shares", name);
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(name, app->consts[k].name))
                return bad(l, path, "'%s' is defined twice", name);
        app->consts[i].name = copy(l, name);
        app->consts[i].value = l->raw->constants[i].value;
        if (!app->consts[i].name)
            return -1;
        app->nconsts++;
    }
    return 0;
}

/* -D NAME=VALUE; of two for one name the later counts. */
static int define(struct load *l, const char *text)
{
    struct hrun_app *app = l->app;
    struct hrun_buf list = HRUN_BUF_INIT;
    const char *eq = strchr(text, '=');
    size_t len = eq ? (size_t)(eq - text) : strlen(text);
    char what[64];

    if (!eq)
        return hrun_fail(l->err, HRUN_EINVAL, "-D %s has no value: write -D %s=VALUE", text, text);
    for (int i = 0; i < app->nconsts; i++) {
        if (strlen(app->consts[i].name) != len || strncmp(app->consts[i].name, text, len))
            continue;
        snprintf(what, sizeof what, "-D %s", app->consts[i].name);
        return hrun_parse_number(what, eq + 1, &app->consts[i].value, l->err);
    }
    for (int i = 0; i < app->nconsts; i++)
        hrun_buf_addf(&list, "%s%s", i ? ", " : "", app->consts[i].name);
    hrun_fail(l->err, HRUN_EINVAL, "-D %.*s: %s has no constant of this name (%s%s)", (int)len, text,
              app->name, app->nconsts ? "it has: " : "it has none", list.data);
    hrun_buf_release(&list);
    return -1;
}

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

static int load_procs(struct load *l)
{
    const struct raw_app *raw = l->raw;
    struct hrun_app *app = l->app;
    unsigned n = raw->procs_per_pe_count;
    char path[64];

    app->procs_per_pe = calloc(n + 1u, sizeof *app->procs_per_pe);
    if (!app->procs_per_pe)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "procs_per_pe[%u]", i);
        if (raw->procs_per_pe[i] < 1)
            return bad(l, path, "%d processes on a PE: at least 1 is needed", raw->procs_per_pe[i]);
        if (raw->procs_per_pe[i] > HRUN_PROCS_PER_PE_MAX)
            return bad(l, path, "%d processes on a PE: at most %d are possible", raw->procs_per_pe[i],
                       HRUN_PROCS_PER_PE_MAX);
        for (unsigned k = 0; k < i; k++)
            if (raw->procs_per_pe[k] == raw->procs_per_pe[i])
                return bad(l, path, "%d is listed twice", raw->procs_per_pe[i]);
        app->procs_per_pe[i] = raw->procs_per_pe[i];
    }
    if (n == 0)
        app->procs_per_pe[n++] = 1;
    app->nprocs_per_pe = (int)n;
    qsort(app->procs_per_pe, n, sizeof *app->procs_per_pe, by_int);
    return 0;
}

static int load_pattern(const struct load *l)
{
    const char *const *known = hrun_app_patterns, *word = l->raw->pattern, *near;
    size_t n = 0;

    while (known[n] && word && strcmp(known[n], word))
        n++;
    if (!word || known[n])
        return copy_text(l, word, &l->app->pattern);
    near = hrun_nearest(word, known, n);
    return bad(l, "pattern", "'%s' is not known: write ring, grid or alltoall%s%s%s, or leave the key out", word,
               near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

const char *const hrun_app_family_names[] = { "npt", "weak", "ring", "analytic", NULL };

static int load_family(const struct load *l)
{
    const char *const *known = hrun_app_family_names, *word = l->raw->family, *near;
    struct hrun_buf list = HRUN_BUF_INIT;
    size_t n = 0;

    l->app->family = l->raw->formula ? HRUN_APP_ANALYTIC : HRUN_APP_NPT;
    if (!word)
        return 0;
    while (known[n] && strcmp(known[n], word))
        n++;
    if (known[n]) {
        l->app->family = (enum hrun_app_family)n;
        return 0;
    }
    near = hrun_nearest(word, known, n);
    for (n = 0; known[n]; n++)
        hrun_buf_addf(&list, "%s%s", n ? ", " : "", known[n]);
    bad(l, "family", "'%s' is not known (known: %s)%s%s%s", word, list.failed ? "npt" : list.data,
        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    hrun_buf_release(&list);
    return -1;
}

static int load_threads(struct load *l)
{
    const char *how = l->raw->threads;

    if (how && strcmp(how, "fill"))
        return bad(l, "threads", "'%s' is not known: write threads: fill, or leave the key out, and hrun sets no "
                   "number of threads", how);
    l->app->threads_fill = how != NULL;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int load_sizes(struct load *l)
{
    const struct raw_app *raw = l->raw;
    unsigned n = raw->sizes_count;
    char path[64];

    l->app->sizes = calloc(n + 1u, sizeof *l->app->sizes);
    if (!l->app->sizes)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "sizes[%u]", i);
        if (raw->sizes[i] < 1 || raw->sizes[i] > HRUN_COUNT_MAX)
            return bad(l, path, "a size is a whole number from 1 to %lld", (long long)HRUN_COUNT_MAX);
        for (unsigned k = 0; k < i; k++)
            if (raw->sizes[k] == raw->sizes[i])
                return bad(l, path, "the size %lld is listed twice", (long long)raw->sizes[i]);
        l->app->sizes[i] = raw->sizes[i];
    }
    l->app->nsizes = (int)n;
    if (n > 0)
        qsort(l->app->sizes, n, sizeof *l->app->sizes, by_size);
    return 0;
}

/* Are two terms the same but for white space? */
static int same_term(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isspace((unsigned char)*a))
            a++;
        while (isspace((unsigned char)*b))
            b++;
        if (*a != *b)
            return 0;
        if (!*a)
            return 1;
    }
}

static int load_terms(struct load *l, const char *key, char *const *texts, unsigned n,
                      const char *const *vars, int nvars, struct hrun_terms *out)
{
    char path[64];

    out->v = calloc(n + 1u, sizeof *out->v);
    if (!out->v)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < n; i++) {
        struct hrun_term *t = &out->v[i];

        snprintf(path, sizeof path, "terms.%s[%u]", key, i);
        for (unsigned k = 0; k < i; k++)
            if (same_term(texts[k], texts[i]))
                return bad(l, path, "the term '%s' is listed twice", texts[i]);
        out->n = (int)i + 1;
        t->text = copy(l, texts[i]);
        t->expr = t->text ? compile(l, path, t->text, vars, nvars) : NULL;
        if (!t->expr || check_calls(l, path, t->expr, vars == vars_np))
            return -1;
    }
    return 0;
}

/* A formula goes without terms, and `where` with a formula. */
static int load_formula(struct load *l)
{
    const struct raw_app *raw = l->raw;
    unsigned n = raw->where_count;
    struct hrun_error inner = { .code = HRUN_OK };
    char **names, **texts, path[64];
    int rc, at, name;

    if (raw->formula && raw->terms)
        return bad(l, "formula", "there are terms as well: a definition has either, or variants that have either");
    if (n && !raw->formula)
        return bad(l, "where", "'where' names values for a formula, and there is none");
    if (!raw->formula)
        return l->app->family == HRUN_APP_ANALYTIC ? bad(l, "family", "'formula' is missing") : 0;
    if (l->app->family != HRUN_APP_ANALYTIC)
        return bad(l, "family", "with a formula the family is analytic: leave the key out");
    names = calloc((size_t)n + 1, sizeof *names);
    texts = calloc((size_t)n + 1, sizeof *texts);
    for (unsigned i = 0; names && texts && i < n; i++) {
        names[i] = raw->where[i].name;
        texts[i] = raw->where[i].is;
    }
    rc = !names || !texts ? hrun_fail_nomem(l->err)
       : hrun_formula_compile(names, texts, (int)n, raw->formula, l->app->consts, l->app->nconsts, &l->app->formula,
                              &at, &name, &inner);
    if (rc && names && texts) {
        snprintf(path, sizeof path, at < (int)n ? "where[%d].%s" : "formula", at, name ? "name" : "is");
        fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
    }
    free(names);
    free(texts);
    return rc ? -1 : 0;
}

static int load_expressions(struct load *l)
{
    const struct raw_app *raw = l->raw;
    const struct raw_terms *terms = raw->terms;
    struct hrun_app *app = l->app;
    char path[64];

    app->rule = compile_plain(l, "rule", raw->rule ? raw->rule : "1");
    if (!app->rule)
        return -1;
    if (raw->memory) {
        app->memory = compile_plain(l, "memory", raw->memory);
        if (!app->memory)
            return -1;
    }
    if (load_formula(l))
        return -1;
    if (!terms && app->family == HRUN_APP_NPT && l->variant) {
        snprintf(path, sizeof path, "variants[%u].name", l->nth);
        return bad(l, path, "variant '%s' has neither terms nor a formula", l->variant->name);
    }
    if (!terms)
        return app->family == HRUN_APP_NPT && !raw->variants_count ? bad(l, "", "'terms' is missing") : 0;
    if (load_terms(l, "np", terms->np, terms->np_count, vars_np, 2, &app->np) ||
        load_terms(l, "n", terms->n, terms->n_count, vars_n, 1, &app->nt))
        return -1;
    return load_terms(l, "p", terms->p, terms->p_count, vars_tpn, 3, &app->pt);
}

static int load_weak(const struct load *l)
{
    struct hrun_error inner = { .code = HRUN_OK };
    const char *key;
    char path[64];

    if (l->app->family != HRUN_APP_WEAK)
        return l->raw->weak ? bad(l, "weak", "'weak' is for definitions of family weak; write family: weak, or leave it "
                                  "out") : 0;
    if (!hrun_app_compile_weak(l->raw->weak, l->app, &key, &inner))
        return 0;
    snprintf(path, sizeof path, "weak.%s", key);
    return fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
}

static int load_ring(const struct load *l)
{
    const int wanted = l->app->family == HRUN_APP_RING;
    struct hrun_error inner = { .code = HRUN_OK };
    const char *key;
    char path[64];

    if (!l->raw->ring)
        return wanted ? bad(l, "family", "a definition of family ring says under 'ring' what a process does: local, "
                            "step and bytes, over n, N and P") : 0;
    if (!wanted)
        return bad(l, "ring", "'ring' is for definitions of family ring; write family: ring, or leave it out");
    if (!hrun_app_compile_ring(l->raw->ring, l->app, &key, &inner))
        return 0;
    snprintf(path, sizeof path, "ring.%s", key);
    return fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
}

/* A path stays in the working directory. Result: what is wrong with it, or NULL. */
static const char *path_fault(const char *p)
{
    const char *s = p;

    if (!*p)
        return "is empty";
    if (*p == '/')
        return "is absolute";
    if (p[strlen(p) - 1] == '/')
        return "is a folder";
    for (; s; s = strchr(s, '/')) {
        s += *s == '/';
        if (!strncmp(s, "..", 2) && (s[2] == '/' || !s[2]))
            return "leaves the working directory";
    }
    return NULL;
}

static int check_path(const struct load *l, const char *at, const char *path)
{
    const char *fault = path_fault(path);

    if (!fault)
        return 0;
    return bad(l, at, "the path '%s' %s: it is relative to the working directory and stays in it", path,
               fault);
}

static int load_inputs(struct load *l)
{
    const struct raw_app *raw = l->raw;
    struct hrun_app *app = l->app;
    char path[64];

    app->files = calloc(raw->files_count + 1u, sizeof *app->files);
    if (!app->files)
        return hrun_fail_nomem(l->err);
    for (unsigned i = 0; i < raw->files_count; i++) {
        const struct raw_file *f = &raw->files[i];

        snprintf(path, sizeof path, "files[%u].path", i);
        if (check_path(l, path, f->path) || check_template(l, path, f->path))
            return -1;
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(raw->files[k].path, f->path))
                return bad(l, path, "there are two files '%s'", f->path);
        snprintf(path, sizeof path, "files[%u].content", i);
        if (check_template(l, path, f->content))
            return -1;
        app->nfiles = (int)i + 1;
        if (copy_text(l, f->path, &app->files[i].path) || copy_text(l, f->content, &app->files[i].content))
            return -1;
    }
    for (unsigned i = 0; i < raw->args_count; i++) {
        snprintf(path, sizeof path, "args[%u]", i);
        if (check_template(l, path, raw->args[i]))
            return -1;
    }
    if (raw->stdin_text && check_template(l, "stdin", raw->stdin_text))
        return -1;
    if (copy_list(l, raw->args, raw->args_count, &app->args, &app->nargs))
        return -1;
    return copy_text(l, raw->stdin_text, &app->stdin_text);
}

static int load_time(struct load *l)
{
    const struct raw_time *t = l->raw->time;
    char why[256];
    regex_t re;
    size_t groups;
    int rc;

    if (!t)
        return 0;
    rc = regcomp(&re, t->match, REG_EXTENDED);
    if (rc) {
        regerror(rc, &re, why, sizeof why);
        return bad(l, "time.match", "'%s' is not a POSIX extended regular expression: %s", t->match, why);
    }
    groups = re.re_nsub;
    regfree(&re);
    if (groups < 1)
        return bad(l, "time.match", "'%s' has no group: put the part that is the time in seconds in "
                   "parentheses", t->match);
    if (t->file && check_path(l, "time.file", t->file))
        return -1;
    return copy_text(l, t->match, &l->app->time_match) || copy_text(l, t->file, &l->app->time_file) ? -1 : 0;
}

/* ------------------------------------------------------------------ the whole */

static int load_all(struct load *l, const char *file, char *const *defines, int ndefines)
{
    if (load_names(l, file) || load_consts(l))
        return -1;
    for (int i = 0; i < ndefines; i++)
        if (define(l, defines[i]))
            return -1;
    qsort(l->app->consts, (size_t)l->app->nconsts, sizeof *l->app->consts, by_name);
    return load_procs(l) || load_threads(l) || load_pattern(l) || load_family(l) || load_sizes(l) ||
           load_expressions(l) || load_weak(l) || load_ring(l) || load_inputs(l) || load_time(l) ? -1 : 0;
}

static int check_variant(const struct load *l, const struct raw_app *raw, unsigned nth)
{
    const struct raw_variant *v = &raw->variants[nth];
    char path[64];

    snprintf(path, sizeof path, "variants[%u].name", nth);
    if (!is_app_name(v->name) || strchr(v->name, '.'))
        return bad(l, path, "'%s' cannot be the name of a variant: lower-case letters, digits, '_' and '-', a letter "
                   "or digit first", v->name);
    for (unsigned k = 0; k < nth; k++)
        if (!strcmp(v->name, raw->variants[k].name))
            return bad(l, path, "there are two variants '%s'", v->name);
    return 0;
}

/* A variant is a definition of its own, with its keys in place of the definition's. */
static int load_variant(struct load *l, const char *file, unsigned nth, char *const *defines, int ndefines)
{
    const struct raw_variant *v = &l->raw->variants[nth];
    struct raw_app raw = *l->raw;
    struct load one = { .raw = &raw, .variant = v, .nth = nth, .marks = l->marks, .err = l->err };
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
    if (load_all(&one, file, defines, ndefines) || copy_text(l, v->name, &one.app->variant))
        return -1;
    name = hrun_strf("%s.%s", one.app->name, v->name);
    if (!name)
        return hrun_fail_nomem(l->err);
    free(one.app->name);
    one.app->name = name;
    return 0;
}

static int load_variants(struct load *l, const char *file, char *const *defines, int ndefines)
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

int hrun_app_load(const char *file, char *const *defines, int ndefines, struct hrun_app **out,
                  struct hrun_error *err)
{
    struct hrun_yaml *marks = NULL;
    void *data = NULL;
    struct load l = { .err = err };
    int rc = -1;

    if (hrun_yaml_load(file, &hrun_app_schema, &data, &marks, err))
        return -1;
    l.raw = data;
    l.marks = marks;
    l.app = calloc(1, sizeof *l.app);
    if (!l.app)
        hrun_fail_nomem(err);
    else
        rc = load_all(&l, file, defines, ndefines) || load_variants(&l, file, defines, ndefines) ? -1 : 0;
    if (!rc) {
        *out = l.app;
        l.app = NULL;
    }
    hrun_app_destroy(l.app);
    hrun_yaml_free(&hrun_app_schema, data, marks);
    return rc;
}
