/* cluster.c - putting a cluster together, and discovery without a cluster file; see cluster.h and private.h
 * for the contracts */
#include "cluster/private.h"

#include "base/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------- growing */

/* Room for one more element in array[n]; the capacity is the next power of two. NULL when memory ran out. */
static void *grown(void *array, int n, size_t size)
{
    if (n & (n - 1))
        return array;
    return realloc(array, (n ? (size_t)n * 2 : 1) * size);
}

int hrun_cluster_add_host(struct hrun_cluster *c, const char *name, int is_local, int slots,
                          struct hrun_topo *topo, struct hrun_error *err)
{
    struct hrun_host *hosts = grown(c->hosts, c->nhosts, sizeof *hosts);

    if (!hosts)
        return hrun_fail_nomem(err);
    c->hosts = hosts;
    hosts[c->nhosts] = (struct hrun_host){ strdup(name), is_local, slots, topo, NULL };
    if (!hosts[c->nhosts].name)
        return hrun_fail_nomem(err);
    return c->nhosts++;
}

int hrun_cluster_add_topo(struct hrun_cluster *c, struct hrun_topo *t, struct hrun_error *err)
{
    struct hrun_topo **topos = grown(c->topos, c->ntopos, sizeof *topos);

    if (!topos) {
        hrun_topo_destroy(t);
        return hrun_fail_nomem(err);
    }
    c->topos = topos;
    topos[c->ntopos] = t;
    return c->ntopos++;
}

static void sub_release(struct hrun_subcluster *s)
{
    for (int i = 0; i < s->npes; i++) {
        free(s->pes[i].cpuset);
        free(s->pes[i].cores);
    }
    free(s->pes);
    free(s->name);
    free(s->cpu_model);
    free(s->core_kind);
}

int hrun_cluster_find_sub(struct hrun_cluster *c, int first, const struct hrun_pe_key *key,
                          struct hrun_error *err)
{
    struct hrun_subcluster *s, *subs;

    for (int i = first; i < c->nsubs; i++) {
        s = &c->subs[i];
        if (!strcmp(s->cpu_model, key->cpu_model) && !strcmp(s->core_kind, key->core_kind) &&
            s->level == key->level && s->cores_per_pe == key->ncores &&
            (s->pus_per_pe == key->npus || !s->pus_per_pe || !key->npus) &&
            (!key->memory_bytes || hrun_round_memory(s->memory_bytes) == key->memory_bytes)) {
            if (!s->pus_per_pe)
                s->pus_per_pe = key->npus;
            return i;
        }
    }
    subs = grown(c->subs, c->nsubs, sizeof *subs);
    if (!subs)
        return hrun_fail_nomem(err);
    c->subs = subs;
    s = &subs[c->nsubs];
    *s = (struct hrun_subcluster){ .cpu_model = strdup(key->cpu_model), .core_kind = strdup(key->core_kind),
                                   .level = key->level, .cores_per_pe = key->ncores,
                                   .pus_per_pe = key->npus };
    if (!s->cpu_model || !s->core_kind) {
        sub_release(s);
        return hrun_fail_nomem(err);
    }
    return c->nsubs++;
}

int hrun_cluster_add_pe(struct hrun_cluster *c, int sub, const struct hrun_pe *pe, struct hrun_error *err)
{
    struct hrun_subcluster *s = &c->subs[sub];
    struct hrun_pe *pes = grown(s->pes, s->npes, sizeof *pes), *p;

    if (!pes)
        return hrun_fail_nomem(err);
    s->pes = pes;
    p = &pes[s->npes];
    *p = *pe;
    p->cpuset = strdup(pe->cpuset);
    p->cores = strdup(pe->cores);
    if (!p->cpuset || !p->cores) {
        free(p->cpuset);
        free(p->cores);
        return hrun_fail_nomem(err);
    }
    /* The smallest counts; 0 says nothing. */
    if (pe->memory_bytes && (!s->memory_bytes || pe->memory_bytes < s->memory_bytes))
        s->memory_bytes = pe->memory_bytes;
    return s->npes++;
}

static int name_taken(const struct hrun_cluster *c, const char *name)
{
    for (int i = 0; i < c->nsubs; i++)
        if (c->subs[i].name && !strcmp(c->subs[i].name, name))
            return 1;
    return 0;
}

int hrun_cluster_name_sub(struct hrun_cluster *c, int sub, const char *base, int with_kind,
                          struct hrun_error *err)
{
    struct hrun_subcluster *s = &c->subs[sub];
    struct hrun_buf b = HRUN_BUF_INIT;
    size_t len;

    hrun_buf_adds(&b, base);
    if (with_kind && s->core_kind[0]) {
        hrun_buf_addc(&b, '-');
        hrun_add_slug(&b, s->core_kind);
    }
    len = b.len;
    for (int i = 2; !b.failed && name_taken(c, b.data); i++) {
        b.data[b.len = len] = 0;
        hrun_buf_addf(&b, "-%d", i);
    }
    s->name = hrun_buf_detach(&b);
    return s->name ? sub : hrun_fail_nomem(err);
}

/* ---------------------------------------------------------------- discovery */

/* Cut a host into PEs and group equal ones. */
static int group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    struct hrun_topo_pe *pes = NULL;
    int n = 0, rc = 0, sub;

    if (hrun_host_pes(h, level, h->slots, &pes, &n, err))
        return -1;
    for (int i = 0; i < n && !rc; i++) {
        struct hrun_pe_key key = { hrun_host_cpu_model(h), hrun_topo_kind_name(h->topo, pes[i].kind), level,
                                   pes[i].ncores, pes[i].npus, hrun_round_memory(pes[i].memory_bytes) };
        struct hrun_pe pe = { host, i, pes[i].cpuset, pes[i].cores, pes[i].ncores, pes[i].npus,
                              pes[i].memory_bytes };
        sub = hrun_cluster_find_sub(c, 0, &key, err);
        rc = sub < 0 || hrun_cluster_add_pe(c, sub, &pe, err) < 0 ? -1 : 0;
    }
    hrun_topo_pes_free(pes, n);
    return rc;
}

static int name_all(struct hrun_cluster *c, enum hrun_level level, struct hrun_error *err)
{
    struct hrun_buf base = HRUN_BUF_INIT;
    int rc = 0;

    for (int sub = 0; sub < c->nsubs && !rc; sub++) {
        hrun_buf_reset(&base);
        if (strcmp(c->subs[sub].cpu_model, "unknown"))
            hrun_add_slug(&base, c->subs[sub].cpu_model);
        if (!base.len)
            hrun_buf_adds(&base, hrun_level_name(level));
        rc = hrun_cluster_name_sub(c, sub, base.data, 1, err) < 0 ? -1 : 0;
    }
    hrun_buf_release(&base);
    return rc;
}

static int add_local(struct hrun_cluster *c, const char *name, int slots, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);

    if (!t || hrun_cluster_add_topo(c, t, err) < 0)
        return -1;
    return hrun_cluster_add_host(c, name, 1, slots, t, err);
}

/* What the hosts of a list are: remote ones are listed, at most one is this one. */
static int sort_out(const struct hrun_host_list *list, const char *file, int can_ask, const char **remote, int *nremote,
                    struct hrun_error *err)
{
    struct hrun_resolver *r = hrun_resolver_create(err);
    const struct hrun_host_entry *local = NULL, *e;
    struct hrun_error why;
    int is_local, rc = -1;

    if (!r)
        return -1;
    for (size_t i = 0; i < list->n; i++) {
        e = &list->v[i];
        if (hrun_resolver_look(r, e->name, &is_local, &why)) {
            hrun_fail_at(err, why.code == HRUN_ENOMEM ? HRUN_ENOMEM : HRUN_EPARSE, file, e->line, e->column,
                         "%s", why.text);
            goto done;
        }
        if (!is_local && !can_ask) {
            hrun_fail_at(err, HRUN_EINVAL, file, e->line, e->column,
                         "host '%s' is not this host, and what it is made of is unknown here; describe it in "
                         "a cluster file (see hrun-cluster(5)), for instance: subclusters: [{name: big, "
                         "hosts: \"%s\", cores: 16, memory: 64GiB, cpu: \"its CPU model\"}]",
                         e->name, e->name);
            goto done;
        }
        if (!is_local) {
            remote[(*nremote)++] = e->name;
            continue;
        }
        if (local) {
            hrun_fail_at(err, HRUN_EPARSE, file, e->line, e->column,
                         "host '%s' is the same machine as '%s' (line %d, column %d); name it once", e->name,
                         local->name, local->line, local->column);
            goto done;
        }
        local = e;
    }
    rc = 0;
done:
    hrun_resolver_destroy(r);
    return rc;
}

/* Hosts of a host file or of --host: this one is measured by hwloc here, the others tell what hwloc finds there. */
static int from_list(struct hrun_cluster *c, const struct hrun_host_list *list, const char *file,
                     const struct hrun_cluster_request *req, struct hrun_error *err)
{
    enum hrun_level level = req->level >= 0 ? (enum hrun_level)req->level
                          : list->n > 1 ? HRUN_LEVEL_NODE : HRUN_LEVEL_CORE;
    const char **remote = calloc(list->n + 1, sizeof *remote);
    struct hrun_told **told = calloc(list->n + 1, sizeof *told);
    const struct hrun_host_entry *e = list->v;
    struct hrun_error why = { 0 };
    int nremote = 0, next = 0, bad = -1, host, rc = -1;

    if (!remote || !told) {
        hrun_fail_nomem(err);
        goto done;
    }
    if (sort_out(list, file, req->topologies != NULL, remote, &nremote, err))
        goto done;
    if (nremote && hrun_told_ask(req, c, (char *const *)remote, nremote, told, &bad, &why)) {
        while (bad >= 0 && e->name != remote[bad])
            e++;
        hrun_fail_at(err, why.code, bad < 0 ? "" : file, e->line, e->column, "%s", why.text);
        goto done;
    }
    for (size_t i = 0; i < list->n; i++) {
        e = &list->v[i];
        if (next == nremote || remote[next] != e->name) {
            host = add_local(c, e->name, e->slots, err);
        } else {
            host = hrun_cluster_add_host(c, e->name, 0, e->slots, told[next]->topo, err);
            if (host >= 0) {
                c->hosts[host].told = told[next];
                told[next++] = NULL;
            }
        }
        if (host < 0)
            goto done;
        if (group_host(c, host, level, list->n > 1 || nremote ? &why : err)) {
            if (list->n > 1 || nremote)
                hrun_fail_at(err, why.code, file, e->line, e->column, "host '%s': %s", e->name, why.text);
            goto done;
        }
    }
    rc = name_all(c, level, err);
done:
    for (int i = 0; told && i < nremote; i++)
        hrun_told_destroy(told[i]);
    free(told);
    free(remote);
    return rc;
}

static int from_this_host(struct hrun_cluster *c, int level, struct hrun_error *err)
{
    enum hrun_level l = level < 0 ? HRUN_LEVEL_CORE : (enum hrun_level)level;
    struct hrun_resolver *r = hrun_resolver_create(err);
    int host = r ? add_local(c, hrun_resolver_own_name(r), 0, err) : -1;
    int rc = host < 0 || group_host(c, host, l, err) ? -1 : name_all(c, l, err);

    hrun_resolver_destroy(r);
    return rc;
}

int hrun_cluster_discover(const struct hrun_cluster_request *req, struct hrun_cluster **out,
                          struct hrun_error *err)
{
    struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    struct hrun_cluster *c = NULL;
    int rc = -1;

    if (!!req->cluster_file + !!req->host_file + !!req->hosts > 1)
        return hrun_fail(err, HRUN_EINVAL, "of a cluster file, a host file and a list of hosts only one can "
                         "be given");
    c = calloc(1, sizeof *c);
    if (!c)
        return hrun_fail_nomem(err);
    c->source = req->cluster_file ? hrun_strf("cluster file %s", req->cluster_file)
              : req->host_file    ? hrun_strf("host file %s", req->host_file)
                                  : strdup(req->hosts ? "--host" : "this host");
    if (!c->source) {
        hrun_fail_nomem(err);
        goto done;
    }
    if (req->cluster_file)
        rc = hrun_clusterfile_load(req, c, err);
    else if (req->host_file)
        rc = hrun_hostfile_read(req->host_file, &list, err) ||
             from_list(c, &list, req->host_file, req, err) ? -1 : 0;
    else if (req->hosts)
        rc = hrun_hosts_parse(req->hosts, &list, err) ||
             from_list(c, &list, "--host", req, err) ? -1 : 0;
    else
        rc = from_this_host(c, req->level, err);
    if (rc == 0) {
        *out = c;
        c = NULL;
    }
done:
    hrun_host_list_release(&list);
    hrun_cluster_destroy(c);
    return rc;
}

void hrun_cluster_destroy(struct hrun_cluster *c)
{
    int saved = errno;

    if (!c)
        return;
    for (int i = 0; i < c->nsubs; i++)
        sub_release(&c->subs[i]);
    for (int i = 0; i < c->nhosts; i++) {
        free(c->hosts[i].name);
        hrun_told_destroy(c->hosts[i].told);
    }
    for (int i = 0; i < c->ntopos; i++)
        hrun_topo_destroy(c->topos[i]);
    free(c->subs);
    free(c->hosts);
    free(c->topos);
    free(c->source);
    free(c);
    errno = saved;
}

void hrun_subcluster_hosts(const struct hrun_cluster *c, const struct hrun_subcluster *s, int first, int n,
                           struct hrun_buf *out)
{
    char **names = calloc(n > 0 ? (size_t)n : 1, sizeof *names);
    size_t count = 0;
    int last = -1;

    if (!names) {
        out->failed = 1;
        return;
    }
    /* The PEs of a host stand next to each other. */
    for (int i = first < 0 ? 0 : first; i < s->npes && i - first < n; i++) {
        if (s->pes[i].host == last)
            continue;
        last = s->pes[i].host;
        names[count++] = c->hosts[last].name;
    }
    hrun_hostlist_print(names, count, out);
    free(names);
}
