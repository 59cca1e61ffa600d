/* expr.h - expressions of rules, terms and memory
 *
 * Purpose: compile "N % (P*P) == 0 && ispow2(P)" once, evaluate it often.
 * Language: + - * / ^ and parentheses, % (remainder, sign of the left side), comparisons, && || ! (0 is
 * false), c ? a : b, min max abs sqrt cbrt exp floor ceil round, ln and log (both natural), log2, log10,
 * ispow2(x) (1 if x is a power of two, 1 included), squarest(x) (the greatest divisor of x that is at most sqrt(x), for
 * a whole number x from 1 to 2^31 - 1), the variables given at compilation, and constants.
 * ^ is right-associative and binds tighter than a sign (-2^2 is -4); ! binds as a sign does (!N == 0 is (!N) == 0);
 * the second of two signs in a row needs parentheses. At most HRUN_EXPR_TEXT_MAX characters.
 * && and || and ?: do not evaluate an operand that cannot change the result, so "P > 1 && N % (P-1) == 0" is safe; &&
 * and || give 0 or 1.
 * Invariants:
 *   - a division or remainder by zero, a logarithm of zero, a root of a negative number or an overflow
 *     anywhere in the evaluation is an error, even if a comparison would hide it; an error among plain numbers
 *     ("1/0") without && || and ?: is found at compilation, even in a branch that is never taken;
 *   - these errors are detected by the floating point flags of the thread, which a call may clear;
 *   - a compiled expression stores its variables, so two threads must not evaluate it at the same time.
 * Functions of the caller: an expression may call functions that the caller implements, "3*ring(16*N/P^2)". Their
 * arguments are expressions in the same variables, without such calls. hrun_expr_eval_argument evaluates one argument;
 * the caller computes the values of its functions and passes them to hrun_expr_eval_called.
 */
#ifndef HRUN_EXPR_H
#define HRUN_EXPR_H

#include "base/error.h"

#include <stddef.h>

enum { HRUN_EXPR_TEXT_MAX = 4096, HRUN_EXPR_NAME_MAX = 100, HRUN_EXPR_CALLS_MAX = 16 };

struct hrun_expr;

/* A named number given at compilation (-D nb=128), or a named expression. */
struct hrun_const {
    char *name;
    double value;               /* used if `is` is NULL */
    char *is;                   /* an expression in the variables and in the constants before this one, or NULL */
};

/* A function that the caller implements. */
struct hrun_expr_function {
    const char *name;          /* not the name of a function of the language; a constant may have it */
    int arguments;             /* 0 or 1 */
};

/* The names that an expression may use. */
struct hrun_expr_scope {
    const char *const *vars;   /* in the order of the values at evaluation */
    int nvars;
    const struct hrun_const *consts;
    int nconsts;
    const struct hrun_expr_function *functions;
    int nfunctions;
};

/* Compile text. A constant that is an expression is compiled only if text uses the constant; an unused one may have
 * variables that are not in vars. Errors: HRUN_EPARSE with err->column from 1 in text, naming the text found and the
 * known names; also for a call in the argument of another, and for more than HRUN_EXPR_CALLS_MAX calls; HRUN_EINVAL
 * (empty text, a constant that hides a variable or function). */
struct hrun_expr *hrun_expr_compile_in(const struct hrun_expr_scope *scope, const char *text, struct hrun_error *err);
/* hrun_expr_compile_in without functions of the caller. */
struct hrun_expr *hrun_expr_compile(const char *text, const char *const *vars, int nvars,
                                    const struct hrun_const *consts, int nconsts, struct hrun_error *err);
void hrun_expr_destroy(struct hrun_expr *e);

/* The number of calls of the caller's functions. Calls are numbered from 0 in the order of the text. Then for call c:
 * the index of its function, and the column of its name, from 1. */
int hrun_expr_calls(const struct hrun_expr *e);
int hrun_expr_call_function(const struct hrun_expr *e, int c);
int hrun_expr_call_column(const struct hrun_expr *e, int c);
/* 1 if the expression is one call times a factor without calls ("N*ring(8)/P", but neither "ring(8) + 1" nor
 * "1/ring(8)"), else 0. Its value with 1 for the call is the factor. */
int hrun_expr_is_scaled_call(const struct hrun_expr *e);
/* Evaluate the argument of call c with values[nvars]; 0 if there is no argument. Errors: those of hrun_expr_eval. */
int hrun_expr_eval_argument(struct hrun_expr *e, int c, const double *values, double *out, struct hrun_error *err);
/* hrun_expr_eval with the values of the calls, called[hrun_expr_calls(e)]; hrun_expr_eval uses 1 for each call. */
int hrun_expr_eval_called(struct hrun_expr *e, const double *values, const double *called, double *out,
                          struct hrun_error *err);

/* Evaluate with values[nvars]. Errors: HRUN_ENONFINITE; the message names expression and values
 * ("'N % (P-4)' divides by zero at N=100, P=4"). */
int hrun_expr_eval(struct hrun_expr *e, const double *values, double *out, struct hrun_error *err);

const char *hrun_expr_text(const struct hrun_expr *e);
/* 1 if the expression uses variable v (index in vars). */
int hrun_expr_uses(const struct hrun_expr *e, int v);

/* 1 if name is valid for a constant, else 0: a letter or _, then letters, digits and _, at most HRUN_EXPR_NAME_MAX
 * characters, not the name of a function. */
int hrun_expr_is_name(const char *name);

#endif
