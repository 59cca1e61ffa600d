/* queue.c - hrun --wait; see run.h
 *
 * What would be chosen on the whole cluster is waited for. In the queue it stands with the PEs that it is going to
 * have: those that are free, and of the others those that are free first; so what is free is kept for it, and no later
 * run takes it. Where starting at once on what remains is predicted to end earlier, that is done.
 */
#include "run.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is waited for. */
struct wish {
    char **others;              /* [sub][pe]: 1: not among the PEs that it stands in the queue with */
    int missing;                /* PEs of them that others use */
    double start_s;             /* when the last of these is predicted to be free, seconds since 1970; NAN: not known */
    double whole_s, now_s;      /* predicted times: on the whole cluster, and on what remains; NAN: not known */
    uint64_t version;           /* of what was seen when these were found */
};

static double since_1970(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- which PEs */

/* When a busy PE is predicted to be free; INFINITY: not known, or late already. */
static double free_at(const struct ledger *g, int sub, int pe)
{
    const struct hrun_ledger_entry *e = &g->seen.v[g->who[sub][pe]];

    return e->state != HRUN_LEDGER_WAITS && e->end_s > since_1970() ? (double)e->end_s : INFINITY;
}

/* Of the busy PEs of a sub-cluster that are not chosen yet the one that is free first; -1: there is none. */
static int next_free(const struct ledger *g, const struct wish *w, int sub)
{
    int best = -1;

    for (int p = 0; p < g->cluster->subs[sub].npes; p++)
        if (w->others[sub][p] && g->mask[sub][p] && (best < 0 || free_at(g, sub, p) < free_at(g, sub, best)))
            best = p;
    return best;
}

/* The PEs to stand in the queue with, for the decision on the whole cluster. */
static void wish_choose(struct wish *w, const struct ledger *g, const int *pes)
{
    w->missing = 0;
    w->start_s = since_1970();
    for (int i = 0; i < g->cluster->nsubs; i++) {
        int left = pes[i], p;

        memset(w->others[i], 1, (size_t)g->cluster->subs[i].npes);
        for (p = 0; p < g->cluster->subs[i].npes && left; p++)
            if (!g->mask[i][p]) {
                w->others[i][p] = 0;
                left--;
            }
        for (; left && (p = next_free(g, w, i)) >= 0; left--) {
            w->others[i][p] = 0;
            w->missing++;
            w->start_s = fmax(w->start_s, free_at(g, i, p));
        }
    }
    if (!isfinite(w->start_s))
        w->start_s = NAN;
}

static int wish_create(struct wish *w, const struct hrun_cluster *cl, struct hrun_error *err)
{
    w->others = calloc((size_t)cl->nsubs + 1, sizeof *w->others);
    if (!w->others)
        return hrun_fail_nomem(err);
    for (int i = 0; i < cl->nsubs; i++) {
        w->others[i] = calloc((size_t)cl->subs[i].npes + 1, 1);
        if (!w->others[i])
            return hrun_fail_nomem(err);
    }
    return 0;
}

static void wish_release(struct wish *w, const struct hrun_cluster *cl)
{
    for (int i = 0; w->others && i < cl->nsubs; i++)
        free(w->others[i]);
    free(w->others);
}

/* ---------------------------------------------------------------- now, or later? */

/* Another number when what was seen is something else (FNV-1a). */
static uint64_t version_of(const struct ledger *g)
{
    uint64_t h = 14695981039346656037u;

    for (int k = 0; k < g->seen.n; k++) {
        const struct hrun_ledger_entry *e = &g->seen.v[k];
        const uint64_t part[] = { (uint64_t)e->ticket, (uint64_t)e->uid, (uint64_t)e->pid, (uint64_t)e->state,
                                  (uint64_t)e->silent, (uint64_t)e->nuses };

        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            h = (h ^ part[i]) * 1099511628211u;
    }
    return h | 1;
}

static double predicted(const struct prepared *p)
{
    return p->d.predicted ? p->d.time_s : NAN;
}

/* Choose on what remains (for its time) and on the whole cluster, which stays in p. */
static int choose_both(struct prepared *p, struct wish *w, struct hrun_error *err)
{
    struct hrun_error why;

    w->now_s = NAN;
    if (ledger_busy(&p->ledger) && isfinite(w->whole_s) && !prepare_choose(p, 0, &why))
        w->now_s = predicted(p);
    return prepare_choose(p, 1, err);
}

static int better_now(const struct wish *w)
{
    return w->missing && since_1970() + w->now_s < w->start_s + w->whole_s;
}

/* ---------------------------------------------------------------- waiting */

static void say_once(struct prepared *p, int *said)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    if ((*said)++ || p->c.set->quiet)
        return;
    hrun_buf_adds(&text, "hrun: waits: ");
    ledger_tell(&p->ledger, "", "; ", &text);
    if (text.len > 2 && text.data[text.len - 2] == ';')
        text.data[text.len -= 2] = 0;
    fprintf(stderr, "%s\n", text.data);
    hrun_buf_release(&text);
}

/* One look. 1: something is claimed, 0: go on waiting, -1. */
static int look_once(struct prepared *p, struct wish *w, struct hrun_error *err)
{
    int rc;

    if (ledger_look(&p->ledger, &p->c, err))
        return -1;
    if (version_of(&p->ledger) != w->version) {
        if (choose_both(p, w, err))
            return -1;
        w->version = version_of(&p->ledger);
    }
    wish_choose(w, &p->ledger, p->d.pes);
    if (better_now(w)) {
        rc = prepare_choose(p, 0, err) ? -1 : prepare_claim(p, err);
        w->version = 0;
        return rc;
    }
    /* Where all is free the placement has all that is free to choose from. */
    if (prepare_layout(p, w->missing ? (const char *const *)w->others : ledger_busy(&p->ledger), !w->missing, err))
        return -1;
    return w->missing ? 0 : prepare_claim(p, err);
}

static int wait_for(struct prepared *p, struct wish *w, double end_s, struct hrun_error *err)
{
    int rc, said = 0;

    while (!(rc = look_once(p, w, err))) {
        const struct ledger_run run = { .layout = p->layout, .N = p->w.N };
        double left = end_s - hrun_monotonic_s();

        /* What was free and was taken while it was claimed: look again at once. */
        if (w->missing && ledger_queue(&p->ledger, &p->c, &run, err))
            return -1;
        if (w->missing)
            say_once(p, &said);
        if (left <= 0) {
            hrun_ledger_leave(p->ledger.l);
            return prepare_now(p, err);
        }
        p->sig = ledger_sleep(!w->missing ? 0.01 : left < LEDGER_POLL_S ? left : LEDGER_POLL_S);
        if (p->sig)
            return -1;
    }
    if (rc > 0 && p->ledger.l)
        hrun_ledger_leave(p->ledger.l);
    return rc < 0 ? -1 : 0;
}

int prepare_waiting(struct prepared *p, struct hrun_error *err)
{
    struct wish w = { .now_s = NAN };
    int rc = -1;

    if (!p->ledger.l) {
        if (!p->c.set->quiet)
            fprintf(stderr, "hrun: --wait waits for nobody: there is no ledger (%s)\n", p->ledger.why_none);
        return prepare_now(p, err);
    }
    if (ledger_look(&p->ledger, &p->c, err) || prepare_choose(p, 1, err))
        return -1;
    if (p->set->dry_run)
        return 0;
    w.whole_s = predicted(p);
    if (!wish_create(&w, p->c.cluster, err))
        rc = wait_for(p, &w, hrun_monotonic_s() + p->set->wait_s, err);
    wish_release(&w, p->c.cluster);
    p->c.busy = ledger_busy(&p->ledger);
    return rc;
}
