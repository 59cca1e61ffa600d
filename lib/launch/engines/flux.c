/* flux.c - engine flux: a job of the Flux instance that hrun runs in, with Flux's own PMI
 *
 * `flux job submit` takes a jobspec (flux_job.c), and `flux job attach` brings output and input; together they are what
 * `flux run` does, whose options cannot ask for more ranks than cores, nor for unlike numbers on unlike hosts.
 * What was learnt from Flux 0.88 (seen):
 *   - its PMI-1 serves programs of MPICH, and those of Open MPI 4 by that one's component pmix/flux, which is asked for
 *     by name: without it each process would be a world of its own. Open MPI 5 has no such component;
 *   - its PMI does not see a rank that leaves without MPI_Finalize, and makes SIGTERM of each MPI_Abort:
 *     libhrun-mpich.so gives such ranks a status (hrun/preloaded/mpich.c);
 *   - a job has its hosts alone: two jobs on one host run one after the other.
 */
#include "launch/engines/flux.h"
#include "launch/engines/engines.h"

#include "base/file.h"
#include "base/list.h"

#include <fcntl.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- usable, check */

static int find_instance(struct hrun_allocation *a, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc = hrun_flux_resources(&text, err);

    if (!rc && !text.len)
        rc = hrun_fail(err, HRUN_EENGINE, "engine flux works inside a Flux instance, and this is none: get one with "
                       "flux alloc or flux start, or use another engine");
    rc = rc || hrun_allocation_flux(text.data, a, err) ? -1 : 0;
    hrun_buf_release(&text);
    return rc;
}

/* Errors: those of find_instance and hrun_flux_place. */
static int find_place(const struct hrun_layout *l, struct hrun_flux_place *p, struct hrun_error *err)
{
    struct hrun_allocation a;
    int rc;

    if (find_instance(&a, err))
        return -1;
    rc = hrun_flux_place(&a, l, p, err);
    hrun_allocation_release(&a);
    return rc;
}

static int flux_suits(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    return cluster->manager == HRUN_MANAGER_FLUX && !cluster->platform &&
           !(mpi && mpi->kind == HRUN_MPI_OPENMPI && mpi->major > 4);
}

static int flux_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    const struct hrun_layout all = { .cluster = cluster };
    struct hrun_flux_place p;
    int rc = find_place(&all, &p, err);

    (void)found;
    if (!rc)
        hrun_flux_place_release(&p);
    return rc;
}

static int flux_check(const struct hrun_job *job, struct hrun_error *err)
{
    struct hrun_mpi mpi;

    if (hrun_check_common(&hrun_engine_flux, job, &mpi, err))
        return -1;
    if (job->which)
        return hrun_fail(err, HRUN_EINVAL, "engine flux starts one program for all ranks: use --engine mpirun or ssh");
    if (mpi.kind == HRUN_MPI_OPENMPI && mpi.major > 4)
        return hrun_fail(err, HRUN_EMPI, "%s is linked with Open MPI %d, which knows no PMI of Flux, and each process "
                         "would work alone: use --engine mpirun", job->argv[0], mpi.major);
    return flux_usable(job->layout->cluster, NULL, err);
}

/* ---------------------------------------------------------------- the command to type */

static int push_variables(const struct hrun_job *job, struct hrun_strvec *v)
{
    int bad = hrun_strvec_push(v, "env");

    for (int i = 0; i < job->n_mca && !bad; i++)
        bad = hrun_strvec_pushf(v, "OMPI_MCA_%s", job->mca[i]);
    for (int i = 0; i < job->n_env && !bad; i++)
        if (strchr(job->env[i], '='))
            bad = hrun_strvec_push(v, job->env[i]);
    if (!bad && v->n == 1)
        free(v->v[--v->n]);
    return bad;
}

static int flux_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_strvec v = HRUN_STRVEC_INIT;
    struct hrun_buf hosts = HRUN_BUF_INIT;
    struct hrun_flux_place p;
    int n = job->layout->nranks, nhosts, bad, rc;

    if (hrun_env_check(job, err) || find_place(job->layout, &p, err))
        return -1;
    nhosts = (int)p.hosts.n;
    hrun_hostlist_print(p.hosts.v, p.hosts.n, &hosts);
    bad = hosts.failed || push_variables(job, &v) || hrun_strvec_push(&v, "flux") || hrun_strvec_push(&v, "run") ||
          hrun_strvec_pushf(&v, "--nodes=%d", nhosts) || hrun_strvec_push(&v, "--exclusive") ||
          /* the latter only where the hosts have the cores */
          (n % nhosts ? hrun_strvec_pushf(&v, "--ntasks=%d", n)
                      : hrun_strvec_pushf(&v, "--tasks-per-node=%d", n / nhosts)) ||
          hrun_strvec_pushf(&v, "--requires=hosts:%s", hosts.data) ||
          hrun_strvec_pushf(&v, "--taskmap=manual:%s", p.taskmap) ||
          hrun_strvec_push(&v, "--setopt=cpu-affinity=off") ||
          hrun_strvec_push(&v, "--setopt=exit-timeout=none") || hrun_strvec_push(&v, "--input=0") ||
          (job->tag_output && hrun_strvec_push(&v, "--label-io")) ||
          (job->wdir && hrun_strvec_pushf(&v, "--cwd=%s", job->wdir));
    for (int i = 0; job->argv[i] && !bad; i++)
        bad = hrun_strvec_push(&v, job->argv[i]);
    rc = bad ? hrun_fail_nomem(err) : hrun_show_command(job, &v, out, err);
    hrun_buf_release(&hosts);
    hrun_flux_place_release(&p);
    hrun_strvec_release(&v);
    return rc;
}

/* ---------------------------------------------------------------- run */

static int build_env(const struct hrun_run *r, struct hrun_strvec *env, struct hrun_error *err)
{
    const struct hrun_job *job = r->job;
    const char *todo = job->report_bindings ? "bind,tell,report" : "bind,tell";
    int rc = hrun_env_base(env, err) || hrun_ranks_words(job->layout, env, err) ||
             hrun_env_set(env, HRUN_JOB_VARIABLE, r->job_id, err) ||
             hrun_env_set(env, HRUN_RANKS_DO_VARIABLE, todo, err);

    if (!rc && r->mpich)
        rc = hrun_mpich_env(env, err);
    else if (!rc)
        rc = hrun_env_mca(job, env, "pmix", "flux", err) ||
             /* the shim has bound the ranks; Open MPI 4 shall not try to do it better */
             hrun_env_mca(job, env, "orte_bound_at_launch", "1", err) ||
             (hrun_env_yields(job) && hrun_env_mca(job, env, hrun_env_yield, "1", err));
    return rc || hrun_env_user(job, env, err) || hrun_env_preload(job, 1, env, err) ? -1 : 0;
}

static int submit(const struct hrun_run *r, const struct hrun_flux_place *p, const char *shim,
                  const struct hrun_strvec *env, struct hrun_error *err)
{
    struct hrun_flux_watch *w = r->state;
    struct hrun_buf spec = HRUN_BUF_INIT, said = HRUN_BUF_INIT;
    char *file = hrun_strf("%s/jobspec", r->rundir);
    char *const words[] = { w->flux, (char *)(uintptr_t)"job", (char *)(uintptr_t)"submit", file, NULL };
    int rc = file ? 0 : hrun_fail_nomem(err);

    rc = rc || hrun_flux_jobspec(r->job, p, shim, env, &spec, err) ||
         hrun_file_replace(file, spec.data, spec.len, 0600, err) || hrun_command_output(words, 1, &said, err) ? -1 : 0;
    if (!rc) {
        said.data[strcspn(said.data, "\n")] = 0;
        if (!said.data[0] || strpbrk(said.data, " :"))  /* no number of a job */
            rc = hrun_fail(err, HRUN_EENGINE, "Flux does not take the job: %s", said.data);
        else if (!(w->id = strdup(said.data)))
            rc = hrun_fail_nomem(err);
    }
    hrun_buf_release(&spec);
    hrun_buf_release(&said);
    free(file);
    return rc;
}

static int attach(struct hrun_run *r, struct hrun_error *err)
{
    struct hrun_flux_watch *w = r->state;
    char *const words[] = {
        (char *)(uintptr_t)"flux", (char *)(uintptr_t)"job", (char *)(uintptr_t)"attach",
        (char *)(uintptr_t)"--show-events", (char *)(uintptr_t)"--show-exec", (char *)(uintptr_t)"--unbuffered",
        (char *)(uintptr_t)"--stdin-ranks=0", (char *)(uintptr_t)(r->job->tag_output ? "--label-io" : w->id),
        r->job->tag_output ? w->id : NULL, NULL
    };
    struct hrun_strvec env = HRUN_STRVEC_INIT;
    struct hrun_spawn_one one = { 0 };
    int rc = hrun_env_base(&env, err) || hrun_env_set(&env, HRUN_JOB_VARIABLE, r->job_id, err);

    one.env = env.v;
    rc = rc || hrun_run_start(r, w->flux, words, NULL, &one, 1, err) ? -1 : 0;
    hrun_strvec_release(&env);
    return rc;
}

static int start(struct hrun_run *r, const struct hrun_flux_place *p, const char *shim, struct hrun_error *err)
{
    struct hrun_flux_watch *w = r->state;
    struct hrun_strvec env = HRUN_STRVEC_INIT;
    /* attach passes SIGTERM on, which it gets when hrun dies */
    struct hrun_guard_spec spec = { .job_id = r->job_id, .mark = r->mark, .rundir = r->rundir, .shmdir = r->shmdir,
                                    .scratch = r->job->scratch, .grace_ms = 3000 };
    int rc;

    r->is_launcher = 1;
    r->launcher = &hrun_flux_launcher;
    r->begun_s = INFINITY;
    r->tagging = HRUN_TAG_SRUN;
    /* What attach writes to standard error is not of lines alone. */
    if (hrun_guard_start(&spec, NULL, NULL, &r->guard, err) || hrun_words_open(&r->words, err))
        return -1;
    r->watch_fd = w->fd = r->words.fd;
    r->words.fd = -1;
    r->watch = hrun_flux_listen;
    rc = hrun_run_prepare(r, 1, err) || build_env(r, &env, err) || submit(r, p, shim, &env, err) ||
         attach(r, err) ? -1 : 0;
    hrun_strvec_release(&env);
    return rc;
}

/* A job whose ranks have not all told their end may go on without us. */
static void cancel(const struct hrun_run *r)
{
    const struct hrun_flux_watch *w = r->state;
    char *const words[] = { w->flux, (char *)(uintptr_t)"job", (char *)(uintptr_t)"raise", w->id, NULL };
    struct hrun_buf said = HRUN_BUF_INIT;

    if (w->id && w->nended < r->job->layout->nranks)
        hrun_command_output(words, 1, &said, NULL);
    hrun_buf_release(&said);
}

/* A status without a rank that has ended, and 0 where not all have, is not the program's. -1 with *err then. */
static int judge(const struct hrun_run *r, const struct hrun_flux_watch *w, struct hrun_error *err)
{
    int enough = r->out->status ? w->nended > 0 : w->nended >= r->job->layout->nranks;

    if (enough || r->out->timed_out || r->out->signalled || r->out->lost_host[0])
        return 0;
    return hrun_fail(err, HRUN_EENGINE, "Flux ended the job with status %d before its processes had ended%s%s",
                     r->out->status, w->complaint[0] ? ": " : "", w->complaint);
}

static char *preload(struct hrun_job *job, const struct hrun_mpi *mpi, char *words, size_t size)
{
    char *library;

    if (mpi->kind == HRUN_MPI_MPICH)
        return hrun_mpich_preload(job, 1, words, size);
    library = mpi->kind == HRUN_MPI_OPENMPI ? hrun_installed_library("libhrun-mpich.so") : NULL;
    if (library)
        job->preloads[job->npreloads++] = (struct hrun_preload){ library, "HRUN_MPICH", "status" };
    return library;
}

static int flux_run(const struct hrun_job *asked, struct hrun_outcome *out, struct hrun_error *err)
{
    struct hrun_job job = *asked;
    struct hrun_flux_watch w = { .fd = -1, .suspect = -1 };
    struct hrun_flux_place p = { .hosts = HRUN_STRVEC_INIT };
    struct hrun_mpi mpi;
    char *library = NULL, mpich_words[64], *shim = hrun_shim_path(err);
    struct hrun_run r;
    int rc = -1;

    w.flux = shim ? hrun_program_find("flux", NULL, err) : NULL;
    if (!w.flux || hrun_job_mpi(&job, &mpi, err) || find_place(job.layout, &p, err))
        goto out;
    library = preload(&job, &mpi, mpich_words, sizeof mpich_words);
    rc = hrun_run_begin(&r, &job, out, err);
    r.mpich = mpi.kind == HRUN_MPI_MPICH;
    r.state = &w;
    rc = rc || start(&r, &p, shim, err) || hrun_run_loop(&r) || judge(&r, &w, err) ? -1 : 0;
    cancel(&r);
    hrun_run_end(&r);
out:
    if (w.fd >= 0)
        close(w.fd);
    hrun_buf_release(&w.sieve.held);
    hrun_flux_place_release(&p);
    free(w.flux);
    free(w.id);
    free(library);
    free(shim);
    return rc;
}

const struct hrun_engine hrun_engine_flux = {
    .name = "flux", .what = "a job of the Flux instance, with Flux's PMI", .mpich = 1,
    .suits = flux_suits, .usable = flux_usable, .check = flux_check, .run = flux_run, .command = flux_command,
};
