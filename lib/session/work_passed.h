/* work_passed.h - what of the size and of the shares of processes reaches the program
 *
 * Purpose: both commands refuse alike a run whose program is not told what it must be, and give its ranks the same
 * shares. How the words are filled in is of programs.c and lib/app.
 */
#ifndef HRUN_SESSION_WORK_PASSED_H
#define HRUN_SESSION_WORK_PASSED_H

#include "session/work.h"

/* Does the size reach the program? 1 when {N} stands in the words, in the definition's arguments (if the user gave
 * none), files or standard input, or when N itself is one of the user's words; else the run says nothing about N. */
int work_size_is_passed(const struct work *w);

/* Is there each form in which the user's words, and variables of -x, ask for shares, and does somebody know how many
 * units these are? Errors: HRUN_EINVAL. */
int work_check_words(const struct work *w, struct hrun_error *err);
/* Do the shares of a definition whose work is dealt out reach the program, by what the size may stand in or by a
 * variable of -x? Errors: HRUN_EINVAL: they do not. */
int work_check_shares(const struct work *w, struct hrun_error *err);
/* Has the work shares, by the definition or by the user's words? Errors: HRUN_EINVAL: it has none. */
int work_check_dealt(const struct work *w, struct hrun_error *err);

/* The shares of the work by rank, in units of the definition, into *out[nranks], the caller's; NULL: they are equal,
 * and their unit does not matter. Errors: those of the definition's expressions. */
int work_shares(const struct work *w, const struct hrun_layout *layout, double **out, struct hrun_error *err);

/* The same, and what stands for words in braces, which points to them. Errors: as above. */
int work_values(const struct work *w, const struct hrun_layout *layout, double **share, struct hrun_app_values *values,
                struct hrun_error *err);

/* The rows of each of P processes of family weak where no model has shared them out; of other families, and without a
 * size, 0. Errors: those of the definition's expressions. */
int work_equal_rows(const struct work *w, int P, double *rows, struct hrun_error *err);

#endif
