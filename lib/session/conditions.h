/* conditions.h - what a user sets that changes times, beside the configuration
 *
 * Purpose: measurements and runs that were started with other parameters of MPI or SimGrid, or with other variables,
 * are of one profile; the user is told where they differ. MPI and engine are part of the profile's signature.
 * Invariants: settings are a text of options as one would type them, sorted; "" where there are none.
 */
#ifndef HRUN_SESSION_CONDITIONS_H
#define HRUN_SESSION_CONDITIONS_H

#include "session/context.h"

/* Append the settings of c: --mca (of the option, or of OMPI_MCA_... in the environment) where the parameter is of
 * transports or algorithms, -x NAME=VALUE (also of -x NAME) where the variable is of threads, libraries or transports,
 * and --smpi. No other variable: it may be a secret. c->engine is known. */
void conditions_settings(const struct context *c, struct hrun_buf *out);

/* *out: the settings of the newest good run of a calibration of c->app on sub-clusters of c, in fresh memory, where no
 * run of one had those of c; NULL where one had, or there is none. Errors: those of the store. */
int conditions_differ(const struct context *c, char **out, struct hrun_error *err);

#endif
