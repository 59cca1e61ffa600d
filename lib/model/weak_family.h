/* weak_family.h - measurements of mesh codes -> models -> predictions (paper 001); not for other rooms
 *
 * Purpose: the family `weak` behind model.h. A record of family "weak", for each sub-cluster, M and N, has the
 * coefficients of weak.h. Its runs are homogeneous ones that tell the rows of a process (sample.work), and runs of
 * copies, one process each on all PEs of a host (sample.copies), which are the np = 1 of the paper.
 * A configuration takes the time of its slowest sub-cluster (eq. 5), the rows of the mesh being shared out so that this
 * is as short as can be in whole units (balance.h), within the memory of the PEs where it is known. np of alpha is the
 * number of all processes of the configuration: on one cluster that is the paper's, over several a reduction spans all.
 * Invariants: a prediction for a size N that has no record of its own takes coefficients that lie on the line between
 * those of two other sizes, the nearest ones; with records of one other size there is none. b and d are >= 0 all the
 * same.
 */
#ifndef HRUN_MODEL_WEAK_FAMILY_H
#define HRUN_MODEL_WEAK_FAMILY_H

#include "model/family.h"
#include "model/predictor.h"

/* Take out of rows[n] those that are of no use here: mixed and shared ones, and such as do not tell their work. Result:
 * how many are left. */
size_t hrun_weak_keep(struct hrun_row *rows, size_t n);

/* The records of rows[n], n >= 1, of one M into job->models, one for each N. With method LS these are the paper's steps
 * on the means of repeated runs. A size with too few runs becomes a line in job->skipped. Errors: those of lib/fit,
 * HRUN_ENOMEM. */
int hrun_fit_weak(struct hrun_fit_job *job, const struct hrun_row *rows, size_t n, struct hrun_error *err);

/* A row of predictor.h. Errors: HRUN_ENODATA (no size of which N can be predicted: says which there are; models with
 * other constants only), those of hrun_app_mesh, HRUN_ENOMEM. */
struct hrun_predictor *hrun_weak_create(const struct hrun_predictor_source *from, struct hrun_error *err);

#endif
