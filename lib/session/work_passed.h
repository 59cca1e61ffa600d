/* work_passed.h - check that size and shares of the work are passed to the program, and compute the shares of ranks
 *
 * Purpose: hrun and hrun-calibrate refuse the same runs (those whose program does not get its size or shares) and give
 * ranks the same shares. programs.c and lib/app replace the words.
 */
#ifndef HRUN_SESSION_WORK_PASSED_H
#define HRUN_SESSION_WORK_PASSED_H

#include "session/work.h"

/* 1 if the size is passed to the program, else 0: by {N} in the words, in the definition's arguments (if the user gives
 * none), files or standard input, or by a word of the user that is N itself. */
int work_size_is_passed(const struct work *w);

/* Check that the forms of {shares} in the user's words and in variables of -x exist, and that their number of units is
 * known. Errors: HRUN_EINVAL. */
int work_check_words(const struct work *w, struct hrun_error *err);
/* If the definition has shares, check that they are passed to the program. Errors: HRUN_EINVAL. */
int work_check_shares(const struct work *w, struct hrun_error *err);
/* Check that the definition or the user's words have shares. Errors: HRUN_EINVAL. */
int work_check_dealt(const struct work *w, struct hrun_error *err);

/* Set the values of templates. *share[nranks]: the share of each rank in units of the definition; values point to it,
 * and the caller frees it. *share is NULL if shares are equal and have no unit. Errors: those of the definition's
 * expressions. */
int work_values(const struct work *w, const struct hrun_layout *layout, double **share, struct hrun_app_values *values,
                struct hrun_error *err);

/* Set *rows to the equal share of each of P processes in family weak; 0 in other families or without a size. Errors:
 * those of the definition's expressions. */
int work_equal_rows(const struct work *w, int P, double *rows, struct hrun_error *err);

#endif
