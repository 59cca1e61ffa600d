/* openmpi.h - the mpirun of this host (internal) */
#ifndef HRUN_LAUNCH_OPENMPI_H
#define HRUN_LAUNCH_OPENMPI_H

#include "launch/launch.h"

struct hrun_openmpi {
    char *path;                 /* the caller frees it */
    int major;
    char version[64];           /* "4.1.4" */
};

#define HRUN_OPENMPI_INIT { NULL, 0, "" }

/* The first of mpirun and mpirun.openmpi in PATH that is Open MPI's. Errors: HRUN_EENGINE (none; says what to install),
 * HRUN_EIO, HRUN_ENOMEM. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);

#endif
