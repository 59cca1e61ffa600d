/* engine.c - the table of engines; see launch.h for the contracts */
#include "launch/engines.h"
#include "launch/env.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct hrun_engine engines[] = {
    { "local", "this host; hrun itself is the PMIx server of the job", hrun_local_usable, hrun_local_check,
      hrun_local_run, hrun_mpirun_command },
    { "mpirun", "Open MPI's mpirun (4 or 5) with a rankfile, on any hosts", hrun_mpirun_usable,
      hrun_mpirun_check, hrun_mpirun_run, hrun_mpirun_command },
    { "srun", "a step of the Slurm allocation, with Slurm's PMIx", hrun_srun_usable, hrun_srun_check, hrun_srun_run,
      hrun_srun_command },
    { "smpi", "SimGrid's simulation of MPI, on the hosts of a platform file", hrun_smpi_usable, hrun_smpi_check,
      hrun_smpi_run, hrun_smpi_command },
    { NULL, NULL, NULL, NULL, NULL, NULL }
};

const struct hrun_engine *hrun_engines(void)
{
    return engines;
}

const struct hrun_engine *hrun_engine_find(const char *name)
{
    for (const struct hrun_engine *e = engines; e->name; e++)
        if (name && !strcmp(e->name, name))
            return e;
    return NULL;
}

const struct hrun_engine *hrun_engine_auto(const struct hrun_cluster *cluster, struct hrun_openmpi *found,
                                           struct hrun_error *err)
{
    int here = cluster->nhosts == 1 && cluster->hosts[0].is_local;
    const struct hrun_engine *e = hrun_engine_find("srun");

    if (!cluster->platform && e->usable(cluster, found, NULL) == 0)
        return e;
    e = hrun_engine_find(cluster->platform ? "smpi" : here ? "local" : "mpirun");
    return e->usable(cluster, found, err) ? NULL : e;
}

int hrun_show_command(const struct hrun_job *job, const struct hrun_strvec *words, struct hrun_buf *out,
                      struct hrun_error *err)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int rc;

    hrun_buf_add_command(&b, words->v);
    if (job->no_stdin && !job->stdin_text)
        hrun_buf_adds(&b, " < /dev/null");
    if (!b.failed)
        hrun_buf_add(out, b.data, b.len);
    rc = b.failed || out->failed ? hrun_fail_nomem(err) : 0;
    hrun_buf_release(&b);
    return rc;
}

static int check_wdir(const char *wdir, struct hrun_error *err)
{
    struct stat st;

    if (!wdir)
        return 0;
    if (stat(wdir, &st))
        return hrun_fail_errno(err, HRUN_EINVAL, "the working directory %s cannot be used", wdir);
    if (!S_ISDIR(st.st_mode))
        return hrun_fail(err, HRUN_EINVAL, "the working directory %s is not a folder", wdir);
    return 0;
}

int hrun_check_real(const struct hrun_cluster *cluster, const char *engine, struct hrun_error *err)
{
    if (!cluster->platform)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "the hosts of platform file %s are simulated, and engine %s starts processes on "
                     "real ones: use --engine smpi", cluster->platform, engine);
}

/* Programs of smpicc are for engine smpi, and only they. */
static int check_smpi(const struct hrun_job *job, const char *engine, const struct hrun_mpi *mpi,
                      struct hrun_error *err)
{
    int simulated = !strcmp(engine, "smpi");

    if (simulated && mpi->kind != HRUN_MPI_SMPI)
        return hrun_fail(err, HRUN_EMPI, "%s %s%s, and engine smpi simulates programs that SimGrid's smpicc has built: "
                         "rebuild it with smpicc (package libsimgrid-dev)", job->argv[0],
                         mpi->kind == HRUN_MPI_NONE ? "is linked with no MPI"
                         : mpi->kind == HRUN_MPI_UNKNOWN ? "is a script" : "is linked with ", mpi->name);
    if (!simulated && mpi->kind == HRUN_MPI_SMPI)
        return hrun_fail(err, HRUN_EMPI, "%s is built with SimGrid's smpicc and can only be simulated: use --engine "
                         "smpi --platform FILE, or rebuild it with Open MPI's mpicc", job->argv[0]);
    return simulated ? 0 : hrun_check_real(job->layout->cluster, engine, err);
}

int hrun_check_common(const struct hrun_job *job, const char *engine, struct hrun_mpi *out, struct hrun_error *err)
{
    struct hrun_mpi mpi;

    if (!job->layout || job->layout->nranks < 1)
        return hrun_fail(err, HRUN_EINVAL, "the layout has no rank");
    if (!job->argv || !job->argv[0] || !job->program)
        return hrun_fail(err, HRUN_EINVAL, "no program is named");
    if (job->timeout_s < 0)
        return hrun_fail(err, HRUN_EINVAL, "a timeout of %g s: it cannot be negative", job->timeout_s);
    if (hrun_env_check(job, err) || check_wdir(job->wdir, err))
        return -1;
    if (job->mpi)
        mpi = *job->mpi;
    else if (hrun_program_mpi(job->program, &mpi, err))
        return -1;
    if (check_smpi(job, engine, &mpi, err))
        return -1;
    if (mpi.kind == HRUN_MPI_OTHER)
        return hrun_fail(err, HRUN_EMPI, "%s is linked with %s, and engine %s starts programs of Open MPI: "
                         "rebuild it with mpicc of Open MPI, or start it with the mpiexec of its own MPI",
                         job->argv[0], mpi.name, engine);
    if (out)
        *out = mpi;
    return 0;
}

static void release_standard_files(int held)
{
    for (int fd = 0; fd < 3; fd++)
        if (held > 0 && held >> fd & 1)
            close(fd);
}

/* Where the caller has closed one of the descriptors 0 to 2, a pipe or socket of ours would get its number and
 * be taken for a standard file. The processes get /dev/null as well. Result: the set (1 << fd) of those that were
 * opened; -1 with HRUN_EIO. */
static int hold_standard_files(struct hrun_error *err)
{
    int held = 0;

    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (open("/dev/null", O_RDWR) != fd) {  /* the lowest number that is free */
            hrun_fail_errno(err, HRUN_EIO, "cannot open /dev/null");
            release_standard_files(held);
            return -1;
        }
        held |= 1 << fd;
    }
    return held;
}

static int launch(const struct hrun_engine *engine, const struct hrun_job *job, int checked, struct hrun_outcome *out,
                  struct hrun_error *err)
{
    struct hrun_outcome result;
    int held = hold_standard_files(err), rc = -1;

    if (held >= 0 && (checked || !engine->check(job, err)) && !engine->run(job, &result, err)) {
        *out = result;
        rc = 0;
    }
    release_standard_files(held);
    return rc;
}

int hrun_launch_checked(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                        struct hrun_error *err)
{
    return launch(engine, job, 1, out, err);
}

int hrun_launch(const struct hrun_engine *engine, const struct hrun_job *job, struct hrun_outcome *out,
                struct hrun_error *err)
{
    return launch(engine, job, 0, out, err);
}
