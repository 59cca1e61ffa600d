/* ledger.c - the ledger of the context's cluster; see work.h */
#include "session/work.h"

#include "base/list.h"
#include "launch/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the administrator of a cluster makes, a folder or a link to one; and what every Linux host has. */
static const char SITE[] = "/etc/hrun/ledger", HOST[] = "/run/lock";

/* ---------------------------------------------------------------- where it is */

static int is_sticky(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) && !access(path, W_OK | X_OK);
}

int ledger_find(const char *from_file, char **dir, int *named, char **why, struct hrun_error *err)
{
    const char *env = getenv("HRUN_LEDGER"), *place, *reason = NULL;

    *dir = *why = NULL;
    *named = 1;
    place = env && *env ? env : from_file;
    if (!place) {
        *named = 0;
        place = !access(SITE, F_OK) ? SITE : is_sticky(HOST) ? HOST : NULL;
        reason = "there is neither /etc/hrun/ledger nor a sticky folder /run/lock to write in";
    } else if (!strcmp(place, "none")) {
        place = NULL;
        reason = env && *env ? "HRUN_LEDGER is none" : "the cluster file says none";
    }
    *(place ? dir : why) = strdup(place ? place : reason);
    return *dir || *why ? 0 : hrun_fail_nomem(err);
}

/* Why there is none for this cluster, whatever folder there is; or NULL. */
static const char *why_not(const struct context *c)
{
    return c->cluster->platform           ? "the hosts are simulated"
           : c->cluster->allocation       ? "the hosts are allocated by a resource manager"
           : !context_is_real(c)          ? "the topology is a description"
           : getenv(HRUN_JOB_VARIABLE)    ? "this is a run inside a run of hrun"
                                          : NULL;
}

/* ---------------------------------------------------------------- making it */

static int allocate(struct ledger *g, const struct hrun_cluster *cl)
{
    struct hrun_buf name = HRUN_BUF_INIT;

    g->cluster = cl;
    g->names = calloc((size_t)cl->nhosts + 1, sizeof *g->names);
    g->mask = calloc((size_t)cl->nsubs + 1, sizeof *g->mask);
    g->who = calloc((size_t)cl->nsubs + 1, sizeof *g->who);
    if (!g->names || !g->mask || !g->who)
        return -1;
    for (int h = 0; h < cl->nhosts; h++) {
        hrun_host_own_name(&cl->hosts[h], &name);
        g->names[h] = hrun_buf_detach(&name);
        if (!g->names[h])
            return -1;
    }
    for (int i = 0; i < cl->nsubs; i++) {
        g->mask[i] = calloc((size_t)cl->subs[i].npes + 1, sizeof *g->mask[i]);
        g->who[i] = calloc((size_t)cl->subs[i].npes + 1, sizeof *g->who[i]);
        if (!g->mask[i] || !g->who[i])
            return -1;
    }
    return 0;
}

int ledger_open(struct ledger *g, const struct context *c, struct hrun_error *err)
{
    const char *reason = why_not(c);
    struct hrun_error why = { 0 };
    char *dir = NULL;
    int named = 0, rc = 0;

    memset(g, 0, sizeof *g);
    if (reason) {
        g->why_none = strdup(reason);
        return g->why_none ? 0 : hrun_fail_nomem(err);
    }
    if (ledger_find(c->cluster->ledger, &dir, &named, &g->why_none, err))
        return -1;
    if (dir && hrun_ledger_open(dir, &g->l, &why)) {
        if (named || why.code == HRUN_ENOMEM) {
            if (err)
                *err = why;
            rc = -1;
        } else {
            g->why_none = strdup(why.text);
            rc = g->why_none ? 0 : hrun_fail_nomem(err);
            if (!c->set->verbose)
                settings_say(c->set, "no ledger: %s", why.text);
        }
    } else if (dir && allocate(g, c->cluster)) {
        rc = hrun_fail_nomem(err);
    }
    free(dir);
    if (rc)
        ledger_release(g);
    /* Nobody is told what he has said himself. */
    if (!rc && !g->l && !named && c->set->verbose)
        settings_say(c->set, "no ledger: %s", g->why_none);
    return rc;
}

void ledger_release(struct ledger *g)
{
    hrun_ledger_close(g->l);
    hrun_ledger_list_release(&g->seen);
    for (int h = 0; g->names && h < g->cluster->nhosts; h++)
        free(g->names[h]);
    for (int i = 0; g->mask && g->who && i < g->cluster->nsubs; i++) {
        free(g->mask[i]);
        free(g->who[i]);
    }
    free(g->names);
    free(g->mask);
    free(g->who);
    free(g->why_none);
    memset(g, 0, sizeof *g);
}

/* ---------------------------------------------------------------- who has which PE */

struct place {
    const char *host;
    int sub, pe;
};

static int by_host(const void *a, const void *b)
{
    return hrun_ledger_host_order(((const struct place *)a)->host, ((const struct place *)b)->host);
}

/* What entry k of those seen has of the places, which are sorted. */
static void mark_entry(struct ledger *g, const struct place *places, int n, int k)
{
    const struct hrun_ledger_entry *e = &g->seen.v[k];

    for (int u = 0; u < e->nuses; u++) {
        const struct place key = { .host = e->uses[u].host };
        struct hrun_ledger_pus pus;
        int lo = 0, hi = n;

        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;

            if (by_host(&places[mid], &key) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < n && !by_host(&places[lo], &key))
            hrun_ledger_pus_read(e->uses[u].pus, &pus);
        for (; lo < n && !by_host(&places[lo], &key); lo++) {
            const struct place *p = &places[lo];

            if (g->mask[p->sub][p->pe] || !hrun_same_host(p->host, key.host) ||
                !hrun_ledger_pus_meet(&pus, g->cluster->subs[p->sub].pes[p->pe].cpuset))
                continue;
            g->mask[p->sub][p->pe] = 1;
            g->who[p->sub][p->pe] = k;
            g->nbusy++;
        }
    }
}

/* What runs goes before what waits. */
int ledger_mark(struct ledger *g, struct hrun_error *err)
{
    const struct hrun_cluster *cl = g->cluster;
    struct place *places;
    int n = 0;

    for (int i = 0; i < cl->nsubs; i++)
        n += cl->subs[i].npes;
    places = calloc((size_t)n + 1, sizeof *places);
    if (!places)
        return hrun_fail_nomem(err);
    n = g->nbusy = 0;
    for (int i = 0; i < cl->nsubs; i++)
        for (int p = 0; p < cl->subs[i].npes; p++) {
            places[n++] = (struct place){ g->names[cl->subs[i].pes[p].host], i, p };
            g->mask[i][p] = 0;
            g->who[i][p] = -1;
        }
    if (g->seen.n)
        qsort(places, (size_t)n, sizeof *places, by_host);
    for (int waits = 0; waits < 2; waits++)
        for (int k = 0; k < g->seen.n; k++)
            if ((g->seen.v[k].state == HRUN_LEDGER_WAITS) == waits && hrun_ledger_counts(g->l, &g->seen.v[k]))
                mark_entry(g, places, n, k);
    free(places);
    return 0;
}

int ledger_trouble(struct ledger *g, const struct context *c, const struct hrun_error *why, struct hrun_error *err)
{
    if (why->code == HRUN_ENOMEM) {
        if (err)
            *err = *why;
        return -1;
    }
    if (!g->said)
        settings_say(c->set, "this run is not in the ledger, others may use its PEs: %s", why->text);
    g->said = 1;
    return 0;
}

int ledger_look(struct ledger *g, const struct context *c, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    if (!g->l)
        return 0;
    hrun_ledger_list_release(&g->seen);
    if (hrun_ledger_read(g->l, &g->seen, &why) && ledger_trouble(g, c, &why, err))
        return -1;
    return ledger_mark(g, err);
}

const char *const *ledger_busy(const struct ledger *g)
{
    return g && g->l && g->nbusy ? (const char *const *)g->mask : NULL;
}

int ledger_free_pes(const struct ledger *g, int sub)
{
    int n = 0;

    for (int p = 0; p < g->cluster->subs[sub].npes; p++)
        n += !g->mask[sub][p];
    return n;
}

int ledger_is_moving(const struct ledger *g)
{
    for (int k = 0; k < g->seen.n; k++)
        if (g->seen.v[k].state == HRUN_LEDGER_CLAIMS)
            return 1;
    return 0;
}
