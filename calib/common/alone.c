/* alone.c - exclusive use of hosts by runs that measure, and of profiles by calibrations; see alone.h */
#include "alone.h"

#include "base/alloc.h"
#include "base/file.h"
#include "session/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int alone_begin(struct ledger *g, const struct context *c, const struct ledger_run *run,
                void (*say)(void *ctx, const char *text), void *ctx)
{
    int sig = 0;

    while (!sig) {
        ledger_look(g, c);
        if (ledger_lock(g, c, run))
            break;
        if (!g->queued_s) {
            autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

            hrun_buf_adds(&text, "waits for its PEs: ");
            ledger_print_users(g, &text);
            say(ctx, text.data);
        }
        sig = ledger_wait(g, c, run);
    }
    return sig;
}

void alone_end(struct ledger *g)
{
    if (g->l)
        hrun_ledger_unlock(g->l);
}

void alone_say(void *ctx, const char *text)
{
    const struct context *c = ctx;

    if (!c->set->quiet)
        fprintf(stderr, "hrun-calibrate: %s\n", text);
}

int alone_check_real(const struct context *c, struct hrun_error *err)
{
    return context_is_real(c) ? 0 : hrun_fail(err, HRUN_EINVAL, "the topology is a description (HWLOC_XMLFILE or "
                                              "HWLOC_SYNTHETIC is set): what is measured here says nothing about it; "
                                              "unset the variable");
}

int alone_find_tool(struct context *c, const char *tool, struct hrun_error *err)
{
    autofree char *program = hrun_installed_tool(tool, err);

    return !program || context_find_program(c, program, err) || context_choose_engine(c, 1, err) ||
           alone_check_real(c, err) ? -1 : 0;
}

int alone_asks_anew(struct calib_settings *s, const struct hrun_error *err)
{
    if (err->code != HRUN_ECHANGED)
        return 0;
    if (!s->common.quiet)
        fprintf(stderr, "hrun-calibrate: %s; asking all hosts anew\n", err->text);
    return s->common.machine.refresh = 1;
}

static void append_output(void *ctx, const char *data, size_t len)
{
    hrun_buf_add(ctx, data, len);
}

/* Fail if the tool did not succeed. *interrupted: signal that ended it. */
static int check_tool_end(const struct hrun_outcome *o, const struct alone_tool *tool, const struct hrun_buf *errors,
                          int *interrupted, struct hrun_error *err)
{
    static const char kept[] = "nothing of it is kept";
    const char *what = tool->what;

    if (o->timed_out)
        return hrun_fail(err, HRUN_EENGINE, "measuring %s did not end within --timeout; %s", what, kept);
    if ((*interrupted = o->signalled))
        return hrun_fail(err, HRUN_EENGINE, "measuring %s was interrupted by signal %d; %s", what, o->signalled, kept);
    if (o->lost_host[0])
        return hrun_fail(err, HRUN_EENGINE, "host %s was lost while measuring %s; %s: measure again when it is back, "
                         "or without it (--host, --skip-unreachable)", o->lost_host, what, kept);
    if (o->status)
        return hrun_fail(err, HRUN_EENGINE, "%s ended with status %d; %s%s%.400s",
                         hrun_base_name(tool->words[0]), o->status, kept,
                         errors->len ? "; its last words: " : "",
                         errors->len > 400 ? errors->data + errors->len - 400 : errors->data);
    return 0;
}

int alone_run(struct context *c, const struct alone_tool *tool, struct hrun_buf *out, int *interrupted,
              struct hrun_error *err)
{
    const struct ledger_run run = { .layout = tool->layout, .whole_hosts = 1 };
    struct work w = { .c = c, .words = tool->words, .quiet_run = 1 };
    autorelease(work_words_release) struct work_words started = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf errors = HRUN_BUF_INIT;
    autorelease(ledger_release) struct ledger ledger = { 0 };
    autofree char *stdin_text = NULL;
    struct hrun_outcome outcome = { 0 };
    struct hrun_job job;

    if (work_job(&w, tool->layout, &started, &stdin_text, &job, err) || ledger_open(&ledger, c, err))
        return -1;
    *interrupted = alone_begin(&ledger, c, &run, alone_say, c);
    if (*interrupted)
        return hrun_fail(err, HRUN_EENGINE, "waiting for the hosts was interrupted by signal %d", *interrupted);
    job.output.on_stdout = append_output;
    job.ctx = out;
    job.output.stderr_text = &errors;
    return hrun_launch(c->engine, &job, &outcome, err) ? -1
           : check_tool_end(&outcome, tool, &errors, interrupted, err);
}

/* ------------------------------------------------------------------ profiles */

/* Interval between two attempts to lock a file that another process has locked. */
static const double POLL_S = 0.5;

int exclusive_add(struct exclusive *x, const struct context *c, const char *app, const char *signature,
                  struct hrun_error *err)
{
    autofree char *path = hrun_store_calibration_lock(c->store, app, signature, err);

    if (path)
        hrun_strvec_push(&x->paths, path);
    return path ? 0 : -1;
}

/* Lock one file. Result: its descriptor, or -1 with the errors of exclusive_begin. */
static int lock(const struct context *c, const char *path, const char *what, int *sig, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    int fd, said = 0;

    while ((fd = hrun_lock_try(path, &why)) < 0 && why.code == HRUN_EBUSY) {
        if (!said++ && !c->set->quiet)
            fprintf(stderr, "hrun-calibrate: another calibration of %s is running (%s); waiting for it\n", what,
                    why.text);
        *sig = ledger_sleep(POLL_S);
        if (*sig) {
            hrun_fail(err, HRUN_EBUSY, "waiting for another calibration of %s (%s) was interrupted by signal %d; "
                      "nothing was measured", what, why.text, *sig);
            return -1;
        }
    }
    if (fd < 0 && err)
        *err = why;
    return fd;
}

int exclusive_begin(struct exclusive *x, const struct context *c, const char *what, int *sig, struct hrun_error *err)
{
    hrun_strvec_sort(&x->paths, 0);     /* sorted without duplicates, as sub-clusters of one kind share a profile */
    x->fds = xcalloc(x->paths.n + 1, sizeof *x->fds);
    for (size_t i = 0; i < x->paths.n; i++) {
        x->fds[x->n] = lock(c, x->paths.v[i], what, sig, err);
        if (x->fds[x->n] < 0)
            return -1;
        x->n++;
    }
    return 0;
}

void exclusive_end(struct exclusive *x)
{
    for (int i = 0; i < x->n; i++)
        hrun_unlock(x->fds[i]);
    free(x->fds);
    hrun_strvec_release(&x->paths);
    memset(x, 0, sizeof *x);
}
