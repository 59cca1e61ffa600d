/* fit_job.h - fit the models of one sub-cluster; for lib/model alone
 *
 * Invariants: a record is in job->models as a whole or not at all; a model without enough measurements gives a line in
 * job->skipped and no error.
 */
#ifndef HRUN_MODEL_FIT_JOB_H
#define HRUN_MODEL_FIT_JOB_H

#include "fit/fit.h"
#include "model/rows.h"
#include "model/terms.h"

/* ------------------------------------------------------------------ fitting one model */

/* Residuals beyond this many scales are suspicious: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993),
 * for distances in units of the median one. */
#define HRUN_SUSPICIOUS 3.5

/* State of all fits of one call. */
struct hrun_fit_job {
    const struct hrun_app *app;
    struct hrun_fit_options options;
    struct hrun_models *models;     /* records are appended */
    int cap;
    struct hrun_buf skipped;
    char *used;                     /* of each row: 1 if a model used it */
    const struct hrun_row *rows;
    size_t nrows;
    /* scratch for nrows rows and the longest list of terms */
    double *x, *sub, *y, *w, *k, *cov, *factor;
    double *wr, *r;                 /* final weights, residuals: nrows each */
    int64_t *sizes;
    int *keep;
    struct hrun_terms np;           /* the definition's NP-T terms, without network terms if there is no network */
    struct hrun_buf left_out;       /* the network terms that are not in np, and why */
    struct hrun_netview *net;       /* or NULL: np has no network terms */
};

/* Terms and rows of one fit. */
struct hrun_fit_data {
    const struct hrun_terms *terms;
    const struct hrun_row *rows;    /* n of job->rows, of one M */
    size_t n;
    size_t anchors;                 /* the first `anchors` rows are shared (hrun_common_rows): they help to find the
                                       coefficients, with a fifth of their weight */
    double *x;                      /* n by terms->n, row-major: the terms' values */
};

/* Fit data->terms and append a record. P: of an N-T model; else 0. The record's range, errors and variance are
 * those of the rows after the anchors. If all rows are shared, they give the range, and the record expects five times
 * the scatter. With too few measurements the result is 0, job->skipped gets a line, and *record is NULL.
 * Errors: those of lib/fit; the models are unchanged. */
int hrun_fit_family(struct hrun_fit_job *job, const char *family, int P, const struct hrun_fit_data *data,
                    struct hrun_fit_record **record, struct hrun_error *err);

/* Returns a zeroed record after the last of job->models; the caller increments job->models->n to keep it. */
struct hrun_fit_record *hrun_fit_add_record(struct hrun_fit_job *job);

/* Set job->np, left_out and net by the definition and job->options. If net is set, only the rows[*n] on its hosts are
 * kept, and a line in job->skipped gives the number of removed rows. */
int hrun_fit_network(struct hrun_fit_job *job, struct hrun_row *rows, size_t *n, struct hrun_error *err);
void hrun_fit_network_release(struct hrun_fit_job *job);

/* Set *out to the value of NP-T term e at a row; a network term counts in the row's configuration. Errors: those of
 * hrun_term_eval, hrun_term_network_call and hrun_netview_time. */
int hrun_fit_term(const struct hrun_fit_job *job, struct hrun_expr *e, const struct hrun_row *row, double *out,
                  struct hrun_error *err);

/* hrun_model_fit on rows[n], n >= 1, in their order, with options that hrun_fit_check_options accepts. If network terms
 * are fitted, rows on hosts outside the network are removed from rows. */
int hrun_fit_rows(const struct hrun_app *app, struct hrun_row *rows, size_t n,
                  const struct hrun_fit_options *options, struct hrun_models **out, struct hrun_buf *skipped,
                  struct hrun_error *err);

/* Errors: HRUN_EINVAL (a scatter that is negative or not finite). */
int hrun_fit_check_options(const struct hrun_fit_options *options, struct hrun_error *err);

/* ------------------------------------------------------------------ one model for all sub-clusters */

struct hrun_common;

/* The runs on all sub-clusters; rows and samples must outlive the struct hrun_common. */
struct hrun_common_data {
    struct hrun_row *const *rows;       /* nsubs: of each sub-cluster nrows[i] */
    const size_t *nrows;
    int nsubs;
    const struct hrun_mixed *mixed;     /* runs on several sub-clusters */
};

/* *out = NULL if there is nothing to share: another family than NP-T, or runs with one M on one sub-cluster alone.
 * Errors: HRUN_ENONFINITE (a term without a value at a run), those of lib/fit. */
int hrun_common_create(const struct hrun_app *app, const struct hrun_common_data *data,
                       const struct hrun_fit_options *options, struct hrun_common **out, struct hrun_error *err);
void hrun_common_destroy(struct hrun_common *c);

/* Returns the tasking that predicts the runs best; equal shares if c is NULL. */
struct hrun_tasking hrun_common_tasking(const struct hrun_common *c);

/* Append rows to out[*count]: times on sub-cluster sub with M processes per PE of the runs on other options, and of one
 * PE at each size; at most two rows per run. None if c is NULL, or the speed of the option is not known. */
void hrun_common_rows(const struct hrun_common *c, int sub, int M, struct hrun_row *out, size_t *count);

#endif
