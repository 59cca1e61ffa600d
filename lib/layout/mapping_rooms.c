/* mapping_rooms.c - the units of hosts for ranks that the user maps; see mapping.h */
#include "layout/mapping.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>

void mapping_release(struct mapping *w)
{
    for (int h = 0; w->rooms && h < w->cluster->nhosts; h++) {
        free(w->rooms[h].cores);
        free(w->rooms[h].units);
        free(w->rooms[h].load_of);
        free(w->rooms[h].group);
    }
    for (int i = 0; w->procs && i < w->nprocs; i++)
        free(w->procs[i].units);
    free(w->rooms);
    free(w->procs);
    free(w->first);
    free(w->ranks);
    free(w->listed);
}

/* The core with this number, or NULL. */
static struct hrun_core *find_core(struct room *r, int number)
{
    int low = 0, high = r->ncores;

    while (low < high) {
        int mid = low + (high - low) / 2;

        if (r->cores[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->ncores && r->cores[low].number == number ? &r->cores[low] : NULL;
}

/* Set at[host][core] to the PE that contains the core; FORBIDDEN: the run may not use that PE. */
enum { NOWHERE = -1, FORBIDDEN = -2 };

static void note_pes(struct mapping *w, const int *npes, const char *const *busy, int **at)
{
    const struct hrun_cluster *c = w->cluster;
    autofree int *usable = xcalloc((size_t)c->nsubs + 1, sizeof *usable), *order = NULL;
    const int *next;

    layout_usable(c, npes, busy, usable);
    next = order = hrun_layout_order(c, usable, busy, NULL);
    for (int i = 0; i < c->nsubs; i++) {
        for (int p = 0; p < c->subs[i].npes; p++) {
            const struct hrun_pe *pe = &c->subs[i].pes[p];
            autofree int *v = NULL;
            int good = usable[i] > 0 && *next == p;
            size_t n = 0;

            next += good;
            usable[i] -= good;
            if (pe->cores && *pe->cores)
                layout_read_list(pe->cores, 0, &v, &n);
            for (size_t k = 0; k < n; k++) {
                struct hrun_core *core = find_core(&w->rooms[pe->host], v[k]);

                if (core)
                    at[pe->host][core - w->rooms[pe->host].cores] = good ? (int)w->first[i] + p : FORBIDDEN;
            }
        }
    }
}

/* 1 if the user excludes the core, else 0. */
static int is_left_out(const struct mapping *w, int host, int core)
{
    int listed = !w->m.cpus;
    long first, last;

    for (const char *p = w->m.cpus; p && *p && !listed; p += *p == ',') {
        p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last);
        if (!p)
            break;
        listed = core >= first && core <= last;
    }
    return !listed || (w->m.nolocal && w->cluster->hosts[host].is_local);
}

/* Set the units of a host and its limits of ranks. at: as in note_pes. */
static void fill_room(struct mapping *w, int host, const int *at)
{
    const struct hrun_cluster *c = w->cluster;
    struct room *r = &w->rooms[host];
    autofree int *pus = NULL;
    int counts_threads = w->m.hwthreads, granted = c->hosts[host].slots, ncounted = 0, nin = 0, most = 0;
    /* Ranks may use cores outside of PEs if the host's slots are from the user and not from a resource manager. */
    int open = granted > 0 && (c->manager == HRUN_MANAGER_NONE || c->manager == HRUN_MANAGER_OPENMPI);
    size_t npus = 0;

    for (int k = 0; k < r->ncores; k++) {
        npus = 0;
        if (w->threads && *r->cores[k].pus)
            layout_read_list(r->cores[k].pus, 0, &pus, &npus);
        most += npus ? (int)npus : 1;
    }
    r->units = xcalloc((size_t)most + 1, sizeof *r->units);
    r->load_of = xcalloc((size_t)most + 1, sizeof *r->load_of);
    r->group = xcalloc((size_t)most + 1, sizeof *r->group);
    for (int k = 0; k < r->ncores; k++) {
        if (at[k] == FORBIDDEN || (at[k] == NOWHERE && !open) || is_left_out(w, host, r->cores[k].number))
            continue;
        npus = 0;
        if (w->threads && *r->cores[k].pus)
            layout_read_list(r->cores[k].pus, 0, &pus, &npus);
        for (size_t i = 0; i < (npus ? npus : 1); i++)
            r->units[r->n++] = (struct unit){ &r->cores[k], npus ? pus[i] : -1, at[k], 0, NULL };
        ncounted += counts_threads && npus ? (int)npus : 1;
        nin += at[k] == NOWHERE ? 0 : counts_threads && npus ? (int)npus : 1;
    }
    for (int u = 0; u < r->n && r->home < 0; u++)
        r->home = r->units[u].where;
    r->slots = ncounted / w->pes < nin || !open ? ncounted / w->pes : nin;
    /* More slots than cores are useful only if ranks need no exclusive cores. */
    if (open && r->slots == nin && granted > nin && w->pes == 1 && (w->m.bind_to == HRUN_MAP_NONE || w->m.shares))
        r->slots = granted;
    r->most = r->slots;
    if (granted && r->slots > granted)
        r->slots = granted;
    if (open)
        r->most = r->slots;
    if (!nin)
        r->n = r->slots = r->most = 0;
}

int mapping_begin(struct mapping *w, struct hrun_cluster *c, const struct hrun_mapping *m, const int *npes,
                  const char *const *busy, struct hrun_error *err)
{
    int **at = xcalloc((size_t)c->nhosts + 1, sizeof *at), rc = -1;

    *w = (struct mapping){ .cluster = c, .m = *m, .pes = m->pes ? m->pes : 1 };
    w->threads = m->hwthreads || m->by == HRUN_MAP_HWTHREAD || m->bind_to == HRUN_MAP_HWTHREAD;
    w->rooms = xcalloc((size_t)c->nhosts + 1, sizeof *w->rooms);
    w->first = xcalloc((size_t)c->nsubs + 1, sizeof *w->first);
    for (int i = 0; i < c->nsubs; i++)
        w->first[i + 1] = w->first[i] + (size_t)c->subs[i].npes;
    for (int h = 0; h < c->nhosts; h++) {
        w->rooms[h].home = NOWHERE;
        if (hrun_host_cores(c, h, &w->rooms[h].cores, &w->rooms[h].ncores, err))
            goto out;
        at[h] = xmalloc(((size_t)w->rooms[h].ncores + 1) * sizeof **at);
        for (int k = 0; k < w->rooms[h].ncores; k++)
            at[h][k] = NOWHERE;
    }
    note_pes(w, npes, busy, at);
    for (int h = 0; h < c->nhosts; h++)
        fill_room(w, h, at[h]);
    rc = 0;
out:
    for (int h = 0; h < c->nhosts; h++)
        free(at[h]);
    free(at);
    return rc;
}
