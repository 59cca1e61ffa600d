/* problem.h - treat a command without a definition as an application, with one size or with its size in a word
 *
 * Purpose: most people run one command many times. The words, and the contents of the files that the words name,
 * identify an application whose work never changes (`size: fixed`), so that profiles, corrections and learning apply.
 * If the command was measured at several values of a number in its words (`hrun-calibrate --vary`, `size: number`), the
 * application includes all values.
 * On disk, in the data folder: problems/NAME.yaml, a definition like others; problems/commands, the index, with a line
 * "WORDS CONTENTS FOLDER NAME" (three hashes and a name) for each command. WORDS is the hash of the words with {N} in
 * place of the number. If a command has several lines, the last one is valid.
 * Invariants: NAME consists of the program's name and a hash unless -app sets it. Only problem_keep writes files.
 * CONTENTS includes the program if the word names its folder too, and the path of the working folder if no other word
 * names a file, as the program then finds its input there. A whole number names no file. Of a file over 16 MiB, only
 * the size and the first and last 8 MiB count.
 */
#ifndef HRUN_SESSION_PROBLEM_H
#define HRUN_SESSION_PROBLEM_H

#include "session/context.h"

struct problem {
    char *text;                 /* the definition as YAML */
    char *name;                 /* "": the command has no usable name, and is not stored */
    struct hrun_app *base;      /* the definition with `size: command` of this program; or NULL */
    const char *given;          /* -app, unless it names `base`; or NULL */
    uint64_t words, contents, folder;   /* hashes */
    int reads;                  /* 1: standard input has data: runs are not recorded, as the next may get other data */
    int known;                  /* 1: the index has this command with these contents */
    int defined;                /* 1: problems/NAME.yaml exists */
};

/* If c->app is NULL or has `size: command`, set c->app to the application of this command (words: program and
 * arguments): the stored one, else a new one. c->app becomes NULL without a store or words, for unknown words with {N},
 * and for words without {N} if the user gives a size (N; -1: several). The user gets a note if a file has changed.
 * For another c->app, set c->number to the size in the words (number_from_args). If the words have no size and -app is
 * not given, the stored application of this command replaces c->app.
 * Errors: HRUN_EINVAL (also if -app names a definition with `size: command` and the words are not one command without
 * a size), HRUN_EIO, HRUN_EPARSE. */
int problem_find(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* Set c->problem for words that may have {N}, and c->app to the stored application or NULL. Errors: as problem_find. */
int problem_begin(struct context *c, char *const *words, struct hrun_error *err);
/* Store text (YAML) as the definition of c->problem, in place of an earlier one. Errors: those of the store. */
int problem_define(struct context *c, const char *text, struct hrun_error *err);
/* Set *units to the number of units of work that {shares} in the words or in the variables of env (NULL: none) divide:
 * the number in the form, or 1000 for relative shares; 0 without {shares}; -1 if the size gives the number (sized = 1).
 * Words may contain constants of app (or NULL). Errors: HRUN_EINVAL (the number is not known; an unknown form; a form
 * without quotes that the shell has changed). */
int problem_units(const struct hrun_app *app, char *const *words, const struct hrun_strvec *env, int sized,
                  int64_t *units, struct hrun_error *err);
/* Write the rule of c->app, learnt from failed runs, to the definition of c->problem. Errors: those of the store. */
int problem_keep_rule(struct context *c, struct hrun_error *err);
/* Remove a learnt rule from c->app; problem_keep removes the rule from disk. A user's own rule stays. */
int problem_forget_rule(struct context *c, struct hrun_error *err);
/* 1 if c->app is the stored application of a command, else 0. */
int problem_is_app(const struct context *c);
/* Load the stored application with this name into c->app. Result: 0; 1 if there is none; -1 with *err. */
int problem_named(struct context *c, const char *name, struct hrun_error *err);
/* Append to *err, an error about an unknown name, the most similar name of an earlier command. */
void problem_hint(const struct context *c, const char *name, struct hrun_error *err);
/* The command of the stored application with this name; the caller frees it. NULL: none. */
char *problem_title(const struct settings *set, const char *name);
/* Store the definition of c->problem, if any, and add the command to the index. Needs c->store. */
int problem_keep(struct context *c, struct hrun_error *err);
/* 0 if c->app was just made for a command that has neither a definition nor stored data, else 1. */
int problem_is_known(const struct context *c);
/* Runs shorter than this, in s, of commands without a definition are mostly tests, and not recorded. */
#define PROBLEM_WORTH_S 1.
/* 1 if a run of time_s should be recorded, else 0. */
int problem_is_worth_recording(const struct context *c, double time_s);
/* Check that standard input has no data, as measured runs get none. Errors: HRUN_EINVAL. */
int problem_check_input(struct hrun_error *err);
/* The median time of up to nine latest successful runs of a configuration, and their number; 0: none. */
double problem_median_s(const struct context *c, const struct hrun_config *config, int *runs);
void problem_destroy(struct problem *p);

#endif
