/* show_plot.h - times over N of one profile as a plot of text */
#ifndef CALIB_SHOW_PLOT_H
#define CALIB_SHOW_PLOT_H

#include "../common/options.h"

/* Is one wanted: asked for, or standard output a terminal? */
int show_plot_wanted(const struct calib_settings *s);

/* Append a plot for each number of processes per PE that has runs: measured times at some P, and what the models say.
 * app: NULL where there is no definition, then no curves are drawn, as where m is NULL. For models with network terms
 * the curves are those of others, fitted without these, and the legend says so. Errors: HRUN_ENOMEM. */
int show_plot(const struct hrun_app *app, const struct hrun_samples *samples, struct hrun_models *m,
              struct hrun_buf *out, struct hrun_error *err);

#endif
