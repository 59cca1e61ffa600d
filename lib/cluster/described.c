/* described.c - PEs of hosts whose topology is known, and hosts and PEs of a cluster file's sub-clusters; see
 * private.h and clusterfile.h for the contracts */
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

/* ---------------------------------------------------------------- hosts that told their topology */

/* PUs and cores are counted by the kernel and hwloc; no machine has so many. */
enum { NUMBER_MAX = 1 << 20 };

/* One byte for each number up to the largest of a list such as "0-3,8": 1 if it is in the list. NULL: it is no
 * list, or memory ran out. */
static char *read_list(const char *list, int *size)
{
    char *set = NULL, *end;
    const char *p;
    long a, b, most;

    for (int pass = 0; pass < 2; pass++) {
        most = -1;
        for (p = list; ; p = end + 1) {
            if (*p < '0' || *p > '9')
                goto bad;
            a = b = strtol(p, &end, 10);
            if (*end == '-' && end[1] >= '0' && end[1] <= '9')
                b = strtol(end + 1, &end, 10);
            if (b < a || b >= NUMBER_MAX)
                goto bad;
            for (long i = a; set && i <= b; i++)
                set[i] = 1;
            most = b > most ? b : most;
            if (*end != ',')
                break;
        }
        if (*end)
            goto bad;
        if (!set)
            set = calloc((size_t)most + 1, 1);
        if (!set)
            return NULL;
    }
    *size = (int)most + 1;
    return set;
bad:
    free(set);
    return NULL;
}

/* The list of a set, in fresh memory, and how many are in it. */
static char *print_list(const char *set, int size, int *count)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    int last;

    *count = 0;
    for (int i = 0; i < size; i = last + 1) {
        last = i;
        if (!set[i])
            continue;
        while (last + 1 < size && set[last + 1])
            last++;
        hrun_buf_addf(&b, last > i ? "%s%d-%d" : "%s%d", b.len ? "," : "", i, last);
        *count += last - i + 1;
    }
    return hrun_buf_detach(&b);
}

/* What hwloc says of a told topology, as sets. */
struct cut {
    struct hrun_topo_pe *cores, *full;  /* PEs of level core, and of the level wanted */
    char **pus;                 /* of each core, those that may be used; NULL: the core is not used */
    int ncores, nfull;
    int npus, nnumbers;         /* length of each pus[i]; of a set of logical core numbers */
    int *home;                  /* of each core, the PE of `full` that holds it */
    int used;                   /* cores that may be used */
    uint64_t memory;            /* theirs */
};

static void cut_release(struct cut *k)
{
    for (int i = 0; k->pus && i < k->ncores; i++)
        free(k->pus[i]);
    free(k->pus);
    free(k->home);
    hrun_topo_pes_free(k->cores, k->ncores);
    hrun_topo_pes_free(k->full, k->nfull);
}

/* Which PE of `full` holds each core; both speak of cores by logical number. */
static int find_homes(struct cut *k)
{
    int *owner = NULL, size;
    char *set;

    for (int i = 0; i < k->ncores; i++) {
        size = (int)strtol(k->cores[i].cores, NULL, 10) + 1;
        k->nnumbers = size > k->nnumbers ? size : k->nnumbers;
    }
    owner = calloc((size_t)k->nnumbers, sizeof *owner);
    for (int f = 0; owner && f < k->nfull; f++) {
        set = read_list(k->full[f].cores, &size);
        if (!set) {
            free(owner);
            return -1;
        }
        for (int i = 0; i < size && i < k->nnumbers; i++)
            if (set[i])
                owner[i] = f;
        free(set);
    }
    for (int i = 0; owner && i < k->ncores; i++)
        k->home[i] = owner[strtol(k->cores[i].cores, NULL, 10)];
    free(owner);
    return owner ? 0 : -1;
}

static int cut_topo(const struct hrun_host *h, enum hrun_level level, struct cut *k, struct hrun_error *err)
{
    const struct hrun_topo *t = h->topo;
    char *usable = read_list(h->told->usable, &k->npus), *set;
    int size, any;

    if (!usable)
        return hrun_fail(err, HRUN_EINVAL, "host '%s' tells '%.60s' as the PUs that may be used there; install "
                         "the same hrun there", h->name, h->told->usable);
    if (hrun_topo_pes(t, level, 0, &k->full, &k->nfull, err) ||
        hrun_topo_pes(t, HRUN_LEVEL_CORE, 0, &k->cores, &k->ncores, err))
        goto fail;
    k->pus = calloc((size_t)k->ncores, sizeof *k->pus);
    k->home = calloc((size_t)k->ncores, sizeof *k->home);
    if (!k->pus || !k->home || find_homes(k))
        goto nomem;
    for (int i = 0; i < k->ncores; i++) {
        set = read_list(k->cores[i].cpuset, &size);
        k->pus[i] = calloc((size_t)k->npus, 1);
        if (!set || !k->pus[i]) {
            free(set);
            goto nomem;
        }
        any = 0;
        for (int p = 0; p < size && p < k->npus; p++)
            any |= k->pus[i][p] = set[p] && usable[p];
        free(set);
        if (any) {
            k->used++;
            k->memory += k->cores[i].memory_bytes;
        } else {
            free(k->pus[i]);
            k->pus[i] = NULL;
        }
    }
    if (!k->used) {
        hrun_fail(err, HRUN_EINVAL, "host '%s' may use none of its cores: it tells PUs %.60s, and hwloc there "
                  "knows others", h->name, h->told->usable);
        goto fail;
    }
    free(usable);
    return 0;
nomem:
    hrun_fail_nomem(err);
fail:
    free(usable);
    return -1;
}

/* Fill *pe with the cores among the first max_cores used ones whose home is `home`. */
static int fill_pe(const struct cut *k, const struct hrun_told *told, int max_cores, int home,
                   struct hrun_topo_pe *pe)
{
    char *pus = calloc((size_t)k->npus, 1), *numbers = calloc((size_t)k->nnumbers, 1);
    int left = max_cores;
    uint64_t memory = 0;

    for (int i = 0; pus && numbers && i < k->ncores && left > 0; i++) {
        if (!k->pus[i])
            continue;
        left--;
        if (k->home[i] != home)
            continue;
        for (int p = 0; p < k->npus; p++)
            pus[p] |= k->pus[i][p];
        numbers[strtol(k->cores[i].cores, NULL, 10)] = 1;
        memory += k->cores[i].memory_bytes;
    }
    if (pus && numbers) {
        pe->kind = k->full[home].kind;
        pe->cpuset = print_list(pus, k->npus, &pe->npus);
        pe->cores = print_list(numbers, k->nnumbers, &pe->ncores);
        /* What the host says it has in all, shared out as the topology shares it out. */
        if (told->memory_bytes == k->memory)
            pe->memory_bytes = memory;
        else if (k->memory)
            pe->memory_bytes = (uint64_t)((double)memory / (double)k->memory * (double)told->memory_bytes);
        else
            pe->memory_bytes = told->memory_bytes / (uint64_t)k->used * (uint64_t)pe->ncores;
    }
    free(pus);
    free(numbers);
    return pe->cpuset && pe->cores ? 0 : -1;
}

int hrun_host_pes(const struct hrun_host *h, enum hrun_level level, int max_cores, struct hrun_topo_pe **pes,
                  int *n, struct hrun_error *err)
{
    struct cut k = { 0 };
    struct hrun_topo_pe *list = NULL;
    char *seen = NULL;
    int count = 0, left, rc = -1;

    if (!h->told || !h->told->usable)
        return hrun_topo_pes(h->topo, level, max_cores, pes, n, err);
    if (cut_topo(h, level, &k, err))
        goto done;
    if (max_cores <= 0 || max_cores > k.used)
        max_cores = k.used;
    list = calloc((size_t)k.nfull, sizeof *list);
    seen = calloc((size_t)k.nfull, 1);
    if (!list || !seen)
        goto nomem;
    left = max_cores;
    for (int i = 0; i < k.ncores && left > 0; i++) {
        if (!k.pus[i])
            continue;
        left--;
        if (seen[k.home[i]]++)
            continue;
        if (fill_pe(&k, h->told, max_cores, k.home[i], &list[count++]))
            goto nomem;
    }
    *pes = list;
    *n = count;
    list = NULL;
    rc = 0;
    goto done;
nomem:
    hrun_fail_nomem(err);
done:
    hrun_topo_pes_free(list, count);
    free(seen);
    cut_release(&k);
    return rc;
}

int hrun_host_ncores(const struct hrun_host *h, int kind, int *n, struct hrun_error *err)
{
    struct hrun_topo_pe *pes = NULL;
    int count = 0, npes;

    if (!h->told || !h->told->usable) {
        *n = hrun_topo_ncores(h->topo, kind);
        return 0;
    }
    if (hrun_host_pes(h, HRUN_LEVEL_CORE, 0, &pes, &npes, err))
        return -1;
    for (int i = 0; i < npes; i++)
        count += kind < 0 || pes[i].kind == kind;
    hrun_topo_pes_free(pes, npes);
    *n = count;
    return 0;
}

const char *hrun_host_cpu_model(const struct hrun_host *h)
{
    return h->told && h->told->cpu_model ? h->told->cpu_model : hrun_topo_cpu_model(h->topo);
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
        return FAIL(l, e, "hosts", 0, err, "host '%s' is listed twice in this sub-cluster%s%s%s", name,
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

/* Its number among the hosts that were asked, or -1. They come in the order of the file, as the calls do. */
static int find_asked(struct load *l, const char *name)
{
    if ((size_t)l->next_asked < l->asked.n && !strcasecmp(l->asked.v[l->next_asked], name))
        return l->next_asked++;
    return -1;
}

int hrun_described_host(struct load *l, unsigned e, const char *name, struct hrun_topo *described,
                        struct hrun_error *err)
{
    struct hrun_topo *topo = described;
    struct host_note *notes;
    struct hrun_error why;
    int host, is_local, asked = -1;

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
    } else if (!described && (asked = find_asked(l, name)) >= 0) {
        topo = l->told[asked]->topo;
    }
    notes = realloc(l->notes, ((size_t)host + 1) * sizeof *notes);
    if (!notes)
        return hrun_fail_nomem(err);
    l->notes = notes;
    notes[host] = (struct host_note){ e, e, 0, 0 };
    if (is_local)
        l->local = host;
    if (hrun_cluster_add_host(l->c, name, is_local, 0, topo, err) < 0)
        return -1;
    if (asked >= 0) {
        l->c->hosts[host].told = l->told[asked];
        l->told[asked] = NULL;
    }
    return host;
}

/* Is host i of entry e named before? Then what stands there counts. */
static int stands_before(const struct load *l, unsigned e, size_t i, const char *name)
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
    int is_local, *grown;

    for (unsigned e = 0; e < l->file->subclusters_count; e++) {
        for (size_t i = 0; i < l->hosts[e].v.n; i++) {
            const char *name = l->hosts[e].v.v[i];

            if (!*name || l->file->subclusters[e].cores || l->file->subclusters[e].topology ||
                stands_before(l, e, i, name))
                continue;
            if (hrun_resolver_look(l->resolver, name, &is_local, &why))
                return why.code == HRUN_ENOMEM ? hrun_fail_nomem(err) : FAIL(l, e, "hosts", 0, err, "%s", why.text);
            if (is_local)
                continue;
            grown = realloc(*entries, (l->asked.n + 1) * sizeof **entries);
            if (!grown || (*entries = grown, hrun_strvec_push(&l->asked, name)))
                return hrun_fail_nomem(err);
            (*entries)[l->asked.n - 1] = (int)e;
        }
    }
    return 0;
}

int hrun_described_ask(struct load *l, const struct hrun_cluster_request *req, struct hrun_error *err)
{
    struct hrun_error why;
    int *entries = NULL, bad = -1, rc = -1;

    if (!req->topologies)
        return 0;
    if (list_unknown(l, &entries, err))
        goto done;
    l->told = calloc(l->asked.n + 1, sizeof *l->told);
    if (!l->told) {
        hrun_fail_nomem(err);
        goto done;
    }
    rc = l->asked.n ? hrun_told_ask(req, l->c, l->asked.v, (int)l->asked.n, l->told, &bad, &why) : 0;
    if (rc && bad >= 0)
        FAIL(l, (unsigned)entries[bad], "hosts", 0, err, "%s", why.text);
    else if (rc)
        hrun_fail(err, why.code, "%s", why.text);
done:
    free(entries);
    return rc;
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

static int add_pe(struct load *l, const struct wanted *w, const char *model, const char *kind,
                  const struct hrun_pe *pe, int npus, struct hrun_error *err)
{
    struct hrun_pe_key key = { model, kind, w->level, pe->ncores, npus, 0 };
    int sub = hrun_cluster_find_sub(l->c, w->first_sub, &key, err);

    return sub < 0 ? -1 : hrun_cluster_add_pe(l->c, sub, pe, err);
}

/* The CPU model of a host: what hwloc there says counts before what it says of other hosts of the entry. */
static const char *model_of(const struct entry *entry, const struct hrun_host *h, const struct wanted *w)
{
    if (entry->cpu || w->described || !h->topo || !strcmp(hrun_host_cpu_model(h), "unknown"))
        return w->cpu_model;
    return hrun_host_cpu_model(h);
}

/* A host whose topology is known. */
static int add_known(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    const struct entry *entry = &l->file->subclusters[e];
    const struct hrun_host *h = &l->c->hosts[host];
    struct hrun_topo_pe *pes = NULL;
    struct hrun_error why;
    const char *model = model_of(entry, h, w);
    int kind, have, want, faster, before = 0, n = 0, rc = -1, dkind;
    uint64_t memory;

    if (find_kind(l, e, h->name, h->topo, &kind, err))
        return -1;
    if (hrun_host_ncores(h, kind, &have, err))
        return -1;
    want = have;
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
    for (int k = 0; k < kind; k++) {
        if (hrun_host_ncores(h, k, &faster, err))
            return -1;
        before += faster;
    }
    if (hrun_host_pes(h, w->level, before + want, &pes, &n, &why)) {
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
        if (add_pe(l, w, model, hrun_topo_kind_name(h->topo, pes[i].kind), &pe, pe.npus, err) < 0)
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
        rc = add_pe(l, w, w->cpu_model, kind, &pe, 0, err);
        free(cores);
    }
    note->next_core += n;
    return rc < 0 ? -1 : 0;
}

int hrun_described_pes(struct load *l, unsigned e, int host, const struct wanted *w, struct hrun_error *err)
{
    return l->c->hosts[host].topo ? add_known(l, e, host, w, err) : add_numbers(l, e, host, w, err);
}
