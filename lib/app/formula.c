/* formula.c - compile the steps of a formula; see formula.h for the contracts */
#include "app/formula.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variables[HRUN_FORMULA_VARIABLES] = {
    [HRUN_FORMULA_N] = "N", [HRUN_FORMULA_P] = "P", [HRUN_FORMULA_SHARE] = "share", [HRUN_FORMULA_PERF] = "perf",
    [HRUN_FORMULA_LATENCY] = "latency", [HRUN_FORMULA_BANDWIDTH] = "bandwidth", [HRUN_FORMULA_ROOT] = "root",
    [HRUN_FORMULA_RANK] = "rank",
};

static const char *const functions[HRUN_FORMULA_FUNCTIONS] = {
    [HRUN_FORMULA_UPTO] = "upto", [HRUN_FORMULA_EVERY] = "every",
    [HRUN_FORMULA_BEFORE] = "before", [HRUN_FORMULA_TOTAL] = "total", [HRUN_FORMULA_MOST] = "most",
};

/* Variables that differ between the processes of a configuration. */
static const enum hrun_formula_variable of_process[] = {
    HRUN_FORMULA_SHARE, HRUN_FORMULA_PERF, HRUN_FORMULA_ROOT, HRUN_FORMULA_RANK
};

void hrun_formula_destroy(struct hrun_formula *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->n; i++)
        hrun_expr_destroy(f->steps[i].expr);
    free(f->steps);
    free(f);
}

/* The reason why a value cannot have this name, or NULL. */
static const char *name_fault(const struct hrun_expr_scope *scope, const char *name)
{
    if (!hrun_expr_is_name(name))
        return "cannot be a name: up to 100 letters, digits and '_', no digit first, and no function";
    for (int i = 0; i < scope->nvars; i++)
        if (!strcmp(name, scope->vars[i]))
            return i < HRUN_FORMULA_VARIABLES ? "is a variable of formulas already" : "is there twice";
    for (int i = 0; i < scope->nfunctions; i++)
        if (!strcmp(name, scope->functions[i].name))
            return "is a function of formulas already";
    for (int i = 0; i < scope->nconsts; i++)
        if (!strcmp(name, scope->consts[i].name))
            return "is a constant already";
    return NULL;
}

/* 1 if the value of a step, or the argument of a total or most in it, may differ between processes, else 0. */
static int step_varies(const struct hrun_formula *f, const struct hrun_expr *e)
{
    int uses = 0, calls = hrun_expr_calls(e), varies = 0;

    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        uses |= hrun_expr_uses(e, (int)of_process[i]);
    for (int i = 0; i < f->n; i++)
        uses |= f->steps[i].varies && hrun_expr_uses(e, HRUN_FORMULA_VARIABLES + i);
    for (int c = 0; c < calls; c++) {
        int own = hrun_expr_call_function(e, c) - hrun_app_nfunctions;

        varies |= own == HRUN_FORMULA_EVERY || own == HRUN_FORMULA_BEFORE;
    }
    return varies || uses;
}

/* Compile a step and append it. scope: the names that it may use. */
static int add_formula_step(struct hrun_formula *f, const struct hrun_expr_scope *scope, const char *name,
                            const char *text, struct hrun_error *err)
{
    struct hrun_formula_step *s = &f->steps[f->n];

    s->expr = hrun_expr_compile_in(scope, text, err);
    if (!s->expr)
        return -1;
    s->name = name;
    s->varies = step_varies(f, s->expr);
    f->n++;
    for (int c = 0; c < hrun_expr_calls(s->expr); c++)
        f->has_network |= hrun_expr_call_function(s->expr, c) < hrun_app_nfunctions;
    f->has_rate |= hrun_expr_uses(s->expr, HRUN_FORMULA_LATENCY) || hrun_expr_uses(s->expr, HRUN_FORMULA_BANDWIDTH);
    f->has_network |= f->has_rate;
    return 0;
}

struct hrun_formula *hrun_formula_compile(const struct hrun_formula_source *source, char place[HRUN_FORMULA_PLACE],
                                          struct hrun_error *err)
{
    autofree const char **vars = xcalloc((size_t)HRUN_FORMULA_VARIABLES + (size_t)source->n, sizeof *vars);
    int own = hrun_app_nfunctions, rc = 0;
    autofree struct hrun_expr_function *called = xcalloc((size_t)own + HRUN_FORMULA_FUNCTIONS, sizeof *called);
    struct hrun_expr_scope scope = { vars, HRUN_FORMULA_VARIABLES, source->consts, source->nconsts, called,
                                     own + HRUN_FORMULA_FUNCTIONS };
    struct hrun_formula *f = xcalloc(1, sizeof *f);

    f->steps = xcalloc((size_t)source->n + 1, sizeof *f->steps);
    memcpy(vars, variables, sizeof variables);
    memcpy(called, hrun_app_functions, (size_t)own * sizeof *called);
    for (int i = 0; i < HRUN_FORMULA_FUNCTIONS; i++)
        called[own + i] = (struct hrun_expr_function){ functions[i], 1 };
    for (int i = 0; i < source->n && !rc; i++) {
        const struct hrun_named_expr *step = &source->where[i];
        const char *fault = name_fault(&scope, step->name);

        snprintf(place, HRUN_FORMULA_PLACE, "where[%d].%s", i, fault ? "name" : "is");
        rc = fault ? hrun_fail(err, HRUN_EINVAL, "'%s' %s", step->name, fault)
                   : add_formula_step(f, &scope, step->name, step->is, err);
        vars[scope.nvars++] = step->name;
    }
    if (!rc) {
        snprintf(place, HRUN_FORMULA_PLACE, "formula");
        rc = add_formula_step(f, &scope, NULL, source->formula, err);
    }
    if (!rc)
        return f;
    hrun_formula_destroy(f);
    return NULL;
}
