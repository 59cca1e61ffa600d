/* judge_compute.c - checks of measurements of single PEs; see doctor.h */
#include "doctor.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Significance level of the test for differences between equal PEs. */
static const double SIGNIFICANT = 0.01;

void check_kernel_spread(const struct judging *j)
{
    const struct doctor_times *t = &j->r->kernel;
    struct hrun_spread s;

    if (!t->n)
        return;
    s = doctor_spread(t);
    if (doctor_width(&s) > j->limits->spread)
        finding_add(j, j->rank, doctor_width(&s), j->limits->spread, "equal work on %s takes from %.4g to %.4g s, a "
                    "spread of %.1f %%", doctor_place(j->d, j->rank).s, s.low, s.high, 100 * doctor_width(&s));
}

/* The k PEs of one sub-cluster that have times. v[i] with n[i]: the times of PE i. */
struct pe_group {
    const double **v;
    size_t *n, k;
    double *median;
    int *rank;
};

/* Compare each PE with the lower median of the medians of its sub-cluster, which is the faster one of two PEs. */
static void compare_pes(const struct judging *j, const struct pe_group *g)
{
    autofree double *sorted = xcalloc(g->k + 1, sizeof *sorted);
    double h, p;

    if (g->k < 2 || hrun_kruskal_wallis(g->v, g->n, g->k, &h, &p, NULL) || p > SIGNIFICANT)
        return;
    memcpy(sorted, g->median, g->k * sizeof *sorted);
    hrun_sort(sorted, g->k);
    for (size_t i = 0; i < g->k; i++) {
        double off = g->median[i] / sorted[(g->k - 1) / 2] - 1;

        if (fabs(off) > j->limits->spread)
            finding_add(j, g->rank[i], fabs(off), j->limits->spread, "%s needs %.1f %% %s for the same work than usual "
                        "in its sub-cluster", doctor_place(j->d, g->rank[i]).s, 100 * fabs(off),
                        off > 0 ? "more time" : "less time");
    }
}

void check_unequal_pes(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    size_t nranks = (size_t)d->nranks;
    autofree const double **v = xcalloc(nranks, sizeof *v);
    autofree size_t *n = xcalloc(nranks, sizeof *n);
    autofree double *median = xcalloc(nranks, sizeof *median);
    autofree int *rank = xcalloc(nranks, sizeof *rank);

    for (int sub = 0; sub < d->nsubs; sub++) {
        struct pe_group g = { v, n, 0, median, rank };

        for (int r = 0; r < d->nranks; r++) {
            const struct doctor_times *t = &d->ranks[r].kernel;

            if (d->ranks[r].sub != sub || !t->n)
                continue;
            v[g.k] = t->v;
            n[g.k] = (size_t)t->n;
            rank[g.k] = r;
            median[g.k++] = doctor_spread(t).median;
        }
        compare_pes(j, &g);
    }
}

void check_noise(const struct judging *j)
{
    const struct doctor_rank *k = j->r;
    double share = k->quanta ? k->mean / k->least - 1 : 0;

    if (share > j->limits->spread)
        finding_add(j, j->rank, share, j->limits->spread, "pieces of work of %.2g ms on %s take %.1f %% longer in the "
                    "mean, one of them %.3g ms", 1e3 * k->least, doctor_place(j->d, j->rank).s, 100 * share,
                    1e3 * k->most);
}

/* Largest number of processes of a host that a finding names. */
enum { NAMED = 3 };

void check_others(const struct judging *j)
{
    const struct doctor_data *d = j->d;
    autorelease(hrun_buf_release) struct hrun_buf who = HRUN_BUF_INIT;
    int n = 0;

    if (!(j->r->busy > j->limits->spread))
        return;
    /* The records are sorted by processor time, the largest first. */
    for (int i = 0; i < d->nprocesses && n < NAMED; i++)
        if (d->ranks[d->processes[i].rank].host == j->r->host)
            hrun_buf_addf(&who, "%s%d (%s, %.0f %%)", n++ ? ", " : "; most on that host: process ", d->processes[i].pid,
                          d->processes[i].name, 100 * d->processes[i].share);
    finding_add(j, j->rank, j->r->busy, j->limits->spread, "others took %.1f %% of a processor on %s%s",
                100 * j->r->busy, doctor_place(d, j->rank).s, who.data);
}

void check_stolen(const struct judging *j)
{
    if (j->r->stolen > j->limits->spread)
        finding_add(j, j->rank, j->r->stolen, j->limits->spread, "the hypervisor took %.1f %% of a processor on %s",
                    100 * j->r->stolen, doctor_place(j->d, j->rank).s);
}
