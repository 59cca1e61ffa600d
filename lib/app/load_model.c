/* load_model.c - terms, formulas, meshes and rings of a definition; see load.h */
#include "app/load.h"

#include "base/alloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The variables of each expression, in the order in which values are given at evaluation. */
static const char *const vars_np[] = { "N", "P", "W" };     /* W: only in NP-T terms with shares */
static const char *const vars_n[] = { "N" };
static const char *const vars_tpn[] = { "T", "P", "N" };
static const char *const vars_ring[] = { "n", "N", "P" };

/* Compile a term or another expression of N and P. allowed = 1: the term may be a call of one network function
 * times a factor. NULL on a mistake. */
static struct hrun_expr *compile_term(struct hrun_load *l, const char *path, const char *text,
                                      const struct hrun_expr_scope *scope, int allowed)
{
    struct hrun_error inner;
    struct hrun_expr *e = hrun_expr_compile_in(scope, text, &inner);
    const char *name;
    int at;

    if (!e) {
        hrun_load_bad_expr(l, path, &inner);
        return NULL;
    }
    if (!hrun_expr_calls(e) || (allowed && hrun_expr_is_scaled_call(e)))
        return e;
    name = hrun_app_functions[hrun_expr_call_function(e, 0)].name;
    at = hrun_expr_call_column(e, 0) - 1;
    hrun_expr_destroy(e);
    if (allowed)
        hrun_load_bad_at(l, path, at, "a term with '%s' may only multiply or divide it, as N*ring(8*N)/P does: write "
                         "each summand as a term of its own", name);
    else
        hrun_load_bad_at(l, path, at, "'%s' is a time of the network: use it only in terms under 'np'", name);
    return NULL;
}

static struct hrun_expr_scope scope_of(const struct hrun_load *l, const char *const *vars, int nvars)
{
    return (struct hrun_expr_scope){ vars, nvars, l->app->consts, l->app->nconsts, hrun_app_functions,
                                     hrun_app_nfunctions };
}

/* 1 if two terms differ at most in white space, else 0. */
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

/* Without the key `time` hrun measures the wall clock, which includes the start-up. Append a constant term for the
 * start-up if *out has none. out->v has room. */
static void add_start(struct hrun_load *l, const struct hrun_expr_scope *scope, struct hrun_terms *out)
{
    static const double points[][3] = { { 2, 3, 0.25 }, { 50, 7, 0.5 }, { 97, 12, 0.125 } };
    enum { POINTS = sizeof points / sizeof *points };
    static char text[] = "1";

    if (l->d->time || !out->n)
        return;
    for (int i = 0; i < out->n; i++) {
        double value[POINTS];
        int k = 0;

        while (k < POINTS && !hrun_expr_calls(out->v[i].expr) &&
               !hrun_expr_eval(out->v[i].expr, points[k], &value[k], NULL) && value[k] == value[0])
            k++;
        if (k == POINTS)
            return;
    }
    out->v[out->n++] = (struct hrun_term){ text, hrun_expr_compile_in(scope, text, NULL) };
}

/* Evaluate an expression of N, P and W at test point i, with W = 1 and with W = PART. -1 if one has no value. */
enum { TEST_POINTS = 5 };
static const double PART = 0.125;
static int eval_shares(struct hrun_expr *e, int i, double *whole, double *part)
{
    static const double points[TEST_POINTS][2] = { { 96, 4 }, { 1000, 10 }, { 12345, 7 }, { 64, 2 }, { 1e6, 100 } };

    return hrun_expr_eval(e, (const double[]){ points[i][0], points[i][1], 1 }, whole, NULL) ||
           hrun_expr_eval(e, (const double[]){ points[i][0], points[i][1], PART }, part, NULL) ? -1 : 0;
}

/* Check that a term that depends on the share W of a process is proportional to W. */
static int check_share(const struct hrun_load *l, const char *path, struct hrun_expr *e)
{
    double whole, part;

    if (hrun_expr_calls(e))
        return hrun_load_bad(l, path, "a term of the network does not depend on W, the share of a process");
    for (int i = 0; i < TEST_POINTS; i++)
        if (!eval_shares(e, i, &whole, &part) && !(fabs(part - PART * whole) <= 1e-9 * fabs(whole)))
            return hrun_load_bad(l, path, "a term with W, the share of a process, is in proportion to it, as N^2*W is: "
                                 "write what does not depend on the share as a term of its own");
    return 0;
}

static int load_terms(struct hrun_load *l, const char *key, char *const *texts, unsigned n,
                      const struct hrun_expr_scope *scope, struct hrun_terms *out)
{
    int is_np = scope->vars == vars_np;

    out->v = xcalloc(n + 1u, sizeof *out->v);
    for (unsigned i = 0; i < n; i++) {
        const char *path = hrun_load_at(l, "terms.%s[%u]", key, i);
        struct hrun_expr *e;

        for (unsigned k = 0; k < i; k++)
            if (same_term(texts[k], texts[i]))
                return hrun_load_bad(l, path, "the term '%s' is listed twice", texts[i]);
        e = compile_term(l, path, texts[i], scope, is_np);
        if (!e)
            return -1;
        out->v[out->n++] = (struct hrun_term){ texts[i], e };
        if (is_np && scope->nvars == 3 && hrun_expr_uses(e, 2) && check_share(l, path, e))
            return -1;
    }
    if (scope->vars != vars_tpn)
        add_start(l, scope, out);
    return 0;
}

/* Load the formula. A definition with a formula has no terms; `where` needs a formula. */
static int load_formula(struct hrun_load *l)
{
    const struct definition *d = l->d;
    const struct hrun_formula_source source = { d->where, d->nwhere, d->formula, l->app->consts, l->app->nconsts };
    struct hrun_error inner;
    char place[HRUN_FORMULA_PLACE];

    if (d->formula && d->terms)
        return hrun_load_bad(l, "formula", "a definition has 'formula' or 'terms', not both: remove one, or give "
                             "each to its own variant");
    if (d->nwhere && !d->formula)
        return hrun_load_bad(l, "where", "'where' names values for a formula, and there is none");
    if (!d->formula)
        return l->app->family == HRUN_APP_ANALYTIC ? hrun_load_bad(l, "family", "'formula' is missing") : 0;
    if (l->app->family != HRUN_APP_ANALYTIC)
        return hrun_load_bad(l, "family", "with a formula the family is analytic: leave the key out");
    l->app->law.formula = hrun_formula_compile(&source, place, &inner);
    return l->app->law.formula ? 0 : hrun_load_bad_expr(l, place, &inner);
}

static int load_expressions(struct hrun_load *l)
{
    const struct definition *d = l->d;
    const struct raw_terms *terms = d->terms;
    struct hrun_app *app = l->app;
    const struct hrun_expr_scope np = scope_of(l, vars_np, 2), shared = scope_of(l, vars_np, 3);
    const struct hrun_expr_scope n = scope_of(l, vars_n, 1), tpn = scope_of(l, vars_tpn, 3);

    app->rule = compile_term(l, "rule", d->rule ? d->rule : "1", &np, 0);
    if (!app->rule || (d->memory && !(app->memory = compile_term(l, "memory", d->memory, &np, 0))) || load_formula(l))
        return -1;
    if (terms && app->family != HRUN_APP_NPT)
        return hrun_load_bad(l, "terms", "'terms' are for definitions of family npt, not %s: leave them, or the "
                             "family, out", hrun_app_family_name(app->family));
    if (!terms && app->family == HRUN_APP_NPT && l->variant)
        return hrun_load_bad(l, hrun_load_at(l, "variants[%u].name", l->nth), "variant '%s' has neither terms nor a "
                             "formula", l->variant->name);
    if (!terms)
        return app->family == HRUN_APP_NPT && !d->nvariants && !app->sizes.of_command
               ? hrun_load_bad(l, "", "'terms' is missing") : 0;
    return load_terms(l, "np", terms->np, terms->nnp, d->shares ? &shared : &np, &app->np) ||
           load_terms(l, "n", terms->n, terms->nn, &n, &app->nt) ||
           load_terms(l, "p", terms->p, terms->npt, &tpn, &app->pt) ? -1 : 0;
}

/* A key whose value is an expression. */
struct keyed_expr {
    const char *key, *text;     /* text NULL: not given */
    const char *const *vars;
    int nvars;
    struct hrun_expr **out;
};

static int compile_parts(struct hrun_load *l, const char *mapping, const struct keyed_expr *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i].text && !(*v[i].out = hrun_load_expr(l, hrun_load_at(l, "%s.%s", mapping, v[i].key), v[i].text,
                                                      v[i].vars, v[i].nvars)))
            return -1;
    return 0;
}

/* Refuse an expression of memory whose value falls as W grows, at each test point that gives values. */
static int check_memory(const struct hrun_load *l, const char *path, struct hrun_expr *e)
{
    int falls = 0, others = 0;
    double whole, part;

    for (int i = 0; e && i < TEST_POINTS; i++)
        if (!eval_shares(e, i, &whole, &part))
            *(whole < part ? &falls : &others) += 1;
    return !falls || others ? 0 : hrun_load_bad(l, path, "the memory of a process must not fall as its share W grows");
}

static int load_weak(struct hrun_load *l)
{
    const struct raw_weak *raw = l->d->weak;
    struct hrun_app *app = l->app;
    const struct keyed_expr parts[] = {
        { "rows", raw && raw->rows ? raw->rows : "N", vars_n, 1, &app->law.weak.rows },
        { "unit", raw && raw->unit ? raw->unit : "1", vars_n, 1, &app->law.weak.unit },
        { "memory", raw ? raw->memory : NULL, vars_np, 3, &app->law.weak.memory },
    };

    if (app->family != HRUN_APP_WEAK)
        return raw ? hrun_load_bad(l, "weak", "'weak' is for definitions of family weak; write family: weak, or leave "
                                   "it out") : 0;
    return compile_parts(l, "weak", parts, 3) || check_memory(l, "weak.memory", app->law.weak.memory) ? -1 : 0;
}

static int load_shares(struct hrun_load *l)
{
    const struct raw_shares *raw = l->d->shares;
    struct hrun_app *app = l->app;
    int shared = 0;

    if (!raw)
        return 0;
    if (app->family != HRUN_APP_NPT)
        return hrun_load_bad(l, "shares", "'shares' is for definitions with terms; those of family %s have shares of "
                             "their own, or equal ones: leave it out", hrun_app_family_name(app->family));
    for (int j = 0; j < app->np.n; j++)
        shared |= hrun_expr_uses(app->np.v[j].expr, 2);
    if (!shared && app->np.n)
        return hrun_load_bad(l, "shares", "no term under 'np' depends on the share of a process: write W for it in the "
                             "terms of divided work, N^2*W in place of N^2/P");
    if (compile_parts(l, "shares", (const struct keyed_expr[]){
        { "units", raw->units, vars_n, 1, &app->shares.units },
        { "min", raw->min ? raw->min : "1", vars_n, 1, &app->shares.min },
        { "memory", raw->memory, vars_np, 3, &app->shares.memory },
    }, 3))
        return -1;
    app->shares.cyclic = raw->cyclic;
    return check_memory(l, "shares.memory", app->shares.memory);
}

static int load_ring(struct hrun_load *l)
{
    const struct raw_ring *raw = l->d->ring;
    const int wanted = l->app->family == HRUN_APP_RING;

    if (!raw)
        return wanted ? hrun_load_bad(l, "family", "a definition of family ring says under 'ring' what a process does: "
                                      "local, step and bytes, over n, N and P") : 0;
    if (!wanted)
        return hrun_load_bad(l, "ring", "'ring' is for definitions of family ring; write family: ring, or leave it "
                             "out");
    return compile_parts(l, "ring", (const struct keyed_expr[]){
        { "local", raw->local, vars_ring, 3, &l->app->law.ring.local },
        { "step", raw->step, vars_ring, 3, &l->app->law.ring.step },
        { "bytes", raw->bytes, vars_ring, 3, &l->app->law.ring.bytes },
    }, 3);
}

int hrun_load_model(struct hrun_load *l)
{
    return load_expressions(l) || load_weak(l) || load_shares(l) || load_ring(l) ? -1 : 0;
}
