/* smpi_words.c - SimGrid's words, and what they mean for a job; see smpi.h
 *
 * SimGrid 3.32 gives the status of a main() that returned, and 0 for all else that goes wrong (seen: MPI_Abort, a
 * deadlock, a rank that leaves without MPI_Finalize); only its words tell. They may come when others have long failed
 * in simulated time, so the first one counts.
 */
#include "launch/engines/smpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A line is "PRIORITY CATEGORY ACTOR TEXT". What TEXT begins with tells what it is about. */
static const struct {
    const char *category, *begins;
    enum hrun_smpi_kind kind;
} known[] = {
    { "smpi_kernel", "SMPI process did not return 0. Return value : ", HRUN_SMPI_STATUS },
    { "smpi_pmpi", "MPI_Abort was called", HRUN_SMPI_ABORT },
    { "ker_engine", "Oops! Deadlock detected", HRUN_SMPI_DEADLOCK },
    { "smpi", "Stalling SMPI instance", HRUN_SMPI_STALLED },
    /* after a signal that has ended the simulation by exit(3) */
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

/* "Uncaught exception std::out_of_range: Bad config key" -> "Bad config key" */
static const char *without_frame(const char *text)
{
    static const char uncaught[] = "Uncaught exception ";
    const char *at = strncmp(text, uncaught, strlen(uncaught)) ? NULL : strstr(text, ": ");

    return at ? at + 2 : text;
}

void hrun_smpi_read(const char *line, struct hrun_smpi_said *out)
{
    char priority[16], category[64], actor[64], *end;
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
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t len = strlen(known[i].begins);

        if (strcmp(category, known[i].category) || strncmp(line + text, known[i].begins, len))
            continue;
        out->kind = known[i].kind;
        if (out->kind == HRUN_SMPI_STATUS)
            out->value = (int)strtol(line + text + len, NULL, 10);
        return;
    }
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (!strcmp(priority, priorities[i].priority))
            out->kind = priorities[i].kind;
    out->text = without_frame(line + text);
}

/* ---------------------------------------------------------------- a running simulation */

enum { WARNINGS_MAX = 5 };

/* All ranks are one process. */
void bring_smpi_signal(struct hrun_run *r, int sig)
{
    kill(r->procs[0].own_group ? -r->procs[0].pid : r->procs[0].pid, sig);
}

void read_simgrid_line(struct hrun_run *r, char *line)
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

/* The first word of failure; status is that of the simulation, which is 0 for most. */
static void fail_as_said(struct hrun_run *r, const struct hrun_smpi_said *said, int status)
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

void simulation_ended(struct hrun_run *r, int status)
{
    struct hrun_smpi_watch *w = r->state;
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0, code = sig ? 128 + sig : WEXITSTATUS(status);

    if (w->failure[0] && code && w->clock_s < 0 && !r->ending.signal && !r->ending.timed_out) {
        hrun_fail(r->err, HRUN_EENGINE, "SimGrid failed: %s", w->failure);
        hrun_run_break(r);
    } else if (w->first.kind != HRUN_SMPI_NOTHING && !sig) {
        fail_as_said(r, &w->first, code);
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
