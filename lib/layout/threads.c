/* threads.c - divide the cores of a PE among its ranks; see layout.h for the contracts */
#include "layout/layout.h"

#include "base/list.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

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

const char *layout_keep_list(struct hrun_strvec *texts, int *v, size_t n)
{
    autorelease(hrun_buf_release) struct hrun_buf list = HRUN_BUF_INIT;

    qsort(v, n, sizeof *v, hrun_compare_ints);
    for (size_t i = 0; i < n; i++) {
        size_t first = i;

        while (i + 1 < n && v[i + 1] <= v[i] + 1)
            i++;
        hrun_range_add(&list, 0, v[first], v[i]);
    }
    hrun_strvec_push(texts, list.data);
    return texts->v[texts->n - 1];
}

/* Set cores, cpuset and threads of rank k to part `at` (from 0) of `ranks` <= pe->ncores parts of its PE's cores. */
static void share_cores(struct hrun_layout *l, struct hrun_rank *k, const struct hrun_pe *pe, int ranks, int at)
{
    int each = pe->ncores / ranks, more = pe->ncores % ranks, first = at * each + (at < more ? at : more);
    const char *p = pe->core_pus && *pe->core_pus ? pe->core_pus : NULL;
    autofree int *cores = NULL, *pus = NULL;
    size_t ncores = 0, npus = 0;

    k->ncores = k->threads = each + (at < more);
    if (ranks == 1)
        return;
    if (pe->cores && *pe->cores && layout_read_list(pe->cores, 0, &cores, &ncores) && ncores == (size_t)pe->ncores)
        k->cores = layout_keep_list(&l->texts, cores + first, (size_t)k->ncores);
    for (int i = 0; i < first && p; i++) {
        p = strchr(p, ';');
        p = p ? p + 1 : NULL;
    }
    for (int i = 0; i < k->ncores && p; i++) {
        p = layout_read_list(p, ';', &pus, &npus);
        if (p && *p == ';')
            p++;
        else if (i + 1 < k->ncores)
            p = NULL;
    }
    if (p)
        k->cpuset = layout_keep_list(&l->texts, pus, npus);
}

/* Threads of a rank that the user bound: one for each of its cores; ranks with equal cores share these evenly. */
static int count_bound_threads(const struct hrun_layout *l, const struct hrun_rank *k)
{
    int alike = 0;

    for (int r = 0; r < l->nranks; r++)
        alike += l->ranks[r].host == k->host && !strcmp(l->ranks[r].cores, k->cores);
    return k->ncores > alike ? k->ncores / alike : 1;
}

void hrun_layout_fill_threads(struct hrun_layout *l)
{
    const struct hrun_cluster *c = l->cluster;
    autofree size_t *first = xcalloc((size_t)c->nsubs + 1, sizeof *first);
    autofree int *on_pe = NULL, *next = NULL;       /* each PE: its ranks; ranks that have cores already */

    for (int i = 0; i < c->nsubs; i++)
        first[i + 1] = first[i] + (size_t)c->subs[i].npes;
    on_pe = xcalloc(first[c->nsubs] + 1, sizeof *on_pe);
    next = xcalloc(first[c->nsubs] + 1, sizeof *next);
    for (int r = 0; r < l->nranks; r++)
        on_pe[first[l->ranks[r].sub] + (size_t)l->ranks[r].pe]++;
    l->uneven_threads = 0;
    if (!l->bound) {
        l->shared_cores = 0;
        hrun_strvec_release(&l->texts);
    }
    for (int r = 0; r < l->nranks; r++) {
        struct hrun_rank *k = &l->ranks[r];
        const struct hrun_pe *pe = &c->subs[k->sub].pes[k->pe];
        size_t at = first[k->sub] + (size_t)k->pe;

        if (l->bound) {
            k->threads = count_bound_threads(l, k);
        } else {
            k->cpuset = pe->cpuset ? pe->cpuset : "";
            k->cores = pe->cores ? pe->cores : "";
            k->ncores = pe->ncores;
            k->threads = pe->ncores > 0;
            l->shared_cores |= on_pe[at] > (pe->ncores > 0 ? pe->ncores : 1);
            if (on_pe[at] <= pe->ncores)
                share_cores(l, k, pe, on_pe[at], next[at]++);
        }
        l->uneven_threads |= k->threads != l->ranks[0].threads;
    }
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
