/* common.c - functions that several engines use; see engines.h */
#include "launch/agent.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/job.h"
#include "launch/programs.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void hrun_show_command(const struct hrun_job *job, const struct hrun_strvec *words, struct hrun_buf *out)
{
    hrun_buf_add_command(out, words->v);
    if (job->no_stdin && !job->stdin_text)
        hrun_buf_adds(out, " < /dev/null");
}

void hrun_push_program(const struct hrun_job *job, int r, int as_found, struct hrun_strvec *words)
{
    struct hrun_program p = hrun_job_program(job, r);

    hrun_strvec_push(words, as_found ? p.path : p.argv[0]);
    hrun_strvec_add_all(words, p.argv + 1);
}

int hrun_check_hosts(const struct hrun_engine *e, const struct hrun_cluster *cluster, struct hrun_error *err)
{
    if (e->simulated && !cluster->platform)
        return hrun_fail(err, HRUN_EINVAL, "engine %s simulates the hosts of a platform file of SimGrid: say which "
                         "with --platform FILE", e->name);
    if (!e->simulated && cluster->platform)
        return hrun_fail(err, HRUN_EINVAL, "the hosts of platform file %s are simulated, and engine %s starts "
                         "processes on real ones: use --engine smpi", cluster->platform, e->name);
    return 0;
}

int hrun_check_agent(const struct hrun_cluster *cluster, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autofree char *program = NULL;
    int i = 0;

    while (i < cluster->nhosts && cluster->hosts[i].is_local)
        i++;
    return i < cluster->nhosts ? hrun_agent_find(NULL, &program, &words, err) : 0;
}

int hrun_check_common(const struct hrun_engine *e, const struct hrun_job *job, struct hrun_mpi *mpi,
                      struct hrun_error *err)
{
    struct stat st;

    if (job->which && e->simulated)
        return hrun_fail(err, HRUN_EINVAL, "engine %s simulates one program, and this job has several", e->name);
    if (hrun_env_check(job, err))
        return -1;
    if (job->wdir && stat(job->wdir, &st))
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", job->wdir);
    if (job->wdir && !S_ISDIR(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "the working directory %s is not a folder", job->wdir);
    if (hrun_job_mpi(job, mpi, err))
        return -1;
    /* Programs built with smpicc, and only these, are simulated. */
    if (e->simulated && mpi->kind != HRUN_MPI_SMPI)
        return hrun_fail(err, HRUN_EMPI, "%s %s%s, and engine smpi simulates programs that SimGrid's smpicc has built: "
                         "rebuild it with smpicc (package libsimgrid-dev)", job->argv[0],
                         mpi->kind == HRUN_MPI_NONE ? "is linked with no MPI"
                         : mpi->kind == HRUN_MPI_UNKNOWN ? "is a script" : "is linked with ", mpi->name);
    if (!e->simulated && mpi->kind == HRUN_MPI_SMPI)
        return hrun_fail(err, HRUN_EMPI, "%s is built with SimGrid's smpicc and can only be simulated: use --engine "
                         "smpi --platform FILE, or rebuild it with the mpicc of an MPI", job->argv[0]);
    if (hrun_check_hosts(e, job->layout->cluster, err))
        return -1;
    if (mpi->kind == HRUN_MPI_MPICH && !e->mpich)
        return hrun_fail(err, HRUN_EMPI, "%s is linked with %s, and engine %s starts programs of Open MPI: leave "
                         "--engine out, or rebuild it with mpicc of Open MPI", job->argv[0], mpi->name, e->name);
    return 0;
}

/* ---------------------------------------------------------------- a process that is not a rank
 *
 * It is not in an MPI world, so it may start mpirun, or be an MPI program that works alone. */

static int start_plain(struct hrun_run *r, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;

    hrun_env_base(&env);
    hrun_env_user(r->job, &env);
    return hrun_run_start_one(r, r->job->program, r->job->argv, &env, err);
}

int hrun_launch_plain(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = { .is_plain = 1, .grace_ms = 3000, .start = start_plain };

    return hrun_run_job(&driver, NULL, NULL, job, out, err);
}
