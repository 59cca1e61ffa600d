/* alone.c - runs that measure have their hosts for themselves; see alone.h */
#include "alone.h"

#include <stdio.h>

int alone_begin(struct ledger *g, const struct context *c, const struct hrun_layout *l, int64_t N, double time_s,
                void (*say)(void *ctx, const char *text), void *ctx, int *sig, struct hrun_error *err)
{
    const struct ledger_run run = { .layout = l, .whole_hosts = 1, .N = N, .time_s = time_s };

    return ledger_claim_waiting(g, c, &run, say, ctx, sig, err);
}

void alone_end(struct ledger *g)
{
    if (g->l)
        hrun_ledger_withdraw(g->l);
}

void alone_say(void *ctx, const char *text)
{
    const struct context *c = ctx;

    if (!c->set->quiet)
        fprintf(stderr, "hrun-calibrate: %s\n", text);
}
