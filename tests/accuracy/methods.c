/* methods.c - the methods that accuracy tries, and how they choose */
#include "accuracy.h"
#include "configs.h"

#include "model/internal.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- choosing */

/* What the models say of every run at N. */
static int look(const struct trial *trial, const struct hrun_plan_problem *problem, struct hrun_predictor *p, int64_t N,
                struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    size_t n;
    const struct truth_run *runs = truth_at(t, N, &n);

    for (size_t i = 0; i < n; i++) {
        struct insight *in = &trial->insights[runs + i - t->runs];
        struct hrun_interval time;
        struct hrun_choice c;

        if (hrun_plan_evaluate(problem, CONFIG(t->nsubs, runs[i].pes, runs[i].procs), 0, &c, NULL))
            continue;
        if (p->kind->time_in(p, c.limiting, &c.config, c.P, &time, err))
            return -1;
        in->predicted_s = c.time_s;
        in->low_s = time.low;
        in->high_s = time.high;
    }
    return 0;
}

static int choose_one(const struct trial *trial, struct hrun_models *const *models, int64_t N, struct answer *answer,
                      struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_plan_sub subs[TRUTH_SUBS_MAX];
    struct hrun_plan_problem problem = { .subs = subs };
    const struct hrun_predictor_source from = { trial->app, models, t->nsubs, HRUN_FORM_NPT, N, .net = trial->net };
    struct hrun_predictor *p = hrun_predictor_create_net(&from, err);
    struct hrun_plan *plan = NULL;
    const struct hrun_choice *c;
    struct hrun_interval time;
    int status = -1;

    memset(answer, 0, sizeof *answer);
    memset(subs, 0, sizeof subs);
    if (!p)
        return err->code == HRUN_ENODATA ? 0 : -1;
    for (int i = 0; i < t->nsubs; i++)
        subs[i].npes = t->npes[i];
    problem.oracle = hrun_predictor_oracle(p);
    if (hrun_plan_search(&problem, 1, &plan, err)) {
        status = err->code == HRUN_EINFEASIBLE ? 0 : -1;
        goto done;
    }
    c = &plan->v[0];
    if (look(trial, &problem, p, N, err))
        goto done;
    if (p->kind->time_in(p, c->limiting, &c->config, c->P, &time, err))
        goto done;
    answer->predicted_s = c->time_s;
    answer->low_s = time.low;
    answer->high_s = time.high;
    answer->choice = truth_find(t, N, &c->config);
    if (!answer->choice)
        hrun_fail(err, HRUN_ENODATA, "the table %s-%s lacks a configuration of P=%d at N=%lld that the rule allows",
                  t->app, t->platform, c->P, (long long)N);
    status = answer->choice ? 0 : -1;
done:
    hrun_plan_destroy(plan);
    hrun_predictor_destroy(p);
    return status;
}

int accuracy_choose(const struct trial *trial, struct hrun_models *const *models, struct answer *answers,
                    struct hrun_error *err)
{
    const struct truth *t = trial->truth;

    for (size_t i = 0; i < t->nruns; i++)
        for (int k = 0; k < t->ntrain; k++)
            if (t->runs[i].N == t->train[k] && truth_alone(t, &t->runs[i]) >= 0)
                trial->insights[i].made = trial->repetitions;
    for (int i = 0; i < trial->nsizes; i++)
        if (choose_one(trial, models, trial->sizes[i], &answers[i], err))
            return -1;
    return 0;
}

/* ---------------------------------------------------------------- the grid */

/* Every sub-cluster alone, at all sizes and numbers of PEs: what paper 000 measures for NP-T models. */
static int decide_grid(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                       struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_models *models[TRUTH_SUBS_MAX] = { NULL };
    struct hrun_samples samples = { 0 };
    struct hrun_fit_options options = m->options;
    int status = 0;

    options.net = trial->net;
    for (int i = 0; !status && i < t->nsubs; i++) {
        status = truth_train(t, i, &trial->noise, trial->repetitions, NULL, &samples, cost_s, err);
        options.own = i;
        if (!status && hrun_model_fit(trial->app, samples.v, samples.n, &options, &models[i], NULL, err))
            status = err->code == HRUN_ENODATA ? 0 : -1;
        hrun_samples_release(&samples);
    }
    if (!status)
        status = accuracy_choose(trial, models, answers, err);
    for (int i = 0; i < t->nsubs; i++)
        hrun_models_destroy(models[i]);
    return status;
}

/* Forget models of more processes on a PE than the cluster of the table takes. */
static void limit_procs(struct hrun_models *models, int most)
{
    int kept = 0;

    for (int i = 0; models && i < models->n; i++)
        if (models->v[i].M <= most)
            models->v[kept++] = models->v[i];
        else
            hrun_fit_record_release(&models->v[i]);
    if (models)
        models->n = kept;
}

/* The same, and all sub-clusters fitted together: those of one or two PEs take over how time follows P. */
int accuracy_joint(const struct method *m, const struct trial *trial, struct answer *answers, double *cost_s,
                   struct hrun_error *err)
{
    const struct truth *t = trial->truth;
    struct hrun_models *models[TRUTH_SUBS_MAX] = { NULL };
    struct hrun_samples samples[TRUTH_SUBS_MAX] = { { 0 } };
    struct hrun_joint_sub subs[TRUTH_SUBS_MAX];
    struct hrun_fit_options options = m->options;
    int status = 0;

    options.net = trial->net;
    for (int i = 0; !status && i < t->nsubs; i++) {
        status = truth_train(t, i, &trial->noise, trial->repetitions, NULL, &samples[i], cost_s, err);
        subs[i] = (struct hrun_joint_sub){ t->names[i], t->names[i], samples[i].v, samples[i].n, 0 };
    }
    if (!status)
        status = hrun_model_fit_joint(trial->app, subs, t->nsubs, &options, models, NULL, err);
    for (int i = 0; i < t->nsubs; i++)
        limit_procs(models[i], t->procs_max[i]);
    if (!status)
        status = accuracy_choose(trial, models, answers, err);
    for (int i = 0; i < t->nsubs; i++) {
        hrun_models_destroy(models[i]);
        hrun_samples_release(&samples[i]);
    }
    return status;
}

/* ---------------------------------------------------------------- the table */

/* As hrun has it for simulated hosts: the noise of these measurements is relative, and short times are told as well as
 * long ones. */
#define SIMULATED \
    { .method = HRUN_METHOD_NNLS, .sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S, .sigma_rel = 0.02, .robust = 1, .own = -1 }

const struct method accuracy_methods[] = {
    { "ls", "least squares without weights (paper 000)", { .method = HRUN_METHOD_LS }, decide_grid },
    { "nnls", "non-negative least squares without weights (paper 000, section 5.8)", { .method = HRUN_METHOD_NNLS },
      decide_grid },
    { "relative", "non-negative least squares with weights of 1 us and 2 %",
      { .method = HRUN_METHOD_NNLS, .sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S, .sigma_rel = 0.02 }, decide_grid },
    { "huber", "the same, and rows that the others contradict count less",
      { .method = HRUN_METHOD_NNLS, .sigma_abs_s = HRUN_FIT_SIMULATED_ABS_S, .sigma_rel = 0.02, .robust = 1 },
      decide_grid },
    { "joint", "the same, all sub-clusters together: what hrun-calibrate --full-grid --platform does", SIMULATED,
      accuracy_joint },
    { "real", "the same as for real hosts, where runs differ by 1 ms, too: --full-grid", HRUN_FIT_OPTIONS_DEFAULT,
      accuracy_joint },
    { "automatic", "as joint, with terms taken from a library: what hrun-calibrate --new does", SIMULATED,
      accuracy_automatic },
    { "extrap", "terms by Extra-P's published approach, in place of a library and cross-validation",
      { .method = HRUN_METHOD_LS }, accuracy_extrap },
    { "extrapneg", "the same with negative exponents, too", { .method = HRUN_METHOD_LS }, accuracy_extrap_negative },
    { "designed", "runs chosen within 5 % of all configurations' time: hrun-calibrate --budget --platform",
      SIMULATED, accuracy_designed },
    { NULL, NULL, { .method = HRUN_METHOD_NNLS }, NULL }
};
