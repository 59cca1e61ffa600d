/* pes.c - cutting the usable cores into PEs; see topo.h for the contracts */
#include "base/alloc.h"
#include "cluster/topo_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* hwloc's type of a level's objects; the machine itself for node. */
static hwloc_obj_type_t level_type(const struct hrun_topo *t, enum hrun_level level)
{
    static const hwloc_obj_type_t types[] = { HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE,
                                              HWLOC_OBJ_L3CACHE };

    return level == HRUN_LEVEL_CORE ? t->core_type : types[level];
}

int hrun_topo_has_level(const struct hrun_topo *t, enum hrun_level level)
{
    return hwloc_get_nbobjs_by_type(t->hwloc, level_type(t, level)) > 0;
}

/* The place of a core. Cores of equal place and kind form one PE. */
struct place {
    hwloc_const_cpuset_t set;   /* of the level's object; NULL for none */
    int package;                /* used if there is no object */
};

/* The level's smallest object around a core. Several memory nodes may share their cores (fast and slow memory), or one
 * may contain others: the smallest counts, and nodes of equal cpusets are one place. */
static struct place find_place(const struct hrun_topo *t, enum hrun_level level,
                               const struct hrun_topo_core *c)
{
    struct place p = { NULL, c->package };
    hwloc_obj_t obj = NULL;
    int weight, best = 0;

    if (level == HRUN_LEVEL_CORE) {
        p.set = c->obj->cpuset;
        return p;
    }
    while ((obj = hwloc_get_next_obj_by_type(t->hwloc, level_type(t, level), obj))) {
        if (!hwloc_bitmap_intersects(obj->cpuset, c->obj->cpuset))
            continue;
        weight = hwloc_bitmap_weight(obj->cpuset);
        if (!p.set || weight < best) {
            p.set = obj->cpuset;
            best = weight;
        }
    }
    /* A core whose memory node is forbidden or offline belongs to one of the nearest other nodes. */
    for (obj = c->obj; !p.set && level == HRUN_LEVEL_NUMA && (obj = obj->parent);) {
        int n = hwloc_get_nbobjs_inside_cpuset_by_type(t->hwloc, obj->cpuset, HWLOC_OBJ_NUMANODE);

        if (n > 0)
            p.set = hwloc_get_obj_inside_cpuset_by_type(t->hwloc, obj->cpuset, HWLOC_OBJ_NUMANODE,
                                                        (unsigned)(c->package > 0 ? c->package % n : 0))->cpuset;
    }
    return p;
}

struct node {                   /* memory of one NUMA node */
    hwloc_const_cpuset_t set;
    uint64_t bytes;
    uint64_t ncores;            /* allowed cores of this node */
};

struct nodes {
    struct node *v;
    int n;
};

/* Memory added to a running (virtual) machine may be missing from its NUMA nodes (seen: 5.2 of 23.5 GiB). If all nodes
 * are usable, the system's memory beyond the nodes' sum is added in proportion. */
static void add_plugged_memory(const struct hrun_topo *t, struct nodes *nodes, uint64_t *total)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t system = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    double ratio;

    if (!hwloc_topology_is_thissystem(t->hwloc) || *total == 0 || system <= *total ||
        !hwloc_bitmap_isequal(hwloc_topology_get_allowed_nodeset(t->hwloc),
                              hwloc_topology_get_complete_nodeset(t->hwloc)))
        return;
    ratio = (double)system / (double)*total;
    *total = 0;
    for (int k = 0; k < nodes->n; k++) {
        nodes->v[k].bytes = (uint64_t)(ratio * (double)nodes->v[k].bytes);
        *total += nodes->v[k].bytes;
    }
}

static struct nodes list_nodes(const struct hrun_topo *t)
{
    int n = hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_NUMANODE), served, ncores = 0, all_served = 1;
    struct nodes nodes = { xcalloc(n > 0 ? (size_t)n : 1, sizeof *nodes.v), 0 };
    hwloc_obj_t obj = NULL;
    uint64_t total = 0;

    while (nodes.n < n && (obj = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, obj))) {
        nodes.v[nodes.n++] = (struct node){ obj->cpuset, obj->attr->numanode.local_memory, 0 };
        total += obj->attr->numanode.local_memory;
    }
    add_plugged_memory(t, &nodes, &total);
    obj = NULL;
    while ((obj = hwloc_get_next_obj_by_type(t->hwloc, t->core_type, obj))) {
        served = 0;
        for (int k = 0; k < nodes.n; k++) {
            if (!hwloc_bitmap_intersects(obj->cpuset, nodes.v[k].set))
                continue;
            nodes.v[k].ncores++;
            served = served || nodes.v[k].bytes > 0;
        }
        ncores++;
        all_served = all_served && served;
    }
    /* A core whose own node is forbidden or empty uses the memory of other nodes: divide the total among all cores. */
    if (nodes.n && !all_served) {
        nodes.v[0] = (struct node){ hwloc_get_root_obj(t->hwloc)->cpuset, total, (uint64_t)ncores };
        nodes.n = 1;
    }
    return nodes;
}

/* A PE under construction. */
struct draft {
    struct place place;
    int kind;
    hwloc_bitmap_t pus, cores;
    struct hrun_buf core_pus;   /* of each core, "0,8;1,9" */
    uint64_t *per_node;         /* number of its cores in each NUMA node */
};

/* Divide the first ncores cores into drafts d[ncores], in order of kind and first core. Result: number of drafts. */
static int make_drafts(const struct hrun_topo *t, enum hrun_level level, int ncores, const struct nodes *nodes,
                       struct draft *d)
{
    int n = 0;

    for (int i = 0; i < ncores; i++) {
        const struct hrun_topo_core *c = &t->cores[i];
        struct place place = find_place(t, level, c);
        int at = level == HRUN_LEVEL_CORE ? n : 0;      /* no core shares its place with another */
        autofree char *pus = NULL;

        while (at < n && (d[at].kind != c->kind ||
                          !(place.set && d[at].place.set ? hwloc_bitmap_isequal(place.set, d[at].place.set)
                            : !place.set && !d[at].place.set && place.package == d[at].place.package)))
            at++;
        if (at == n) {
            n++;
            d[at].place = place;
            d[at].kind = c->kind;
            hrun_buf_init(&d[at].core_pus);
            d[at].pus = hwloc_bitmap_alloc();
            d[at].cores = hwloc_bitmap_alloc();
            d[at].per_node = xcalloc((size_t)nodes->n + 1, sizeof *d[at].per_node);
        }
        /* Cores come in the order of their logical numbers, as in the PE's list. */
        if (hwloc_bitmap_or(d[at].pus, d[at].pus, c->pus) || hwloc_bitmap_set(d[at].cores, c->obj->logical_index) ||
            hwloc_bitmap_list_asprintf(&pus, c->pus) < 0)
            hrun_out_of_memory();
        hrun_buf_addf(&d[at].core_pus, "%s%s", d[at].core_pus.len ? ";" : "", pus);
        for (int k = 0; k < nodes->n; k++)
            d[at].per_node[k] += (uint64_t)hwloc_bitmap_intersects(c->obj->cpuset, nodes->v[k].set);
    }
    return n;
}

/* Fill *pe from a draft, and release the draft. */
static void finish_pe(const struct hrun_topo *t, struct draft *d, const struct nodes *nodes, struct hrun_topo_pe *pe)
{
    uint64_t share;

    pe->kind = d->kind;
    pe->ncores = hwloc_bitmap_weight(d->cores);
    pe->npus = hwloc_bitmap_weight(d->pus);
    for (int k = 0; k < nodes->n && !t->memory_made_up; k++) {
        const struct node *node = &nodes->v[k];

        if (node->ncores)
            pe->memory_bytes += node->bytes / node->ncores * d->per_node[k] +
                                node->bytes % node->ncores * d->per_node[k] / node->ncores;
    }
    if (t->memory_limit != UINT64_MAX) {
        share = t->memory_limit / (uint64_t)t->ncores * (uint64_t)pe->ncores;
        if (pe->memory_bytes == 0 || share < pe->memory_bytes)
            pe->memory_bytes = share;
    }
    if (hwloc_bitmap_list_asprintf(&pe->cpuset, d->pus) < 0 || hwloc_bitmap_list_asprintf(&pe->cores, d->cores) < 0)
        hrun_out_of_memory();
    pe->core_pus = hrun_buf_detach(&d->core_pus);
    hwloc_bitmap_free(d->pus);
    hwloc_bitmap_free(d->cores);
    free(d->per_node);
}

int hrun_topo_pes(const struct hrun_topo *t, enum hrun_level level, int max_cores,
                  struct hrun_topo_pe **pes, int *n, struct hrun_error *err)
{
    int ncores = max_cores > 0 && max_cores < t->ncores ? max_cores : t->ncores;
    autorelease(hrun_buf_release) struct hrun_buf has = HRUN_BUF_INIT;
    autofree struct draft *drafts = NULL;
    struct nodes nodes;

    if (!hrun_topo_has_level(t, level)) {
        for (enum hrun_level l = HRUN_LEVEL_NODE; l <= HRUN_LEVEL_CORE; l++)
            if (hrun_topo_has_level(t, l))
                hrun_buf_addf(&has, "%s%s", has.len ? ", " : "", hrun_level_name(l));
        return hrun_fail(err, HRUN_EINVAL, "this machine has no level '%s'; it has %s", hrun_level_name(level),
                         has.data);
    }
    nodes = list_nodes(t);
    drafts = xcalloc((size_t)ncores, sizeof *drafts);
    *n = make_drafts(t, level, ncores, &nodes, drafts);
    *pes = xcalloc((size_t)*n, sizeof **pes);
    for (int i = 0; i < *n; i++)
        finish_pe(t, &drafts[i], &nodes, &(*pes)[i]);
    free(nodes.v);
    return 0;
}

int hrun_topo_object(const struct hrun_topo *t, int core, enum hrun_object type)
{
    static const hwloc_obj_type_t types[HRUN_NOBJECTS] = {
        HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE
    };
    hwloc_obj_t c = core < 0 ? NULL : hwloc_get_obj_by_type(t->hwloc, t->core_type, (unsigned)core), o = NULL, found;

    if (!c || type == HRUN_OBJECT_CORE)
        return c ? core : -1;
    if (type != HRUN_OBJECT_NUMA) {
        found = hwloc_get_ancestor_obj_by_type(t->hwloc, types[type], c);
        return found ? (int)found->logical_index : -1;
    }
    found = NULL;
    while ((o = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, o)))
        if (hwloc_bitmap_intersects(o->cpuset, c->cpuset) &&
            (!found || hwloc_bitmap_weight(o->cpuset) < hwloc_bitmap_weight(found->cpuset)))
            found = o;
    return found ? (int)found->logical_index : -1;
}

void hrun_topo_pes_free(struct hrun_topo_pe *pes, int n)
{
    for (int i = 0; pes && i < n; i++) {
        free(pes[i].cpuset);
        free(pes[i].cores);
        free(pes[i].core_pus);
    }
    free(pes);
}
