/* draft.h - the text of an app definition that nobody wrote by hand
 *
 * Purpose: print what is known of an application as a definition that hrun_app_load reads (format: hrun-app(5)), with
 * comments that tell a person where it comes from.
 */
#ifndef HRUN_APP_DRAFT_H
#define HRUN_APP_DRAFT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct hrun_app_draft {
    const char *name;              /* [a-z0-9][a-zA-Z0-9._-]* */
    const char *comment;           /* lines of text without '#', or NULL: stand on top */
    const char *program;           /* name by which the application is known, or NULL */
    const char *rule;              /* expression */
    const char *rule_comment;      /* stands before it, or NULL */
    const char *terms_comment;
    const int *procs_per_pe;
    int nprocs;
    const struct hrun_strvec *np, *n, *p;
    char *const *args;             /* words as the user wrote them ({N} and {P} are replaced, other braces stay) */
    const char *time_match;        /* regular expression, or NULL: the wall clock */
    const int64_t *sizes;          /* ascending; may be empty */
    int nsizes;
};

/* Append the definition. Errors: HRUN_EINVAL (text with a control character: it has no place in one line),
 * HRUN_ENOMEM; *out is then undefined. Whether names and expressions are right hrun_app_load tells. */
int hrun_app_draft_print(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err);

#endif
