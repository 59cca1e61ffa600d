/* ring_share.c - how many processes each node of a ring gets; see ring.h for the contracts */
#include "model/ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check(const double *speed, int n, int q, int least, struct hrun_error *err)
{
    if (q < 1 || n < 1 || least < 0 || least > 1 || q < n * least)
        return hrun_fail(err, HRUN_EINVAL, "%d processes cannot be shared out to %d nodes with at least %d on each", q,
                         n, least);
    for (int i = 0; i < n; i++)
        if (!(speed[i] > 0) || !isfinite(speed[i]))
            return hrun_fail(err, HRUN_EINVAL, "the speed of node %d is %g; it must be above 0", i + 1, speed[i]);
    return 0;
}

double hrun_ring_gamma(const double *speed, const int *procs, int n)
{
    double total = 0, most = 0;
    int q = 0;

    for (int i = 0; i < n; i++) {
        total += speed[i];
        q += procs[i];
        most = fmax(most, procs[i] / speed[i]);
    }
    return 1 - q / (most * total);
}

/* The node where one more process ends first. */
static int next_node(const double *speed, const int *procs, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if ((procs[i] + 1) / speed[i] < (procs[best] + 1) / speed[best])
            best = i;
    return best;
}

int hrun_ring_allocate(const double *speed, int n, int q, int least, int *procs, struct hrun_error *err)
{
    if (check(speed, n, q, least, err))
        return -1;
    for (int i = 0; i < n; i++)
        procs[i] = least;
    for (int k = n * least; k < q; k++)
        procs[next_node(speed, procs, n)]++;
    return 0;
}

/* The node whose share differs most from procs in the direction sign, and can be changed. */
static int furthest(const double *speed, double total, const int *procs, int n, int q, int least, int sign)
{
    double most = -INFINITY;
    int best = -1;

    for (int i = 0; i < n; i++) {
        double off = sign * (speed[i] * q / total - procs[i]);

        if ((sign > 0 || procs[i] > least) && off > most) {
            most = off;
            best = i;
        }
    }
    return best;
}

int hrun_ring_allocate_round(const double *speed, int n, int q, int least, int *procs, struct hrun_error *err)
{
    double total = 0;
    int sum = 0;

    if (check(speed, n, q, least, err))
        return -1;
    for (int i = 0; i < n; i++)
        total += speed[i];
    for (int i = 0; i < n; i++) {
        procs[i] = (int)fmax(least, floor(speed[i] * q / total + 0.5));
        sum += procs[i];
    }
    for (; sum < q; sum++)
        procs[furthest(speed, total, procs, n, q, least, 1)]++;
    for (; sum > q; sum--)
        procs[furthest(speed, total, procs, n, q, least, -1)]--;
    return 0;
}

int hrun_ring_fewest(const double *speed, int n, double loss, int least, int most, struct hrun_error *err)
{
    int *procs, q, found = 0;

    q = n * least > 1 ? n * least : 1;
    if (most < q)
        return 0;
    if (check(speed, n, q, least, err))
        return -1;
    procs = calloc((size_t)n, sizeof *procs);
    if (!procs)
        return hrun_fail_nomem(err);
    hrun_ring_allocate(speed, n, q, least, procs, NULL);
    for (;; q++) {
        /* Rounding must not turn away an allocation in proportion, gamma = 0. */
        if (hrun_ring_gamma(speed, procs, n) <= loss + 1e-12) {
            found = q;
            break;
        }
        if (q >= most)
            break;
        procs[next_node(speed, procs, n)]++;
    }
    free(procs);
    return found;
}

/* ------------------------------------------------------------------ groups */

double hrun_ring_total(const struct hrun_ring_group *groups, int n)
{
    double total = 0;

    for (int g = 0; g < n; g++) {
        double best = 0;

        for (int k = 0; k < groups[g].noptions; k++)
            if (isfinite(groups[g].rate[k]) && groups[g].rate[k] > 0)
                best = fmax(best, groups[g].procs[k] / groups[g].rate[k]);
        total += groups[g].pes * best;
    }
    return total;
}

/* What the first g+1 groups can do with k processes: the least largest rate, and what group g has in it. */
struct cell {
    double rate;
    int pes, procs;
};

static void add_group(const struct hrun_ring_group *group, int q, const struct cell *before, struct cell *row)
{
    for (int k = 0; k <= q; k++) {
        row[k] = (struct cell){ before ? before[k].rate : k == 0 ? 0 : INFINITY, 0, 0 };
        for (int p = 1; p <= group->pes; p++)
            for (int o = 0; o < group->noptions; o++) {
                int left = k - p * group->procs[o];
                double rest, rate;

                if (left < 0 || !isfinite(group->rate[o]))
                    continue;
                rest = before ? before[left].rate : left == 0 ? 0 : INFINITY;
                rate = fmax(rest, group->rate[o]);
                if (rate < row[k].rate)
                    row[k] = (struct cell){ rate, p, group->procs[o] };
            }
    }
}

int hrun_ring_allocate_groups(const struct hrun_ring_group *groups, int n, int q, int *pes, int *procs, double *rate,
                              struct hrun_error *err)
{
    struct cell *rows;
    size_t width = (size_t)(q > 0 ? q : 0) + 1;
    int left = q, status = -1;

    if (q < 1 || n < 1)
        return hrun_fail(err, HRUN_EINVAL, "%d processes cannot be shared out to %d groups of nodes", q, n);
    rows = calloc((size_t)n * width, sizeof *rows);
    if (!rows)
        return hrun_fail_nomem(err);
    for (int g = 0; g < n; g++)
        add_group(&groups[g], q, g ? rows + (size_t)(g - 1) * width : NULL, rows + (size_t)g * width);
    if (!isfinite(rows[(size_t)(n - 1) * width + (size_t)q].rate)) {
        hrun_fail(err, HRUN_EINFEASIBLE, "no configuration has %d processes", q);
        goto out;
    }
    *rate = rows[(size_t)(n - 1) * width + (size_t)q].rate;
    for (int g = n - 1; g >= 0; g--) {
        const struct cell *c = &rows[(size_t)g * width + (size_t)left];

        pes[g] = c->pes;
        procs[g] = c->procs;
        left -= c->pes * c->procs;
    }
    status = 0;
out:
    free(rows);
    return status;
}
