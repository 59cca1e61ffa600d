/* show_mpi_waits.c - watched runs in `show`; see profiles.h for the contracts */
#include "profiles.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/units.h"
#include "session/mpi_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The watched runs with M processes per PE; sorted by M, the first member. */
struct group {
    int M, runs, mixed;
    int awaited;                       /* number of mixed runs whose other sub-clusters waited for this one */
    double computing, imbalance;       /* means */
    double overhead;                   /* maximum */
};

static void add_run(struct group *g, const struct hrun_sample *s, const struct waits_sub *seen,
                    const char *signature)
{
    double share = seen->elapsed_s > 0 ? seen->compute_mean_s / seen->elapsed_s : 0;
    double imbalance = seen->compute_mean_s > 0 ? seen->compute_s / seen->compute_mean_s : 1;
    int awaited = 0;

    for (int i = 0, n = hrun_list_count(s->signatures); i < n; i++)
        awaited |= hrun_list_is(s->signatures, i, signature) && hrun_list_is(s->cluster, i, s->limits);
    g->runs++;
    g->mixed += s->mixed;
    g->awaited += s->mixed && awaited;
    g->computing += (share - g->computing) / g->runs;
    g->imbalance += (imbalance - g->imbalance) / g->runs;
    g->overhead = fmax(g->overhead, seen->overhead);
}

/* Set *groups, which the caller frees. Result: the number of groups. */
static int make_groups(const struct hrun_samples *samples, const char *signature, struct group **groups)
{
    struct group *v = xcalloc(samples->n + 1, sizeof *v);
    int n = 0;

    for (size_t i = 0; i < samples->n; i++) {
        const struct hrun_sample *s = &samples->v[i];
        struct waits_sub seen;
        int k = 0;

        if (!s->ok || waits_decode(s->trace, &seen))
            continue;
        while (k < n && v[k].M != s->M)
            k++;
        n += k == n;
        v[k].M = s->M;
        add_run(&v[k], s, &seen, signature);
    }
    qsort(v, (size_t)n, sizeof *v, hrun_compare_ints);
    *groups = v;
    return n;
}

void waits_show(const struct hrun_samples *samples, const char *signature, struct hrun_buf *out)
{
    struct group *g;
    int n = make_groups(samples, signature, &g);
    struct hrun_table *t = hrun_table_create("rrrrrr");

    hrun_table_row(t, "procs/PE", "runs watched", "computing", "imbalance", "waited for in mixed runs",
                   "watching took");
    for (int i = 0; i < n; i++) {
        hrun_table_cell(t, "%d", g[i].M);
        hrun_table_cell(t, "%d", g[i].runs);
        hrun_table_cell(t, "%.0f %%", 100 * g[i].computing);
        hrun_table_cell(t, "%.2f", g[i].imbalance);
        if (g[i].mixed)
            hrun_table_cell(t, "%d of %d", g[i].awaited, g[i].mixed);
        else
            hrun_table_cell(t, "-");
        hrun_table_cell(t, "%.*f %%", g[i].overhead < 0.01 ? 3 : 0, 100 * g[i].overhead);
    }
    if (n) {
        hrun_buf_addc(out, '\n');
        hrun_table_render(t, 0, out);
    }
    hrun_table_destroy(t);
    free(g);
}

json_t *profile_waits_json(const struct hrun_samples *samples, const char *signature)
{
    struct group *g;
    int n = make_groups(samples, signature, &g);
    json_t *all = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(all, json_pack("{s:i, s:i, s:f, s:f, s:i, s:i, s:f}", "M", g[i].M, "runs", g[i].runs,
                                             "computing", g[i].computing, "imbalance", g[i].imbalance, "mixed",
                                             g[i].mixed, "limited", g[i].awaited, "overhead", g[i].overhead));
    free(g);
    return all;
}
