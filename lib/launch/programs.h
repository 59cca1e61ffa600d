/* programs.h - where hrun-shim is, what a short command prints, and which MPI a program or this host has */
#ifndef HRUN_LAUNCH_PROGRAMS_H
#define HRUN_LAUNCH_PROGRAMS_H

#include "base/buf.h"
#include "base/error.h"
#include "launch/launch.h"

/* ---- shimpath: where hrun-shim is */

/* Absolute path of hrun-shim: beside the running program (hrun and hrun-calibrate are installed with it), else, for
 * other programs that use this library, in PATH. It has to be at the same path on all hosts of a job. The caller frees
 * it. NULL with HRUN_EENGINE: it is in neither place. */
char *hrun_shim_path(struct hrun_error *err);

/* The same for another program that is installed with hrun; NULL: it is in neither place. */
char *hrun_beside_path(const char *name);

/* ---- command_output: what a short command prints */

/* Append what argv[0], a path, prints with these words; errors = 1: on standard error, too. It reads /dev/null, and its
 * status does not count. It may be idle for 10 s between two pieces of output, as a folder on a network that is down
 * must not hang hrun, and compute for a minute. Errors: HRUN_EIO (it cannot be started or does not answer). */
int hrun_command_output(char *const *argv, int errors, struct hrun_buf *out, struct hrun_error *err);

/* ---- mpilib: recognising MPI libraries by name */

/* Is it the file name of an MPI library of MPICH's family? "libmpich.so.12", "libmpi.so.12.2.2" (the MPICH ABI: MPICH,
 * Intel MPI, MVAPICH), "libmpi_intel.so.4", ... Open MPI's libmpi.so.40 is none. */
int hrun_soname_is_mpich(const char *name);

/* The MPI of the job's program: what its caller knows, else what is found. Errors: those of hrun_program_mpi. */
int hrun_job_mpi(const struct hrun_job *job, struct hrun_mpi *out, struct hrun_error *err);

/* ---- openmpi: the mpirun of this host */

/* By what names mpirun goes, in the order of the search; NULL ends the list. */
extern const char *const hrun_openmpi_names[];

/* The first of these in PATH that is Open MPI's. The caller sets m->cache_dir and m->refresh. Errors: HRUN_EENGINE
 * (none; says what to install), HRUN_EIO; the rest of *m is untouched. */
int hrun_openmpi_find(struct hrun_openmpi *m, struct hrun_error *err);
/* That of a job: what its caller knows, else what is found. Errors: those of hrun_openmpi_find. */
int hrun_openmpi_of(const struct hrun_job *job, struct hrun_openmpi *m, struct hrun_error *err);

/* In openmpi_kept.c. Recall what was found before: 0; or -1, *m untouched, where nothing is kept in m->cache_dir, or
 * since then a program, PATH or what it loads libraries by has changed. *key gets all that an answer depends on from
 * now on, for hrun_openmpi_keep, which uses it up: a program that is replaced while it is asked is asked again. It is
 * empty where an answer cannot be kept. That it could not be written is no error. errno is kept. */
int hrun_openmpi_recall(struct hrun_openmpi *m, struct hrun_buf *key);
void hrun_openmpi_keep(const struct hrun_openmpi *m, struct hrun_buf *key);

#endif
