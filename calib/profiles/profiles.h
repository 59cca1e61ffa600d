/* profiles.h - fit models to stored measurements, and show both */
#ifndef CALIB_PROFILES_PROFILES_H
#define CALIB_PROFILES_PROFILES_H

#include "../common/calib_options.h"
#include "base/buf.h"
#include "store/store.h"

#include <jansson.h>

/* ---- fit: stored measurements to stored models, and their tables */

/* Options of the fit, from the settings. Errors: HRUN_EINVAL. */
int fit_options(const struct settings *s, struct hrun_fit_options *out, struct hrun_error *err);

/* One profile to be fitted. */
struct fit_one {
    const char *signature;
    const char *label;              /* name of the sub-cluster; "": not known */
    int quiet;                      /* 1: a profile with nothing to fit is no failure */
    struct hrun_models *models;     /* result: the stored models, or NULL; the caller destroys them */
    int is_read;                    /* 1: log has been read */
    struct hrun_samples log;        /* without records that no longer count; fit_together releases it */
};

/* Fit the models of the application on the sub-clusters v[n] of one cluster together, from their logs, and store them.
 * A model that cannot be fitted is reported on stderr; the others are fitted. Result: the exit status. */
int fit_together(struct context *c, struct fit_one *v, int n);

/* If the allowed processes per PE depend on the cluster (suits_pes), allow at least the largest number in the log.
 * Records do not have the cores of a PE, from which hrun computes the list. */
void suit_recorded(struct hrun_app *app, const struct hrun_samples *log);

/* Append the table of models; all = 1: with the N-T models of single P. */
void models_table(struct hrun_models *const *m, int n, int all, struct hrun_buf *out);

/* A profile in `show --json`, without its measurements. old: number of measurements that no longer count; m may be
 * NULL. */
json_t *profile_json(const char *app, const char *sig, const struct hrun_samples *samples, size_t old,
                     const struct hrun_models *m);

/* Print a one-line warning with advice on stderr if models differ much from their own measurements. */
void models_warn(struct hrun_models *const *m, int n);

/* Names of the applications that have profiles, sorted, without the speeds of PEs. Errors: those of the store. */
int calib_apps(const struct context *c, struct hrun_strvec *names, struct hrun_error *err);

/* Call visit for each signature of each named application, or of all if none is named. A failure is reported on stderr
 * and does not end the visits. *seen: number of visits without a failure. Result: the exit status. */
typedef int visit_fn(struct context *c, const char *app, const char *sig, void *ctx, struct hrun_error *err);
int each_profile(struct context *c, char **apps, visit_fn *visit, void *ctx, int *seen);

/* ---- show_mpi_waits: watched runs in `show` */

/* Append a table of the watched runs of a profile, one row for each number of processes per PE; nothing if there are
 * none. signature: that of the profile. */
void waits_show(const struct hrun_samples *samples, const char *signature, struct hrun_buf *out);
/* The same as a JSON array of objects. */
json_t *profile_waits_json(const struct hrun_samples *samples, const char *signature);

/* ---- show_plot: times over N of one profile as a plot of text */

/* 1 if --json is not given, and --plot is given or standard output is a terminal; else 0. */
int show_plot_wanted(const struct calib_settings *s);

/* Append a plot for each number of processes per PE that has runs: measured times at some P, and curves of the models.
 * There are no curves if app (no definition) or m is NULL. Models with network terms are replaced by models fitted
 * without these terms, which the legend mentions. */
void show_plot(const struct hrun_app *app, const struct hrun_samples *samples, struct hrun_models *m,
               struct hrun_buf *out);

/* ---------------------------------------------------------------- textplot
 *
 * Small plots of text, for terminals
 *
 * Purpose: marks and curves over logarithmic axes in a few lines, with line drawing characters if the terminal shows
 * UTF-8, else in ASCII.
 * Invariants: no line is wider than `width`, or than its labels need; marks cover curves, and earlier series cover
 * later ones; values that are not finite and above 0 are left out.
 */

struct textplot_point {
    double x, y;
};

struct textplot_series {
    char mark;              /* 0: a curve, drawn as straight lines between its points */
    const struct textplot_point *v;
    int n;
};

struct textplot {
    const char *xname;      /* "N" */
    int width, height;      /* characters: width of the whole plot, height inside the axes */
    int unicode;
};

/* Append the plot; y in seconds, x whole numbers. Without points nothing is appended. */
void textplot_draw(const struct textplot *t, const struct textplot_series *v, int n, struct hrun_buf *out);

#endif
