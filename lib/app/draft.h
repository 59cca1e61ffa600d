/* draft.h - print an application as a definition (format: hrun-app(5)), with comments on its origin */
#ifndef HRUN_APP_DRAFT_H
#define HRUN_APP_DRAFT_H

#include "app/app.h"

struct hrun_app_draft {
    const char *name;              /* [a-z0-9][a-zA-Z0-9._-]* */
    const char *title;             /* or NULL */
    const char *comment;           /* lines of text without '#' for the top, or NULL */
    const char *program;           /* entry of `programs`, or NULL */
    const char *rule;              /* expression */
    const char *rule_comment;      /* printed before it, or NULL */
    const char *terms_comment;
    const int *procs_per_pe;
    int nprocs;                    /* 0: the key is left out */
    int in_command;                /* 1: print `size: number` and `scratch: copy` for a command */
    const struct hrun_strvec *np, *n, *p;
    const char *units;             /* units of `shares`, or NULL: no shares. With shares, "/P" at the end of a term is
                                      printed as "*W" */
    char *const *args;             /* words as the user typed them: {N}, {P} and {shares} are templates, other braces
                                      stay */
    const char *time_match;        /* regular expression, or NULL: the wall clock */
    const char *time_file, *time_value;    /* `file` and `value` of the key `time`, or NULL */
    const int64_t *sizes;          /* ascending; may be empty */
    int nsizes;
};

/* Append the definition, without checking names and expressions (hrun_app_load does). Errors: HRUN_EINVAL (text with a
 * control character); *out is undefined then. */
int hrun_app_draft_print(const struct hrun_app_draft *d, struct hrun_buf *out, struct hrun_error *err);

/* Append the keys of a definition with `size: command` that its commands share (rule, procs_per_pe and time), as lines
 * of a definition. Errors: as above. */
int hrun_app_print_shared(const struct hrun_app *app, struct hrun_buf *out, struct hrun_error *err);

#endif
