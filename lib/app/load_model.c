/* load_model.c - how a definition says what its processes take: terms, formulas, meshes and rings; see internal.h */
#include "app/internal.h"
#include "base/alloc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of each expression, in the order in which values are given at evaluation. */
static const char *const vars_np[] = { "N", "P", "W" };     /* W: of NP-T terms where there are shares */
static const char *const vars_n[] = { "N" };
static const char *const vars_tpn[] = { "T", "P", "N" };
static const char *const vars_ring[] = { "n", "N", "P" };

static struct hrun_expr *compile_term(const struct hrun_load *l, const char *path, const char *text,
                                      const char *const *vars, int nvars)
{
    struct hrun_error inner = { .code = HRUN_OK };
    struct hrun_expr *e = hrun_expr_compile_calls(text, vars, nvars, l->app->consts, l->app->nconsts,
                                                  hrun_app_functions, hrun_app_nfunctions, &inner);

    if (!e)
        hrun_load_fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
    return e;
}

/* Where an expression calls functions of the network: 0, or -1 unless it is a network term and may be one. */
static int check_calls(const struct hrun_load *l, const char *path, const struct hrun_expr *e, int allowed)
{
    char room[HRUN_LOAD_PLACE];
    const char *name;
    int at;

    if (!hrun_expr_calls(e) || (allowed && hrun_expr_is_scaled_call(e)))
        return 0;
    path = hrun_load_place(l, path, room);
    name = hrun_app_functions[hrun_expr_call_function(e, 0)].name;
    at = hrun_expr_call_column(e, 0) - 1;
    if (!allowed)
        return hrun_yaml_fail(l->marks, path, at, l->err, HRUN_EPARSE, "'%s' is what the network takes, and stands "
                              "only in terms under 'np'", name);
    return hrun_yaml_fail(l->marks, path, at, l->err, HRUN_EPARSE, "a term with '%s' is this alone, times and over "
                          "other things, as N*ring(8*N)/P is: write what is added as a term of its own", name);
}

/* An expression that is none of the network. */
static struct hrun_expr *compile_plain(const struct hrun_load *l, const char *path, const char *text)
{
    struct hrun_expr *e = compile_term(l, path, text, vars_np, 2);

    if (!e || !check_calls(l, path, e, 0))
        return e;
    hrun_expr_destroy(e);
    return NULL;
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

/* Where the wall clock is what is timed, a start-up is part of it: a constant is among the terms, the last of them if
 * the definition has none. There is room for it. */
static int add_start(struct hrun_load *l, const char *const *vars, int nvars, struct hrun_terms *out)
{
    static const double points[][3] = { { 2, 3, 0.25 }, { 50, 7, 0.5 }, { 97, 12, 0.125 } };
    enum { POINTS = sizeof points / sizeof *points };
    struct hrun_term *t = &out->v[out->n];

    if (l->raw->time || !out->n)
        return 0;
    for (int i = 0; i < out->n; i++) {
        double value[POINTS];
        int k = 0;

        while (k < POINTS && !hrun_expr_calls(out->v[i].expr) &&
               !hrun_expr_eval(out->v[i].expr, points[k], &value[k], NULL) && value[k] == value[0])
            k++;
        if (k == POINTS)
            return 0;
    }
    t->text = xstrdup("1");
    t->expr = compile_term(l, "terms", t->text, vars, nvars);
    out->n++;
    return t->expr ? 0 : -1;
}

/* What depends on the share of a process is in proportion to it: at N, P a value with share W is W times one with 1. */
static int check_share(const struct hrun_load *l, const char *path, struct hrun_expr *e)
{
    static const double points[][2] = { { 96, 4 }, { 1000, 10 }, { 12345, 7 }, { 64, 2 } };

    if (hrun_expr_calls(e))
        return hrun_load_bad(l, path, "a term of the network does not depend on W, the share of a process");

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double whole[3] = { points[i][0], points[i][1], 1 }, part[3] = { points[i][0], points[i][1], 0.125 }, a, b;

        if (hrun_expr_eval(e, whole, &a, NULL) || hrun_expr_eval(e, part, &b, NULL))
            continue;
        if (!(fabs(b - 0.125 * a) <= 1e-9 * fabs(a)))
            return hrun_load_bad(l, path, "a term with W, the share of a process, is in proportion to it, as N^2*W is: "
                                 "write what does not depend on the share as a term of its own");
    }
    return 0;
}

static int load_terms(struct hrun_load *l, const char *key, char *const *texts, unsigned n,
                      const char *const *vars, int nvars, struct hrun_terms *out)
{
    char path[64];

    out->v = xcalloc(n + 1u, sizeof *out->v);
    for (unsigned i = 0; i < n; i++) {
        struct hrun_term *t = &out->v[i];

        snprintf(path, sizeof path, "terms.%s[%u]", key, i);
        for (unsigned k = 0; k < i; k++)
            if (same_term(texts[k], texts[i]))
                return hrun_load_bad(l, path, "the term '%s' is listed twice", texts[i]);
        out->n = (int)i + 1;
        t->text = xstrdup(texts[i]);
        t->expr = compile_term(l, path, t->text, vars, nvars);
        if (!t->expr || check_calls(l, path, t->expr, vars == vars_np))
            return -1;
        if (nvars == 3 && vars == vars_np && hrun_expr_uses(t->expr, 2) && check_share(l, path, t->expr))
            return -1;
    }
    return vars == vars_tpn ? 0 : add_start(l, vars, nvars, out);
}

/* A formula goes without terms, and `where` with a formula. */
static int load_formula(struct hrun_load *l)
{
    const struct raw_app *raw = l->raw;
    unsigned n = raw->where_count;
    struct hrun_error inner = { .code = HRUN_OK };
    autofree char **names = xcalloc((size_t)n + 1, sizeof *names);
    autofree char **texts = xcalloc((size_t)n + 1, sizeof *texts);
    char path[64];
    int at, name;

    if (raw->formula && raw->terms)
        return hrun_load_bad(l, "formula", "there are terms as well: a definition has either, or variants that "
                             "have either");
    if (n && !raw->formula)
        return hrun_load_bad(l, "where", "'where' names values for a formula, and there is none");
    if (!raw->formula)
        return l->app->family == HRUN_APP_ANALYTIC ? hrun_load_bad(l, "family", "'formula' is missing") : 0;
    if (l->app->family != HRUN_APP_ANALYTIC)
        return hrun_load_bad(l, "family", "with a formula the family is analytic: leave the key out");
    for (unsigned i = 0; i < n; i++) {
        names[i] = raw->where[i].name;
        texts[i] = raw->where[i].is;
    }
    if (!hrun_formula_compile(names, texts, (int)n, raw->formula, l->app->consts, l->app->nconsts, &l->app->formula,
                              &at, &name, &inner))
        return 0;
    snprintf(path, sizeof path, at < (int)n ? "where[%d].%s" : "formula", at, name ? "name" : "is");
    return hrun_load_fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
}

static int load_expressions(struct hrun_load *l)
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
    if (terms && app->family != HRUN_APP_NPT)
        return hrun_load_bad(l, "terms", "'terms' are for definitions of family npt, not %s: leave them, or the "
                             "family, out", hrun_app_family_names[app->family]);
    if (!terms && app->family == HRUN_APP_NPT && l->variant) {
        snprintf(path, sizeof path, "variants[%u].name", l->nth);
        return hrun_load_bad(l, path, "variant '%s' has neither terms nor a formula", l->variant->name);
    }
    if (!terms)
        return app->family == HRUN_APP_NPT && !raw->variants_count && !app->of_command
               ? hrun_load_bad(l, "", "'terms' is missing") : 0;
    if (load_terms(l, "np", terms->np, terms->np_count, vars_np, raw->shares ? 3 : 2, &app->np) ||
        load_terms(l, "n", terms->n, terms->n_count, vars_n, 1, &app->nt))
        return -1;
    return load_terms(l, "p", terms->p, terms->p_count, vars_tpn, 3, &app->pt);
}

/* The expressions of one key's mapping: each is compiled with the constants of the definition. */
struct part {
    const char *key, *text;     /* NULL: not given */
    const char *const *vars;
    int nvars;
    struct hrun_expr **out;
};

static int compile_parts(const struct hrun_load *l, const char *mapping, const struct part *v, int n)
{
    for (int i = 0; i < n; i++) {
        struct hrun_error inner = { .code = HRUN_OK };
        char path[64];

        if (!v[i].text)
            continue;
        *v[i].out = hrun_expr_compile(v[i].text, v[i].vars, v[i].nvars, l->app->consts, l->app->nconsts, &inner);
        snprintf(path, sizeof path, "%s.%s", mapping, v[i].key);
        if (!*v[i].out)
            return hrun_load_fail_inside(l, path, inner.column > 0 ? inner.column - 1 : 0, &inner);
    }
    return 0;
}

/* Memory must not fall as the share W grows; one that does wherever it has a value is refused. */
static int check_memory(const struct hrun_load *l, const char *path, struct hrun_expr *e)
{
    static const double points[][2] = { { 96, 4 }, { 1000, 10 }, { 12345, 7 }, { 64, 2 }, { 1e6, 100 } };
    int falls = 0, others = 0;

    for (size_t i = 0; e && i < sizeof points / sizeof *points; i++) {
        double whole[3] = { points[i][0], points[i][1], 1 }, part[3] = { points[i][0], points[i][1], 0.125 }, a, b;

        if (hrun_expr_eval(e, whole, &a, NULL) || hrun_expr_eval(e, part, &b, NULL))
            continue;
        *(a < b ? &falls : &others) += 1;
    }
    return !falls || others ? 0 : hrun_load_bad(l, path, "the memory of a process must not fall as its share W grows");
}

static int load_weak(const struct hrun_load *l)
{
    const struct raw_weak *raw = l->raw->weak;
    struct hrun_app *app = l->app;
    const struct part parts[] = {
        { "rows", raw && raw->rows ? raw->rows : "N", vars_n, 1, &app->weak.rows },
        { "unit", raw && raw->unit ? raw->unit : "1", vars_n, 1, &app->weak.unit },
        { "memory", raw ? raw->memory : NULL, vars_np, 3, &app->weak.memory },
    };

    if (app->family != HRUN_APP_WEAK)
        return raw ? hrun_load_bad(l, "weak", "'weak' is for definitions of family weak; write family: weak, or leave "
                                   "it out") : 0;
    return compile_parts(l, "weak", parts, 3) || check_memory(l, "weak.memory", app->weak.memory) ? -1 : 0;
}

static int load_shares(const struct hrun_load *l)
{
    const struct raw_shares *raw = l->raw->shares;
    struct hrun_app *app = l->app;
    int shared = 0;

    if (!raw)
        return 0;
    if (app->family != HRUN_APP_NPT)
        return hrun_load_bad(l, "shares", "'shares' is for definitions with terms; those of family %s have shares of "
                             "their own, or equal ones: leave it out", hrun_app_family_names[app->family]);
    for (int j = 0; j < app->np.n; j++)
        shared |= hrun_expr_uses(app->np.v[j].expr, 2);
    if (!shared && app->np.n)
        return hrun_load_bad(l, "shares", "no term under 'np' depends on the share of a process: write W for it in the "
                             "terms of divided work, N^2*W in place of N^2/P");
    if (compile_parts(l, "shares", (const struct part[]){
        { "units", raw->units, vars_n, 1, &app->shares.units },
        { "min", raw->min ? raw->min : "1", vars_n, 1, &app->shares.min },
        { "memory", raw->memory, vars_np, 3, &app->shares.memory },
    }, 3))
        return -1;
    app->shares.cyclic = raw->deal && !strcmp(raw->deal, "cyclic");
    if (raw->deal && !app->shares.cyclic && strcmp(raw->deal, "block"))
        return hrun_load_bad(l, "shares.deal", "units are dealt out by 'block' or 'cyclic', not '%s'", raw->deal);
    return check_memory(l, "shares.memory", app->shares.memory);
}

static int load_ring(const struct hrun_load *l)
{
    const struct raw_ring *raw = l->raw->ring;
    const int wanted = l->app->family == HRUN_APP_RING;

    if (!raw)
        return wanted ? hrun_load_bad(l, "family", "a definition of family ring says under 'ring' what a process does: "
                                      "local, step and bytes, over n, N and P") : 0;
    if (!wanted)
        return hrun_load_bad(l, "ring", "'ring' is for definitions of family ring; write family: ring, or leave it "
                             "out");
    return compile_parts(l, "ring", (const struct part[]){
        { "local", raw->local, vars_ring, 3, &l->app->ring.local },
        { "step", raw->step, vars_ring, 3, &l->app->ring.step },
        { "bytes", raw->bytes, vars_ring, 3, &l->app->ring.bytes },
    }, 3);
}

int hrun_load_model(struct hrun_load *l)
{
    return load_expressions(l) || load_weak(l) || load_shares(l) || load_ring(l) ? -1 : 0;
}
