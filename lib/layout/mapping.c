/* mapping.c - map, number and bind ranks by the user's options; see layout.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"
#include "layout/mapping.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- objects */

/* The number of the object of kind `what` that contains unit u, or -1. OWN_PE: its PE. */
static int object_of(const struct room *r, int u, int what)
{
    if (what == OWN_PE)
        return r->units[u].where;
    if (what == HRUN_MAP_HWTHREAD)
        return u;
    return what >= HRUN_MAP_NODE ? r->units[u].core->at[what - HRUN_MAP_NODE] : 0;
}

/* Set v[r->n] to the first unit of each object of kind `what`. Result: number of objects. */
static int list_objects(const struct room *r, int what, int *v)
{
    int n = 0;

    for (int u = 0; u < r->n; u++) {
        int number = object_of(r, u, what), k = n;

        while (k > 0 && object_of(r, v[k - 1], what) != number)
            k--;
        if (number >= 0 && !k)
            v[n++] = u;
    }
    return n;
}

static int fail_object(const struct mapping *w, int host, int what, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf has = HRUN_BUF_INIT;

    for (int k = HRUN_MAP_NODE; k <= HRUN_MAP_CORE; k++)
        if (w->rooms[host].n && object_of(&w->rooms[host], 0, k) >= 0)
            hrun_buf_addf(&has, "%s%s", has.len ? ", " : "", layout_map_name(k));
    return hrun_fail(err, HRUN_EINVAL, "host %s has no %s%s: choose one of %s", w->cluster->hosts[host].name,
                     layout_map_name(what),
                     w->cluster->hosts[host].topo ? "" : ", as its topology is not known", has.data);
}

/* ---------------------------------------------------------------- mapping */

/* Fail: there is not enough room for n ranks. asked: n of the option -n, 0 if not given. */
static int fail_full(const struct mapping *w, int n, int asked, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf how = HRUN_BUF_INIT;
    int nhosts = w->cluster->nhosts;

    if (w->m.per)
        hrun_buf_addf(&how, "%d on each %s", w->m.per, layout_map_name((int)w->m.by));
    else
        hrun_buf_addf(&how, "by %s", layout_map_name((int)w->m.by));
    if (w->m.pes > 1)
        hrun_buf_addf(&how, ", %d %s for each", w->m.pes, w->m.hwthreads ? "hardware threads" : "cores");
    return hrun_fail(err, HRUN_EINVAL, "%s%d%s, %s: there is room for %d on %s: give fewer%s", asked ? "-n " : "", n,
                     asked ? "" : " processes", how.data, w->nprocs, hrun_counted(nhosts, "host").s,
                     asked && w->m.per && !w->m.wraps ? "" : ", or --oversubscribe");
}

/* Set w->listed to the hosts of the first n ranks (0: all) of the user's list of hosts. */
static int list_hosts(struct mapping *w, int n, struct hrun_error *err)
{
    const struct hrun_cluster *c = w->cluster;
    size_t len;

    w->listed = xcalloc(strlen(w->m.hosts) + 1, sizeof *w->listed);
    for (const char *p = w->m.hosts; *p && (!n || w->nprocs < n); p += len + (p[len] == ',')) {
        int h = mapping_find_host(c, p, len = strcspn(p, ","));

        if (h < 0)
            return hrun_fail(err, HRUN_EINVAL, "host '%.*s' does not belong to this run: name it with --host or in the "
                             "host file", (int)len, p);
        if (w->rooms[h].count++ >= w->rooms[h].slots && !w->m.oversubscribes)
            return hrun_fail(err, HRUN_EINVAL, "the list of hosts names %s more often than the %s that it takes: name "
                             "it less often, or give --oversubscribe", c->hosts[h].name,
                             hrun_counted(w->rooms[h].slots, "process").s);
        w->over |= w->rooms[h].count > w->rooms[h].slots;
        w->listed[w->nprocs++] = h;
    }
    return n <= w->nprocs ? 0 : hrun_fail(err, HRUN_EINVAL, "-n %d: the list of hosts has only %d entries: name more "
                                          "hosts, or start fewer processes",
                                          n, w->nprocs);
}

/* Set the number of ranks on each host, n in all (0: the number that the mapping gives). nobjects: objects per host. */
static int count_host_ranks(struct mapping *w, int n, const int *nobjects, struct hrun_error *err)
{
    int nhosts = w->cluster->nhosts, used = 0, asked = n, left, before;
    long long slots = 0, all = 0;

    for (int h = 0; h < nhosts; h++) {
        struct room *r = &w->rooms[h];

        slots += r->slots;
        all += w->m.per ? (long long)w->m.per * nobjects[h] : r->slots;
        used += r->n > 0;
    }
    if (!n && all > INT_MAX / 2)
        return hrun_fail(err, HRUN_EINVAL, "the mapping gives %lld processes, too many", all);
    n = n ? n : (int)all;
    if (!n)
        return hrun_fail(err, HRUN_EINVAL, "no host has room for a process%s", w->pes > 1 ? " of so many cores" : "");
    for (int h = 0; h < nhosts; h++)
        w->rooms[h].limit = n > slots && !w->m.oversubscribes ? w->rooms[h].most : w->rooms[h].slots;
    w->over = n > slots && w->m.oversubscribes;
    for (int h = 0; h < nhosts && w->m.oversubscribes; h++)
        if (w->rooms[h].n)
            w->rooms[h].limit = w->m.per && !w->m.wraps ? INT_MAX / 2
                                : w->rooms[h].limit + (n > slots ? (int)((n - slots + used - 1) / used) : 0);
    left = n;
    do {
        before = left;
        for (int h = 0; h < nhosts; h++) {
            struct room *r = &w->rooms[h];
            int take = w->m.per ? w->m.per * nobjects[h] : w->m.by == HRUN_MAP_NODE ? 1
                       : w->m.span && w->m.by != HRUN_MAP_SLOT ? nobjects[h] : r->limit;

            take = take < left ? take : left;
            take = take < r->limit - r->count ? take : r->limit - r->count;
            r->count += take;
            left -= take;
        }
    } while (left && left < before && (!w->m.per || w->m.wraps));
    w->nprocs = n - left;
    return w->nprocs == n ? 0 : fail_full(w, n, asked, err);
}

/* Make the processes of each host, with their objects. */
static int map_ranks(struct mapping *w, int n, struct hrun_error *err)
{
    int nhosts = w->cluster->nhosts, p = 0, what = w->m.by;
    autofree int *nobjects = xcalloc((size_t)nhosts + 1, sizeof *nobjects);

    for (int h = 0; h < nhosts; h++) {
        nobjects[h] = list_objects(&w->rooms[h], what, w->rooms[h].group);
        if (w->rooms[h].n && !nobjects[h])
            return fail_object(w, h, what, err);
    }
    if (w->m.hosts ? list_hosts(w, n, err) : count_host_ranks(w, n, nobjects, err))
        return -1;
    w->procs = xcalloc((size_t)w->nprocs + 1, sizeof *w->procs);
    for (int h = 0; h < nhosts; h++) {
        w->rooms[h].first = p;
        for (int k = 0; k < w->rooms[h].count; k++, p++) {
            int u = w->rooms[h].group[(w->m.per ? k / w->m.per : k) % nobjects[h]];

            w->procs[p] = (struct proc){ h, what, object_of(&w->rooms[h], u, what), u, 0, NULL, 0 };
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- ranking */

/* Give the next rank to the first process without a rank in the object of unit u on host h; all = 1: give ranks to all
 * processes there. Result: 1 if a process got a rank, else 0. */
static int rank_next(struct mapping *w, int h, int u, int what, int all)
{
    struct room *r = &w->rooms[h];
    int any = 0;

    for (int k = r->first; k < r->first + r->count; k++) {
        struct proc *p = &w->procs[k];

        /* Skip processes whose place neither contains the object of unit u nor is contained in it. */
        if (p->ranked || (object_of(r, u, p->what) != p->number && object_of(r, p->at, what) != object_of(r, u, what)))
            continue;
        p->ranked = any = 1;
        w->ranks[w->nranked++] = k;
        if (!all)
            break;
    }
    return any;
}

/* Give ranks to processes in the objects of hosts first..last, in rounds over the objects. */
static void rank_round(struct mapping *w, int first, int last, int what, int all)
{
    int any;

    do {
        any = 0;
        for (int h = first; h <= last; h++) {
            int n = w->rooms[h].count ? list_objects(&w->rooms[h], what, w->rooms[h].group) : 0;

            for (int k = 0; k < n; k++)
                any |= rank_next(w, h, w->rooms[h].group[k], what, all);
        }
    } while (any);
    for (int h = first; h <= last; h++)     /* processes in no object of this kind */
        while (w->rooms[h].count && rank_next(w, h, 0, HRUN_MAP_SLOT, 0))
            ;
}

static int number_ranks(struct mapping *w, struct hrun_error *err)
{
    int what = w->m.rank_by, last = w->cluster->nhosts - 1;

    if (what == HRUN_MAP_NONE)
        what = w->m.by;
    if (what == HRUN_MAP_UNSET)
        what = w->m.per ? HRUN_MAP_SLOT : w->m.by;
    for (int h = 0; h <= last; h++)
        if (w->rooms[h].count && !list_objects(&w->rooms[h], what, w->rooms[h].group))
            return fail_object(w, h, what, err);
    w->ranks = xcalloc((size_t)w->nprocs + 1, sizeof *w->ranks);
    while (w->m.wraps && !w->m.rank_by && w->nranked < w->nprocs)     /* mpiexec's -ppn */
        for (int h = 0; h <= last; h++)
            for (int k = 0; k < w->m.per && w->rooms[h].count; k++)
                rank_next(w, h, 0, HRUN_MAP_SLOT, 0);
    while (w->listed && w->nranked < w->nprocs)
        rank_next(w, w->listed[w->nranked], 0, HRUN_MAP_SLOT, 0);
    if (what == HRUN_MAP_NODE || (w->m.rank_span && what != HRUN_MAP_SLOT))
        rank_round(w, 0, last, what, 0);
    for (int h = 0; h <= last && w->nranked < w->nprocs; h++)
        rank_round(w, h, h, what, w->m.rank_fill);
    return 0;
}

/* ---------------------------------------------------------------- binding */

/* Set r->group[u] to the first unit of u's object, and r->load_of to 0. */
static void group_units(struct room *r, int what)
{
    for (int u = 0; u < r->n; u++) {
        int number = object_of(r, u, what), g = u;

        for (int k = u; k-- > 0 && g == u; )
            if (object_of(r, k, what) == number)
                g = r->group[k];
        r->group[u] = g;
        r->load_of[u] = 0;
    }
}

/* The kind memory node, else package, if on all hosts each object of the kind has enough units for a rank; else
 * `otherwise`. After mapping, only hosts with ranks count. */
static int memory_object(const struct mapping *w, int otherwise)
{
    for (int wide = HRUN_MAP_NODE + HRUN_OBJECT_NUMA; wide >= HRUN_MAP_NODE + HRUN_OBJECT_PACKAGE; wide--) {
        int all = 1;

        for (int h = 0; h < w->cluster->nhosts && all; h++) {
            struct room *r = &w->rooms[h];

            if (!(w->nprocs ? r->count : r->n))
                continue;
            group_units(r, wide);
            for (int u = 0; u < r->n; u++)
                r->load_of[r->group[u]]++;
            for (int u = 0; u < r->n && all; u++)
                all = object_of(r, u, wide) >= 0 && r->load_of[r->group[u]] >= w->pes;
        }
        if (all)
            return wide;
    }
    return otherwise;
}

/* Choose the units of p with the fewest processes in its place. If a process has one unit, the unit is in the object to
 * bind to with the fewest processes. */
static int choose_units(struct mapping *w, struct proc *p, struct hrun_error *err)
{
    struct room *r = &w->rooms[p->host];
    const char *host = w->cluster->hosts[p->host].name;
    const char *place = layout_map_name(p->what > HRUN_MAP_SLOT ? p->what : HRUN_MAP_NODE);
    int group = -1, shares = w->m.shares || w->m.oversubscribes || w->bind == HRUN_MAP_NONE;

    for (int u = 0; u < r->n && w->pes == 1; u++)
        if (object_of(r, u, p->what) == p->number &&
            (group < 0 || r->load_of[r->group[u]] < r->load_of[group]))
            group = r->group[u];
    p->units = xcalloc((size_t)w->pes, sizeof *p->units);
    for (int i = 0; i < w->pes; i++) {
        int best = -1;

        for (int u = 0; u < r->n; u++)
            if (object_of(r, u, p->what) == p->number && (group < 0 || r->group[u] == group) && r->units[u].mine != p &&
                (best < 0 || r->units[u].load < r->units[best].load))
                best = u;
        if ((best < 0 || (r->units[best].load && !shares)) && w->pes > 1)
            return hrun_fail(err, HRUN_EINVAL, "host %s: %d %s are wanted for each process, and %s %d has %d left for "
                             "one more: give fewer", host, w->pes, w->threads ? "hardware threads" : "cores", place,
                             p->number, i);
        if (best < 0 || (r->units[best].load && !shares))
            return hrun_fail(err, HRUN_EINVAL, "host %s: there are more processes than %s in %s %d: give fewer, or "
                             "--bind-to %s:overload-allowed", host, w->threads ? "hardware threads" : "cores", place,
                             p->number, layout_map_name(w->bind));
        r->units[best].load++;
        r->units[best].mine = p;
        r->load_of[r->group[best]]++;
        w->shared |= r->units[best].load > 1;
        p->units[p->nunits++] = best;
    }
    return 0;
}

int mapping_bind(struct mapping *w, struct hrun_error *err)
{
    int what = w->threads ? HRUN_MAP_HWTHREAD : HRUN_MAP_CORE;

    /* The default of Open MPI 4.1: no binding if hosts are oversubscribed. Ranks mapped by an object are bound to the
     * object, ranks with n cores to their cores, one or two other ranks to cores, more to memory nodes. */
    w->bind = w->m.bind_to ? (int)w->m.bind_to : w->over ? HRUN_MAP_NONE
              : w->m.by > HRUN_MAP_NODE && !w->m.per && !w->m.pes ? (int)w->m.by
              : w->m.pes || w->nprocs <= 2 ? what : memory_object(w, what);
    for (int h = 0; h < w->cluster->nhosts; h++) {
        if (!w->rooms[h].count)
            continue;
        if (object_of(&w->rooms[h], 0, w->bind) < 0) {
            if (!w->m.if_supported)
                return fail_object(w, h, w->bind, err);
            w->bind = HRUN_MAP_NONE;
        }
    }
    for (int h = 0; h < w->cluster->nhosts; h++)
        group_units(&w->rooms[h], w->bind);
    for (int p = 0; p < w->nprocs; p++)
        if (choose_units(w, &w->procs[p], err))
            return -1;
    return 0;
}

/* ---------------------------------------------------------------- the layout */

/* Set cores and PUs of a rank to the units that p is bound to. */
static void set_rank_binding(const struct mapping *w, const struct proc *p, struct hrun_layout *l,
                             struct hrun_rank *rank)
{
    const struct room *r = &w->rooms[p->host];
    autofree int *pus = NULL, *numbers = xcalloc((size_t)r->n + 1, sizeof *numbers);
    int known = 1, last = -1;
    int exact = w->exact || w->pes > 1 || w->bind == HRUN_MAP_HWTHREAD;
    size_t npus = 0, n = 0;

    rank->ncores = 0;
    for (int u = 0; u < r->n; u++) {
        int in = w->bind == HRUN_MAP_NONE;

        for (int i = 0; i < p->nunits && !in; i++)
            in = p->units[i] == u || (!exact && object_of(r, u, w->bind) == object_of(r, p->units[i], w->bind));
        if (!in)
            continue;
        numbers[n++] = r->units[u].core->number;
        rank->ncores += r->units[u].core->number != last;
        last = r->units[u].core->number;
        known &= *r->units[u].core->pus != 0;
        if (r->units[u].pu >= 0) {
            pus = xrealloc(pus, (npus + 1) * sizeof *pus);
            pus[npus++] = r->units[u].pu;
        } else if (*r->units[u].core->pus) {
            layout_read_list(r->units[u].core->pus, 0, &pus, &npus);
        }
    }
    rank->cpuset = known && npus ? layout_keep_list(&l->texts, pus, npus) : "";
    rank->cores = layout_keep_list(&l->texts, numbers, n);
}

static struct hrun_place pe_at(const struct mapping *w, int where)
{
    struct hrun_place at = { 0, 0 };

    while ((size_t)where >= w->first[at.sub + 1])
        at.sub++;
    at.pe = where - (int)w->first[at.sub];
    return at;
}

void mapping_assign(const struct mapping *w, struct hrun_layout *l)
{
    hrun_strvec_release(&l->texts);
    l->bound = w->bind;
    l->mapped = w->m.by;
    for (int k = 0; k < w->nprocs; k++) {
        const struct proc *p = &w->procs[w->ranks ? w->ranks[k] : k];
        const struct room *r = &w->rooms[p->host];
        int where = r->units[p->units[0]].where;
        struct hrun_rank *rank = &l->ranks[k];
        struct hrun_place place = pe_at(w, where < 0 ? r->home : where);
        const struct hrun_pe *pe = &l->cluster->subs[place.sub].pes[place.pe];

        set_rank_binding(w, p, l, rank);
        rank->sub = place.sub;
        rank->pe = place.pe;
        rank->host = p->host;
        l->other_binding |= strcmp(rank->cpuset, pe->cpuset ? pe->cpuset : "") || strcmp(rank->cores, pe->cores);
        l->splits_cores |= r->units[p->units[0]].pu >= 0 && w->bind == HRUN_MAP_HWTHREAD;
        for (int i = 1; i < p->nunits; i++) {       /* further PEs of the rank */
            where = r->units[p->units[i]].where;
            if (where < 0 || where == r->units[p->units[i - 1]].where)
                continue;
            l->more = xrealloc(l->more, ((size_t)l->nmore + 1) * sizeof *l->more);
            l->more[l->nmore++] = pe_at(w, where);
        }
    }
}

struct hrun_layout *hrun_layout_map(struct hrun_cluster *cluster, const struct hrun_mapping *m, int n,
                                    const int *npes, const char *const *busy, struct hrun_error *err)
{
    struct hrun_layout *l = NULL;
    struct mapping w;
    int rc = mapping_begin(&w, cluster, m, npes, busy, err), most = n;

    for (int h = 0; h < cluster->nhosts && !rc && !n && most <= 2; h++)
        most += w.rooms[h].slots;
    if (!rc && !w.m.by)     /* as Open MPI 4.1 */
        w.m.by = m->rankfile || m->hosts ? HRUN_MAP_SLOT : most > 2 || m->pes ? memory_object(&w, HRUN_MAP_SLOT)
                 : w.threads ? HRUN_MAP_HWTHREAD : HRUN_MAP_CORE;
    if (!rc)
        rc = m->rankfile ? mapping_read(&w, n, err)
             : map_ranks(&w, n, err) || mapping_bind(&w, err) || number_ranks(&w, err);
    if (!rc) {
        l = layout_blank(cluster, w.nprocs);
        mapping_assign(&w, l);
        layout_finish(l);
        l->shared_cores = w.shared;
    }
    mapping_release(&w);
    return l;
}

int hrun_layout_bind(struct hrun_layout *l, struct hrun_cluster *cluster, const struct hrun_mapping *m,
                     const int *npes, const char *const *busy, struct hrun_error *err)
{
    struct mapping w;
    int rc = mapping_begin(&w, cluster, m, npes, busy, err);

    w.nprocs = rc ? 0 : l->nranks;
    w.m.shares = 1;     /* the configuration determines how many processes share a PE */
    w.procs = xcalloc((size_t)l->nranks + 1, sizeof *w.procs);
    for (int k = 0; k < l->nranks && !rc; k++) {
        const struct hrun_rank *rank = &l->ranks[k];

        w.procs[k] = (struct proc){ rank->host, OWN_PE, (int)w.first[rank->sub] + rank->pe, 0, 0, NULL, 0 };
        w.rooms[rank->host].count++;
    }
    if (!rc)
        rc = mapping_bind(&w, err);
    if (!rc)
        mapping_assign(&w, l);
    mapping_release(&w);
    return rc;
}

int hrun_layout_config(const struct hrun_layout *l, struct hrun_config *out)
{
    const struct hrun_cluster *c = l->cluster;
    int even = 1;

    *out = (struct hrun_config){ .nsubs = c->nsubs };
    for (int i = 0; i < c->nsubs; i++) {
        autofree int *on = xcalloc((size_t)c->subs[i].npes + 1, sizeof *on);

        for (int r = 0; r < l->nranks; r++)
            if (l->ranks[r].sub == i)
                out->pes[i] += !on[l->ranks[r].pe]++;
        for (int p = 0; p < c->subs[i].npes; p++) {
            even &= !on[p] || !out->procs[i] || on[p] == out->procs[i];
            out->procs[i] = on[p] ? on[p] : out->procs[i];
        }
    }
    return even;
}
