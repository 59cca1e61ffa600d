/* agent.h - parameters of mpirun, and the remote shell that it would use */
#ifndef HRUN_LAUNCH_AGENT_H
#define HRUN_LAUNCH_AGENT_H

#include "base/buf.h"
#include "base/error.h"

/* What the user says of an MCA parameter of mpirun's. The first of these that sets it counts: the last of the words
 * "KEY=VALUE" (mca may be NULL), the environment, the files that mca_base_param_files names, or else
 * $HOME/.openmpi/mca-params.conf and the system's openmpi-mca-params.conf (where Debian and Open MPI keep it). Several
 * keys are names of one parameter. NULL: nothing, or an empty variable; else the caller frees it. */
char *hrun_agent_setting(const struct hrun_strvec *mca, const char *const *keys, int n_keys);

/* The agent: path into *program (the caller frees it), itself and its options as words. As mpirun does it: alternatives
 * stand between colons, the first that exists counts; ssh unless the user says otherwise; -x for ssh.
 * Errors: HRUN_EENGINE (none exists). */
int hrun_agent_find(const struct hrun_strvec *mca, char **program, struct hrun_strvec *words, struct hrun_error *err);

/* Is it ssh, whose options we know? */
int hrun_agent_is_ssh(const char *program);

/* What an agent is to be given as the name of a host: the address in "[fe80::2]", any other name as it is. The caller
 * frees it. */
char *hrun_bare_name(const char *host);

#endif
