/* programs.h - the path of hrun-shim, the output of a short command, and the MPI of a program or of this host */
#ifndef HRUN_LAUNCH_PROGRAMS_H
#define HRUN_LAUNCH_PROGRAMS_H

#include "base/buf.h"
#include "base/error.h"
#include "launch/launch.h"

/* ---- program.c */

/* Absolute path of hrun-shim: beside the running program (hrun and hrun-calibrate are installed with it), else, for
 * other programs that use this library, in PATH. All hosts of a job must have it at this path. The caller frees the
 * result. NULL with HRUN_EENGINE: it is in neither place. */
char *hrun_shim_path(struct hrun_error *err);

/* As hrun_shim_path, for another program that is installed with hrun. NULL: it is in neither place. */
char *hrun_beside_path(const char *name);

/* Run the command argv (argv[0] is a path) and append its standard output, and with errors = 1 its standard error. Its
 * input is /dev/null, its status is ignored. It is ended when it has used 60 s of processor time, or when it has
 * neither written nor computed for 10 s, as on a broken network folder. Errors: HRUN_EIO (it cannot be started or does
 * not answer). */
int hrun_command_output(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err);

/* ---- mpi.c: recognising MPI libraries by name */

/* 1 for the file name of an MPI library of MPICH's family: "libmpich.so.12", "libmpi.so.12.2.2" (the MPICH ABI: MPICH,
 * Intel MPI, MVAPICH), "libmpi_intel.so.4", ...; else 0, as for Open MPI's libmpi.so.40. */
int hrun_soname_is_mpich(const char *name);

/* The MPI of the job's program: job->mpi if set, else hrun_program_mpi. Errors: those of hrun_program_mpi. */
int hrun_job_mpi(const struct hrun_job *job, struct hrun_mpi *out, struct hrun_error *err);

/* ---- openmpi.c: the mpirun of this host */

/* The names of mpirun in the order of the search; NULL ends the list. */
extern const char *const hrun_openmpi_names[];

/* In openmpi_kept.c: read and write the cached answer in m->cache_dir. _recall: 0; or -1, *m untouched, if there is
 * none or if a program, its path or the library paths have changed. *key gets the state that a new answer depends on,
 * taken before mpirun is asked, so that a replaced program is asked again; empty: the answer cannot be cached. _keep
 * changes *key; a failure to write is no error. Both keep errno. */
int hrun_openmpi_recall(struct hrun_openmpi *m, struct hrun_buf *key);
void hrun_openmpi_keep(const struct hrun_openmpi *m, struct hrun_buf *key);

/* The mpirun of a job: job->openmpi if set, else hrun_openmpi_find. Errors: those of hrun_openmpi_find. */
int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err);

#endif
