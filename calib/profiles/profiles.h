/* profiles.h - stored measurements to stored models, and what is shown of them */
#ifndef CALIB_PROFILES_PROFILES_H
#define CALIB_PROFILES_PROFILES_H

#include "../common/calib_options.h"
#include "base/buf.h"
#include "store/store.h"

#include <jansson.h>

/* ---- fit: stored measurements to stored models, and their tables */

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
 * them. One that cannot be fitted is an error on stderr; the others are fitted. Result: the exit status. */
int fit_together(struct context *c, struct fit_one *v, int n);

/* Append the table of models; all = 1 lists the N-T models of single P as well. */
void models_table(struct hrun_models *const *m, int n, int all, struct hrun_buf *out);

/* What `show --json` says of a profile, without its measurements. old: how many no longer count; m: NULL: none. */
json_t *profile_json(const char *app, const char *sig, const struct hrun_samples *samples, size_t old,
                     const struct hrun_models *m);

/* Tell on stderr, in one line, of models that are far off where they were measured, and what to do. */
void models_warn(struct hrun_models *const *m, int n);

/* The applications of which there are profiles, sorted; not the speeds of PEs. Errors: those of the store. */
int calib_apps(const struct context *c, struct hrun_strvec *names, struct hrun_error *err);

/* For each signature of each named application (all when none is named) call visit. A failure is an error on stderr,
 * and the others are visited. *seen: profiles that were visited without a failure. Result: the exit status. */
typedef int visit_fn(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err);
int each_profile(struct context *c, char **apps, visit_fn *visit, void *ctx, int *seen);

/* ---- show_mpi_waits: what show tells of watched runs */

/* Append a table of the watched runs of a profile, one row for each number of processes per PE; nothing when there are
 * none. signature: the profile's. */
void waits_show(const struct hrun_samples *samples, const char *signature, struct hrun_buf *out);
/* The same for machines: an array of objects. */
json_t *profile_waits_json(const struct hrun_samples *samples, const char *signature);

/* ---- show_plot: times over N of one profile as a plot of text */

/* Is one wanted: asked for, or standard output a terminal? */
int show_plot_wanted(const struct calib_settings *s);

/* Append a plot for each number of processes per PE that has runs: measured times at some P, and what the models say.
 * app: NULL where there is no definition, then no curves are drawn, as where m is NULL. For models with network terms
 * the curves are those of others, fitted without these, and the legend says so. */
void show_plot(const struct hrun_app *app, const struct hrun_samples *samples, struct hrun_models *m,
               struct hrun_buf *out);

/* ---------------------------------------------------------------- textplot
 *
 * Small plots of text, for terminals
 *
 * Purpose: marks and curves over logarithmic axes in a few lines; where a terminal shows UTF-8 with its line drawing
 * characters, else in ASCII.
 * Invariants: no line is wider than asked for, or than its labels need; marks stand over curves, earlier series over
 * later ones; values that are not finite and above 0 are left out.
 */

struct textplot_point {
    double x, y;
};

struct textplot_series {
    char mark;              /* 0: a curve, which its points only support: between them it is straight */
    const struct textplot_point *v;
    int n;
};

struct textplot {
    const char *xname;      /* "N" */
    int width, height;      /* of all, and of what is inside the axes, in characters */
    int unicode;
};

/* Append the plot: y are seconds, x whole numbers. Without a point nothing is appended. */
void textplot_draw(const struct textplot *t, const struct textplot_series *v, int n, struct hrun_buf *out);

#endif
