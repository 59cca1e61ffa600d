/* cut.c - PEs of hosts whose topology is known, cut once for all hosts that are alike; see internal.h for the
 * contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hrun_cuts {
    struct hrun_cut **v;
    int n, cap;
    char **texts;               /* other strings of PEs */
    int ntexts, texts_cap;
};

/* ---------------------------------------------------------------- lists as sets */

/* One byte for each number up to the largest of a list such as "0-3,8": 1 if it is in the list. NULL, and *size = -1:
 * it is no list. */
static char *read_number_set(const char *list, int *size)
{
    char *set = NULL;
    const char *p;
    long first, last, most;

    for (int pass = 0; pass < 2; pass++) {
        most = -1;
        for (p = list; ; p++) {
            p = hrun_range_next(p, HRUN_RANGES_MAX, &first, &last);
            if (!p || (*p && *p != ',')) {
                *size = -1;
                return NULL;
            }
            for (long i = first; set && i <= last; i++)
                set[i] = 1;
            most = last > most ? last : most;
            if (!*p)
                break;
        }
        if (!set)
            set = xcalloc((size_t)most + 1, 1);
    }
    *size = (int)most + 1;
    return set;
}

/* The list of a set, in fresh memory, and how many are in it. */
static char *print_number_set(const char *set, int size, int *count)
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
        hrun_range_add(&b, 0, i, last);
        *count += last - i + 1;
    }
    return hrun_buf_detach(&b);
}

/* ---------------------------------------------------------------- cutting */

/* What hwloc says of a told topology, as sets. */
struct sets {
    struct hrun_topo_pe *cores, *full;  /* PEs of level core, and of the level wanted */
    char **pus;                 /* of each core, those that may be used; NULL: the core is not used */
    int ncores, nfull;
    int npus, nnumbers;         /* length of each pus[i]; of a set of logical core numbers */
    int *home;                  /* of each core, the PE of `full` that holds it */
    int used;                   /* cores that may be used */
    uint64_t memory;            /* theirs */
};

static void sets_release(struct sets *k)
{
    for (int i = 0; k->pus && i < k->ncores; i++)
        free(k->pus[i]);
    free(k->pus);
    free(k->home);
    hrun_topo_pes_free(k->cores, k->ncores);
    hrun_topo_pes_free(k->full, k->nfull);
}

/* Which PE of `full` holds each core; both speak of cores by logical number. */
static void find_homes(struct sets *k)
{
    autofree int *owner = NULL;
    int size;

    for (int i = 0; i < k->ncores; i++) {
        size = (int)strtol(k->cores[i].cores, NULL, 10) + 1;
        k->nnumbers = size > k->nnumbers ? size : k->nnumbers;
    }
    owner = xcalloc((size_t)k->nnumbers, sizeof *owner);
    for (int f = 0; f < k->nfull; f++) {
        autofree char *set = read_number_set(k->full[f].cores, &size);

        for (int i = 0; i < size && i < k->nnumbers; i++)
            if (set[i])
                owner[i] = f;
    }
    for (int i = 0; i < k->ncores; i++)
        k->home[i] = owner[strtol(k->cores[i].cores, NULL, 10)];
}

static int make_sets(const struct hrun_host *h, enum hrun_level level, struct sets *k, struct hrun_error *err)
{
    const struct hrun_topo *t = h->topo;
    autofree char *usable = read_number_set(h->answer->usable, &k->npus);
    int size, any;

    if (!usable)
        return hrun_fail(err, HRUN_EINVAL, "host '%s' tells '%.60s' as the PUs that may be used there; install "
                         "the same hrun there", h->name, h->answer->usable);
    if (hrun_topo_pes(t, level, 0, &k->full, &k->nfull, err) ||
        hrun_topo_pes(t, HRUN_LEVEL_CORE, 0, &k->cores, &k->ncores, err))
        return -1;
    k->pus = xcalloc((size_t)k->ncores, sizeof *k->pus);
    k->home = xcalloc((size_t)k->ncores, sizeof *k->home);
    find_homes(k);
    for (int i = 0; i < k->ncores; i++) {
        autofree char *set = read_number_set(k->cores[i].cpuset, &size);

        k->pus[i] = xcalloc((size_t)k->npus, 1);
        any = 0;
        for (int p = 0; p < size && p < k->npus; p++)
            any |= k->pus[i][p] = set[p] && usable[p];
        if (any) {
            k->used++;
            k->memory += k->cores[i].memory_bytes;
        } else {
            free(k->pus[i]);
            k->pus[i] = NULL;
        }
    }
    if (!k->used)
        return hrun_fail(err, HRUN_EINVAL, "host '%s' may use none of its cores: it tells PUs %.60s, and hwloc there "
                         "knows others", h->name, h->answer->usable);
    return 0;
}

/* Fill *pe with the cores among the first max_cores used ones whose home is `home`. */
static void fill_pe(const struct sets *k, int max_cores, int home, struct hrun_topo_pe *pe)
{
    autofree char *pus = xcalloc((size_t)k->npus, 1);
    autofree char *numbers = xcalloc((size_t)k->nnumbers, 1);
    struct hrun_buf core_pus = HRUN_BUF_INIT;
    int left = max_cores, count;

    for (int i = 0; i < k->ncores && left > 0; i++) {
        autofree char *one = NULL;

        if (!k->pus[i])
            continue;
        left--;
        if (k->home[i] != home)
            continue;
        for (int p = 0; p < k->npus; p++)
            pus[p] |= k->pus[i][p];
        one = print_number_set(k->pus[i], k->npus, &count);
        hrun_buf_addf(&core_pus, "%s%s", core_pus.len ? ";" : "", one);
        numbers[strtol(k->cores[i].cores, NULL, 10)] = 1;
        pe->memory_bytes += k->cores[i].memory_bytes;
    }
    pe->kind = k->full[home].kind;
    pe->cpuset = print_number_set(pus, k->npus, &pe->npus);
    pe->cores = print_number_set(numbers, k->nnumbers, &pe->ncores);
    pe->core_pus = hrun_buf_detach(&core_pus);
}

/* Cut a host that told what may be used there. */
static int cut_answered(const struct hrun_host *h, struct hrun_cut *cut, struct hrun_error *err)
{
    autorelease(sets_release) struct sets k = { 0 };
    autofree char *seen = NULL;
    int left;

    if (make_sets(h, cut->level, &k, err))
        return -1;
    left = cut->max_cores > 0 && cut->max_cores < k.used ? cut->max_cores : k.used;
    cut->memory = k.memory;
    cut->ncores = k.used;
    cut->pes = xcalloc((size_t)k.nfull, sizeof *cut->pes);
    seen = xcalloc((size_t)k.nfull, 1);
    for (int i = 0, most = left; i < k.ncores && left > 0; i++) {
        if (!k.pus[i])
            continue;
        left--;
        if (seen[k.home[i]])
            continue;
        seen[k.home[i]] = 1;
        fill_pe(&k, most, k.home[i], &cut->pes[cut->n++]);
    }
    return 0;
}

static void cut_destroy(struct hrun_cut *cut)
{
    if (!cut)
        return;
    hrun_topo_pes_free(cut->pes, cut->n);
    free(cut->usable);
    free(cut);
}

static struct hrun_cuts *own_cuts(struct hrun_cluster *c)
{
    if (!c->cuts)
        c->cuts = xcalloc(1, sizeof *c->cuts);
    return c->cuts;
}

static const char *usable_of(const struct hrun_host *h)
{
    return h->answer ? h->answer->usable : NULL;
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

const struct hrun_cut *hrun_host_cut(struct hrun_cluster *c, const struct hrun_host *h, enum hrun_level level,
                                     int max_cores, struct hrun_error *err)
{
    struct hrun_cuts *cuts = own_cuts(c);
    const char *usable = usable_of(h);
    struct hrun_cut *cut;

    if (max_cores < 0)
        max_cores = 0;
    /* The last first: neighbours are often alike. */
    for (int i = cuts->n - 1; i >= 0; i--) {
        cut = cuts->v[i];
        if (cut->topo == h->topo && cut->level == level && cut->max_cores == max_cores &&
            same_text(cut->usable, usable))
            return cut;
    }
    hrun_grow(cuts->v, cuts->n + 1, cuts->cap);
    cut = xcalloc(1, sizeof *cut);
    *cut = (struct hrun_cut){ h->topo, usable ? xstrdup(usable) : NULL, level, max_cores, NULL, 0, 0, 0 };
    if (usable ? cut_answered(h, cut, err) : hrun_topo_pes(h->topo, level, max_cores, &cut->pes, &cut->n, err)) {
        cut_destroy(cut);
        return NULL;
    }
    return cuts->v[cuts->n++] = cut;
}

const char *hrun_cuts_keep(struct hrun_cluster *c, char *text)
{
    struct hrun_cuts *cuts = own_cuts(c);

    hrun_grow(cuts->texts, cuts->ntexts + 1, cuts->texts_cap);
    return cuts->texts[cuts->ntexts++] = text;
}

void hrun_cuts_destroy(struct hrun_cuts *cuts)
{
    if (!cuts)
        return;
    for (int i = 0; i < cuts->n; i++)
        cut_destroy(cuts->v[i]);
    for (int i = 0; i < cuts->ntexts; i++)
        free(cuts->texts[i]);
    free(cuts->v);
    free(cuts->texts);
    free(cuts);
}

/* ---------------------------------------------------------------- what a host has */

/* What the host says it has in all, shared out as the topology shares it out. */
uint64_t hrun_host_memory(const struct hrun_host *h, const struct hrun_cut *cut, int pe)
{
    const struct hrun_topo_pe *p = &cut->pes[pe];

    if (!usable_of(h) || h->answer->memory_bytes == cut->memory)
        return p->memory_bytes;
    if (cut->memory)
        return (uint64_t)((double)p->memory_bytes / (double)cut->memory * (double)h->answer->memory_bytes);
    return h->answer->memory_bytes / (uint64_t)cut->ncores * (uint64_t)p->ncores;
}

int hrun_host_ncores(struct hrun_cluster *c, const struct hrun_host *h, int kind, int *n, struct hrun_error *err)
{
    const struct hrun_cut *cut;
    int count = 0;

    if (!usable_of(h)) {
        *n = hrun_topo_ncores(h->topo, kind);
        return 0;
    }
    cut = hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err);
    if (!cut)
        return -1;
    for (int i = 0; i < cut->n; i++)
        count += kind < 0 || cut->pes[i].kind == kind;
    *n = count;
    return 0;
}

int hrun_host_granted(struct hrun_cluster *c, const struct hrun_host *h, int npus, int *ncores, struct hrun_error *err)
{
    const struct hrun_cut *cut = hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err);
    int left = npus, n = 0;

    if (!cut)
        return -1;
    while (n < cut->n && cut->pes[n].npus <= left)
        left -= cut->pes[n++].npus;
    *ncores = n ? n : 1;
    return 0;
}

const char *hrun_host_cpu_model(const struct hrun_host *h)
{
    return h->answer && h->answer->cpu_model ? h->answer->cpu_model : hrun_topo_cpu_model(h->topo);
}

static int by_core(const void *pa, const void *pb)
{
    const struct hrun_core *a = pa, *b = pb;

    return (a->number > b->number) - (a->number < b->number);
}

/* Of a host that is known by numbers. Result: how many there are in room[most]. */
static int numbered_cores(const struct hrun_cluster *c, int host, struct hrun_core *room, int most)
{
    int n = 0;

    for (int i = 0; i < c->nsubs; i++)
        for (int p = 0; p < c->subs[i].npes; p++) {
            const char *text = c->subs[i].pes[p].host == host ? c->subs[i].pes[p].cores : NULL;
            long first, last;

            while (text && *text && (text = hrun_range_next(text, HRUN_RANGES_MAX, &first, &last))) {
                for (long k = first; k <= last && n < most; k++)
                    room[n++] = (struct hrun_core){ (int)k, "", { 0, -1, -1, -1, -1, -1, (int)k } };
                text += *text == ',';
            }
        }
    return n;
}

int hrun_host_cores(struct hrun_cluster *c, int host, struct hrun_core **cores, int *n, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = h->topo ? hrun_host_cut(c, h, HRUN_LEVEL_CORE, 0, err) : NULL;
    int count = 0;
    long number = 0;
    struct hrun_core *v;

    if (h->topo && !cut)
        return -1;
    for (int i = 0; i < c->nsubs && !cut; i++)
        for (int p = 0; p < c->subs[i].npes; p++)
            count += c->subs[i].pes[p].host == host ? c->subs[i].pes[p].ncores : 0;
    v = xcalloc((size_t)(cut ? cut->n : count) + 1, sizeof *v);
    for (int i = 0; cut && i < cut->n; i++) {
        hrun_range_next(cut->pes[i].cores, HRUN_RANGES_MAX, &number, &number);
        v[i] = (struct hrun_core){ .number = (int)number, .pus = cut->pes[i].cpuset };
        for (int k = 0; k < HRUN_NOBJECTS; k++)
            v[i].at[k] = hrun_topo_object(h->topo, v[i].number, (enum hrun_object)k);
    }
    *n = cut ? cut->n : numbered_cores(c, host, v, count);
    qsort(v, (size_t)*n, sizeof *v, by_core);
    *cores = v;
    return 0;
}
