/* threads.c - the cores of a PE are shared out among its ranks; see layout.h for the contracts */
#include "layout/layout.h"

#include "base/alloc.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* A PE while its cores are dealt out. */
struct pe_use {
    int ranks;                  /* on it, in all */
    int next;                   /* how many of them have got their cores */
};

/* What a rank is to get: places in the text that will hold cpuset and cores, or NONE: they stay. */
static const size_t NONE = (size_t)-1;

struct share {
    size_t cpuset, cores;
    int ncores, threads;
};

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

const char *layout_read_list(const char *text, char end, int **v, size_t *n)
{
    for (;; text++) {
        long first, last;

        text = hrun_range_next(text, HRUN_RANGES_MAX, &first, &last);
        if (!text)
            return NULL;
        *v = xrealloc(*v, (*n + (size_t)(last - first) + 1) * sizeof **v);
        for (long i = first; i <= last; i++)
            (*v)[(*n)++] = (int)i;
        if (!*text || *text == end)
            return text;
        if (*text != ',')
            return NULL;
    }
}

size_t layout_add_list(int *v, size_t n, struct hrun_buf *out)
{
    size_t start = out->len;

    qsort(v, n, sizeof *v, compare_ints);
    for (size_t i = 0; i < n; i++) {
        size_t first = i;

        while (i + 1 < n && v[i + 1] <= v[i] + 1)
            i++;
        hrun_range_add(out, start, v[first], v[i]);
    }
    hrun_buf_addc(out, 0);
    return start;
}

/* Cores first..first+n-1 of a PE's list. NONE: the list is not of that many cores. */
static size_t add_cores(const struct hrun_pe *pe, int first, int n, struct hrun_buf *text)
{
    autofree int *v = NULL;
    size_t len = 0;

    return layout_read_list(pe->cores, 0, &v, &len) && len == (size_t)pe->ncores
           ? layout_add_list(v + first, (size_t)n, text) : NONE;
}

/* The PUs of those cores. NONE: they are not known. */
static size_t add_pus(const struct hrun_pe *pe, int first, int n, struct hrun_buf *text)
{
    const char *p = pe->core_pus;
    autofree int *v = NULL;
    size_t len = 0;

    for (int i = 0; i < first && p; i++) {
        p = strchr(p, ';');
        p = p ? p + 1 : NULL;
    }
    for (int i = 0; i < n && p; i++) {
        p = layout_read_list(p, ';', &v, &len);
        if (p && *p == ';')
            p++;
        else if (i + 1 < n)
            p = NULL;
    }
    return p ? layout_add_list(v, len, text) : NONE;
}

/* The share of the rank that comes next on its PE. */
static void share_cores(const struct hrun_pe *pe, struct pe_use *use, struct hrun_buf *text, struct share *out)
{
    int k = use->next++, each, more, first;

    *out = (struct share){ NONE, NONE, pe->ncores, pe->ncores > 0 };
    if (use->ranks > pe->ncores)
        return;
    each = pe->ncores / use->ranks;
    more = pe->ncores % use->ranks;
    first = k * each + (k < more ? k : more);
    out->ncores = out->threads = each + (k < more);
    if (use->ranks == 1)
        return;
    if (pe->cores && *pe->cores)
        out->cores = add_cores(pe, first, out->ncores, text);
    if (pe->core_pus && *pe->core_pus)
        out->cpuset = add_pus(pe, first, out->ncores, text);
}

/* Put the shares in. Takes over the text. */
static void assign_threads(struct hrun_layout *l, const struct share *shares, char *text)
{
    l->uneven_threads = 0;
    for (int r = 0; r < l->nranks; r++) {
        struct hrun_rank *k = &l->ranks[r];
        const struct hrun_pe *pe = &l->cluster->subs[k->sub].pes[k->pe];

        k->cpuset = shares[r].cpuset != NONE ? text + shares[r].cpuset : pe->cpuset ? pe->cpuset : "";
        k->cores = shares[r].cores != NONE ? text + shares[r].cores : pe->cores ? pe->cores : "";
        k->ncores = shares[r].ncores;
        k->threads = shares[r].threads;
        l->uneven_threads |= k->threads != l->ranks[0].threads;
    }
    free(l->split);
    l->split = text;
}

/* For each PE used how many ranks it has; *first[i]: where those of sub-cluster i begin. */
static struct pe_use *count_pe_ranks(const struct hrun_layout *l, size_t *first)
{
    const struct hrun_cluster *c = l->cluster;
    struct pe_use *use;
    size_t n = 0;

    for (int i = 0; i < c->nsubs; i++) {
        first[i] = n;
        n += (size_t)c->subs[i].npes;
    }
    use = xcalloc(n + 1, sizeof *use);
    for (int r = 0; r < l->nranks; r++)
        use[first[l->ranks[r].sub] + (size_t)l->ranks[r].pe].ranks++;
    return use;
}

/* Ranks that are bound as the user says have a thread for each core of theirs, those bound alike a share of them. */
static void fill_bound(struct hrun_layout *l)
{
    for (int r = 0; r < l->nranks; r++) {
        int alike = 0;

        for (int k = 0; k < l->nranks; k++)
            alike += l->ranks[k].host == l->ranks[r].host && !strcmp(l->ranks[k].cores, l->ranks[r].cores);
        l->ranks[r].threads = l->ranks[r].ncores > alike ? l->ranks[r].ncores / alike : 1;
        l->uneven_threads |= l->ranks[r].threads != l->ranks[0].threads;
    }
}

void hrun_layout_fill_threads(struct hrun_layout *l)
{
    const struct hrun_cluster *c = l->cluster;
    autofree size_t *first = xcalloc((size_t)c->nsubs + 1, sizeof *first);
    autofree struct share *shares = xcalloc((size_t)l->nranks, sizeof *shares);
    autofree struct pe_use *use = NULL;
    struct hrun_buf text = HRUN_BUF_INIT;

    if (l->bound) {
        fill_bound(l);
        return;
    }
    l->shared_cores = 0;
    use = count_pe_ranks(l, first);
    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];
        const struct hrun_pe *pe = &c->subs[k->sub].pes[k->pe];
        struct pe_use *u = &use[first[k->sub] + (size_t)k->pe];

        l->shared_cores |= u->ranks > (pe->ncores > 0 ? pe->ncores : 1);
        share_cores(pe, u, &text, &shares[r]);
    }
    hrun_buf_addc(&text, 0);
    assign_threads(l, shares, hrun_buf_detach(&text));
}

void hrun_layout_share(const struct hrun_layout *l, int sub, struct hrun_layout_share *out)
{
    int any = 0;

    *out = (struct hrun_layout_share){ 0 };
    for (int r = 0; r < l->nranks; r++) {
        const struct hrun_rank *k = &l->ranks[r];

        if (k->sub != sub)
            continue;
        if (!any || k->ncores < out->cores_min)
            out->cores_min = k->ncores;
        if (!any || k->threads < out->threads_min)
            out->threads_min = k->threads;
        if (k->ncores > out->cores_max)
            out->cores_max = k->ncores;
        if (k->threads > out->threads_max)
            out->threads_max = k->threads;
        any = 1;
    }
}
