/* guess.h - choose the MPI of an application if no program is named
 *
 * Purpose: a profile is for programs of one MPI (hrun_cluster_signature), but a prediction needs no program.
 */
#ifndef HRUN_SESSION_GUESS_H
#define HRUN_SESSION_GUESS_H

#include "session/context.h"

/* Set c->mpi to the first candidate that has a profile on this cluster, else to the first candidate. Candidates in
 * order: the MPI of the definition's programs in PATH (on simulated hosts only SimGrid); SimGrid on simulated hosts,
 * else the installed Open MPI; the MPI of earlier measurements. Needs cluster, engine and store; c->app may be NULL.
 * Errors: those of the store. */
int guess_mpi(struct context *c, struct hrun_error *err);

#endif
