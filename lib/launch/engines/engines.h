/* engines.h - the rows of the engine table, and functions that several engines use (internal)
 *
 * An engine is a file NAME.c with a row hrun_engine_NAME; declarations that its files share are in NAME.h. It uses the
 * life of a job (launch/job.h) and calls no other engine.
 */
#ifndef HRUN_LAUNCH_ENGINES_ENGINES_H
#define HRUN_LAUNCH_ENGINES_ENGINES_H

#include "launch/launch.h"

extern const struct hrun_engine hrun_engine_local, hrun_engine_mpirun, hrun_engine_srun, hrun_engine_ssh,
                                hrun_engine_smpi;

/* ---- common.c */

/* Append words, a command that starts the job, as a shell command line. */
void hrun_show_command(const struct hrun_job *job, const struct hrun_strvec *words, struct hrun_buf *out);

/* Append the program of rank r (as_found: its path, else as the user wrote it) and its arguments. */
void hrun_push_program(const struct hrun_job *job, int r, int as_found, struct hrun_strvec *words);

/* Check that the engine is for the cluster's kind of hosts, real or simulated. -1 with HRUN_EINVAL if not. */
int hrun_check_hosts(const struct hrun_engine *e, const struct hrun_cluster *cluster, struct hrun_error *err);

/* Check that there is a remote shell, if the cluster has other hosts than this one. Errors: HRUN_EENGINE. */
int hrun_check_agent(const struct hrun_cluster *cluster, struct hrun_error *err);

/* The checks of every engine: its kind of hosts, programs of smpicc for simulation only, the words of -x and --mca, the
 * working directory. *mpi gets the program's MPI. */
int hrun_check_common(const struct hrun_engine *e, const struct hrun_job *job, struct hrun_mpi *mpi,
                      struct hrun_error *err);

#endif
