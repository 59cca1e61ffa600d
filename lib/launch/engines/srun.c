/* srun.c - engine srun: a step of the Slurm allocation that hrun runs in, with Slurm's own PMIx
 *
 * Placement: -m arbitrary with a file of nodes, line i being the host of rank i. In a heterogeneous job each component
 * has its own part of the command with its own file. A component may occur only once, and Slurm numbers the processes
 * component by component, so lib/layout orders the ranks by component.
 * Binding: --cpu-bind=none gives each process all CPUs granted on its node, and hrun-shim binds it (launch/ranks.h),
 * because the lists of --cpu-bind would be the same on all nodes.
 * Seen with Slurm 22.05:
 *   - variables of the allocation such as SLURM_NTASKS_PER_NODE act as options of srun: hrun removes those that
 *     contradict its own options; --export=ALL overrides SLURM_EXPORT_ENV=NONE;
 *   - the step shares the allocation (--overlap) and uses all of it (--whole; without it -O can mean one CPU for each
 *     node). With --kill-on-bad-exit=0 a failed rank does not end the step (1 would turn the status into 143). With
 *     --wait=0 the end of the first rank does not end the step a while later;
 *   - programs of MPICH get PMI-1 by --mpi=pmi2, and libhrun-mpich.so completes it (hrun/preloaded/mpich.c);
 *   - srun passes sorted nodes to the daemons of its PMIx, and these number themselves by component. So PMIx confuses
 *     the nodes of a heterogeneous job unless their names are in order, component by component. Such a job is refused;
 *     without --engine mpirun starts it over the remote shell;
 *   - its PMIx numbers the nodes of a step from 0 and looks the numbers up in SLURM_JOB_NODELIST, the nodes of the
 *     whole job: the daemons of a part of the nodes wait for others, and MPI_Init hangs for SLURM_PMIX_TIMEOUT, 300 s.
 *     So hrun sets this variable to the step's nodes. In a heterogeneous job srun sets it, but sorted by name;
 *   - its PMIx crashed in MPI_Init in 5 of 200 interleaved layouts. With SLURM_PMIX_FENCE=tree one short program in
 *     five hung at its end ("pmixp_p2p_send ... exceeded the retry limit"). With ring neither was seen in 56 runs.
 */
#include "launch/engines/srun.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/mpich.h"
#include "launch/programs.h"
#include "launch/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- components */

void hrun_srun_parts_release(struct hrun_srun_parts *p)
{
    for (int i = 0; i < p->n; i++)
        hrun_strvec_release(&p->v[i].nodes);
    free(p->v);
    free(p->name);
    free(p->nodes);
    *p = (struct hrun_srun_parts){ 0 };
}

/* Add rank r, which is on this node of component `group`, to the last part or a new one. */
static int add_rank_to_part(struct hrun_srun_parts *p, int r, const char *node, int group, struct hrun_error *err)
{
    struct hrun_srun_part *last = p->n ? &p->v[p->n - 1] : NULL;

    if (last && group < last->group)
        return hrun_fail(err, HRUN_EINVAL, "rank %d is on component %d of %s and rank %d on component %d, and Slurm "
                         "numbers processes component by component: order the sub-clusters by component in a "
                         "cluster file", r - 1, last->group, p->name, r, group);
    if (!last || group > last->group) {
        last = &p->v[p->n++];
        *last = (struct hrun_srun_part){ .is_het = p->ngroups > 1, .group = group, .first = r };
    }
    last->nranks++;
    hrun_strvec_push(&last->nodes, node);
    return 0;
}

/* Set p->nodes. used[h]: the allocation's name of host h; NULL: not used. */
static void set_step_nodes(struct hrun_srun_parts *p, const struct hrun_allocation *a, char *const *used, int nhosts)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec v = HRUN_STRVEC_INIT;

    if (p->ngroups > 1)
        return;
    for (size_t i = 0; i < a->hosts.n; i++)
        for (int h = 0; h < nhosts; h++)
            if (used[h] && !strcmp(used[h], a->hosts.v[i])) {
                hrun_strvec_push(&v, used[h]);
                break;
            }
    if (v.n < a->hosts.n) {
        hrun_hostlist_print(v.v, v.n, &text);
        p->nodes = hrun_buf_detach(&text);
    }
}

int hrun_srun_make_parts(const struct hrun_layout *l, struct hrun_srun_parts *p, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    struct hrun_allocation a;
    autofree char **nodes = xcalloc((size_t)c->nhosts + 1, sizeof *nodes);
    autofree int *groups = xcalloc((size_t)c->nhosts + 1, sizeof *groups);
    int rc = 0;

    *p = (struct hrun_srun_parts){ 0 };
    if (hrun_allocation_find(NULL, &a, err))
        return -1;
    p->ngroups = a.ngroups > 1 ? a.ngroups : 1;
    p->v = xcalloc((size_t)p->ngroups, sizeof *p->v);
    p->name = xstrdup(a.name ? a.name : "");
    if (a.manager != HRUN_MANAGER_SLURM)
        rc = hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none");
    for (int r = 0; r < l->nranks && !rc; r++) {
        int h = l->ranks[r].host, is_new = !nodes[h];

        if (is_new)
            nodes[h] = hrun_srun_node(&a, c->hosts[h].name, c->hosts[h].is_local, &groups[h], err);
        rc = nodes[h] ? add_rank_to_part(p, r, nodes[h], groups[h], err) : -1;
        if (!rc)
            p->v[p->n - 1].nhosts += is_new;
    }
    if (rc)
        hrun_srun_parts_release(p);
    else
        set_step_nodes(p, &a, nodes, c->nhosts);
    hrun_allocation_release(&a);
    for (int h = 0; h < c->nhosts; h++)
        free(nodes[h]);
    return rc;
}

/* ---------------------------------------------------------------- usable, check */

/* Programs of MPICH form one world only within one component. Programs of Open MPI form one if the names of a
 * heterogeneous job's nodes are in order, component by component. */
static int srun_suits(const struct hrun_cluster *c, const struct hrun_mpi *mpi)
{
    if (c->platform || c->manager != HRUN_MANAGER_SLURM)
        return 0;
    if (mpi && mpi->kind == HRUN_MPI_MPICH)
        return c->ngroups < 2;
    for (int i = 0; i < c->nhosts && c->ngroups > 1; i++)
        for (int k = 0; k < c->nhosts; k++)
            if (c->hosts[i].group < c->hosts[k].group && strverscmp(c->hosts[i].name, c->hosts[k].name) > 0)
                return 0;
    return 1;
}

static int srun_usable(const struct hrun_cluster *c, struct hrun_openmpi *found, struct hrun_error *err)
{
    autorelease(hrun_allocation_release) struct hrun_allocation a = { 0 };
    autofree char *srun = hrun_program_find("srun", NULL, NULL), *scancel = hrun_program_find("scancel", NULL, NULL);
    char *const words[] = { srun, (char *)(uintptr_t)"--mpi=list", NULL };
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    (void)found;
    if (hrun_allocation_find(NULL, &a, err))
        return -1;
    if (a.manager != HRUN_MANAGER_SLURM)
        return hrun_fail(err, HRUN_EENGINE, "engine srun works inside a Slurm allocation, and this is none: get one "
                         "with salloc or sbatch, or use another engine");
    if (!srun || !scancel)
        return hrun_srun_missing(err, srun ? "scancel" : "srun");
    for (int i = 0, group; i < c->nhosts; i++) {
        autofree char *node = hrun_srun_node(&a, c->hosts[i].name, c->hosts[i].is_local, &group, err);

        if (!node)
            return -1;
    }
    if (hrun_command_output(words, 1, &text, err))      /* older versions print it on standard error */
        return -1;
    return strstr(text.data, "pmix") ? 0
           : hrun_fail(err, HRUN_EENGINE, "this Slurm has no PMIx (srun --mpi=list does not name it): install "
                       "slurm-wlm-basic-plugins on all nodes, or use --engine mpirun");
}

/* Slurm's order of names, which compares numbers in them as numbers. */
static int by_node_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Check that the nodes of each part come after those of the part before, in the order of names. */
static int check_order(const struct hrun_srun_parts *p, struct hrun_error *err)
{
    for (int i = 1; i < p->n; i++) {
        const struct hrun_strvec *one = &p->v[i - 1].nodes, *two = &p->v[i].nodes;
        char *last = one->v[0], *first = two->v[0];

        for (size_t k = 0; k < one->n; k++)
            last = by_node_name(&one->v[k], &last) > 0 ? one->v[k] : last;
        for (size_t k = 0; k < two->n; k++)
            first = by_node_name(&two->v[k], &first) < 0 ? two->v[k] : first;
        if (by_node_name(&last, &first) > 0)
            return hrun_fail(err, HRUN_EENGINE, "component %d of %s has node %s and component %d has %s, and Slurm's "
                             "PMIx mixes up nodes that are not in the order of their names: use --engine mpirun, ask "
                             "for the components in the other order, or leave one out with --use", p->v[i - 1].group,
                             p->name, last, p->v[i].group, first);
    }
    return 0;
}

static int srun_check(const struct hrun_job *job, struct hrun_error *err)
{
    struct hrun_mpi mpi;
    struct hrun_srun_parts p;
    int rc;

    if (hrun_check_common(&hrun_engine_srun, job, &mpi, err) || hrun_srun_make_parts(job->layout, &p, err))
        return -1;
    rc = mpi.kind == HRUN_MPI_OPENMPI ? check_order(&p, err) : 0;
    if (mpi.kind == HRUN_MPI_MPICH && p.n > 1)
        rc = hrun_fail(err, HRUN_EENGINE, "%s is linked with %s, whose processes Slurm brings together within one "
                       "component of a heterogeneous job only: leave the others out with --use", job->argv[0],
                       mpi.name);
    hrun_srun_parts_release(&p);
    return rc;
}

/* ---------------------------------------------------------------- the command line */

/* Append the program of a part, or a shell that chooses among several, because the file of srun's --multi-prog cannot
 * contain all arguments. SLURM_PROCID numbers the processes of all components. */
static void push_part_program(const struct hrun_job *job, const struct hrun_srun_part *part, int as_found,
                              struct hrun_strvec *v)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    int end = part->first + part->nranks;

    if (part->first + hrun_job_run_length(job, part->first) >= end) {
        hrun_push_program(job, part->first, as_found, v);
        return;
    }
    for (int r = part->first, next; r < end; r = next) {
        autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;

        next = r + hrun_job_run_length(job, r);
        if (next < end)
            hrun_buf_addf(&text, "[ $SLURM_PROCID -lt %d ] && ", next);
        hrun_buf_adds(&text, "exec ");
        hrun_push_program(job, r, as_found, &words);
        hrun_buf_add_command(&text, words.v);
        hrun_buf_adds(&text, next < end ? "; " : "");
    }
    hrun_strvec_add(v, "/bin/sh", "-c", text.data, NULL);
}

static const char *srun_mpi(int mpich)
{
    return mpich ? "pmi2" : "pmix";
}

static const char JOB_NODES[] = "SLURM_JOB_NODELIST";

/* Append the words that a user types in front of srun: "env" with the variables. */
static void push_variables(const struct hrun_job *job, const struct hrun_srun_parts *p, int mpich,
                           struct hrun_strvec *v)
{
    size_t before = v->n;

    hrun_strvec_push(v, "env");
    if (p->nodes)
        hrun_strvec_pushf(v, "%s=%s", JOB_NODES, p->nodes);
    if (!mpich && hrun_env_yields(job))
        hrun_strvec_pushf(v, "OMPI_MCA_%s=1", hrun_env_yield);
    for (size_t i = 0; i < job->mca.n; i++)
        hrun_strvec_pushf(v, "OMPI_MCA_%s", job->mca.v[i]);
    for (size_t i = 0; i < job->env.n; i++)
        if (strchr(job->env.v[i], '='))
            hrun_strvec_push(v, job->env.v[i]);
    if (v->n == before + 1)
        free(v->v[--v->n]);
}

static int srun_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err)
{
    enum { SHOWN_MAX = 2000 };
    autorelease(hrun_strvec_release) struct hrun_strvec v = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf nodes = HRUN_BUF_INIT;
    struct hrun_srun_parts p;
    struct hrun_mpi mpi = { .kind = HRUN_MPI_NONE };

    hrun_job_mpi(job, &mpi, NULL);  /* an unreadable program counts as one without MPI */
    if (hrun_env_check(job, err) || hrun_srun_make_parts(job->layout, &p, err))
        return -1;
    push_variables(job, &p, mpi.kind == HRUN_MPI_MPICH, &v);
    hrun_strvec_push(&v, "srun");
    for (int i = 0; i < p.n; i++) {
        if (i)
            hrun_strvec_push(&v, ":");
        hrun_buf_reset(&nodes);
        hrun_hostlist_print(p.v[i].nodes.v, p.v[i].nodes.n, &nodes);
        if (nodes.len > SHOWN_MAX) {    /* a list too long for a command line goes into a file */
            hrun_buf_reset(&nodes);
            hrun_buf_addf(&nodes, p.v[i].is_het ? "./hrun.nodes.%d" : "./hrun.nodes", p.v[i].group);
        }
        hrun_srun_push_placement(&p.v[i], nodes.data, srun_mpi(mpi.kind == HRUN_MPI_MPICH), &v);
        if (job->wdir)
            hrun_strvec_pushf(&v, "--chdir=%s", job->wdir);
        push_part_program(job, &p.v[i], 0, &v);
    }
    hrun_show_command(job, &v, out);
    hrun_srun_parts_release(&p);
    return 0;
}

static int build_srun(const struct hrun_run *r, const struct hrun_srun *x, struct hrun_strvec *v,
                      struct hrun_error *err)
{
    const struct hrun_job *job = r->job;

    hrun_strvec_push(v, "srun");
    for (int i = 0; i < x->parts.n; i++) {
        if (i)
            hrun_strvec_push(v, ":");
        if (hrun_srun_push_step(r, &x->parts.v[i], srun_mpi(x->mpich), v, err))
            return -1;
        hrun_strvec_pushf(v, "--job-name=%s", hrun_base_name(job->program));
        hrun_strvec_push(v, i || (job->no_stdin && !job->stdin_text) ? "--input=none" : "--input=0");
        if (job->output.tagged)
            hrun_strvec_push(v, "--label");
        if (job->wdir)
            hrun_strvec_pushf(v, "--chdir=%s", job->wdir);
        hrun_strvec_add(v, x->shim, "rank", NULL);
        push_part_program(job, &x->parts.v[i], 1, v);
    }
    return 0;
}

/* ---------------------------------------------------------------- the environment */

/* srun's environment is also that of the ranks. */
static void build_srun_env(const struct hrun_run *r, const struct hrun_srun_parts *p, struct hrun_strvec *env)
{
    const struct hrun_job *job = r->job;
    autorelease(hrun_strvec_release) struct hrun_strvec ranks = HRUN_STRVEC_INIT;

    hrun_srun_clean_env(env);
    if (p->nodes)
        hrun_env_set(env, "%s=%s", JOB_NODES, p->nodes);
    hrun_env_set(env, HRUN_RANKS_DO_VARIABLE "=%s", job->report_bindings ? "bind,report" : "bind");
    if (r->own.mpich) {
        hrun_mpich_env(env);
    } else {
        if (!getenv("SLURM_PMIX_FENCE"))
            hrun_env_set(env, "SLURM_PMIX_FENCE=ring");
        hrun_env_set(env, HRUN_ENV_PMI_PORT "=" HRUN_ENV_NO_MPICH);
        /* the shim has bound the ranks; Open MPI 4 must not bind them again */
        hrun_env_mca(job, env, "orte_bound_at_launch", "1");
        if (hrun_env_yields(job))
            hrun_env_mca(job, env, hrun_env_yield, "1");
    }
    hrun_ranks_words(job->layout, &ranks);
    hrun_env_set_all(env, &ranks);
    hrun_env_user(job, env);
    hrun_env_preload(job, 1, env);
}

/* ---------------------------------------------------------------- run */

static int start_srun(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_srun *x = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;

    r->begun_s = INFINITY;
    r->own.mpich = x->mpich;
    r->style.tagging = HRUN_TAG_SRUN;
    if (hrun_run_prepare(r, 1, err) || build_srun(r, x, &argv, err))
        return -1;
    build_srun_env(r, &x->parts, &env);
    return hrun_run_start_one(r, x->srun, argv.v, &env, err);
}

/* -1 with *err if srun has started no process, or ended with 0 before all were started: its status is not the
 * program's. */
static int check_srun_end(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_srun *x = r->state;
    int enough = r->out->status ? x->started > 0 : x->started >= r->job->layout->nranks;

    if (enough || r->out->timed_out || r->out->signalled)
        return 0;
    return hrun_fail(err, HRUN_EENGINE, "srun ended with status %d before it had started all processes%s%s",
                     r->out->status, x->complaint[0] ? ": " : "", x->complaint);
}

static void srun_release(struct hrun_srun *x)
{
    hrun_srun_parts_release(&x->parts);
    hrun_strvec_release(&x->steps);
    free(x->srun);
    free(x->scancel);
    free(x->shim);
}

static int srun_run(const struct hrun_job *asked, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .is_launcher = 1, .grace_ms = 3000, /* srun ends the ranks within a second of SIGTERM */
        .start = start_srun, .check_end = check_srun_end, .signal = bring_srun_signal, .on_line = read_srun_line,
        .on_verdict = blame_suspect, .ended = srun_ended,
    };
    autorelease(srun_release) struct hrun_srun x = { .suspect = -1, .completed = -1 };
    struct hrun_job job = *asked;
    struct hrun_mpi mpi;
    autofree char *library = NULL;
    char mpich_words[64];

    if (!(x.shim = hrun_shim_path(err)))
        return -1;
    if (!(x.srun = hrun_program_find("srun", NULL, NULL)))
        return hrun_srun_missing(err, "srun");
    if (!(x.scancel = hrun_program_find("scancel", NULL, NULL)))
        return hrun_srun_missing(err, "scancel");
    if (hrun_job_mpi(&job, &mpi, err) || hrun_srun_make_parts(job.layout, &x.parts, err))
        return -1;
    for (int i = 0; i < x.parts.n && x.parts.ngroups > 1; i++) {
        const struct hrun_srun_part *part = &x.parts.v[i];
        autofree char *name = hrun_strf("SLURM_JOB_ID_HET_GROUP_%d", part->group);

        if (part->group >= HRUN_SRUN_GROUPS)
            return hrun_fail(err, HRUN_EINVAL, "this Slurm job has more than %d components, the limit of engine srun: "
                             "use --engine mpirun", HRUN_SRUN_GROUPS);
        x.first_rank[part->group] = part->first;
        x.job_ids[part->group] = getenv(name);
    }
    x.mpich = mpi.kind == HRUN_MPI_MPICH;
    if (x.mpich)
        library = hrun_mpich_preload(&job, 1, mpich_words, sizeof mpich_words);
    return hrun_run_job(&driver, &x, NULL, &job, out, err);
}

const struct hrun_engine hrun_engine_srun = {
    .name = "srun", .what = "a step of the Slurm allocation, with Slurm's PMIx, or PMI-2 for MPICH", .mpich = 1,
    .suits = srun_suits, .usable = srun_usable, .check = srun_check, .run = srun_run, .command = srun_command,
};
