/* slurm.c - a Slurm allocation as its own programs see it; see slurm.h */
#include "launch/slurm.h"

#include "base/alloc.h"
#include "base/list.h"
#include "launch/env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hrun_srun_missing(struct hrun_error *err, const char *name)
{
    return hrun_fail(err, HRUN_EENGINE, "engine srun needs %s, and there is none in PATH: install slurm-client", name);
}

int hrun_allocation_index(const struct hrun_allocation *a, const char *name, int is_local)
{
    const char *names[3] = { name, NULL, NULL };
    char own[256] = "";

    gethostname(own, sizeof own - 1);
    if (is_local) {
        names[1] = getenv("SLURMD_NODENAME");
        names[2] = own;
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; names[k] && i < a->hosts.n; i++)
            if (hrun_same_host(names[k], a->hosts.v[i]))
                return (int)i;
    return -1;
}

char *hrun_srun_node(const struct hrun_allocation *a, const char *name, int is_local, int *group,
                     struct hrun_error *err)
{
    int i = hrun_allocation_index(a, name, is_local);

    if (i < 0) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' is not part of %s: leave it out, or use --engine mpirun", name, a->name);
        return NULL;
    }
    *group = a->group[i];
    return xstrdup(a->hosts.v[i]);
}

/* Variables that act as options of srun and would get in the way of those given. */
static int is_srun_option(const char *entry)
{
    static const char *const starts[] = {
        "SLURM_CPUS_PER_TASK=", "SRUN_CPUS_PER_TASK=", "SLURM_CPU_BIND", "SLURM_DISTRIBUTION=", "SLURM_EXACT=",
        "SLURM_EXCLUSIVE=", "SLURM_EXPORT_ENV=", "SRUN_EXPORT_ENV=", "SLURM_HET_GROUP=", "SLURM_HINT=",
        "SLURM_HOSTFILE=", "SLURM_KILL_BAD_EXIT=", "SLURM_LABELIO=", "SLURM_MPI_TYPE=", "SLURM_MULTI_PROG",
        "SLURM_NNODES=", "SLURM_NPROCS=",
        "SLURM_NTASKS", "SLURM_OPEN_MODE=", "SLURM_OVERCOMMIT=", "SLURM_OVERLAP=", "SLURM_RELATIVE=",
        "SLURM_REMOTE_CWD=", "SLURM_STDERRMODE=", "SLURM_STDINMODE=", "SLURM_STDOUTMODE=", "SLURM_STEP_",
        "SLURM_STEPID=",
        "SLURM_THREADS=", "SLURM_THREADS_PER_CORE=", "SLURM_UNBUFFEREDIO=", "SLURM_WAIT=", "SLURM_WHOLE=",
        "SLURM_WORKING_DIR="
    };

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(entry, starts[i], strlen(starts[i])))
            return 1;
    return 0;
}

void hrun_srun_clean_env(struct hrun_strvec *env)
{
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT;

    hrun_env_base(&all);
    for (size_t i = 0; i < all.n; i++)
        if (!is_srun_option(all.v[i]))
            hrun_strvec_push(env, all.v[i]);
}
