/* reach_notes.c - handling the notes about other hosts; see reach.h and launch/notes.h for the contracts */
#include "base/list.h"
#include "base/units.h"
#include "launch/engines/reach.h"
#include "launch/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A shell's status for a missing program; a rank's status if MPI_ERR_SPAWN of Open MPI is fatal. */
enum { NOT_FOUND = 127, ERR_SPAWN = 50 };

/* mpirun starts the ranks within this time after its last daemon is up, also on busy hosts. Used if no notes tell that
 * ranks begin. mpirun of Open MPI 5 hangs if it must end earlier (seen). */
static const double START_S = 5;

/* Fail with an error about a host and end the job, unless it is already being ended. mpirun of Open MPI 5 is killed at
 * once, because it hangs if it must end while it starts, and prints a message on standard output if an agent ends
 * (seen). */
static void fail_for_host(struct hrun_run *r, enum hrun_code code, const char *host, const char *what,
                          const char *text)
{
    const struct hrun_reach *reach = r->reach;

    if (r->ending.kill_s > 0 || r->ending.signal)
        return;
    hrun_fail(r->err, code, "host '%s' %s%s%s", host, what, *text ? ": " : "", text);
    hrun_run_break(r);
    if (reach->prrte)
        r->ending.kill_s = hrun_monotonic_s();
}

static void handle_note(struct hrun_reach *reach, struct hrun_run *r, const struct hrun_note_read *n)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    struct hrun_strvec *open = &reach->open;
    int late;

    for (size_t i = 0; i < open->n && n->kind >= HRUN_NOTE_LATE; i++)
        if (!strcmp(open->v[i], n->host)) {
            free(open->v[i]);
            open->v[i] = open->v[--open->n];
            open->v[open->n] = NULL;
            break;
        }
    switch (n->kind) {
    case HRUN_NOTE_BEGUN:
        hrun_strvec_push(&reach->open, n->host);
        break;
    case HRUN_NOTE_UP:
        if (++reach->nup == reach->nremote) {
            hrun_output_release(r->output, 1, r->style.noise);
            if (!reach->rank_notes)
                r->begun_s = hrun_monotonic_s() + START_S;
        }
        break;
    case HRUN_NOTE_CHANGED:
        fail_for_host(r, HRUN_ECHANGED, n->host, "offers other resources or another MPI than when hrun last asked", "");
        break;
    case HRUN_NOTE_REFUSED:
        fail_for_host(r, HRUN_EENGINE, n->host, "cannot take part", n->text);
        break;
    case HRUN_NOTE_RANK_BEGUN:
        if (++reach->nranks == r->job->layout->nranks)
            r->begun_s = 0;
        break;
    case HRUN_NOTE_RANK_ENDED:
        if (!strcmp(n->text, "0")) {
            reach->ndone++;
        } else if (!reach->rank_status) {
            reach->failed_rank = n->number;
            reach->rank_status = (int)strtol(n->text, NULL, 10);
        }
        break;
    case HRUN_NOTE_LATE:
        hrun_buf_addf(&b, "was not ready within %s s: see that '%s' reaches it, or leave it out", n->text,
                      reach->agent.v[0]);
        fail_for_host(r, HRUN_EENGINE, n->host, b.data, "");
        break;
    case HRUN_NOTE_FAILED:
        hrun_buf_addf(&b, "cannot be reached through %s%s (status %d)%s", reach->agent.v[0],
                      strcmp(reach->reporter, "nobody") ? "" : ", or was lost", n->number,
                      n->number == NOT_FOUND && reach->daemons ? "; is hrun installed there at the same path?" : "");
        fail_for_host(r, HRUN_EENGINE, n->host, b.data, n->text);
        break;
    case HRUN_NOTE_LOST:
    case HRUN_NOTE_CRASHED:
        /* mpirun may end before the agent notices the loss: version 4 with a failure, 5 with status 0 (seen). */
        late = r->nalive == 0 && (r->ending.failed || reach->prrte) && reach->daemons && n->kind == HRUN_NOTE_LOST;
        if (!r->ending.broken && !r->ending.signal && !r->ending.timed_out && !r->out->lost_host[0] &&
            (late || r->ending.kill_s <= 0))
            hrun_run_lose(r, n->host);
        break;
    case HRUN_NOTE_ENDED:
        if (n->number == 126 || n->number == NOT_FOUND) {
            snprintf(reach->bad_end, sizeof reach->bad_end, "%s", n->host);
            reach->bad_status = n->number;
        }
        break;
    default:
        break;
    }
}

static void read_note_line(void *run, char *line)
{
    struct hrun_run *r = run;
    struct hrun_note_read n;

    if (hrun_note_parse(line, &n) == 0)
        handle_note(r->reach, r, &n);
}

int hrun_reach_watch(struct hrun_run *r)
{
    struct hrun_reach *reach = r->reach;

    hrun_words_read(&reach->notes, read_note_line, r);
    return (int)reach->open.n;
}

/* If several agents are left, the daemons on some of their hosts still try to reach the lost host. */
void hrun_reach_abandon(struct hrun_run *r)
{
    const struct hrun_reach *reach = r->reach;
    autorelease(hrun_buf_release) struct hrun_buf names = HRUN_BUF_INIT;

    if ((!r->out->status && !(reach->prrte && reach->daemons)) || r->ending.broken || r->ending.timed_out ||
        r->ending.signal || r->out->lost_host[0])
        return;
    if (reach->open.n == 1) {
        hrun_run_lose(r, reach->open.v[0]);
        return;
    }
    hrun_hostlist_print(reach->open.v, reach->open.n, &names);
    hrun_fail(r->err, HRUN_EENGINE, "mpirun ended with status %d, and its daemons on %s did not: one of these hosts "
              "was lost during the run; mpirun says above which", r->out->status, names.data);
    hrun_run_break(r);
}

/* 1 if each host sends a note when it is up, else 0. */
static int reports_all_hosts(const struct hrun_reach *reach)
{
    return strcmp(reach->reporter, "nobody") && (!reach->daemons || reach->nremote <= HRUN_REACH_RADIX ||
                                                  !strcmp(reach->reporter, "proxy"));
}

int hrun_reach_listen(struct hrun_run *r, struct hrun_error *err)
{
    struct hrun_reach *reach = r->reach;

    r->begun_s = reach->rank_notes ? INFINITY
               : hrun_monotonic_s() + (reach->agents && reach->prrte ? reach->limit_s : START_S);
    if (!reach->agents && !reach->rank_notes)
        return 0;
    reach->fifo = hrun_strf("%s/notes", r->own.rundir);
    if (hrun_words_fifo(&reach->notes, reach->fifo))
        return hrun_fail_errno(err, HRUN_EIO, "cannot make %s", reach->fifo);
    r->watch_fd = reach->notes.fd;
    r->style.hold = reach->agents && reports_all_hosts(reach);
    return 0;
}

int hrun_reach_check_end(struct hrun_run *r, struct hrun_error *err)
{
    const struct hrun_reach *reach = r->reach;
    struct hrun_outcome *out = r->out;
    int n = r->job->layout->nranks, status = reach->rank_status;

    if (out->timed_out || out->lost_host[0])
        return 0;
    if (!out->status && reach->rank_notes && reach->ndone < n) {
        if (r->ending.signal) {
            out->interrupted = r->ending.signal;
            out->status = 128 + r->ending.signal;
            return 0;
        }
        if (status && hrun_run_fail(r, reach->failed_rank, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                                                               : WEXITSTATUS(status)))
            hrun_run_say(r, "rank %d ended with status %d, and mpirun with 0", out->failed_rank, out->status);
        return status ? 0 : hrun_fail(err, HRUN_EENGINE, "mpirun ended with status 0, but %d of %d processes had not "
                                      "%s: the run is not complete",
                                      n - (reach->nranks < n ? reach->nranks : reach->ndone), n,
                                      reach->nranks < n ? "begun" : "ended");
    }
    if (out->status && WIFEXITED(status) && WEXITSTATUS(status) == ERR_SPAWN && !reach->prrte &&
        !r->job->oversubscribe && !hrun_in_resource_manager())
        hrun_run_say(r, "rank %d ended with status %d, the status of an MPI_Comm_spawn that finds no "
                     "free place: start hrun with --oversubscribe", reach->failed_rank, ERR_SPAWN);
    if (!reach->agents || !out->status || out->signalled)
        return 0;
    if (reach->bad_end[0])
        return hrun_fail(err, HRUN_EENGINE, "Open MPI's daemon on host '%s' ended with status %d; mpirun says above "
                         "what it missed", reach->bad_end, reach->bad_status);
    if (reports_all_hosts(reach) && reach->nup < reach->nremote)
        return hrun_fail(err, HRUN_EENGINE, "mpirun failed with status %d before all hosts were ready; it says why "
                         "above", out->status);
    return 0;
}
