/* expr.c - create, query and evaluate expressions; see expr.h for the contracts
 *
 * The parser (parse.c) makes code for a stack machine, which hrun_expr_run executes. Errors are detected after the
 * evaluation by the floating point flags.
 */
#include "expr/internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Flags of errors. Underflow and inexact results are not errors. */
enum { BAD_FLAGS = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW };

/* ------------------------------------------------------------------ the functions of the language */

/* fmod. Operands are nearly always whole numbers, for which integer division is five times as fast. */
static double remainder_of(double a, double b)
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

/* log, but zero raises FE_INVALID: the message of FE_DIVBYZERO is about divisions. */
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

static double fn_squarest(double x)
{
    int32_t n, d;

    if (!(x >= 1 && x <= INT32_MAX && x == floor(x))) {
        feraiseexcept(FE_INVALID);
        return NAN;
    }
    n = (int32_t)x;
    d = (int32_t)sqrt(x);
    while (n % d)
        d--;
    return d;
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

const struct hrun_function hrun_functions[] = {
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
    { "squarest", fn_squarest, NULL },
};

const int hrun_functions_n = sizeof hrun_functions / sizeof *hrun_functions;

/* ------------------------------------------------------------------ names */

static int is_function_name(const char *name)
{
    for (int i = 0; i < hrun_functions_n; i++)
        if (!strcmp(hrun_functions[i].name, name))
            return 1;
    return 0;
}

int hrun_expr_is_name(const char *name)
{
    const char *s = name;

    if (!isalpha((unsigned char)*s) && *s != '_')
        return 0;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    return !*s && s - name <= HRUN_EXPR_NAME_MAX && !is_function_name(name);
}

static int check_consts(const struct hrun_expr_scope *scope, struct hrun_error *err)
{
    for (int i = 0; i < scope->nconsts; i++) {
        const char *name = scope->consts[i].name;

        if (!hrun_expr_is_name(name))
            return hrun_fail(err, HRUN_EINVAL, "a constant cannot be named '%s'%s", name,
                             is_function_name(name) ? ": it is a function" : "");
        for (int v = 0; v < scope->nvars; v++)
            if (!strcmp(scope->vars[v], name))
                return hrun_fail(err, HRUN_EINVAL, "a constant cannot be named '%s': it is a variable", name);
        for (int k = 0; k < i; k++)
            if (!strcmp(scope->consts[k].name, name))
                return hrun_fail(err, HRUN_EINVAL, "there are two constants named '%s'", name);
        if (!scope->consts[i].is && !isfinite(scope->consts[i].value))
            return hrun_fail(err, HRUN_EINVAL, "the constant '%s' is not a finite number", name);
    }
    return 0;
}

/* ------------------------------------------------------------------ compilation */

static struct hrun_expr *expr_alloc(const char *text, const struct hrun_expr_scope *scope)
{
    struct hrun_expr *e = xcalloc(1, sizeof *e);

    e->text = xstrdup(text);
    e->ops = xcalloc(2 * strlen(text) + 1, sizeof *e->ops);    /* the worst case is "a&&b": 6 operations */
    e->values = xcalloc((size_t)(scope->nvars + scope->nconsts) + 1, sizeof *e->values);
    e->names = xcalloc((size_t)(scope->nvars + scope->nconsts) + 1, sizeof *e->names);
    e->used = xcalloc((size_t)scope->nvars + 1, 1);
    e->derived = xcalloc((size_t)scope->nconsts + 1, sizeof *e->derived);
    for (; e->nvars < scope->nvars; e->nvars++)
        e->names[e->nvars] = xstrdup(scope->vars[e->nvars]);
    for (; e->nconsts < scope->nconsts; e->nconsts++) {
        e->values[e->nvars + e->nconsts] = scope->consts[e->nconsts].value;
        e->names[e->nvars + e->nconsts] = xstrdup(scope->consts[e->nconsts].name);
    }
    return e;
}

struct hrun_expr *hrun_expr_create(const char *text, const struct hrun_expr_scope *scope, const char *inside,
                                   struct hrun_error *err)
{
    struct hrun_expr *e;

    if (strspn(text, " \t\r\n") == strlen(text)) {
        hrun_fail(err, HRUN_EINVAL, "an expression is empty");
        return NULL;
    }
    if (strlen(text) > HRUN_EXPR_TEXT_MAX) {
        hrun_fail_at(err, HRUN_EPARSE, NULL, 0, HRUN_EXPR_TEXT_MAX + 1,
                     "the expression is longer than %d characters", HRUN_EXPR_TEXT_MAX);
        return NULL;
    }
    if (check_consts(scope, err))
        return NULL;
    e = expr_alloc(text, scope);
    if (hrun_expr_parse(e, scope, inside, err)) {
        hrun_expr_destroy(e);
        return NULL;
    }
    e->stack = xcalloc((size_t)e->depth, sizeof *e->stack);
    return e;
}

struct hrun_expr *hrun_expr_compile_in(const struct hrun_expr_scope *scope, const char *text, struct hrun_error *err)
{
    return hrun_expr_create(text, scope, NULL, err);
}

struct hrun_expr *hrun_expr_compile(const char *text, const char *const *vars, int nvars,
                                    const struct hrun_const *consts, int nconsts, struct hrun_error *err)
{
    return hrun_expr_create(text, &(struct hrun_expr_scope){ vars, nvars, consts, nconsts, NULL, 0 }, NULL, err);
}

void hrun_expr_destroy(struct hrun_expr *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->nvars + e->nconsts; i++)
        free(e->names[i]);
    for (int c = 0; c < e->ncalls; c++)
        hrun_expr_destroy(e->calls[c].argument);
    for (int c = 0; c < e->nconsts; c++)
        hrun_expr_destroy(e->derived[c]);
    free(e->derived);
    free(e->used);
    free(e->names);
    free(e->values);
    free(e->stack);
    free(e->ops);
    free(e->text);
    free(e);
}

/* ------------------------------------------------------------------ evaluation */

double hrun_expr_run(const struct op *ops, int n, const double *values, const double *called, double *stack)
{
    double *top = stack;         /* first free element */

#define ONE(code, value)  case code: { const double a = top[-1]; top[-1] = (value); break; }
#define TWO(code, value)  case code: { const double a = top[-2], b = *--top; top[-1] = (value); break; }
    for (int i = 0; i < n; i++) {
        const struct op *op = &ops[i];

        switch ((enum opcode)op->code) {
        case OP_NUMBER: *top++ = op->number; break;
        case OP_VALUE: *top++ = values[op->arg]; break;
        case OP_CALLED: *top++ = called ? called[op->arg] : 1; break;
        case OP_JUMP: i = op->arg - 1; break;
        case OP_JUMP_IF_0: i = *--top == 0 ? op->arg - 1 : i; break;
        case OP_MANY:
            top -= op->count - 1;
            top[-1] = hrun_functions[op->arg].many(top - 1, op->count);
            break;
        ONE(OP_ONE, hrun_functions[op->arg].one(a))
        ONE(OP_NEGATE, -a)
        ONE(OP_NOT, a == 0)
        ONE(OP_TRUTH, a != 0)
        ONE(OP_SQUARE, a * a)
        ONE(OP_CUBE, a * a * a)
        TWO(OP_ADD, a + b)
        TWO(OP_SUBTRACT, a - b)
        TWO(OP_MULTIPLY, a * b)
        TWO(OP_DIVIDE, a / b)
        TWO(OP_REMAINDER, remainder_of(a, b))
        TWO(OP_POWER, pow(a, b))
        TWO(OP_LESS, a < b)
        TWO(OP_LESS_EQUAL, a <= b)
        TWO(OP_GREATER, a > b)
        TWO(OP_GREATER_EQUAL, a >= b)
        TWO(OP_EQUAL, a == b)
        TWO(OP_NOT_EQUAL, a != b)
        }
    }
#undef ONE
#undef TWO
    return stack[0];
}

const char *hrun_expr_flags(void)
{
    int flags = fetestexcept(BAD_FLAGS);

    if (!flags)
        return NULL;
    feclearexcept(BAD_FLAGS);
    if (flags & FE_DIVBYZERO)
        return "divides by zero";
    if (flags & FE_INVALID)
        return "takes 0/0, or a logarithm, root or squarest() of a number that has none";
    return "overflows";
}

static int fail_eval(const struct hrun_expr *e, const char *what, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf at = HRUN_BUF_INIT;

    for (int i = 0; i < e->nvars; i++)
        if (e->used[i])
            hrun_buf_addf(&at, "%s%s=%.15g", at.len ? ", " : " at ", e->names[i], e->values[i]);
    return hrun_fail(err, HRUN_ENONFINITE, "'%s' %s%s", e->text, what, at.data);
}

int hrun_expr_eval_called(struct hrun_expr *e, const double *values, const double *called, double *out,
                          struct hrun_error *err)
{
    const char *why = NULL;
    double y;

    for (int i = 0; i < e->nvars; i++) {
        e->values[i] = values[i];
        if (!isfinite(values[i]) && e->used[i])
            return fail_eval(e, "has no value", err);
    }
    for (int c = 0; e->nderived && c < e->nconsts; c++)
        if (e->derived[c] && hrun_expr_eval(e->derived[c], values, &e->values[e->nvars + c], err))
            return hrun_fail_prefix(err, "%s", e->names[e->nvars + c]);
    y = hrun_expr_run(e->ops, e->nops, e->values, called, e->stack);
    /* Flags may be set from earlier operations: clear them and evaluate again. Flags are cheap to test, not to
     * clear. */
    if (hrun_expr_flags()) {
        y = hrun_expr_run(e->ops, e->nops, e->values, called, e->stack);
        why = hrun_expr_flags();
    }
    if (why || !isfinite(y))
        return fail_eval(e, why ? why : "has no value", err);
    *out = y;
    return 0;
}

int hrun_expr_eval(struct hrun_expr *e, const double *values, double *out, struct hrun_error *err)
{
    return hrun_expr_eval_called(e, values, NULL, out, err);
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
    if (e->calls[c].argument)
        return hrun_expr_eval(e->calls[c].argument, values, out, err);
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
