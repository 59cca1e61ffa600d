/* mpirun.c - engine mpirun: Open MPI's own launcher with a rankfile
 *
 * Differences between Open MPI 4 (ORTE) and 5 (PRRTE), seen with 4.1.4, 5.0.9 and PRRTE 3.0.14:
 *   - 4 reads --rankfile, and inside a resource manager it enforces slots unless --oversubscribe is given;
 *   - 5 takes the rankfile by --map-by; without :oversubscribe and :overload-allowed it refuses ranks that share cores,
 *     or leaves them unbound. It reads a minus sign in the file's name as a qualifier. It needs --host besides the
 *     rankfile;
 *   - both write their address to a file after reading their options, before their daemons run. Without that file
 *     mpirun itself has failed, and its status is not the program's;
 *   - 4 fails with status 0, or hangs on one host, if it must pass a signal on while it connects its daemons: see
 *     begun_s in job.h. So 0 is valid only if hrun-shim reports 0 for each rank;
 *   - 5 looks for --mca in the program's arguments up to a "--", uses the first of two -x of one name, and fails at -x
 *     of a variable that is not set; --prtemca sets its own parameters;
 *   - with tags 5 swaps the end of a line and the beginning of the next one if both come in one piece (PMIx 5.0.9);
 *   - 5 ends with status 0 after the loss of a daemon, and hangs if it must end before all daemons run.
 * Statuses, MPI_Abort, signals, standard input and yielding do not differ. All lines of the rankfile come from the
 * hosts' topologies: version 4 fails without a message at a slot that does not exist.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"
#include "launch/agent.h"
#include "launch/engines/engines.h"
#include "launch/engines/reach.h"
#include "launch/env.h"
#include "launch/programs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- usable, check */

static int mpirun_suits(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    return !cluster->platform && !(mpi && mpi->kind == HRUN_MPI_MPICH);
}

static int mpirun_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    struct hrun_openmpi m = { 0 };

    if (found) {
        m.cache_dir = found->cache_dir;
        m.refresh = found->refresh;
    }
    if (hrun_check_hosts(&hrun_engine_mpirun, cluster, err) || hrun_openmpi_find(&m, err) ||
        (!hrun_in_resource_manager() && hrun_check_agent(cluster, err)))
        return -1;
    if (found)
        *found = m;
    return 0;
}

static int mpirun_check(const struct hrun_job *job, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_mpi mpi;

    if (hrun_check_common(&hrun_engine_mpirun, job, &mpi, err))
        return -1;
    return hrun_layout_rankfile(job->layout, &b, err);
}

/* ---------------------------------------------------------------- the command line */

/* r->state */
struct mpirun {
    struct hrun_openmpi m;
    int rank_fd;                /* descriptor of the rankfile, -1: not open */
    pid_t pid;                  /* of mpirun, 0: not started */
};

static int only_here(const struct hrun_layout *l)
{
    for (int i = 0; i < l->nranks; i++)
        if (!l->cluster->hosts[l->ranks[i].host].is_local)
            return 0;
    return 1;
}

static void push_count(const struct hrun_job *job, int r, struct hrun_strvec *v)
{
    hrun_strvec_push(v, "-np");
    hrun_strvec_pushf(v, "%d", hrun_job_run_length(job, r));
}

static void push_rankfile(const struct hrun_job *job, int major, const char *rankfile, struct hrun_strvec *v)
{
    const struct hrun_layout *l = job->layout;
    autofree int *count = xcalloc((size_t)l->cluster->nhosts + 1, sizeof *count);
    autorelease(hrun_buf_release) struct hrun_buf hosts = HRUN_BUF_INIT;

    if (major < 5) {
        hrun_strvec_add(v, "--rankfile", rankfile, NULL);
        push_count(job, 0, v);
        /* with a rankfile mpirun has no other place for spawned processes */
        if (hrun_in_resource_manager() || job->oversubscribe)
            hrun_strvec_push(v, "--oversubscribe");
        return;
    }
    /* Pass "--host a:2,b:1", and that hosts may differ. Otherwise version 5 assumes that all hosts equal the first one
     * that reports, and binds wrongly, refuses, crashes or hangs (5.0.9). */
    for (int r = 0; r < l->nranks; r++)
        count[l->ranks[r].host]++;
    for (int h = 0; h < l->cluster->nhosts; h++)
        if (count[h])
            hrun_buf_addf(&hosts, "%s%s:%d", hosts.len ? "," : "", l->cluster->hosts[h].name, count[h]);
    if (!only_here(l) && (!hrun_in_resource_manager() || l->cluster->ngroups > 1))
        hrun_strvec_add(v, "--host", hosts.data, "--prtemca", "prte_hetero_nodes", "1", NULL);
    hrun_strvec_push(v, "--map-by");
    hrun_strvec_pushf(v, "rankfile:file=%s:oversubscribe", rankfile);
    hrun_strvec_add(v, "--bind-to", "core:overload-allowed", NULL);
    push_count(job, 0, v);
}

/* Append the options of user and layout, the programs and their arguments. reach: NULL for a command to type. each: the
 * words before each program. -x and --wdir are added to each, because mpirun applies them to one program. */
static void push_rest(const struct hrun_job *job, int major, const struct hrun_reach *reach, struct hrun_strvec *each,
                      struct hrun_strvec *v)
{
    static const char *const agents[] = { "plm_rsh_agent=", "plm_ssh_agent=", NULL };

    if (hrun_env_yields(job))
        hrun_strvec_add(v, "--mca", hrun_env_yield, "1", NULL);
    for (size_t i = 0; i < job->mca.n; i++) {
        const char *eq = strchr(job->mca.v[i], '=');

        if (reach && reach->agents && hrun_begins_with(job->mca.v[i], agents))
            continue;   /* hrun_reach_agents appends it */
        hrun_strvec_push(v, "--mca");
        hrun_strvec_pushf(v, "%.*s", (int)(eq - job->mca.v[i]), job->mca.v[i]);
        hrun_strvec_push(v, eq + 1);
    }
    if (job->output.tagged && major >= 5)
        hrun_strvec_add(v, "--output", "tag", NULL);
    else if (job->output.tagged)
        hrun_strvec_push(v, "--tag-output");
    if (reach)
        hrun_reach_agents(reach, v);
    for (size_t i = 0; i < job->env.n; i++) {
        if (reach && major >= 5 && !strchr(job->env.v[i], '=') && !getenv(job->env.v[i]))
            continue;   /* version 5 reports an error */
        /* mpirun refuses -x beside mca_base_env_list; on this host the environment has the number of threads. */
        if (!strcmp(job->env.v[i], "OMP_NUM_THREADS") && hrun_env_user_mca(job, "mca_base_env_list"))
            continue;
        hrun_strvec_add(each, "-x", job->env.v[i], NULL);
    }
    if (job->wdir) {
        /* mpirun passes the folder unchanged; only an absolute path means one folder for all ranks. */
        autofree char *cwd = *job->wdir == '/' ? NULL : getcwd(NULL, 0);

        hrun_strvec_push(each, "--wdir");
        hrun_strvec_pushf(each, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", job->wdir);
    }
    if (major >= 5)
        hrun_strvec_push(each, "--");
    if (reach && reach->ranks)
        hrun_strvec_add(each, reach->shim, "rank", NULL);
    for (int r = 0; r < job->layout->nranks; r += hrun_job_run_length(job, r)) {
        if (r) {
            hrun_strvec_push(v, ":");
            push_count(job, r, v);
        }
        hrun_strvec_add_all(v, each->v);
        hrun_push_program(job, r, reach != NULL, v);
    }
}

/* The file that mpirun writes when it has read its options. */
static char *ready_file(const struct hrun_run *r)
{
    return hrun_strf("%s/ready", r->own.rundir);
}

static void build_mpirun(const struct hrun_run *r, const struct hrun_openmpi *m, const char *rankfile,
                         struct hrun_strvec *v)
{
    static const char forward[] = "orte_forward_job_control";
    const struct hrun_job *job = r->job;
    autofree char *ready = ready_file(r);
    autorelease(hrun_strvec_release) struct hrun_strvec each = HRUN_STRVEC_INIT;
    size_t len = strlen(HRUN_ENV_PMI_PORT), i = 0;

    hrun_strvec_push(v, m->path);
    push_rankfile(job, m->major, rankfile, v);
    /* Version 4 passes SIGTSTP and SIGCONT on only with this parameter. */
    if (m->major < 5 && !hrun_env_user_mca(job, forward))
        hrun_strvec_add(v, "--mca", forward, "1", NULL);
    /* mpirun uses the option of the last program. */
    hrun_strvec_add(&each, "--report-uri", ready, NULL);
    /* Set PMI_PORT on other hosts, unless the user sets it. build_mpirun_env sets it on this host. mpirun refuses -x
     * beside mca_base_env_list. */
    while (i < job->env.n && (strncmp(job->env.v[i], HRUN_ENV_PMI_PORT, len) ||
                              (job->env.v[i][len] && job->env.v[i][len] != '=')))
        i++;
    if (i == job->env.n && !only_here(job->layout) && !hrun_env_user_mca(job, "mca_base_env_list"))
        hrun_strvec_add(&each, "-x", HRUN_ENV_PMI_PORT "=" HRUN_ENV_NO_MPICH, NULL);
    hrun_reach_options(r, v, &each);
    push_rest(job, m->major, r->reach, &each, v);
}

static int mpirun_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec v = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec each = HRUN_STRVEC_INIT;
    struct hrun_openmpi m = { .path = "/mpirun", .major = 4 };
    int threads = job->layout->uneven_threads ? 0 : job->layout->ranks[0].threads;

    hrun_openmpi_of(job, &m, NULL);     /* without Open MPI: the command of version 4 */
    if (hrun_env_check(job, err))
        return -1;
    hrun_strvec_push(&v, strrchr(m.path, '/') + 1);
    push_rankfile(job, m.major, "hrun.rankfile", &v);
    /* In a run hrun-shim sets the number of threads of each rank; mpirun can set one number for all. */
    if (threads && !hrun_env_user_mca(job, "mca_base_env_list")) {
        hrun_strvec_push(&each, "-x");
        hrun_strvec_pushf(&each, "OMP_NUM_THREADS=%d", threads);
    }
    push_rest(job, m.major, NULL, &each, &v);
    hrun_show_command(job, &v, out);
    return 0;
}

/* ---------------------------------------------------------------- run */

/* 1 if mpirun's folder can be inside the job's folder, which hrun removes also when mpirun is killed; else 0. mpirun
 * refuses the parameter of its folder beside the user's own ones. It passes the parameter on to its daemons; outside a
 * resource manager hrun-shim corrects it on their hosts. */
static int has_folder_in_ours(const struct hrun_job *job, const struct hrun_reach *reach)
{
    static const char *const keys[] = { "orte_tmpdir_base", "orte_local_tmpdir_base", "orte_remote_tmpdir_base",
                                        "prte_tmpdir_base", "prte_local_tmpdir_base", "prte_remote_tmpdir_base" };
    autofree char *setting = hrun_agent_setting(&job->mca, keys, sizeof keys / sizeof *keys);

    return !setting && ((reach->daemons && !reach->managed) || only_here(job->layout));
}

/* mpirun's environment is also that of the ranks on this host. */
static void build_mpirun_env(const struct hrun_run *r, const struct hrun_openmpi *m, struct hrun_strvec *env)
{
    static const char *const folder[] = { "OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base" };
    const struct hrun_job *job = r->job;

    hrun_env_base(env);
    hrun_env_set(env, HRUN_ENV_PMI_PORT "=" HRUN_ENV_NO_MPICH);
    hrun_reach_env(r, env);
    if (has_folder_in_ours(job, r->reach))
        hrun_env_set(env, "%s=%s", folder[m->major >= 5], r->own.rundir);
    if (only_here(job->layout))
        hrun_env_shared_memory(job, env, r->own.shmdir);
}

/* Remove the folder that a killed mpirun leaves on this host if other hosts take part. */
static void remove_session(const struct hrun_openmpi *m, pid_t pid)
{
    const char *base = getenv("TMPDIR");
    autofree char *folder = NULL, *path = NULL;
    char host[256] = "";
    struct stat st;

    gethostname(host, sizeof host - 1);
    base = base && *base ? base : "/tmp";
    folder = m->major >= 5 ? hrun_strf("%s/ompi.%ld", base, (long)pid)
                           : hrun_strf("%s/ompi.%s.%lu", base, host, (unsigned long)geteuid());
    /* The name is predictable: do not follow another user's folder or link. */
    if (lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
        path = m->major >= 5 ? xstrdup(folder) : hrun_strf("%s/pid.%ld", folder, (long)pid);
    hrun_remove_tree(path);
}

/* -1 with *err if mpirun has failed before it was ready to start a rank: its status is not the program's. */
static int check_mpirun_end(struct hrun_run *r, struct hrun_error *err)
{
    autofree char *ready = ready_file(r);
    char words[256];

    if (!r->out->status || r->out->timed_out || r->out->signalled || !access(ready, F_OK) || errno != ENOENT)
        return hrun_reach_check_end(r, err);
    hrun_last_line(r->job->output.stderr_text, words, sizeof words);
    return hrun_fail(err, HRUN_EENGINE, "mpirun failed with status %d before it started a process%s%s", r->out->status,
                     *words ? ": " : "; it says why above", words);
}

/* Write the rankfile. Minus signs, colons and commas in the file's name have a meaning for version 5, so *name becomes
 * a name without these, which is valid while *fd is open. */
static int make_rankfile(const struct hrun_run *r, const struct hrun_openmpi *m, char **name, int *fd,
                         struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

    if (hrun_layout_rankfile(r->job->layout, &text, err) || !(*name = hrun_run_write(r, "rankfile", &text, err)))
        return -1;
    if (m->major < 5)
        return 0;
    *fd = open(*name, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return hrun_fail_errno(err, HRUN_EIO, "cannot open %s", *name);
    free(*name);
    *name = hrun_strf("/proc/%ld/fd/%d", (long)getpid(), *fd);
    return 0;
}

static int start_mpirun(struct hrun_run *r, struct hrun_error *err)
{
    struct mpirun *x = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;
    autofree char *rankfile = NULL;

    if (hrun_reach_listen(r, err) || make_rankfile(r, &x->m, &rankfile, &x->rank_fd, err))
        return -1;
    build_mpirun(r, &x->m, rankfile, &argv);
    build_mpirun_env(r, &x->m, &env);
    if (hrun_reach_check_shells(r, &x->m, &env, err))
        return -1;
    r->style.tagging = x->m.major >= 5 ? HRUN_TAG_PRTERUN : HRUN_TAG_MPIRUN;
    if (hrun_run_start_one(r, x->m.path, argv.v, &env, err))
        return -1;
    x->pid = r->procs[0].pid;
    /* mpirun's warning that a remote shell already leads its process group: "[HOST:PID] plm:rsh: Warning: ...". */
    snprintf(r->style.noise, sizeof r->style.noise, ":%05ld] plm:%s: Warning: setpgid(", (long)x->pid,
             x->m.major >= 5 ? "ssh" : "rsh");
    return 0;
}

static void mpirun_ended(struct hrun_run *r, int status)
{
    hrun_run_fail_launcher(r, "mpirun", status);
}

static int mpirun_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .is_launcher = 1, .passes_signals = 1, .grace_ms = 3000, /* mpirun cleans up within 2 s of SIGTERM */
        .start = start_mpirun, .check_end = check_mpirun_end, .ended = mpirun_ended, .watch = hrun_reach_watch,
        .abandon = hrun_reach_abandon,
    };
    autorelease(hrun_reach_release) struct hrun_reach reach = HRUN_REACH_INIT;
    struct mpirun x = { .rank_fd = -1 };
    int rc;

    if (hrun_openmpi_of(job, &x.m, err) || hrun_reach_plan(job, &x.m, &reach, err))
        return -1;
    rc = hrun_run_job(&driver, &x, &reach, job, out, err);
    hrun_close_fd(&x.rank_fd);
    if (x.pid && !has_folder_in_ours(job, &reach))
        remove_session(&x.m, x.pid);
    return rc;
}

const struct hrun_engine hrun_engine_mpirun = {
    .name = "mpirun", .what = "Open MPI's mpirun (4 or 5) with a rankfile, on any hosts",
    .suits = mpirun_suits, .usable = mpirun_usable, .check = mpirun_check, .run = mpirun_run,
    .command = mpirun_command,
};
