/* calls.c - calls of functions whose values the caller gives; see calls.h for the contracts */
#include "expr/calls.h"

#include "expr/lazy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* The function that the word of this length at s calls, or -1. */
static int called(const char *s, size_t len, const struct hrun_expr_function *functions, int n)
{
    for (int i = 0; i < n; i++)
        if (strlen(functions[i].name) == len && !strncmp(functions[i].name, s, len) && *blanks(s + len) == '(')
            return i;
    return -1;
}

/* The closing parenthesis of the one at s. Commas that separate arguments of this call are counted. */
static const char *closing(const char *s, int *commas)
{
    int depth = 0;

    for (*commas = 0;; s++) {
        depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
        *commas += *s == ',' && depth == 1;
        if (!depth)
            return s;
    }
}

/* The length of the name or the number at s, 0 when there is none. */
static size_t word_length(const char *s)
{
    size_t n = 0;
    int number = isdigit((unsigned char)*s) || *s == '.';

    while (hrun_expr_is_word(s[n]) ||
           (number && (s[n] == '.' || ((s[n] == '+' || s[n] == '-') && n && strchr("eE", s[n - 1])))))
        n++;
    return n;
}

/* A call inside a call's argument, or NULL. */
static const char *nested(const char *s, const char *end, const struct hrun_expr_function *functions, int n)
{
    while (s < end) {
        size_t len = word_length(s);

        if (len && called(s, len, functions, n) >= 0)
            return s;
        s += len ? len : 1;
    }
    return NULL;
}

/* Take the call of function f at text + at, and blank it out. */
static int take(char *text, size_t at, size_t len, const struct hrun_expr_function *functions, int nfunctions, int f,
                struct hrun_expr_call *call, int number, struct hrun_error *err)
{
    char *open = strchr(text + at + len, '('), *start, *end;
    const char *inner, *name = functions[f].name;
    int commas, empty, column = (int)at + 1;

    end = text + (closing(open, &commas) - text);
    start = open + 1;
    empty = blanks(start) == end;
    if (functions[f].arguments == 0 && !empty)
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, column, "too many arguments for '%s': write %s()", name, name);
    if (functions[f].arguments == 1 && (empty || commas))
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, column, "too %s arguments for '%s'", empty ? "few" : "many",
                            name);
    inner = nested(start, end, functions, nfunctions);
    if (inner)
        return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)(inner - text) + 1,
                            "'%.*s' cannot stand in the argument of '%s'", (int)word_length(inner), inner, name);
    *call = (struct hrun_expr_call) { .function = f, .column = column, .argument_column = (int)(start - text) + 1 };
    if (!empty) {
        call->argument = strndup(start, (size_t)(end - start));
        if (!call->argument)
            return hrun_fail_nomem(err);
    }
    snprintf(call->variable, sizeof call->variable, "__c%d", number);
    memset(text + at, ' ', (size_t)(end + 1 - (text + at)));
    memcpy(text + at, call->variable, strlen(call->variable));
    return 0;
}

int hrun_expr_find_calls(char *text, const struct hrun_expr_function *functions, int nfunctions,
                         struct hrun_expr_call *calls, int *n, struct hrun_error *err)
{
    *n = 0;
    for (size_t at = 0; text[at];) {
        size_t len = word_length(text + at);
        int f = len ? called(text + at, len, functions, nfunctions) : -1;

        if (!strncmp(text + at, "__", 2))
            return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)at + 1, "unknown variable '%.*s': no name begins "
                                "with __", (int)len, text + at);
        if (f >= 0 && *n == HRUN_EXPR_CALLS_MAX)
            return hrun_fail_at(err, HRUN_EPARSE, NULL, 0, (int)at + 1, "more than %d calls of %s and the like",
                                HRUN_EXPR_CALLS_MAX, functions[f].name);
        if (f >= 0 && take(text, at, len, functions, nfunctions, f, &calls[*n], *n, err))
            return -1;
        *n += f >= 0;
        at += len ? len : 1;
    }
    return 0;
}

int hrun_expr_is_multiple(const char *text, const struct hrun_expr_call *call)
{
    const char *at = text + call->column - 1, *before = at, *after = at + strlen(call->variable);

    for (const char *s = text; *s;) {
        size_t len = word_length(s);
        int commas;

        if (s == at)
            before = NULL;   /* outside parentheses, as it should be */
        if (*s == '(')
            s = closing(s, &commas);
        else if (!len && !strchr(" *%/^", *s))
            return 0;
        s += len ? len : 1;
    }
    if (before)
        return 0;
    for (before = at; before > text && isspace((unsigned char)before[-1]);)
        before--;
    after = blanks(after);
    return (before == text || before[-1] == '*') && (!*after || *after == '*' || *after == '/') &&
           !strchr(after, '%');
}
