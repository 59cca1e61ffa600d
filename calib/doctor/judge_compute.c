/* judge_compute.c - checks of what was measured on PEs; see doctor.h */
#include "doctor.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* That equal PEs differ by chance is believed unless it is as improbable as this: the usual level for one question in a
 * hundred to be answered wrongly. */
static const double SIGNIFICANT = 0.01;

/* Between first and ninth decile, by the median. */
static double relative(const struct hrun_spread *s)
{
    return (s->high - s->low) / s->median;
}

int check_kernel_spread(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                        struct findings *out, struct hrun_error *err)
{
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_times *t = &d->ranks[r].kernel;
        struct hrun_spread s;
        struct finding *f;

        if (t->n && hrun_spread_of(t->v, (size_t)t->n, &s, err))
            return -1;
        if (!t->n || relative(&s) <= limits->spread)
            continue;
        f = finding_add(c, out, r, err, "equal work on %s takes from %.4g to %.4g s, a spread of %.1f %%",
                        doctor_place(d, r, place), s.low, s.high, 100 * relative(&s));
        if (finding_above(f, relative(&s), limits->spread))
            return -1;
    }
    return 0;
}

/* One sub-cluster, with room for the samples, counts and medians of all ranks. */
struct group {
    const double **v;
    size_t *n, k;
    double *median, *sorted;
    int *rank;
};

/* The PEs of a sub-cluster are compared with the lower median of their medians: with two of them, with the faster. */
static int judge_group(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                       struct group *g, struct findings *out, struct hrun_error *err)
{
    double h, p, usual;
    char place[DOCTOR_PLACE];

    if (g->k < 2)
        return 0;
    if (hrun_kruskal_wallis(g->v, g->n, g->k, &h, &p, err))
        return -1;
    if (p > SIGNIFICANT)
        return 0;
    for (size_t i = 0; i < g->k; i++)
        g->sorted[i] = g->median[i];
    hrun_sort(g->sorted, g->k);
    usual = g->sorted[(g->k - 1) / 2];
    for (size_t i = 0; i < g->k; i++) {
        double off = g->median[i] / usual - 1;
        struct finding *f;

        if (fabs(off) <= limits->spread)
            continue;
        f = finding_add(c, out, g->rank[i], err, "%s needs %.1f %% %s for the same work than usual in its "
                        "sub-cluster", doctor_place(d, g->rank[i], place), 100 * fabs(off),
                        off > 0 ? "more time" : "less time");
        if (finding_above(f, fabs(off), limits->spread))
            return -1;
    }
    return 0;
}

int check_unequal_pes(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                      struct findings *out, struct hrun_error *err)
{
    size_t n = (size_t)d->nranks;
    struct group g = { .v = xcalloc(n, sizeof *g.v), .n = xcalloc(n, sizeof *g.n), .median = xcalloc(n, sizeof *g.median),
                       .sorted = xcalloc(n, sizeof *g.sorted), .rank = xcalloc(n, sizeof *g.rank) };
    int rc = g.v && g.n && g.median && g.sorted && g.rank ? 0 : hrun_fail_nomem(err);

    for (int sub = 0; sub < d->nsubs && !rc; sub++) {
        g.k = 0;
        for (int r = 0; r < d->nranks && !rc; r++) {
            const struct doctor_times *t = &d->ranks[r].kernel;
            struct hrun_spread s;

            if (d->ranks[r].sub != sub || !t->n)
                continue;
            rc = hrun_spread_of(t->v, (size_t)t->n, &s, err);
            g.v[g.k] = t->v;
            g.n[g.k] = (size_t)t->n;
            g.rank[g.k] = r;
            g.median[g.k++] = rc ? 0 : s.median;
        }
        rc = rc ? rc : judge_group(c, d, limits, &g, out, err);
    }
    free(g.v);
    free(g.n);
    free(g.median);
    free(g.sorted);
    free(g.rank);
    return rc;
}

int check_noise(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                struct findings *out, struct hrun_error *err)
{
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        const struct doctor_rank *k = &d->ranks[r];
        double share = k->quanta ? k->mean / k->least - 1 : 0;
        struct finding *f;

        if (share <= limits->spread)
            continue;
        f = finding_add(c, out, r, err, "pieces of work of %.2g ms on %s take %.1f %% longer in the mean, one of them "
                        "%.3g ms", 1e3 * k->least, doctor_place(d, r, place), 100 * share, 1e3 * k->most);
        if (finding_above(f, share, limits->spread))
            return -1;
    }
    return 0;
}

/* Who took most of a host's processors, the first NAMED of them: "; most on that host: process 123 (cc1, 87 %)", or "".
 * The records have them in this order. */
enum { NAMED = 3 };
static void culprits(const struct doctor_data *d, int host, struct hrun_buf *out)
{
    int n = 0;

    for (int i = 0; i < d->nprocesses && n < NAMED; i++)
        if (d->ranks[d->processes[i].rank].host == host)
            hrun_buf_addf(out, "%s%d (%s, %.0f %%)", n++ ? ", " : "; most on that host: process ", d->processes[i].pid,
                          d->processes[i].name, 100 * d->processes[i].share);
}

int check_others(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                 struct findings *out, struct hrun_error *err)
{
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        struct hrun_buf who = HRUN_BUF_INIT;
        struct finding *f;

        if (!d->ranks[r].has_busy || d->ranks[r].busy <= limits->spread)
            continue;
        culprits(d, d->ranks[r].host, &who);
        f = finding_add(c, out, r, err, "others took %.1f %% of a processor on %s%s", 100 * d->ranks[r].busy,
                        doctor_place(d, r, place), who.data);
        hrun_buf_release(&who);
        if (finding_above(f, d->ranks[r].busy, limits->spread))
            return -1;
    }
    return 0;
}

int check_stolen(const struct check *c, const struct doctor_data *d, const struct doctor_limits *limits,
                 struct findings *out, struct hrun_error *err)
{
    char place[DOCTOR_PLACE];

    for (int r = 0; r < d->nranks; r++) {
        struct finding *f;

        if (!d->ranks[r].has_busy || d->ranks[r].stolen <= limits->spread)
            continue;
        f = finding_add(c, out, r, err, "the hypervisor took %.1f %% of a processor on %s", 100 * d->ranks[r].stolen,
                        doctor_place(d, r, place));
        if (finding_above(f, d->ranks[r].stolen, limits->spread))
            return -1;
    }
    return 0;
}
