/* guess.h - the MPI of an application whose program is not named
 *
 * Purpose: a profile holds for programs of one MPI (hrun_cluster_signature); a prediction needs no program.
 */
#ifndef HRUN_SESSION_GUESS_H
#define HRUN_SESSION_GUESS_H

#include "session/context.h"

/* Set c->mpi to the first of these that has a profile here, else to the first of them: the MPI of the definition's
 * programs in PATH (on simulated hosts only those of SimGrid); SimGrid on simulated hosts, else the Open MPI installed
 * here; the MPI of earlier measurements. Needs cluster, engine and store; c->app may be NULL. Errors: those of the
 * store. */
int guess_mpi(struct context *c, struct hrun_error *err);

#endif
