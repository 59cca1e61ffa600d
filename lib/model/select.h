/* select.h - terms that do not earn their place; not for other rooms
 *
 * Purpose: a term that only follows the scatter of what was measured spoils predictions elsewhere. One by one the terms
 * in use are dropped without which the model tells measurements that it has not seen no worse.
 */
#ifndef HRUN_MODEL_SELECT_H
#define HRUN_MODEL_SELECT_H

#include "base/error.h"
#include "fit/fit.h"

/* Of the columns with keep[j] = 1 of an NNLS problem set keep[j] = 0 for those that do not earn their place, and
 * dropped[j] = 1; of the others dropped[j] = 0. group[n]: rows of one group are repetitions of one point, neighbours,
 * and have the same number. may[j] = 0: column j stays in any case.
 * Step by step the term in use without which the leave-one-point-out error (hrun_fit_leave_out on the terms in use; the
 * mean over points of the mean square of their weighted residuals) is least is dropped, if that error is less than with
 * it by more than a standard error of the difference, over the points without which the terms are still known:
 * where a single point is all that tells two terms apart, nobody can say that it lies. The usual rule of one standard
 * error drops also terms that make no difference; coefficients >= 0 have done that already, and what is left is all
 * that is known of larger P.
 * With fewer points than 2 for each term in use nothing is dropped: it would be a matter of chance. At least one term
 * stays.
 * Errors: those of hrun_fit_nnls and hrun_fit_leave_out but HRUN_ERANK; keep and dropped are then undefined. */
int hrun_select_terms(const struct hrun_lsq *problem, const int *group, const int *may, int *keep, int *dropped,
                      struct hrun_error *err);

#endif
