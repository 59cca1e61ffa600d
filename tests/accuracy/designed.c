/* designed.c - the method `designed`: runs chosen one by one (lib/plan/design) for a twentieth of what measuring every
 * configuration would take, then the choice as hrun makes it, predictions corrected by runs of the configuration */
#include "accuracy.h"
#include "configs.h"
#include "model/internal.h"
#include "plan/design/internal.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* Part of the time of all configurations at all sizes to train from. */
static const double BUDGET = 0.05;

/* Repetitions of one run differ in noise. */
static double measure(const struct trial *trial, const struct truth_run *run)
{
    return truth_measure(run, &trial->noise, trial->insights[run - trial->truth->runs].made++);
}

/* Let the design ask until it has enough. What the table lacks fails, and costs nothing. */
static int ask(const struct trial *trial, struct hrun_design *d, double *cost_s, struct hrun_error *err)
{
    struct hrun_design_run run;
    int rc;

    while ((rc = hrun_design_next(d, &run, err)) > 0) {
        const struct truth_run *r = truth_find(trial->truth, run.N, &run.config);
        double t = r ? measure(trial, r) : 0;

        if (hrun_design_add(d, &(struct hrun_design_result){ run.config, NULL, run.N, t, t, r != NULL }, err))
            return -1;
        *cost_s += t;
    }
    return rc;
}

/* What hrun would say of a configuration. */
static int tell(const struct hrun_design *d, struct hrun_predictor *p, const struct hrun_choice *c, int64_t N,
                struct insight *out, struct hrun_error *err)
{
    struct hrun_interval time;

    if (p->kind->time_in(p, c->limiting, &c->config, c->P, &time, err))
        return -1;
    hrun_corrections_tell(d->fit.corrections[0], &c->config, N, &time, NULL);
    *out = (struct insight){ out->made, time.mid, time.low, time.high };
    return 0;
}

/* All runs at N. */
static int look(const struct trial *trial, const struct hrun_design *d, const struct hrun_plan_problem *problem,
                struct hrun_predictor *p, int64_t N, struct hrun_error *err)
{
    size_t n;
    const struct truth_run *runs = truth_at(trial->truth, N, &n);
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        struct hrun_choice c;

        if (hrun_plan_evaluate(problem, CONFIG(trial->truth->nsubs, runs[i].pes, runs[i].procs), 0, &c, NULL))
            continue;
        rc = tell(d, p, &c, N, &trial->insights[runs + i - trial->truth->runs], err);
    }
    return rc;
}

/* The corrected predictions at one size, searched exactly. */
static int choose(const struct trial *trial, const struct hrun_design *d, int64_t N, struct answer *answer,
                  struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    const struct hrun_corrections *c = d->fit.corrections[0];
    int n = hrun_corrections_count(c), rc = -1;
    const struct hrun_predictor_source from = { trial->app, d->fit.models, t->nsubs, HRUN_FORM_NPT, N, .net = trial->net };
    struct hrun_predictor *p = hrun_predictor_create_net(&from, err);
    struct hrun_known *known = calloc((size_t)n + 1, sizeof *known);
    struct hrun_plan_sub subs[TRUTH_SUBS_MAX] = { { 0 } };
    struct hrun_plan_problem problem = { .subs = subs };
    struct hrun_plan *plan = NULL;
    const struct insight *in;

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
    if (look(trial, d, &problem, p, N, err))
        goto done;
    answer->choice = truth_find(t, N, &plan->v[0].config);
    if (!answer->choice) {
        hrun_fail(err, HRUN_ENODATA, "the table %s-%s lacks a configuration of P=%d at N=%lld that the rule allows",
                  t->app, t->platform, plan->v[0].P, (long long)N);
        goto done;
    }
    in = &trial->insights[answer->choice - t->runs];
    answer->predicted_s = in->predicted_s;
    answer->low_s = in->low_s;
    answer->high_s = in->high_s;
    rc = 0;
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
    int rc;

    set.fit.net = trial->net;
    for (int i = 0; i < t->nsubs; i++)
        subs[i] = (struct hrun_design_sub){ .name = t->names[i], .signature = t->names[i], .npes = t->npes[i],
                                            .most = t->procs_max[i] };
    d = hrun_design_create(trial->app, subs, t->nsubs, &set, err);
    rc = d ? ask(trial, d, cost_s, err) : -1;
    for (int i = 0; i < trial->nsizes && !rc; i++)
        rc = choose(trial, d, trial->sizes[i], &answers[i], err);
    hrun_design_destroy(d);
    return rc;
}
