/* error.h - how every function of lib/ reports failure; struct hrun_error and its codes are in hrun.h
 *
 * Purpose: one error object on the caller's stack, filled by the function that failed.
 * Invariants:
 *   - lib/ never prints, and exits only when memory runs out (alloc.h): it returns 0 / -1 (or pointer / NULL) and
 *     fills the error.
 *   - Every `struct hrun_error *` argument of lib/ may be NULL. errno is undefined after a call.
 *   - On failure the outputs of a function are untouched unless its contract states otherwise.
 *   - `text` is one sentence without a final newline: what happened, where, what to do instead.
 */
#ifndef HRUN_BASE_ERROR_H
#define HRUN_BASE_ERROR_H

#include "hrun.h"

#include <stdarg.h>

/* Fill *err: code, format and its arguments. Result: always -1, so that a function can `return hrun_fail(...)`. */
#define hrun_fail(err, code, ...) hrun_fail_at((err), (code), NULL, 0, 0, __VA_ARGS__)

/* hrun_fail with a place. line, column: from 1; 0: unknown. */
int hrun_fail_at(struct hrun_error *err, enum hrun_code code, const char *file, int line,
                 int column, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* hrun_fail for a failed system call: appends ": " and the text of errno, and stores errno in err->sys. */
int hrun_fail_errno(struct hrun_error *err, enum hrun_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Fill *err with another error. Result: -1. */
static inline int hrun_fail_as(struct hrun_error *err, const struct hrun_error *why)
{
    if (err)
        *err = *why;
    return -1;
}

/* Put "prefix: " (printf style) before the text of an error that is already filled. Result: -1. */
int hrun_fail_prefix(struct hrun_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
