/* engines.h - the rows of the engine table (internal) */
#ifndef HRUN_LAUNCH_ENGINES_H
#define HRUN_LAUNCH_ENGINES_H

#include "launch/launch.h"

int hrun_local_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err);
int hrun_local_check(const struct hrun_job *job, struct hrun_error *err);
int hrun_local_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);

int hrun_mpirun_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err);
int hrun_mpirun_check(const struct hrun_job *job, struct hrun_error *err);
int hrun_mpirun_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);
int hrun_mpirun_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err);

int hrun_srun_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err);
int hrun_srun_check(const struct hrun_job *job, struct hrun_error *err);
int hrun_srun_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);
int hrun_srun_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err);

int hrun_smpi_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err);
int hrun_smpi_check(const struct hrun_job *job, struct hrun_error *err);
int hrun_smpi_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err);
int hrun_smpi_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err);

/* Append words, a command that starts job, as a line to type. Errors: HRUN_ENOMEM; *out is as before then. */
int hrun_show_command(const struct hrun_job *job, const struct hrun_strvec *words, struct hrun_buf *out,
                      struct hrun_error *err);

/* Real hosts are for all engines but smpi. -1 with HRUN_EINVAL for simulated ones. */
int hrun_check_real(const struct hrun_cluster *cluster, const char *engine, struct hrun_error *err);

/* What each engine checks: simulated hosts and programs of smpicc for engine smpi alone, the words of -x and
 * --mca, the working directory, the program's MPI, which goes to *mpi (may be NULL). */
int hrun_check_common(const struct hrun_job *job, const char *engine, struct hrun_mpi *mpi, struct hrun_error *err);

#endif
