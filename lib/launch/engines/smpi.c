/* smpi.c - engine smpi: SimGrid's simulation of MPI on the hosts of a platform file
 *
 * All ranks are threads of one process, hrun-smpi (hrun/smpi.c), which loads the program once for each (privatization:
 * each has its own globals). Line i of a host file is the host of rank i; ranks on one host share its cores as SimGrid
 * has it. So there is nothing to be bound, no output of one rank that could be told from that of another, no signal to
 * one of them, and no rank that reads standard input alone.
 *
 * Computation: a program that tells SimGrid its operations (smpi_execute_flops) computes for free besides, and times
 * are the same from run to run. Of others the computation between MPI calls is timed here and scaled; this machine
 * counts as a core of the platform's fastest host unless smpi/host-speed is set (SimGrid's default is 20 kflop/s).
 * Collectives are those of Open MPI, as hrun is made for it; but its MPI_Reduce of large data aborts on communicators
 * of one process in SimGrid 3.32 (seen), so a job of one process has SimGrid's own.
 */
#include "launch/engines/smpi.h"

#include "base/file.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HELPER[] = "hrun-smpi", HOST_SPEED[] = "smpi/host-speed";

static char *helper_path(struct hrun_error *err)
{
    char *path = hrun_beside_path(HELPER);

    if (!path)
        hrun_fail(err, HRUN_EENGINE, "engine smpi needs %s, which is built with hrun where SimGrid is installed: "
                  "install libsimgrid-dev and build hrun again (make, make install)", HELPER);
    return path;
}

int hrun_platform_ask(const char *path, char *const *hosts, struct hrun_buf *text, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec words = HRUN_STRVEC_INIT;
    autofree char *helper = helper_path(err);

    if (!helper)
        return -1;
    hrun_strvec_add(&words, helper, "hosts", path, NULL);
    hrun_strvec_add_all(&words, hosts);
    return hrun_command_output(words.v, 1, text, err);
}

/* ---------------------------------------------------------------- parameters */

/* Does the user set parameter name (len bytes)? */
static int user_sets_smpi(const struct hrun_strvec *smpi, const char *name, size_t len)
{
    for (size_t i = 0; i < smpi->n; i++)
        if (!strncmp(smpi->v[i], name, len) && smpi->v[i][len] == ':')
            return 1;
    return 0;
}

/* What a flop of this machine counts as; 0: its time does not count. */
static double host_speed(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    double most = 0;

    for (int i = 0; i < cluster->nsubs && !mpi->counts_flops; i++)
        most = cluster->subs[i].core_flops > most ? cluster->subs[i].core_flops : most;
    return most;
}

static void smpi_kind(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi, const struct hrun_strvec *smpi,
                      struct hrun_buf *out)
{
    double speed = host_speed(cluster, mpi);

    if (speed > 0 && !user_sets_smpi(smpi, HOST_SPEED, strlen(HOST_SPEED)))
        hrun_buf_addf(out, " timed %.9gGf", 1e-9 * speed);
    else if (!mpi->counts_flops)
        hrun_buf_adds(out, " timed");
    for (size_t i = 0; i < smpi->n; i++)
        hrun_buf_addf(out, " %s", smpi->v[i]);
}

static void push_default(const struct hrun_job *job, struct hrun_strvec *v, const char *parameter)
{
    if (!user_sets_smpi(&job->smpi, parameter, strcspn(parameter, ":")))
        hrun_strvec_pushf(v, "--cfg=%s", parameter);
}

/* What a user would have to tell smpirun. */
static void push_parameters(const struct hrun_job *job, const struct hrun_mpi *mpi, struct hrun_strvec *v)
{
    char speed[64];

    if (job->layout->nranks > 1)
        push_default(job, v, "smpi/coll-selector:ompi");
    snprintf(speed, sizeof speed, "%s:%.9gGf", HOST_SPEED, 1e-9 * host_speed(job->layout->cluster, mpi));
    push_default(job, v, mpi->counts_flops ? "smpi/simulate-computation:no" : speed);
    for (size_t i = 0; i < job->smpi.n; i++)
        hrun_strvec_pushf(v, "--cfg=%s", job->smpi.v[i]);
}

/* What smpirun sets by itself, and hrun-smpi does not. */
static void push_fixed(const struct hrun_run *r, const char *hostfile, struct hrun_strvec *v)
{
    static const char *const fixed[] = {
        "smpi/privatization:yes", "surf/precision:1e-9", "network/model:SMPI", "debug/verbose-exit:no",
    };

    hrun_strvec_pushf(v, "--cfg=smpi/hostfile:%s", hostfile);
    hrun_strvec_pushf(v, "--cfg=smpi/np:%d", r->job->layout->nranks);
    hrun_strvec_pushf(v, "--cfg=smpi/tmpdir:%s", r->own.rundir);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        push_default(r->job, v, fixed[i]);
}

/* ---------------------------------------------------------------- usable, check */

static int smpi_suits(const struct hrun_cluster *cluster, const struct hrun_mpi *mpi)
{
    (void)mpi;
    return cluster->platform != NULL;
}

static int smpi_usable(const struct hrun_cluster *cluster, struct hrun_openmpi *found, struct hrun_error *err)
{
    autofree char *helper = NULL;

    (void)found;
    return hrun_check_hosts(&hrun_engine_smpi, cluster, err) || !(helper = helper_path(err)) ? -1 : 0;
}

static int check_parameters(const struct hrun_job *job, struct hrun_error *err)
{
    static const char *const ours[] = { "smpi/hostfile", "smpi/np", "smpi/tmpdir" };

    for (size_t i = 0; i < job->smpi.n; i++) {
        const char *colon = strchr(job->smpi.v[i], ':');

        if (!colon || colon == job->smpi.v[i] || !colon[1] || strpbrk(job->smpi.v[i], " \t\n"))
            return hrun_fail(err, HRUN_EINVAL, "--smpi '%s': a parameter of SimGrid is NAME:VALUE without blanks, for "
                             "instance smpi/host-speed:1Gf", job->smpi.v[i]);
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (!strncmp(job->smpi.v[i], ours[k], strlen(ours[k])) && colon == job->smpi.v[i] + strlen(ours[k]))
                return hrun_fail(err, HRUN_EINVAL, "--smpi %s: hrun itself sets %s", job->smpi.v[i], ours[k]);
    }
    return 0;
}

static int smpi_check(const struct hrun_job *job, struct hrun_error *err)
{
    const struct hrun_layout *l = job->layout;
    struct hrun_mpi mpi;

    if (hrun_check_common(&hrun_engine_smpi, job, &mpi, err) || check_parameters(job, err) ||
        hrun_check_hosts(&hrun_engine_smpi, l->cluster, err))
        return -1;
    if (strchr(mpi.id, '-') && strcmp(strchr(mpi.id, '-') + 1, l->cluster->simgrid))
        return hrun_fail(err, HRUN_EMPI, "%s is built for SimGrid %s, and hrun for SimGrid %s: rebuild one of them",
                         job->argv[0], strchr(mpi.id, '-') + 1, l->cluster->simgrid);
    if (job->mca.n)
        return hrun_fail(err, HRUN_EINVAL, "--mca sets parameters of Open MPI, and engine smpi has those of SimGrid: "
                         "use --smpi NAME:VALUE");
    if (job->output.tagged)
        return hrun_fail(err, HRUN_EINVAL, "--tag-output: engine smpi has all ranks in one process, and their lines "
                         "cannot be told apart");
    for (int i = 0; i < l->nranks; i++)
        if (l->ranks[i].threads)
            return hrun_fail(err, HRUN_EINVAL, "engine smpi gives no rank threads of its own: all are in one process; "
                             "use an app definition without 'threads: fill'");
    return 0;
}

/* ---------------------------------------------------------------- the command line */

static int smpi_command(const struct hrun_job *job, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_strvec_release) struct hrun_strvec v = HRUN_STRVEC_INIT;
    struct hrun_mpi mpi;

    if (hrun_env_check(job, err) || hrun_job_mpi(job, &mpi, err))
        return -1;
    if (job->env.n || job->wdir)
        hrun_strvec_push(&v, "env");
    if (job->wdir)
        hrun_strvec_add(&v, "-C", job->wdir, NULL);
    for (size_t i = 0; i < job->env.n; i++)
        if (strchr(job->env.v[i], '='))
            hrun_strvec_push(&v, job->env.v[i]);
    hrun_strvec_add(&v, "smpirun", "-platform", job->layout->cluster->platform, "-hostfile", "hrun.hostfile", "-np",
                    NULL);
    hrun_strvec_pushf(&v, "%d", job->layout->nranks);
    push_parameters(job, &mpi, &v);
    hrun_strvec_add_all(&v, job->argv);
    hrun_show_command(job, &v, out);
    return 0;
}

/* ---------------------------------------------------------------- run */

static int start_smpi(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_smpi_watch *w = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    autofree char *hostfile = NULL;

    hrun_layout_hostfile(r->job->layout, &text);
    if (!(hostfile = hrun_run_write(r, "hostfile", &text, err)))
        return -1;
    hrun_strvec_add(&argv, w->helper, "run", NULL);
    hrun_strvec_pushf(&argv, "%d", r->words.child_fd);
    hrun_strvec_push(&argv, r->job->program);
    push_fixed(r, hostfile, &argv);
    push_parameters(r->job, &w->mpi, &argv);
    hrun_strvec_add(&argv, "--", r->job->layout->cluster->platform, NULL);
    hrun_strvec_add_all(&argv, r->job->argv + 1);
    hrun_env_base(&env);
    hrun_env_user(r->job, &env);
    for (int i = 0; i < r->job->layout->nranks && r->job->report_bindings; i++)
        hrun_run_say(r, "rank %d is simulated on host %s", i,
                     r->job->layout->cluster->hosts[r->job->layout->ranks[i].host].name);
    return hrun_run_start_one(r, w->helper, argv.v, &env, err);
}

static int smpi_run(const struct hrun_job *job, struct hrun_outcome *out, struct hrun_error *err)
{
    static const struct hrun_driver driver = {
        .grace_ms = 3000, .start = start_smpi, .signal = bring_smpi_signal, .on_line = read_simgrid_line,
        .ended = simulation_ended,
    };
    autofree char *helper = helper_path(err);
    struct hrun_smpi_watch w = { .helper = helper, .clock_s = -1 };
    int rc;

    if (!helper || hrun_job_mpi(job, &w.mpi, err))
        return -1;
    rc = hrun_run_job(&driver, &w, NULL, job, out, err);
    out->job_s = w.clock_s > 0 ? w.clock_s : 0;
    return rc;
}

const struct hrun_engine hrun_engine_smpi = {
    .name = "smpi", .what = "SimGrid's simulation of MPI, on the hosts of a platform file", .simulated = 1,
    .suits = smpi_suits, .usable = smpi_usable, .check = smpi_check, .run = smpi_run, .command = smpi_command,
    .kind = smpi_kind,
};
