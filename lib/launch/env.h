/* env.h - the environment of the processes */
#ifndef HRUN_LAUNCH_ENV_H
#define HRUN_LAUNCH_ENV_H

#include "launch/launch.h"

/* Set a variable in a list of "NAME=VALUE", replacing it where it stands; all of another list. */
void hrun_env_set(struct hrun_strvec *env, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hrun_env_set_all(struct hrun_strvec *env, const struct hrun_strvec *words);
/* Value of name in the list, or NULL. */
const char *hrun_env_get(const struct hrun_strvec *env, const char *name);

/* The caller's environment without what an outer launcher has left in it (ranks, addresses of servers). */
void hrun_env_base(struct hrun_strvec *out);

/* Apply the job's working directory (as PWD), mca words (as OMPI_MCA_KEY=VALUE) and env words. A NAME without a value
 * is in the list already; on_message says which is not. */
void hrun_env_user(const struct hrun_job *job, struct hrun_strvec *env);

/* Set MCA parameter key unless the user does. */
void hrun_env_mca(const struct hrun_job *job, struct hrun_strvec *env, const char *key, const char *value);

/* Make a program of MPICH, or one with its ABI, fail at its start instead of running as many worlds of one
 * process each: it looks for its process manager at PMI_PORT, and the text there is no address. One that a
 * script starts by its own mpiexec finds that by PMI_FD, which comes first. */
#define HRUN_ENV_PMI_PORT "PMI_PORT"
#define HRUN_ENV_NO_MPICH "hrun_starts_programs_of_MPICH_with_--mpi_mpich"

/* Put Open MPI's shared memory files into folder (NULL: leave them), so that they can be removed whatever
 * happens to the processes. */
void hrun_env_shared_memory(const struct hrun_job *job, struct hrun_strvec *env, const char *folder);

/* The job's preloads, if it has any: their variables, and the libraries in front of LD_PRELOAD, or (shim = 1) as
 * HRUN_ENV_PRELOAD. After hrun_env_user. */
void hrun_env_preload(const struct hrun_job *job, int shim, struct hrun_strvec *env);

/* The libraries' paths, with colons between them, for hrun-shim, which preloads them into the rank and nothing else. */
#define HRUN_ENV_PRELOAD "HRUN_PRELOAD"

/* Does the user set MCA parameter key, in the environment or with --mca? */
int hrun_env_user_mca(const struct hrun_job *job, const char *key);

/* The parameter by which waiting ranks yield the processor, and whether hrun sets it. */
extern const char hrun_env_yield[];
int hrun_env_yields(const struct hrun_job *job);

/* Validate the job's env and mca words. Errors: HRUN_EINVAL with the word and the right form. */
int hrun_env_check(const struct hrun_job *job, struct hrun_error *err);

#endif
