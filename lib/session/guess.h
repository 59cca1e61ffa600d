/* guess.h - the MPI of an application whose program is not at hand
 *
 * Purpose: profiles are about programs of one MPI (hrun_cluster_signature); who only wants to know what would be
 * predicted should not have to name a program.
 */
#ifndef HRUN_SESSION_GUESS_H
#define HRUN_SESSION_GUESS_H

#include "session/context.h"

/* Which MPI programs of c->app have, into c->mpi: of the definition's programs that are in PATH (on simulated hosts, of
 * those that SimGrid can run), of SimGrid on simulated hosts, of the Open MPI that is installed here, and of what was
 * measured, the first one of which there is a profile here; without a profile simply the first one. Needs cluster,
 * engine and store; app may be NULL. Errors: those of the store. */
int guess_mpi(struct context *c, struct hrun_error *err);

#endif
