/* coefs.h - which terms of a model are used, and their coefficients; not for other rooms
 *
 * Purpose: between the list of terms of a definition and the solvers of lib/fit: terms that the measurements cannot
 * tell apart are left out, rows that the others contradict count less.
 */
#ifndef HRUN_MODEL_COEFS_H
#define HRUN_MODEL_COEFS_H

#include "fit/fit.h"
#include "model/family.h"

/* Solve for rows x[n by p] (row-major), job->y and job->w; job->options say how. (LS, the reference of paper 000, is
 * never robust.) Results: job->keep for each of the p terms, job->wr (the weights that counted in the end), *result
 * with coefficients and covariances of the *count terms with keep = 1, and *bound: weighted residuals beyond it counted
 * less; INFINITY where all counted in full.
 * Errors: those of lib/fit; HRUN_ERANK says that these measurements make no model. */
int hrun_fit_coefs(struct hrun_fit_job *job, const double *x, size_t n, size_t p, size_t *count, double *bound,
                   struct hrun_lsq_result *result, struct hrun_error *err);

#endif
