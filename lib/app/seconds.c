/* seconds.c - compiling the steps of a formula; see app.h for the contracts */
#include "app/app.h"
#include "base/alloc.h"

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

/* What differs between the processes of a configuration. */
static const enum hrun_formula_variable of_process[] = {
    HRUN_FORMULA_SHARE, HRUN_FORMULA_PERF, HRUN_FORMULA_ROOT, HRUN_FORMULA_RANK
};

/* What compiling works with: all variables so far and all functions. */
struct maker {
    const char **vars;
    int nvars;
    struct hrun_expr_function *functions;
    int nfunctions;
    const struct hrun_const *consts;
    int nconsts;
};

void hrun_formula_destroy(struct hrun_formula *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->n; i++) {
        free(f->steps[i].name);
        hrun_expr_destroy(f->steps[i].expr);
    }
    free(f->steps);
    free(f);
}

static void maker_init(struct maker *m, int n)
{
    m->vars = xcalloc((size_t)HRUN_FORMULA_VARIABLES + (size_t)n + 1, sizeof *m->vars);
    m->functions = xcalloc((size_t)hrun_app_nfunctions + HRUN_FORMULA_FUNCTIONS, sizeof *m->functions);
    memcpy(m->vars, variables, sizeof variables);
    m->nvars = HRUN_FORMULA_VARIABLES;
    memcpy(m->functions, hrun_app_functions, (size_t)hrun_app_nfunctions * sizeof *m->functions);
    m->nfunctions = hrun_app_nfunctions;
    for (int i = 0; i < HRUN_FORMULA_FUNCTIONS; i++)
        m->functions[m->nfunctions++] = (struct hrun_expr_function){ functions[i], 1 };
}

/* Why a value cannot have this name, or NULL. */
static const char *name_fault(const struct maker *m, const char *name)
{
    if (!hrun_expr_is_name(name))
        return "cannot be a name: up to 100 letters, digits and '_', no digit first, and no function";
    for (int i = 0; i < m->nvars; i++)
        if (!strcmp(name, m->vars[i]))
            return i < HRUN_FORMULA_VARIABLES ? "is a variable of formulas already" : "is there twice";
    for (int i = 0; i < m->nfunctions; i++)
        if (!strcmp(name, m->functions[i].name))
            return "is a function of formulas already";
    for (int i = 0; i < m->nconsts; i++)
        if (!strcmp(name, m->consts[i].name))
            return "is a constant already";
    return NULL;
}

/* A step that uses what differs between processes only inside total or most counts as one that varies. */
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

static int add_formula_step(struct hrun_formula *f, struct maker *m, const char *name, const char *text,
                            struct hrun_error *err)
{
    struct hrun_formula_step *s = &f->steps[f->n];

    s->expr = hrun_expr_compile_calls(text, m->vars, m->nvars, m->consts, m->nconsts, m->functions, m->nfunctions, err);
    if (!s->expr)
        return -1;
    s->varies = step_varies(f, s->expr);
    f->n++;
    for (int c = 0; c < hrun_expr_calls(s->expr); c++)
        f->has_network |= hrun_expr_call_function(s->expr, c) < hrun_app_nfunctions;
    f->has_rate |= hrun_expr_uses(s->expr, HRUN_FORMULA_LATENCY) || hrun_expr_uses(s->expr, HRUN_FORMULA_BANDWIDTH);
    f->has_network |= f->has_rate;
    if (!name)
        return 0;
    s->name = xstrdup(name);
    m->vars[m->nvars++] = s->name;
    return 0;
}

int hrun_formula_compile(char *const *names, char *const *texts, int n, const char *formula,
                         const struct hrun_const *consts, int nconsts, struct hrun_formula **out, int *at, int *name,
                         struct hrun_error *err)
{
    struct maker m = { .consts = consts, .nconsts = nconsts };
    struct hrun_formula *f = xcalloc(1, sizeof *f);
    int rc = -1;

    *at = *name = 0;
    f->steps = xcalloc((size_t)n + 1, sizeof *f->steps);
    maker_init(&m, n);
    for (*at = 0; *at < n; ++*at) {
        const char *fault = name_fault(&m, names[*at]);

        *name = fault != NULL;
        if (fault) {
            hrun_fail(err, HRUN_EINVAL, "'%s' %s", names[*at], fault);
            goto out;
        }
        if (add_formula_step(f, &m, names[*at], texts[*at], err))
            goto out;
    }
    if (add_formula_step(f, &m, NULL, formula, err))
        goto out;
    *out = f;
    f = NULL;
    rc = 0;
out:
    hrun_formula_destroy(f);
    free(m.vars);
    free(m.functions);
    return rc;
}
