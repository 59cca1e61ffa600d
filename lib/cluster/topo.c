/* topo.c - loading a topology: its source, usable cores; binding to it; see topo.h for the contracts */
#include "cluster/topo_parts.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const level_names[] = { "node", "package", "numa", "l3", "core" };

enum { NLEVELS = sizeof level_names / sizeof level_names[0] };

/* An XML topology of a node with a thousand PUs and all its devices has about 2 MB. Reading takes thirty times
 * this size in memory. */
static const size_t xml_max = (size_t)4 << 20;

const char *hrun_level_name(enum hrun_level level)
{
    return (unsigned)level < NLEVELS ? level_names[level] : "?";
}

int hrun_level_parse(const char *text, enum hrun_level *out, struct hrun_error *err)
{
    for (int i = 0; i < NLEVELS; i++) {
        if (!strcmp(text, level_names[i])) {
            *out = (enum hrun_level)i;
            return 0;
        }
    }
    return hrun_fail(err, HRUN_EINVAL, "'%s' is no PE level; the levels are node, package, numa, l3, core",
                     text);
}

/* ---------------------------------------------------------------- the source */

static int set_xml(hwloc_topology_t h, const char *what, const char *xml, size_t len, struct hrun_error *err)
{
    const char *root = strstr(xml, "<topology");
    int version = (int)(hwloc_get_api_version() >> 16), major = 0;

    if (len > xml_max)
        return hrun_fail(err, HRUN_EINVAL, "%s has more than %zu MiB of XML", what, xml_max >> 20);
    if (root && sscanf(root, "<topology version=\"%d.", &major) == 1 && major > version)
        return hrun_fail(err, HRUN_EINVAL, "%s is of hwloc %d, and hrun here has hwloc %d: write it with 'lstopo "
                         "--export-xml-flags v%d --of xml FILE'", what, major, version, version);
    /* hwloc's length includes the final NUL. hwloc 0.9 wrote <root>. */
    if ((!root && !strstr(xml, "<root")) || hwloc_topology_set_xmlbuffer(h, xml, (int)len + 1) < 0)
        return hrun_fail(err, HRUN_EINVAL, "%s is no hwloc XML topology; 'lstopo --of xml FILE' writes one",
                         what);
    return 0;
}

/* variable: the environment variable with the name of the file, or NULL */
static int set_xml_file(hwloc_topology_t h, const char *what, const char *variable, const char *path,
                        struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf xml = HRUN_BUF_INIT;

    if (hrun_file_read(path, xml_max, &xml, err))
        return variable ? hrun_fail_prefix(err, "%s", variable) : -1;
    return set_xml(h, what, xml.data, xml.len, err);
}

static int set_synthetic(hwloc_topology_t h, const char *what, const char *text, struct hrun_error *err)
{
    if (hwloc_topology_set_synthetic(h, text) < 0)
        return hrun_fail(err, HRUN_EINVAL, "%s is no synthetic hwloc topology; "
                         "for example 'package:2 [numa(memory=8GB)] l3:1 core:4 pu:2'", what);
    return 0;
}

/* The value of an environment variable; NULL: unset or empty. */
static const char *hwloc_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* hwloc reads these variables itself, but silently uses the real machine if a value is bad. So this function chooses in
 * hwloc's order, and reports errors. */
static int set_from_environment(hwloc_topology_t h, const char *what, struct hrun_error *err)
{
    const char *root = hwloc_variable("HWLOC_FSROOT"), *synthetic = hwloc_variable("HWLOC_SYNTHETIC");
    const char *xml = hwloc_variable("HWLOC_XMLFILE");
    struct stat st;

    if (hwloc_variable("HWLOC_COMPONENTS"))
        return 0;
    if (root && (stat(root, &st) || !S_ISDIR(st.st_mode)))
        return hrun_fail(err, HRUN_ENOENT, "HWLOC_FSROOT='%s' is no folder", root);
    if (root || hwloc_variable("HWLOC_CPUID_PATH"))
        return 0;
    if (synthetic)
        return set_synthetic(h, what, synthetic, err);
    if (xml)
        return set_xml_file(h, what, "HWLOC_XMLFILE", xml, err);
    return 0;
}

static int set_source(hwloc_topology_t h, enum hrun_topo_source source, const char *text, const char *what,
                      struct hrun_error *err)
{
    switch (source) {
    case HRUN_TOPO_THIS:
        return set_from_environment(h, what, err);
    case HRUN_TOPO_XML_FILE:
        return set_xml_file(h, what, NULL, text, err);
    case HRUN_TOPO_XML:
        return set_xml(h, what, text, strlen(text), err);
    default:
        return set_synthetic(h, what, text, err);
    }
}

/* ---------------------------------------------------------------- usable PUs and cores */

/* Refuse objects without a number: hwloc gives them the largest number, and makes sets of half a gigabyte. */
static int check_numbers(const struct hrun_topo *t, hwloc_obj_type_t type, struct hrun_error *err)
{
    hwloc_obj_t obj = NULL;

    while ((obj = hwloc_get_next_obj_by_type(t->hwloc, type, obj)))
        if (obj->os_index > HRUN_RANGES_MAX)
            return hrun_fail(err, HRUN_EINVAL, "the topology has a %s without an 'os_index' of 0 to %d",
                             hwloc_obj_type_string(type), HRUN_RANGES_MAX);
    return 0;
}

static int find_cores(struct hrun_topo *t, struct hrun_error *err)
{
    struct hrun_topo_core *c;
    hwloc_obj_t obj, package;
    int n;

    t->core_type = HWLOC_OBJ_CORE;
    if (hwloc_get_nbobjs_by_type(t->hwloc, HWLOC_OBJ_CORE) <= 0)
        t->core_type = HWLOC_OBJ_PU;
    n = hwloc_get_nbobjs_by_type(t->hwloc, t->core_type);
    if (n <= 0)
        return hrun_fail(err, HRUN_EIO, "hwloc finds no topology: it names no processing unit");
    t->cores = xcalloc((size_t)n, sizeof *t->cores);
    for (int i = 0; i < n; i++) {
        obj = hwloc_get_obj_by_type(t->hwloc, t->core_type, (unsigned)i);
        if (!hwloc_bitmap_intersects(obj->cpuset, t->usable))
            continue;
        c = &t->cores[t->ncores];
        c->pus = hwloc_bitmap_dup(obj->cpuset);
        t->ncores++;
        hwloc_bitmap_and(c->pus, c->pus, t->usable);
        c->obj = obj;
        package = hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, obj);
        c->package = package ? (int)package->logical_index : -1;
    }
    if (t->ncores == 0)
        return hrun_fail(err, HRUN_EIO, "none of the %d cores may be used: the process's affinity or its "
                         "cgroup allows no CPU that hwloc knows", n);
    return 0;
}

/* ---------------------------------------------------------------- CPU model */

static void find_cpu_model(struct hrun_topo *t)
{
    hwloc_obj_t root = hwloc_get_root_obj(t->hwloc), obj = NULL;
    struct hrun_buf b = HRUN_BUF_INIT;
    const char *model = NULL;

    while (!model && (obj = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, obj)))
        model = hwloc_obj_get_info_by_name(obj, "CPUModel");
    if (!model)
        model = hwloc_obj_get_info_by_name(root, "CPUModel");
    if (model)
        hrun_add_squeezed(&b, model);
    if (!b.len && hwloc_topology_is_thissystem(t->hwloc))
        hrun_cpuinfo_model("", &b);
    if (!b.len) {
        /* Linux on ARM has no model name, only numbers of implementer and part. */
        hwloc_obj_t package = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
        const char *implementer = hwloc_obj_get_info_by_name(package ? package : root, "CPUImplementer");
        const char *part = hwloc_obj_get_info_by_name(package ? package : root, "CPUPart");

        if (implementer && part)
            hrun_buf_addf(&b, "CPU implementer %s part %s", implementer, part);
    }
    if (!b.len)
        hrun_buf_adds(&b, "unknown");
    t->cpu_model = hrun_buf_detach(&b);
}

/* ---------------------------------------------------------------- the whole */

/* A topology whose source is set. */
struct loading {
    struct hrun_topo *t;
    enum hrun_topo_source source;
    const char *what;           /* for messages; "" for the real machine */
};

static int load_hwloc(const struct loading *l, struct hrun_error *err)
{
    struct hrun_topo *t = l->t;
    const char *synthetic;

    if (hwloc_topology_load(t->hwloc) < 0)
        return *l->what ? hrun_fail(err, HRUN_EINVAL, "hwloc cannot make a topology of %s", l->what)
                        : hrun_fail_errno(err, HRUN_EIO, "hwloc finds no topology of this host (do HWLOC_ variables "
                                          "of the environment hide it?)");
    synthetic = l->source == HRUN_TOPO_THIS || l->source == HRUN_TOPO_SYNTHETIC
                ? hwloc_obj_get_info_by_name(hwloc_get_root_obj(t->hwloc), "SyntheticDescription") : NULL;
    t->memory_made_up = synthetic && !strstr(synthetic, "memory=");
    t->memory_limit = UINT64_MAX;
    if (check_numbers(t, HWLOC_OBJ_PU, err) || check_numbers(t, HWLOC_OBJ_NUMANODE, err))
        return -1;
    t->usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(t->hwloc));
    if (hwloc_topology_is_thissystem(t->hwloc)) {
        hwloc_bitmap_t mask = hwloc_bitmap_alloc();
        int bound = !hwloc_get_cpubind(t->hwloc, mask, HWLOC_CPUBIND_PROCESS), why = errno;

        if (bound)
            hwloc_bitmap_and(t->usable, t->usable, mask);
        hwloc_bitmap_free(mask);
        errno = why;
        if (!bound && why != ENOSYS)
            return hrun_fail_errno(err, HRUN_EIO, "cannot read this process's CPU affinity");
        t->memory_limit = hrun_cgroup_memory_limit("");
        t->cpu_quota = hrun_cgroup_cpu_quota("");
    }
    if (find_cores(t, err))
        return -1;
    hrun_topo_find_kinds(t);
    find_cpu_model(t);
    return 0;
}

/* In the trial process: load, check and cut into PEs, because these may crash or take long. Frees nothing. */
static int load_and_use(void *ctx, struct hrun_error *err)
{
    const struct loading *l = ctx;
    struct hrun_topo_pe *pes;
    int n;

    if (load_hwloc(l, err))
        return -1;
    hwloc_topology_check(l->t->hwloc);      /* aborts if t is inconsistent */
    for (int level = HRUN_LEVEL_NODE; level <= HRUN_LEVEL_CORE; level++)
        if (hrun_topo_has_level(l->t, (enum hrun_level)level) &&
            hrun_topo_pes(l->t, (enum hrun_level)level, 0, &pes, &n, err))
            return -1;
    return 0;
}

struct hrun_topo *hrun_topo_load(enum hrun_topo_source source, const char *text, struct hrun_error *err)
{
    struct hrun_topo *t = xcalloc(1, sizeof *t);
    const char *variable = hwloc_variable("HWLOC_SYNTHETIC") ? "HWLOC_SYNTHETIC" : "HWLOC_XMLFILE";
    const char *value = source == HRUN_TOPO_THIS ? hwloc_variable(variable) : NULL;
    autofree char *what = source == HRUN_TOPO_XML ? xstrdup("the XML text")
                        : source != HRUN_TOPO_THIS ? hrun_strf("'%.200s'", text)
                        : value ? hrun_strf("%s='%.200s'", variable, value) : xstrdup("");
    struct loading l = { t, source, what };

    if (hwloc_topology_init(&t->hwloc) < 0)
        hrun_out_of_memory();
    /* Flags and filters stay at their defaults: I/O and forbidden objects are left out, and cores have the logical
     * numbers that mpirun uses. */
    if (!set_source(t->hwloc, source, text, what, err) &&
        !(*what && hrun_topo_try(load_and_use, &l, what, err)) && !load_hwloc(&l, err))
        return t;
    hrun_topo_destroy(t);
    return NULL;
}

void hrun_topo_destroy(struct hrun_topo *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->ncores; i++)
        hwloc_bitmap_free(t->cores[i].pus);
    free(t->cores);
    hwloc_bitmap_free(t->usable);
    if (!t->is_restricted) {
        hrun_strvec_release(&t->kinds);
        free(t->cpu_model);
        hwloc_topology_destroy(t->hwloc);
    }
    free(t);
}

struct hrun_topo *hrun_topo_restrict(const struct hrun_topo *t, const char *usable)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    const char *p = usable;
    struct hrun_topo *r;
    long first, last;

    while ((p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last))) {
        hwloc_bitmap_set_range(set, (unsigned)first, (int)last);
        if (*p++ != ',')
            break;
    }
    if (!p || p[-1]) {
        hwloc_bitmap_free(set);
        return NULL;
    }
    r = xmalloc(sizeof *r);
    *r = *t;
    r->is_restricted = 1;
    hwloc_bitmap_and(set, set, t->usable);
    r->usable = set;
    r->ncores = 0;
    r->cores = xcalloc((size_t)t->ncores, sizeof *r->cores);
    for (int i = 0; i < t->ncores; i++) {
        struct hrun_topo_core *c = &r->cores[r->ncores];

        if (!hwloc_bitmap_intersects(t->cores[i].pus, set))
            continue;
        *c = t->cores[i];
        c->pus = hwloc_bitmap_alloc();
        hwloc_bitmap_and(c->pus, t->cores[i].pus, set);
        r->ncores++;
    }
    return r;
}

int hrun_topo_is_this_system(const struct hrun_topo *t)
{
    return hwloc_topology_is_thissystem(t->hwloc);
}

const char *hrun_topo_cpu_model(const struct hrun_topo *t)
{
    return t->cpu_model;
}

const char *hrun_topo_machine(const struct hrun_topo *t)
{
    const char *name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t->hwloc), "Architecture");

    return name ? name : "";
}

int hrun_topo_ncores(const struct hrun_topo *t, int kind)
{
    int n = 0;

    for (int i = 0; i < t->ncores; i++)
        n += kind < 0 || t->cores[i].kind == kind;
    return n;
}

double hrun_topo_cpu_quota(const struct hrun_topo *t)
{
    return t->cpu_quota;
}

int hrun_topo_npus(const struct hrun_topo *t)
{
    return hwloc_bitmap_weight(t->usable);
}

int hrun_topo_nkinds(const struct hrun_topo *t)
{
    return (int)t->kinds.n;
}

const char *hrun_topo_kind_name(const struct hrun_topo *t, int kind)
{
    return kind >= 0 && (size_t)kind < t->kinds.n ? t->kinds.v[kind] : "";
}

int hrun_topo_export(const struct hrun_topo *t, struct hrun_buf *out, struct hrun_error *err)
{
    char *xml = NULL;
    int len = 0;

    if (hwloc_topology_export_xmlbuffer(t->hwloc, &xml, &len, 0) < 0)
        return hrun_fail_errno(err, HRUN_EIO, "hwloc cannot write the topology as XML");
    hrun_buf_add(out, xml, len > 0 ? (size_t)len - 1 : 0);  /* without the final NUL, which hwloc's length includes */
    hwloc_free_xmlbuffer(t->hwloc, xml);
    return 0;
}

int hrun_topo_bind(const struct hrun_topo *t, const char *cpuset, struct hrun_error *err)
{
    autofree char *usable = NULL;
    hwloc_bitmap_t set;
    int rc = 0;

    if (!hwloc_topology_is_thissystem(t->hwloc))
        return hrun_fail(err, HRUN_EINVAL, "the topology is not this system's (is HWLOC_XMLFILE or "
                         "HWLOC_SYNTHETIC set?), so nothing can be bound by it");
    set = hwloc_bitmap_alloc();
    if (hwloc_bitmap_list_asprintf(&usable, t->usable) < 0)
        hrun_out_of_memory();
    if (hwloc_bitmap_list_sscanf(set, cpuset) < 0 || hwloc_bitmap_iszero(set))
        rc = hrun_fail(err, HRUN_EINVAL, "cannot bind to '%s': it is no list of PUs, such as '0-3,8'", cpuset);
    else if (!hwloc_bitmap_isincluded(set, t->usable))
        rc = hrun_fail(err, HRUN_EINVAL, "cannot bind to PUs '%s': usable here are '%s'", cpuset, usable);
    else if (hwloc_set_cpubind(t->hwloc, set, HWLOC_CPUBIND_THREAD) < 0)
        rc = hrun_fail_errno(err, HRUN_EIO, "cannot bind to PUs '%s'", cpuset);
    hwloc_bitmap_free(set);
    return rc;
}
