/* gnuplot.h - running gnuplot(1), over pipes alone
 *
 * Invariants: no shell, no file of ours, no start-up file of the user; when hrun-calibrate ends, however it does,
 * gnuplot's pipes close and it ends, too.
 */
#ifndef CALIB_GNUPLOT_H
#define CALIB_GNUPLOT_H

#include "base/buf.h"
#include "base/error.h"

/* Append to *out what gnuplot writes to its standard output for this script. Errors: HRUN_ENOENT (gnuplot is not
 * installed: says what to install), HRUN_EIO (it cannot be started, or refuses the script: its words), HRUN_ENOMEM. */
int gnuplot_run(const struct hrun_buf *script, struct hrun_buf *out, struct hrun_error *err);

#endif
