/* problem.h - a command without a definition of its own, as an application of one size or of a number in its words
 *
 * Purpose: most people have a command and an input deck that they run again and again. Its words, and the contents of
 * the files that they name, stand for an application whose work is always the same (`size: fixed`), so that profiles,
 * corrections and learning work for it. One that was measured at several values of a number in its words
 * (`hrun-calibrate --vary`, `size: number`) is known at any value.
 * On disk, in the data folder: problems/NAME.yaml, a definition like others; problems/commands, a line "WORDS CONTENTS
 * FOLDER NAME" of hashes for each command that was seen, of which the last one counts. WORDS has {N} in place of the
 * number.
 * Invariants: NAME is made of the program's name and the hashes, unless the user says it (-app); nothing is written but
 * by problem_keep. A program that is named with its folder is one of the files; where the other words name none the
 * folder counts, as what is read is found there. A whole number names no file. Of a file over 16 MiB its size and its
 * first and last 8 MiB count.
 */
#ifndef HRUN_SESSION_PROBLEM_H
#define HRUN_SESSION_PROBLEM_H

#include "session/context.h"

/* Where c->app is NULL, or a definition with `size: command`: make it that of the command, words[0] being the program.
 * Where only the files' contents have changed since the same words were run in the same folder it is what was known of
 * them, and the user is told. c->app is NULL afterwards where there is no one command (words is NULL, or no program),
 * without a store, where {N} stands in words that are not known, and where it does not and the user says a size
 * (N; -1: in another way than by one number). c->number is the size that the words of the command have by a definition,
 * given or found (number_of_app). One that cannot tell the size of these words gives way to what is known of the same
 * command from before, unless -app names it. Errors: HRUN_EINVAL (also: -app names a definition with `size: command`
 * for what is none), HRUN_EIO, HRUN_EPARSE. */
int problem_find(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* For words with {N}: c->problem, and as c->app what is known of it, or NULL. Errors: as above. */
int problem_begin(struct context *c, char *const *words, struct hrun_error *err);
/* Of c->problem: the name, "" where there is nothing to call it by; the definition with `size: command` that knows its
 * program, or NULL. */
const char *problem_name(const struct context *c);
const struct hrun_app *problem_base(const struct context *c);
/* Write text as the definition of c->problem. It replaces an earlier one. Errors: those of the store. */
int problem_define(struct context *c, const char *text, struct hrun_error *err);
/* How many units of work a command has that is told its shares: what they add up to, or as fine as one can wish; 0: it
 * is not told them; -1, of one with a size: as many as its size. They stand in its words, or in variables NAME=VALUE of
 * env, which may be NULL; the words may name constants of app, which may be NULL. Errors: HRUN_EINVAL (units that only
 * the program knows; a form that there is not; without any, what a shell makes of one outside quotes). */
int problem_units(const struct hrun_app *app, char *const *words, const struct hrun_strvec *env, int sized,
                  int64_t *units, struct hrun_error *err);
/* Write the rule of c->app, which runs have shown, into the definition of c->problem. Errors: those of the store. */
int problem_keep_rule(struct context *c, struct hrun_error *err);
/* Remove that rule from c->app; problem_keep removes it from disk. A rule that the user wrote stays. Errors: as above.
 */
int problem_forget_rule(struct context *c, struct hrun_error *err);
/* Is c->app the definition of an earlier command? */
int problem_is_app(const struct context *c);
/* The definition of that name of an earlier command: 0, 1: there is none, or -1. */
int problem_named(struct context *c, const char *name, struct hrun_error *err);
/* Add to *err, an error about an unknown name, a similar name of an earlier command. */
void problem_hint(const struct context *c, const char *name, struct hrun_error *err);
/* Its command, which the caller frees; NULL: there is none. */
char *problem_title(const struct settings *set, const char *name);
/* Store the definition that problem_find has made, if any. Needs c->store. */
int problem_keep(struct context *c, struct hrun_error *err);
/* 0: the program is in no definition, and nothing was written of the command. */
int problem_is_known(const struct context *c);
/* Shorter runs are mostly start-up and trials: they are not recorded. */
#define PROBLEM_WORTH_S 1.
/* Is there standard input? Nothing is recorded then. */
int problem_reads_input(const struct context *c);
/* Is a run of that time to be recorded? */
int problem_is_worth_recording(const struct context *c, double time_s);
/* Measured runs read no standard input. Errors: HRUN_EINVAL where there is some. */
int problem_check_input(struct hrun_error *err);
/* The median of the last runs of a configuration, in s, and of how many; 0: none is known. */
double problem_median_s(const struct context *c, const struct hrun_config *config, int *runs);
void problem_destroy(struct problem *p);

#endif
