/* waits.c - the pace of sub-clusters by the MPI waits of a traced run; see corrections.h */
#include "base/alloc.h"
#include "model/internal.h"
#include "model/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last traced run of size N with unequal shares; NULL: there is none. */
static const struct hrun_mixed_run *last_traced_run(const struct hrun_mixed *m, int64_t N)
{
    const struct hrun_mixed_run *last = NULL;

    for (size_t r = 0; r < m->nruns; r++)
        if (m->runs[r].N == N && m->parts[m->runs[r].first].busy_s > 0 &&
            (!last || strcmp(m->runs[r].date, last->date) >= 0))
            last = &m->runs[r];
    return last;
}

/* Set pace[] by a run. Returns 1, or 0 if a part has no model. */
static int set_pace(struct hrun_predictor *p, const struct hrun_mixed_run *run, const struct hrun_mixed_part *parts,
                    const struct hrun_corrections *known, double *pace)
{
    int nsubs = p->oracle.nsubs;
    struct hrun_config config = { .nsubs = nsubs };
    autofree double *share = xcalloc((size_t)nsubs + (size_t)p->noptions + 1, sizeof *share);
    double *t = share + nsubs, most = 0;
    struct hrun_interval whole;
    struct hrun_correction at;

    for (size_t k = 0; k < run->nparts; k++) {
        config.pes[parts[k].sub] = parts[k].pes;
        config.procs[parts[k].sub] = parts[k].M;
        share[parts[k].sub] = parts[k].share;
    }
    if (hrun_predictor_time_whole(p, &config, &whole, NULL, NULL, NULL) ||
        hrun_predictor_options(p, run->P, &config, share, t, NULL))
        return 0;
    hrun_corrections_tell(known, &config, p->N, &whole, &at);
    for (size_t k = 0; k < run->nparts; k++)
        most = fmax(most, t[hrun_predictor_find(p, parts[k].sub, parts[k].M)]);
    if (!isfinite(most))
        return 0;
    for (size_t k = 0; k < run->nparts; k++) {
        double own = t[hrun_predictor_find(p, parts[k].sub, parts[k].M)];

        pace[parts[k].sub] = fmin(fmax(parts[k].busy_s / run->T * most / own, whole.low / whole.mid),
                                  whole.high / whole.mid);
    }
    return 1;
}

int hrun_waits_pace(struct hrun_predictor *p, const struct hrun_joint_sub *subs, int nsubs,
                    const struct hrun_corrections *known, double *pace, struct hrun_error *err)
{
    const struct hrun_mixed_run *run;
    struct hrun_mixed m;
    int rc = 0;

    for (int i = 0; i < nsubs; i++)
        pace[i] = 1;
    if (hrun_mixed_list(p->app, subs, nsubs, &m, err))
        return -1;
    run = last_traced_run(&m, p->N);
    if (run)
        rc = set_pace(p, run, m.parts + run->first, known, pace);
    hrun_mixed_release(&m);
    return rc;
}
