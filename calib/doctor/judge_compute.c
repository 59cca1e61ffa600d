/* judge_compute.c - checks of measurements of single PEs; see doctor.h */
#include "doctor.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Significance level of the test whether equal PEs differ by more than chance. */
static const double SIGNIFICANT = 0.01;

void check_kernel_spread(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_times *t = &d->ranks[r].kernel;
        struct hrun_spread s;

        if (!t->n)
            continue;
        s = doctor_spread(t);
        if (doctor_width(&s) <= j->limits->spread)
            continue;
        finding_above(finding_add(j, r, "equal work on %s takes from %.4g to %.4g s, a spread of %.1f %%",
                                  doctor_place(d, r, place), s.low, s.high, 100 * doctor_width(&s)),
                      doctor_width(&s), j->limits->spread);
    }
}

/* The k PEs of one sub-cluster that have times: their ranks, times and medians. */
struct pe_group {
    const double **v;
    size_t *n, k;
    double *median, *sorted;
    int *rank;
};

/* Compare each PE of a sub-cluster with the lower median of all their medians; of two PEs that is the faster one. */
static void compare_pes(const struct judging *j, struct pe_group *g)
{
    double h, p, usual;
    char place[DOCTOR_PLACE];

    if (g->k < 2 || hrun_kruskal_wallis(g->v, g->n, g->k, &h, &p, NULL) || p > SIGNIFICANT)
        return;
    memcpy(g->sorted, g->median, g->k * sizeof *g->sorted);
    hrun_sort(g->sorted, g->k);
    usual = g->sorted[(g->k - 1) / 2];
    for (size_t i = 0; i < g->k; i++) {
        double off = g->median[i] / usual - 1;

        if (fabs(off) > j->limits->spread)
            finding_above(finding_add(j, g->rank[i], "%s needs %.1f %% %s for the same work than usual in its "
                                      "sub-cluster", doctor_place(j->d, g->rank[i], place), 100 * fabs(off),
                                      off > 0 ? "more time" : "less time"),
                          fabs(off), j->limits->spread);
    }
}

void check_unequal_pes(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    size_t n = (size_t)d->nranks;
    struct pe_group g = { .v = xcalloc(n, sizeof *g.v), .n = xcalloc(n, sizeof *g.n),
                          .rank = xcalloc(n, sizeof *g.rank), .median = xcalloc(n, sizeof *g.median),
                          .sorted = xcalloc(n, sizeof *g.sorted) };

    for (int sub = 0; sub < d->nsubs; sub++) {
        g.k = 0;
        for (int r = 0; r < d->nranks; r++) {
            const struct doctor_times *t = &d->ranks[r].kernel;

            if (d->ranks[r].sub != sub || !t->n)
                continue;
            g.v[g.k] = t->v;
            g.n[g.k] = (size_t)t->n;
            g.rank[g.k] = r;
            g.median[g.k++] = doctor_spread(t).median;
        }
        compare_pes(j, &g);
    }
    free(g.v);
    free(g.n);
    free(g.median);
    free(g.sorted);
    free(g.rank);
}

void check_noise(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];
        double share = k->quanta ? k->mean / k->least - 1 : 0;

        if (share <= j->limits->spread)
            continue;
        finding_above(finding_add(j, r, "pieces of work of %.2g ms on %s take %.1f %% longer in the mean, one of them "
                                  "%.3g ms", 1e3 * k->least, doctor_place(d, r, place), 100 * share, 1e3 * k->most),
                      share, j->limits->spread);
    }
}

/* Append the first NAMED processes by processor time on a host: "; most on that host: process 123 (cc1, 87 %)", or
 * nothing. The records are in this order. */
enum { NAMED = 3 };
static void add_culprits(const struct doctor_data *d, int host, struct hrun_buf *out)
{
    int n = 0;

    for (int i = 0; i < d->nprocesses && n < NAMED; i++)
        if (d->ranks[d->processes[i].rank].host == host)
            hrun_buf_addf(out, "%s%d (%s, %.0f %%)", n++ ? ", " : "; most on that host: process ", d->processes[i].pid,
                          d->processes[i].name, 100 * d->processes[i].share);
}

void check_others(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        autorelease(hrun_buf_release) struct hrun_buf who = HRUN_BUF_INIT;

        if (!d->ranks[r].has_busy || d->ranks[r].busy <= j->limits->spread)
            continue;
        add_culprits(d, d->ranks[r].host, &who);
        finding_above(finding_add(j, r, "others took %.1f %% of a processor on %s%s", 100 * d->ranks[r].busy,
                                  doctor_place(d, r, place), who.data), d->ranks[r].busy, j->limits->spread);
    }
}

void check_stolen(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        if (!d->ranks[r].has_busy || d->ranks[r].stolen <= j->limits->spread)
            continue;
        finding_above(finding_add(j, r, "the hypervisor took %.1f %% of a processor on %s", 100 * d->ranks[r].stolen,
                                  doctor_place(d, r, place)),
                      d->ranks[r].stolen, j->limits->spread);
    }
}
