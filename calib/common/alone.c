/* alone.c - runs that measure have their hosts for themselves; see alone.h */
#include "alone.h"

#include <stdio.h>
#include <stdlib.h>

int alone_begin(struct ledger *g, const struct context *c, const struct hrun_layout *l, int64_t N, double time_s,
                void (*say)(void *ctx, const char *text), void *ctx)
{
    const struct ledger_run run = { .layout = l, .whole_hosts = 1, .N = N, .time_s = time_s };
    int sig = 0;

    while (!sig) {
        ledger_look(g, c);
        if (ledger_lock(g, c, &run))
            break;
        if (!g->queued_s) {
            autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;

            hrun_buf_adds(&text, "waits for its PEs: ");
            ledger_tell(g, &text);
            say(ctx, text.data);
        }
        sig = ledger_wait(g, c, &run);
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

static void on_output(void *ctx, const char *data, size_t len)
{
    hrun_buf_add(ctx, data, len);
}

int alone_run(struct context *c, const struct hrun_layout *l, char *const *words, alone_judge *judge,
              struct hrun_buf *out, int *interrupted, struct hrun_error *err)
{
    struct work w = { .c = c, .words = words, .quiet_run = 1 };
    struct work_words started = { 0 };
    struct hrun_buf said = HRUN_BUF_INIT;
    struct hrun_outcome outcome = { 0 };
    struct ledger ledger = { 0 };
    struct hrun_job job;
    char *stdin_text = NULL;
    int rc = work_job(&w, l, &started, &stdin_text, &job, err);

    if (!rc)
        rc = ledger_open(&ledger, c, err);
    if (!rc)
        *interrupted = alone_begin(&ledger, c, l, 0, 0, alone_say, c);
    if (!rc && *interrupted)
        rc = hrun_fail(err, HRUN_EENGINE, "waiting for the hosts was interrupted by signal %d", *interrupted);
    if (!rc) {
        job.output.on_stdout = on_output;
        job.ctx = out;
        job.output.stderr_text = &said;
        rc = hrun_launch(c->engine, &job, &outcome, err) ? -1 : judge(&outcome, &said, interrupted, err);
    }
    ledger_release(&ledger);
    free(stdin_text);
    hrun_buf_release(&said);
    work_words_release(&started);
    return rc;
}
