/* slurm.c - a Slurm allocation as its own programs see it; see slurm.h */
#include "launch/slurm.h"

#include "base/alloc.h"
#include "base/list.h"
#include "launch/env.h"
#include "launch/job.h"

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

void hrun_srun_clean_env(struct hrun_strvec *env)
{
    /* Variables that act as options of srun, and could contradict hrun's options. */
    static const char *const options[] = {
        "SLURM_CPUS_PER_TASK=", "SRUN_CPUS_PER_TASK=", "SLURM_CPU_BIND", "SLURM_DISTRIBUTION=", "SLURM_EXACT=",
        "SLURM_EXCLUSIVE=", "SLURM_EXPORT_ENV=", "SRUN_EXPORT_ENV=", "SLURM_HET_GROUP=", "SLURM_HINT=",
        "SLURM_HOSTFILE=", "SLURM_KILL_BAD_EXIT=", "SLURM_LABELIO=", "SLURM_MPI_TYPE=", "SLURM_MULTI_PROG",
        "SLURM_NNODES=", "SLURM_NPROCS=",
        "SLURM_NTASKS", "SLURM_OPEN_MODE=", "SLURM_OVERCOMMIT=", "SLURM_OVERLAP=", "SLURM_RELATIVE=",
        "SLURM_REMOTE_CWD=", "SLURM_STDERRMODE=", "SLURM_STDINMODE=", "SLURM_STDOUTMODE=", "SLURM_STEP_",
        "SLURM_STEPID=",
        "SLURM_THREADS=", "SLURM_THREADS_PER_CORE=", "SLURM_UNBUFFEREDIO=", "SLURM_WAIT=", "SLURM_WHOLE=",
        "SLURM_WORKING_DIR=", NULL
    };
    autorelease(hrun_strvec_release) struct hrun_strvec all = HRUN_STRVEC_INIT;

    hrun_env_base(&all);
    for (size_t i = 0; i < all.n; i++)
        if (!hrun_begins_with(all.v[i], options))
            hrun_strvec_push(env, all.v[i]);
}

void hrun_srun_push_placement(const struct hrun_srun_part *part, const char *nodes, const char *mpi,
                              struct hrun_strvec *v)
{
    if (part->is_het)
        hrun_strvec_pushf(v, "--het-group=%d", part->group);
    hrun_strvec_pushf(v, "--mpi=%s", mpi);
    hrun_strvec_pushf(v, "--nodes=%d", part->nhosts);
    hrun_strvec_pushf(v, "--ntasks=%d", part->nranks);
    hrun_strvec_push(v, "--distribution=arbitrary");
    hrun_strvec_pushf(v, "--nodelist=%s", nodes);
    hrun_strvec_add(v, "--overcommit", "--overlap", "--whole", "--cpu-bind=none", NULL);
}

int hrun_srun_push_step(const struct hrun_run *r, const struct hrun_srun_part *part, const char *mpi,
                        struct hrun_strvec *v, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *name = hrun_strf("nodes.%d", part->group), *file = NULL;
    int fd = hrun_output_child_fd(r->output, 0, 1);

    for (size_t k = 0; k < part->nodes.n; k++)
        hrun_buf_addf(&text, "%s\n", part->nodes.v[k]);
    if (!(file = hrun_run_write(r, name, &text, err)))
        return -1;
    hrun_srun_push_placement(part, file, mpi, v);
    hrun_strvec_add(v, "--verbose", "--export=ALL", "--wait=0", "--kill-on-bad-exit=0", NULL);
    if (fd >= 0)
        hrun_strvec_pushf(v, "--error=/proc/self/fd/%d", fd);
    else
        hrun_strvec_push(v, "--error=/dev/null");
    return 0;
}
