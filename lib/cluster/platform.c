/* platform.c - simulated hosts: from SimGrid's description of a platform file to sub-clusters; see cluster.h and
 * internal.h for the contracts, hrun/smpi.c for the lines
 *
 * Kinds of simulated hosts differ in speed, cores, own link, route to themselves, or island of the network. The
 * signature contains no island, but the network between two hosts of the sub-cluster.
 */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host as SimGrid describes it; units as in hrun/smpi.c. */
struct sim_host {
    char *name;
    double speed, bw, lat, loop_bw, loop_lat, mate_bw, mate_lat;
    double memory_bytes, cost_per_hour, power_w;    /* properties; 0: not given */
    int cores, island;
    int slots;                  /* of the host file, 0: all */
};

struct sim {
    const char *path;           /* for messages */
    char *version;
    struct sim_host *v;
    int n, cap;
    int ended;
    char asking[512];           /* the last query, "FROM\tTO" */
    char words[512];            /* the first message of SimGrid itself */
};

static void release_simulation(struct sim *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->v[i].name);
    free(s->v);
    free(s->version);
}

/* ---------------------------------------------------------------- reading */

static int is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

static int add_simulated_host(struct sim *s, const char *text, struct hrun_error *err)
{
    struct sim_host h = { 0 };
    int name = 0;

    if (sscanf(text, "%lf %d %lf %lf %d %lf %lf %n", &h.speed, &h.cores, &h.bw, &h.lat, &h.island, &h.mate_bw,
               &h.mate_lat, &name) < 7 || !name || !text[name])
        return hrun_fail(err, HRUN_EPARSE, "%s: what hrun-smpi says of a host is not understood: %.200s", s->path,
                         text);
    h.name = (char *)(uintptr_t)(text + name);
    if (!isfinite(h.speed) || h.speed <= 0 || h.cores < 1 || h.cores > HRUN_CORES_MAX)
        return hrun_fail(err, HRUN_EINVAL, "%s: host '%.200s' has a speed of %g flop/s and %d cores: hrun needs a "
                         "positive speed and 1 to %d cores", s->path, h.name, h.speed, h.cores, HRUN_CORES_MAX);
    if (!is_amount(h.bw) || !is_amount(h.lat) || !is_amount(h.mate_bw) || !is_amount(h.mate_lat))
        return hrun_fail(err, HRUN_EINVAL, "%s: the links of host '%.200s' have no finite bandwidth and latency",
                         s->path, h.name);
    hrun_grow(s->v, s->n + 1, s->cap);
    h.name = xstrdup(h.name);
    s->v[s->n++] = h;
    return 0;
}

/* Read a property of a host for which SimGrid has no element. */
static int add_property(struct sim *s, const char *text, struct hrun_error *err)
{
    static const struct { const char *key; size_t at; } known[] = {
        { "memory_bytes", offsetof(struct sim_host, memory_bytes) },
        { "cost_per_hour", offsetof(struct sim_host, cost_per_hour) },
        { "power_w", offsetof(struct sim_host, power_w) },
    };
    char key[32], *end;
    int i, used = 0;
    double x;

    if (sscanf(text, "%d %31s %n", &i, key, &used) < 2 || !used || i < 0 || i >= s->n)
        return 0;
    x = strtod(text + used, &end);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(key, known[k].key))
            continue;
        if (end == text + used || *end || !isfinite(x) || x <= 0)
            return hrun_fail(err, HRUN_EINVAL, "%s: property %s of host '%.200s' is '%.100s': it must be a number "
                             "above 0", s->path, key, s->v[i].name, text + used);
        *(double *)((char *)&s->v[i] + known[k].at) = x;
    }
    return 0;
}

static int read_smpi_line(struct sim *s, const char *line, struct hrun_error *err)
{
    double bw, lat;
    int i;

    if (!strncmp(line, "host ", 5) && !s->ended)
        return add_simulated_host(s, line + 5, err);
    if (!strncmp(line, "property ", 9) && !s->ended)
        return add_property(s, line + 9, err);
    if (s->ended && sscanf(line, "loop %d %lf %lf", &i, &bw, &lat) == 3) {
        if (i >= 0 && i < s->n && is_amount(bw) && is_amount(lat)) {
            s->v[i].loop_bw = bw;
            s->v[i].loop_lat = lat;
        }
    } else if (!strncmp(line, "asking ", 7))
        snprintf(s->asking, sizeof s->asking, "%s", line + 7);
    else if (!strncmp(line, "simgrid ", 8))
        s->version = s->version ? s->version : xstrdup(line + 8);
    else if (!strcmp(line, "end"))
        s->ended = 1;
    else if (!s->words[0])
        snprintf(s->words, sizeof s->words, "%s", line);
    return 0;
}

/* Report why SimGrid cannot read the file, with SimGrid's own message if it says why. Result: -1. */
static int explain(const struct sim *s, struct hrun_error *err)
{
    static const char parse[] = "Parse error at ", uncaught[] = "Uncaught exception ";
    /* Replaces SimGrid's message, which has the reason on later lines. */
    static const char old[] = "the platform file is of version 3 or less, and SimGrid here reads 4 and 4.1: "
                              "convert it with 'simgrid_update_xml %s'";
    static const struct { const char *words, *instead; } known[] = {
        { "Bad declaration", old }, { "FILE IS TOO OLD", old }, { "BIG FAT WARNING", old },
        { "COMES FROM THE FUTURE", "the platform file %s is of a newer version than 4.1, the last that SimGrid here "
          "reads" },
        { "`<' in prolog", "'<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">' must come before "
          "<platform> (for version 3 or less 'simgrid_update_xml %s' writes it)" },
    };
    const char *text = s->words, *at, *tab = strchr(s->asking, '\t');
    int line = 0, used = 0;

    if (!strncmp(text, parse, strlen(parse)) && (at = strstr(text, s->path)) &&
        sscanf(at + strlen(s->path), ":%d: %n", &line, &used) >= 1 && used && at[strlen(s->path) + (size_t)used]) {
        at += strlen(s->path) + (size_t)used;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strstr(at, known[i].words))
                return hrun_fail_at(err, HRUN_EPARSE, s->path, line, 0, known[i].instead, s->path);
        return hrun_fail_at(err, HRUN_EPARSE, s->path, line, 0, "%s", at);
    }
    if (!strncmp(text, uncaught, strlen(uncaught)) && (at = strstr(text, ": ")))
        text = at + 2;
    if (s->version && tab)
        return hrun_fail(err, HRUN_EINVAL, "%s: SimGrid finds no route from host '%.*s' to host '%s'; each two hosts "
                         "that are used need one: choose hosts with --host A,B", s->path, (int)(tab - s->asking),
                         s->asking, tab + 1);
    return hrun_fail(err, HRUN_EINVAL, "%s: SimGrid cannot read this platform file%s%s", s->path, *text ? ": " : "",
                     text);
}

/* ---------------------------------------------------------------- choosing */

/* Keep the hosts that a list names, in the list's order. */
static int choose_simulated(struct sim *s, const struct hrun_host_list *list, const char *file, struct hrun_error *err)
{
    struct sim_host *v = xcalloc(list->n + 1, sizeof *v);
    int n = 0, i;

    for (size_t k = 0; k < list->n; k++) {
        const struct hrun_host_entry *e = &list->v[k];

        for (i = 0; i < s->n && (!s->v[i].name || strcmp(s->v[i].name, e->name)); i++)
            ;
        if (i == s->n) {
            for (int j = 0; j < n; j++)
                free(v[j].name);
            free(v);
            return hrun_fail_at(err, HRUN_EINVAL, file, e->line, e->column, "host '%s' is not in the platform %s "
                                "(hrun --show-cluster --platform %s lists its hosts)", e->name, s->path, s->path);
        }
        v[n] = s->v[i];
        v[n++].slots = e->slots;
        s->v[i].name = NULL;
    }
    for (i = 0; i < s->n; i++)
        free(s->v[i].name);
    free(s->v);
    s->v = v;
    s->n = n;
    return 0;
}

/* ---------------------------------------------------------------- grouping */

/* Nine digits exceed the accuracy of bandwidths, and hide rounding errors. */
static void add_link_speed(struct hrun_buf *out, const char *what, double bw, double lat)
{
    if (bw > 0)
        hrun_buf_addf(out, "%s%s %.9g MB/s %.9g us", out->len ? ", " : "", what, 1e-6 * bw, 1e6 * lat);
}

static void add_simulated_pes(struct hrun_cluster *c, const struct sim_host *h, enum hrun_level level)
{
    int host = hrun_cluster_add_host(c, h->name, 0, h->slots, NULL, NULL), sub, n = 1, before = c->nsubs;
    autorelease(hrun_buf_release) struct hrun_buf network = HRUN_BUF_INIT;
    char model[64];
    double memory, part = level == HRUN_LEVEL_CORE ? 1.0 / h->cores : 1;
    struct hrun_pe_key key = { .cpu_model = model, .core_kind = "", .level = level, .island = h->island };

    snprintf(model, sizeof model, "simulated %.9g Gflop/s", 1e-9 * h->speed);
    add_link_speed(&network, "link", h->bw, h->lat);
    add_link_speed(&network, "loopback", h->loop_bw, h->loop_lat);
    key.network = network.data;
    key.ncores = key.npus = level == HRUN_LEVEL_CORE ? 1 : h->cores;
    memory = h->memory_bytes * part;
    key.memory_bytes = hrun_round_memory((uint64_t)memory);
    sub = hrun_cluster_find_sub(c, 0, &key);
    if (c->nsubs > before) {
        c->subs[sub].core_flops = h->speed;
        c->subs[sub].link_bw = h->bw;
        c->subs[sub].link_lat = h->lat;
        c->subs[sub].cost_per_hour = h->cost_per_hour * part;
        c->subs[sub].power_w = h->power_w * part;
    }
    if (level == HRUN_LEVEL_CORE)
        n = h->slots && h->slots < h->cores ? h->slots : h->cores;
    for (int i = 0; i < n; i++) {
        struct hrun_pe pe = { .host = host, .index = i, .cpuset = "", .core_pus = "", .ncores = key.ncores,
                              .npus = key.npus, .memory_bytes = (uint64_t)memory };

        hrun_strvec_pushf(&c->texts, key.ncores == 1 ? "%d" : "0-%d", key.ncores == 1 ? i : key.ncores - 1);
        pe.cores = c->texts.v[c->texts.n - 1];
        hrun_cluster_add_pe(c, sub, &pe);
    }
}

/* Order: the fastest first, then more cores, more memory, faster link, island, network. */
static int compare_simulated_subs(const void *pa, const void *pb)
{
    const struct hrun_subcluster *a = pa, *b = pb;

    if (a->core_flops != b->core_flops)
        return a->core_flops < b->core_flops ? 1 : -1;
    if (a->cores_per_pe != b->cores_per_pe)
        return b->cores_per_pe - a->cores_per_pe;
    if (a->memory_bytes != b->memory_bytes)
        return a->memory_bytes < b->memory_bytes ? 1 : -1;
    if (a->link_bw != b->link_bw)
        return a->link_bw < b->link_bw ? 1 : -1;
    if (a->link_lat != b->link_lat)
        return a->link_lat > b->link_lat ? 1 : -1;
    return a->island != b->island ? a->island - b->island : strcmp(a->network, b->network);
}

/* Name a sub-cluster by the common text before the number in its hosts' names ("fast" of "fast-0.site"), else by its
 * speed. */
static void name_simulated_sub(struct hrun_cluster *c, int sub)
{
    const struct hrun_subcluster *s = &c->subs[sub];
    const char *first = c->hosts[s->pes[0].host].name;
    size_t len = strcspn(first, "0123456789.");
    autofree char *base = xstrndup(first, len);
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (int i = 1; i < s->npes && len; i++) {
        const char *name = c->hosts[s->pes[i].host].name;

        if (strcspn(name, "0123456789.") != len || strncmp(first, name, len))
            len = 0;
    }
    if (len)
        hrun_add_slug(&b, base);
    if (!b.len)
        hrun_buf_addf(&b, "%.3ggf", 1e-9 * s->core_flops);
    hrun_cluster_name_sub(c, sub, b.data, 0);
}

/* Make sub-clusters from the output of hrun-smpi. list: the hosts to use, named in `file`; empty: all. */
static int make_simulated_cluster(const struct hrun_cluster_request *req, const struct hrun_host_list *list,
                                  const char *file, char *text, struct hrun_cluster *c, struct hrun_error *err)
{
    enum hrun_level level = req->level < 0 ? HRUN_LEVEL_NODE : (enum hrun_level)req->level;
    autorelease(release_simulation) struct sim s = { .path = req->platform };
    char *save = NULL;

    if (level != HRUN_LEVEL_NODE && level != HRUN_LEVEL_CORE)
        return hrun_fail(err, HRUN_EINVAL, "--level %s: simulated hosts have the levels node and core only",
                         hrun_level_name(level));
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (read_smpi_line(&s, line, err))
            return -1;
    if (!s.ended || !s.version)
        return explain(&s, err);
    if (list->n && choose_simulated(&s, list, file, err))
        return -1;
    if (!s.n)
        return hrun_fail(err, HRUN_EINVAL, "%s: the platform has no host", s.path);
    for (int i = 0; i < s.n; i++)
        add_simulated_pes(c, &s.v[i], level);
    for (int i = 0; i < c->nsubs; i++) {    /* host i of the cluster is host i of s */
        const struct sim_host *first = &s.v[c->subs[i].pes[0].host];
        struct hrun_buf b = HRUN_BUF_INIT;

        hrun_buf_adds(&b, c->subs[i].network);
        add_link_speed(&b, "between two hosts", first->mate_bw, first->mate_lat);
        free(c->subs[i].network);
        c->subs[i].network = hrun_buf_detach(&b);
    }
    if (c->nsubs > 1)
        qsort(c->subs, (size_t)c->nsubs, sizeof *c->subs, compare_simulated_subs);
    for (int i = 0; i < c->nsubs; i++)
        name_simulated_sub(c, i);
    c->simgrid = s.version;
    s.version = NULL;
    return 0;
}

int hrun_platform_discover(const struct hrun_cluster_request *req, struct hrun_cluster *c, struct hrun_error *err)
{
    autorelease(hrun_host_list_release) struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    autorelease(hrun_strvec_release) struct hrun_strvec names = HRUN_STRVEC_INIT;
    autorelease(hrun_buf_release) struct hrun_buf text = HRUN_BUF_INIT;
    const char *file = NULL;
    char path[PATH_MAX];

    if (req->cluster_file)
        return hrun_fail(err, HRUN_EINVAL, "a cluster file and a platform file cannot be given together: a platform's "
                         "hosts are what SimGrid says");
    if (!realpath(req->platform, path))
        return hrun_fail_errno(err, HRUN_ENOENT, "platform file %s", req->platform);
    c->platform = xstrdup(path);
    c->source = hrun_strf("platform %s", req->platform);
    c->ngroups = 1;
    if (!req->read_platform)
        return hrun_fail(err, HRUN_EINVAL, "platform file %s: nothing here can read it", req->platform);
    if ((req->host_file || req->hosts) && hrun_hosts_asked(req, &list, &file, err))
        return -1;
    /* Ask for all hosts, because the kinds must not depend on the selection. If two of them have no route, ask for the
     * selected hosts only. */
    if (req->read_platform(req->ctx, req->platform, NULL, &text, err))
        return -1;
    if (list.n && strstr(text.data, "\nasking ") && !strstr(text.data, "\nend\n")) {
        for (size_t i = 0; i < list.n; i++)
            hrun_strvec_push(&names, list.v[i].name);
        hrun_buf_reset(&text);
        if (req->read_platform(req->ctx, req->platform, names.v, &text, err))
            return -1;
    }
    return make_simulated_cluster(req, &list, file, text.data, c, err);
}
