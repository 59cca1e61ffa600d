/* fit.h - stored measurements to stored models, and their tables */
#ifndef CALIB_PROFILES_FIT_H
#define CALIB_PROFILES_FIT_H

#include "../common/options.h"

/* How models are to be fitted. Errors: HRUN_EINVAL. */
int fit_options(const struct settings *s, struct hrun_fit_options *out, struct hrun_error *err);

/* One profile to be fitted. */
struct fit_one {
    const char *signature;
    const char *label;              /* what people call the sub-cluster, "" when nobody has said */
    int quiet;                      /* 1: that there is nothing to fit is no failure */
    struct hrun_models *models;     /* result, owned by whoever made this: what was stored, or NULL */
};

/* Fit the models of the application on the sub-clusters v[n] of one cluster together, from their logs, and store
 * them. One that cannot be fitted is told on stderr and does not keep the others from it. Result: the exit status. */
int fit_together(struct context *c, struct fit_one *v, int n);

/* Append the table of models; all = 1 lists the N-T models of single P as well. */
int models_table(struct hrun_models *const *m, int n, int all, struct hrun_buf *out);

/* Tell on stderr, in one line, of models that are far off where they were measured, and what to do. */
void models_warn(struct hrun_models *const *m, int n);

/* The applications of which there are profiles, sorted; not the speeds of PEs. Errors: those of the store. */
int calib_apps(const struct context *c, struct hrun_strvec *names, struct hrun_error *err);

/* For each signature of each named application (all when none is named) call visit. What fails is told, and the others
 * are visited all the same. *seen: profiles that were visited without a failure. Result: the exit status. */
typedef int visit_fn(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err);
int each_profile(struct context *c, char **apps, visit_fn *visit, void *ctx, int *seen);

#endif
