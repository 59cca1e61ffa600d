/* cluster.c - putting a cluster together: hosts, grouping, order, names; see cluster.h and internal.h for the
 * contracts */
#include "cluster/internal.h"

#include "base/alloc.h"
#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

/* ---------------------------------------------------------------- growing */

/* Make room for one more element in array[n]; the capacity is the next power of two. */
static void *grown(void *array, int n, size_t size)
{
    if (n & (n - 1))
        return array;
    return xrealloc(array, (n ? (size_t)n * 2 : 1) * size);
}

int hrun_cluster_add_host(struct hrun_cluster *c, const char *name, int is_local, int slots, struct hrun_topo *topo,
                          struct hrun_host_answer *t)
{
    c->hosts = grown(c->hosts, c->nhosts, sizeof *c->hosts);
    c->hosts[c->nhosts] = (struct hrun_host){
        .name = xstrdup(name), .is_local = is_local, .cores = slots, .slots = slots, .topo = topo, .answer = t,
        .fingerprint = t && t->fingerprint ? t->fingerprint : "", .mpi = t ? t->mpi : NULL,
        .asked_s = t ? t->asked_s : 0, .remembered = t && t->remembered,
        .cpu_quota = t ? t->cpu_quota : topo ? hrun_topo_cpu_quota(topo) : 0
    };
    return c->nhosts++;
}

void hrun_cluster_add_topo(struct hrun_cluster *c, struct hrun_topo *t, uint64_t key)
{
    c->topos = grown(c->topos, c->ntopos, sizeof *c->topos);
    c->topo_keys = grown(c->topo_keys, c->ntopos, sizeof *c->topo_keys);
    c->topo_keys[c->ntopos] = key;
    c->topos[c->ntopos++] = t;
}

int hrun_cluster_find_sub(struct hrun_cluster *c, int first, const struct hrun_pe_key *key)
{
    struct hrun_subcluster *s;

    for (int i = first; i < c->nsubs; i++) {
        s = &c->subs[i];
        if (!strcmp(s->cpu_model, key->cpu_model) && !strcmp(s->core_kind, key->core_kind) &&
            s->level == key->level && s->cores_per_pe == key->ncores &&
            (s->pus_per_pe == key->npus || !s->pus_per_pe || !key->npus) &&
            (key->any_memory || (hrun_round_memory(s->memory_bytes) == key->memory_bytes &&
                                 s->quota_permille == key->quota_permille)) &&
            (!key->network || (s->island == key->island && !strcmp(s->network, key->network)))) {
            if (!s->pus_per_pe)
                s->pus_per_pe = key->npus;
            return i;
        }
    }
    c->subs = grown(c->subs, c->nsubs, sizeof *c->subs);
    s = &c->subs[c->nsubs];
    *s = (struct hrun_subcluster){ .cpu_model = xstrdup(key->cpu_model), .core_kind = xstrdup(key->core_kind),
                                   .level = key->level, .cores_per_pe = key->ncores,
                                   .pus_per_pe = key->npus, .island = key->island,
                                   .quota_permille = key->quota_permille,
                                   .network = key->network ? xstrdup(key->network) : NULL };
    return c->nsubs++;
}

void hrun_cluster_add_pe(struct hrun_cluster *c, int sub, const struct hrun_pe *pe)
{
    struct hrun_subcluster *s = &c->subs[sub];

    s->pes = grown(s->pes, s->npes, sizeof *s->pes);
    s->pes[s->npes++] = *pe;
    /* Keep the smallest known memory; 0 is unknown. */
    if (pe->memory_bytes && (!s->memory_bytes || pe->memory_bytes < s->memory_bytes))
        s->memory_bytes = pe->memory_bytes;
}

static int is_sub_name(const struct hrun_cluster *c, const char *name)
{
    for (int i = 0; i < c->nsubs; i++)
        if (c->subs[i].name && !strcmp(c->subs[i].name, name))
            return 1;
    return 0;
}

void hrun_cluster_name_sub(struct hrun_cluster *c, int sub, const char *base, int with_kind)
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
    for (int i = 2; is_sub_name(c, b.data); i++) {
        b.data[b.len = len] = 0;
        hrun_buf_addf(&b, "-%d", i);
    }
    s->name = hrun_buf_detach(&b);
}

/* ---------------------------------------------------------------- hosts without a cluster file */

int hrun_group_host(struct hrun_cluster *c, int host, enum hrun_level level, struct hrun_error *err)
{
    const struct hrun_host *h = &c->hosts[host];
    const struct hrun_cut *cut = hrun_host_cut(c, h, level, h->cores, err);
    int ncores = 0, quota;

    if (!cut)
        return -1;
    for (int i = 0; i < cut->n; i++)
        ncores += cut->pes[i].ncores;
    quota = h->cpu_quota > 0 && h->cpu_quota < ncores ? (int)fmax(1, round(1000 * h->cpu_quota)) : 0;
    for (int i = 0; i < cut->n; i++) {
        const struct hrun_topo_pe *p = &cut->pes[i];
        uint64_t memory = hrun_host_memory(h, cut, i);
        struct hrun_pe pe = { host, i, p->cpuset, p->cores, p->core_pus, p->ncores, p->npus, memory };
        struct hrun_pe_key key = { hrun_host_cpu_model(h), hrun_topo_kind_name(h->topo, p->kind), level, p->ncores,
                                   p->npus, hrun_round_memory(memory), 0, NULL, 0, quota };
        int before = c->nsubs, sub = hrun_cluster_find_sub(c, 0, &key);

        if (c->nsubs > before || p->kind < c->subs[sub].kind)
            c->subs[sub].kind = p->kind;
        hrun_cluster_add_pe(c, sub, &pe);
    }
    return 0;
}

/* Compare two sub-clusters by their properties, as cluster.h describes; no two are equal. */
static int compare_grouped_subs(const void *pa, const void *pb)
{
    const struct hrun_subcluster *a = pa, *b = pb;
    uint64_t ma = hrun_round_memory(a->memory_bytes), mb = hrun_round_memory(b->memory_bytes);
    int order = strcmp(a->cpu_model, b->cpu_model);

    order = order ? order : a->kind - b->kind;
    order = order ? order : strcmp(a->core_kind, b->core_kind);
    order = order ? order : b->cores_per_pe - a->cores_per_pe;
    order = order ? order : b->pus_per_pe - a->pus_per_pe;
    order = order ? order : (mb > ma) - (mb < ma);
    if (!order && a->quota_permille != b->quota_permille)       /* no quota first, then larger quotas */
        order = !a->quota_permille || (b->quota_permille && a->quota_permille > b->quota_permille) ? -1 : 1;
    return order;
}

/* The properties in which sub-clusters of one name may differ: cores, PUs, memory and CPU quota of a PE. */
enum mark { MARK_CORES, MARK_PUS, MARK_MEMORY, MARK_QUOTA, NMARKS };

static char *mark_text(const struct hrun_subcluster *s, enum mark m)
{
    struct hrun_buf b = HRUN_BUF_INIT;

    hrun_buf_addc(&b, '-');
    if (m == MARK_CORES)
        hrun_buf_addf(&b, "%dc", s->cores_per_pe);
    else if (m == MARK_PUS)
        hrun_buf_addf(&b, "%dt", s->pus_per_pe);
    else if (m == MARK_QUOTA && s->quota_permille)
        hrun_buf_addf(&b, "%.3gcpu", 1e-3 * s->quota_permille);
    else if (m == MARK_MEMORY && s->memory_bytes)
        hrun_add_short_memory(&b, hrun_round_memory(s->memory_bytes));
    else
        hrun_buf_adds(&b, m == MARK_QUOTA ? "noquota" : "unknown");
    return hrun_buf_detach(&b);
}

/* Append the mark to the name of each sub-cluster whose mark differs from that of one with an equal name. */
static void add_marks(const struct hrun_cluster *c, enum mark m, struct hrun_buf *names)
{
    autofree char **marks = xcalloc((size_t)c->nsubs, sizeof *marks);
    autofree char *differs = xcalloc((size_t)c->nsubs, 1);

    for (int i = 0; i < c->nsubs; i++) {
        marks[i] = mark_text(&c->subs[i], m);
        for (int k = 0; k < i; k++)
            if (!strcmp(names[i].data, names[k].data) && strcmp(marks[i], marks[k]))
                differs[i] = differs[k] = 1;
    }
    for (int i = 0; i < c->nsubs; i++) {
        if (differs[i])
            hrun_buf_adds(&names[i], marks[i]);
        free(marks[i]);
    }
}

void hrun_group_finish(struct hrun_cluster *c, enum hrun_level level)
{
    autofree struct hrun_buf *names = xcalloc((size_t)c->nsubs, sizeof *names);

    if (c->nsubs > 1)
        qsort(c->subs, (size_t)c->nsubs, sizeof *c->subs, compare_grouped_subs);
    for (int i = 0; i < c->nsubs; i++) {
        const struct hrun_subcluster *s = &c->subs[i];

        hrun_buf_init(&names[i]);
        if (strcmp(s->cpu_model, "unknown"))
            hrun_add_slug(&names[i], s->cpu_model);
        if (!names[i].len)
            hrun_buf_adds(&names[i], hrun_level_name(level));
        if (s->core_kind[0]) {
            hrun_buf_addc(&names[i], '-');
            hrun_add_slug(&names[i], s->core_kind);
        }
    }
    for (enum mark m = MARK_CORES; m < NMARKS; m++)
        add_marks(c, m, names);
    for (int i = 0; i < c->nsubs; i++) {
        hrun_cluster_name_sub(c, i, names[i].data, 0);
        hrun_buf_release(&names[i]);
    }
}

/* ---------------------------------------------------------------- the whole */

void hrun_cluster_destroy(struct hrun_cluster *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->nsubs; i++) {
        free(c->subs[i].pes);
        free(c->subs[i].name);
        free(c->subs[i].cpu_model);
        free(c->subs[i].core_kind);
        free(c->subs[i].program);
        free(c->subs[i].network);
    }
    for (int i = 0; i < c->nhosts; i++) {
        free(c->hosts[i].name);
        hrun_host_answer_destroy(c->hosts[i].answer);
    }
    for (int i = 0; i < c->ntopos; i++)
        hrun_topo_destroy(c->topos[i]);
    hrun_cuts_destroy(c);
    hrun_strvec_release(&c->texts);
    hrun_strvec_release(&c->unreachable);
    hrun_strvec_release(&c->why_not);
    hrun_strvec_release(&c->not_granted);
    free(c->subs);
    free(c->hosts);
    free(c->topos);
    free(c->topo_keys);
    free(c->allocation);
    free(c->ledger);
    free(c->cache_note);
    free(c->platform);
    free(c->simgrid);
    free(c->source);
    free(c);
}

void hrun_host_own_name(const struct hrun_host *h, struct hrun_buf *out)
{
    /* "5d41402abc4b2a76 node17": hash of the boot, and own name */
    const char *machine = h->answer ? h->answer->machine : NULL, *blank = machine ? strchr(machine, ' ') : NULL;
    struct utsname uts;

    if (h->is_local && strncmp(h->name, "127.", 4) && !uname(&uts))
        hrun_buf_adds(out, uts.nodename);
    else
        hrun_buf_adds(out, blank && blank[1] && strncmp(h->name, "127.", 4) ? blank + 1 : h->name);
}

void hrun_cluster_names(const struct hrun_cluster *c, struct hrun_buf *out)
{
    for (int i = 0; i < c->nsubs; i++)
        hrun_list_add(out, c->subs[i].name);
}

void hrun_subcluster_hosts(const struct hrun_cluster *c, const struct hrun_subcluster *s, int first, int n,
                           struct hrun_buf *out)
{
    autofree char **names = xcalloc(n > 0 ? (size_t)n : 1, sizeof *names);
    size_t count = 0;
    int last = -1;

    /* The PEs of a host are consecutive. */
    for (int i = first < 0 ? 0 : first; i < s->npes && i - first < n; i++) {
        if (s->pes[i].host == last)
            continue;
        last = s->pes[i].host;
        names[count++] = c->hosts[last].name;
    }
    hrun_hostlist_print(names, count, out);
}
