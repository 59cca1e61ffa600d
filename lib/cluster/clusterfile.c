/* clusterfile.c - cluster files: reading and checking them; see clusterfile.h for the contract and
 * hrun-cluster(5) for the format */
#include "cluster/clusterfile.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct hrun_word levels[] = {
    { "node", HRUN_LEVEL_NODE }, { "package", HRUN_LEVEL_PACKAGE }, { "numa", HRUN_LEVEL_NUMA },
    { "l3", HRUN_LEVEL_L3 }, { "core", HRUN_LEVEL_CORE }, { NULL }
};

static const struct hrun_key entry_keys[] = {
    { HRUN_KEY("name", struct sub_entry, name), .optional = 1, .max = 64 },
    { HRUN_KEY("hosts", struct sub_entry, hosts) },
    { HRUN_KEY("exclude", struct sub_entry, exclude), .optional = 1 },
    { HRUN_KEY("level", struct sub_entry, level), .optional = 1, .words = levels },
    { HRUN_KEY("cores", struct sub_entry, cores), .optional = 1 },
    { HRUN_KEY("memory", struct sub_entry, memory), .optional = 1, .max = 64 },
    { HRUN_KEY("cpu", struct sub_entry, cpu), .optional = 1, .max = 256 },
    { HRUN_KEY("topology", struct sub_entry, topology), .optional = 1 },
    { HRUN_KEY("kind", struct sub_entry, kind), .optional = 1, .max = 64 },
    { HRUN_KEY("program", struct sub_entry, program), .optional = 1 },
    { HRUN_KEY("cost_per_hour", struct sub_entry, cost_per_hour), .optional = 1 },
    { HRUN_KEY("power_w", struct sub_entry, power_w), .optional = 1 },
    { NULL }
};

static const struct hrun_key file_keys[] = {
    { HRUN_KEY("level", struct cluster_file, level), .optional = 1, .words = levels },
    { HRUN_KEY("exclude", struct cluster_file, exclude), .optional = 1 },
    { HRUN_KEY("ledger", struct cluster_file, ledger), .optional = 1 },
    { HRUN_KEY_LIST("subclusters", struct cluster_file, subclusters, subclusters_count), .keys = entry_keys, .min = 1 },
    { NULL }
};

static const struct hrun_schema file_schema = { file_keys, sizeof(struct cluster_file) };

int hrun_fail_at_entry(const struct load *l, unsigned e, const char *key, int offset, struct hrun_error *err,
                       char *text)
{
    autofree char *path = hrun_strf("subclusters[%u]%s%s", e, *key ? "." : "", key);

    hrun_yaml_fail(l->marks, path, offset, err, HRUN_EINVAL, "%s", text);
    free(text);
    return -1;
}

/* ---------------------------------------------------------------- names of hosts */

static int read_names(struct load *l, const char *text, const char *path, struct names *out,
                      struct hrun_error *err)
{
    struct hrun_error why;

    if (hrun_hostlist_parse(text, &out->v, &why))
        return hrun_yaml_fail(l->marks, path, why.column ? why.column - 1 : 0, err, HRUN_EPARSE, "%s", why.text);
    if (!out->v.n)
        return hrun_yaml_fail(l->marks, path, 0, err, HRUN_EPARSE, "no host is named here");
    l->nnames += out->v.n;
    if (l->nnames > HRUN_HOSTLIST_MAX)
        return hrun_yaml_fail(l->marks, path, 0, err, HRUN_EPARSE, "the file has more than %d names of hosts",
                              HRUN_HOSTLIST_MAX);
    out->used = xcalloc(out->v.n, 1);
    return 0;
}

static void names_release(struct names *n)
{
    hrun_strvec_release(&n->v);
    free(n->used);
    n->used = NULL;
}

static int excluded(struct names *exclude, const char *host)
{
    int found = 0;

    for (size_t i = 0; i < exclude->v.n; i++) {
        if (strcasecmp(exclude->v.v[i], host))
            continue;
        found = 1;
        exclude->used[i] = 1;
    }
    return found;
}

static int check_used(const struct load *l, const struct names *exclude, const char *path,
                      struct hrun_error *err)
{
    for (size_t i = 0; i < exclude->v.n; i++)
        if (!exclude->used[i])
            return hrun_yaml_fail(l->marks, path, 0, err, HRUN_EINVAL,
                                  "host '%s' is excluded, but no sub-cluster lists it; is it misspelt?",
                                  exclude->v.v[i]);
    return 0;
}

/* Read the hosts of every entry, and remove the excluded ones. */
static int read_hosts(struct load *l, struct hrun_error *err)
{
    if (l->file->exclude && read_names(l, l->file->exclude, "exclude", &l->exclude, err))
        return -1;
    for (unsigned e = 0; e < l->file->subclusters_count; e++) {
        const struct sub_entry *entry = &l->file->subclusters[e];
        struct names *hosts = &l->hosts[e];
        autorelease(names_release) struct names own = { HRUN_STRVEC_INIT, NULL };
        autofree char *path = hrun_strf("subclusters[%u].hosts", e);
        autofree char *exclude = hrun_strf("subclusters[%u].exclude", e);

        if (read_names(l, entry->hosts, path, hosts, err) ||
            (entry->exclude && read_names(l, entry->exclude, exclude, &own, err)))
            return -1;
        for (size_t i = 0; i < hosts->v.n; i++) {
            int here = excluded(&own, hosts->v.v[i]);

            if (excluded(&l->exclude, hosts->v.v[i]) || here)
                hosts->v.v[i][0] = 0;
        }
        if (check_used(l, &own, exclude, err))
            return -1;
    }
    return check_used(l, &l->exclude, "exclude", err);
}

/* Remove the hosts that the allocation does not grant, and list each once in not_granted. */
static void drop_not_granted(struct load *l)
{
    struct hrun_strvec *out = &l->c->not_granted;

    for (unsigned e = 0; l->d->granted && e < l->file->subclusters_count; e++) {
        for (size_t i = 0; i < l->hosts[e].v.n; i++) {
            char *name = l->hosts[e].v.v[i];
            size_t k = 0;

            if (!*name || hrun_granted_index(l->d, name) != -1)
                continue;
            while (k < out->n && strcasecmp(out->v[k], name))
                k++;
            if (k == out->n)
                hrun_strvec_push(out, name);
            name[0] = 0;
        }
    }
}

/* ---------------------------------------------------------------- checks of one entry */

static int check_entry(const struct load *l, unsigned e, uint64_t *memory, struct hrun_error *err)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const struct sub_entry *entry = &l->file->subclusters[e];
    struct hrun_error why;

    if (entry->name) {
        size_t len = strspn(entry->name, good);
        if (entry->name[len])
            return FAIL(l, e, "name", (int)len, err,
                        "the name '%s' may hold letters, digits, '.', '_' and '-' only", entry->name);
        for (unsigned i = 0; i < e; i++)
            if (l->file->subclusters[i].name && !strcmp(l->file->subclusters[i].name, entry->name))
                return FAIL(l, e, "name", 0, err, "two sub-clusters have the name '%s'", entry->name);
    }
    if (entry->cores && (*entry->cores < 1 || *entry->cores > HRUN_CORES_MAX))
        return FAIL(l, e, "cores", 0, err, "a host has 1 to %d cores, found %d", HRUN_CORES_MAX, *entry->cores);
    if (entry->cost_per_hour && *entry->cost_per_hour < 0)
        return FAIL(l, e, "cost_per_hour", 0, err, "a cost cannot be negative, found %g",
                    *entry->cost_per_hour);
    if (entry->power_w && *entry->power_w < 0)
        return FAIL(l, e, "power_w", 0, err, "a power cannot be negative, found %g", *entry->power_w);
    *memory = 0;
    if (entry->memory && hrun_parse_bytes("memory", entry->memory, memory, &why))
        return FAIL(l, e, "memory", 0, err, "%s", why.text);
    if (entry->memory && !*memory)
        return FAIL(l, e, "memory", 0, err, "a host has some memory, found %s", entry->memory);
    return 0;
}

/* Limit of the PUs in all topologies of a file. Machines have hundreds; each PU takes 5 KB and 0.1 ms. */
enum { PUS_MAX = 16384 };

/* Load the topology that an entry gives for its hosts, if any. */
static int load_topology(struct load *l, unsigned e, struct hrun_error *err)
{
    const char *text = l->file->subclusters[e].topology, *other, *slash = strrchr(l->path, '/');
    size_t len = text ? strlen(text) : 0;
    autofree char *path = NULL;
    struct hrun_topo *t;
    struct hrun_error why;

    if (!text)
        return 0;
    for (unsigned i = 0; i < e; i++) {
        other = l->file->subclusters[i].topology;
        if (other && !strcmp(other, text)) {
            l->described[e] = l->described[i];
            return 0;
        }
    }
    path = *text == '/' || !slash ? xstrdup(text) : hrun_strf("%.*s%s", (int)(slash + 1 - l->path), l->path, text);
    /* A name of a file has a '/' or ends in ".xml"; other texts are synthetic descriptions. */
    t = strchr(text, '/') || (len > 4 && !strcasecmp(text + len - 4, ".xml"))
        ? hrun_topo_load(HRUN_TOPO_XML_FILE, path, &why) : hrun_topo_load(HRUN_TOPO_SYNTHETIC, text, &why);
    if (!t)
        return FAIL(l, e, "topology", 0, err, "%s", why.text);
    hrun_cluster_add_topo(l->c, t, 0);
    l->npus += hrun_topo_npus(t);
    if (l->npus > PUS_MAX)
        return FAIL(l, e, "topology", 0, err, "the topologies of the file have more than %d PUs together", PUS_MAX);
    l->described[e] = t;
    return 0;
}

/* ---------------------------------------------------------------- the entries */

/* Set names, cost and power of the sub-clusters of entry e. PEs that differ give several sub-clusters. */
static void finish_entry(struct load *l, unsigned e, const struct wanted *w)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    autorelease(hrun_buf_release) struct hrun_buf base = HRUN_BUF_INIT;
    struct hrun_subcluster *s;
    int several = l->c->nsubs - w->first_sub > 1;

    for (int i = w->first_sub; i < l->c->nsubs; i++) {
        s = &l->c->subs[i];
        hrun_buf_reset(&base);
        if (entry->name)
            hrun_buf_adds(&base, entry->name);
        else if (strcmp(s->cpu_model, "unknown"))
            hrun_add_slug(&base, s->cpu_model);
        if (!base.len)
            hrun_buf_adds(&base, hrun_level_name(w->level));
        s->cost_per_hour = entry->cost_per_hour ? *entry->cost_per_hour : 0;
        s->power_w = entry->power_w ? *entry->power_w : 0;
        if (entry->program)
            s->program = xstrdup(entry->program);
        if (!s->pus_per_pe)
            s->pus_per_pe = s->cores_per_pe;
        hrun_cluster_name_sub(l->c, i, base.data, !entry->name || several);
        /* Hosts described by equal numbers may differ in speed. So if no CPU model is known, each entry has profiles
         * of its own. */
        if (!entry->cpu && !strcmp(s->cpu_model, "unknown") && (entry->name || strcmp(s->name, base.data))) {
            free(s->cpu_model);
            s->cpu_model = hrun_strf("%s (unknown)", s->name);
        }
    }
}

static int load_entry(struct load *l, unsigned e, struct hrun_error *err)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    const struct names *names = &l->hosts[e];
    struct wanted w = { .first_sub = l->c->nsubs };
    autofree int *hosts = NULL;

    if (check_entry(l, e, &w.memory, err) || load_topology(l, e, err))
        return -1;
    w.described = l->described[e];
    w.level = l->level >= 0 ? (enum hrun_level)l->level
            : entry->level ? (enum hrun_level)*entry->level
            : l->file->level ? (enum hrun_level)*l->file->level : l->default_level;
    hosts = xmalloc(names->v.n * sizeof *hosts);
    for (size_t i = 0; i < names->v.n; i++) {
        hosts[i] = -1;
        if (names->v.v[i][0] && (hosts[i] = hrun_described_host(l, e, names->v.v[i], w.described, err)) < 0)
            return -1;
    }
    /* `cpu`, else the model of the described topology, else that of the first host with one */
    w.cpu_model = entry->cpu ? entry->cpu : w.described ? hrun_topo_cpu_model(w.described) : "unknown";
    for (size_t i = 0; i < names->v.n && !entry->cpu && !strcmp(w.cpu_model, "unknown"); i++)
        if (hosts[i] >= 0 && l->c->hosts[hosts[i]].topo)
            w.cpu_model = hrun_host_cpu_model(&l->c->hosts[hosts[i]]);
    for (size_t i = 0; i < names->v.n; i++)
        if (hosts[i] >= 0 && hrun_described_pes(l, e, hosts[i], &w, err))
            return -1;
    finish_entry(l, e, &w);
    return 0;
}

/* Core for one host, else node. One host may be in several entries, with different kinds. */
static enum hrun_level default_level(const struct load *l)
{
    const char *first = NULL, *name;

    for (unsigned e = 0; e < l->file->subclusters_count; e++) {
        for (size_t i = 0; i < l->hosts[e].v.n; i++) {
            name = l->hosts[e].v.v[i];
            if (*name && first && strcasecmp(first, name))
                return HRUN_LEVEL_NODE;
            if (*name)
                first = name;
        }
    }
    return HRUN_LEVEL_CORE;
}

static int fail_no_host(const struct load *l, struct hrun_error *err)
{
    struct hrun_error why;

    if (l->c->not_granted.n)
        return hrun_yaml_fail(l->marks, "subclusters", 0, err, HRUN_EINVAL, "no host is left: %s grants none of these",
                              l->c->allocation);
    if (!l->c->unreachable.n)
        return hrun_yaml_fail(l->marks, "subclusters", 0, err, HRUN_EINVAL,
                              "no host is left: all of them are excluded");
    hrun_fail_nothing_left(l->c, &why);
    return hrun_yaml_fail(l->marks, "subclusters", 0, err, why.code, "%s", why.text);
}

/* The path of the file's ledger, resolved relative to the file's folder, or "none"; NULL: not given. */
static char *ledger_folder(const char *path, const struct cluster_file *f)
{
    const char *slash = strrchr(path, '/');

    if (!f->ledger || *f->ledger == '/' || !slash || !strcmp(f->ledger, "none"))
        return f->ledger ? xstrdup(f->ledger) : NULL;
    return hrun_strf("%.*s%s", (int)(slash + 1 - path), path, f->ledger);
}

int hrun_clusterfile_ledger(const char *path, char **out, struct hrun_error *err)
{
    void *data = NULL;

    if (hrun_yaml_load(path, &file_schema, &data, NULL, err))
        return -1;
    *out = ledger_folder(path, data);
    hrun_yaml_free(&file_schema, data, NULL);
    return 0;
}

int hrun_clusterfile_price(const char *path, const char *subcluster, double *cost_per_hour, double *power_w,
                           struct hrun_error *err)
{
    const struct sub_entry *found = NULL;
    const struct cluster_file *f;
    void *data = NULL;
    size_t longest = 0;

    if (hrun_yaml_load(path, &file_schema, &data, NULL, err))
        return -1;
    f = data;
    for (unsigned e = 0; e < f->subclusters_count; e++) {
        const char *own = f->subclusters[e].name;
        size_t len = own ? strlen(own) : 0;

        if (len > longest && !strncmp(own, subcluster, len) && (!subcluster[len] || subcluster[len] == '-')) {
            found = &f->subclusters[e];
            longest = len;
        }
    }
    *cost_per_hour = found && found->cost_per_hour ? *found->cost_per_hour : 0;
    *power_w = found && found->power_w ? *found->power_w : 0;
    hrun_yaml_free(&file_schema, data, NULL);
    return *cost_per_hour > 0 || *power_w > 0;
}

int hrun_clusterfile_load(const struct hrun_discovery *d, struct hrun_error *err)
{
    struct load l = { .path = d->req->cluster_file, .d = d, .c = d->c, .level = d->req->level,
                      .resolver = d->resolver, .local = -1 };
    void *data = NULL;
    unsigned n;
    int rc;

    if (hrun_yaml_load(l.path, &file_schema, &data, &l.marks, err))
        return -1;
    l.file = data;
    n = l.file->subclusters_count;
    l.hosts = xcalloc(n, sizeof *l.hosts);
    l.described = xcalloc(n, sizeof(struct hrun_topo *));
    l.c->ledger = ledger_folder(l.path, l.file);
    rc = read_hosts(&l, err);
    if (!rc) {
        drop_not_granted(&l);
        l.default_level = default_level(&l);
        rc = hrun_described_ask(&l, err);
    }
    for (unsigned e = 0; e < n && !rc; e++)
        rc = load_entry(&l, e, err);
    if (!rc && !l.c->nsubs)
        rc = fail_no_host(&l, err);
    for (unsigned e = 0; e < n; e++)
        names_release(&l.hosts[e]);
    free(l.hosts);
    free(l.described);
    for (size_t i = 0; l.answers && i < l.asked.n; i++)
        hrun_host_answer_destroy(l.answers[i]);
    free(l.answers);
    hrun_strvec_release(&l.asked);
    names_release(&l.exclude);
    free(l.notes);
    hrun_yaml_free(&file_schema, data, l.marks);
    return rc;
}
