/* opts.h - one option table: parsing, --help, shell completion, and the test against the man page
 *
 * Purpose: the command's options are data. As in mpirun, long options work with one dash or two
 * (-app, --app), a value may follow "=" or be the next word, and the first word that is not an option (or "--") ends
 * the options: the rest belongs to the program. Built on getopt_long_only(3).
 * A command has modes: hrun runs a program, or shows the cluster, or plans jobs. Each row of the table lists the modes
 * in which its option has an effect; other modes refuse it.
 * Invariants: the table ends with a row whose name and sym are both 0, and has at most HRUN_OPTS_MAX rows; a row with
 * a NULL name has only the short form.
 */
#ifndef HRUN_BASE_OPTS_H
#define HRUN_BASE_OPTS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

enum { HRUN_OPTS_MAX = 96 };

/* The value of an option, for the completion and for checks. */
enum hrun_opt_arg {
    HRUN_OPT_NONE,     /* a flag */
    HRUN_OPT_WORD,     /* free text */
    HRUN_OPT_FILE,
    HRUN_OPT_DIR,
    HRUN_OPT_CHOICE,   /* one of `choices`, blank-separated */
    HRUN_OPT_NAME,     /* free text; the completion offers the first word of each line that the command `choices`
                          prints */
    HRUN_OPT_PAIR,     /* two words (--mca KEY VALUE): apply is called with "KEY=VALUE" */
    /* Numbers, which are stored at `offset`; there is no apply. */
    HRUN_OPT_COUNT,    /* a whole number in min..max: int64_t */
    HRUN_OPT_NUMBER,   /* above 0: double */
    HRUN_OPT_PERCENT,  /* above 0, at most 100, as a fraction: double; if min is -1 also 0, stored as -1 */
    HRUN_OPT_TIME      /* seconds above 0: double */
};

struct hrun_opt {
    const char *name;      /* long form without dashes */
    char sym;              /* short form, or 0 */
    enum hrun_opt_arg arg;
    const char *meta;      /* name of the value in the help: "NAME" */
    const char *choices;   /* for HRUN_OPT_CHOICE: "time cost"; for HRUN_OPT_NAME: "hrun --list-apps"; else NULL */
    const char *help;      /* one line; NULL hides an alias from --help */
    const char *group;     /* heading under which --help lists it */
    /* Apply the option to the command's settings. value is NULL for a flag. 0 or -1 with *err. */
    int (*apply)(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
    size_t offset;         /* for numbers and the ready-made apply functions: offsetof(settings, member) */
    unsigned modes;        /* modes in which the option has an effect: bits 1 << place in the list of modes */
    int64_t min, max;      /* for HRUN_OPT_COUNT */
    const char *const *needs; /* names of options, up to a NULL, one of which must be given too; NULL: none */
    const char *const *against; /* names of options that contradict this one; NULL: none */
    int needs_app;         /* 1: the option needs an app definition, which the command finds later */
    int optional;          /* 1: the value may be left out, and otherwise follows "=" (--wait=5m). A value left out is
                              INFINITY for a time, -1 for a count, `choices` for a choice, and NULL in apply for a word.
                              An optional word is a number or a time. */
    int often;             /* 1: -h lists it, too */
    int of_user;           /* 1: the user may set it permanently (hrun: options.yaml); a flag, or a number at offset */
};

/* Ready-made apply functions: set an int member to 1; point a const char * member at value. */
int hrun_opt_flag(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
int hrun_opt_string(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);
/* Append value to a struct hrun_strvec member. If meta is "NAME=VALUE" or "NAME:VALUE", value must have this form. */
int hrun_opt_append(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err);

/* Apply one option whose value (NULL: a flag) was given as `as` ("--top"). Errors: HRUN_EINVAL, those of apply. */
int hrun_opt_apply(const struct hrun_opt *opt, const char *as, void *settings, const char *value,
                   struct hrun_error *err);

enum { HRUN_OPT_LONG = 1, HRUN_OPT_SHORT };

/* The options of a command line. Zeroed: none. */
struct hrun_opts_given {
    unsigned char rows[HRUN_OPTS_MAX];   /* of the table: form in which the option was given last; 0: not given */
    const char *values[HRUN_OPTS_MAX];   /* the last value; NULL: no value, or the option was not given */
    int ended;                           /* 1: "--" ended the options */
    int rest;                            /* index in argv of the first word that is not the command's own */
};

/* Parse argv and add its options to *given. A unique prefix of a name suffices. Options are applied in order. After a
 * failure the options before the mistake have been applied, and given->rest is untouched. getopt is global: one thread
 * at a time.
 * Errors: HRUN_EINVAL: unknown option (with the nearest known one), ambiguous prefix, missing or unexpected value, a
 * value that is not of its kind. */
int hrun_opts_parse(const struct hrun_opt *table, void *settings, int argc, char **argv,
                    struct hrun_opts_given *given, struct hrun_error *err);

/* ---------------------------------------------------------------- modes */

/* A mode of a command. */
struct hrun_opt_mode {
    const char *word;      /* word in place of a program ("show"); NULL: any word or none */
    const char *option;    /* an option that is given ("network", "dry-run=time"); NULL: with or without options */
    const char *name;      /* for messages: "`show --network`" */
    int takes_words;       /* a program, or names, may follow */
    const char *usage;     /* of a word: the lines of its --help above its options */
};

/* The index of the first mode that fits; the list ends with one that always fits. word: the first word after the
 * options, or NULL. */
int hrun_opts_mode(const struct hrun_opt *table, const struct hrun_opt_mode *modes,
                   const struct hrun_opts_given *given, const char *word);

/* Refuse the first option that has no effect in this mode, lacks all of its `needs`, or contradicts another option.
 * Errors: HRUN_EINVAL. */
int hrun_opts_check(const struct hrun_opt *table, const struct hrun_opt_mode *modes, int mode,
                    const struct hrun_opts_given *given, struct hrun_error *err);

/* ---------------------------------------------------------------- texts */

/* Append the options that have an effect in one of these modes, as --help shows them (80 columns): grouped; with often
 * = 1 only those that -h lists, without headings. */
void hrun_opts_help(const struct hrun_opt *table, unsigned modes, int often, struct hrun_buf *out);

/* Append a bash completion function for command and register it. In place of a program the function offers commands,
 * files and the blank-separated words of `subcommands` (NULL: none); after a program files; after a subcommand the
 * values of the table's first HRUN_OPT_NAME option, or files if the subcommand ends in ":". */
void hrun_opts_completion(const struct hrun_opt *table, const char *command, const char *subcommands,
                          struct hrun_buf *out);

#endif
