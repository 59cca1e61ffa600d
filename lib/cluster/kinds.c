/* kinds.c - finding kinds of cores; see topo.h and topo_parts.h for the contracts */
#include "base/alloc.h"
#include "cluster/topo_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smallest ratio of frequencies or capacities within a kind. Favoured cores, and chips sorted by speed, differ by less;
 * cores of different design differ by more. */
static const double alike_share = 0.9;

/* Measures of a core's speed, the best first: Linux's cpu_capacity, then MHz. 0: unknown. */
static const char *const measures[] = { "LinuxCapacity", "FrequencyMaxMHz", "FrequencyBaseMHz" };

enum { NMEASURES = sizeof measures / sizeof measures[0] };

/* The properties of a core; cores with equal properties share an entry. */
struct traits {
    const char *type, *part;    /* CoreType; CPUPart or DarwinCompatible; "": unknown */
    uint64_t l1d, l2;           /* bytes of its caches; 0: none, or unknown */
    int has_l3;
    double speed[NMEASURES];
    int efficiency;             /* hwloc's, larger is faster; -1: unknown; -2: hwloc has no kind for the core */
    int first;                  /* the first entry of this entry's kind */
};

/* A kind during sorting. */
struct kind {
    int first;                  /* its first entry */
    double speed[NMEASURES];    /* largest values of its cores */
    double share;               /* ratio to the fastest kind's speed */
    int efficiency;
};

/* Bytes of the cache of that type around a core; 0: there is none. */
static uint64_t cache_size(const struct hrun_topo *t, hwloc_obj_type_t type, const struct hrun_topo_core *c)
{
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(t->hwloc, type, c->obj);

    return cache ? cache->attr->cache.size : 0;
}

static const char *core_info(const struct hrun_topo_core *c, const char *name)
{
    const char *value = hwloc_obj_get_info_by_name(c->obj, name);

    return value ? value : "";
}

/* 1 if there is an L3 cache around a core, or none in its whole package; else 0. hwloc may drop a package's cache if
 * devices and packages contradict each other. */
static int has_l3(const struct hrun_topo *t, const struct hrun_topo_core *c)
{
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, c->obj);

    return hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_L3CACHE, c->obj) ||
           (package && hwloc_get_nbobjs_inside_cpuset_by_type(t->hwloc, package->cpuset, HWLOC_OBJ_L3CACHE) <= 0);
}

static struct traits read_traits(const struct hrun_topo *t, const struct hrun_topo_core *c, hwloc_bitmap_t scratch)
{
    struct traits a = { .type = "", .part = core_info(c, "CPUPart"), .l1d = cache_size(t, HWLOC_OBJ_L1CACHE, c),
                        .l2 = cache_size(t, HWLOC_OBJ_L2CACHE, c),
                        .has_l3 = has_l3(t, c), .efficiency = -2 };
    struct hwloc_info_s *infos = NULL;
    unsigned ninfos = 0;
    int raw;

    /* Use the kind of the first PU; on correct machines all PUs of a core have one kind. */
    hwloc_bitmap_only(scratch, (unsigned)hwloc_bitmap_first(c->pus));
    raw = hwloc_cpukinds_get_by_cpuset(t->hwloc, scratch, 0);
    if (raw < 0 || hwloc_cpukinds_get_info(t->hwloc, (unsigned)raw, NULL, &a.efficiency, &ninfos, &infos, 0) < 0)
        return a;
    for (unsigned i = 0; i < ninfos; i++) {
        const char *name = infos[i].name, *value = infos[i].value;

        if (!strcmp(name, "CoreType"))
            a.type = value;
        else if (!strcmp(name, "CPUPart") || (!strcmp(name, "DarwinCompatible") && !*a.part))
            a.part = value;
        for (int m = 0; m < NMEASURES; m++)
            if (!strcmp(name, measures[m]))
                a.speed[m] = fmin(1e9, fmax(0, strtod(value, NULL)));   /* 0 for a text that is not a number */
    }
    return a;
}

static int same_hardware(const struct traits *a, const struct traits *b)
{
    return a->l1d == b->l1d && a->l2 == b->l2 && a->has_l3 == b->has_l3;
}

static int same_design(const struct traits *a, const struct traits *b)
{
    return same_hardware(a, b) && !strcmp(a->type, b->type) && !strcmp(a->part, b->part);
}

static int is_near(const struct traits *a, const struct traits *b)
{
    for (int m = 0; m < NMEASURES; m++)
        if (a->speed[m] < alike_share * b->speed[m] || b->speed[m] < alike_share * a->speed[m])
            return 0;
    return 1;
}

static int has_speed(const struct traits *a)
{
    return a->speed[0] > 0 || a->speed[1] > 0 || a->speed[2] > 0;
}

/* Join the kinds of entries i and j. */
static void join_entries(struct traits *v, int n, int i, int j)
{
    int a = v[i].first, b = v[j].first;

    for (int k = 0; k < n; k++)
        if (v[k].first == a || v[k].first == b)
            v[k].first = a < b ? a : b;
}

/* Join an entry of unknown speed to the kind with its other traits, if exactly one kind has them: systems may report
 * the frequency of some CPUs only. */
static void join_unmeasured(struct traits *v, int n, int i)
{
    int found = -1;

    for (int j = 0; j < n; j++) {
        if (!has_speed(&v[j]) || !same_hardware(&v[i], &v[j]) || (*v[i].type && strcmp(v[i].type, v[j].type)) ||
            (*v[i].part && strcmp(v[i].part, v[j].part)))
            continue;
        if (found >= 0 && v[found].first != v[j].first)
            return;
        found = j;
    }
    if (found >= 0)
        join_entries(v, n, i, found);
}

/* ---------------------------------------------------------------- order and names */

static int compare_kinds(const void *pa, const void *pb)
{
    const struct kind *a = pa, *b = pb;

    if (a->share < b->share || a->share > b->share)
        return a->share > b->share ? -1 : 1;
    if (a->efficiency != b->efficiency)
        return a->efficiency > b->efficiency ? -1 : 1;
    return a->first - b->first;
}

/* List the kinds of v[n] in kinds[n], the fastest first. Result: their number. */
static int list_kinds(const struct traits *v, int n, struct kind *kinds)
{
    double least, most = 0;
    int nkinds = 0, m = 0;

    for (int i = 0; i < n; i++) {
        int first = v[i].first, k = 0;

        while (k < nkinds && kinds[k].first != first)
            k++;
        if (k == nkinds)
            kinds[nkinds++] = (struct kind){ .first = first, .efficiency = -2 };
        for (m = 0; m < NMEASURES; m++)
            kinds[k].speed[m] = fmax(kinds[k].speed[m], v[i].speed[m]);
        kinds[k].efficiency = v[i].efficiency > kinds[k].efficiency ? v[i].efficiency : kinds[k].efficiency;
    }
    m = 0;
    do {    /* use the first measure that is known for all kinds and differs */
        least = most = kinds[0].speed[m];
        for (int k = 1; k < nkinds; k++) {
            least = fmin(least, kinds[k].speed[m]);
            most = fmax(most, kinds[k].speed[m]);
        }
    } while (!(least > 0 && least < most) && ++m < NMEASURES);
    for (int k = 0; k < nkinds; k++)
        kinds[k].share = m < NMEASURES ? kinds[k].speed[m] / most : 1;
    qsort(kinds, (size_t)nkinds, sizeof *kinds, compare_kinds);
    return nkinds;
}

/* Append the name of kind number `kind`: its CoreType made unique, else kindK. */
static void name_kind(struct hrun_topo *t, int kind, const char *type)
{
    size_t len = strlen(type);
    int same = 0;

    if (!len) {
        hrun_strvec_pushf(&t->kinds, "kind%d", kind);
        return;
    }
    for (size_t i = 0; i < t->kinds.n; i++)
        same += !strncmp(t->kinds.v[i], type, len) && (t->kinds.v[i][len] == 0 || t->kinds.v[i][len] == '-');
    if (same)
        hrun_strvec_pushf(&t->kinds, "%s-%d", type, same + 1);
    else
        hrun_strvec_push(&t->kinds, type);
}

static int compare_cores(const void *pa, const void *pb)
{
    const struct hrun_topo_core *a = pa, *b = pb;
    unsigned ia = a->obj->logical_index, ib = b->obj->logical_index;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return ia < ib ? -1 : ia > ib;
}

/* ---------------------------------------------------------------- the whole */

void hrun_topo_find_kinds(struct hrun_topo *t)
{
    autofree struct traits *v = xcalloc((size_t)t->ncores, sizeof *v);
    autofree struct kind *kinds = xcalloc((size_t)t->ncores, sizeof *kinds);
    hwloc_bitmap_t scratch = hwloc_bitmap_alloc();
    char text[16];
    int n = 0, nkinds;

    for (int i = 0, k; i < t->ncores; i++) {
        const struct hrun_topo_core *c = &t->cores[i];
        unsigned part = hwloc_topology_is_thissystem(t->hwloc) ? hrun_cpu_part("", hwloc_bitmap_first(c->pus)) : 0;

        /* hwloc 2.9 does not give the part number of an Arm core; later versions give one for each kind. Store it in
         * the core, so that an export contains the number. */
        snprintf(text, sizeof text, "0x%03x", part);
        if (part && !*core_info(c, "CPUPart") && hwloc_obj_add_info(c->obj, "CPUPart", text) < 0)
            hrun_out_of_memory();
        v[n] = read_traits(t, c, scratch);
        v[n].first = n;
        for (k = 0; k < n && (!same_design(&v[k], &v[n]) || v[k].efficiency != v[n].efficiency ||
                              memcmp(v[k].speed, v[n].speed, sizeof v[k].speed)); k++)
            continue;
        t->cores[i].kind = k;
        n += k == n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (same_design(&v[i], &v[j]) && is_near(&v[i], &v[j]))
                join_entries(v, n, i, j);
    for (int i = 0; i < n; i++)
        if (!has_speed(&v[i]))
            join_unmeasured(v, n, i);
    nkinds = list_kinds(v, n, kinds);
    for (int i = 0; i < t->ncores; i++) {
        int first = v[t->cores[i].kind].first;

        for (t->cores[i].kind = 0; kinds[t->cores[i].kind].first != first; t->cores[i].kind++)
            continue;
    }
    for (int k = 0; k < nkinds; k++)
        if (nkinds > 1)
            name_kind(t, k, v[kinds[k].first].type);
        else
            hrun_strvec_push(&t->kinds, "");
    qsort(t->cores, (size_t)t->ncores, sizeof *t->cores, compare_cores);
    hwloc_bitmap_free(scratch);
}
