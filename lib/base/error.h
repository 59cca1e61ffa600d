/* error.h - how every function of lib/ reports failure
 *
 * Purpose: one error object on the caller's stack, filled by the function that failed.
 * Invariants:
 *   - lib/ never prints and never exits: it returns 0 / -1 (or pointer / NULL) and fills the error.
 *   - Every `struct hrun_error *` argument of lib/ may be NULL; errno is left as it was found.
 *   - On failure the outputs of a function are untouched unless its contract says otherwise.
 *   - `text` is one sentence without a final newline: what happened, where, what to do instead.
 */
#ifndef HRUN_BASE_ERROR_H
#define HRUN_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* Stable codes; hrun/ and calib/ map them to exit statuses. */
enum hrun_code {
    HRUN_OK = 0,
    HRUN_ENOMEM,      /* memory ran out */
    HRUN_EINVAL,      /* a value that the caller or the user gave cannot be used */
    HRUN_EPARSE,      /* text that does not parse: file, line and column are set */
    HRUN_ENOENT,      /* something named does not exist */
    HRUN_EIO,         /* the system refused a read, write, lock or the like; `sys` holds errno */
    HRUN_ECORRUPT,    /* stored data does not pass its checks */
    HRUN_ENODATA,     /* too few measurements, or no model */
    HRUN_ERANK,       /* a least squares matrix is rank deficient */
    HRUN_ENONFINITE,  /* NaN or infinity where a number is needed */
    HRUN_EINFEASIBLE, /* no configuration is valid */
    HRUN_EMPI,        /* the program's MPI cannot be served by the engine */
    HRUN_ENOEXEC,     /* the program exists and cannot be executed (exit status 126) */
    HRUN_ENOPROG,     /* the program does not exist (exit status 127) */
    HRUN_EENGINE,     /* the engine itself failed */
    HRUN_EEXISTS,     /* something is in the way, for instance a file the user wrote */
    HRUN_ECHANGED,    /* a host is not what was remembered of it; nothing of the program was started */
    HRUN_EBUSY        /* PEs that are needed are in use by other runs */
};

enum { HRUN_ERROR_FILE = 512, HRUN_ERROR_TEXT = 1536 };

struct hrun_error {
    enum hrun_code code;
    int sys;                      /* errno of the failed system call, or 0 */
    char file[HRUN_ERROR_FILE];   /* where something was parsed, or "" */
    int line, column;             /* from 1; 0 when unknown */
    char text[HRUN_ERROR_TEXT];
    double excess;                /* limits that nothing keeps: the nearest is over them by this factor; else 0 */
};

/* The bytes of a struct hrun_error, for languages that do not read this header: so much zeroed memory is one. */
size_t hrun_error_size(void);

/* Fill *err. Result: always -1, so that a function can `return hrun_fail(...)`. */
int hrun_fail(struct hrun_error *err, enum hrun_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place; line and column from 1, 0 when unknown. */
int hrun_fail_at(struct hrun_error *err, enum hrun_code code, const char *file, int line,
                 int column, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same for a failed system call: appends ": " and the text of the present errno,
 * which is stored in err->sys. */
int hrun_fail_errno(struct hrun_error *err, enum hrun_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Shorthand for HRUN_ENOMEM. */
int hrun_fail_nomem(struct hrun_error *err);

/* Put "prefix: " (printf style) before the text of an error that is already filled. Result: -1. */
int hrun_fail_prefix(struct hrun_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Write "FILE:LINE:COLUMN: text" (as much of the place as is known) into out[size],
 * always NUL-terminated, other control characters than line feed and tab as '?'. Result: out. */
char *hrun_error_format(const struct hrun_error *err, char *out, size_t size);

#endif
