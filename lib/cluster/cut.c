/* cut.c - PEs of hosts whose topology is known, cut once for all equal hosts; see internal.h for the contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- cutting */

/* Cut a host whose answer lists the PUs that may be used there. */
static int cut_answered(const struct hrun_host *h, struct hrun_cut *cut, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_restrict(h->topo, cut->usable);
    struct hrun_topo_pe *all = NULL;
    int n = 0, rc = -1;

    cut->ncores = t ? hrun_topo_ncores(t, -1) : 0;
    if (!t) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' tells '%.60s' as the PUs that may be used there; install the same hrun "
                  "there", h->name, cut->usable);
    } else if (!cut->ncores) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' may use none of its cores: it tells PUs %.60s, and hwloc there knows "
                  "others", h->name, cut->usable);
    } else if (!hrun_topo_pes(t, HRUN_LEVEL_NODE, 0, &all, &n, err)) {
        for (int i = 0; i < n; i++)
            cut->memory += all[i].memory_bytes;
        rc = hrun_topo_pes(t, cut->level, cut->max_cores, &cut->pes, &cut->n, err);
    }
    hrun_topo_pes_free(all, n);
    hrun_topo_destroy(t);
    return rc;
}

static void cut_destroy(struct hrun_cut *cut)
{
    hrun_topo_pes_free(cut->pes, cut->n);
    free(cut->usable);
    free(cut);
}

static const char *usable_of(const struct hrun_host *h)
{
    return h->answer ? h->answer->usable : NULL;
}

const struct hrun_cut *hrun_host_cut(struct hrun_cluster *c, const struct hrun_host *h, enum hrun_level level,
                                     int max_cores, struct hrun_error *err)
{
    const char *usable = usable_of(h);
    struct hrun_cut *cut;

    /* From the last one, as consecutive hosts are often equal. */
    for (int i = c->ncuts - 1; i >= 0; i--) {
        cut = c->cuts[i];
        if (cut->topo == h->topo && cut->level == level && cut->max_cores == max_cores &&
            (cut->usable && usable ? !strcmp(cut->usable, usable) : cut->usable == usable))
            return cut;
    }
    hrun_grow(c->cuts, c->ncuts + 1, c->cuts_cap);
    cut = xcalloc(1, sizeof *cut);
    *cut = (struct hrun_cut){ h->topo, usable ? xstrdup(usable) : NULL, level, max_cores, NULL, 0, 0, 0 };
    if (usable ? cut_answered(h, cut, err) : hrun_topo_pes(h->topo, level, max_cores, &cut->pes, &cut->n, err)) {
        cut_destroy(cut);
        return NULL;
    }
    return c->cuts[c->ncuts++] = cut;
}

void hrun_cuts_destroy(struct hrun_cluster *c)
{
    for (int i = 0; i < c->ncuts; i++)
        cut_destroy(c->cuts[i]);
    free(c->cuts);
}

/* ---------------------------------------------------------------- what a host has */

/* The total of the host's answer, divided in proportion to the topology's memory of the PEs. */
uint64_t hrun_host_memory(const struct hrun_host *h, const struct hrun_cut *cut, int pe)
{
    const struct hrun_topo_pe *p = &cut->pes[pe];

    if (!usable_of(h) || h->answer->memory_bytes == cut->memory)
        return p->memory_bytes;
    if (cut->memory)
        return (uint64_t)((double)p->memory_bytes / (double)cut->memory * (double)h->answer->memory_bytes);
    return h->answer->memory_bytes / (uint64_t)cut->ncores * (uint64_t)p->ncores;
}

int hrun_host_ncores(struct hrun_cluster *c, const struct hrun_host *h, int kind, int *n, struct hrun_error *err)
{
    const struct hrun_cut *cut;
    int count = 0;

    if (!usable_of(h)) {
        *n = hrun_topo_ncores(h->topo, kind);
        return 0;
    }
    cut = hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err);
    if (!cut)
        return -1;
    for (int i = 0; i < cut->n; i++)
        count += kind < 0 || cut->pes[i].kind == kind;
    *n = count;
    return 0;
}

int hrun_host_granted(struct hrun_cluster *c, const struct hrun_host *h, int npus, int *ncores, struct hrun_error *err)
{
    const struct hrun_cut *cut = hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err);
    int left = npus, n = 0;

    if (!cut)
        return -1;
    while (n < cut->n && cut->pes[n].npus <= left)
        left -= cut->pes[n++].npus;
    *ncores = n ? n : 1;
    return 0;
}

const char *hrun_host_cpu_model(const struct hrun_host *h)
{
    return h->answer && h->answer->cpu_model ? h->answer->cpu_model : hrun_topo_cpu_model(h->topo);
}

static int by_core(const void *pa, const void *pb)
{
    const struct hrun_core *a = pa, *b = pb;

    return (a->number > b->number) - (a->number < b->number);
}

/* Of a host that is known by numbers. Result: how many there are in room[most]. */
static int numbered_cores(const struct hrun_cluster *c, int host, struct hrun_core *room, int most)
{
    int n = 0;

    for (int i = 0; i < c->nsubs; i++)
        for (int p = 0; p < c->subs[i].npes; p++) {
            const char *text = c->subs[i].pes[p].host == host ? c->subs[i].pes[p].cores : NULL;
            long first, last;

            while (text && *text && (text = hrun_range_next(text, HRUN_RANGES_MAX, &first, &last))) {
                for (long k = first; k <= last && n < most; k++)
                    room[n++] = (struct hrun_core){ (int)k, "", { 0, -1, -1, -1, -1, -1, (int)k } };
                text += *text == ',';
            }
        }
    return n;
}

int hrun_host_cores(struct hrun_cluster *c, int host, struct hrun_core **cores, int *n, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = h->topo ? hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err) : NULL;
    int count = 0;
    long number = 0;
    struct hrun_core *v;

    if (h->topo && !cut)
        return -1;
    for (int i = 0; i < c->nsubs && !cut; i++)
        for (int p = 0; p < c->subs[i].npes; p++)
            count += c->subs[i].pes[p].host == host ? c->subs[i].pes[p].ncores : 0;
    v = xcalloc((size_t)(cut ? cut->n : count) + 1, sizeof *v);
    for (int i = 0; cut && i < cut->n; i++) {
        hrun_range_next(cut->pes[i].cores, HRUN_RANGES_MAX, &number, &number);
        v[i] = (struct hrun_core){ .number = (int)number, .pus = cut->pes[i].cpuset };
        for (int k = 0; k < HRUN_NOBJECTS; k++)
            v[i].at[k] = hrun_topo_object(h->topo, v[i].number, (enum hrun_object)k);
    }
    *n = cut ? cut->n : numbered_cores(c, host, v, count);
    qsort(v, (size_t)*n, sizeof *v, by_core);
    *cores = v;
    return 0;
}
