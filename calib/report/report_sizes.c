/* report_sizes.c - runs, predictions and hrun's choice at each size of a report; see report.h */
#include "report.h"

#include "base/alloc.h"
#include "base/list.h"
#include "fit/fit.h"
#include "session/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Configurations shown at one size: more dots than this hide each other. */
enum { SHOWN_MAX = QUESTION_TOP_MAX };

static json_t *number_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *time_json(double v)
{
    return number_json(v > 0 ? v : NAN);
}

static json_t *config_text(const int *pes, const int *procs, int n)
{
    struct hrun_buf b = HRUN_BUF_INIT;
    json_t *out;

    hrun_config_print(pes, procs, n, &b);
    out = json_string(b.data);
    hrun_buf_release(&b);
    return out;
}

/* ------------------------------------------------------------------ runs */

static void predict_recorded(const struct report *r, struct hrun_predictor *p, struct report_run *run)
{
    const int *pes = run->config, *procs = pes + r->nsubs;
    double *share;

    if (!run->dealt) {
        if (hrun_predictor_time_whole(p, r->nsubs, pes, procs, &run->fit, &run->low, &run->high, NULL, NULL, NULL))
            run->fit = 0;
        return;
    }
    share = xcalloc((size_t)r->nsubs, sizeof *share);
    for (int i = 0; i < r->nsubs; i++) {
        int place = hrun_list_find(run->s->cluster, r->subs[i].name);

        share[i] = place < 0 ? 0 : hrun_sample_share(run->s, place);
    }
    if (hrun_predictor_time_shared(p, pes, procs, share, &run->fit, NULL))
        run->fit = 0;
    run->low = run->high = run->fit;
    free(share);
}

static json_t *run_json(const struct report_run *run)
{
    const struct hrun_sample *s = run->s;

    return json_pack("{s:s, s:I, s:i, s:i, s:s, s:s, s:o, s:o, s:b, s:s, s:s, s:o, s:f, s:b, s:b, s:o, s:o, s:o}",
                     "date", s->date ? s->date : "", "N", (json_int_t)s->N, "P", s->P, "M", s->M, "config",
                     s->config ? s->config : "", "cluster", s->cluster ? s->cluster : "", "time_s",
                     time_json(s->time_s), "wall_s", time_json(s->wall_s), "ok", s->ok, "status",
                     s->status ? s->status : "", "origin", s->origin ? s->origin : "", "on",
                     run->sub < 0 ? json_null() : json_integer(run->sub), "pes", run->npes, "counts",
                     run->counts, "dealt", run->dealt, "fitted_s", time_json(run->fit), "low_s",
                     run->fit > 0 ? number_json(run->low) : json_null(), "high_s",
                     run->fit > 0 ? number_json(run->high) : json_null());
}

/* ------------------------------------------------------------------ one size */

/* The runs of one configuration at one size, with equal or with unequal shares. */
struct point {
    const struct report_run *run;
    double time_s;                  /* median */
};

static int is_run_of(const struct report *r, const struct report_run *a, const int *pes, const int *procs, int dealt)
{
    size_t bytes = (size_t)r->nsubs * sizeof *pes;

    return a->counts && a->config && a->dealt == dealt && !memcmp(a->config, pes, bytes) &&
           !memcmp(a->config + r->nsubs, procs, bytes);
}

/* Of runs[n] of one size, in *points, which the caller frees. */
static int make_points(const struct report *r, const struct report_run *runs, int n, struct point **points)
{
    double *times = xcalloc((size_t)n + 1, sizeof *times);
    char *done = xcalloc((size_t)n + 1, 1);
    int npoints = 0;

    *points = xcalloc((size_t)n + 1, sizeof **points);
    for (int i = 0; i < n; i++) {
        int same = 0;

        if (done[i] || !runs[i].counts || !runs[i].config)
            continue;
        for (int k = i; k < n; k++)
            if (is_run_of(r, &runs[k], runs[i].config, runs[i].config + r->nsubs, runs[i].dealt)) {
                times[same++] = runs[k].s->time_s;
                done[k] = 1;
            }
        hrun_sort(times, (size_t)same);
        (*points)[npoints++] = (struct point){ &runs[i], (times[(same - 1) / 2] + times[same / 2]) / 2 };
    }
    free(times);
    free(done);
    return npoints;
}

/* What hrun decides at N. 0, 1: nothing, because of *why. */
static int ask_hrun(struct report *r, const struct question *q, int64_t N, struct decision *d, struct hrun_error *why)
{
    *why = (struct hrun_error){ 0 };
    if (!r->known.have) {
        profiles_none(r->c, &r->known, why);
        return 1;
    }
    if (decision_make(r->c, q, &r->known, NULL, N, d, why))
        return 1;
    if (d->by == BY_MODEL && d->predicted && d->plan)
        return 0;
    decision_release(d);
    hrun_fail(why, HRUN_ENODATA, "the models predict no configuration at N = %lld", (long long)N);
    return 1;
}

/* Add the predicted times of the best configurations with equal, proportional and the best shares. */
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
        t[k] = d.time_s;
        decision_release(&d);
    }
    json_array_append_new(json_object_get(root, "shares"), json_pack("{s:I, s:f, s:f, s:f}", "N", (json_int_t)N,
                          "equal_s", t[0], "proportional_s", t[1], "best_s", t[2]));
}

/* How good the choice d (NULL: there is none) is, by the runs at its size. */
static json_t *size_json(const struct report *r, int64_t N, const struct decision *d, const struct point *p, int n)
{
    const struct point *best = p, *ranked = NULL;
    double actual_s = NAN, ranked_epsilon = NAN, ranked_delta = NAN;
    int predicted = 0, valid = d && d->plan->counts.counted ? (int)d->plan->counts.valid : 0;

    for (int i = 0; i < n; i++) {
        best = p[i].time_s < best->time_s ? &p[i] : best;
        if (d && is_run_of(r, p[i].run, d->pes, d->procs, d->sharing != HRUN_SHARES_EQUAL))
            actual_s = p[i].time_s;
        predicted += p[i].run->fit > 0;
        if (p[i].run->fit > 0 && (!ranked || p[i].run->fit < ranked->run->fit))
            ranked = &p[i];
    }
    if (predicted > 1) {
        ranked_epsilon = ranked->time_s / best->time_s - 1;
        ranked_delta = ranked->run->fit / ranked->time_s - 1;
    }
    return json_pack("{s:I, s:i, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "N",
                     (json_int_t)N, "recorded", n, "valid", time_json(valid), "exact", valid && n >= valid, "chosen",
                     d ? config_text(d->pes, d->procs, r->nsubs) : json_null(), "P",
                     d ? json_integer(d->P) : json_null(), "predicted_s", number_json(d ? d->time_s : NAN), "low_s",
                     number_json(d ? d->low_s : NAN), "high_s", number_json(d ? d->high_s : NAN), "measured_s",
                     number_json(actual_s), "best",
                     config_text(best->run->config, best->run->config + r->nsubs, r->nsubs),
                     "best_s", best->time_s, "epsilon", number_json(actual_s / best->time_s - 1), "delta",
                     number_json(d ? d->time_s / actual_s - 1 : NAN), "ranked_epsilon", number_json(ranked_epsilon),
                     "ranked_delta", number_json(ranked_delta));
}

/* The configurations that were run at the size that is looked at, with what they take of money and energy. */
static json_t *measured_json(const struct report *r, const struct point *p, int n)
{
    json_t *all = json_array();

    for (int k = 0; k < n; k++) {
        const int *config = p[k].run->config;
        double cost = 0, power_w = 0;

        for (int i = 0; i < r->nsubs; i++) {
            cost += config[i] * r->c->cluster->subs[i].cost_per_hour / 3600;
            power_w += config[i] * r->c->cluster->subs[i].power_w;
        }
        json_array_append_new(all, json_pack("{s:o, s:i, s:f, s:f, s:f}", "config",
                                             config_text(config, config + r->nsubs, r->nsubs), "P", p[k].run->s->P,
                                             "time_s", p[k].time_s, "cost", cost * p[k].time_s, "energy",
                                             power_w * p[k].time_s));
    }
    return all;
}

/* The runs of one size and, where some count, the choice there. */
static int add_runs_of_size(struct report *r, struct report_run *runs, int n, json_t *root, struct hrun_error *err)
{
    struct question q = { .anew = 1, .top = 1 };
    int64_t N = runs[0].s->N;
    struct at_size at = { 0 };
    struct point *points = NULL;
    struct hrun_error why = { 0 };
    struct decision d;
    int npoints, chosen;

    if (r->known.have && !at_size_make(r->c, &r->known, N, &at, &why)) {
        hrun_predictor_correct(at.predictor, NULL);
        hrun_predictor_pace(at.predictor, NULL);
        for (int i = 0; i < n; i++)
            if (runs[i].counts && runs[i].config)
                predict_recorded(r, at.predictor, &runs[i]);
        at_size_release(&at);
    }
    for (int i = 0; i < n; i++)
        if (json_array_append_new(json_object_get(root, "runs"), run_json(&runs[i])))
            return hrun_fail(err, HRUN_EPARSE, "a record of N = %lld cannot be shown", (long long)N);
    npoints = make_points(r, runs, n, &points);
    if (npoints) {
        chosen = !ask_hrun(r, &q, N, &d, &why);
        json_array_append_new(json_object_get(root, "sizes"), size_json(r, N, chosen ? &d : NULL, points, npoints));
        add_share_times(r, N, root);
        if (N == json_integer_value(json_object_get(root, "N")))
            json_object_set_new(root, "measured", measured_json(r, points, npoints));
        if (chosen)
            decision_release(&d);
    }
    free(points);
    return 0;
}

/* ------------------------------------------------------------------ the size that is looked at */

static json_t *choices_json(const struct hrun_plan *plan)
{
    json_t *all = json_array();

    for (int i = 0; i < plan->n; i++) {
        const struct hrun_choice *v = &plan->v[i];

        json_array_append_new(all, json_pack("{s:o, s:i, s:f, s:o, s:b, s:o}", "config",
                                             config_text(v->pes, v->procs, plan->nsubs), "P", v->P, "predicted_s",
                                             v->time_s, "ranked_s", number_json(v->ranked_s), "doubted",
                                             hrun_plan_is_doubted(plan, i), "value", number_json(v->value)));
    }
    return all;
}

/* By how much the waits of the last watched run change what a process gets, for each sub-cluster; null: none does. */
static json_t *changes_json(const struct decision *d)
{
    json_t *all = d->unwatched && d->share ? json_array() : json_null();

    for (int i = 0; json_is_array(all) && i < d->nsubs; i++)
        json_array_append_new(all, d->unwatched[i] > 0 ? number_json(d->share[i] / d->unwatched[i]) : json_null());
    return all;
}

/* Time against cost or energy at N, and what each measured configuration takes of it; null where a price or power is
 * not known. */
static json_t *tradeoff_json(struct report *r, int64_t N, const char *objective)
{
    struct question q = { .anew = 1, .top = SHOWN_MAX, .objective = objective, .table = 1 };
    int is_cost = !strcmp(objective, "cost");
    struct hrun_error why;
    struct decision d;
    json_t *out;

    for (int i = 0; i < r->nsubs; i++)
        if (!((is_cost ? r->c->cluster->subs[i].cost_per_hour : r->c->cluster->subs[i].power_w) > 0))
            return json_null();
    if (ask_hrun(r, &q, N, &d, &why))
        return json_null();
    out = json_pack("{s:s, s:o, s:o}", "unit", d.pareto ? d.pareto_unit : "", "choices", choices_json(d.plan), "front",
                    d.pareto ? choices_json(d.pareto) : json_array());
    decision_release(&d);
    return out;
}

static void add_plan(struct report *r, int64_t N, json_t *root)
{
    struct question q = { .anew = 1, .top = SHOWN_MAX };
    struct hrun_error why;
    struct decision d;

    if (ask_hrun(r, &q, N, &d, &why)) {
        json_object_set_new(root, "plan", json_null());
        json_object_set_new(root, "why_no_plan", json_string(why.text));
        return;
    }
    json_object_set_new(root, "plan", json_pack("{s:o, s:i, s:o, s:o, s:o, s:b, s:o}", "chosen",
                                                config_text(d.pes, d.procs, d.nsubs), "P", d.P, "predicted_s",
                                                number_json(d.time_s), "low_s", number_json(d.low_s), "high_s",
                                                number_json(d.high_s), "all", d.plan->counts.counted &&
                                                d.plan->n >= d.plan->counts.valid, "choices", choices_json(d.plan)));
    json_object_set_new(root, "shares_by_waits", changes_json(&d));
    decision_release(&d);
    json_object_set_new(root, "tradeoffs", json_pack("{s:o, s:o}", "cost", tradeoff_json(r, N, "cost"), "energy",
                                                     tradeoff_json(r, N, "energy")));
}

int report_add_choices(struct report *r, int64_t N, json_t *root, struct hrun_error *err)
{
    for (int i = r->nruns - 1; i >= 0 && !N; i--)
        if (r->runs[i].counts)
            N = r->runs[i].s->N;
    json_object_update_new(root, json_pack("{s:o, s:o, s:o, s:o, s:o}", "N", N ? json_integer(N) : json_null(),
                                           "measured", json_array(), "runs", json_array(), "sizes", json_array(),
                                           "shares", json_array()));
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
