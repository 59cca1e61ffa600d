/* mpilib.h - recognising MPI libraries by name (internal) */
#ifndef HRUN_LAUNCH_MPILIB_H
#define HRUN_LAUNCH_MPILIB_H

/* File names of MPI libraries that PMIx and Open MPI's mpirun cannot start: "libmpich.so.12",
 * "libmpi.so.12.2.2" (the MPICH ABI: MPICH, Intel MPI, MVAPICH), "libmpi_intel.so.4", ... Open MPI's
 * libmpi.so.40 is none. */
int hrun_soname_is_foreign_mpi(const char *name);

#endif
