/* calls.h - calls of functions whose values the caller gives (internal to lib/expr)
 *
 * Purpose: muParser never sees such a call: before it does, each is replaced by a variable that is padded with blanks
 * to the call's length, so that all other places stay where they are.
 */
#ifndef HRUN_EXPR_CALLS_H
#define HRUN_EXPR_CALLS_H

#include "expr/expr.h"

enum { HRUN_EXPR_CALL_NAME = 8 };   /* of the variable: __c0, ... */

struct hrun_expr_call {
    int function;              /* index into the caller's functions */
    int column;                /* of its name in the text, from 1 */
    char *argument;            /* text, NULL of a function without one; owned */
    int argument_column;
    char variable[HRUN_EXPR_CALL_NAME];
};

/* Find the calls in a text that hrun_expr_scan accepts, and blank them out of it: each stands for its variable then.
 * calls[HRUN_EXPR_CALLS_MAX]; the first *n own their arguments in any case. Errors: HRUN_EPARSE with the column (too
 * few or too many arguments, a call in a call's argument, more calls than that, a word that begins with __, of which
 * the variables are made), HRUN_ENOMEM. */
int hrun_expr_find_calls(char *text, const struct hrun_expr_function *functions, int nfunctions,
                         struct hrun_expr_call *calls, int *n, struct hrun_error *err);

/* 1 when the text, of whose calls there is one, is that call multiplied and divided by what comes before and after. */
int hrun_expr_is_multiple(const char *text, const struct hrun_expr_call *call);

#endif
