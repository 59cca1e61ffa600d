/* designed.c - the method `designed`: runs chosen one by one (lib/design) for a twentieth of what measuring every
 * configuration would take, then the choice as hrun makes it, predictions corrected by runs of the configuration */
#include "accuracy.h"

#include "design/design.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Part of the time of all configurations at all sizes to train from. */
static const double BUDGET = 0.05;
/* 97.5 % quantile of the normal distribution. */
static const double Z95 = 1.959964;

/* How often each run of the table was made: its repetitions differ in noise. */
static double measure(const struct trial *trial, int *made, const struct truth_run *run)
{
    return truth_measure(run, &trial->noise, made[run - trial->truth->runs]++);
}

/* Let the design ask until it has enough. What the table lacks fails, and costs nothing. */
static int ask(const struct trial *trial, struct hrun_design *d, int *made, double *cost_s, struct hrun_error *err)
{
    struct hrun_design_run run;
    int rc;

    while ((rc = hrun_design_next(d, &run, err)) > 0) {
        const struct truth_run *r = truth_find(trial->truth, run.N, run.pes, run.procs);
        double t = r ? measure(trial, made, r) : 0;

        if (hrun_design_add(d, run.pes, run.procs, run.N, t, t, -1, r != NULL, err))
            return -1;
        *cost_s += t;
    }
    return rc;
}

/* The corrected predictions at one size, searched exactly. */
static int choose(const struct trial *trial, const struct hrun_design *d, int64_t N, struct answer *answer,
                  struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    const struct hrun_corrections *c = hrun_design_corrections(d);
    int n = hrun_corrections_count(c), chosen, rc = -1;
    struct hrun_predictor *p = hrun_predictor_create_net(trial->app, hrun_design_models(d), t->nsubs, HRUN_FAMILY_NPT,
                                                         N, trial->net, NULL, err);
    struct hrun_known *known = calloc((size_t)n + 1, sizeof *known);
    struct hrun_plan_sub subs[TRUTH_SUBS_MAX] = { { 0 } };
    struct hrun_plan_problem problem = { .subs = subs };
    struct hrun_plan *plan = NULL;
    double sd = c ? hrun_corrections_sd(c) : 0, half;

    memset(answer, 0, sizeof *answer);
    if (!p || !known)
        goto done;
    for (int i = 0; i < t->nsubs; i++)
        subs[i].npes = t->npes[i];
    problem.oracle = hrun_predictor_oracle(p);
    hrun_corrections_known(c, N, known, NULL);
    if (hrun_plan_search_known(&problem, known, n, 1, &plan, err)) {
        rc = err->code == HRUN_EINFEASIBLE ? 0 : -1;
        goto done;
    }
    chosen = hrun_corrections_find(c, plan->v[0].pes, plan->v[0].procs);
    if (chosen >= 0) {
        struct hrun_correction at;

        hrun_correction_at(c, chosen, N, &at);
        sd = at.sd;
    }
    answer->predicted_s = plan->v[0].time_s;
    half = Z95 * hypot(sd, trial->noise.sigma);
    answer->low_s = answer->predicted_s * exp(-half);
    answer->high_s = answer->predicted_s * exp(half);
    answer->choice = truth_find(t, N, plan->v[0].pes, plan->v[0].procs);
    if (!answer->choice)
        hrun_fail(err, HRUN_ENODATA, "the table %s-%s lacks a configuration of P=%d at N=%lld that the rule allows",
                  t->app, t->platform, plan->v[0].P, (long long)N);
    rc = answer->choice ? 0 : -1;
done:
    hrun_plan_destroy(plan);
    hrun_predictor_destroy(p);
    free(known);
    return rc;
}

int accuracy_designed(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                      struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_design_sub subs[TRUTH_SUBS_MAX];
    struct hrun_design_settings set = { .sizes = t->train, .nsizes = t->ntrain, .seed = trial->noise.seed,
                                        .budget_s = BUDGET * truth_cost(t, 1), .fit = m->options };
    struct hrun_design *d;
    int *made = calloc(t->nruns + 1, sizeof *made), rc;

    set.fit.net = trial->net;
    for (int i = 0; i < t->nsubs; i++)
        subs[i] = (struct hrun_design_sub){ .name = t->names[i], .signature = t->names[i], .npes = t->npes[i],
                                            .most = t->procs_max[i] };
    d = made ? hrun_design_create(trial->app, subs, t->nsubs, &set, err) : NULL;
    rc = d ? ask(trial, d, made, cost_s, err) : made ? -1 : hrun_fail_nomem(err);
    for (int i = 0; i < trial->nsizes && !rc; i++)
        rc = choose(trial, d, trial->sizes[i], &answers[i], err);
    hrun_design_destroy(d);
    free(made);
    return rc;
}
