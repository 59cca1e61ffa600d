/* mpich.h - environment, checks and cleanup for programs of MPICH's family */
#ifndef HRUN_LAUNCH_MPICH_H
#define HRUN_LAUNCH_MPICH_H

#include "launch/launch.h"

#include <time.h>

/* hrun_mpich_env appends the variables that all ranks need with any PMI server, hrun_mpich_env_rank those of one rank
 * on this host, whose PMI connection is fd. Call both after hrun_env_base. */
void hrun_mpich_env(struct hrun_strvec *env);
void hrun_mpich_env_rank(const struct hrun_layout *l, int rank, int fd, struct hrun_strvec *env);

/* Add libhrun-mpich.so to the job's preloads, for ranks that share cores or are on several hosts, and (over_slurm) to
 * complete Slurm's PMI. words[size] gets the value of its variable, and must outlive the job. Result: the library's
 * path, which the caller frees after the job; NULL: not needed, or not installed (reported by on_message). */
char *hrun_mpich_preload(struct hrun_job *job, int over_slurm, char *words, size_t size);

struct hrun_run;
/* A check_end for struct hrun_driver. -1 with HRUN_EMPI if all ranks of an MPI program have succeeded without
 * contacting their server: each may have run as a separate world. */
int hrun_mpich_check_together(struct hrun_run *r, struct hrun_error *err);

/* Append Hydra's command for the job's hosts, on one host also for its placement; see hrun_engine_command. */
void hrun_mpich_command(const struct hrun_job *job, struct hrun_buf *out);

/* Remove shared memory of MPICH and UCX that the user's processes have created from time `since` on (time(2)) and that
 * no process uses. A rank that is killed in MPI_Init leaves shared memory. */
void hrun_mpich_remove_orphans(time_t since);

#endif
