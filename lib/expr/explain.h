/* explain.h - what muParser found wrong, in words (internal to lib/expr) */
#ifndef HRUN_EXPR_EXPLAIN_H
#define HRUN_EXPR_EXPLAIN_H

#include "base/error.h"

/* The words that an expression may use. */
struct hrun_words {
    const char *const *names;       /* variables and constants */
    size_t nnames;
    const char *const *functions;
    size_t nfunctions;
};

/* Fill *err with HRUN_EPARSE, the column from 1 in text, what stands there and, for an unknown word, the
 * known ones. text: as the user wrote it, blanks for other white space, accepted by hrun_expr_scan. code, place:
 * muParser's error code and position (from 0; -1 when it knows none). Result: -1. */
int hrun_expr_explain(const char *text, int code, int place, const struct hrun_words *words,
                      struct hrun_error *err);

#endif
