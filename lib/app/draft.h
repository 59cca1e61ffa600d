/* draft.h - print what is known of an application as a definition (format: hrun-app(5)), with comments on its origin */
#ifndef HRUN_APP_DRAFT_H
#define HRUN_APP_DRAFT_H

#include "app/app.h"

struct hrun_app_draft {
    const char *name;              /* [a-z0-9][a-zA-Z0-9._-]* */
    const char *title;             /* or NULL */
    const char *comment;           /* lines of text without '#', or NULL: stand on top */
    const char *program;           /* name by which the application is known, or NULL */
    const char *rule;              /* expression */
    const char *rule_comment;      /* stands before it, or NULL */
    const char *terms_comment;
    const int *procs_per_pe;
    int nprocs;                    /* 0: none are said */
    int in_command;                /* 1: of a command, `size: number` and `scratch: copy` */
    const struct hrun_strvec *np, *n, *p;
    const char *units;             /* of its shares, by which terms over P are in proportion to W; or NULL */
    char *const *args;             /* words as the user wrote them ({N}, {P} and {shares} are replaced, other braces
                                      stay) */
    const char *time_match;        /* regular expression, or NULL: the wall clock */
    const char *time_file, *time_value;    /* as those of struct hrun_app, or NULL */
    const int64_t *sizes;          /* ascending; may be empty */
    int nsizes;
};

/* Append the definition. Errors: HRUN_EINVAL (text with a control character: it has no place in one line); *out is then
 * undefined. Whether names and expressions are right hrun_app_load tells. */
int hrun_app_draft_print(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err);

/* Append, as lines of a definition, what one of `size: command` says of its commands: rule, procs_per_pe and time.
 * Errors: as above. */
int hrun_app_print_shared(const struct hrun_app *app, struct hrun_buf *out, struct hrun_error *err);

#endif
