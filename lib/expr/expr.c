/* expr.c - compiling and evaluating expressions with muParser; see expr.h for the contracts
 *
 * An expression is compiled three times. First as the user wrote it, for muParser's errors and their places;
 * then rewritten (lazy.h), to find parts of plain numbers that have no value; then with the numbers as
 * variables, for good. The caller's constants are variables too: muParser would otherwise evaluate the
 * division in "nb > 0 ? 1 / nb : 0" at compilation, and a branch that is never taken could fail.
 * muParser lets infinities and NaN pass; the floating point flags tell of them.
 */
#include "expr/expr.h"

#include "base/buf.h"
#include "base/units.h"
#include "expr/explain.h"
#include "expr/lazy.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags that mean a value does not exist. Underflow and inexact results are ordinary. */
enum { BAD_FLAGS = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW };

/* Precedence of * and / in muParserDef.h, enum EOprtPrecedence. */
enum { MU_PRECEDENCE_MUL = 6 };

struct hrun_expr {
    muParserHandle_t mup;
    char *text;
    double *values;         /* the variables, the constants, the numbers of the text */
    char **names;           /* of variables and constants, in the same order */
    unsigned char *used;    /* per variable */
    int nvars, nnames;
};

/* ------------------------------------------------------------------ functions of the language */

/* Whole numbers, nearly always: the remainder of integers is five times as fast as fmod. */
static double fn_remainder(double a, double b)
{
    const double exact = (double)HRUN_COUNT_MAX;

    if (b == 0) {
        feraiseexcept(FE_DIVBYZERO);
        return NAN;
    }
    if (fabs(a) <= exact && fabs(b) <= exact) {
        int64_t ia = (int64_t)a, ib = (int64_t)b;
        if ((double)ia == a && (double)ib == b)
            return (double)(ia % ib);
    }
    return fmod(a, b);
}

/* The logarithm of zero is no division: FE_INVALID keeps the messages apart. */
static double fn_log(double x)
{
    if (x > 0)
        return log(x);
    feraiseexcept(FE_INVALID);
    return NAN;
}

static double fn_log2(double x)
{
    return x > 0 ? log2(x) : fn_log(x);
}

static double fn_log10(double x)
{
    return x > 0 ? log10(x) : fn_log(x);
}

static double fn_ispow2(double x)
{
    int exponent;

    return x >= 1 && frexp(x, &exponent) == 0.5;
}

static double fn_not(double x)
{
    return x == 0;
}

static double fn_min(const double *v, int n)
{
    double m = v[0];

    for (int i = 1; i < n; i++)
        m = v[i] < m ? v[i] : m;
    return m;
}

static double fn_max(const double *v, int n)
{
    double m = v[0];

    for (int i = 1; i < n; i++)
        m = v[i] > m ? v[i] : m;
    return m;
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*many)(const double *, int);
} functions[] = {
    { "min", NULL, fn_min },
    { "max", NULL, fn_max },
    { "abs", fabs, NULL },
    { "sqrt", sqrt, NULL },
    { "cbrt", cbrt, NULL },
    { "exp", exp, NULL },
    { "floor", floor, NULL },
    { "ceil", ceil, NULL },
    { "round", round, NULL },
    { "ln", fn_log, NULL },
    { "log", fn_log, NULL },
    { "log2", fn_log2, NULL },
    { "log10", fn_log10, NULL },
    { "ispow2", fn_ispow2, NULL },
};

enum { NFUNCTIONS = sizeof functions / sizeof *functions };

static int is_function(const char *name)
{
    for (int i = 0; i < NFUNCTIONS; i++)
        if (!strcmp(functions[i].name, name))
            return 1;
    return 0;
}

int hrun_expr_is_name(const char *name)
{
    const char *s = name;

    if ((!isalpha((unsigned char)*s) && *s != '_') || !strncmp(s, "__", 2))
        return 0;
    while (hrun_expr_is_word(*s))
        s++;
    return !*s && !is_function(name);
}

/* ------------------------------------------------------------------ messages */

static int fail_compile(const struct hrun_expr *e, const char *text, struct hrun_error *err)
{
    const char *names[NFUNCTIONS];
    struct hrun_words words = { (const char *const *)e->names, (size_t)e->nnames, names, NFUNCTIONS };

    for (int i = 0; i < NFUNCTIONS; i++)
        names[i] = functions[i].name;
    return hrun_expr_explain(text, mupGetErrorCode(e->mup), mupGetErrorPos(e->mup), &words, err);
}

static const char *flags_text(int flags)
{
    if (flags & FE_DIVBYZERO)
        return "divides by zero";
    if (flags & FE_INVALID)
        return "takes 0/0, or a logarithm or root of a number that has none";
    return "overflows";
}

/* ------------------------------------------------------------------ compilation */

static int check_consts(const char *const *vars, int nvars, const struct hrun_const *consts, int nconsts,
                        struct hrun_error *err)
{
    for (int i = 0; i < nconsts; i++) {
        const char *name = consts[i].name;

        if (!hrun_expr_is_name(name))
            return hrun_fail(err, HRUN_EINVAL, "a constant cannot be named '%s'%s", name,
                             is_function(name) ? ": it is a function" : "");
        for (int v = 0; v < nvars; v++)
            if (!strcmp(vars[v], name))
                return hrun_fail(err, HRUN_EINVAL, "a constant cannot be named '%s': it is a variable", name);
        for (int k = 0; k < i; k++)
            if (!strcmp(consts[k].name, name))
                return hrun_fail(err, HRUN_EINVAL, "there are two constants named '%s'", name);
        if (!isfinite(consts[i].value))
            return hrun_fail(err, HRUN_EINVAL, "the constant '%s' is not a finite number", name);
    }
    return 0;
}

static struct hrun_expr *create(const char *text, const char *const *vars, int nvars,
                                const struct hrun_const *consts, int nconsts, size_t nnumbers)
{
    struct hrun_expr *e = calloc(1, sizeof *e);
    size_t n = (size_t)(nvars + nconsts);

    if (!e)
        return NULL;
    e->nvars = nvars;
    e->text = strdup(text);
    e->values = calloc(n + nnumbers + 1, sizeof *e->values);
    e->names = calloc(n + 1, sizeof *e->names);
    e->used = calloc((size_t)nvars + 1, 1);
    if (!e->text || !e->values || !e->names || !e->used)
        goto fail;
    for (size_t i = 0; i < n; i++) {
        e->names[i] = strdup(i < (size_t)nvars ? vars[i] : consts[i - (size_t)nvars].name);
        if (!e->names[i])
            goto fail;
        e->values[i] = i < (size_t)nvars ? 1 : consts[i - (size_t)nvars].value;
        e->nnames++;
    }
    e->mup = mupCreate(muBASETYPE_FLOAT);
    if (!e->mup)
        goto fail;
    /* muParser's own functions and constants (sum, avg, _pi, ...) are no part of the language. */
    mupClearFun(e->mup);
    mupClearConst(e->mup);
    mupDefineOprt(e->mup, "%", fn_remainder, MU_PRECEDENCE_MUL, muOPRT_ASCT_LEFT, 1);
    mupDefineInfixOprt(e->mup, "!", fn_not, 1);
    for (int i = 0; i < NFUNCTIONS; i++) {
        if (functions[i].one)
            mupDefineFun1(e->mup, functions[i].name, functions[i].one, 1);
        else
            mupDefineMultFun(e->mup, functions[i].name, functions[i].many, 1);
    }
    for (int i = 0; i < e->nnames; i++)
        mupDefineVar(e->mup, e->names[i], &e->values[i]);
    if (!mupError(e->mup))
        return e;
fail:
    hrun_expr_destroy(e);
    return NULL;
}

/* Give muParser a text and let it compile. Result: 0, or -1 when it found a mistake. */
static int set_text(struct hrun_expr *e, const char *text)
{
    mupSetExpr(e->mup, text);
    if (!mupError(e->mup))
        mupEval(e->mup);
    return mupError(e->mup) ? -1 : 0;
}

static int fail_again(const struct hrun_expr *e, struct hrun_error *err)
{
    return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, 1, "'%s' cannot be compiled", e->text);
}

/* Which variables are used, and whether a part of plain numbers has no value. Looking for the variables makes
 * muParser compile without evaluating; what raises flags then is its folding of numbers. */
static int inspect(struct hrun_expr *e, const char *folded, struct hrun_error *err)
{
    int n, flags;

    if (set_text(e, folded))
        return fail_again(e, err);
    feclearexcept(BAD_FLAGS);
    n = mupGetExprVarNum(e->mup);
    flags = fetestexcept(BAD_FLAGS);
    if (flags)
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, 1, "'%s' %s, whatever the variables are", e->text,
                            flags_text(flags));
    for (int i = 0; i < n; i++) {
        const muChar_t *name;
        muFloat_t *value;

        mupGetExprVar(e->mup, (unsigned)i, &name, &value);
        if (value >= e->values && value < e->values + e->nvars)
            e->used[value - e->values] = 1;
    }
    return 0;
}

/* Compile the rewritten text for good, so that evaluation finds the code ready. */
static int set_lazy(struct hrun_expr *e, const char *lazy, const struct hrun_strvec *numbers,
                    struct hrun_error *err)
{
    char name[32];

    for (size_t i = 0; i < numbers->n; i++) {
        double *value = &e->values[(size_t)e->nnames + i];

        if (hrun_parse_number("expression", numbers->v[i], value, err))
            return -1;
        snprintf(name, sizeof name, "__%zu", i);
        mupDefineVar(e->mup, name, value);
    }
    if (mupError(e->mup) || set_text(e, lazy))
        return fail_again(e, err);
    feclearexcept(BAD_FLAGS);
    return 0;
}

struct hrun_expr *hrun_expr_compile(const char *text, const char *const *vars, int nvars,
                                    const struct hrun_const *consts, int nconsts, struct hrun_error *err)
{
    struct hrun_buf lazy = HRUN_BUF_INIT, folded = HRUN_BUF_INIT;
    struct hrun_strvec numbers = HRUN_STRVEC_INIT;
    struct hrun_expr *e = NULL;
    char *plain = NULL;
    int rc = -1;

    if (strspn(text, " \t\r\n") == strlen(text)) {
        hrun_fail(err, HRUN_EINVAL, "an expression is empty");
        return NULL;
    }
    if (strlen(text) > HRUN_EXPR_TEXT_MAX) {
        hrun_fail_at(err, HRUN_EPARSE, NULL, 0, HRUN_EXPR_TEXT_MAX + 1,
                     "the expression is longer than %d characters", HRUN_EXPR_TEXT_MAX);
        return NULL;
    }
    if (check_consts(vars, nvars, consts, nconsts, err) || hrun_expr_scan(text, err))
        return NULL;
    plain = strdup(text);
    if (!plain || hrun_expr_rewrite(text, &folded, NULL) || hrun_expr_rewrite(text, &lazy, &numbers)) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (char *s = plain; *s; s++)
        *s = isspace((unsigned char)*s) ? ' ' : *s;
    e = create(text, vars, nvars, consts, nconsts, numbers.n);
    if (!e)
        hrun_fail_nomem(err);
    else if (set_text(e, plain))
        fail_compile(e, plain, err);
    else if (!inspect(e, folded.data, err))
        rc = set_lazy(e, lazy.data, &numbers, err);
out:
    hrun_strvec_release(&numbers);
    hrun_buf_release(&lazy);
    hrun_buf_release(&folded);
    free(plain);
    if (rc) {
        hrun_expr_destroy(e);
        e = NULL;
    }
    return e;
}

void hrun_expr_destroy(struct hrun_expr *e)
{
    if (!e)
        return;
    if (e->mup)
        mupRelease(e->mup);
    for (int i = 0; i < e->nnames; i++)
        free(e->names[i]);
    free(e->names);
    free(e->values);
    free(e->used);
    free(e->text);
    free(e);
}

/* ------------------------------------------------------------------ evaluation */

static int fail_eval(const struct hrun_expr *e, const char *what, struct hrun_error *err)
{
    struct hrun_buf at = HRUN_BUF_INIT;

    for (int i = 0; i < e->nvars; i++)
        if (e->used[i])
            hrun_buf_addf(&at, "%s%s=%.15g", at.len ? ", " : " at ", e->names[i], e->values[i]);
    hrun_fail(err, HRUN_ENONFINITE, "'%s' %s%s", e->text, what, at.data);
    hrun_buf_release(&at);
    return -1;
}

int hrun_expr_eval(struct hrun_expr *e, const double *values, double *out, struct hrun_error *err)
{
    int flags = 0;
    double y;

    for (int i = 0; i < e->nvars; i++) {
        e->values[i] = values[i];
        if (!isfinite(values[i]) && e->used[i])
            return fail_eval(e, "has no value", err);
    }
    y = mupEval(e->mup);
    /* Testing the flags is cheap, clearing them is not: the flags of something earlier are cleared and the
     * evaluation repeated only when some are set. */
    if (fetestexcept(BAD_FLAGS)) {
        feclearexcept(BAD_FLAGS);
        y = mupEval(e->mup);
        flags = fetestexcept(BAD_FLAGS);
        if (flags)
            feclearexcept(BAD_FLAGS);
    }
    if (flags || !isfinite(y))
        return fail_eval(e, flags ? flags_text(flags) : "has no value", err);
    *out = y;
    return 0;
}

const char *hrun_expr_text(const struct hrun_expr *e)
{
    return e->text;
}

int hrun_expr_uses(const struct hrun_expr *e, int v)
{
    return e->used[v];
}
