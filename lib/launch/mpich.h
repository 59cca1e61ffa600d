/* mpich.h - what programs of MPICH's family need beside PMI, and what they leave behind */
#ifndef HRUN_LAUNCH_MPICH_H
#define HRUN_LAUNCH_MPICH_H

#include "launch/launch.h"

#include <time.h>

/* Append the variables of all ranks, whatever serves PMI; those of rank of a job on this host, whose PMI connection is
 * fd. After hrun_env_base. */
void hrun_mpich_env(struct hrun_strvec *env);
void hrun_mpich_env_rank(const struct hrun_layout *l, int rank, int fd, struct hrun_strvec *env);

/* Preload libhrun-mpich.so, for ranks that share cores or are on several hosts, and (over_slurm) for what Slurm's PMI
 * lacks. words[size] is the value of its variable, and lives as long as the job. Result: its path, which the caller
 * frees after the job; NULL: it is not needed, or not installed: then on_message says so. */
char *hrun_mpich_preload(struct hrun_job *job, int over_slurm, char *words, size_t size);

struct hrun_run;
/* The check_end of struct hrun_driver. Ranks of an MPI program that have all ended well without a word to their server
 * may have worked alone: -1 with HRUN_EMPI then. */
int hrun_mpich_check_together(struct hrun_run *r, struct hrun_error *err);

/* The command of Hydra for the same hosts, and on one host for the same placement, as hrun_engine_command has it. */
void hrun_mpich_command(const struct hrun_job *job, struct hrun_buf *out);

/* Remove shared memory of MPICH and UCX that the user's processes have made since then (time(2)) and that no living one
 * has: a rank that is killed in MPI_Init leaves it. */
void hrun_mpich_remove_orphans(time_t since);

#endif
