/* lazy.h - what is checked and rewritten before muParser sees an expression (internal to lib/expr)
 *
 * Invariants: scan and rewrite see the same language; rewrite is only called on a text that scan accepted
 * and need not check anything again; what muParser refuses, it refuses before and after alike.
 */
#ifndef HRUN_EXPR_LAZY_H
#define HRUN_EXPR_LAZY_H

#include "base/buf.h"
#include "base/error.h"

/* 1 for what names and numbers are made of: a letter, a digit or _; else 0. */
int hrun_expr_is_word(char c);

/* Refuse what muParser would take and the language does not have (assignments, strings, lists), and what it
 * reports at a wrong place (parentheses, ? without :). Errors: HRUN_EPARSE with the column from 1. */
int hrun_expr_scan(const char *text, struct hrun_error *err);

/* Append text with
 *   - each A && B as ((A)?((B)!=0):0) and each A || B as ((A)?1:((B)!=0)): muParser evaluates both sides of
 *     && and ||, but only one of ?: ;
 *   - each !A as ((A)==0): its C interface gives operators like ! the precedence of || ;
 *   - each number that is not an exponent as __0, __1, ..., and the numbers as written appended to *numbers,
 *     unless that is NULL. muParser reckons ahead with numbers and so computes (N+1)/3 as N*(1/3) + 1/3,
 *     which is not always whole when 3 divides N+1; of variables it cannot know the value.
 * Result: 0, or -1 when memory ran out. */
int hrun_expr_rewrite(const char *text, struct hrun_buf *out, struct hrun_strvec *numbers);

#endif
