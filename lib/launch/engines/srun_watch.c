/* srun_watch.c - a running step of srun: which rank failed first, signals; see srun.h
 *
 * srun's own status is the largest of the tasks', so it does not tell which rank failed first; its words do. When its
 * PMIx loses a process, Slurm kills the whole step at once: a rank killed by SIGKILL may then be a consequence, told
 * before the cause. Such a one waits: SUSPECT_S until Slurm says that it aborts the step, and then until the step has
 * ended or another rank has failed in its own way.
 * Of the signals that hrun gets srun passes on two only, and SIGTERM makes it kill all ranks: scancel brings the
 * others.
 */
#include "base/units.h"
#include "launch/engines/engines.h"
#include "launch/engines/srun.h"
#include "launch/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between the end of a task and Slurm's word that it aborts the step some 10 ms were seen. */
static const double SUSPECT_S = 0.3;
/* How long Slurm may take to end the step that it aborts, before hrun's own patience begins. */
static const double ABORT_S = 5;
/* A rank that left without MPI_Finalize has done so just before the step was aborted. */
static const double JUST_S = 1;

/* ---------------------------------------------------------------- signals */

static void cancel(struct hrun_run *r, int sig)
{
    struct hrun_srun_watch *w = r->state;
    autorelease(hrun_strvec_release) struct hrun_strvec argv = HRUN_STRVEC_INIT;

    hrun_strvec_add(&argv, "scancel", "--quiet", NULL);
    hrun_strvec_pushf(&argv, "--signal=%d", sig);
    hrun_strvec_add_all(&argv, w->steps.v);
    hrun_run_helper(r, w->scancel, argv.v, sig);
}

/* As long as there is no step srun itself has to end, and other signals have nowhere to go. */
static void bring_srun_signal(struct hrun_run *r, int sig)
{
    const struct hrun_srun_watch *w = r->state;
    pid_t srun = r->procs[0].pid;

    if (sig == SIGKILL || (!w->steps.n && hrun_signal_action(sig) == HRUN_SIGNAL_END))
        kill(srun, SIGTERM);
    else if (w->steps.n)
        cancel(r, sig);
}

/* ---------------------------------------------------------------- failures */

static void rank_failed(struct hrun_run *r, int rank, int status, int sig)
{
    const struct hrun_srun_watch *w = r->state;

    r->verdict_s = 0;
    if (!hrun_run_fail(r, rank, status))
        return;
    r->out->killed_by = sig;
    if (sig)
        hrun_run_say(r, "rank %d was killed by signal %d (%s)", rank, sig, strsignal(sig));
    else if (w->aborted)
        hrun_run_say(r, "rank %d aborted the job with status %d", rank, status);
    else
        hrun_run_say(r, "rank %d exited with status %d", rank, status);
}

/* Nobody else has failed: the suspect did it, unless a rank has left without MPI_Finalize before. */
static void blame_suspect(struct hrun_run *r)
{
    struct hrun_srun_watch *w = r->state;
    int suspect = w->suspect;

    w->suspect = -1;
    r->verdict_s = 0;
    if (suspect < 0 || r->failed)
        return;
    if (!w->suspect_after || w->completed < 0) {
        rank_failed(r, suspect, 128 + SIGKILL, SIGKILL);
    } else if (hrun_run_fail(r, w->completed, 1)) {
        hrun_run_say(r, "rank %d exited without calling MPI_Finalize", w->completed);
    }
}

/* Tasks are numbered from 0 in each component of a heterogeneous job. */
static int rank_of(const struct hrun_srun_watch *w, int task)
{
    for (int g = 0; g < HRUN_SRUN_GROUPS; g++) {
        size_t len = w->job_ids[g] ? strlen(w->job_ids[g]) : 0;

        if (len && !strncmp(w->notice, w->job_ids[g], len) && w->notice[len] == '.')
            return w->first_rank[g] + task;
    }
    return task;
}

static void tasks_ended(struct hrun_run *r, const struct hrun_srun_said *said)
{
    struct hrun_srun_watch *w = r->state;
    int rank = rank_of(w, said->task);

    if (said->status == 0) {
        if (!w->aborted) {
            w->completed = rank;
            w->completed_s = hrun_monotonic_s();
        }
    } else if (said->signal != SIGKILL) {
        rank_failed(r, rank, said->status, said->signal);
    } else if (w->suspect < 0 && !r->failed) {
        w->suspect = rank;
        w->suspect_after = w->aborted;
        r->verdict_s = hrun_monotonic_s() + (w->aborted ? ABORT_S : SUSPECT_S);
    }
}

static void aborted(struct hrun_run *r)
{
    struct hrun_srun_watch *w = r->state;

    if (w->aborted)
        return;
    w->aborted = 1;
    if (hrun_monotonic_s() - w->completed_s > JUST_S)
        w->completed = -1;
    if (w->suspect >= 0)
        r->verdict_s = hrun_monotonic_s() + ABORT_S;
}

static void lose_node(struct hrun_run *r, const struct hrun_srun_said *said)
{
    if (!r->out->lost_host[0])
        snprintf(r->out->lost_host, sizeof r->out->lost_host, "%.*s", (int)said->len, said->text);
    if (hrun_run_fail(r, -1, 125))
        hrun_run_say(r, "host '%s' was lost during the run", r->out->lost_host);
}

static void on_srun_line(struct hrun_run *r, char *line)
{
    struct hrun_srun_watch *w = r->state;
    struct hrun_srun_said said;
    size_t i;

    hrun_srun_read(line, &said);
    switch (said.kind) {
    case HRUN_SRUN_STEP:
        for (i = 0; i < w->steps.n && strcmp(w->steps.v[i], said.step); i++)
            ;
        if (i == w->steps.n)
            hrun_strvec_push(&w->steps, said.step);
        break;
    case HRUN_SRUN_STARTED:
        w->started += said.ntasks;
        if (w->started >= r->job->layout->nranks)
            r->begun_s = 0;
        break;
    case HRUN_SRUN_NOTICE:
        snprintf(w->notice, sizeof w->notice, "%s", said.step);
        break;
    case HRUN_SRUN_TASKS:
        tasks_ended(r, &said);
        break;
    case HRUN_SRUN_ABORTED:
        aborted(r);
        break;
    case HRUN_SRUN_LOST:
        lose_node(r, &said);
        break;
    case HRUN_SRUN_WAITING:
        if (!w->steps.n && !w->complaint[0])
            hrun_run_say(r, "Slurm: %s", said.text);
        snprintf(w->complaint, sizeof w->complaint, "%s", said.text);
        break;
    case HRUN_SRUN_COMPLAINT:
        if (w->started)
            hrun_run_say(r, "srun: %s", said.text);
        snprintf(w->complaint, sizeof w->complaint, "%s", said.text);
        break;
    case HRUN_SRUN_NOTHING:
        break;
    }
}

static void on_srun_end(struct hrun_run *r, int status)
{
    struct hrun_srun_watch *w = r->state;
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

    blame_suspect(r);
    if (code && !r->failed && hrun_run_fail(r, -1, code) && w->started && WIFSIGNALED(status))
        hrun_run_say(r, "srun, process %d, was killed by signal %d (%s)", (int)r->procs[0].pid, WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
}

const struct hrun_launcher hrun_srun_launcher = { "srun", 0, bring_srun_signal, on_srun_line, blame_suspect,
                                                  on_srun_end };
