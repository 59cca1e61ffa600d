/* loaded.c - measure runs on hosts whose PEs are all kept busy; see runs.h */
#include "base/alloc.h"
#include "base/units.h"
#include "runs.h"
#include "session/placement.h"

#include <stdlib.h>
#include <string.h>

enum { HOSTS = 4 };

/* ------------------------------------------------------------------ the PEs */

void loaded_spread(const struct hrun_subcluster *sub, int npes, int slow_host, int *order)
{
    autofree char *used = xcalloc((size_t)sub->npes, 1);
    int hosts = 0, here = 0, left = npes, k = 0;

    for (int i = 0; i < sub->npes; i++) {
        hosts += i == 0 || sub->pes[i].host != sub->pes[i - 1].host;
        here += sub->pes[i].host == sub->pes[0].host;
    }
    /* At most HOSTS hosts if these have enough PEs. */
    if (hosts > HOSTS && npes <= HOSTS * here)
        hosts = HOSTS;
    /* Spread the PEs evenly over these hosts. The slow host, if it is known, gets its PEs first. */
    for (int others = slow_host < 0; others < 2; others++)
        for (int i = 0, host = -1, room = 0; i < sub->npes && left; i++) {
            if (sub->pes[i].host != host) {
                host = sub->pes[i].host;
                room = (host != slow_host) == others && k < hosts ? npes / hosts + (k < npes % hosts) : 0;
                k += room > 0;
            }
            used[i] |= room > 0;
            left -= room-- > 0;
        }
    /* If some hosts have fewer PEs than the first one, use any other PEs. */
    for (int i = 0; i < sub->npes && left; i++) {
        left -= !used[i];
        used[i] = 1;
    }
    for (int i = 0, n = 0; i < sub->npes; i++)
        if (used[i])
            order[n++] = i;
}

/* ------------------------------------------------------------------ the runs */

/* Run copies of a point's work on all its PEs, and store the slowest host. Simulated PEs of one host do not disturb
 * each other, so a simulation uses one PE of each host. */
static int run_copies(struct runs *runs, const struct point *p, struct work_result *r, struct hrun_error *err)
{
    const struct hrun_subcluster *sub = &runs->c->cluster->subs[p->sub];
    int simulated = runs->c->cluster->platform != NULL, procs = p->config.procs[p->sub], n = 0;
    autofree int *pes = xcalloc((size_t)(p->config.pes[p->sub] * procs) + 1, sizeof *pes);
    struct copy_result slowest;

    if (simulated && procs > sub->cores_per_pe)
        return hrun_fail(err, HRUN_EINVAL, "%d processes on each PE of %s share %s, and engine smpi cannot load a core "
                         "with copies of a run: use --procs %d", procs, sub->name,
                         hrun_counted(sub->cores_per_pe, "core").s, sub->cores_per_pe);
    for (int pe = 0; pe < p->config.pes[p->sub]; pe++)
        for (int k = 0; k < procs; k++)
            if (!simulated || n == 0 || sub->pes[pe].host != sub->pes[pes[n - 1]].host)
                pes[n++] = pe;
    if (copies_run(runs, p, pes, n, &slowest, err))
        return -1;
    *r = slowest.result;
    if (r->ok)
        runs->slow_host[p->sub] = sub->pes[slowest.pe].host + 1;
    return 0;
}

/* If an earlier campaign ran the copies, the slowest host is not known: find it by the copies with the least work. */
static int find_slow_host(struct runs *runs, const struct point *p, struct work_result *r, struct hrun_error *err)
{
    const struct hrun_subcluster *sub = &runs->c->cluster->subs[p->sub];
    const struct point *least = NULL;

    r->ok = 1;
    for (int i = 0; i < runs->g->n; i++) {
        const struct point *q = &runs->g->v[i];

        if (q->copies && q->sub == p->sub && q->config.procs[q->sub] == p->config.procs[p->sub] &&
            (!least || q->work < least->work))
            least = q;
    }
    return least && !runs->slow_host[p->sub] && sub->pes[0].host != sub->pes[sub->npes - 1].host
           ? run_copies(runs, least, r, err) : 0;
}

/* Keep the idle PEs of the run's hosts busy with copies. *out is NULL if no PE is idle, in a simulation, and on
 * failure. */
static int load_rest(struct runs *runs, const struct point *p, const int *order, struct copies **out,
                     struct hrun_error *err)
{
    const struct hrun_subcluster *sub = &runs->c->cluster->subs[p->sub];
    autofree int *rest = xcalloc((size_t)(sub->npes * p->config.procs[p->sub]) + 1, sizeof *rest);
    int n = 0;

    for (int k = 0; k < sub->npes && !runs->c->cluster->platform; k++) {
        int is_used = 0, host_used = 0;

        for (int j = 0; j < p->config.pes[p->sub]; j++) {
            is_used |= order[j] == k;
            host_used |= sub->pes[order[j]].host == sub->pes[k].host;
        }
        for (int m = 0; m < p->config.procs[p->sub] && host_used && !is_used; m++)
            rest[n++] = k;
    }
    *out = n ? copies_start(runs, p, rest, n, err) : NULL;
    return n && !*out ? -1 : 0;
}

/* Run a point with several processes. */
static int run_together(struct runs *runs, const struct point *p, const struct work *w, struct work_result *r,
                        struct hrun_error *err)
{
    struct context *c = runs->c;
    autofree int *order = xcalloc((size_t)p->config.pes[p->sub] + 1, sizeof *order);
    struct hrun_layout *l;
    struct copies *rest = NULL;
    int rc;

    if (find_slow_host(runs, p, r, err))
        return -1;
    loaded_spread(&c->cluster->subs[p->sub], p->config.pes[p->sub], runs->slow_host[p->sub] - 1, order);
    l = hrun_layout_create_placed(c->cluster, &p->config, order, err);
    if (!l)
        return -1;
    placement_fill_threads(c, l);
    rc = r->ok && (load_rest(runs, p, order, &rest, err) || runs_start(w, l, r, err)) ? -1 : 0;
    copies_end(rest);
    hrun_layout_destroy(l);
    return rc;
}

int loaded_run(struct runs *runs, const struct point *p, const struct work *w, struct work_result *r,
               struct hrun_error *err)
{
    return p->copies ? run_copies(runs, p, r, err) : run_together(runs, p, w, r, err);
}
