/* opts.h - one option table: parsing, --help, shell completion, and the test against the man page
 *
 * Purpose: the command's options are data. As in mpirun, long options work with one dash or two
 * (-app, --app), a value may follow "=" or stand in the next word, and the first word that is no option
 * (or "--") ends the options: what follows belongs to the program. Built on getopt_long_only(3).
 * Invariants: the table ends with a row whose name and short are both 0; a row with a NULL name has only
 * the short form.
 */
#ifndef HRUN_BASE_OPTS_H
#define HRUN_BASE_OPTS_H

#include "base/buf.h"
#include "base/error.h"

/* What may follow an option, for the completion. */
enum hrun_opt_arg {
    HRUN_OPT_NONE,     /* a flag */
    HRUN_OPT_WORD,     /* free text */
    HRUN_OPT_FILE,
    HRUN_OPT_DIR,
    HRUN_OPT_CHOICE,   /* one of `choices`, blank-separated */
    HRUN_OPT_NAME,     /* free text; the completion offers the first word of each line that the command `choices`
                          prints */
    HRUN_OPT_PAIR      /* two words (--mca KEY VALUE): apply is called with "KEY=VALUE" */
};

struct hrun_opt {
    const char *name;      /* long form without dashes */
    char sym;              /* short form, or 0 */
    enum hrun_opt_arg arg;
    const char *meta;      /* what the help calls the value: "NAME" */
    const char *choices;   /* for HRUN_OPT_CHOICE: "time cost"; for HRUN_OPT_NAME: "hrun --list-apps"; else NULL */
    const char *help;      /* one line; NULL hides an alias from --help */
    const char *group;     /* heading under which --help lists it */
    /* Apply the option to the command's settings. value is NULL for a flag. 0 or -1 with *err. */
    int (*apply)(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
    size_t offset;         /* for the ready-made apply functions: offsetof(settings, member) */
};

/* Ready-made apply functions: set an int member to 1; point a const char * member at value. */
int hrun_opt_flag(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
int hrun_opt_string(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
/* Append value to a struct hrun_strvec member. */
int hrun_opt_append(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

/* Parse argv. *rest becomes the index of the first word that is not the command's own. Names may be cut as
 * long as they stay unique. Options are applied in their order, so those before a mistake have been when it
 * is found; *rest is untouched then. getopt is global: one thread at a time.
 * Errors: HRUN_EINVAL: unknown option (with the nearest known one), ambiguous prefix, missing or
 * unexpected value, a value outside `choices`. */
int hrun_opts_parse(const struct hrun_opt *table, void *settings, int argc, char **argv, int *rest,
                    struct hrun_error *err);

/* Append the options, grouped, as --help shows them (80 columns). */
void hrun_opts_help(const struct hrun_opt *table, struct hrun_buf *out);

/* Append a bash completion function for command and register it. Where a program is due, commands and files are
 * offered, and the blank-separated words of `subcommands` (NULL: none); behind the program files, behind a
 * subcommand what the table's first HRUN_OPT_NAME option takes, or files where its word ends in ":". */
void hrun_opts_completion(const struct hrun_opt *table, const char *command, const char *subcommands,
                          struct hrun_buf *out);

#endif
