/* mpich.c - environment and checks for programs of MPICH's family; see mpich.h */
#include "launch/mpich.h"

#include "base/file.h"
#include "base/list.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/job.h"
#include "launch/programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hrun_mpich_env(struct hrun_strvec *env)
{
    /* UCX would handle SIGHUP as a debugging request, and the process would not end. */
    if (!hrun_env_get(env, "UCX_DEBUG_SIGNO"))
        hrun_env_set(env, "UCX_DEBUG_SIGNO=0");
}

void hrun_mpich_env_rank(const struct hrun_layout *l, int rank, int fd, struct hrun_strvec *env)
{
    hrun_env_set(env, "PMI_RANK=%d", rank);
    hrun_env_set(env, "PMI_SIZE=%d", l->nranks);
    hrun_env_set(env, "PMI_FD=%d", fd);
    hrun_env_set(env, "MPI_LOCALNRANKS=%d", l->nranks);
    hrun_env_set(env, "MPI_LOCALRANKID=%d", l->ranks[rank].local_rank);
}

/* 1 if the ranks are on several hosts, else 0. */
static int spans_hosts(const struct hrun_layout *l)
{
    for (int r = 1; r < l->nranks; r++)
        if (l->ranks[r].host != l->ranks[0].host)
            return 1;
    return 0;
}

char *hrun_mpich_preload(struct hrun_job *job, int over_slurm, char *words, size_t size)
{
    int yields = hrun_env_yields(job), spans = spans_hosts(job->layout), mca = 0;
    char *library;

    for (size_t i = 0; i < job->mca.n; i++)
        mca += strncmp(job->mca.v[i], "plm_", 4) != 0;    /* these choose the remote shell */
    if (mca && job->on_message)
        job->on_message(job->ctx, "--mca does nothing here: these are parameters of Open MPI, and the program is of "
                        "MPICH's family");
    if (!yields && !spans && !over_slurm)
        return NULL;
    snprintf(words, size, "%s%s%s", yields ? "yield " : "", over_slurm ? "status " : "",
             spans ? "progress " : "");
    library = hrun_installed_library("libhrun-mpich.so");
    if (library)
        job->preloads.v[job->preloads.n++] = (struct hrun_preload){ library, "HRUN_MPICH", words };
    else if (job->on_message)
        job->on_message(job->ctx, over_slurm ? "statuses of processes that abort will be wrong, and MPI_Finalize may "
                        "hang: libhrun-mpich.so is not where hrun is installed (make install)"
                        : spans ? "MPI_Finalize may hang: libhrun-mpich.so is not where hrun is installed (make "
                        "install)"
                        : "processes that share a core will hinder each other while they wait: libhrun-mpich.so is not "
                        "where hrun is installed (make install)");
    return library;
}

/* ---------------------------------------------------------------- the command to type */

/* "user:0+1+4,2+3": Hydra's form of the cpusets "0-1,4" and "2-3". */
static void add_bindings(const struct hrun_layout *l, struct hrun_strvec *words)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    long first, last;

    hrun_buf_adds(&b, "user:");
    for (int r = 0; r < l->nranks; r++) {
        const char *before = r ? "," : "";

        if (!l->ranks[r].cpuset[0])
            return;     /* Hydra has no form for an unbound rank */
        for (const char *p = l->ranks[r].cpuset; p && *p; p += *p == ',') {
            if (!(p = hrun_range_next(p, INT_MAX, &first, &last)))
                break;
            for (long i = first; i <= last; i++, before = "+")
                hrun_buf_addf(&b, "%s%ld", before, i);
        }
    }
    hrun_strvec_add(words, "-bind-to", b.data, NULL);
}

void hrun_mpich_command(const struct hrun_job *job, struct hrun_buf *out)
{
    const struct hrun_layout *l = job->layout;
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf hosts = HRUN_BUF_INIT;    /* "h1:2,h2:1,h1:1", by rank */

    hrun_strvec_add(&words, "mpiexec.hydra", "-n", NULL);
    hrun_strvec_pushf(&words, "%d", hrun_job_run_length(job, 0));
    for (int r = 0, n; r < l->nranks; r += n) {
        for (n = 1; r + n < l->nranks && l->ranks[r + n].host == l->ranks[r].host; n++)
            ;
        hrun_buf_addf(&hosts, "%s%s:%d", r ? "," : "", l->cluster->hosts[l->ranks[r].host].name, n);
    }
    /* Hydra has one list of bindings for all hosts. */
    if (spans_hosts(l))
        hrun_strvec_add(&words, "-hosts", hosts.data, NULL);
    else
        add_bindings(l, &words);
    if (job->wdir)
        hrun_strvec_add(&words, "-wdir", job->wdir, NULL);
    for (size_t i = 0; i < job->env.n; i++) {
        const char *eq = strchr(job->env.v[i], '=');

        if (!eq)
            continue;   /* Hydra passes the environment on */
        hrun_strvec_push(&words, "-genv");
        hrun_strvec_pushf(&words, "%.*s", (int)(eq - job->env.v[i]), job->env.v[i]);
        hrun_strvec_push(&words, eq + 1);
    }
    for (int r = 0, n; r < job->layout->nranks; r += n) {
        n = hrun_job_run_length(job, r);
        if (r) {
            hrun_strvec_add(&words, ":", "-n", NULL);
            hrun_strvec_pushf(&words, "%d", n);
        }
        hrun_push_program(job, r, 0, &words);
    }
    hrun_show_command(job, &words, out);
}

int hrun_mpich_check_together(struct hrun_run *r, struct hrun_error *err)
{
    struct hrun_mpi mpi;

    for (int i = 0; i < r->nprocs; i++)
        if (r->procs[i].was_connected)
            return 0;
    if (!r->own.mpich || r->nprocs < 2 || r->out->status)
        return 0;
    if (hrun_job_mpi(r->job, &mpi, err))
        return -1;
    if (mpi.kind != HRUN_MPI_MPICH)
        return 0;
    return hrun_fail(err, HRUN_EMPI, "none of the %d processes of %s has called MPI_Init: either the program does not, "
                     "with these arguments (start it alone, with -n 1), or its MPI does not speak PMI-1 and each "
                     "process has done all of the work", r->nprocs, r->job->argv[0]);
}
