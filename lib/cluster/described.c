/* described.c - hosts and PEs of a cluster file's sub-clusters; see clusterfile.h for the contracts */
#include "cluster/clusterfile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "sub-cluster 'p4'", or its number from 1 when it has no name. The caller frees it. */
static char *title(const struct load *l, unsigned e)
{
    const char *name = l->file->subclusters[e].name;

    return name ? hrun_strf("sub-cluster '%s'", name) : hrun_strf("sub-cluster %u", e + 1);
}

/* ---------------------------------------------------------------- hosts */

/* Has the host PEs of that kind already? */
static int kind_taken(const struct hrun_cluster *c, int host, const char *kind)
{
    for (int s = 0; s < c->nsubs; s++) {
        if (strcmp(c->subs[s].core_kind, kind))
            continue;
        for (int i = 0; i < c->subs[s].npes; i++)
            if (c->subs[s].pes[i].host == host)
                return 1;
    }
    return 0;
}

/* An earlier entry, or this one, has named the host: fine if each takes a core kind of its own. */
static int check_again(struct load *l, unsigned e, int host, const char *name,
                       const struct hrun_topo *described, struct hrun_error *err)
{
    const struct entry *entry = &l->file->subclusters[e];
    const struct entry *other = &l->file->subclusters[l->notes[host].entry];
    const struct hrun_host *h = &l->c->hosts[host];
    char *where;
    int rc;

    if (l->notes[host].last_entry == e)
        return FAIL(l, e, "hosts", 0, err, "host '%s' stands twice in this sub-cluster%s%s%s", name,
                    strcasecmp(h->name, name) ? " (it is the same machine as '" : "",
                    strcasecmp(h->name, name) ? h->name : "", strcasecmp(h->name, name) ? "')" : "");
    if (!entry->kind || !other->kind || kind_taken(l->c, host, entry->kind)) {
        where = title(l, l->notes[host].entry);
        rc = FAIL(l, e, "hosts", 0, err, "host '%s' stands already in %s; a host can be in two sub-clusters "
                  "only by its core kinds, each with its own 'kind'", name, where ? where : "another");
        free(where);
        return rc;
    }
    if (described && !h->is_local && (!other->topology || strcmp(entry->topology, other->topology))) {
        where = title(l, l->notes[host].entry);
        rc = FAIL(l, e, "topology", 0, err, "host '%s' is described otherwise in %s", name,
                  where ? where : "another");
        free(where);
        return rc;
    }
    l->notes[host].last_entry = e;
    return host;
}

int hrun_described_host(struct load *l, unsigned e, const char *name, struct hrun_topo *described,
                        struct hrun_error *err)
{
    struct hrun_topo *topo = described;
    struct host_note *notes;
    struct hrun_error why;
    int host, is_local;

    if (hrun_resolver_look(l->resolver, name, &is_local, &why)) {
        if (why.code == HRUN_ENOMEM)
            return hrun_fail_nomem(err);
        return FAIL(l, e, "hosts", 0, err, "%s", why.text);
    }
    for (host = 0; host < l->c->nhosts; host++)
        if (!strcasecmp(l->c->hosts[host].name, name) || (is_local && host == l->local))
            return check_again(l, e, host, name, described, err);
    if (is_local) {
        topo = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);
        if (!topo || hrun_cluster_add_topo(l->c, topo, err) < 0)
            return -1;
    }
    notes = realloc(l->notes, ((size_t)host + 1) * sizeof *notes);
    if (!notes)
        return hrun_fail_nomem(err);
    l->notes = notes;
    notes[host] = (struct host_note){ e, e, 0, 0 };
    if (is_local)
        l->local = host;
    return hrun_cluster_add_host(l->c, name, is_local, 0, topo, err);
}

/* The number of the kind that entry e names, -1 in *out when it names none. */
static int find_kind(const struct load *l, unsigned e, const char *host, const struct hrun_topo *t, int *out,
                     struct hrun_error *err)
{
    const char *kind = l->file->subclusters[e].kind;
    struct hrun_buf b = HRUN_BUF_INIT;
    int n = hrun_topo_nkinds(t), rc;

    *out = -1;
    for (int k = 0; k < n && kind; k++)
        if (!strcmp(hrun_topo_kind_name(t, k), kind))
            *out = k;
    if (!kind || *out >= 0)
        return 0;
    for (int k = 0; k < n; k++)
        hrun_buf_addf(&b, "%s%s", k ? ", " : "", hrun_topo_kind_name(t, k));
    if (n == 1)
        rc = FAIL(l, e, "kind", 0, err, "host '%s' has no core kind '%s': all its cores are alike, so leave "
                  "'kind' out", host, kind);
    else
        rc = FAIL(l, e, "kind", 0, err, "host '%s' has no core kind '%s'; it has %s", host, kind, b.data);
    hrun_buf_release(&b);
    return rc;
}

/* ---------------------------------------------------------------- PEs */

static int add_pe(struct load *l, const struct wanted *w, const char *kind, const struct hrun_pe *pe,
                  int npus, struct hrun_error *err)
{
    struct hrun_pe_key key = { w->cpu_model, kind, w->level, pe->ncores, npus, 0 };
    int sub = hrun_cluster_find_sub(l->c, w->first_sub, &key, err);

    return sub < 0 ? -1 : hrun_cluster_add_pe(l->c, sub, pe, err);
}

/* A host whose topology is known. */
static int add_known(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    const struct entry *entry = &l->file->subclusters[e];
    const struct hrun_host *h = &l->c->hosts[host];
    struct hrun_topo_pe *pes = NULL;
    struct hrun_error why;
    int kind, have, want, before = 0, n = 0, rc = -1, dkind;
    uint64_t memory;

    if (find_kind(l, e, h->name, h->topo, &kind, err))
        return -1;
    have = want = hrun_topo_ncores(h->topo, kind);
    if (entry->cores) {
        want = *entry->cores;
        if (want > have)
            return FAIL(l, e, "cores", 0, err, "host '%s' is described with %d cores%s%s, it has %d that can "
                        "be used", h->name, want, kind >= 0 ? " of kind " : "", kind >= 0 ? entry->kind : "",
                        have);
    } else if (h->is_local && w->described) {
        if (find_kind(l, e, h->name, w->described, &dkind, err))
            return -1;
        want = hrun_topo_ncores(w->described, dkind);
        if (want > have)
            return FAIL(l, e, "topology", 0, err, "host '%s' is described with %d cores, it has %d that can "
                        "be used", h->name, want, have);
    }
    /* PEs take cores by kind, fastest first: those of faster kinds come before. */
    for (int k = 0; k < kind; k++)
        before += hrun_topo_ncores(h->topo, k);
    if (hrun_topo_pes(h->topo, w->level, before + want, &pes, &n, &why)) {
        if (why.code == HRUN_ENOMEM)
            return hrun_fail_nomem(err);
        return FAIL(l, e, entry->level ? "level" : "hosts", 0, err, "host '%s': %s", h->name, why.text);
    }
    for (int i = 0; i < n; i++) {
        if (kind >= 0 && pes[i].kind != kind)
            continue;
        memory = pes[i].memory_bytes;
        if (w->memory) {
            memory = w->memory / (uint64_t)want * (uint64_t)pes[i].ncores;
            if (h->is_local && pes[i].memory_bytes && pes[i].memory_bytes < memory)
                memory = pes[i].memory_bytes;
        }
        struct hrun_pe pe = { host, i, pes[i].cpuset, pes[i].cores, pes[i].ncores, pes[i].npus, memory };
        if (add_pe(l, w, hrun_topo_kind_name(h->topo, pes[i].kind), &pe, pe.npus, err) < 0)
            goto done;
    }
    rc = 0;
done:
    hrun_topo_pes_free(pes, n);
    return rc;
}

/* A host that is only described by numbers. */
static int add_numbers(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    const struct entry *entry = &l->file->subclusters[e];
    const char *name = l->c->hosts[host].name, *kind = entry->kind ? entry->kind : "";
    struct host_note *note = &l->notes[host];
    int n, rc = 0, per_pe, first;
    char *cores;

    if (!entry->cores)
        return FAIL(l, e, "", 0, err, "nothing tells what host '%s' is made of; add 'cores: 16' and 'memory: "
                    "64GiB', or 'topology: FILE.xml'", name);
    n = *entry->cores;
    if (w->level != HRUN_LEVEL_NODE && w->level != HRUN_LEVEL_CORE)
        return FAIL(l, e, entry->level ? "level" : "", 0, err, "level '%s' of host '%s' needs its topology; "
                    "add 'topology: FILE.xml' or take level node or core", hrun_level_name(w->level), name);
    if (n > INT_MAX - note->next_core)
        return FAIL(l, e, "cores", 0, err, "host '%s' cannot have so many cores", name);
    per_pe = w->level == HRUN_LEVEL_NODE ? n : 1;
    for (int i = 0; i < n / per_pe && rc >= 0; i++) {
        first = note->next_core + i * per_pe;
        cores = per_pe == 1 ? hrun_strf("%d", first) : hrun_strf("%d-%d", first, first + per_pe - 1);
        if (!cores)
            return hrun_fail_nomem(err);
        struct hrun_pe pe = { host, note->next_pe++, (char *)"", cores, per_pe, per_pe,
                              w->memory / (uint64_t)n * (uint64_t)per_pe };
        rc = add_pe(l, w, kind, &pe, 0, err);
        free(cores);
    }
    note->next_core += n;
    return rc < 0 ? -1 : 0;
}

int hrun_described_pes(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    return l->c->hosts[host].topo ? add_known(l, e, host, w, err) : add_numbers(l, e, host, w, err);
}
