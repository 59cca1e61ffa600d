/* conditions.h - options of the user, beside the configuration, that change times
 *
 * Purpose: runs with different parameters of MPI or SimGrid, or different variables, share one profile. A note tells
 * the user if a run and the calibration differ in these. MPI and engine are part of the profile's signature.
 * Invariants: settings are one text of sorted options in shell syntax; "" if there are none.
 */
#ifndef HRUN_SESSION_CONDITIONS_H
#define HRUN_SESSION_CONDITIONS_H

#include "session/context.h"

/* Append the settings of c: --mca for parameters of transports and algorithms (from the option or from OMPI_MCA_... in
 * the environment), -x for variables of threads, libraries and transports, and --smpi. Other variables are left out, as
 * they may be secrets. Needs c->engine. */
void conditions_settings(const struct context *c, struct hrun_buf *out);

/* If calibrations of c->app on sub-clusters of c succeeded, but none with the settings of c, set *out to the settings
 * of the newest one; the caller frees it. Else set *out to NULL. Errors: those of the store. */
int conditions_differ(const struct context *c, char **out, struct hrun_error *err);

#endif
