/* described.c - hosts and PEs of a cluster file's sub-clusters; see clusterfile.h for the contracts */
#include "base/alloc.h"
#include "cluster/clusterfile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------- hosts */

/* 1 if the host has PEs of this kind already, else 0. */
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

/* Check a host that an earlier entry, or this one, names: each entry needs its own core kind. Result: host or -1. */
static int check_again(struct load *l, unsigned e, int host, const char *name,
                       const struct hrun_topo *described, struct hrun_error *err)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    const struct sub_entry *other = &l->file->subclusters[l->notes[host].entry];
    const struct hrun_host *h = &l->c->hosts[host];
    autofree char *where = other->name ? hrun_strf("sub-cluster '%s'", other->name)
                                       : hrun_strf("sub-cluster %u", l->notes[host].entry + 1);

    if (l->notes[host].last_entry == e)
        return FAIL(l, e, "hosts", 0, err, "host '%s' is listed twice in this sub-cluster%s%s%s", name,
                    strcasecmp(h->name, name) ? " (it is the same machine as '" : "",
                    strcasecmp(h->name, name) ? h->name : "", strcasecmp(h->name, name) ? "')" : "");
    if (!entry->kind || !other->kind || kind_taken(l->c, host, entry->kind))
        return FAIL(l, e, "hosts", 0, err, "host '%s' stands already in %s; a host can be in two sub-clusters "
                    "only by its core kinds, each with its own 'kind'", name, where);
    if (described && !h->is_local && (!other->topology || strcmp(entry->topology, other->topology)))
        return FAIL(l, e, "topology", 0, err, "host '%s' is described otherwise in %s", name, where);
    l->notes[host].last_entry = e;
    return host;
}

int hrun_described_host(struct load *l, unsigned e, const char *name, struct hrun_topo *described,
                        struct hrun_error *err)
{
    struct hrun_topo *topo = described;
    struct hrun_host_answer *answer = NULL;
    struct hrun_error why;
    int host, is_local;

    if (hrun_resolver_look(l->resolver, name, &is_local, &why))
        return FAIL(l, e, "hosts", 0, err, "%s", why.text);
    for (host = 0; host < l->c->nhosts; host++)
        if (!strcasecmp(l->c->hosts[host].name, name) || (is_local && host == l->local))
            return check_again(l, e, host, name, described, err);
    if (is_local) {
        topo = hrun_topo_load(HRUN_TOPO_THIS, NULL, err);
        if (!topo)
            return -1;
        hrun_cluster_add_topo(l->c, topo, 0);
    } else if (!described && (size_t)l->next_asked < l->asked.n && !strcasecmp(l->asked.v[l->next_asked], name)) {
        answer = l->answers[l->next_asked];     /* answers and calls are in the order of the file */
        l->answers[l->next_asked++] = NULL;
        topo = answer->topo;
    }
    l->notes = xrealloc(l->notes, ((size_t)host + 1) * sizeof *l->notes);
    l->notes[host] = (struct host_note){ e, e, 0, 0 };
    if (is_local)
        l->local = host;
    hrun_cluster_add_host(l->c, name, is_local, 0, topo, answer);
    return hrun_grant(l->d, host, name, err) ? -1 : host;
}

/* 1 if the file names host i of entry e earlier, else 0. The first place determines the host's topology. */
static int is_named_before(const struct load *l, unsigned e, size_t i, const char *name)
{
    for (unsigned b = 0; b <= e; b++)
        for (size_t k = 0; k < l->hosts[b].v.n && (b < e || k < i); k++)
            if (!strcasecmp(l->hosts[b].v.v[k], name))
                return 1;
    return 0;
}

/* Collect the hosts that the file does not describe, entry by entry. */
static int list_unknown(struct load *l, int **entries, struct hrun_error *err)
{
    struct hrun_error why;
    int is_local;

    for (unsigned e = 0; e < l->file->subclusters_count; e++) {
        for (size_t i = 0; i < l->hosts[e].v.n; i++) {
            const char *name = l->hosts[e].v.v[i];

            if (!*name || l->file->subclusters[e].cores || l->file->subclusters[e].topology ||
                is_named_before(l, e, i, name))
                continue;
            if (hrun_resolver_look(l->resolver, name, &is_local, &why))
                return FAIL(l, e, "hosts", 0, err, "%s", why.text);
            if (is_local)
                continue;
            *entries = xrealloc(*entries, (l->asked.n + 1) * sizeof **entries);
            (*entries)[l->asked.n] = (int)e;
            hrun_strvec_push(&l->asked, name);
        }
    }
    return 0;
}

/* Remove the hosts that did not answer from the lists of the file and from l->asked. */
static void forget_silent(struct load *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->asked.n; i++) {
        char *name = l->asked.v[i];

        if (l->answers[i]) {
            l->asked.v[kept] = name;
            l->answers[kept++] = l->answers[i];
            continue;
        }
        for (unsigned e = 0; e < l->file->subclusters_count; e++)
            for (size_t k = 0; k < l->hosts[e].v.n; k++)
                if (!strcasecmp(l->hosts[e].v.v[k], name))
                    l->hosts[e].v.v[k][0] = 0;
        free(name);
    }
    if (l->asked.v)
        l->asked.v[l->asked.n = kept] = NULL;
}

int hrun_described_ask(struct load *l, struct hrun_error *err)
{
    autofree int *entries = NULL;
    struct hrun_error why;
    int bad = -1, rc;

    if (!l->d->req->topologies)
        return 0;
    if (list_unknown(l, &entries, err))
        return -1;
    l->answers = xcalloc(l->asked.n + 1, sizeof *l->answers);
    rc = l->asked.n ? hrun_ask_hosts(l->d, l->asked.v, (int)l->asked.n, l->answers, &bad, &why) : 0;
    if (rc && bad >= 0)
        FAIL(l, (unsigned)entries[bad], "hosts", 0, err, "%s", why.text);
    else if (rc)
        hrun_fail(err, why.code, "%s", why.text);
    else
        forget_silent(l);
    return rc;
}

/* *out gets the number of the kind that entry e names, -1 if e names none. */
static int find_kind(const struct load *l, unsigned e, const char *host, const struct hrun_topo *t, int *out,
                     struct hrun_error *err)
{
    const char *kind = l->file->subclusters[e].kind;
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;
    int n = hrun_topo_nkinds(t);

    *out = -1;
    for (int k = 0; k < n && kind; k++)
        if (!strcmp(hrun_topo_kind_name(t, k), kind))
            *out = k;
    if (!kind || *out >= 0)
        return 0;
    for (int k = 0; k < n; k++)
        hrun_buf_addf(&b, "%s%s", k ? ", " : "", hrun_topo_kind_name(t, k));
    if (n == 1)
        return FAIL(l, e, "kind", 0, err, "host '%s' has no core kind '%s': all its cores are alike, so leave "
                    "'kind' out", host, kind);
    return FAIL(l, e, "kind", 0, err, "host '%s' has no core kind '%s'; it has %s", host, kind, b.data);
}

/* ---------------------------------------------------------------- PEs */

static void add_described_pe(struct load *l, const struct wanted *w, const char *model, const char *kind,
                             const struct hrun_pe *pe, int npus)
{
    struct hrun_pe_key key = { model, kind, w->level, pe->ncores, npus, 0, 1, NULL, 0, 0 };

    hrun_cluster_add_pe(l->c, hrun_cluster_find_sub(l->c, w->first_sub, &key), pe);
}

/* How many cores of a host entry e uses. have: the host's cores, of the entry's kind or all. -1: too few. */
static int cores_wanted(struct load *l, unsigned e, const struct hrun_host *h, const struct wanted *w, int have,
                        struct hrun_error *err)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    int want = have, kind;

    if (entry->cores) {
        want = *entry->cores;
        if (want > have)
            return FAIL(l, e, "cores", 0, err, "host '%s' is described with %d cores%s%s, it has %d that can "
                        "be used", h->name, want, entry->kind ? " of kind " : "", entry->kind ? entry->kind : "",
                        have);
    } else if (h->is_local && w->described) {
        if (find_kind(l, e, h->name, w->described, &kind, err))
            return -1;
        want = hrun_topo_ncores(w->described, kind);
        if (want > have)
            return FAIL(l, e, "topology", 0, err, "host '%s' is described with %d cores, it has %d that can "
                        "be used", h->name, want, have);
    }
    return want;
}

/* Add the PEs of a host that is described by numbers only. */
static int add_counted_pes(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    const char *name = l->c->hosts[host].name, *kind = entry->kind ? entry->kind : "";
    struct host_note *note = &l->notes[host];
    int n, all, per_pe, first;

    if (!entry->cores)
        return FAIL(l, e, "", 0, err, "the hardware of host '%s' is unknown; add 'cores: 16' and 'memory: "
                    "64GiB', or 'topology: FILE.xml'", name);
    n = all = *entry->cores;
    if (l->c->hosts[host].cores && note->next_core + n > l->c->hosts[host].cores)
        n = l->c->hosts[host].cores - note->next_core;
    if (n <= 0)
        return 0;       /* earlier entries use all granted cores */
    if (w->level != HRUN_LEVEL_NODE && w->level != HRUN_LEVEL_CORE)
        return FAIL(l, e, entry->level ? "level" : "", 0, err, "level '%s' of host '%s' needs its topology; "
                    "add 'topology: FILE.xml' or take level node or core", hrun_level_name(w->level), name);
    if (n > INT_MAX - note->next_core)
        return FAIL(l, e, "cores", 0, err, "host '%s' cannot have so many cores", name);
    per_pe = w->level == HRUN_LEVEL_NODE ? n : 1;
    for (int i = 0; i < n / per_pe; i++) {
        struct hrun_pe pe = { host, note->next_pe++, "", NULL, "", per_pe, per_pe,
                              w->memory / (uint64_t)all * (uint64_t)per_pe };

        first = note->next_core + i * per_pe;
        hrun_strvec_pushf(&l->c->texts, per_pe == 1 ? "%d" : "%d-%d", first, first + per_pe - 1);
        pe.cores = l->c->texts.v[l->c->texts.n - 1];
        add_described_pe(l, w, w->cpu_model, kind, &pe, 0);
    }
    note->next_core += n;
    return 0;
}

int hrun_described_pes(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    const struct sub_entry *entry = &l->file->subclusters[e];
    const struct hrun_host *h = &l->c->hosts[host];
    const struct hrun_cut *cut;
    struct hrun_error why;
    const char *model = w->cpu_model;
    int kind, have, want, faster, before = 0, most;

    if (!h->topo)
        return add_counted_pes(l, e, host, w, err);
    if (find_kind(l, e, h->name, h->topo, &kind, err) || hrun_host_ncores(l->c, h, kind, &have, err) ||
        (want = cores_wanted(l, e, h, w, have, err)) < 0)
        return -1;
    /* PEs get cores by kind, the fastest first, so the cores of faster kinds precede this kind's. */
    for (int k = 0; k < kind; k++) {
        if (hrun_host_ncores(l->c, h, k, &faster, err))
            return -1;
        before += faster;
    }
    most = h->cores && h->cores < before + want ? h->cores : before + want;
    cut = hrun_host_cut(l->c, h, w->level, most, &why);
    if (!cut)
        return FAIL(l, e, entry->level ? "level" : "hosts", 0, err, "host '%s': %s", h->name,
                                              why.text);
    /* The host's own CPU model has precedence over that of other hosts of the entry. */
    if (!entry->cpu && !w->described && strcmp(hrun_host_cpu_model(h), "unknown"))
        model = hrun_host_cpu_model(h);
    for (int i = 0; i < cut->n; i++) {
        const struct hrun_topo_pe *p = &cut->pes[i];
        uint64_t memory = hrun_host_memory(h, cut, i), stated = w->memory / (uint64_t)want * (uint64_t)p->ncores;

        if (kind >= 0 && p->kind != kind)
            continue;
        if (w->memory && !(h->is_local && memory && memory < stated))
            memory = stated;
        struct hrun_pe pe = { host, i, p->cpuset, p->cores, p->core_pus, p->ncores, p->npus, memory };
        add_described_pe(l, w, model, hrun_topo_kind_name(h->topo, p->kind), &pe, pe.npus);
    }
    return 0;
}
