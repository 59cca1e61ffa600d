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
#include "expr/builtins.h"
#include "expr/calls.h"
#include "expr/explain.h"
#include "expr/lazy.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <muParserDLL.h>
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
    struct hrun_expr **derived;     /* nnames - nvars; those constants that are expressions and are used, else NULL */
    int nderived;               /* how many are not NULL */
    struct hrun_expr_call calls[HRUN_EXPR_CALLS_MAX];
    struct hrun_expr **arguments;   /* ncalls; NULL of a call without one */
    double called[HRUN_EXPR_CALLS_MAX];
    int ncalls;
    int is_scaled_call;
};

/* ------------------------------------------------------------------ names */

static int is_function(const char *name)
{
    for (int i = 0; i < hrun_builtins_n; i++)
        if (!strcmp(hrun_builtins[i].name, name))
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
    return !*s && s - name <= HRUN_EXPR_NAME_MAX && !is_function(name);
}

/* ------------------------------------------------------------------ messages */

/* text: as the user wrote it, with blanks for other white space. */
static int fail_compile(const struct hrun_expr *e, const char *text, const struct hrun_expr_function *own, int nown,
                        struct hrun_error *err)
{
    size_t n = (size_t)(hrun_builtins_n + nown);
    const char **names = calloc(n, sizeof *names);
    struct hrun_words words = { (const char *const *)e->names, (size_t)e->nnames, names, n };

    if (!names)
        return hrun_fail_nomem(err);
    for (int i = 0; i < hrun_builtins_n; i++)
        names[i] = hrun_builtins[i].name;
    for (int i = 0; i < nown; i++)
        names[hrun_builtins_n + i] = own[i].name;
    hrun_expr_explain(text, mupGetErrorCode(e->mup), mupGetErrorPos(e->mup), &words, err);
    free(names);
    return -1;
}

static const char *flags_text(int flags)
{
    if (flags & FE_DIVBYZERO)
        return "divides by zero";
    if (flags & FE_INVALID)
        return "takes 0/0, or a logarithm, root or squarest() of a number that has none";
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

/* The calls' arguments become those of the expression, on failure too. */
static struct hrun_expr *create(const char *text, const char *const *vars, int nvars,
                                const struct hrun_const *consts, int nconsts, size_t nnumbers,
                                struct hrun_expr_call *calls, int ncalls)
{
    struct hrun_expr *e = calloc(1, sizeof *e);
    size_t n = (size_t)(nvars + nconsts);

    if (!e)
        return NULL;
    for (e->ncalls = 0; e->ncalls < ncalls; e->ncalls++) {
        e->calls[e->ncalls] = calls[e->ncalls];
        calls[e->ncalls].argument = NULL;
        e->called[e->ncalls] = 1;
    }
    e->nvars = nvars;
    e->arguments = calloc((size_t)ncalls + 1, sizeof *e->arguments);
    e->text = strdup(text);
    e->values = calloc(n + nnumbers + 1, sizeof *e->values);
    e->names = calloc(n + 1, sizeof *e->names);
    e->used = calloc((size_t)nvars + 1, 1);
    e->derived = calloc((size_t)nconsts + 1, sizeof *e->derived);
    if (!e->text || !e->values || !e->names || !e->used || !e->arguments || !e->derived)
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
    mupDefineOprt(e->mup, "%", hrun_builtin_remainder, MU_PRECEDENCE_MUL, muOPRT_ASCT_LEFT, 1);
    mupDefineInfixOprt(e->mup, "!", hrun_builtin_not, 1);
    for (int i = 0; i < hrun_builtins_n; i++) {
        if (hrun_builtins[i].one)
            mupDefineFun1(e->mup, hrun_builtins[i].name, hrun_builtins[i].one, 1);
        else
            mupDefineMultFun(e->mup, hrun_builtins[i].name, hrun_builtins[i].many, 1);
    }
    for (int i = 0; i < e->nnames; i++)
        mupDefineVar(e->mup, e->names[i], &e->values[i]);
    for (int i = 0; i < ncalls; i++)
        mupDefineVar(e->mup, e->calls[i].variable, &e->called[i]);
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

/* The column of a word in text, from 1. */
static int column_of(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *s = text; (s = strstr(s, word)); s += len)
        if (!hrun_expr_is_word(s[len]) && (s == text || !hrun_expr_is_word(s[-1])))
            return (int)(s - text) + 1;
    return 1;
}

/* Compile constant c, which the expression uses and which is an expression itself. */
static int compile_derived(struct hrun_expr *e, const struct hrun_const *consts, int c, struct hrun_error *err)
{
    const char *const *vars = (const char *const *)e->names;
    struct hrun_error inner = { .code = HRUN_OK };

    e->derived[c] = hrun_expr_compile(consts[c].is, vars, e->nvars, consts, c, &inner);
    if (!e->derived[c] && inner.code == HRUN_ENOMEM)
        return hrun_fail_nomem(err);
    if (!e->derived[c])
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, column_of(e->text, consts[c].name), "'%s' is '%s', which has no "
                            "value here: %s", consts[c].name, consts[c].is, inner.text);
    e->nderived++;
    for (int v = 0; v < e->nvars; v++)
        e->used[v] |= e->derived[c]->used[v];
    return 0;
}

/* Which variables are used, and whether a part of plain numbers has no value. Looking for the variables makes
 * muParser compile without evaluating; what raises flags then is its folding of numbers. */
static int inspect(struct hrun_expr *e, const char *folded, const struct hrun_const *consts, struct hrun_error *err)
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
        int at;

        mupGetExprVar(e->mup, (unsigned)i, &name, &value);
        at = value >= e->values && value < e->values + e->nnames ? (int)(value - e->values) : -1;
        if (at >= 0 && at < e->nvars)
            e->used[at] = 1;
        else if (at >= 0 && consts[at - e->nvars].is && compile_derived(e, consts, at - e->nvars, err))
            return -1;
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

/* The arguments of calls, each an expression of its own; a variable that one uses is used. */
static int compile_arguments(struct hrun_expr *e, const char *const *vars, const struct hrun_const *consts,
                             int nconsts, struct hrun_error *err)
{
    struct hrun_error inner = { .code = HRUN_OK };

    for (int i = 0; i < e->ncalls; i++) {
        const struct hrun_expr_call *call = &e->calls[i];

        if (!call->argument)
            continue;
        e->arguments[i] = hrun_expr_compile(call->argument, vars, e->nvars, consts, nconsts, &inner);
        if (!e->arguments[i] && inner.code == HRUN_ENOMEM)
            return hrun_fail_nomem(err);
        if (!e->arguments[i])
            return hrun_fail_at(err, HRUN_EPARSE, NULL, 0,
                                call->argument_column + (inner.column ? inner.column - 1 : 0), "%s", inner.text);
        for (int v = 0; v < e->nvars; v++)
            e->used[v] |= e->arguments[i]->used[v];
    }
    return 0;
}

struct hrun_expr *hrun_expr_compile_calls(const char *text, const char *const *vars, int nvars,
                                          const struct hrun_const *consts, int nconsts,
                                          const struct hrun_expr_function *own, int nown, struct hrun_error *err)
{
    struct hrun_buf lazy = HRUN_BUF_INIT, folded = HRUN_BUF_INIT;
    struct hrun_strvec numbers = HRUN_STRVEC_INIT;
    struct hrun_expr_call calls[HRUN_EXPR_CALLS_MAX] = { 0 };
    struct hrun_expr *e = NULL;
    char *plain = NULL, *masked = NULL;
    int rc = -1, ncalls = 0;

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
    if (plain)
        for (char *s = plain; *s; s++)
            *s = isspace((unsigned char)*s) ? ' ' : *s;
    masked = plain ? strdup(plain) : NULL;
    if (!masked) {
        hrun_fail_nomem(err);
        goto out;
    }
    if (nown && hrun_expr_find_calls(masked, own, nown, calls, &ncalls, err))
        goto out;
    if (hrun_expr_rewrite(masked, &folded, NULL) || hrun_expr_rewrite(masked, &lazy, &numbers)) {
        hrun_fail_nomem(err);
        goto out;
    }
    e = create(text, vars, nvars, consts, nconsts, numbers.n, calls, ncalls);
    if (!e)
        hrun_fail_nomem(err);
    else if (set_text(e, masked))
        fail_compile(e, plain, own, nown, err);
    else if (!inspect(e, folded.data, consts, err) && !compile_arguments(e, vars, consts, nconsts, err))
        rc = set_lazy(e, lazy.data, &numbers, err);
    if (!rc)
        e->is_scaled_call = ncalls == 1 && hrun_expr_is_multiple(masked, &e->calls[0]);
out:
    for (int i = 0; i < HRUN_EXPR_CALLS_MAX; i++)
        free(calls[i].argument);
    hrun_strvec_release(&numbers);
    hrun_buf_release(&lazy);
    hrun_buf_release(&folded);
    free(masked);
    free(plain);
    if (rc) {
        hrun_expr_destroy(e);
        e = NULL;
    }
    return e;
}

struct hrun_expr *hrun_expr_compile(const char *text, const char *const *vars, int nvars,
                                    const struct hrun_const *consts, int nconsts, struct hrun_error *err)
{
    return hrun_expr_compile_calls(text, vars, nvars, consts, nconsts, NULL, 0, err);
}

void hrun_expr_destroy(struct hrun_expr *e)
{
    if (!e)
        return;
    if (e->mup)
        mupRelease(e->mup);
    for (int i = 0; i < e->nnames; i++)
        free(e->names[i]);
    for (int i = 0; i < e->ncalls; i++) {
        if (e->arguments)
            hrun_expr_destroy(e->arguments[i]);
        free(e->calls[i].argument);
    }
    for (int c = 0; e->derived && c < e->nnames - e->nvars; c++)
        hrun_expr_destroy(e->derived[c]);
    free(e->derived);
    free(e->arguments);
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

int hrun_expr_eval_called(struct hrun_expr *e, const double *values, const double *called, double *out,
                          struct hrun_error *err)
{
    int flags = 0;
    double y;

    for (int i = 0; i < e->ncalls; i++)
        e->called[i] = called[i];
    for (int i = 0; i < e->nvars; i++) {
        e->values[i] = values[i];
        if (!isfinite(values[i]) && e->used[i])
            return fail_eval(e, "has no value", err);
    }
    for (int c = 0; e->nderived && c < e->nnames - e->nvars; c++)
        if (e->derived[c] && hrun_expr_eval(e->derived[c], values, &e->values[e->nvars + c], err))
            return hrun_fail_prefix(err, "%s", e->names[e->nvars + c]);
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

int hrun_expr_eval(struct hrun_expr *e, const double *values, double *out, struct hrun_error *err)
{
    static const double ones[HRUN_EXPR_CALLS_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

    return hrun_expr_eval_called(e, values, ones, out, err);
}

int hrun_expr_calls(const struct hrun_expr *e)
{
    return e->ncalls;
}

int hrun_expr_call_function(const struct hrun_expr *e, int c)
{
    return e->calls[c].function;
}

int hrun_expr_call_column(const struct hrun_expr *e, int c)
{
    return e->calls[c].column;
}

int hrun_expr_is_scaled_call(const struct hrun_expr *e)
{
    return e->is_scaled_call;
}

int hrun_expr_eval_argument(struct hrun_expr *e, int c, const double *values, double *out, struct hrun_error *err)
{
    if (e->arguments[c])
        return hrun_expr_eval(e->arguments[c], values, out, err);
    *out = 0;
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
