/* discover.c - discovery: the hosts, their topologies, and the granted parts; see cluster.h and internal.h for the
 * contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/config.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- grants */

int hrun_granted_index(const struct hrun_discovery *d, const char *name)
{
    size_t n = d->granted ? d->granted->hosts.n : 0, at;
    int is_local = 0;

    if (!d->granted)
        return -2;
    for (size_t i = 0; i < n; i++) {
        at = (*d->looked + i) % n;
        if (hrun_same_host(d->granted->hosts.v[at], name)) {
            *d->looked = at;
            return (int)at;
        }
    }
    if (hrun_resolver_look(d->resolver, name, &is_local, NULL) || !is_local)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (hrun_same_host(d->granted->hosts.v[i], hrun_resolver_own_name(d->resolver)))
            return (int)i;
    return -1;
}

/* The smaller of two limits. 0 means no limit. */
static int fewer(int a, int b)
{
    return !a || (b && b < a) ? b : a;
}

int hrun_grant(const struct hrun_discovery *d, int host, const char *name, struct hrun_error *err)
{
    struct hrun_host *h = &d->c->hosts[host];
    const struct hrun_allocation *a = d->granted;
    int index = hrun_granted_index(d, name), cores, all;

    if (index < 0)
        return 0;
    cores = a->cpus[index];
    if (cores && !a->cpus_are_cores && h->topo) {
        if (hrun_host_granted(d->c, h, cores, &cores, err) || hrun_host_ncores(d->c, h, -1, &all, err))
            return -1;
        cores = cores < all ? cores : 0;
    }
    /* If the allocation counts processes, the user's slots count processes, too, and do not limit the cores. */
    h->cores = a->slots[index] ? cores : fewer(h->cores, cores);
    h->slots = fewer(h->slots, a->slots[index]);
    h->group = a->group[index];
    return 0;
}

int hrun_fail_nothing_left(const struct hrun_cluster *c, struct hrun_error *err)
{
    if (c->why_not.n > 1)
        return hrun_fail(err, HRUN_EENGINE, "no host is left: none of %zu answers; %s", c->why_not.n, c->why_not.v[0]);
    if (c->why_not.n)
        return hrun_fail(err, HRUN_EENGINE, "no host is left: %s", c->why_not.v[0]);
    return hrun_fail(err, HRUN_EINVAL, "no host is left");
}

/* ---------------------------------------------------------------- lists of hosts */

/* A list of hosts during its discovery. */
struct listed {
    const struct hrun_discovery *d;
    const struct hrun_host_list *list;
    const char *file;           /* for messages; "" if the list is in no file */
    const char **remote;        /* the hosts other than this one, in their order */
    struct hrun_host_answer **answers;    /* their answers; NULL: left out */
    int nremote;
};

/* Check the hosts of a list, and find the remote ones. */
static int find_remote_hosts(struct listed *l, struct hrun_error *err)
{
    const struct hrun_host_entry *local = NULL, *e;
    struct hrun_error why;
    int is_local, granted;

    for (size_t i = 0; i < l->list->n; i++) {
        e = &l->list->v[i];
        granted = hrun_granted_index(l->d, e->name);
        if (hrun_resolver_look(l->d->resolver, e->name, &is_local, &why))
            return hrun_fail_at(err, HRUN_EPARSE, l->file, e->line, e->column,
                                "%s%s%s%s", why.text, granted < 0 ? "" : " (", granted < 0 ? "" : l->d->granted->name,
                                granted < 0 ? "" : " grants it)");
        if (granted == -1) {
            autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

            hrun_hostlist_print(l->d->granted->hosts.v, l->d->granted->hosts.n, &b);
            return hrun_fail_at(err, HRUN_EINVAL, l->file, e->line, e->column, "host '%s' is not in %s, which grants "
                                "%.400s; leave it out, or ask for it when you submit the job", e->name,
                                l->d->granted->name, b.data);
        }
        if (!is_local && !l->d->req->topologies)
            return hrun_fail_at(err, HRUN_EINVAL, l->file, e->line, e->column,
                                "the hardware of host '%s' is unknown here; describe the host in "
                                "a cluster file (see hrun-cluster(5)), for instance: subclusters: [{name: big, "
                                "hosts: \"%s\", cores: 16, memory: 64GiB, cpu: \"its CPU model\"}]", e->name, e->name);
        if (!is_local) {
            l->remote[l->nremote++] = e->name;
            continue;
        }
        if (local)
            return hrun_fail_at(err, HRUN_EPARSE, l->file, e->line, e->column,
                                "host '%s' is the same machine as '%s' (line %d, column %d); name it once", e->name,
                                local->name, local->line, local->column);
        local = e;
    }
    return 0;
}

static int add_local(struct hrun_cluster *c, const char *name, int slots, struct hrun_error *err)
{
    struct hrun_topo *t = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);

    if (!t)
        return -1;
    hrun_cluster_add_topo(c, t, 0);
    return hrun_cluster_add_host(c, name, 1, slots, t, NULL);
}

static int ask_remote(struct listed *l, struct hrun_error *err)
{
    const struct hrun_host_entry *e = l->list->v;
    struct hrun_error why;
    int bad;

    if (!l->nremote || !hrun_ask_hosts(l->d, (char *const *)l->remote, l->nremote, l->answers, &bad, &why))
        return 0;
    while (bad >= 0 && e->name != l->remote[bad])
        e++;
    return hrun_fail_at(err, why.code, bad < 0 ? "" : l->file, bad < 0 ? 0 : e->line, bad < 0 ? 0 : e->column, "%s",
                        why.text);
}

/* Discover the hosts of a list: hwloc finds the topology of this one, the others are asked. */
static int from_list(const struct hrun_discovery *d, const struct hrun_host_list *list, const char *file,
                     struct hrun_error *err)
{
    struct listed l = { d, list, file, xcalloc(list->n + 1, sizeof *l.remote),
                        xcalloc(list->n + 1, sizeof *l.answers), 0 };
    enum hrun_level level = d->req->level >= 0 ? (enum hrun_level)d->req->level
                          : list->n > 1 ? HRUN_LEVEL_NODE : HRUN_LEVEL_CORE;
    struct hrun_error why = { 0 };
    int next = 0, host, rc = -1;

    if (find_remote_hosts(&l, err) || ask_remote(&l, err))
        goto done;
    for (size_t i = 0; i < list->n; i++) {
        const struct hrun_host_entry *e = &list->v[i];

        if (next == l.nremote || l.remote[next] != e->name) {
            host = add_local(d->c, e->name, e->slots, err);
        } else if (!l.answers[next]) {
            next++;
            continue;
        } else {
            host = hrun_cluster_add_host(d->c, e->name, 0, e->slots, l.answers[next]->topo, l.answers[next]);
            l.answers[next++] = NULL;
        }
        if (host < 0)
            goto done;
        if (hrun_grant(d, host, e->name, &why) || hrun_group_host(d->c, host, level, &why)) {
            if (list->n > 1 || l.nremote)
                hrun_fail_at(err, why.code, file, e->line, e->column, "host '%s': %s", e->name, why.text);
            else
                hrun_fail_at(err, why.code, why.file, why.line, why.column, "%s", why.text);
            goto done;
        }
    }
    if (d->c->nhosts) {
        hrun_group_finish(d->c, level);
        rc = 0;
    } else {
        hrun_fail_nothing_left(d->c, err);
    }
done:
    for (int i = 0; i < l.nremote; i++)
        hrun_host_answer_destroy(l.answers[i]);
    free(l.answers);
    free(l.remote);
    return rc;
}

/* ---------------------------------------------------------------- the whole */

static int from_source(const struct hrun_discovery *d, const struct hrun_allocation *a, struct hrun_error *err)
{
    autorelease(hrun_host_list_release) struct hrun_host_list list = HRUN_HOST_LIST_INIT;
    enum hrun_level level = d->req->level < 0 ? HRUN_LEVEL_CORE : (enum hrun_level)d->req->level;
    const char *place;
    int host;

    if (d->req->cluster_file)
        return hrun_clusterfile_load(d, err);
    if (d->req->host_file || d->req->hosts)
        return hrun_hosts_asked(d->req, &list, &place, err) || from_list(d, &list, place, err) ? -1 : 0;
    if (a->manager != HRUN_MANAGER_NONE) {
        autofree struct hrun_host_entry *entries = xcalloc(a->hosts.n + 1, sizeof *entries);
        struct hrun_host_list granted = { entries, a->hosts.n, a->hosts.n };

        for (size_t i = 0; i < granted.n; i++)
            entries[i] = (struct hrun_host_entry){ a->hosts.v[i], d->granted ? 0 : a->slots[i], 0, 0, 0 };
        return from_list(d, &granted, "", err);
    }
    host = add_local(d->c, hrun_resolver_own_name(d->resolver), 0, err);
    if (host < 0 || hrun_group_host(d->c, host, level, err))
        return -1;
    hrun_group_finish(d->c, level);
    return 0;
}

/* Fill d->c. The caller has set d->req, d->c and d->looked. */
static int discover(struct hrun_discovery *d, struct hrun_allocation *a, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf flux = HRUN_BUF_INIT;
    const struct hrun_cluster_request *req = d->req;
    struct hrun_cluster *c = d->c;
    int rc;

    if (req->platform)
        return hrun_platform_discover(req, c, err);
    /* Flux has precedence, because an instance within a job of another manager was started later. */
    if ((req->flux_resources && req->flux_resources(req->ctx, &flux, err)) ||
        (flux.len ? hrun_allocation_flux(flux.data, a, err) : hrun_allocation_find(req->openmpi_hostfile, a, err)))
        return -1;
    /* Open MPI's default host file is used only if the user names no hosts; the file never limits the user's. */
    if (a->manager == HRUN_MANAGER_OPENMPI && (req->cluster_file || req->host_file || req->hosts))
        hrun_allocation_release(a);
    c->source = req->cluster_file ? hrun_strf("cluster file %s", req->cluster_file)
              : req->host_file    ? hrun_strf("host file %s", req->host_file)
              : req->hosts        ? xstrdup("--host")
                                  : xstrdup(a->manager == HRUN_MANAGER_NONE ? "this host" : a->name);
    c->manager = a->manager;
    c->ngroups = a->ngroups > 1 ? a->ngroups : 1;
    c->cpus_each = a->cpus_each;
    if (a->manager != HRUN_MANAGER_NONE && a->manager != HRUN_MANAGER_OPENMPI)
        c->allocation = xstrdup(a->name);
    d->granted = c->allocation ? a : NULL;
    d->resolver = hrun_resolver_create(err);
    if (!d->resolver)
        return -1;
    d->cache = hrun_cache_open(req, hrun_resolver_own_name(d->resolver));
    if (!req->refresh)
        hrun_cache_tell(d->cache, d->resolver);
    rc = from_source(d, a, err);
    c->cache_note = hrun_cache_close(d->cache);
    for (int h = 0; h < c->nhosts && d->granted; h++) {
        if (!c->hosts[h].slots) {
            c->granted = 0;
            break;
        }
        c->granted += c->hosts[h].slots;
    }
    return rc;
}

int hrun_cluster_discover(const struct hrun_cluster_request *req, struct hrun_cluster **out,
                          struct hrun_error *err)
{
    autorelease(hrun_allocation_release) struct hrun_allocation a = { 0 };
    size_t looked = 0;
    struct hrun_discovery d = { .req = req, .looked = &looked };
    int rc;

    if (req->cluster_file && (req->host_file || req->hosts))
        return hrun_fail(err, HRUN_EINVAL, "a cluster file cannot be combined with a host file or a list of hosts");
    d.c = xcalloc(1, sizeof *d.c);
    rc = discover(&d, &a, err);
    if (!rc && d.c->nsubs > HRUN_SUBS_MAX)
        rc = hrun_fail(err, HRUN_EINVAL, "the hosts have %d kinds of PEs, and hrun handles %d: use fewer hosts, or "
                       "fewer sub-clusters in the cluster file (hrun-cluster(5))", d.c->nsubs, HRUN_SUBS_MAX);
    hrun_resolver_destroy(d.resolver);
    if (rc)
        hrun_cluster_destroy(d.c);
    else
        *out = d.c;
    return rc;
}
