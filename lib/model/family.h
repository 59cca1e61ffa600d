/* family.h - fitting one model to its rows; not for other rooms
 *
 * Purpose: fit.c decides which rows and terms make a model (`single`, `nt`, `pt`, `npt`); family.c finds the
 * coefficients, with terms that the measurements cannot tell apart left out, and what is known of their errors.
 * Invariants: a record is in job->models as a whole or not at all; a model that cannot be made for want of
 * measurements is no error but a line in job->skipped.
 */
#ifndef HRUN_MODEL_FAMILY_H
#define HRUN_MODEL_FAMILY_H

#include "app/app.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/model.h"
#include "model/rows.h"

/* Residuals beyond this many scales are suspicious: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993),
 * for distances in units of the median one. */
#define HRUN_SUSPICIOUS 3.5

/* What all fits of one call share. */
struct hrun_fit_job {
    const struct hrun_app *app;
    struct hrun_fit_options options;
    struct hrun_models *models;     /* records are appended */
    int cap;
    struct hrun_buf skipped;
    char *used;                     /* of each row: did a model use it? */
    const struct hrun_row *rows;
    size_t nrows;
    /* scratch for nrows rows and the longest list of terms */
    double *x, *sub, *y, *w, *k, *cov, *factor;
    double *wr, *r;                 /* weights in the end, residuals: nrows each */
    int64_t *sizes;
    int *keep;
    struct hrun_terms np;           /* the definition's NP-T terms, without network terms where there is no network */
    struct hrun_buf left_out;       /* the network terms that np has not got, and why */
    struct hrun_netview *net;       /* or NULL: np has no network terms */
    int *config;                    /* scratch: a configuration of net's sub-clusters */
};

/* Fit terms to rows[n], whose values x[n by terms->n] (row-major) are given, and append a record. P: that of an
 * N-T model, else 0. The first `anchors` rows help to find the coefficients with a fifth of their weight, see
 * common.h; range, errors and variance are those of the other rows. Where no more than
 * shared rows is known, they make the range, and the record expects five times the scatter. 0 also when there are too
 * few measurements: then
 * a line goes to job->skipped and *record becomes NULL. Errors: those of lib/fit, HRUN_ENOMEM; the models are as
 * before. */
int hrun_fit_family(struct hrun_fit_job *job, const char *family, int P, const struct hrun_terms *terms,
                    const double *x, const struct hrun_row *rows, size_t n, size_t anchors,
                    struct hrun_fit_record **record, struct hrun_error *err);

/* Room for one more record in job->models, zeroed; it counts once job->models->n does. NULL: no memory. */
struct hrun_fit_record *hrun_fit_add_record(struct hrun_fit_job *job);

/* Set job->np, left_out, net and config by the definition and job->options, and keep of rows[*n] those whose places the
 * network tells, if it is asked; a line in job->skipped says how many others there were. Errors: HRUN_ENOMEM. */
int hrun_fit_network(struct hrun_fit_job *job, struct hrun_row *rows, size_t *n, struct hrun_error *err);
void hrun_fit_network_release(struct hrun_fit_job *job);

/* The value of NP-T term e at a row; of a network term in the row's configuration. Errors: those of hrun_term_eval and
 * hrun_term_network. */
int hrun_fit_term(const struct hrun_fit_job *job, struct hrun_expr *e, const struct hrun_row *row, double *out,
                  struct hrun_error *err);

/* hrun_model_fit on rows[n], n >= 1, in their order, with options that hrun_fit_check_options accepts. Rows whose
 * places the network does not tell, where it is asked, are taken out of rows. */
int hrun_fit_rows(const struct hrun_app *app, struct hrun_row *rows, size_t n,
                  const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                  struct hrun_error *err);

/* Errors: HRUN_EINVAL (a scatter that is negative or not finite). */
int hrun_fit_check_options(const struct hrun_fit_options *options, struct hrun_error *err);

#endif
