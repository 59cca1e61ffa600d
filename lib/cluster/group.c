/* group.c - hosts -> sub-clusters without a cluster file: grouping, order, names; see cluster.h and internal.h for the
 * contracts */
#include "base/alloc.h"
#include "cluster/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hrun_group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = hrun_host_cut(c, h, level, h->cores, err);
    int ncores = 0, quota;

    if (!cut)
        return -1;
    for (int i = 0; i < cut->n; i++)
        ncores += cut->pes[i].ncores;
    quota = h->cpu_quota > 0 && h->cpu_quota < ncores ? (int)fmax(1, round(1000 * h->cpu_quota)) : 0;
    for (int i = 0; i < cut->n; i++) {
        const struct hrun_topo_pe *p = &cut->pes[i];
        uint64_t memory = hrun_host_memory(h, cut, i);
        struct hrun_pe pe = { host, i, p->cpuset, p->cores, p->core_pus, p->ncores, p->npus, memory };
        struct hrun_pe_key key = { hrun_host_cpu_model(h), hrun_topo_kind_name(h->topo, p->kind), level, p->ncores,
                                   p->npus, hrun_round_memory(memory), 0, NULL, 0, quota };
        int before = c->nsubs, sub = hrun_cluster_find_sub(c, 0, &key);

        if (c->nsubs > before || p->kind < c->subs[sub].kind)
            c->subs[sub].kind = p->kind;
        hrun_cluster_add_pe(c, sub, &pe);
    }
    return 0;
}

/* ---------------------------------------------------------------- order */

/* Compare two sub-clusters by their properties, as cluster.h describes; no two are equal. */
static int compare_grouped_subs(const void *pa, const void *pb)
{
    const struct hrun_subcluster *a = pa, *b = pb;
    uint64_t ma = hrun_round_memory(a->memory_bytes), mb = hrun_round_memory(b->memory_bytes);
    int order = strcmp(a->cpu_model, b->cpu_model);

    order = order ? order : a->kind - b->kind;
    order = order ? order : strcmp(a->core_kind, b->core_kind);
    order = order ? order : b->cores_per_pe - a->cores_per_pe;
    order = order ? order : b->pus_per_pe - a->pus_per_pe;
    order = order ? order : (mb > ma) - (mb < ma);
    if (!order && a->quota_permille != b->quota_permille)       /* no quota first, then the larger ones */
        order = !a->quota_permille || (b->quota_permille && a->quota_permille > b->quota_permille) ? -1 : 1;
    return order;
}

/* ---------------------------------------------------------------- names */

/* The properties in which sub-clusters of one name may differ: cores, PUs, memory and CPU quota of a PE. */
enum mark { MARK_CORES, MARK_PUS, MARK_MEMORY, MARK_QUOTA, NMARKS };

static char *mark_text(const struct hrun_subcluster *s, enum mark m)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_addc(&b, '-');
    if (m == MARK_CORES)
        hrun_buf_addf(&b, "%dc", s->cores_per_pe);
    else if (m == MARK_PUS)
        hrun_buf_addf(&b, "%dt", s->pus_per_pe);
    else if (m == MARK_QUOTA && s->quota_permille)
        hrun_buf_addf(&b, "%.3gcpu", 1e-3 * s->quota_permille);
    else if (m == MARK_MEMORY && s->memory_bytes)
        hrun_add_short_memory(&b, hrun_round_memory(s->memory_bytes));
    else
        hrun_buf_adds(&b, m == MARK_QUOTA ? "noquota" : "unknown");
    return hrun_buf_detach(&b);
}

/* Append the mark to the names of those sub-clusters that differ in it from another one of their name. */
static void add_marks(const struct hrun_cluster *c, enum mark m, struct hrun_buf *names)
{
    autofree char **marks = xcalloc((size_t)c->nsubs, sizeof *marks);
    autofree char *differs = xcalloc((size_t)c->nsubs, 1);

    for (int i = 0; i < c->nsubs; i++) {
        marks[i] = mark_text(&c->subs[i], m);
        for (int k = 0; k < i; k++)
            if (!strcmp(names[i].data, names[k].data) && strcmp(marks[i], marks[k]))
                differs[i] = differs[k] = 1;
    }
    for (int i = 0; i < c->nsubs; i++) {
        if (differs[i])
            hrun_buf_adds(&names[i], marks[i]);
        free(marks[i]);
    }
}

void hrun_group_finish(struct hrun_cluster *c, enum hrun_level level)
{
    autofree struct hrun_buf *names = xcalloc((size_t)c->nsubs, sizeof *names);

    if (c->nsubs > 1)
        qsort(c->subs, (size_t)c->nsubs, sizeof *c->subs, compare_grouped_subs);
    for (int i = 0; i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];

        hrun_buf_init(&names[i]);
        if (strcmp(s->cpu_model, "unknown"))
            hrun_add_slug(&names[i], s->cpu_model);
        if (!names[i].len)
            hrun_buf_adds(&names[i], hrun_level_name(level));
        if (s->core_kind[0]) {
            hrun_buf_addc(&names[i], '-');
            hrun_add_slug(&names[i], s->core_kind);
        }
    }
    for (enum mark m = MARK_CORES; m < NMARKS; m++)
        add_marks(c, m, names);
    for (int i = 0; i < c->nsubs; i++) {
        hrun_cluster_name_sub(c, i, names[i].data, 0);
        hrun_buf_release(&names[i]);
    }
}
