/* ring_share.c - how many processes each node of a ring gets; see ring.h for the contracts */
#include "model/ring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
