/* ledger_claim.c - what this run has of the ledger, or waits for; see work.h */
#include "session/work.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* Append the PEs of a host that the run has. */
static void add_host(const struct hrun_cluster *cl, char *const *used, int host, struct hrun_buf *pus)
{
    for (int i = 0; i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++)
            if (used[i][p] && cl->subs[i].pes[p].host == host && cl->subs[i].pes[p].cpuset[0])
                hrun_buf_addf(pus, "%s%s", pus->len ? "," : "", cl->subs[i].pes[p].cpuset);
}

static void uses_release(struct hrun_ledger_use *uses, int n)
{
    for (int k = 0; uses && k < n; k++)
        free(uses[k].pus);
    free(uses);
}

/* The PEs of a run as uses, whose hosts are g's. Those of hosts that are known by numbers only are not among them. */
static int gather(const struct ledger *g, const struct ledger_run *run, struct hrun_ledger_use **out, int *n)
{
    const struct hrun_cluster *cl = g->cluster;
    struct hrun_ledger_use *uses = calloc((size_t)cl->nhosts + 1, sizeof *uses);
    char **used = calloc((size_t)cl->nsubs + 1, sizeof *used), *on = calloc((size_t)cl->nhosts + 1, 1);
    int rc = uses && used && on ? 0 : -1, count = 0;

    for (int i = 0; i < cl->nsubs && !rc; i++) {
        used[i] = calloc((size_t)cl->subs[i].npes + 1, 1);
        rc = used[i] ? 0 : -1;
    }
    for (int r = 0; run->layout && r < run->layout->nranks && !rc; r++) {
        used[run->layout->ranks[r].sub][run->layout->ranks[r].pe] = 1;
        on[run->layout->ranks[r].host] = 1;
    }
    for (int k = 0; run->layout && k < run->layout->nmore && !rc; k++)
        used[run->layout->more[k].sub][run->layout->more[k].pe] = 1;
    for (int i = 0; !run->layout && i < cl->nsubs && !rc; i++)
        for (int p = 0; p < cl->subs[i].npes; p++)
            if (!g->mask[i][p])
                used[i][p] = on[cl->subs[i].pes[p].host] = 1;
    for (int i = 0; i < cl->nsubs && !rc && run->whole_hosts; i++)
        for (int p = 0; p < cl->subs[i].npes; p++)
            used[i][p] = on[cl->subs[i].pes[p].host];
    for (int h = 0; h < cl->nhosts && !rc; h++) {
        struct hrun_buf pus = HRUN_BUF_INIT;

        if (on[h])
            add_host(cl, used, h, &pus);
        if (pus.len) {
            uses[count].host = g->names[h];
            uses[count].pus = hrun_buf_detach(&pus);
            rc = uses[count++].pus ? 0 : -1;
        }
        hrun_buf_release(&pus);
    }
    for (int i = 0; used && i < cl->nsubs; i++)
        free(used[i]);
    free(used);
    free(on);
    if (rc)
        uses_release(uses, count);
    else
        *out = uses;
    *n = rc ? 0 : count;
    return rc;
}

static int fill(const struct ledger *g, const struct context *c, const struct ledger_run *run,
                struct hrun_ledger_entry *e, struct hrun_error *err)
{
    int64_t now = (int64_t)time(NULL);

    *e = (struct hrun_ledger_entry){ .since_s = now, .app = c->app ? c->app->name : (char *)"", .N = run->N,
                                     .program = c->program ? c->program : (char *)"",
                                     .version = (char *)HRUN_VERSION };
    /* A prediction may be any number; a month is as good as not known. */
    if (run->time_s > 0 && run->time_s < 31 * 86400.0)
        e->end_s = now + (int64_t)run->time_s + 1;
    return gather(g, run, &e->uses, &e->nuses) ? hrun_fail_nomem(err) : 0;
}

int ledger_claim(struct ledger *g, const struct context *c, const struct ledger_run *run, struct hrun_error *err)
{
    struct hrun_ledger_entry e;
    struct hrun_error why = { 0 };
    int rc;

    if (!g->l)
        return 1;
    if (fill(g, c, run, &e, err))
        return -1;
    rc = e.nuses ? hrun_ledger_claim(g->l, &e, &g->seen, &why) : 1;
    uses_release(e.uses, e.nuses);
    if (rc < 0)
        return ledger_trouble(g, c, &why, err) ? -1 : 1;
    return !rc && ledger_mark(g, err) ? -1 : rc;
}

int ledger_queue(struct ledger *g, const struct context *c, const struct ledger_run *run, struct hrun_error *err)
{
    struct hrun_ledger_entry e;
    struct hrun_error why = { 0 };
    int rc;

    if (!g->l)
        return 0;
    if (fill(g, c, run, &e, err))
        return -1;
    if (!g->queued_s)
        g->queued_s = e.since_s;
    e.since_s = g->queued_s;
    e.end_s = 0;
    rc = hrun_ledger_queue(g->l, &e, &why);
    uses_release(e.uses, e.nuses);
    return rc ? ledger_trouble(g, c, &why, err) : 0;
}

/* ---------------------------------------------------------------- waiting */

int ledger_sleep(double seconds)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    sigset_t set, before;
    int sig;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction act;

        /* What the caller ignores (nohup) stays ignored: a blocked signal would come nevertheless. */
        if (!sigaction(ending[i], NULL, &act) && act.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &before);
    sig = sigtimedwait(&set, NULL, &t);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return sig > 0 ? sig : 0;
}

int ledger_claim_waiting(struct ledger *g, const struct context *c, const struct ledger_run *run,
                         void (*say)(void *ctx, const char *text), void *ctx, int *sig, struct hrun_error *err)
{
    struct hrun_buf text = HRUN_BUF_INIT;
    int rc, said = 0;

    *sig = 0;
    while (!(rc = ledger_claim(g, c, run, err))) {
        if (!said++) {
            hrun_buf_adds(&text, "waits for its PEs: ");
            ledger_tell(g, "", "; ", &text);
            if (text.len > 2)
                text.data[text.len -= 2] = 0;
            say(ctx, text.data);
            hrun_buf_release(&text);
        }
        if (ledger_queue(g, c, run, err)) {
            rc = -1;
            break;
        }
        *sig = ledger_sleep(LEDGER_POLL_S);
        if (*sig)
            break;
    }
    if (g->l)
        hrun_ledger_leave(g->l);
    g->queued_s = 0;
    return rc < 0 ? -1 : 0;
}
