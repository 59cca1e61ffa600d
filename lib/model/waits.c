/* waits.c - what the parts of a watched run took of it, over what their models say; see corrections.h */
#include "base/alloc.h"
#include "model/internal.h"
#include "model/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last watched run of size N with unequal shares; NULL: there is none. */
static const struct hrun_mixed_run *last_watched(const struct hrun_mixed *m, int64_t N)
{
    const struct hrun_mixed_run *last = NULL;

    for (size_t r = 0; r < m->nruns; r++)
        if (m->runs[r].N == N && m->parts[m->runs[r].first].busy_s > 0 &&
            (!last || strcmp(m->runs[r].date, last->date) >= 0))
            last = &m->runs[r];
    return last;
}

/* Where one of the parts has no model nothing is told. */
static int pace_of(struct hrun_predictor *p, const struct hrun_mixed_run *run, const struct hrun_mixed_part *parts,
                   const struct hrun_corrections *known, double *pace)
{
    int nsubs = p->oracle.nsubs;
    autofree int *pes = xcalloc(2 * (size_t)nsubs + 1, sizeof *pes);
    autofree double *share = xcalloc((size_t)nsubs + (size_t)p->noptions + 1, sizeof *share);
    int *procs = pes + nsubs;
    double *t = share + nsubs, most = 0, whole, low, high;
    struct hrun_correction at;

    for (size_t k = 0; k < run->nparts; k++) {
        pes[parts[k].sub] = parts[k].pes;
        procs[parts[k].sub] = parts[k].M;
        share[parts[k].sub] = parts[k].share;
    }
    if (hrun_predictor_time_whole(p, nsubs, pes, procs, &whole, &low, &high, NULL, NULL, NULL) ||
        hrun_predictor_options_shared(p, run->P, pes, procs, share, t, NULL))
        return 0;
    hrun_corrections_tell(known, pes, procs, p->N, &whole, &low, &high, &at);
    for (size_t k = 0; k < run->nparts; k++)
        most = fmax(most, t[hrun_predictor_find(p, parts[k].sub, parts[k].M)]);
    if (!isfinite(most))
        return 0;
    for (size_t k = 0; k < run->nparts; k++) {
        double own = t[hrun_predictor_find(p, parts[k].sub, parts[k].M)];

        pace[parts[k].sub] = fmin(fmax(parts[k].busy_s / run->T * most / own, low / whole), high / whole);
    }
    return 1;
}

int hrun_waits_pace(const struct hrun_app *app, const struct hrun_joint_sub *subs, int nsubs, struct hrun_predictor *p,
                    const struct hrun_corrections *known, double *pace, struct hrun_error *err)
{
    const struct hrun_mixed_run *run;
    struct hrun_mixed m;
    int rc = 0;

    for (int i = 0; i < nsubs; i++)
        pace[i] = 1;
    if (hrun_mixed_list(app, subs, nsubs, &m, err))
        return -1;
    run = last_watched(&m, p->N);
    if (run)
        rc = pace_of(p, run, m.parts + run->first, known, pace);
    hrun_mixed_release(&m);
    return rc;
}
