/* report_sizes.c - runs, predictions and hrun's choice at each size of a report; see calib_report.h */
#include "calib_report.h"

#include "base/list.h"
#include "fit/fit.h"
#include "session/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limit of the configurations shown at one size: more dots would hide each other. */
enum { SHOWN_MAX = QUESTION_TOP_MAX };

/* The time v for json_pack's o?; NULL if it is not finite and above 0. */
static json_t *time_json(double v)
{
    return v > 0 ? json_real(v) : NULL;
}

static json_t *config_text_json(const struct hrun_config *config)
{
    return json_string(hrun_config_text(config).s);
}

/* ------------------------------------------------------------------ runs */

static void predict_recorded(const struct report *r, struct hrun_predictor *p, struct report_run *run)
{
    struct hrun_interval time;
    autofree double *share = NULL;

    if (!run->dealt) {
        if (!hrun_predictor_time_whole(p, run->config, &time, NULL, NULL, NULL)) {
            run->fit = time.mid;
            run->low = time.low;
            run->high = time.high;
        }
        return;
    }
    share = xcalloc((size_t)r->nsubs, sizeof *share);
    for (int i = 0; i < r->nsubs; i++) {
        int place = hrun_list_find(run->s->cluster, r->subs[i].name);

        share[i] = place < 0 ? 0 : hrun_sample_share(run->s, place);
    }
    if (hrun_predictor_time_shared(p, run->config, share, &run->fit, NULL))
        run->fit = 0;
    run->low = run->high = run->fit;
}

/* Predict runs of one size by the models alone, without corrections. */
static void predict_report_runs(const struct report *r, struct report_run *runs, int n)
{
    autofree struct hrun_models **models = xcalloc((size_t)r->nsubs, sizeof *models);
    autofree double *memory = size_memory(r->c);
    const struct hrun_predictor_source from = { r->c->app, models, r->nsubs, HRUN_FORM_NPT, runs[0].s->N, r->c->view,
                                                .memory = memory };
    struct hrun_predictor *p;

    for (int i = 0; i < r->nsubs; i++)
        models[i] = r->known.subs[i].models;
    p = hrun_predictor_create_net(&from, NULL);
    for (int i = 0; p && i < n; i++)
        if (runs[i].counts && runs[i].config)
            predict_recorded(r, p, &runs[i]);
    hrun_predictor_destroy(p);
}

static json_t *run_json(const struct report_run *run)
{
    const struct hrun_sample *s = run->s;
    int known = run->fit > 0;

    return json_pack("{s:s, s:I, s:i, s:i, s:s, s:s, s:o?, s:o?, s:b, s:s, s:s, s:o?, s:f, s:b, s:b, s:o?, s:o?, s:o?}",
                     "date", s->date, "N", (json_int_t)s->N, "P", s->P, "M", s->M, "config", s->config, "cluster",
                     s->cluster, "time_s", time_json(s->time_s), "wall_s", time_json(s->wall_s), "ok", s->ok,
                     "status", s->status, "origin", s->origin, "on", run->sub < 0 ? NULL : json_integer(run->sub),
                     "pes", run->npes, "counts", run->counts, "dealt", run->dealt, "fitted_s", time_json(run->fit),
                     "low_s", known ? json_real(run->low) : NULL, "high_s", known ? json_real(run->high) : NULL);
}

/* ------------------------------------------------------------------ one size */

/* The runs of one configuration at one size, with equal or with unequal shares. */
struct recorded {
    const struct report_run *run;   /* one of them */
    double time_s;                  /* the median of their times */
};

static int is_run_of(const struct report_run *a, const struct hrun_config *config, int dealt)
{
    return a->counts && a->config && a->dealt == dealt && hrun_config_equal(a->config, config);
}

/* Group runs[n] of one size into out[n]. Result: the number of groups. */
static int find_recorded(const struct report_run *runs, int n, struct recorded *out)
{
    autofree double *times = xcalloc((size_t)n + 1, sizeof *times);
    int nout = 0;

    for (int i = 0; i < n; i++) {
        int same = 0, first = 0;

        if (!runs[i].counts || !runs[i].config)
            continue;
        while (!is_run_of(&runs[first], runs[i].config, runs[i].dealt))
            first++;
        for (int k = first; k < n && first == i; k++)
            if (is_run_of(&runs[k], runs[i].config, runs[i].dealt))
                times[same++] = runs[k].s->time_s;
        if (!same)
            continue;
        hrun_sort(times, (size_t)same);
        out[nout++] = (struct recorded){ &runs[i], (times[(same - 1) / 2] + times[same / 2]) / 2 };
    }
    return nout;
}

/* Make hrun's decision at N. Result: 0; 1 if there is none, with the reason in *why. */
static int ask_hrun(struct report *r, const struct question *q, int64_t N, struct decision *d, struct hrun_error *why)
{
    *why = (struct hrun_error){ 0 };
    if (!r->known.have) {
        profiles_none(r->c, &r->known, why);
        return 1;
    }
    if (decision_make(r->c, q, &r->known, N, d, why))
        return 1;
    if (d->by == BY_MODEL && d->predicted.known && d->plan)
        return 0;
    decision_release(d);
    hrun_fail(why, HRUN_ENODATA, "the models predict no configuration at N = %lld", (long long)N);
    return 1;
}

/* Add the predicted times of the best configurations with equal, proportional and optimal shares. */
static void add_share_times(struct report *r, int64_t N, json_t *root)
{
    static const char *const how[] = { "equal", "proportional", "best" };
    double t[3];

    for (int k = 0; k < 3; k++) {
        struct question q = { .anew = 1, .top = 1, .shares = how[k] };
        struct hrun_error why;
        struct decision d;

        if (!r->c->app->shares.units || ask_hrun(r, &q, N, &d, &why))
            return;
        t[k] = d.predicted.time.mid;
        decision_release(&d);
    }
    json_array_append_new(json_object_get(root, "shares"), json_pack("{s:I, s:f, s:f, s:f}", "N", (json_int_t)N,
                          "equal_s", t[0], "proportional_s", t[1], "best_s", t[2]));
}

/* The decision as JSON; if d is NULL all members are null. */
static json_t *chosen_json(const struct decision *d)
{
    return !d ? json_pack("{s:n, s:n, s:n, s:n, s:n}", "chosen", "P", "predicted_s", "low_s", "high_s")
           : json_pack("{s:o, s:i, s:o?, s:o?, s:o?}", "chosen", config_text_json(&d->config), "P", d->P, "predicted_s",
                       json_real(d->predicted.time.mid), "low_s", json_real(d->predicted.time.low), "high_s",
                       json_real(d->predicted.time.high));
}

/* The quality of the choice d (NULL: no choice), from the recorded runs of its size. */
static json_t *size_json(int64_t N, const struct decision *d, const struct recorded *v, int n)
{
    const struct recorded *best = v;
    double actual_s = NAN;
    int valid = d && d->plan->counts.counted ? (int)d->plan->counts.valid : 0;
    json_t *out;

    for (int i = 0; i < n; i++) {
        best = v[i].time_s < best->time_s ? &v[i] : best;
        if (d && is_run_of(v[i].run, &d->config, d->shares.how != HRUN_SHARES_EQUAL))
            actual_s = v[i].time_s;
    }
    out = chosen_json(d);
    json_object_update_new(out, json_pack("{s:I, s:i, s:o?, s:b, s:o?, s:o, s:f, s:o?, s:o?}", "N", (json_int_t)N,
                                          "recorded", n, "valid", valid ? json_integer(valid) : NULL, "exact", valid &&
                                          n >= valid, "measured_s", json_real(actual_s), "best",
                                          config_text_json(best->run->config),
                                          "best_s", best->time_s, "epsilon", json_real(actual_s / best->time_s - 1),
                                          "delta", d ? json_real(d->predicted.time.mid / actual_s - 1) : NULL));
    return out;
}

/* The configurations recorded at the shown size, with their cost and energy. */
static json_t *measured_json(const struct report *r, const struct recorded *v, int n)
{
    json_t *all = json_array();

    for (int k = 0; k < n; k++) {
        const struct hrun_config *config = v[k].run->config;
        double cost = 0, power_w = 0;

        for (int i = 0; i < r->nsubs; i++) {
            cost += config->pes[i] * r->c->cluster->subs[i].cost_per_hour / 3600;
            power_w += config->pes[i] * r->c->cluster->subs[i].power_w;
        }
        json_array_append_new(all, json_pack("{s:o, s:i, s:f, s:f, s:f}", "config",
                                             config_text_json(config), "P", v[k].run->s->P,
                                             "time_s", v[k].time_s, "cost", cost * v[k].time_s, "energy",
                                             power_w * v[k].time_s));
    }
    return all;
}

/* Add the runs of one size and, if some of them count, the choice there. */
static int add_runs_of_size(struct report *r, struct report_run *runs, int n, json_t *root, struct hrun_error *err)
{
    struct question q = { .anew = 1, .top = 1 };
    autofree struct recorded *recorded = xcalloc((size_t)n, sizeof *recorded);
    int64_t N = runs[0].s->N;
    struct hrun_error why = { 0 };
    struct decision d;
    int nrecorded = find_recorded(runs, n, recorded), chosen;

    if (r->known.have)
        predict_report_runs(r, runs, n);
    for (int i = 0; i < n; i++)
        if (json_array_append_new(json_object_get(root, "runs"), run_json(&runs[i])))
            return hrun_fail(err, HRUN_EPARSE, "a record of N = %lld cannot be shown", (long long)N);
    if (!nrecorded)
        return 0;
    chosen = !ask_hrun(r, &q, N, &d, &why);
    json_array_append_new(json_object_get(root, "sizes"), size_json(N, chosen ? &d : NULL, recorded, nrecorded));
    add_share_times(r, N, root);
    if (N == json_integer_value(json_object_get(root, "N")))
        json_object_set_new(root, "measured", measured_json(r, recorded, nrecorded));
    if (chosen)
        decision_release(&d);
    return 0;
}

/* ------------------------------------------------------------------ the size that is shown */

static json_t *choices_json(const struct hrun_plan *plan)
{
    json_t *all = json_array();

    for (int i = 0; plan && i < plan->n; i++) {
        const struct hrun_choice *v = &plan->v[i];

        json_array_append_new(all, json_pack("{s:o, s:i, s:f, s:o?, s:b, s:o?}", "config",
                                             config_text_json(&v->config), "P", v->P, "predicted_s",
                                             v->time_s, "ranked_s", json_real(v->ranked_s), "doubted",
                                             hrun_plan_is_doubted(plan, i), "value", json_real(v->value)));
    }
    return all;
}

/* Time against cost or energy at N; NULL if a price or power is not known. */
static json_t *tradeoff_json(struct report *r, int64_t N, const char *objective)
{
    struct question q = { .anew = 1, .top = SHOWN_MAX, .objective = objective, .table = 1 };
    int is_cost = !strcmp(objective, "cost");
    struct hrun_error why;
    struct decision d;
    json_t *out;

    for (int i = 0; i < r->nsubs; i++)
        if (!((is_cost ? r->c->cluster->subs[i].cost_per_hour : r->c->cluster->subs[i].power_w) > 0))
            return NULL;
    if (ask_hrun(r, &q, N, &d, &why))
        return NULL;
    out = json_pack("{s:s, s:o, s:o}", "unit", d.goal.pareto ? d.goal.pareto_of->unit : "", "choices",
                    choices_json(d.plan), "front", choices_json(d.goal.pareto));
    decision_release(&d);
    return out;
}

static void add_plan(struct report *r, int64_t N, json_t *root)
{
    struct question q = { .anew = 1, .top = SHOWN_MAX };
    struct hrun_error why;
    struct decision d;
    json_t *plan, *waits;

    if (ask_hrun(r, &q, N, &d, &why)) {
        json_object_set_new(root, "why_no_plan", json_string(why.text));
        return;
    }
    /* The change of a process's share on each sub-cluster, from the waits of the last watched run. */
    waits = d.shares.unwatched && d.shares.each ? json_array() : NULL;
    for (int i = 0; waits && i < d.nsubs; i++)
        json_array_append_new(waits, d.shares.unwatched[i] > 0 ? json_real(d.shares.each[i] / d.shares.unwatched[i])
                              : json_null());
    plan = chosen_json(&d);
    json_object_update_new(plan, json_pack("{s:b, s:o}", "all", d.plan->counts.counted &&
                                           d.plan->n >= d.plan->counts.valid, "choices", choices_json(d.plan)));
    json_object_update_new(root, json_pack("{s:o, s:o?, s:{s:o?, s:o?}}", "plan", plan, "shares_by_waits", waits,
                                           "tradeoffs", "cost", tradeoff_json(r, N, "cost"), "energy",
                                           tradeoff_json(r, N, "energy")));
    decision_release(&d);
}

int report_add_choices(struct report *r, int64_t N, json_t *root, struct hrun_error *err)
{
    for (int i = r->nruns - 1; i >= 0 && !N; i--)
        if (r->runs[i].counts)
            N = r->runs[i].s->N;
    json_object_update_new(root, json_pack("{s:o?, s:n, s:[], s:[], s:[], s:[]}", "N", N ? json_integer(N) : NULL,
                                           "plan", "measured", "runs", "sizes", "shares"));
    for (int i = 0, n; i < r->nruns; i += n) {
        for (n = 1; i + n < r->nruns && r->runs[i + n].s->N == r->runs[i].s->N; n++)
            ;
        if (add_runs_of_size(r, &r->runs[i], n, root, err))
            return -1;
    }
    if (N)
        add_plan(r, N, root);
    else
        json_object_set_new(root, "why_no_plan", json_string("No run has worked: nothing can be predicted."));
    return 0;
}
