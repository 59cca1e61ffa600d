/* refit.c - models from all runs, and groups of the runs of one configuration and size; see internal.h */
#include "base/alloc.h"
#include "fit/fit.h"
#include "model/corrections.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run this many standard deviations (of a difference of two runs) above the least of its group counts as disturbed:
 * one in 30,000 undisturbed runs. Disturbances never shorten a run. */
static const double DISTURBED = 4;
/* Ratio of the standard deviation to the median absolute value, for normal errors. */
static const double MAD_FACTOR = 1.4826;
/* ASSUMED_PAIRS: weight of the assumed scatter, in differences: two or three equal repetitions do not make the scatter
 * 0. PAIRS_MAX: most differences. */
enum { ASSUMED_PAIRS = 5, PAIRS_MAX = 400 };

/* The first sub-cluster with the signature of this one; sub-clusters with one signature share their models. */
static int first_of_kind(const struct hrun_design *d, int sub)
{
    for (int i = 0; i < sub; i++)
        if (!strcmp(d->subs[i].signature, d->subs[sub].signature))
            return i;
    return sub;
}

void design_drop_models(struct hrun_design *d)
{
    for (int k = 0; k < 2; k++) {
        hrun_corrections_destroy(d->fit.corrections[k]);
        d->fit.corrections[k] = NULL;
    }
    for (int i = 0; d->fit.models && i < d->nsubs; i++)
        if (first_of_kind(d, i) == i)
            hrun_models_destroy(d->fit.models[i]);
    free(d->fit.models);
    d->fit.models = NULL;
    free(d->fit.groups);
    d->fit.groups = NULL;
    d->fit.ngroups = 0;
}

/* ------------------------------------------------------------------ groups */

static int compare_run_places(const void *a, const void *b)
{
    const struct design_run *x = *(struct design_run *const *)a, *y = *(struct design_run *const *)b;

    if (x->N != y->N)
        return x->N < y->N ? -1 : 1;
    if (x->P != y->P)
        return x->P < y->P ? -1 : 1;
    return 0;
}

static struct design_group *find_run_group(struct hrun_design *d, const struct design_run *r)
{
    for (int i = d->fit.ngroups; i-- > 0; )
        if (d->fit.groups[i].N == r->N && same_dealt_config(&d->fit.groups[i].config, &r->config))
            return &d->fit.groups[i];
    d->fit.groups[d->fit.ngroups] = (struct design_group){ .config = r->config, .P = r->P, .sub = r->sub, .N = r->N,
                                                   .limiting = r->sub, .least = INFINITY, .model = NAN };
    return &d->fit.groups[d->fit.ngroups++];
}

/* Scatter of one run, from the differences of successive repetitions and ASSUMED_PAIRS times the assumed scatter. The
 * median ignores disturbed runs. shorts: 0: relative, of all runs; 1: in seconds, of runs so short that the absolute
 * scatter dominates. */
static double estimate_scatter(const struct hrun_design *d, int shorts, double assumed)
{
    double pair[PAIRS_MAX + ASSUMED_PAIRS];
    int n = 0;

    for (int i = 0; i < ASSUMED_PAIRS; i++)
        pair[n++] = assumed / MAD_FACTOR;
    for (int i = 0; i < d->runs.n && n < PAIRS_MAX; i++) {
        const struct design_run *a = &d->runs.v[i];

        if ((shorts && d->set.fit.sigma_rel * a->time_s >= d->set.fit.sigma_abs_s) ||
            d->fit.rounding_s > d->set.fit.sigma_rel * a->time_s)
            continue;
        for (int j = i + 1; j < d->runs.n && a->time_s > 0; j++) {
            const struct design_run *b = &d->runs.v[j];

            if (b->time_s <= 0 || b->N != a->N || !same_dealt_config(&a->config, &b->config))
                continue;
            pair[n++] = fabs(log(a->time_s / b->time_s)) / sqrt(2) * (shorts ? a->time_s : 1);
            break;
        }
    }
    return MAD_FACTOR * design_median(pair, n);
}

double design_noise(const struct hrun_design *d, double time_s)
{
    return hypot(d->fit.noise, hypot(d->fit.noise_s, d->fit.rounding_s) / time_s);
}

static void group_runs(struct hrun_design *d)
{
    autofree struct design_run **order = xcalloc((size_t)d->runs.n + 1, sizeof *order);

    free(d->fit.groups);
    d->fit.groups = xcalloc((size_t)d->runs.n + 1, sizeof *d->fit.groups);
    d->fit.ngroups = 0;
    for (int i = 0; i < d->runs.n; i++)
        order[i] = &d->runs.v[i];
    qsort(order, (size_t)d->runs.n, sizeof *order, compare_run_places);
    for (int i = 0; i < d->runs.n; i++) {
        struct design_group *g = find_run_group(d, order[i]);

        if (order[i]->time_s > 0)
            g->least = fmin(g->least, order[i]->time_s);
        else
            g->failed = 1;
    }
    for (int i = 0; i < d->runs.n; i++) {
        struct design_group *g = find_run_group(d, order[i]);
        double t = order[i]->time_s;

        if (t <= 0)
            continue;
        g->n++;
        if (log(t / g->least) > DISTURBED * M_SQRT2 * design_noise(d, g->least))
            continue;
        g->log_t += log(t);
        g->kept++;
    }
    for (int i = 0; i < d->fit.ngroups; i++) {
        struct design_group *g = &d->fit.groups[i];

        if (!g->kept)
            continue;
        g->log_t /= g->kept;
        g->var = pow(hypot(d->fit.noise, d->fit.noise_s / g->least), 2) / g->kept +
                 pow(d->fit.rounding_s / g->least, 2);
    }
}

/* ------------------------------------------------------------------ models */

/* List the samples of one kind of sub-cluster: each successful run that uses it. Result: their number. */
static size_t list_samples(const struct hrun_design *d, int kind, struct hrun_sample *v)
{
    size_t n = 0;

    for (int sub = kind; sub < d->nsubs; sub++) {
        if (first_of_kind(d, sub) != kind)
            continue;
        for (int i = 0; i < d->runs.n; i++) {
            const struct design_run *r = &d->runs.v[i];

            if (r->time_s <= 0 || !r->config.c.pes[sub])
                continue;
            v[n++] = (struct hrun_sample){ .N = r->N, .P = r->P, .M = r->config.c.procs[sub],
                                           .pes = r->config.c.pes[sub], .time_s = r->time_s,
                                           .wall_s = fmax(r->wall_s, r->time_s), .ok = 1, .mixed = r->sub < 0,
                                           .status = (char *)"ok", .config = r->text, .cluster = d->runs.names.data,
                                           .signatures = d->runs.signatures.data, .consts = d->runs.consts.data,
                                           .shares = r->shares, .date = (char *)r->date };
        }
    }
    return n;
}

/* The samples of each sub-cluster, in their order. *memory: the array of all samples. The caller frees both. */
static struct hrun_joint_sub *list_logs(const struct hrun_design *d, struct hrun_sample **memory)
{
    struct hrun_joint_sub *logs = xcalloc((size_t)d->nsubs, sizeof *logs);
    size_t at = 0;

    *memory = xcalloc((size_t)d->runs.n * (size_t)d->nsubs + 1, sizeof **memory);
    for (int i = 0; i < d->nsubs; i++) {
        int kind = first_of_kind(d, i);

        if (kind < i) {
            logs[i] = logs[kind];
        } else {
            logs[i].samples = *memory + at;
            at += logs[i].n = list_samples(d, i, *memory + at);
        }
        logs[i].name = d->subs[i].name;
        logs[i].signature = d->subs[i].signature;
        logs[i].memory_bytes = d->subs[i].memory_bytes;
    }
    return logs;
}

/* Remove models of more processes per PE than the sub-cluster allows, which come from other sub-clusters. */
static void drop_models_beyond(const struct hrun_design *d, int sub)
{
    struct hrun_models *m = d->fit.models[sub];
    int kept = 0;

    for (int i = 0; m && i < m->n; i++) {
        if (d->subs[sub].most && m->v[i].M > d->subs[sub].most)
            hrun_fit_record_release(&m->v[i]);
        else
            m->v[kept++] = m->v[i];
    }
    if (m)
        m->n = kept;
}

/* Fit the models of all kinds jointly, and their corrections by runs of single configurations. */
static int fit_sub_kinds(struct hrun_design *d, struct hrun_error *err)
{
    autofree struct hrun_sample *memory = NULL;
    autofree struct hrun_joint_sub *logs = list_logs(d, &memory), *kinds = xcalloc((size_t)d->nsubs, sizeof *kinds);
    autofree struct hrun_models **fitted = xcalloc((size_t)d->nsubs, sizeof *fitted);
    struct hrun_error why = { 0 };
    int nkinds = 0;

    d->fit.models = xcalloc((size_t)d->nsubs, sizeof *d->fit.models);
    for (int i = 0; i < d->nsubs; i++)
        if (first_of_kind(d, i) == i)
            kinds[nkinds++] = logs[i];
    if (hrun_model_fit_joint(d->app, kinds, nkinds, &d->set.fit, fitted, NULL, &why))
        return why.code == HRUN_ENODATA ? 0 : hrun_fail_as(err, &why);      /* no model yet is no error */
    for (int i = 0, k = 0; i < d->nsubs; i++)
        d->fit.models[i] = first_of_kind(d, i) == i ? fitted[k++] : d->fit.models[first_of_kind(d, i)];
    for (int i = 0; i < d->nsubs; i++)
        drop_models_beyond(d, i);
    for (int k = 0; k < 1 + design_deals(d); k++) {
        const struct hrun_correction_source from = { d->app, logs, d->fit.models, d->nsubs, HRUN_FORM_NPT,
                                                     k ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL };

        if (hrun_corrections_create(&from, &d->set.fit, &d->fit.corrections[k], &why) && why.code != HRUN_ENODATA)
            return hrun_fail_as(err, &why);
    }
    return 0;
}

/* A predictor for a size. dealt: 1 for unequal shares, within the memory of the PEs. */
static struct hrun_predictor *predictor_at(const struct hrun_design *d, int64_t N, int dealt, const double *pace,
                                           struct hrun_error *err)
{
    double memory[HRUN_SUBS_MAX];
    const struct hrun_predictor_source from = {
        d->app, d->fit.models, d->nsubs, HRUN_FORM_NPT, N, d->set.fit.net, NULL,
        dealt ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL, design_deals(d) ? memory : NULL, d->fit.corrections[dealt], pace
    };

    for (int i = 0; i < d->nsubs; i++)
        memory[i] = d->subs[i].memory_bytes;
    return hrun_predictor_create_net(&from, err);
}

int design_models_at(const struct hrun_design *d, int64_t N, struct size_models *m, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    int deals = design_deals(d);

    m->p[1] = NULL;
    m->p[0] = predictor_at(d, N, 0, NULL, &why);
    if (m->p[0] && deals)
        m->p[1] = predictor_at(d, N, 1, NULL, &why);
    if (!m->p[0] || (deals && !m->p[1])) {
        size_models_release(m);
        return why.code == HRUN_ENODATA ? 0 : hrun_fail_as(err, &why);
    }
    if (deals && !hrun_predictor_deals(m->p[1])) {
        hrun_predictor_destroy(m->p[1]);
        deals = 0;
    }
    if (!deals)
        m->p[1] = m->p[0];
    for (int i = 0; i < d->nsubs; i++)
        m->subs[i] = (struct hrun_plan_sub){ .npes = d->subs[i].npes, .memory_bytes = d->subs[i].memory_bytes };
    for (int k = 0; k < 2; k++)
        m->problem[k] = (struct hrun_plan_problem){ .oracle = hrun_predictor_oracle(m->p[k]), .subs = m->subs };
    return 0;
}

void size_models_release(struct size_models *m)
{
    if (m->p[1] != m->p[0])
        hrun_predictor_destroy(m->p[1]);
    hrun_predictor_destroy(m->p[0]);
    m->p[0] = m->p[1] = NULL;
}

int design_shares(const struct hrun_design *d, const struct dealt_config *config, int64_t N, const double *pace,
                  double *share, struct hrun_error *err)
{
    struct hrun_error why = { 0 };
    struct hrun_predictor *p = predictor_at(d, N, 1, pace, &why);
    int64_t units, least;
    int rc;

    if (!p)
        return why.code != HRUN_ENODATA ? hrun_fail_as(err, &why)
               : hrun_fail(err, HRUN_ENODATA, "there are no models yet, so unequal shares cannot be computed");
    rc = hrun_app_units(d->app, N, &units, &least, err);
    if (!rc && !hrun_predictor_deals(p))
        rc = hrun_fail(err, HRUN_ENODATA, "no model has a term with W, so unequal shares cannot be computed");
    rc = rc || hrun_predictor_shares(p, &config->c, share, err) ? -1 : 0;
    for (int i = 0; i < d->nsubs && !rc; i++)
        share[i] /= (double)units;
    hrun_predictor_destroy(p);
    return rc;
}

int design_evaluate(struct size_models *m, const struct dealt_config *config, int check, struct hrun_choice *c)
{
    struct hrun_error why = { 0 };

    return !hrun_plan_evaluate(&m->problem[config->dealt], &config->c, check, c, &why);
}

/* Convert the times of runs with unequal shares to the present shares. Leave out runs whose shares differ too much. */
static int renew_times(const struct hrun_design *d, struct hrun_predictor *p, struct design_group *g,
                       struct hrun_error *err)
{
    double sum = 0, then_s, off;
    int n = 0;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i];

        if (r->N != g->N || !(r->time_s > 0) || !same_dealt_config(&r->config, &g->config))
            continue;
        hrun_predictor_share_change(p, &r->config.c, r->share, &off);
        if (hrun_predictor_time_shared(p, &r->config.c, r->share, &then_s, err))
            return -1;
        if (off > HRUN_SHARES_FAR)
            continue;
        sum += log(then_s);
        n++;
    }
    if (n)
        g->log_t = g->model + hrun_shares_rest(g->log_t - sum / n, g->log_t - g->model);
    g->n = n;
    g->kept = n < g->kept ? n : g->kept;
    return 0;
}

/* Set the predicted time of each group, and the sub-cluster that limits it. */
static int predict_groups(struct hrun_design *d, struct hrun_error *err)
{
    struct size_models m = { .p = { NULL, NULL } };
    int64_t N = 0;
    int rc = 0;

    for (int i = 0; i < d->fit.ngroups && !rc; i++) {
        struct design_group *g = &d->fit.groups[i];
        struct hrun_choice c;

        if (g->N != N) {
            size_models_release(&m);
            N = g->N;
            if (design_models_at(d, N, &m, err))
                return -1;
        }
        g->model = NAN;
        if (!m.p[0] || !design_evaluate(&m, &g->config, 0, &c))
            continue;
        g->model = log(c.time_s);
        g->common = g->sub >= 0 && g->config.c.pes[g->sub] > 1
                    ? log(hrun_corrections_common(d->fit.corrections[0], g->N)) : 0;
        g->limiting = c.limiting;
        rc = g->config.dealt ? renew_times(d, m.p[1], g, err) : 0;
    }
    size_models_release(&m);
    return rc;
}

double design_missed(const struct design_group *g)
{
    return g->log_t - (g->model - g->common);
}

/* Relative standard deviation of homogeneous groups from the fit. */
static double estimate_training_error(const struct hrun_design *d)
{
    double miss[PAIRS_MAX];
    int n = 0;

    for (int i = 0; i < d->fit.ngroups && n < PAIRS_MAX; i++)
        if (d->fit.groups[i].sub >= 0 && d->fit.groups[i].kept && isfinite(d->fit.groups[i].model))
            miss[n++] = fabs(design_missed(&d->fit.groups[i]));
    return MAD_FACTOR * design_median(miss, n);
}

void design_assess_times(struct hrun_design *d)
{
    autofree double *time_s = xcalloc((size_t)d->runs.n + 1, sizeof *time_s);
    autofree int *group = xcalloc((size_t)d->runs.n + 1, sizeof *group);
    size_t n = 0;

    for (int i = 0; i < d->runs.n; i++) {
        const struct design_run *r = &d->runs.v[i], *first = d->runs.v;

        if (r->time_s <= 0)
            continue;
        while (first->N != r->N || !same_dealt_config(&first->config, &r->config))
            first++;
        time_s[n] = r->time_s;
        group[n++] = (int)(first - d->runs.v);
    }
    d->fit.rounding_s = hrun_times_rounding(time_s, n);
    d->fit.exact = hrun_times_repeat(time_s, group, n);
    d->fit.least_s = hrun_times_least(time_s, group, n);
}

/* Count all runs of a program that ignores its shares as runs with equal ones. */
static void forget_shares(struct hrun_design *d)
{
    int changed = 0;

    for (int i = 0; i < d->runs.n && !design_deals(d); i++) {
        changed |= d->runs.v[i].config.dealt;
        d->runs.v[i].config.dealt = 0;
    }
    if (changed)
        group_runs(d);
}

int design_fit(struct hrun_design *d, struct hrun_error *err)
{
    design_drop_models(d);
    design_assess_times(d);
    d->fit.noise = estimate_scatter(d, 0, d->set.fit.sigma_rel);
    d->fit.noise_s = fmin(estimate_scatter(d, 1, d->set.fit.sigma_abs_s), d->set.fit.sigma_abs_s);
    group_runs(d);
    if (fit_sub_kinds(d, err))
        return -1;
    forget_shares(d);
    if (predict_groups(d, err))
        return -1;
    d->fit.training = estimate_training_error(d);
    d->state.exact = d->fit.exact;
    d->state.ignores = d->app->shares.units && d->nsubs > 1 && !design_deals(d);
    d->fit.nruns = d->runs.n;
    return 0;
}
