/* number.h - a number among the words of a command that gives the problem size N
 *
 * Purpose: commands such as "./x -var x 20" and "./x nx=48" give their size in a word, so hrun can predict other sizes.
 * Invariants: a number is a whole number above 0 without sign or leading zeros. A number is a word, or what follows the
 * last '=' of a word. The name of a number is the text before the '=', else the word before the number (for the first
 * argument: the program). A number is not a name. Only the first 500 words are searched.
 */
#ifndef HRUN_SESSION_NUMBER_H
#define HRUN_SESSION_NUMBER_H

#include "session/context.h"

struct number {
    char **words;              /* of the command, with {N} in place of the number; owned: the array and words[at] */
    int at;                    /* index of the word with {N} */
    char *text;                /* "x 24", "nx=48" */
    int64_t N;                 /* value of the number */
};

/* The value of the text; 0 if it is not a number. */
int64_t number_value(const char *text);
/* The first digit of the number in words[i], or NULL. */
const char *number_at(char *const *words, int i);
/* 1 if a word has {N}, else 0. */
int number_is_open(char *const *words);
/* The number in words[i] that begins at digits; the caller destroys it. */
struct number *number_create(char *const *words, int i, const char *digits);
/* Find the number with this name. If name begins with dashes, they must match. Errors: HRUN_ENOENT (no number has this
 * name; the text lists the names), HRUN_EINVAL (several numbers have this name). */
int number_find(char *const *words, const char *name, struct number **out, struct hrun_error *err);
/* Set c->number if the words give the size of c->app. If the definition has `size: number`, this is the number with the
 * name in the `args`; else the number at the place of {N}, if the words are equal to the `args`.
 * N: the value of -N, or 0. Errors: HRUN_EINVAL (the words give another size). */
int number_from_args(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* The words of c->number if there is one, else words. */
char *const *number_words(const struct context *c, char *const *words);
void number_destroy(struct number *n);

#endif
