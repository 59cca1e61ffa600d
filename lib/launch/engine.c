/* engine.c - the table of engines; see launch.h for the contracts */
#include "launch/engines/engines.h"
#include "launch/mpich.h"
#include "launch/programs.h"

#include <string.h>

/* In order of preference. The default is the first usable engine that suits the cluster. */
static const struct hrun_engine *const engines[] = {
    &hrun_engine_srun, &hrun_engine_local, &hrun_engine_ssh, &hrun_engine_mpirun, &hrun_engine_smpi, NULL
};

const struct hrun_engine *const *hrun_engines(void)
{
    return engines;
}

const struct hrun_engine *hrun_engine_find(const char *name)
{
    for (const struct hrun_engine *const *e = engines; *e; e++)
        if (name && !strcmp((*e)->name, name))
            return *e;
    return NULL;
}

const struct hrun_engine *hrun_engine_suited(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    const struct hrun_engine *const *e = engines;

    while (!(*e)->suits(cluster, mpi))
        e++;
    return *e;      /* not NULL: mpirun or smpi suits every cluster */
}

const struct hrun_engine *hrun_engine_auto(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi,
                                           struct hrun_openmpi *found, struct hrun_error *err)
{
    for (const struct hrun_engine *const *e = engines; *e; e++)
        if ((*e)->suits(cluster, mpi) && !(*e)->usable(cluster, found, err))
            return *e;
    return NULL;
}

void hrun_engine_kind(const struct hrun_engine *e, const struct hrun_cluster *cluster, const struct hrun_mpi *mpi,
                      const struct hrun_strvec *smpi, struct hrun_buf *out)
{
    hrun_buf_adds(out, e->name);
    if (e->kind)
        e->kind(cluster, mpi, smpi, out);
}

int hrun_engine_command(const struct hrun_engine *e, const struct hrun_job *job, struct hrun_buf *out,
                        struct hrun_error *err)
{
    struct hrun_mpi mpi = { .kind = HRUN_MPI_NONE };

    if (e->command)
        return e->command(job, out, err);
    hrun_job_mpi(job, &mpi, NULL);  /* an unreadable program counts as one without MPI */
    if (mpi.kind != HRUN_MPI_MPICH)
        return hrun_engine_mpirun.command(job, out, err);
    hrun_mpich_command(job, out);
    return 0;
}

struct hrun_program hrun_job_program(const struct hrun_job *job, int r)
{
    return job->which ? job->programs[job->which[r]] : (struct hrun_program){ job->argv, job->program };
}

int hrun_job_run_length(const struct hrun_job *job, int r)
{
    int n = 1;

    while (r + n < job->layout->nranks && (!job->which || job->which[r + n] == job->which[r]))
        n++;
    return n;
}

int hrun_launch_checked(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                        struct hrun_error *err)
{
    struct hrun_outcome result;

    if (engine->run(job, &result, err))
        return -1;
    *out = result;
    return 0;
}

int hrun_launch(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                struct hrun_error *err)
{
    return engine->check(job, err) || hrun_launch_checked(engine, job, out, err) ? -1 : 0;
}
