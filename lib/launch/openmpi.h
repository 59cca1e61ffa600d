/* openmpi.h - the mpirun of this host (internal) */
#ifndef HRUN_LAUNCH_OPENMPI_H
#define HRUN_LAUNCH_OPENMPI_H

#include "launch/launch.h"

/* The first of mpirun and mpirun.openmpi in PATH that is Open MPI's. Errors: HRUN_EENGINE (none; says what to install),
 * HRUN_EIO, HRUN_ENOMEM. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);
/* That of a job: what its caller knows, else what is found. Errors: those of hrun_openmpi_find. */
int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err);

#endif
