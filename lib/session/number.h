/* number.h - a number among the words of a command, as its size N
 *
 * Purpose: "-var x 20" and "nx=48" tell the program its size; hrun knows such a command at any size.
 * Invariants: a number is a whole one above 0, as it is printed (no sign, no leading zeros), alone in a word or behind
 * the last '=' of one. Its name is the word before it, of the first argument that of the program, or what stands before
 * the '='; a number is no name. Numbers far behind in long commands (500 words) are not looked for.
 */
#ifndef HRUN_SESSION_NUMBER_H
#define HRUN_SESSION_NUMBER_H

#include "session/context.h"

struct number {
    char **words;              /* those of the command, with {N} in place of the number; the array is owned */
    int at;                    /* which word that is; owned */
    char *text;                /* "x 24", "nx=48" */
    int64_t N;
};

/* The value of a text that is a number; 0: it is none. */
int64_t number_value(const char *text);
/* The digits of the number in words[i], NULL: there is none. */
const char *number_at(char *const *words, int i);
/* Does {N} stand in the words? */
int number_is_open(char *const *words);
/* That number; the caller destroys it. */
struct number *number_create(char *const *words, int i);
/* The number of that name; dashes before a name count where they are given. Errors: HRUN_ENOENT (there is none, which
 * lists those there are, or what stands there is none), HRUN_EINVAL (there are several). */
int number_find(char *const *words, const char *name, struct number **out, struct hrun_error *err);
/* c->number, where the words have one: of a definition with `size: number` that of the name that its `args` have; of
 * another one that in place of {N} where all words are its `args`, which are then left to it. N: what the user says
 * besides, or 0. Errors: HRUN_EINVAL (that is another size). */
int number_of_app(struct context *c, char *const *words, int64_t N, struct hrun_error *err);
/* The words of c->number, or words. */
char *const *number_words(const struct context *c, char *const *words);
void number_destroy(struct number *n);

#endif
