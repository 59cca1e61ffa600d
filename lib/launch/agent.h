/* agent.h - parameters of mpirun, and the remote shell that it would use */
#ifndef HRUN_LAUNCH_AGENT_H
#define HRUN_LAUNCH_AGENT_H

#include "base/buf.h"
#include "base/error.h"

/* The user's value of an MCA parameter of mpirun; the keys are its names. Sources in order of precedence: the last
 * matching word "KEY=VALUE" (mca may be NULL), the environment, the files in mca_base_param_files, or else
 * $HOME/.openmpi/mca-params.conf and the system's openmpi-mca-params.conf (where Debian and Open MPI keep it). Result:
 * the value, which the caller frees; NULL if it is unset, or if an empty variable sets it. */
char *hrun_agent_setting(const struct hrun_strvec *mca, const char *const *keys, int n_keys);

/* Finds the remote shell ("agent") that mpirun would use: the first existing one of the user's colon-separated
 * alternatives, by default ssh, which gets -x. *program gets its path, which the caller frees; *words gets its name and
 * options. Errors: HRUN_EENGINE (none exists). */
int hrun_agent_find(const struct hrun_strvec *mca, char **program, struct hrun_strvec *words, struct hrun_error *err);

/* 1 if the agent is ssh, else 0. */
int hrun_agent_is_ssh(const char *program);

/* The host name to pass to an agent: "[fe80::2]" without its brackets, other names unchanged. The caller frees it. */
char *hrun_bare_name(const char *host);

#endif
