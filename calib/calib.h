/* calib.h - hrun-calibrate's errands */
#ifndef CALIB_CALIB_H
#define CALIB_CALIB_H

#include "options.h"

/* Each returns the exit status and has said on stderr what went wrong. */
int calib_measure(const struct calib_settings *s, char **words);          /* words: program and arguments */
/* The same of each variant that has terms, where the definition has variants and none is named. */
int calib_variants(const struct calib_settings *s, char **words);
/* The same for a program without a definition, and write one (new.h). */
int calib_new(const struct calib_settings *s, char **words);
int calib_show(const struct calib_settings *s, char **apps);              /* apps: names, possibly none = all */
int calib_fit(const struct calib_settings *s, char **apps);
int calib_report(const struct calib_settings *s, char **apps);            /* apps: one name, or none */
int calib_export(const struct calib_settings *s, char **apps);
int calib_import(const struct calib_settings *s, char **files);           /* names, "-" for standard input */
/* words: a program whose libraries are looked at, possibly none. The status is 1 when something is not predictable. */
int calib_doctor(const struct calib_settings *s, char **words);

/* Measure how quick PEs are, and keep it; words: none. And show what is kept. */
int calib_speeds(const struct calib_settings *s, char **words);
int calib_show_speeds(const struct calib_settings *s, char **apps);

/* Measure the network of the cluster, estimate its model and keep it; words: none. */
int calib_network(const struct calib_settings *s, char **words);
/* Show the one that is kept, as calib_show does profiles. */
int calib_show_network(const struct calib_settings *s, char **apps);

/* The path of a program that is started on hosts: PREFIX/bin/hrun-calibrate -> PREFIX/lib/hrun/NAME, and the same below
 * build/. The caller frees it. Errors: HRUN_ENOENT, HRUN_ENOMEM. */
char *calib_tool(const char *name, struct hrun_error *err);

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
