/* conditions.h - options of the user, beside the configuration, that change times
 *
 * Purpose: runs with other parameters of MPI or SimGrid, or with other variables, have the same profile; the user is
 * told where they differ. MPI and engine are part of the profile's signature.
 * Invariants: settings are a text of options as one would type them, sorted; "" if there are none.
 */
#ifndef HRUN_SESSION_CONDITIONS_H
#define HRUN_SESSION_CONDITIONS_H

#include "session/context.h"

/* Append the settings of c: --mca (of the option, or of OMPI_MCA_... in the environment) for parameters of transports
 * and algorithms, -x for variables of threads, libraries and transports, and --smpi. Other variables may be secrets and
 * are left out. Needs c->engine. */
void conditions_settings(const struct context *c, struct hrun_buf *out);

/* If no good run of a calibration of c->app on sub-clusters of c had the settings of c, set *out to those of the newest
 * one; the caller frees it. Else *out is NULL. Errors: those of the store. */
int conditions_differ(const struct context *c, char **out, struct hrun_error *err);

#endif
