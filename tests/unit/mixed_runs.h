/* mixed_runs.h - logs of a made-up cluster with runs on several sub-clusters, for the tests of lib/model
 *
 * The true time of sub-cluster i is that of `time`; the time of a run is the largest of those that take part, or what
 * `whole` makes of them.
 */
#ifndef HRUN_TESTS_MIXED_RUNS_H
#define HRUN_TESTS_MIXED_RUNS_H

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MR_SUBS = 3, MR_MAX = 2048 };

struct mr_log {
    struct hrun_sample v[MR_MAX];
    size_t n;
};

struct mr {
    double (*time)(int sub, double N, int P, int M);
    double (*whole)(double N, const int *pes, const int *procs);    /* NULL: the largest */
    int nsubs;
    struct mr_log log[MR_SUBS];
    char texts[MR_MAX][32];
    int ntexts;
};

static char mr_name[MR_SUBS][2] = { "a", "b", "c" }, mr_signature[MR_SUBS][8] = { "sig-a", "sig-b", "sig-c" };
static char mr_cluster[] = "a,b,c", mr_signatures[] = "sig-a,sig-b,sig-c";

/* Add a run of pes[MR_SUBS] with procs[MR_SUBS] that took `factor` times its true time. Result: the time. */
__attribute__((unused)) static double mr_run(struct mr *m, int64_t N, const int *pes, const int *procs, double factor)
{
    int P = 0, used = 0;
    double T = 0;
    char *config = m->texts[m->ntexts++];

    for (int i = 0; i < MR_SUBS; i++) {
        P += pes[i] * procs[i];
        used += pes[i] > 0;
    }
    for (int i = 0; i < MR_SUBS; i++)
        if (pes[i])
            T = fmax(T, factor * m->time(i, (double)N, P, procs[i]));
    if (m->whole)
        T = factor * m->whole((double)N, pes, procs);
    snprintf(config, sizeof m->texts[0], "(%d,%d,%d,%d,%d,%d)", pes[0], procs[0], pes[1], procs[1], pes[2], procs[2]);
    for (int i = 0; i < MR_SUBS; i++)
        if (pes[i])
            m->log[i].v[m->log[i].n++] = (struct hrun_sample) {
                .N = N, .P = P, .M = procs[i], .pes = pes[i], .time_s = T, .wall_s = T, .ok = 1, .mixed = used > 1,
                .config = config, .cluster = mr_cluster, .signatures = used > 1 ? mr_signatures : NULL };
    return T;
}

/* Runs of sub-cluster i alone on 1 to npes PEs, at n sizes. */
__attribute__((unused)) static void mr_alone(struct mr *m, int i, int npes, int max_m, const int64_t *sizes, int n)
{
    for (int M = 1; M <= max_m; M++)
        for (int p = 1; p <= npes; p++)
            for (int k = 0; k < n; k++) {
                int pes[MR_SUBS] = { 0 }, procs[MR_SUBS] = { 0 };

                pes[i] = p;
                procs[i] = M;
                mr_run(m, sizes[k], pes, procs, 1);
            }
}

__attribute__((unused)) static void mr_subs(const struct mr *m, struct hrun_joint_sub *subs)
{
    for (int i = 0; i < MR_SUBS; i++)
        subs[i] = (struct hrun_joint_sub) { mr_name[i], mr_signature[i], m->log[i].v, m->log[i].n };
}

/* The prediction of sub-cluster i, or 0. */
__attribute__((unused)) static double mr_predict(const struct hrun_app *app, struct hrun_models *const *models, int i,
                                                 int64_t N, int P, int M, double *low, double *high)
{
    struct hrun_predictor *p = hrun_predictor_create(app, models, MR_SUBS, HRUN_FORM_NPT, N, NULL);
    double t, lo, hi;

    if (!p || hrun_predictor_time(p, i, M, P, &t, &lo, &hi, NULL))
        t = lo = hi = 0;
    hrun_predictor_destroy(p);
    if (low)
        *low = lo;
    if (high)
        *high = hi;
    return t;
}

#endif
