/* group.c - hosts -> sub-clusters without a cluster file: grouping, order, names; see cluster.h and internal.h for the
 * contracts */
#include "base/alloc.h"
#include "cluster/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sub-cluster of the last PE: the next one is mostly of the same. */
struct last {
    const struct hrun_topo_pe *like;
    uint64_t memory_bytes;
    int sub;
};

/* What the control group of a host grants, in thousandths of a CPU; 0: no fewer CPUs than its PEs have cores. */
static int quota_permille(const struct hrun_host *h, const struct hrun_cut *cut)
{
    int ncores = 0;

    for (int i = 0; i < cut->n; i++)
        ncores += cut->pes[i].ncores;
    return h->cpu_quota > 0 && h->cpu_quota < ncores ? (int)fmax(1, round(1000 * h->cpu_quota)) : 0;
}

static int find_sub_of_pe(struct hrun_cluster *c, const struct hrun_host *h, enum hrun_level level, int quota,
                          const struct hrun_topo_pe *pe, uint64_t memory_bytes)
{
    struct hrun_pe_key key = { hrun_host_cpu_model(h), hrun_topo_kind_name(h->topo, pe->kind), level, pe->ncores,
                               pe->npus, hrun_round_memory(memory_bytes), 0, NULL, 0, quota };
    int before = c->nsubs, sub = hrun_cluster_find_sub(c, 0, &key);

    if (c->nsubs > before || pe->kind < c->subs[sub].kind)
        c->subs[sub].kind = pe->kind;
    return sub;
}

int hrun_group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = hrun_host_cut(c, h, level, h->cores, err);
    struct last last = { NULL, 0, 0 };
    int quota = cut ? quota_permille(h, cut) : 0;

    if (!cut)
        return -1;
    for (int i = 0; i < cut->n; i++) {
        const struct hrun_topo_pe *p = &cut->pes[i];
        uint64_t memory = hrun_host_memory(h, cut, i);
        struct hrun_pe pe = { host, i, p->cpuset, p->cores, p->core_pus, p->ncores, p->npus, memory };

        if (!last.like || last.memory_bytes != memory || last.like->kind != p->kind ||
            last.like->ncores != p->ncores || last.like->npus != p->npus)
            last = (struct last){ p, memory, find_sub_of_pe(c, h, level, quota, p, memory) };
        hrun_cluster_add_pe(c, last.sub, &pe);
    }
    return 0;
}

/* ---------------------------------------------------------------- order */

/* By what they are; no two sub-clusters are equal in all of it. */
static int compare_grouped_subs(const void *pa, const void *pb)
{
    const struct hrun_subcluster *a = pa, *b = pb;
    uint64_t ma = hrun_round_memory(a->memory_bytes), mb = hrun_round_memory(b->memory_bytes);
    int order = strcmp(a->cpu_model, b->cpu_model);

    if (!order)
        order = a->kind - b->kind;
    if (!order)
        order = strcmp(a->core_kind, b->core_kind);
    if (!order)
        order = b->cores_per_pe - a->cores_per_pe;
    if (!order)
        order = b->pus_per_pe - a->pus_per_pe;
    if (!order)
        order = (mb > ma) - (mb < ma);
    if (!order && a->quota_permille != b->quota_permille)       /* no quota first, then the larger ones */
        order = !a->quota_permille || (b->quota_permille && a->quota_permille > b->quota_permille) ? -1 : 1;
    return order;
}

/* ---------------------------------------------------------------- names */

static int mark_cores(const struct hrun_subcluster *s, struct hrun_buf *out)
{
    if (out)
        hrun_buf_addf(out, "-%dc", s->cores_per_pe);
    return s->cores_per_pe;
}

static int mark_pus(const struct hrun_subcluster *s, struct hrun_buf *out)
{
    if (out)
        hrun_buf_addf(out, "-%dt", s->pus_per_pe);
    return s->pus_per_pe;
}

/* As an exponent and a fraction: what matters is whether two are equal. */
static int mark_memory(const struct hrun_subcluster *s, struct hrun_buf *out)
{
    uint64_t memory = hrun_round_memory(s->memory_bytes);
    int exponent = memory ? 63 - __builtin_clzll(memory) : -1;

    if (out) {
        hrun_buf_addc(out, '-');
        if (memory)
            hrun_add_short_memory(out, memory);
        else
            hrun_buf_adds(out, "unknown");
    }
    return exponent < 1 ? exponent : 2 * exponent + (int)(memory >> (exponent - 1) & 1);
}

static int mark_quota(const struct hrun_subcluster *s, struct hrun_buf *out)
{
    if (out) {
        if (s->quota_permille)
            hrun_buf_addf(out, "-%.3gcpu", 1e-3 * s->quota_permille);
        else
            hrun_buf_adds(out, "-noquota");
    }
    return s->quota_permille;
}

/* What may tell sub-clusters of one name apart. */
static int (*const marks[])(const struct hrun_subcluster *s, struct hrun_buf *out) = {
    mark_cores, mark_pus, mark_memory, mark_quota
};

static int same_base(char *const *bases, const struct hrun_cluster *c, int a, int b)
{
    return !strcmp(bases[a], bases[b]) && !strcmp(c->subs[a].core_kind, c->subs[b].core_kind);
}

/* How sub-cluster sub stands among those of its base that are equal to it in the marks before m: 1 when one of them
 * differs in m, 0 when none does, -1 when it is alone. */
static int tells_apart(const struct hrun_cluster *c, char *const *bases, int sub, size_t m)
{
    int alone = 1, differs = 0, same;

    for (int i = 0; i < c->nsubs && !differs; i++) {
        same = i != sub && same_base(bases, c, i, sub);
        for (size_t k = 0; k < m && same; k++)
            same = marks[k](&c->subs[i], NULL) == marks[k](&c->subs[sub], NULL);
        if (!same)
            continue;
        alone = 0;
        differs = marks[m](&c->subs[i], NULL) != marks[m](&c->subs[sub], NULL);
    }
    return alone ? -1 : differs;
}

/* The name of a sub-cluster: its base, its kind, and as many marks as tell it apart from others of that base. */
static void name_grouped_sub(struct hrun_cluster *c, char *const *bases, int sub)
{
    const struct hrun_subcluster *s = &c->subs[sub];
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int apart = 0;

    hrun_buf_adds(&b, bases[sub]);
    if (s->core_kind[0]) {
        hrun_buf_addc(&b, '-');
        hrun_add_slug(&b, s->core_kind);
    }
    for (size_t m = 0; m < sizeof marks / sizeof marks[0] && apart >= 0; m++) {
        apart = tells_apart(c, bases, sub, m);
        if (apart > 0)
            marks[m](s, &b);
    }
    hrun_cluster_name_sub(c, sub, b.data, 0);
}

void hrun_group_finish(struct hrun_cluster *c, enum hrun_level level)
{
    char **bases = xcalloc((size_t)c->nsubs + 1, sizeof *bases);
    struct hrun_buf b = HRUN_BUF_INIT;

    if (c->nsubs > 1)
        qsort(c->subs, (size_t)c->nsubs, sizeof *c->subs, compare_grouped_subs);
    for (int sub = 0; sub < c->nsubs; sub++) {
        if (strcmp(c->subs[sub].cpu_model, "unknown"))
            hrun_add_slug(&b, c->subs[sub].cpu_model);
        if (!b.len)
            hrun_buf_adds(&b, hrun_level_name(level));
        bases[sub] = hrun_buf_detach(&b);
    }
    for (int sub = 0; sub < c->nsubs; sub++)
        name_grouped_sub(c, bases, sub);
    for (int sub = 0; sub < c->nsubs; sub++)
        free(bases[sub]);
    free(bases);
}
