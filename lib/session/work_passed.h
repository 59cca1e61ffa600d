/* work_passed.h - how the size and the shares of the work reach the program
 *
 * Purpose: both commands refuse the same runs, those whose program does not get what it needs, and give ranks the same
 * shares. programs.c and lib/app fill in the words.
 */
#ifndef HRUN_SESSION_WORK_PASSED_H
#define HRUN_SESSION_WORK_PASSED_H

#include "session/work.h"

/* 1 if the size reaches the program, else 0: {N} is in the words, in the definition's arguments (if the user gives
 * none), files or standard input, or a word of the user is N itself. */
int work_size_is_passed(const struct work *w);

/* Check that the forms of {shares} in the user's words and in variables of -x exist, and that their number of units is
 * known. Errors: HRUN_EINVAL. */
int work_check_words(const struct work *w, struct hrun_error *err);
/* Check that the shares of a definition that has some reach the program. Errors: HRUN_EINVAL. */
int work_check_shares(const struct work *w, struct hrun_error *err);
/* Check that the definition or the user's words have shares. Errors: HRUN_EINVAL. */
int work_check_dealt(const struct work *w, struct hrun_error *err);

/* Fill the values of templates, and set *share[nranks], to which they point, to the share of each rank in units of the
 * definition; the caller frees it. NULL: shares are equal, and their unit does not matter. Errors: those of the
 * definition's expressions. */
int work_values(const struct work *w, const struct hrun_layout *layout, double **share, struct hrun_app_values *values,
                struct hrun_error *err);

/* Set *rows to the equal share of each of P processes in family weak; 0 in other families, and without a size. Errors:
 * those of the definition's expressions. */
int work_equal_rows(const struct work *w, int P, double *rows, struct hrun_error *err);

#endif
