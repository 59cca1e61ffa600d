/* flux_watch.c - a running job of Flux: which rank failed first, signals; see flux.h
 *
 * Flux tells only how the job has ended, by the largest status; so hrun-shim stays beside each rank and says on
 * standard error how it ended. When a rank calls PMI's abort, Flux raises an exception and ends the others by SIGTERM,
 * and their ends may be told before that of the one that did: a rank that SIGTERM has killed waits, for SUSPECT_S, for
 * another one. flux job attach passes on some signals, and takes two SIGINT or SIGTSTP for wishes of its own: flux job
 * kill brings all of them.
 */
#include "launch/engines/flux.h"
#include "launch/engines/engines.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const double SUSPECT_S = 1;
/* What the ranks leave behind keeps the job from ending; it ends within some 10 ms where there is nothing. */
static const double REST_S = 0.2;
/* How long a job may wait for its hosts before the user is told; a free host is given within 0.1 s. */
static const double QUEUED_S = 2;

/* ---------------------------------------------------------------- signals */

static void bring_signal(struct hrun_run *r, int sig)
{
    const struct hrun_flux_watch *w = r->state;
    struct hrun_strvec v = HRUN_STRVEC_INIT;
    int ends = sig == SIGKILL || hrun_signal_action(sig) == HRUN_SIGNAL_END, bad;

    if (!w->started && !ends)
        return;
    bad = hrun_strvec_push(&v, "flux") || hrun_strvec_push(&v, "job") ||
          (w->started ? hrun_strvec_push(&v, "kill") || hrun_strvec_pushf(&v, "--signal=%d", sig)
                      : hrun_strvec_push(&v, "raise")) || hrun_strvec_push(&v, w->id);
    hrun_run_helper(r, w->flux, bad ? NULL : v.v, sig);
    hrun_strvec_release(&v);
}

/* ---------------------------------------------------------------- failures */

static void rank_failed(struct hrun_run *r, int rank, int status)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (!hrun_run_fail(r, rank, sig ? 128 + sig : WEXITSTATUS(status)))
        return;
    r->out->killed_by = sig;
    if (sig)
        hrun_run_say(r, "rank %d was killed by signal %d (%s)", rank, sig, strsignal(sig));
    else
        hrun_run_say(r, "rank %d exited with status %d", rank, WEXITSTATUS(status));
}

static void blame_suspect(struct hrun_run *r)
{
    struct hrun_flux_watch *w = r->state;
    int suspect = w->suspect;

    w->suspect = -1;
    if (suspect >= 0 && !r->failed)
        rank_failed(r, suspect, SIGTERM);
}

static void settle(struct hrun_run *r)
{
    const struct hrun_flux_watch *w = r->state;

    if (w->suspect >= 0)
        blame_suspect(r);
    else if (w->started)
        bring_signal(r, SIGTERM);
    else
        hrun_run_say(r, "Flux: the job waits for its hosts, which other jobs have");
}

static void rank_ended(struct hrun_run *r, int rank, int status)
{
    struct hrun_flux_watch *w = r->state;

    if (++w->nended == r->job->layout->nranks && w->suspect < 0)
        r->verdict_s = hrun_monotonic_s() + REST_S;
    if (!status)
        return;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM || r->ending_signal) {
        rank_failed(r, rank, status);
    } else if (w->suspect < 0) {
        w->suspect = rank;
        r->verdict_s = hrun_monotonic_s() + SUSPECT_S;
    }
}

/* ---------------------------------------------------------------- what comes through standard error */

static void put(void *run, const char *data, size_t len)
{
    hrun_output_feed(((struct hrun_run *)run)->output, 0, 1, data, len);
}

static void hear(void *run, const struct hrun_flux_said *said)
{
    struct hrun_run *r = run;
    struct hrun_flux_watch *w = r->state;

    if (said->kind == HRUN_FLUX_QUEUED) {
        r->verdict_s = hrun_monotonic_s() + QUEUED_S;
    } else if (said->kind == HRUN_FLUX_STARTED) {
        w->started = 1;
        r->begun_s = 0;
        r->verdict_s = 0;
    } else if (said->kind == HRUN_FLUX_ENDED) {
        rank_ended(r, said->rank, said->status);
    } else if (said->kind == HRUN_FLUX_LOST && !r->failed) {
        snprintf(r->out->lost_host, sizeof r->out->lost_host, "%.*s", (int)said->len, said->text);
        if (hrun_run_fail(r, -1, 125))
            hrun_run_say(r, "host '%s' was lost during the run", r->out->lost_host);
    } else if (said->kind == HRUN_FLUX_COMPLAINT) {
        snprintf(w->complaint, sizeof w->complaint, "%s", said->text);
    }
}

int hrun_flux_listen(struct hrun_run *r)
{
    struct hrun_flux_watch *w = r->state;
    const struct hrun_flux_ears ears = { put, hear, r, r->job->tag_output };
    char data[16 << 10];
    ssize_t n = 0;

    /* What attach has written before it ended is read at once: the pipe holds no more than 64 KiB. */
    while (w->fd >= 0 && (r->nalive == 0 || hrun_output_has_room(r->output)) &&
           ((n = read(w->fd, data, sizeof data)) > 0 || (n < 0 && errno == EINTR)))
        hrun_flux_sieve(&w->sieve, &ears, data, n > 0 ? (size_t)n : 0);
    if (w->fd >= 0 && n == 0 && (r->nalive == 0 || hrun_output_has_room(r->output))) {
        hrun_flux_sieve_end(&w->sieve, &ears);
        close(w->fd);
        w->fd = -1;
    }
    r->paused = w->fd >= 0 && r->nalive > 0 && !hrun_output_has_room(r->output);
    r->watch_fd = r->paused ? -1 : w->fd;
    return 0;
}

static void no_words(struct hrun_run *r, char *line)
{
    (void)r, (void)line;
}

static void ended(struct hrun_run *r, int status)
{
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

    blame_suspect(r);
    if (code && !r->failed)
        hrun_run_fail(r, -1, code);
}

const struct hrun_launcher hrun_flux_launcher = { "flux", 0, bring_signal, no_words, settle, ended };
