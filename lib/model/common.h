/* common.h - what the models of all sub-clusters have in common; not for other rooms
 *
 * Purpose: what a program does is a property of the program, and how quickly it is done one of a sub-cluster. So one
 * form is fitted to the runs of all sub-clusters and of all numbers of processes per PE:
 *     T_iM(N,P) = w_iM C(N,P) + v_iM s G(N,P),
 * C the terms that shrink as P grows (divided work) and G all others (messages, serial work), with coefficients common
 * to all; w_iM and v_iM how slow each is there, v drawn to 1, and a constant in place of v G on one PE, where there
 * are no messages between PEs; s >= 1 how much slower messages are between two sub-clusters than inside, 1 on one of
 * them. What a run on several takes of these follows from how the work is dealt out (tasking.h): equal shares, unless
 * tasks for who is free predict much better what they were not fitted to. From this form each sub-cluster takes over what runs elsewhere would have taken on
 * it: rows (HRUN_ROW_SHARED) that are fitted beside its own with a fifth of their weight. They give the shape, its own
 * runs the scale, and deviations where they insist.
 * Invariants: rows are shared by runs alone, never by shared rows.
 */
#ifndef HRUN_MODEL_COMMON_H
#define HRUN_MODEL_COMMON_H

#include "model/family.h"
#include "model/mixed.h"

/* Does rows[n] of one sub-cluster, in their order, tell too little of how time with M processes per PE follows P: less
 * than two different P > M on the sub-cluster alone? */
int hrun_common_needed(const struct hrun_row *rows, size_t n, int M);

struct hrun_common;

/* Fit to rows[i][nrows[i]] of sub-clusters i < nsubs and to the mixed runs. *out = NULL where there is nothing to share:
 * another family than NP-T, or runs of one number of processes per PE of one sub-cluster alone. rows and samples must
 * outlive it. Errors: HRUN_ENONFINITE (a term without a value at a run), those of lib/fit, HRUN_ENOMEM. */
int hrun_common_create(const struct hrun_app *app, struct hrun_row *const *rows, const size_t *nrows, int nsubs,
                       const struct hrun_mixed *mixed, const struct hrun_fit_options *options,
                       struct hrun_common **out, struct hrun_error *err);
void hrun_common_destroy(struct hrun_common *c);

/* The form that won; equal shares where c is NULL. */
struct hrun_tasking hrun_common_tasking(const struct hrun_common *c);

/* Append to out what the runs of others would have taken on sub-cluster sub with M processes per PE, and what one PE
 * would have taken at each size; *count grows by at most two for each run. Nothing where c is NULL, or nothing was run there. */
void hrun_common_rows(const struct hrun_common *c, int sub, int M, struct hrun_row *out, size_t *count);

#endif
