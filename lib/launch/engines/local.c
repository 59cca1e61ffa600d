/* local.c - engine local: ranks are children of hrun; the guard serves PMIx, or PMI-1 to programs of MPICH
 *
 * Open MPI 5 needs the PMIx variables only. Version 4 must also detect a direct launch; otherwise each process starts
 * as a separate world. Its component schizo/jsm detects one by JSM_JSRUN_PORT in the environment.
 */
#include "launch/engines/local.h"

#include "base/alloc.h"
#include "base/file.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/mpich.h"
#include "launch/programs.h"
#include "launch/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse_host(const struct hrun_cluster *c, int host, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_EINVAL, "engine local runs on this host only, and %s is another: use "
                     "--engine mpirun", c->hosts[host].name);
}

static int local_suits(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    (void)mpi;
    return !cluster->platform && cluster->nhosts == 1 && cluster->hosts[0].is_local;
}

static int local_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    (void)found;
    if (hrun_check_hosts(&hrun_engine_local, cluster, err))
        return -1;
    for (int i = 0; i < cluster->nhosts; i++)
        if (!cluster->hosts[i].is_local)
            return refuse_host(cluster, i, err);
    return 0;
}

static int local_check(const struct hrun_job *job, struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    struct hrun_mpi mpi;

    if (hrun_check_common(&hrun_engine_local, job, &mpi, err))
        return -1;
    for (int r = 0; r < l->nranks; r++)
        if (!l->cluster->hosts[l->ranks[r].host].is_local)
            return refuse_host(l->cluster, l->ranks[r].host, err);
    return 0;
}

static void local_openmpi_env(const struct hrun_run *r, struct hrun_strvec *env)
{
    const struct hrun_layout *l = r->job->layout;

    hrun_env_set(env, "JSM_JSRUN_PORT=0");
    hrun_env_set(env, "OMPI_COMM_WORLD_SIZE=%d", l->nranks);
    hrun_env_set(env, "OMPI_UNIVERSE_SIZE=%d", local_slots(l));
    hrun_env_set(env, "OMPI_COMM_WORLD_LOCAL_SIZE=%d", l->nranks);
    /* hrun has bound the ranks; Open MPI 4 must not bind them again */
    hrun_env_mca(r->job, env, "orte_bound_at_launch", "1");
    hrun_env_set(env, HRUN_ENV_PMI_PORT "=" HRUN_ENV_NO_MPICH);
    hrun_env_shared_memory(r->job, env, r->own.shmdir);
    /* Ranks that spin on a shared core slow each other down: a barrier takes 8.5 ms instead of 6.5 us. Ranks that spin
     * under a control group's quota use up the quota, and then cannot work. */
    if (hrun_env_yields(r->job))
        hrun_env_mca(r->job, env, hrun_env_yield, "1");
}

/* In MPI_Init each rank of MPICH discovers the host by hwloc, which takes a quarter of a short program's time. So hwloc
 * reads hrun's file, unless the host has devices that the file lacks. */
static void local_mpich_env(const char *topology, struct hrun_strvec *env)
{
    static const char *const devices[] = { "/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/infiniband" };
    int has_devices = 0;

    hrun_mpich_env(env);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        has_devices |= !access(devices[i], F_OK);
    if (!topology || has_devices || hrun_env_get(env, "HWLOC_COMPONENTS"))
        return;
    hrun_env_set(env, "HWLOC_XMLFILE=%s", topology);
    hrun_env_set(env, "HWLOC_THISSYSTEM=1");
}

/* Put hrun-shim before the program. The shim compares its affinity with the layout and reports; it does not bind. Sets
 * argv of each rank, and *env. Result: the shim's path, which the caller frees; NULL with *err. */
static char *put_shim(const struct hrun_job *job, struct hrun_strvec *argv, struct hrun_strvec *env,
                      struct hrun_error *err)
{
    char *shim = hrun_shim_path(err);

    if (!shim)
        return NULL;
    for (int r = 0; r < job->layout->nranks; r++) {
        hrun_strvec_add(&argv[r], shim, "rank", NULL);
        hrun_push_program(job, r, 1, &argv[r]);
    }
    hrun_strvec_push(env, HRUN_RANKS_DO_VARIABLE "=report");
    hrun_ranks_words(job->layout, env);
    return shim;
}

/* The attributes of the ranks: arrays of nranks. */
struct local_ranks {
    int n;
    struct hrun_strvec *env, *argv; /* argv: empty without hrun-shim before the program */
    struct hrun_spawn_one *one;
    const char **cpusets;
    int *fds;                       /* PMI connections, -1: none */
};

static void ranks_release(struct local_ranks *a)
{
    for (int i = 0; i < a->n; i++) {
        hrun_close_fd(&a->fds[i]);
        hrun_strvec_release(&a->env[i]);
        hrun_strvec_release(&a->argv[i]);
    }
    free(a->env);
    free(a->argv);
    free(a->one);
    free(a->cpusets);
    free(a->fds);
}

static void rank_env(const struct hrun_run *r, int rank, struct local_ranks *a)
{
    const struct local *x = r->state;
    const struct hrun_rank *k = &r->job->layout->ranks[rank];
    struct hrun_strvec *env = &a->env[rank], served = *env;     /* served: the variables from the guard */

    *env = (struct hrun_strvec)HRUN_STRVEC_INIT;
    hrun_strvec_add_all(env, x->common.v);
    hrun_env_set_all(env, &served);
    hrun_strvec_release(&served);
    if (k->threads)
        hrun_env_set(env, "OMP_NUM_THREADS=%d", k->threads);
    if (r->own.mpich) {
        hrun_mpich_env_rank(r->job->layout, rank, a->fds[rank], env);
        return;
    }
    hrun_env_set(env, "OMPI_COMM_WORLD_RANK=%d", rank);
    hrun_env_set(env, "OMPI_COMM_WORLD_LOCAL_RANK=%d", k->local_rank);
    hrun_env_set(env, "OMPI_COMM_WORLD_NODE_RANK=%d", k->local_rank);
}

/* Write the topology of the host into a file for the guard and the ranks. If the topology describes another machine,
 * nothing is written or bound. */
static int find_topology(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_layout *l = r->job->layout;
    struct local *x = r->state;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    x->topo = l->cluster->hosts[l->ranks[0].host].topo;
    if (!x->topo || !hrun_topo_is_this_system(x->topo)) {
        x->topo = NULL;
        hrun_run_say(r, "the processes are not bound: the topology is a description, not that of this machine");
        return r->job->report_bindings
               ? hrun_fail(err, HRUN_EINVAL, "--report-bindings: the topology is a description, not that of this "
                           "machine, and so nothing is bound: unset HWLOC_XMLFILE and HWLOC_SYNTHETIC") : 0;
    }
    return hrun_topo_export(x->topo, &b, err) || !(x->topology = hrun_run_write(r, "topology.xml", &b, err)) ? -1 : 0;
}

static int start_local(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_job *job = r->job;
    const struct hrun_layout *l = job->layout;
    struct local *x = r->state;
    struct hrun_guard_spec *own = &r->own;
    size_t n = (size_t)l->nranks;
    autorelease(ranks_release) struct local_ranks a = {
        l->nranks, xcalloc(n, sizeof *a.env), xcalloc(n, sizeof *a.argv),
        xcalloc(n, sizeof *a.one), xcalloc(n, sizeof *a.cpusets), xmalloc(n * sizeof *a.fds),
    };
    autofree char *shim = NULL;

    memset(a.fds, -1, n * sizeof *a.fds);
    if (find_topology(r, err))
        return -1;
    for (int i = 0; i < a.n; i++)
        a.cpusets[i] = x->topo ? l->ranks[i].cpuset : "";
    own->mpich = x->mpich;
    own->nranks = a.n;
    own->layout = l;
    own->cpusets = a.cpusets;
    own->topology = x->topology;
    own->wdir = job->wdir;
    own->apps = job->which;
    own->universe = local_slots(l);
    if (hrun_guard_start(own, a.env, a.fds, &r->guard, err))
        return -1;
    hrun_env_base(&x->common);
    hrun_env_set(&x->common, HRUN_JOB_VARIABLE "=%s", own->job_id);
    if (own->mpich)
        local_mpich_env(x->topology, &x->common);
    else
        local_openmpi_env(r, &x->common);
    hrun_env_user(job, &x->common);
    hrun_env_preload(job, job->report_bindings, &x->common);
    if (job->report_bindings && !(shim = put_shim(job, a.argv, &x->common, err)))
        return -1;
    for (int i = 0; i < a.n; i++) {
        struct hrun_program p = hrun_job_program(job, i);

        rank_env(r, i, &a);
        a.one[i] = (struct hrun_spawn_one){ .program = shim ? shim : p.path, .argv = shim ? a.argv[i].v : p.argv,
                                            .env = a.env[i].v, .cpuset = a.cpusets[i], .keep_fd = a.fds[i] };
    }
    return hrun_run_start(r, x->topo, a.one, a.n, err);
}

static int local_run(const struct hrun_job *asked, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .serves = 1, .start = start_local, .check_end = hrun_mpich_check_together, .spawn = local_on_spawn,
    };
    autorelease(local_release) struct local x = { .request = HRUN_BUF_INIT, .refusal = HRUN_BUF_INIT };
    struct hrun_job job = *asked;
    struct hrun_mpi mpi;
    autofree char *library = NULL;
    char words[64];

    if (hrun_job_mpi(&job, &mpi, err))
        return -1;
    x.mpich = mpi.kind == HRUN_MPI_MPICH;
    if (x.mpich)
        library = hrun_mpich_preload(&job, 0, words, sizeof words);
    return hrun_run_job(&driver, &x, NULL, &job, out, err);
}

const struct hrun_engine hrun_engine_local = {
    .name = "local", .what = "this host; hrun itself serves PMIx, or PMI to programs of MPICH", .mpich = 1,
    .suits = local_suits, .usable = local_usable, .check = local_check, .run = local_run,
};
