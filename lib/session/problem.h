/* problem.h - a command without a definition of its own, as an application of one size or of a number in its words
 *
 * Purpose: most people run the same command again and again. Its words, and the contents of the files that they name,
 * identify an application whose work is always the same (`size: fixed`), so that profiles, corrections and learning
 * work for it. A command that was measured at several values of a number in its words (`hrun-calibrate --vary`,
 * `size: number`) is known at every value.
 * On disk, in the data folder: problems/NAME.yaml, a definition like others; problems/commands, for each command that
 * was run a line "WORDS CONTENTS FOLDER NAME" of three hashes and a name. WORDS has {N} in place of the number. The
 * last line of a command counts.
 * Invariants: NAME is made of the program's name and the hashes, unless -app gives it; only problem_keep writes. The
 * program counts as a file if it is named with its folder. If no other word names a file the folder's path counts, as
 * the program finds its input there. A whole number names no file. Of a file over 16 MiB, its size and its first and
 * last 8 MiB count.
 */
#ifndef HRUN_SESSION_PROBLEM_H
#define HRUN_SESSION_PROBLEM_H

#include "session/context.h"

struct problem {
    char *text;                 /* the definition */
    char *name;                 /* "": there is nothing to make a name of */
    struct hrun_app *base;      /* the definition with `size: command` that knows the program; or NULL */
    const char *given;          /* -app, unless it names that definition; or NULL */
    uint64_t words, contents, folder;
    int reads;                  /* 1: standard input has data, which a later run may not have: nothing is recorded */
    int known;                  /* 1: the index has this command with these contents */
    int defined;                /* 1: problems/NAME.yaml exists */
};

/* If c->app is NULL or has `size: command`, make it the application of this command: the stored one, else a new one. It
 * becomes NULL without a store or words (which begin with the program), for words with {N} that are not known, and for
 * words without {N} if the user gives a size (N; -1: several). The user is told if a file of the command has changed.
 * Of another c->app, find the size in the words into c->number (number_from_args). If that fails and -app does not name
 * the definition, the stored application of the same command replaces it.
 * Errors: HRUN_EINVAL (also: -app names a definition with `size: command`, and there is no one command), HRUN_EIO,
 * HRUN_EPARSE. */
int problem_find(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* Set c->problem for words that may have {N}, and c->app to the stored application, or to NULL. Errors: as above. */
int problem_begin(struct context *c, char *const *words, struct hrun_error *err);
/* Store text as the definition of c->problem, in place of an earlier one. Errors: those of the store. */
int problem_define(struct context *c, const char *text, struct hrun_error *err);
/* Set *units to the number of units that {shares} in the words or in the variables of env (NULL: none) divide: their
 * sum, or a fine division for relative shares; 0 without {shares}; -1 if the units are those of a size (sized = 1).
 * Words may have constants of app (or NULL). Errors: HRUN_EINVAL (only the program knows its units; an unknown form; a
 * form that the shell has changed as it was not quoted). */
int problem_units(const struct hrun_app *app, char *const *words, const struct hrun_strvec *env, int sized,
                  int64_t *units, struct hrun_error *err);
/* Write the rule of c->app, which runs have shown, into the definition of c->problem. Errors: those of the store. */
int problem_keep_rule(struct context *c, struct hrun_error *err);
/* Remove that rule from c->app; problem_keep removes it from disk. A user's own rule stays. Errors: as above. */
int problem_forget_rule(struct context *c, struct hrun_error *err);
/* 1 if c->app is the stored application of a command, else 0. */
int problem_is_app(const struct context *c);
/* Load the stored application of that name into c->app. Result: 0; 1: there is none; -1 with *err. */
int problem_named(struct context *c, const char *name, struct hrun_error *err);
/* Add to *err, an error about an unknown name, a similar name of an earlier command. */
void problem_hint(const struct context *c, const char *name, struct hrun_error *err);
/* The command of the stored application of that name; the caller frees it. NULL: there is none. */
char *problem_title(const struct settings *set, const char *name);
/* Store the definition of c->problem, if there is one, and add the command to the index. Needs c->store. */
int problem_keep(struct context *c, struct hrun_error *err);
/* 0 if no definition has the program, and nothing is stored of the command; else 1. */
int problem_is_known(const struct context *c);
/* Runs of commands that take less are mostly trials: they are not recorded. */
#define PROBLEM_WORTH_S 1.
/* 1 if a run of that time is to be recorded, else 0. */
int problem_is_worth_recording(const struct context *c, double time_s);
/* Check that standard input has no data, as measured runs read none. Errors: HRUN_EINVAL. */
int problem_check_input(struct hrun_error *err);
/* The median time of the last runs of a configuration, and their number; 0: there are none. */
double problem_median_s(const struct context *c, const struct hrun_config *config, int *runs);
void problem_destroy(struct problem *p);

#endif
