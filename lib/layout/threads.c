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

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

const char *layout_read_list(const char *text, char end, int **v, size_t *n)
{
    for (;; text++) {
        long first, last;
        int *grown;

        text = hrun_range_next(text, HRUN_RANGES_MAX, &first, &last);
        if (!text)
            return NULL;
        grown = xrealloc(*v, (*n + (size_t)(last - first) + 1) * sizeof **v);
        *v = grown;
        for (long i = first; i <= last; i++)
            grown[(*n)++] = (int)i;
        if (!*text || *text == end)
            return text;
        if (*text != ',')
            return NULL;
    }
}

size_t layout_add_list(int *v, size_t n, struct hrun_buf *out)
{
    size_t start = out->len;

    qsort(v, n, sizeof *v, by_number);
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
static size_t add_cores(const struct hrun_pe *pe, int first, int n, struct hrun_buf *text, int *nomem)
{
    int *v = NULL;
    size_t len = 0, at = NONE;

    if (layout_read_list(pe->cores, 0, &v, &len) && len == (size_t)pe->ncores)
        at = layout_add_list(v + first, (size_t)n, text);
    free(v);
    return at;
}

/* The PUs of those cores. NONE: they are not known. */
static size_t add_pus(const struct hrun_pe *pe, int first, int n, struct hrun_buf *text, int *nomem)
{
    const char *p = pe->core_pus;
    int *v = NULL;
    size_t len = 0, at = NONE;

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
    if (p)
        at = layout_add_list(v, len, text);
    free(v);
    return at;
}

/* The share of the rank that comes next on its PE. -1: memory ran out. */
static int deal(const struct hrun_pe *pe, struct pe_use *use, struct hrun_buf *text, struct share *out)
{
    int k = use->next++, each, more, first, nomem = 0;

    *out = (struct share){ NONE, NONE, pe->ncores, pe->ncores > 0 };
    if (use->ranks > pe->ncores)
        return 0;
    each = pe->ncores / use->ranks;
    more = pe->ncores % use->ranks;
    first = k * each + (k < more ? k : more);
    out->ncores = out->threads = each + (k < more);
    if (use->ranks == 1)
        return 0;
    if (pe->cores && *pe->cores)
        out->cores = add_cores(pe, first, out->ncores, text, &nomem);
    if (pe->core_pus && *pe->core_pus)
        out->cpuset = add_pus(pe, first, out->ncores, text, &nomem);
    return nomem ? -1 : 0;
}

/* Nothing can fail any more: put the shares in. Takes over the text. */
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
static struct pe_use *count(const struct hrun_layout *l, size_t *first)
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

static int share_pes(struct hrun_layout *l, struct hrun_error *err)
{
    const struct hrun_cluster *c = l->cluster;
    size_t *first = xcalloc((size_t)c->nsubs + 1, sizeof *first);
    struct share *shares = xcalloc((size_t)l->nranks, sizeof *shares);
    struct pe_use *use = count(l, first);
    struct hrun_buf text = HRUN_BUF_INIT;
    int shared = 0, rc = 0;
    char *kept = NULL;

    for (int r = 0; r < l->nranks && !rc; r++) {
        const struct hrun_rank *k = &l->ranks[r];
        const struct hrun_pe *pe = &c->subs[k->sub].pes[k->pe];
        struct pe_use *u = &use[first[k->sub] + (size_t)k->pe];

        shared |= u->ranks > (pe->ncores > 0 ? pe->ncores : 1);
        rc = deal(pe, u, &text, &shares[r]);
    }
    hrun_buf_addc(&text, 0);
    kept = rc ? NULL : hrun_buf_detach(&text);
    if (kept) {
        assign_threads(l, shares, kept);
        l->shared_cores = shared;
    } else {
        rc = hrun_fail_nomem(err);
    }
    hrun_buf_release(&text);
    free(use);
    free(shares);
    free(first);
    return rc;
}

int hrun_layout_fill_threads(struct hrun_layout *l, struct hrun_error *err)
{
    if (!l->bound)
        return share_pes(l, err);
    fill_bound(l);
    return 0;
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
