/* cut.c - PEs of hosts whose topology is known, cut once for all equal hosts; see internal.h for the contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- cutting */

/* Cut a host whose answer contains the usable PUs. */
static int cut_answered(const struct hrun_host *h, struct hrun_cut *cut, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_restrict(h->topo, cut->usable);
    struct hrun_topo_pe *all = NULL;
    int n = 0, rc = -1;

    cut->ncores = t ? hrun_topo_ncores(t, -1) : 0;
    if (!t) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' reports '%.60s', which is no list of usable PUs; install the same hrun "
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

    /* Search from the last cut, because consecutive hosts are often equal. */
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

/* ---------------------------------------------------------------- properties of a host */

/* The total in the host's answer is divided in proportion to the PEs' memory in the topology. */
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

int hrun_host_cores(struct hrun_cluster *c, int host, struct hrun_core **cores, int *n, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = h->topo ? hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err) : NULL;
    struct hrun_core *v = NULL;
    long first = 0, last = 0;
    int count = 0, cap = 0;

    if (h->topo && !cut)
        return -1;
    for (int i = 0; cut && i < cut->n; i++) {
        struct hrun_core core = { .pus = cut->pes[i].cpuset };

        hrun_range_next(cut->pes[i].cores, HRUN_RANGES_MAX, &first, &last);
        core.number = (int)first;
        for (int k = 0; k < HRUN_NOBJECTS; k++)
            core.at[k] = hrun_topo_object(h->topo, core.number, (enum hrun_object)k);
        hrun_grow(v, count + 1, cap);
        v[count++] = core;
    }
    for (int i = 0; i < c->nsubs && !h->topo; i++)      /* described by numbers */
        for (int p = 0; p < c->subs[i].npes; p++) {
            const char *text = c->subs[i].pes[p].host == host ? c->subs[i].pes[p].cores : NULL;

            while (text && *text && (text = hrun_range_next(text, HRUN_RANGES_MAX, &first, &last))) {
                for (; first <= last; first++) {
                    hrun_grow(v, count + 1, cap);
                    v[count++] = (struct hrun_core){ (int)first, "", { 0, -1, -1, -1, -1, -1, (int)first } };
                }
                text += *text == ',';
            }
        }
    if (count)
        qsort(v, (size_t)count, sizeof *v, by_core);
    *cores = v;
    *n = count;
    return 0;
}
