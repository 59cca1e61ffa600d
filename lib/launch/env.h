/* env.h - the environment of the processes */
#ifndef HRUN_LAUNCH_ENV_H
#define HRUN_LAUNCH_ENV_H

#include "launch/launch.h"

/* Sets one variable, or all variables of another list, in a list of "NAME=VALUE". Replaces earlier values. */
void hrun_env_set(struct hrun_strvec *env, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hrun_env_set_all(struct hrun_strvec *env, const struct hrun_strvec *words);
/* Value of name in the list, or NULL. */
const char *hrun_env_get(const struct hrun_strvec *env, const char *name);

/* The caller's environment without the variables of an outer launcher (ranks, addresses of servers). */
void hrun_env_base(struct hrun_strvec *out);

/* Apply the job's working directory (as PWD), mca words (as OMPI_MCA_KEY=VALUE) and env words. A NAME without a value
 * must be in the list already; on_message reports a NAME that is not. */
void hrun_env_user(const struct hrun_job *job, struct hrun_strvec *env);

/* Set MCA parameter key unless the user sets it. */
void hrun_env_mca(const struct hrun_job *job, struct hrun_strvec *env, const char *key, const char *value);

/* PMI_PORT=HRUN_ENV_NO_MPICH makes a program of MPICH, or one with its ABI, fail at its start instead of running as
 * separate worlds of one process each: PMI_PORT is the address of its process manager, and this text is not an address.
 * A program that a script starts with its own mpiexec still works: mpiexec sets PMI_FD, which has precedence. */
#define HRUN_ENV_PMI_PORT "PMI_PORT"
#define HRUN_ENV_NO_MPICH "hrun_starts_programs_of_MPICH_with_--mpi_mpich"

/* Put Open MPI's shared memory files into folder, so that hrun can remove them even if the processes are killed. NULL:
 * they stay at their default place. */
void hrun_env_shared_memory(const struct hrun_job *job, struct hrun_strvec *env, const char *folder);

/* Add the variables of the job's preloads. Put the libraries in front of LD_PRELOAD, or with shim = 1 into
 * HRUN_ENV_PRELOAD. Call it after hrun_env_user. */
void hrun_env_preload(const struct hrun_job *job, int shim, struct hrun_strvec *env);

/* The libraries' paths, separated by colons. hrun-shim preloads them into the rank only. */
#define HRUN_ENV_PRELOAD "HRUN_PRELOAD"

/* 1 if the user sets MCA parameter key, in the environment or with --mca; else 0. */
int hrun_env_user_mca(const struct hrun_job *job, const char *key);

/* The MCA parameter that makes waiting ranks yield the processor. hrun_env_yields: 1 if hrun sets it, else 0. */
extern const char hrun_env_yield[];
int hrun_env_yields(const struct hrun_job *job);

/* Validate the job's env and mca words. Errors: HRUN_EINVAL with the word and the right form. */
int hrun_env_check(const struct hrun_job *job, struct hrun_error *err);

#endif
