/* srun_watch.c - a running step of srun: the first rank that fails, signals; see srun.h
 *
 * srun's status is the largest of the tasks'; only its messages show the rank that failed first. When its PMIx loses a
 * process, Slurm kills the whole step at once, and may report the ranks killed by this before the rank that caused it.
 * So a rank killed by SIGKILL is only a suspect for SUSPECT_S. If Slurm reports the abort of the step within this time,
 * the rank is a suspect for ABORT_S, or until the step has ended or a rank has failed in another way. srun passes on
 * only two of hrun's signals, and kills all ranks at SIGTERM, so scancel sends the signals.
 */
#include "base/units.h"
#include "launch/engines/srun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slurm reports the abort of the step about 10 ms after the end of a task (seen). */
static const double SUSPECT_S = 0.3;
/* Time for Slurm to end a step that it aborts. */
static const double ABORT_S = 5;
/* A rank without MPI_Finalize has ended at most this time before the abort of the step. */
static const double JUST_S = 1;

/* ---------------------------------------------------------------- signals */

/* Run scancel as a child of the job. hrun reaps it with the processes that outlive the ranks. */
static void start_scancel(struct hrun_run *r, int sig)
{
    struct hrun_srun *x = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec env = HRUN_STRVEC_INIT;
    const struct hrun_spawn s = { .mask = r->signals.old_mask, .sigchld = r->signals.old_sigchld,
                                  .death_signal = SIGTERM };
    struct hrun_spawn_one one = { .program = x->scancel, .own_group = 1,
                                  .fds = { HRUN_SPAWN_NULL, HRUN_SPAWN_NULL, HRUN_SPAWN_NULL } };
    struct hrun_error err = { 0 };
    pid_t pid;

    hrun_strvec_add(&argv, "scancel", "--quiet", NULL);
    hrun_strvec_pushf(&argv, "--signal=%d", sig);
    hrun_strvec_add_all(&argv, x->steps.v);
    hrun_strvec_add_all(&env, environ);
    hrun_strvec_pushf(&env, "%s=%s", HRUN_JOB_VARIABLE, r->own.job_id);
    one.argv = argv.v;
    one.env = env.v;
    if (hrun_spawn(&s, &one, 1, &pid, &err))
        hrun_run_say(r, "signal %d could not be passed on: %s", sig, err.text);
}

/* Before the step exists, signals that end the job end srun, and others are lost. */
void bring_srun_signal(struct hrun_run *r, int sig)
{
    const struct hrun_srun *x = r->state;
    pid_t srun = r->procs[0].pid;

    if (sig == SIGKILL || (!x->steps.n && hrun_signal_action(sig) == HRUN_SIGNAL_END))
        kill(srun, SIGTERM);
    else if (x->steps.n)
        start_scancel(r, sig);
}

/* ---------------------------------------------------------------- failures */

static void rank_failed(struct hrun_run *r, int rank, int status, int sig)
{
    const struct hrun_srun *x = r->state;

    r->due.verdict_s = 0;
    if (!hrun_run_fail(r, rank, status))
        return;
    r->out->killed_by = sig;
    if (sig)
        hrun_run_say(r, "rank %d was killed by signal %d (%s)", rank, sig, strsignal(sig));
    else if (x->aborted)
        hrun_run_say(r, "rank %d aborted the job with status %d", rank, status);
    else
        hrun_run_say(r, "rank %d exited with status %d", rank, status);
}

/* Called if no other rank has failed: report the suspect, or a rank that ended just before without MPI_Finalize. */
void blame_suspect(struct hrun_run *r)
{
    struct hrun_srun *x = r->state;
    int suspect = x->suspect;

    x->suspect = -1;
    r->due.verdict_s = 0;
    if (suspect < 0 || r->ending.failed)
        return;
    if (!x->suspect_after || x->completed < 0) {
        rank_failed(r, suspect, 128 + SIGKILL, SIGKILL);
    } else if (hrun_run_fail(r, x->completed, 1)) {
        hrun_run_say(r, "rank %d exited without calling MPI_Finalize", x->completed);
    }
}

/* Tasks are numbered from 0 in each component of a heterogeneous job. */
static int rank_of(const struct hrun_srun *x, int task)
{
    for (int g = 0; g < HRUN_SRUN_GROUPS; g++) {
        size_t len = x->job_ids[g] ? strlen(x->job_ids[g]) : 0;

        if (len && !strncmp(x->notice, x->job_ids[g], len) && x->notice[len] == '.')
            return x->first_rank[g] + task;
    }
    return task;
}

static void tasks_ended(struct hrun_run *r, const struct hrun_srun_said *said)
{
    struct hrun_srun *x = r->state;
    int rank = rank_of(x, said->task);

    if (said->status == 0) {
        if (!x->aborted) {
            x->completed = rank;
            x->completed_s = hrun_monotonic_s();
        }
    } else if (said->signal != SIGKILL) {
        rank_failed(r, rank, said->status, said->signal);
    } else if (x->suspect < 0 && !r->ending.failed) {
        x->suspect = rank;
        x->suspect_after = x->aborted;
        r->due.verdict_s = hrun_monotonic_s() + (x->aborted ? ABORT_S : SUSPECT_S);
    }
}

static void aborted(struct hrun_run *r)
{
    struct hrun_srun *x = r->state;

    if (x->aborted)
        return;
    x->aborted = 1;
    if (hrun_monotonic_s() - x->completed_s > JUST_S)
        x->completed = -1;
    if (x->suspect >= 0)
        r->due.verdict_s = hrun_monotonic_s() + ABORT_S;
}

void read_srun_line(struct hrun_run *r, char *line)
{
    struct hrun_srun *x = r->state;
    struct hrun_srun_said said;
    size_t i;

    hrun_srun_read(line, &said);
    switch (said.kind) {
    case HRUN_SRUN_STEP:
        for (i = 0; i < x->steps.n && strcmp(x->steps.v[i], said.step); i++)
            ;
        if (i == x->steps.n)
            hrun_strvec_push(&x->steps, said.step);
        break;
    case HRUN_SRUN_STARTED:
        x->started += said.ntasks;
        if (x->started >= r->job->layout->nranks)
            r->begun_s = 0;
        break;
    case HRUN_SRUN_NOTICE:
        snprintf(x->notice, sizeof x->notice, "%s", said.step);
        break;
    case HRUN_SRUN_TASKS:
        tasks_ended(r, &said);
        break;
    case HRUN_SRUN_ABORTED:
        aborted(r);
        break;
    case HRUN_SRUN_LOST:
        if (!r->out->lost_host[0])
            snprintf(r->out->lost_host, sizeof r->out->lost_host, "%.*s", (int)said.len, said.text);
        hrun_run_fail(r, -1, 125);
        break;
    case HRUN_SRUN_WAITING:
        if (!x->steps.n && !x->complaint[0])
            hrun_run_say(r, "Slurm: %s", said.text);
        snprintf(x->complaint, sizeof x->complaint, "%s", said.text);
        break;
    case HRUN_SRUN_COMPLAINT:
        if (x->started)
            hrun_run_say(r, "srun: %s", said.text);
        snprintf(x->complaint, sizeof x->complaint, "%s", said.text);
        break;
    case HRUN_SRUN_NOTHING:
        break;
    }
}

void srun_ended(struct hrun_run *r, int status)
{
    const struct hrun_srun *x = r->state;

    blame_suspect(r);
    if (!r->ending.failed)
        hrun_run_fail_launcher(r, x->started ? "srun" : NULL, status);
}
