/* report_choose.c - predictions, choices and their errors in a report; see report.h */
#include "report.h"

#include "fit/fit.h"
#include "model/model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of processes for which the best configuration is searched: a figure is some hundred dots wide. */
enum { FRONT_MAX = 400 };

/* ------------------------------------------------------------------ predictions */

struct report_predictors {
    struct hrun_models **models;    /* of each sub-cluster */
    struct hrun_models **owned;     /* those made for the report; NULL: none */
    struct hrun_netview *net;       /* the context's; or NULL */
    struct kept {
        int64_t N;
        struct hrun_predictor *p;   /* NULL: cannot be made, for this reason */
        struct hrun_error why;
    } *v;
    int n, nsubs;
};

void report_predictors_destroy(struct report_predictors *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n; i++)
        hrun_predictor_destroy(p->v[i].p);
    for (int i = 0; p->owned && i < p->nsubs; i++)
        hrun_models_destroy(p->owned[i]);
    free(p->owned);
    free(p->v);
    free(p->models);
    free(p);
}

/* The network of the hosts that the options name, if the report is of their sub-clusters. */
static struct hrun_netview *network(const struct report *r)
{
    struct hrun_netview *view = r->c->view;

    for (int i = 0; i < r->nsubs && view; i++)
        if (hrun_netview_nsubs(view) != r->nsubs || hrun_netview_find(view, r->subs[i].name) != i ||
            hrun_netview_npes(view, i) < r->subs[i].npes)
            return NULL;
    return view;
}

/* A report is made of what was recorded. Where it knows no hosts, or not their network, models with terms that ask for
 * it are fitted anew without these; where it does, and the models were fitted without it, with it. -1: no memory. */
static int fit_for_network(const struct report *r, struct report_predictors *p)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_joint_sub *subs;
    struct hrun_error why = { 0 };
    int n = 0, rc;

    p->net = network(r);
    if (p->net ? hrun_models_have_network(r->c->app, p->models, r->nsubs, 0)
               : !hrun_models_have_network(r->c->app, p->models, r->nsubs, 1))
        return 0;
    options.net = p->net;
    for (int i = 0; i < r->nsubs; i++)
        if (p->models[i] && p->models[i]->n)
            options.sigma_abs_s = p->models[i]->v[0].sigma_abs_s;   /* as they were fitted */
    subs = calloc((size_t)r->nsubs + 1, sizeof *subs);
    p->owned = calloc((size_t)r->nsubs + 1, sizeof *p->owned);
    if (!subs || !p->owned) {
        free(subs);
        return -1;
    }
    for (int i = 0; i < r->nsubs; i++)
        if (r->subs[i].same == i)
            subs[n++] = (struct hrun_joint_sub){ r->subs[i].name, r->subs[i].signature, r->subs[i].samples.v,
                                                 r->subs[i].samples.n, 0 };
    p->nsubs = n;
    rc = hrun_model_fit_joint(r->c->app, subs, n, &options, p->owned, NULL, &why);
    for (int i = 0, k = 0; i < r->nsubs && !rc; i++)
        p->models[i] = r->subs[i].same == i ? p->owned[k++] : p->models[r->subs[i].same];
    free(subs);
    return rc && why.code == HRUN_ENOMEM ? -1 : 0;
}

static struct report_predictors *predictors_create(const struct report *r)
{
    struct report_predictors *p = calloc(1, sizeof *p);

    if (p)
        p->models = calloc((size_t)r->nsubs + 1, sizeof *p->models);
    if (!p || !p->models) {
        free(p);
        return NULL;
    }
    for (int i = 0; i < r->nsubs; i++)
        p->models[i] = r->subs[r->subs[i].same].models;
    if (fit_for_network(r, p)) {
        report_predictors_destroy(p);
        return NULL;
    }
    return p;
}

/* The entry of N, made if need be; NULL when memory ran out. */
static struct kept *find_predictor(struct report *r, int64_t N)
{
    struct report_predictors *all = r->predictors ? r->predictors : (r->predictors = predictors_create(r));
    struct kept *v;

    for (int i = 0; all && i < all->n; i++)
        if (all->v[i].N == N)
            return &all->v[i];
    v = all ? realloc(all->v, ((size_t)all->n + 1) * sizeof *v) : NULL;
    if (!v)
        return NULL;
    all->v = v;
    v += all->n;
    *v = (struct kept){ .N = N };
    v->p = hrun_predictor_create_net(r->c->app, all->models, r->nsubs, HRUN_FORM_NPT, N, all->net, NULL, &v->why);
    if (!v->p && v->why.code == HRUN_ENOMEM)
        return NULL;
    all->n++;
    return v;
}

struct hrun_predictor *report_predictor(struct report *r, int64_t N, struct hrun_error *err)
{
    struct kept *kept = find_predictor(r, N);

    if (!kept) {
        r->failed = 1;
        hrun_fail_nomem(err);
        return NULL;
    }
    if (!kept->p && err)
        *err = kept->why;
    return kept->p;
}

int report_processes(const struct report *r, const int *config)
{
    double P = 0;       /* the text of a record may say anything */

    for (int i = 0; i < r->nsubs; i++)
        P += (double)config[i] * config[r->nsubs + i];
    return P < INT_MAX ? (int)P : INT_MAX;
}

int report_predict(struct report *r, const int *config, int64_t N, double *time_s, double *low, double *high,
                   struct hrun_error *err)
{
    struct hrun_predictor *p = report_predictor(r, N, err);

    if (!p || hrun_predictor_time_whole(p, r->nsubs, config, config + r->nsubs, time_s, low, high, NULL, NULL, err))
        return -1;
    return *time_s > 0 ? 0 : -1;
}

/* ------------------------------------------------------------------ configurations as they were recorded */

static int same_config(const struct report *r, const int *a, const int *b)
{
    return a && b && !memcmp(a, b, 2 * (size_t)r->nsubs * sizeof *a);
}

static int by_time(const void *a, const void *b)
{
    const struct report_point *x = a, *y = b;

    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Runs with unequal shares are another matter: a configuration has one time here. */
int report_is_dealt(const struct report_run *run)
{
    return run->s->mixed && hrun_sample_dealt(run->s);
}

/* Runs are in order of N, so that those of one configuration at one N are not far apart. */
static int make_points(struct report *r)
{
    double *times = calloc((size_t)r->nruns + 1, sizeof *times);
    char *done = calloc((size_t)r->nruns + 1, 1);

    r->points = calloc((size_t)r->nruns + 1, sizeof *r->points);
    if (!times || !done || !r->points) {
        free(times);
        free(done);
        return -1;
    }
    for (int i = 0; i < r->nruns; i++) {
        const struct report_run *first = &r->runs[i];
        int n = 0;

        if (done[i] || !first->counts || !first->config || report_is_dealt(first))
            continue;
        for (int k = i; k < r->nruns && r->runs[k].s->N == first->s->N; k++)
            if (r->runs[k].counts && !report_is_dealt(&r->runs[k]) &&
                same_config(r, r->runs[k].config, first->config)) {
                times[n++] = r->runs[k].s->time_s;
                done[k] = 1;
            }
        hrun_sort(times, (size_t)n);
        r->points[r->npoints++] = (struct report_point){
            first->config, first->s->N, first->s->P, n, (times[(n - 1) / 2] + times[n / 2]) / 2, first->fit,
        };
    }
    qsort(r->points, (size_t)r->npoints, sizeof *r->points, by_time);
    free(times);
    free(done);
    return 0;
}

/* ------------------------------------------------------------------ the choice */

struct hrun_joint_sub *report_logs(const struct report *r)
{
    struct hrun_joint_sub *subs = calloc((size_t)r->nsubs + 1, sizeof *subs);

    for (int i = 0; subs && i < r->nsubs; i++) {
        const struct hrun_samples *s = &r->subs[r->subs[i].same].samples;

        subs[i] = (struct hrun_joint_sub){ r->subs[i].name, r->subs[i].signature, s->v, s->n, 0 };
    }
    return subs;
}

int report_corrections(struct report *r, const struct hrun_joint_sub *logs, enum hrun_sharing how,
                       struct hrun_corrections **out, struct hrun_error *err)
{
    struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    struct hrun_error why = { 0 };

    if (!r->predictors)
        r->predictors = predictors_create(r);
    if (!logs || !r->predictors)
        return hrun_fail_nomem(err);
    options.net = r->predictors->net;
    if (hrun_corrections_create(r->c->app, logs, r->nsubs, r->predictors->models, HRUN_FORM_NPT, how, &options, out,
                                &why))
        *out = NULL;
    return why.code == HRUN_ENOMEM ? hrun_fail_nomem(err) : 0;
}

/* What runs of configurations tell of these goes into the choice, as it does in hrun (session/log_corrections.c). */
static int make_corrections(struct report *r, struct hrun_error *err)
{
    struct hrun_joint_sub *logs = report_logs(r);
    int rc = report_corrections(r, logs, HRUN_SHARES_EQUAL, &r->corrections, err);

    free(logs);
    return rc;
}

int report_search(struct report *r, int64_t N, int P, const struct hrun_objective *objective, int top, int front,
                  struct hrun_plan **plan, struct hrun_error *err)
{
    struct hrun_predictor *p = report_predictor(r, N, err);
    int n = hrun_corrections_count(r->corrections), rc = -1;
    struct hrun_plan_sub *subs = calloc((size_t)r->nsubs, sizeof *subs);
    struct hrun_known *known = calloc((size_t)n + 1, sizeof *known);
    struct hrun_plan_problem problem = { .subs = subs, .objective = objective, .P = P };

    *plan = NULL;
    if (!subs || !known) {
        hrun_fail_nomem(err);
    } else if (p) {
        for (int i = 0; i < r->nsubs; i++)
            subs[i] = (struct hrun_plan_sub){ .npes = r->subs[i].npes, .cost_per_hour = r->subs[i].cost_per_hour,
                                              .power_w = r->subs[i].power_w };
        problem.oracle = hrun_predictor_oracle(p);
        hrun_predictor_correct(p, r->corrections);
        hrun_corrections_known(r->corrections, N, known, NULL);
        rc = front ? hrun_plan_pareto(&problem, known, n, plan, err)
                   : hrun_plan_search_known(&problem, known, n, top, plan, err);
        hrun_predictor_correct(p, NULL);
    }
    free(subs);
    free(known);
    if (rc)
        *plan = NULL;
    return rc && err->code == HRUN_ENOMEM ? -1 : 0;
}

/* As hrun tells it (service/decide.h). */
static void add_interval(struct report *r, struct report_size *s)
{
    struct hrun_predictor *p = report_predictor(r, s->N, NULL);
    double t;

    s->low_s = s->high_s = s->predicted_s;
    hrun_predictor_correct(p, r->corrections);
    if (!report_predict(r, s->chosen, s->N, &t, &s->low_s, &s->high_s, NULL))
        hrun_corrections_tell(r->corrections, s->chosen, s->chosen + r->nsubs, s->N, &t, &s->low_s, &s->high_s, NULL);
    hrun_predictor_correct(p, NULL);
}

static int keep_choice(struct report *r, struct report_size *s, const struct hrun_plan *plan)
{
    size_t n = (size_t)r->nsubs;

    s->chosen = calloc(2 * n, sizeof *s->chosen);
    if (!s->chosen)
        return -1;
    memcpy(s->chosen, plan->v[0].pes, n * sizeof *s->chosen);
    memcpy(s->chosen + n, plan->v[0].procs, n * sizeof *s->chosen);
    s->P = plan->v[0].P;
    s->predicted_s = plan->v[0].time_s;
    add_interval(r, s);
    s->counted = plan->counts.counted;
    s->valid = plan->counts.valid;
    return 0;
}

/* The errors at one N, whose points are p[n], the fastest first. */
static void compare_with_runs(const struct report *r, struct report_size *s, const struct report_point *p, int n)
{
    const struct report_point *ranked = NULL;
    int predicted = 0;

    s->epsilon = s->delta = s->ranked_epsilon = s->ranked_delta = NAN;
    s->best = p[0].config;
    s->best_s = p[0].time_s;
    s->recorded = n;
    s->exact = s->counted && n >= s->valid;
    for (int i = 0; i < n; i++) {
        if (same_config(r, p[i].config, s->chosen))
            s->measured_s = p[i].time_s;
        predicted += p[i].fit > 0;
        if (p[i].fit > 0 && (!ranked || p[i].fit < ranked->fit))
            ranked = &p[i];
    }
    if (s->measured_s > 0) {
        s->epsilon = s->measured_s / s->best_s - 1;
        s->delta = s->predicted_s / s->measured_s - 1;
    }
    if (predicted > 1) {
        s->ranked_epsilon = ranked->time_s / s->best_s - 1;
        s->ranked_delta = ranked->fit / ranked->time_s - 1;
    }
}

static int choose_sizes(struct report *r, struct hrun_error *err)
{
    r->sizes = calloc((size_t)r->npoints + 1, sizeof *r->sizes);
    if (!r->sizes)
        return hrun_fail_nomem(err);
    for (int i = 0, n; i < r->npoints; i += n) {
        struct report_size *s = &r->sizes[r->nsizes++];
        struct hrun_error why = { 0 };
        struct hrun_plan *plan;
        int rc;

        s->N = r->points[i].N;
        for (n = 1; i + n < r->npoints && r->points[i + n].N == s->N; n++)
            ;
        rc = report_search(r, s->N, 0, NULL, 1, 0, &plan, &why);
        if (plan)
            rc = keep_choice(r, s, plan);
        hrun_plan_destroy(plan);
        if (rc)
            return hrun_fail_nomem(err);
        compare_with_runs(r, s, &r->points[i], n);
    }
    return 0;
}

/* ------------------------------------------------------------------ the landscape */

static int make_front(struct report *r, struct hrun_error *err)
{
    int most = 0, step;

    for (int i = 0; i < r->nsubs; i++)
        most += r->subs[i].npes * r->c->app->procs_per_pe[r->c->app->nprocs_per_pe - 1];
    step = (most + FRONT_MAX - 1) / FRONT_MAX;
    r->front = calloc(FRONT_MAX + 1, sizeof *r->front);
    if (!r->front)
        return hrun_fail_nomem(err);
    for (int P = 1; P <= most; P += step) {
        struct hrun_error why = { 0 };
        struct hrun_plan *plan;

        if (report_search(r, r->N, P, NULL, 1, 0, &plan, &why))
            return hrun_fail_nomem(err);
        if (plan)
            r->front[r->nfront++] = (struct report_best){ P, plan->v[0].time_s };
        hrun_plan_destroy(plan);
    }
    return 0;
}

int report_choose(struct report *r, struct hrun_error *err)
{
    struct hrun_error why = { 0 };

    if (make_points(r))
        return hrun_fail_nomem(err);
    if (make_corrections(r, err))
        return -1;
    if (choose_sizes(r, err))
        return -1;
    if (report_search(r, r->N, 0, NULL, REPORT_LANDSCAPE_MAX, 0, &r->plan, &why))
        return hrun_fail_nomem(err);
    r->choice.N = r->N;
    if (r->plan)
        return keep_choice(r, &r->choice, r->plan) ? hrun_fail_nomem(err) : make_front(r, err);
    r->why_no_plan = strdup(why.text);
    return r->why_no_plan ? 0 : hrun_fail_nomem(err);
}

/* ------------------------------------------------------------------ sums */

double report_epsilon(const struct report_size *s)
{
    return s->epsilon;
}

double report_delta(const struct report_size *s)
{
    return fabs(s->delta);
}

double report_ranked_epsilon(const struct report_size *s)
{
    return s->ranked_epsilon;
}

double report_ranked_delta(const struct report_size *s)
{
    return fabs(s->ranked_delta);
}

void report_errors(const struct report *r, double (*value)(const struct report_size *s), struct report_errors *out)
{
    *out = (struct report_errors){ 0 };
    for (int i = 0; i < r->nsizes; i++) {
        double v = value(&r->sizes[i]);

        if (isnan(v))
            continue;
        out->n++;
        out->mean += (v - out->mean) / out->n;
        out->worst = fmax(out->worst, v);
    }
}

void report_cost(const struct report *r, int sub, struct report_cost *out)
{
    *out = (struct report_cost){ 0 };
    for (int i = 0; i < r->nruns; i++) {
        const struct report_run *run = &r->runs[i];

        if (run->sub != sub)
            continue;
        out->runs++;
        out->failed += !run->s->ok;
        out->wall_s += run->s->wall_s;
        out->pe_s += run->s->wall_s * run->npes;
    }
}
