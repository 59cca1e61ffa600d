/* layout.c - place the ranks of a configuration on PEs, write rankfiles; see layout.h for the contracts */
#include "base/list.h"
#include "layout/layout.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void layout_finish(struct hrun_layout *l)
{
    const struct hrun_cluster *c = l->cluster;
    autofree int *on_host = xcalloc((size_t)c->nhosts + 1, sizeof *on_host), *on_pe = NULL;
    autofree size_t *first = xcalloc((size_t)c->nsubs + 1, sizeof *first);
    size_t npes = 0;

    /* Slurm numbers the processes of a heterogeneous job component by component. Ranks keep their order within each
     * component. */
    if (c->ngroups > 1) {
        struct hrun_rank *sorted = xcalloc((size_t)l->nranks, sizeof *sorted);
        int n = 0;

        for (int g = 0; g < c->ngroups; g++)
            for (int r = 0; r < l->nranks; r++)
                if (c->hosts[l->ranks[r].host].group == g)
                    sorted[n++] = l->ranks[r];
        free(l->ranks);
        l->ranks = sorted;
    }
    for (int i = 0; i < c->nsubs; i++) {
        first[i] = npes;
        npes += (size_t)c->subs[i].npes;
    }
    on_pe = xcalloc(npes + 1, sizeof *on_pe);
    for (int r = 0; r < l->nranks; r++) {
        struct hrun_rank *k = &l->ranks[r];
        const struct hrun_pe *pe = &c->subs[k->sub].pes[k->pe];
        int cores = pe->ncores > 0 ? pe->ncores : 1;

        l->nhosts_used += on_host[k->host] == 0;
        k->local_rank = on_host[k->host]++;
        if (++on_pe[first[k->sub] + (size_t)k->pe] > cores)
            l->shared_cores = 1;
        if (!l->limited && c->hosts[k->host].cpu_quota > 0 && on_host[k->host] > c->hosts[k->host].cpu_quota)
            l->limited = &c->hosts[k->host];
    }
}

int hrun_layout_yields(const struct hrun_layout *l)
{
    return l->shared_cores || l->limited;
}

static void place_rank(struct hrun_layout *l, int rank, int sub, int pe)
{
    const struct hrun_pe *p = &l->cluster->subs[sub].pes[pe];
    struct hrun_rank *k = &l->ranks[rank];

    k->sub = sub;
    k->pe = pe;
    k->host = p->host;
    k->cpuset = p->cpuset ? p->cpuset : "";
    k->cores = p->cores ? p->cores : "";
    k->ncores = p->ncores;
}

struct hrun_layout *layout_blank(const struct hrun_cluster *cluster, int n)
{
    struct hrun_layout *l = xcalloc(1, sizeof *l);

    l->cluster = cluster;
    l->nranks = n;
    l->ranks = xcalloc((size_t)n, sizeof *l->ranks);
    return l;
}

/* Number of ranks of the configuration; 0 on errors. */
static int count_config_ranks(const struct hrun_cluster *cluster, const struct hrun_config *config,
                              struct hrun_error *err)
{
    long long n = 0;

    for (int i = 0; i < cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &cluster->subs[i];
        if (config->pes[i] < 0 || config->procs[i] < 0) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs with %d processes each: neither can be negative",
                      s->name, config->pes[i], config->procs[i]);
            return 0;
        }
        if (config->pes[i] > s->npes) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs asked for, and there %s %d: use at most %d", s->name,
                      config->pes[i], s->npes == 1 ? "is" : "are", s->npes, s->npes);
            return 0;
        }
        n += (long long)config->pes[i] * config->procs[i];
    }
    if (n == 0 || n > INT_MAX) {
        hrun_fail(err, HRUN_EINVAL, n ? "the configuration has %lld processes, more than an MPI rank can "
                  "number"
                  : "the configuration has %lld processes: use at least one PE with one process", n);
        return 0;
    }
    return (int)n;
}

struct hrun_layout *hrun_layout_create_placed(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                              const int *order, struct hrun_error *err)
{
    struct hrun_layout *l;
    int n = count_config_ranks(cluster, config, err), rank = 0;

    if (!n)
        return NULL;
    l = layout_blank(cluster, n);
    for (int i = 0; i < cluster->nsubs; i++)
        for (int p = 0; p < config->pes[i]; p++, order++)
            for (int m = 0; m < config->procs[i]; m++)
                place_rank(l, rank++, i, *order);
    layout_finish(l);
    return l;
}

/* Number of PEs of sub-cluster i that are not busy. */
static int count_free(const struct hrun_cluster *cluster, const char *const *busy, int i)
{
    int n = 0;

    for (int p = 0; p < cluster->subs[i].npes; p++)
        n += !(busy && busy[i][p]);
    return n;
}

int *hrun_layout_order(const struct hrun_cluster *cluster, const int *pes, const char *const *busy,
                       struct hrun_error *err)
{
    size_t n = 1;
    int *order, k = 0;

    for (int i = 0; i < cluster->nsubs; i++) {
        int all = count_free(cluster, busy, i);

        if (pes[i] > all) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs asked for, and %d are free", cluster->subs[i].name, pes[i],
                      all);
            return NULL;
        }
        n += (size_t)(pes[i] > 0 ? pes[i] : 0);
    }
    order = xcalloc(n, sizeof *order);
    for (int i = 0; i < cluster->nsubs; i++) {
        const struct hrun_pe *of = cluster->subs[i].pes;
        int want = pes[i];

        for (int p = 0; p < cluster->subs[i].npes && want > 0; p++)
            if (!p || of[p - 1].host != of[p].host) {
                int found = layout_spread(cluster, i, p, busy ? busy[i] : NULL, want, order + k);

                k += found;
                want -= found;
            }
    }
    return order;
}

struct hrun_layout *hrun_layout_create_free(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                            const char *const *busy, struct hrun_error *err)
{
    autofree int *order = count_config_ranks(cluster, config, err) ? hrun_layout_order(cluster, config->pes, busy, err)
                                                                       : NULL;

    return order ? hrun_layout_create_placed(cluster, config, order, err) : NULL;
}

struct hrun_layout *hrun_layout_create(const struct hrun_cluster *cluster, const struct hrun_config *config,
                                       struct hrun_error *err)
{
    return hrun_layout_create_free(cluster, config, NULL, err);
}

int layout_usable(const struct hrun_cluster *cluster, const int *npes, const char *const *busy, int *usable)
{
    int all = 0;

    for (int i = 0; i < cluster->nsubs; i++) {
        usable[i] = count_free(cluster, busy, i);
        if (npes && npes[i] < usable[i])
            usable[i] = npes[i];
        all += usable[i];
    }
    return all;
}

struct hrun_layout *hrun_layout_plain(const struct hrun_cluster *cluster, int n, const int *npes,
                                      const char *const *busy, struct hrun_error *err)
{
    autofree int *pes = xcalloc((size_t)cluster->nsubs + 1, sizeof *pes);
    struct hrun_layout *l;
    int rank = 0, all;

    for (int i = 0; i < cluster->nsubs && npes; i++)
        if (npes[i] < 0) {
            hrun_fail(err, HRUN_EINVAL, "%s: the number of PEs to use is %d and cannot be negative",
                      cluster->subs[i].name, npes[i]);
            return NULL;
        }
    all = layout_usable(cluster, npes, busy, pes);
    if (n < 1 || !all) {
        hrun_fail(err, HRUN_EINVAL, all ? "%d processes asked for: at least 1 is needed"
                  : npes || busy ? "%d processes asked for, and no PE to put them on: use at least one"
                  : "%d processes asked for on a cluster without PEs", n);
        return NULL;
    }
    l = layout_blank(cluster, n);
    while (rank < n) {
        autofree int *order = NULL;
        const int *next;

        for (int i = 0, left = n - rank; i < cluster->nsubs && n - rank < all; i++) {   /* the last round */
            pes[i] = pes[i] < left ? pes[i] : left;
            left -= pes[i];
        }
        next = order = hrun_layout_order(cluster, pes, busy, NULL);
        for (int i = 0; i < cluster->nsubs; i++)
            for (int p = 0; p < pes[i]; p++)
                place_rank(l, rank++, i, *next++);
    }
    layout_finish(l);
    return l;
}

void hrun_layout_destroy(struct hrun_layout *l)
{
    if (!l)
        return;
    free(l->ranks);
    hrun_strvec_release(&l->texts);
    free(l->more);
    free(l);
}

void hrun_layout_ranks(const struct hrun_layout *l, int sub, struct hrun_buf *out)
{
    size_t start = out->len;

    for (int r = 0; r < l->nranks; r++) {
        int first = r;

        if (l->ranks[r].sub != sub)
            continue;
        while (r + 1 < l->nranks && l->ranks[r + 1].sub == sub)
            r++;
        hrun_range_add(out, start, first, r);
    }
    if (out->len == start)
        hrun_buf_addc(out, '-');
}

/* ---------------------------------------------------------------- files of mpirun and smpirun */

/* mpirun has a char[64] for the slot list of a rank: Open MPI 4 overruns it and aborts, PRRTE truncates the list. */
enum { SLOT_LIST_MAX = 63 };

/* The characters of a host name that mpirun accepts in a rankfile. Quotes have no meaning there. */
static const char HOST_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

int hrun_layout_rankfile(const struct hrun_layout *l, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf b = HRUN_BUF_INIT;

    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];
        const char *host = l->cluster->hosts[k->host].name;

        if (!*host || host[strspn(host, HOST_CHARACTERS)])
            return hrun_fail(err, HRUN_EINVAL, "host %s: a rankfile takes names of letters, digits, '.', '-' and "
                             "'_' only: give the host such a name", host);
        if (!k->cores[0])
            return hrun_fail(err, HRUN_EINVAL, "host %s: its cores are not known, so rank %d cannot be placed: add "
                             "its topology to the cluster file", host, r);
        if (strlen(k->cores) > SLOT_LIST_MAX)
            return hrun_fail(err, HRUN_EINVAL, "host %s: the core list of rank %d (%.20s...) has %zu characters, "
                             "and mpirun takes %d: choose a smaller PE level", host, r, k->cores,
                             strlen(k->cores), SLOT_LIST_MAX);
        hrun_buf_addf(&b, "rank %d=%s slot=%s\n", r, host, k->cores);
    }
    hrun_buf_add(out, b.data, b.len);
    return 0;
}

void hrun_layout_hostfile(const struct hrun_layout *l, struct hrun_buf *out)
{
    for (int r = 0; r < l->nranks; r++)
        hrun_buf_addf(out, "%s\n", l->cluster->hosts[l->ranks[r].host].name);
}
