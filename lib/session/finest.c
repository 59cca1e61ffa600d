/* finest.c - --finest: the largest size that memory and --limit allow; see finest.h */
#include "session/finest.h"

#include "base/units.h"
#include "session/goals.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above twice the largest measured size (eight times the work if work grows as N^3) predictions are too uncertain. */
enum { FINEST_BEYOND = 2 };
/* Limit of the processor time for the search among sizes that the rule refuses, s. */
static const double SECONDS = 20;

struct finder {
    struct context *c;
    int nsubs;
    struct hrun_models *models[HRUN_SUBS_MAX];
    struct hrun_plan_sub subs[HRUN_SUBS_MAX];
    struct goals goals;
    struct hrun_plan_problem problem;
    int most_P;
    int deals;              /* 1: unequal shares may be chosen */
};

/* ------------------------------------------------------------------ one size */

static int accept_any_P(void *ctx, int P, struct hrun_error *err)
{
    (void)ctx;
    (void)P;
    (void)err;
    return 1;
}

/* 1 if a configuration is within the limits at N (ruled = 0: without the rule), else 0 with *why; -1 with *err. */
static int allows_size(struct finder *f, int64_t N, int ruled, struct hrun_error *why, struct hrun_error *err)
{
    autofree double *memory = size_memory(f->c);
    struct hrun_predictor_source from = { f->c->app, f->models, f->nsubs, HRUN_FORM_NPT, N, f->c->view,
                                          .memory = memory };
    struct hrun_plan_problem problem = f->problem;
    int rc = 0;

    for (int dealt = 0, may = 1; may && dealt <= f->deals; dealt++) {
        struct hrun_predictor *p;
        struct hrun_plan *plan = NULL;
        struct hrun_oracle oracle;

        from.sharing = dealt ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL;
        p = hrun_predictor_create_net(&from, why);
        if (p) {
            oracle = *hrun_predictor_oracle(p);
            if (!ruled)
                oracle.rule = accept_any_P;
            problem.oracle = &oracle;
            rc = !hrun_plan_search(&problem, 1, &plan, why);
        }
        hrun_plan_destroy(plan);
        hrun_predictor_destroy(p);
        may = p && !rc && why->code == HRUN_EINFEASIBLE;
    }
    if (rc || why->code == HRUN_EINFEASIBLE || why->code == HRUN_ENODATA)
        return rc;
    if (err)
        *err = *why;
    return -1;
}

/* 1 if the rule accepts N with some number of processes, else 0; -1 with *err. */
static int rule_allows_size(const struct finder *f, int64_t N, struct hrun_error *err)
{
    int from = f->problem.P ? f->problem.P : 1, to = f->problem.P ? f->problem.P : f->most_P, rc = 0;

    for (int P = from; P <= to && !rc; P++)
        rc = hrun_app_rule(f->c->app, N, P, err);
    return rc;
}

/* ------------------------------------------------------------------ all sizes */

/* The only measured size, if the models predict this size alone; else 0. */
static int64_t only_size(const struct finder *f)
{
    int64_t only = 0;

    for (int i = 0; i < f->nsubs; i++)
        for (int k = 0; f->models[i] && k < f->models[i]->n; k++) {
            const struct hrun_fit_record *r = f->models[i]->v[k].nmin > 0 ? &f->models[i]->v[k] : NULL;

            if (!r || !hrun_family_of(f->c->app)->is_of_sizes || r->nmin != r->nmax || (only && r->nmin != only))
                return 0;
            only = r->nmin;
        }
    return only;
}

/* Set *out to the largest size up to hi that is within the limits without the rule; 0: none, with *why. */
static int bisect_sizes(struct finder *f, int64_t hi, int64_t *out, struct hrun_error *why, struct hrun_error *err)
{
    int64_t below = 0, above = hi + 1, mid = hi;
    int rc;

    while (above - below > 1) {
        rc = allows_size(f, mid, 0, why, err);
        if (rc < 0)
            return -1;
        if (rc)
            below = mid;
        else
            above = mid;
        mid = below + (above - below) / 2;
    }
    *out = below;
    return 0;
}

/* Set *out to the first size from N down that the rule accepts and that is within the limits; 0: none. */
static int walk_down(struct finder *f, int64_t N, int64_t *out, struct hrun_error *why, struct hrun_error *err)
{
    double end = hrun_thread_cpu_s() + SECONDS;
    int rc = 0;

    for (*out = 0; N >= 1 && !rc; N--) {
        rc = rule_allows_size(f, N, err);
        rc = rc > 0 ? allows_size(f, N, 1, why, err) : rc;
        if (rc > 0)
            *out = N;
        if (!rc && hrun_thread_cpu_s() > end)
            return hrun_fail(err, HRUN_EINFEASIBLE, "--finest: in %.0f s no size was found within the limits, down to "
                             "N = %lld; -N SIZE begins lower", SECONDS, (long long)N);
    }
    return rc < 0 ? -1 : 0;
}

/* Set out->next to the next larger size that the rule accepts, and out->why to the reason against this size. */
static int explain_next_size(struct finder *f, int64_t hi, struct finest *out, struct hrun_error *err)
{
    double end = hrun_thread_cpu_s() + SECONDS / 10;
    struct hrun_error why = { 0 };

    for (int64_t N = out->N + 1; N <= hi && hrun_thread_cpu_s() < end; N++) {
        int rc = rule_allows_size(f, N, err);

        rc = rc > 0 ? allows_size(f, N, 1, &why, err) : rc;
        if (rc < 0)
            return -1;
        if (!why.text[0])
            continue;
        out->next = N;
        if (out->measure)
            snprintf(out->why, sizeof out->why, "only one size was measured; predictions of others need two");
        else
            snprintf(out->why, sizeof out->why, "%.639s", why.text);
        return 0;
    }
    return 0;
}

static int search_finest(struct finder *f, int64_t most, struct finest *out, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    int64_t largest = 0, hi, top;

    for (int i = 0; i < f->nsubs; i++)
        for (int k = 0; f->models[i] && k < f->models[i]->n; k++)
            largest = f->models[i]->v[k].nmax > largest ? f->models[i]->v[k].nmax : largest;
    hi = largest > HRUN_COUNT_MAX / FINEST_BEYOND ? HRUN_COUNT_MAX : largest * FINEST_BEYOND;
    out->limit = most && most < hi ? most : hi;
    out->given = most && most < hi;
    out->measure = only_size(f) ? hi : 0;
    if (bisect_sizes(f, out->limit, &top, &why, err) || walk_down(f, top, &out->N, &why, err))
        return -1;
    if (out->N)
        return explain_next_size(f, out->limit, out, err);
    if (out->measure)
        return hrun_fail(err, HRUN_EINFEASIBLE, "--finest: %s has no size up to %lld within the limits; only N = %lld "
                         "was measured; predictions of others need two", f->c->app->name, (long long)out->limit,
                         (long long)only_size(f));
    return hrun_fail(err, HRUN_EINFEASIBLE, "--finest: %s has no size up to %lld within the limits%s%s",
                     f->c->app->name, (long long)out->limit, why.text[0] ? "; at the last one looked at " : "",
                     why.text);
}

/* ------------------------------------------------------------------ */

/* Fill *f: PEs, models, limits and the search. */
static int load_finder(struct finder *f, const struct question *q, const struct profiles *p, struct hrun_error *err)
{
    const struct hrun_cluster *cl = f->c->cluster;
    int npes[HRUN_SUBS_MAX], rc;

    f->nsubs = cl->nsubs;
    if (context_use(cl, q->use, npes, err))
        return -1;
    if (!p->have)
        return hrun_fail(err, HRUN_ENODATA, "--finest needs predictions, and there is no profile; hrun-calibrate makes "
                         "one");
    for (int i = 0; i < cl->nsubs; i++) {
        f->subs[i] = (struct hrun_plan_sub) { npes[i], (double)cl->subs[i].memory_bytes, cl->subs[i].cost_per_hour,
                                              cl->subs[i].power_w };
        f->models[i] = p->subs[i].models;
        f->most_P += npes[i] * f->c->app->procs_per_pe[f->c->app->nprocs_per_pe - 1];
    }
    rc = goals_read(q, cl, f->subs, &f->goals, err);
    f->problem = (struct hrun_plan_problem) { .subs = f->subs, .objective = &hrun_objectives[HRUN_OBJECTIVE_TIME],
                                              .P = (int)q->procs, .limits = f->goals.any ? &f->goals.limits : NULL };
    return rc;
}

int finest_find(struct context *c, const struct question *q, const struct profiles *p, int64_t most,
                struct finest *out, struct hrun_error *err)
{
    struct finder f = { .c = c, .deals = c->app->shares.units && (!q->shares || strcmp(q->shares, "equal")) };
    struct finest found = { .on = 1 };
    int rc;

    if (q->config)
        return hrun_fail(err, HRUN_EINVAL, "--finest and --config contradict each other: the size is to be found that "
                         "some configuration allows; --use and -n limit which");
    if (q->within)
        return hrun_fail(err, HRUN_EINVAL, "--finest and --limit within contradict each other: there is no quickest "
                         "configuration of all sizes; say --limit time=TIME");
    rc = load_finder(&f, q, p, err) || search_finest(&f, most, &found, err) ? -1 : 0;
    if (!rc)
        *out = found;
    out->measure = found.measure;
    return rc;
}
