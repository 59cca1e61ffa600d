/* calib.h - hrun-calibrate's errands */
#ifndef CALIB_CALIB_H
#define CALIB_CALIB_H

#include "options.h"

/* Each returns the exit status and has said on stderr what went wrong. */
int calib_measure(const struct calib_settings *s, char **words);          /* words: program and arguments */
int calib_show(const struct calib_settings *s, char **apps);              /* apps: names, possibly none = all */
int calib_fit(const struct calib_settings *s, char **apps);

/* How models are to be fitted. Errors: HRUN_EINVAL. */
int fit_options(const struct common_settings *s, struct hrun_fit_options *out, struct hrun_error *err);

/* Fit the models of one application and signature from its log and store them. *models (may be NULL) gets them.
 * label: what people call the sub-cluster. */
int fit_and_store(struct context *c, const char *signature, const char *label, struct hrun_models **models,
                  struct hrun_error *err);

/* Append the table of models; all = 1 lists the N-T models of single P as well. */
int models_table(struct hrun_models *const *m, int n, int all, struct hrun_buf *out);

/* Tell on stderr, in one line, of models that are far off where they were measured, and what to do. */
void models_warn(struct hrun_models *const *m, int n);

#endif
