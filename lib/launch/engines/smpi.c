/* smpi.c - engine smpi: SimGrid's simulation of MPI on the hosts of a platform file
 *
 * All ranks are threads of one process, hrun-smpi (hrun/smpi.c), which loads the program once for each rank. Line i of
 * a host file is the host of rank i; ranks on one host share its cores as SimGrid models it. So nothing is bound, and
 * ranks have no separate output, signals or standard input.
 * Computation: a program that passes its operation counts to SimGrid (smpi_execute_flops) has times that do not vary.
 * In other programs the computation between MPI calls is timed here and scaled: this machine counts as a core of the
 * platform's fastest host, unless smpi/host-speed is set (SimGrid's default is 20 kflop/s). Collectives are those of
 * Open MPI, except in a job of one process: there Open MPI's MPI_Reduce of large data aborts in SimGrid 3.32 (seen).
 * Ends: SimGrid 3.32 returns the status of a main() that returned. After MPI_Abort, a deadlock or a rank that ends
 * without MPI_Finalize it returns 0 (seen); only its messages report these. Messages of later failures in simulated
 * time may follow, so the first one counts.
 */
#include "launch/engines/smpi.h"

#include "base/file.h"
#include "launch/engines/engines.h"
#include "launch/env.h"
#include "launch/job.h"
#include "launch/programs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* r->state */
struct hrun_smpi_watch {
    const char *helper;         /* path of hrun-smpi */
    struct hrun_mpi mpi;
    double clock_s;             /* simulated time at the end, -1: not reached */
    struct hrun_smpi_said first;    /* the first message of a failure, without text; kind NOTHING: none */
    char failure[256];          /* failure of SimGrid itself, or "" */
    int nwarnings;
};

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

/* 1 if the user sets parameter name (len bytes), else 0. */
static int user_sets_smpi(const struct hrun_strvec *smpi, const char *name, size_t len)
{
    for (size_t i = 0; i < smpi->n; i++)
        if (!strncmp(smpi->v[i], name, len) && smpi->v[i][len] == ':')
            return 1;
    return 0;
}

/* The speed assumed for a core of this machine, flop/s; 0: none is assumed. */
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

/* Append the parameters that both hrun-smpi and smpirun need. */
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

    if (hrun_check_common(&hrun_engine_smpi, job, &mpi, err) || check_parameters(job, err))
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

/* ---------------------------------------------------------------- messages */

/* A line is "PRIORITY CATEGORY ACTOR TEXT"; the start of TEXT gives its kind. */
static const struct {
    const char *category, *begins;
    enum hrun_smpi_kind kind;
} messages[] = {
    { "smpi_kernel", "SMPI process did not return 0. Return value : ", HRUN_SMPI_STATUS },
    { "smpi_pmpi", "MPI_Abort was called", HRUN_SMPI_ABORT },
    { "ker_engine", "Oops! Deadlock detected", HRUN_SMPI_DEADLOCK },
    { "smpi", "Stalling SMPI instance", HRUN_SMPI_STALLED },
    /* printed if a signal has ended the simulation by exit(3) */
    { "root", "Process exited without calling MPI_Finalize - Killing", HRUN_SMPI_NOTHING },
    { "xbt_exception", "Exiting now.", HRUN_SMPI_NOTHING },
    { "xbt_exception", "Backtrace", HRUN_SMPI_NOTHING },
    { "xbt_exception", "Current backtrace", HRUN_SMPI_NOTHING },
};

static const struct {
    const char *priority;
    enum hrun_smpi_kind kind;
} priorities[] = {
    { "CRITICAL", HRUN_SMPI_FAILURE }, { "ERROR", HRUN_SMPI_FAILURE }, { "WARNING", HRUN_SMPI_WARNING },
};

void hrun_smpi_read(const char *line, struct hrun_smpi_said *out)
{
    char priority[16], category[64], actor[64], *end;
    const char *colon;
    int text = 0;

    memset(out, 0, sizeof *out);
    out->rank = -1;
    if (!strncmp(line, "clock ", 6)) {
        out->value = strtod(line + 6, &end);
        if (end > line + 6 && !*end && out->value >= 0 && isfinite(out->value))
            out->kind = HRUN_SMPI_CLOCK;
        return;
    }
    if (sscanf(line, "%15s %63s %63s %n", priority, category, actor, &text) < 3 || !text)
        return;
    out->rank = (int)strtol(actor, &end, 10);
    if (*end || out->rank < 0)
        out->rank = -1;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        size_t len = strlen(messages[i].begins);

        if (strcmp(category, messages[i].category) || strncmp(line + text, messages[i].begins, len))
            continue;
        out->kind = messages[i].kind;
        if (out->kind == HRUN_SMPI_STATUS)
            out->value = (int)strtol(line + text + len, NULL, 10);
        return;
    }
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (!strcmp(priority, priorities[i].priority))
            out->kind = priorities[i].kind;
    out->text = line + text;
    /* "Uncaught exception std::out_of_range: Bad config key" -> "Bad config key" */
    if (!strncmp(out->text, "Uncaught exception ", 19) && (colon = strstr(out->text, ": ")))
        out->text = colon + 2;
}

/* ---------------------------------------------------------------- a running simulation */

enum { WARNINGS_MAX = 5 };

static void bring_smpi_signal(struct hrun_run *r, int sig)
{
    kill(r->procs[0].own_group ? -r->procs[0].pid : r->procs[0].pid, sig);
}

static void read_simgrid_line(struct hrun_run *r, char *line)
{
    struct hrun_smpi_watch *w = r->state;
    struct hrun_smpi_said said;

    hrun_smpi_read(line, &said);
    switch (said.kind) {
    case HRUN_SMPI_CLOCK:
        w->clock_s = said.value;
        break;
    case HRUN_SMPI_STATUS:
    case HRUN_SMPI_ABORT:
    case HRUN_SMPI_DEADLOCK:
    case HRUN_SMPI_STALLED:
        if (w->first.kind == HRUN_SMPI_NOTHING)
            w->first = said;
        w->first.text = NULL;
        break;
    case HRUN_SMPI_WARNING:
        if (w->nwarnings++ < WARNINGS_MAX)
            hrun_run_say(r, "SimGrid: %s", said.text);
        break;
    case HRUN_SMPI_FAILURE:
        if (!w->failure[0])
            snprintf(w->failure, sizeof w->failure, "%s", said.text);
        break;
    case HRUN_SMPI_NOTHING:
        break;
    }
}

/* Report the first failure; status: exit status of the simulation, mostly 0. */
static void report_first_failure(struct hrun_run *r, const struct hrun_smpi_said *said, int status)
{
    int rank = said->kind == HRUN_SMPI_STATUS || said->kind == HRUN_SMPI_ABORT ? said->rank : -1;
    int code = said->kind == HRUN_SMPI_STATUS ? (int)said->value & 0xff : status;

    if (!hrun_run_fail(r, rank, code ? code : 1))
        return;
    if (said->kind == HRUN_SMPI_STATUS)
        hrun_run_say(r, "rank %d exited with status %d", rank, code);
    else if (said->kind == HRUN_SMPI_ABORT)
        hrun_run_say(r, "rank %d aborted the job; SimGrid does not tell with which status", rank);
    else if (said->kind == HRUN_SMPI_DEADLOCK)
        hrun_run_say(r, "the program hangs: what its ranks wait for is never sent");
    else
        hrun_run_say(r, "a rank exited without calling MPI_Finalize");
}

static void simulation_ended(struct hrun_run *r, int status)
{
    struct hrun_smpi_watch *w = r->state;
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = sig ? 128 + sig : WEXITSTATUS(status);

    if (w->failure[0] && code && w->clock_s < 0 && !r->ending.signal && !r->ending.timed_out) {
        hrun_fail(r->err, HRUN_EENGINE, "SimGrid failed: %s", w->failure);
        hrun_run_break(r);
    } else if (w->first.kind != HRUN_SMPI_NOTHING && !sig) {
        report_first_failure(r, &w->first, code);
    } else if (!code && w->clock_s < 0 && hrun_run_fail(r, -1, 1)) {
        hrun_run_say(r, "a rank ended the simulation without calling MPI_Finalize");
    } else if (code && hrun_run_fail(r, -1, code)) {
        r->out->killed_by = sig;
        if (sig)
            hrun_run_say(r, "a rank was killed by signal %d (%s), and with it the simulation", sig, strsignal(sig));
        else
            hrun_run_say(r, "a rank ended the simulation with status %d", code);
    }
}

/* ---------------------------------------------------------------- run */

static int start_smpi(struct hrun_run *r, struct hrun_error *err)
{
    /* Parameters that smpirun sets itself. */
    static const char *const fixed[] = {
        "smpi/privatization:yes", "surf/precision:1e-9", "network/model:SMPI", "debug/verbose-exit:no",
    };
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
    hrun_strvec_pushf(&argv, "--cfg=smpi/hostfile:%s", hostfile);
    hrun_strvec_pushf(&argv, "--cfg=smpi/np:%d", r->job->layout->nranks);
    hrun_strvec_pushf(&argv, "--cfg=smpi/tmpdir:%s", r->own.rundir);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        push_default(r->job, &argv, fixed[i]);
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
