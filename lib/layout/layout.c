/* layout.c - a configuration becomes ranks on PEs; see layout.h for the contracts */
#include "layout/layout.h"

#include <limits.h>
#include <stdlib.h>

/* Slurm numbers the processes of a heterogeneous job component by component: the ranks follow, in their order within
 * each component. */
static int order_by_group(struct hrun_layout *l, struct hrun_error *err)
{
    const struct hrun_host *hosts = l->cluster->hosts;
    struct hrun_rank *sorted;
    int n = 0;

    if (l->cluster->ngroups < 2)
        return 0;
    sorted = calloc((size_t)l->nranks, sizeof *sorted);
    if (!sorted)
        return hrun_fail_nomem(err);
    for (int g = 0; g < l->cluster->ngroups; g++)
        for (int r = 0; r < l->nranks; r++)
            if (hosts[l->ranks[r].host].group == g)
                sorted[n++] = l->ranks[r];
    free(l->ranks);
    l->ranks = sorted;
    return 0;
}

int layout_finish(struct hrun_layout *l, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    int *on_host = calloc((size_t)c->nhosts + 1, sizeof *on_host);
    int *on_pe = NULL;
    size_t *first = NULL, npes = 0;
    int rc = -1;

    if (order_by_group(l, err))
        goto out;
    first = calloc((size_t)c->nsubs + 1, sizeof *first);
    if (!on_host || !first) {
        hrun_fail_nomem(err);
        goto out;
    }
    for (int i = 0; i < c->nsubs; i++) {
        first[i] = npes;
        npes += (size_t)c->subs[i].npes;
    }
    on_pe = calloc(npes + 1, sizeof *on_pe);
    if (!on_pe) {
        hrun_fail_nomem(err);
        goto out;
    }
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
    rc = 0;
out:
    free(on_host);
    free(first);
    free(on_pe);
    return rc;
}

int hrun_layout_yields(const struct hrun_layout *l)
{
    return l->shared_cores || l->limited;
}

static void place(struct hrun_layout *l, int rank, int sub, int pe)
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

struct hrun_layout *layout_blank(const struct hrun_cluster *cluster, int n, struct hrun_error *err)
{
    struct hrun_layout *l = calloc(1, sizeof *l);

    if (l) {
        l->cluster = cluster;
        l->nranks = n;
        l->ranks = calloc((size_t)n, sizeof *l->ranks);
    }
    if (!l || !l->ranks) {
        hrun_layout_destroy(l);
        hrun_fail_nomem(err);
        return NULL;
    }
    return l;
}

/* Ranks of the configuration; 0 with *err. */
static int count_ranks(const struct hrun_cluster *cluster, const int *pes, const int *procs, struct hrun_error *err)
{
    long long n = 0;

    for (int i = 0; i < cluster->nsubs; i++) {
        const struct hrun_subcluster *s = &cluster->subs[i];
        if (pes[i] < 0 || procs[i] < 0) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs with %d processes each: neither can be negative",
                      s->name, pes[i], procs[i]);
            return 0;
        }
        if (pes[i] > s->npes) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs asked for, and there %s %d: use at most %d", s->name,
                      pes[i], s->npes == 1 ? "is" : "are", s->npes, s->npes);
            return 0;
        }
        n += (long long)pes[i] * procs[i];
    }
    if (n == 0 || n > INT_MAX) {
        hrun_fail(err, HRUN_EINVAL, n ? "the configuration has %lld processes, more than an MPI rank can "
                  "number"
                  : "the configuration has %lld processes: use at least one PE with one process", n);
        return 0;
    }
    return (int)n;
}

/* Is each PE that order names there, and named once? */
static int check_order(const struct hrun_cluster *cluster, const int *pes, const int *order, struct hrun_error *err)
{
    int rc = 0;

    for (int i = 0; i < cluster->nsubs && !rc; i++) {
        char *seen = calloc((size_t)cluster->subs[i].npes + 1, 1);

        if (!seen)
            return hrun_fail_nomem(err);
        for (int p = 0; p < pes[i] && !rc; p++, order++)
            if (*order < 0 || *order >= cluster->subs[i].npes || seen[*order]++)
                rc = hrun_fail(err, HRUN_EINVAL, "%s: PE %d is named twice or is none of 0 to %d",
                               cluster->subs[i].name, *order, cluster->subs[i].npes - 1);
        free(seen);
    }
    return rc;
}

struct hrun_layout *hrun_layout_create_placed(const struct hrun_cluster *cluster, const int *pes, const int *procs,
                                              const int *order, struct hrun_error *err)
{
    struct hrun_layout *l = NULL;
    int n = count_ranks(cluster, pes, procs, err), rank = 0;

    if (!n || (order && check_order(cluster, pes, order, err)))
        return NULL;
    l = layout_blank(cluster, n, err);
    if (!l)
        return NULL;
    for (int i = 0; i < cluster->nsubs; i++)
        for (int p = 0; p < pes[i]; p++) {
            int pe = order ? *order++ : p;

            for (int m = 0; m < procs[i]; m++)
                place(l, rank++, i, pe);
        }
    if (layout_finish(l, err)) {
        hrun_layout_destroy(l);
        return NULL;
    }
    return l;
}

struct hrun_layout *hrun_layout_create(const struct hrun_cluster *cluster, const int *pes, const int *procs,
                                       struct hrun_error *err)
{
    return hrun_layout_create_placed(cluster, pes, procs, NULL, err);
}

static int is_busy(const char *const *busy, int sub, int pe)
{
    return busy && busy[sub][pe];
}

int *hrun_layout_order(const struct hrun_cluster *cluster, const int *pes, const char *const *busy,
                       struct hrun_error *err)
{
    size_t n = 1;
    int *order, k = 0;

    for (int i = 0; i < cluster->nsubs; i++)
        n += (size_t)(pes[i] > 0 ? pes[i] : 0);
    order = calloc(n, sizeof *order);
    if (!order) {
        hrun_fail_nomem(err);
        return NULL;
    }
    for (int i = 0; i < cluster->nsubs; i++) {
        int left = pes[i];

        for (int p = 0; p < cluster->subs[i].npes && left > 0; p++)
            if (!is_busy(busy, i, p)) {
                order[k++] = p;
                left--;
            }
        if (left > 0) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs asked for, and %d are free", cluster->subs[i].name, pes[i],
                      pes[i] - left);
            free(order);
            return NULL;
        }
    }
    return order;
}

struct hrun_layout *hrun_layout_create_free(const struct hrun_cluster *cluster, const int *pes, const int *procs,
                                            const char *const *busy, struct hrun_error *err)
{
    struct hrun_layout *l = NULL;
    int *order;

    if (!busy)
        return hrun_layout_create(cluster, pes, procs, err);
    order = hrun_layout_order(cluster, pes, busy, err);
    if (order)
        l = hrun_layout_create_placed(cluster, pes, procs, order, err);
    free(order);
    return l;
}

/* How many PEs of sub-cluster i may be used. */
static int usable(const struct hrun_cluster *cluster, const int *npes, const char *const *busy, int i)
{
    int all = 0;

    for (int p = 0; p < cluster->subs[i].npes; p++)
        all += !is_busy(busy, i, p);
    return npes && npes[i] < all ? npes[i] : all;
}

struct hrun_layout *hrun_layout_plain(const struct hrun_cluster *cluster, int n, const int *npes,
                                      const char *const *busy, struct hrun_error *err)
{
    struct hrun_layout *l = NULL;
    int rank = 0, any = 0;

    for (int i = 0; i < cluster->nsubs; i++) {
        if (npes && npes[i] < 0) {
            hrun_fail(err, HRUN_EINVAL, "%s: %d PEs to be used: it cannot be negative", cluster->subs[i].name,
                      npes[i]);
            return NULL;
        }
        any |= usable(cluster, npes, busy, i) > 0;
    }
    if (n < 1 || !any) {
        hrun_fail(err, HRUN_EINVAL, any ? "%d processes asked for: at least 1 is needed"
                  : npes || busy ? "%d processes asked for, and no PE to put them on: use at least one"
                  : "%d processes asked for on a cluster without PEs", n);
        return NULL;
    }
    l = layout_blank(cluster, n, err);
    if (!l)
        return NULL;
    while (rank < n)
        for (int i = 0; i < cluster->nsubs; i++) {
            int left = usable(cluster, npes, busy, i);

            for (int p = 0; left && rank < n; p++)
                if (!is_busy(busy, i, p)) {
                    place(l, rank++, i, p);
                    left--;
                }
        }
    if (layout_finish(l, err)) {
        hrun_layout_destroy(l);
        return NULL;
    }
    return l;
}

void hrun_layout_destroy(struct hrun_layout *l)
{
    if (!l)
        return;
    free(l->ranks);
    free(l->split);
    free(l->more);
    free(l);
}

void hrun_layout_ranks(const struct hrun_layout *l, int sub, struct hrun_buf *out)
{
    int any = 0;

    for (int r = 0; r < l->nranks; r++) {
        int first = r;
        if (l->ranks[r].sub != sub)
            continue;
        while (r + 1 < l->nranks && l->ranks[r + 1].sub == sub)
            r++;
        if (any)
            hrun_buf_addc(out, ',');
        any = 1;
        hrun_buf_addf(out, first == r ? "%d" : "%d-%d", first, r);
    }
    if (!any)
        hrun_buf_addc(out, '-');
}
