/* weak.c - the family weak: predictions; see weak.h */
#include "model/families/weak.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = HRUN_WEAK_TERMS };

struct option {
    double k[K];
    double cov[K * K]; /* covariance of k, including the factor s2 */
    double s2, sigma_abs_s, sigma_rel;
    int dof;
    int64_t nmin, nmax;         /* range of the sizes of its records */
};

static int is_weak_record_of(const struct hrun_fit_record *r, int M)
{
    return r->M == M && !strcmp(r->family, "weak") && r->nterms == K;
}

static double size_distance(int64_t a, int64_t b)
{
    return fabs((double)a - (double)b);
}

/* The two records for M that are nearest to N, of different sizes; *second is NULL if the first has size N. */
static void nearest_weak_records(const struct hrun_models *m, int M, int64_t N, const struct hrun_fit_record **first,
                                 const struct hrun_fit_record **second)
{
    *first = *second = NULL;
    for (int i = 0; i < m->n; i++)
        if (is_weak_record_of(&m->v[i], M) &&
            (!*first || size_distance(m->v[i].nmin, N) < size_distance((*first)->nmin, N)))
            *first = &m->v[i];
    for (int i = 0; i < m->n && *first && (*first)->nmin != N; i++)
        if (is_weak_record_of(&m->v[i], M) && m->v[i].nmin != (*first)->nmin &&
            (!*second || size_distance(m->v[i].nmin, N) < size_distance((*second)->nmin, N)))
            *second = &m->v[i];
}

static void add_weak_part(struct option *o, const struct hrun_fit_record *r, double part)
{
    for (int i = 0; i < K; i++)
        o->k[i] += part * r->k[i];
    for (int i = 0; i < K * K; i++)
        o->cov[i] += part * part * r->s2 * r->cov[i];
    o->nmin = o->nmax ? (r->nmin < o->nmin ? r->nmin : o->nmin) : r->nmin;
    o->nmax = r->nmax > o->nmax ? r->nmax : o->nmax;
}

struct weak_predictor {
    struct hrun_predictor base;
    int64_t units, unit;
    struct option *opts;
};

/* Set p->opts[o] from models m. Result: 1; 0 if these do not predict the option. */
static int bind_weak_option(struct hrun_predictor *base, int o, const struct hrun_models *m, struct hrun_error *err)
{
    struct option *out = &((struct weak_predictor *)base)->opts[o];
    const struct hrun_fit_record *a, *b;
    double part;

    (void)err;
    nearest_weak_records(m, base->options[o].m, base->N, &a, &b);
    if (!a || (a->nmin != base->N && !b))
        return 0;
    *out = (struct option) { .s2 = a->s2, .sigma_abs_s = a->sigma_abs_s, .sigma_rel = a->sigma_rel, .dof = a->dof };
    part = b ? (double)(base->N - b->nmin) / (double)(a->nmin - b->nmin) : 1;
    add_weak_part(out, a, part);
    if (b)
        add_weak_part(out, b, 1 - part);
    out->k[HRUN_WEAK_WORK] = fmax(out->k[HRUN_WEAK_WORK], 0);
    out->k[HRUN_WEAK_LOG] = fmax(out->k[HRUN_WEAK_LOG], 0);
    for (int i = 0; i < K; i++)
        if (!isfinite(out->k[i]))
            return 0;
    return 1;
}

/* Fail: no model predicts N. The message lists the sizes that have models. */
static int fail_size(const struct hrun_predictor *p, struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf sizes = HRUN_BUF_INIT;

    for (int64_t last = 0, next; last < INT64_MAX; last = next) {
        next = INT64_MAX;
        for (int s = 0; s < p->oracle.nsubs; s++)
            for (int i = 0; p->models[s] && i < p->models[s]->n; i++) {
                const struct hrun_fit_record *r = &p->models[s]->v[i];

                if (!strcmp(r->family, "weak") && r->nmin > last && r->nmin < next)
                    next = r->nmin;
            }
        if (next < INT64_MAX)
            hrun_buf_addf(&sizes, "%s%lld", sizes.len ? ", " : "", (long long)next);
    }
    return hrun_fail(err, HRUN_ENODATA, "no model of %s for N=%lld%s%s%s: hrun-calibrate -app %s -N %lld makes one",
                     p->app->name, (long long)p->N, sizes.len ? "; there is one for N=" : "", sizes.data,
                     sizes.len ? ", and others follow from two" : "", p->app->name, (long long)p->N);
}

/* ------------------------------------------------------------------ times */

/* The time of a process with u units is *base_s + u *unit_s. It does not decrease with u, for any gamma. */
static void line(const struct weak_predictor *p, int o, int P, double *base_s, double *unit_s)
{
    const double *k = p->opts[o].k;

    *base_s = k[HRUN_WEAK_FIXED];
    *unit_s = k[HRUN_WEAK_WORK];
    if (P > 1) {
        *base_s += k[HRUN_WEAK_ALPHA] + k[HRUN_WEAK_LOG] * log2(P);
        *unit_s += k[HRUN_WEAK_GAMMA];
    }
    *unit_s = fmax(*unit_s, 0) * (double)p->unit;
}

static double weak_time_of(const struct weak_predictor *p, int o, int P, int64_t units)
{
    double base_s, unit_s;

    line(p, o, P, &base_s, &unit_s);
    return base_s + (double)units * unit_s;
}

/* ------------------------------------------------------------------ the table for lib/plan */

static int weak_lines(struct hrun_predictor *base, int P, const struct hrun_config *config, struct hrun_line *v,
                      struct hrun_error *err)
{
    (void)config;
    (void)err;
    for (int o = 0; o < base->noptions; o++) {
        v[o].n = base->options[o].m;
        line((const struct weak_predictor *)base, o, P, &v[o].base_s, &v[o].unit_s);
    }
    return 0;
}

/* The lines at lo, because they do not decrease with P, except from one process to several. */
static int weak_lines_bound(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    (void)err;
    *units = p->units;
    for (int o = 0; o < p->base.noptions; o++) {
        double base_s, unit_s;

        v[o] = (struct hrun_line) { .n = lo > p->units ? 0 : p->base.options[o].m,
                                    .most = p->base.dealer->most[o] < 0 ? p->units : p->base.dealer->most[o] };
        line(p, o, lo, &v[o].base_s, &v[o].unit_s);
        if (lo > 1 || hi < 2)
            continue;
        line(p, o, 2, &base_s, &unit_s);
        v[o].base_s = fmin(v[o].base_s, base_s);
        v[o].unit_s = fmin(v[o].unit_s, unit_s);
    }
    return 0;
}

static int weak_rule(void *ctx, int P, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    return P > p->units ? 0 : hrun_app_rule(p->base.app, p->base.N, P, err);
}

/* Memory of a process with the least share; `whole` checks larger ones. */
static int weak_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    return hrun_app_share_memory(p->base.app, p->base.N, P, (double)p->unit, bytes, err);
}

/* ------------------------------------------------------------------ the predictor */

static void weak_release(struct hrun_predictor *base)
{
    free(((struct weak_predictor *)base)->opts);
}

/* The time of option o among P processes with these units each, and its 95 % interval. */
static int weak_time_interval(const struct weak_predictor *p, int o, int P, int64_t units,
                              struct hrun_interval *time, struct hrun_error *err)
{
    const struct option *opt = &p->opts[o];
    double x[K], variance = 0, t = weak_time_of(p, o, P, units), half;

    if (!(t > 0 && isfinite(t)))
        return hrun_fail(err, HRUN_ENONFINITE, "the model of %s gives %g s at N=%lld, P=%d", p->base.app->name, t,
                         (long long)p->base.N, P);
    hrun_weak_values(P, (double)units * (double)p->unit, x);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++)
            variance += x[i] * opt->cov[i * K + j] * x[j];
    variance = fmax(variance, 0) + opt->s2 * (opt->sigma_abs_s * opt->sigma_abs_s +
                                              opt->sigma_rel * t * opt->sigma_rel * t);
    half = hrun_fit_t_quantile(0.975, opt->dof > 0 ? opt->dof : 1e9) * sqrt(variance);
    *time = (struct hrun_interval){ t, fmax(t - half, 0), t + half };
    return 0;
}

static int weak_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config, int P,
                        struct hrun_interval *time, struct hrun_error *err)
{
    int64_t units = hrun_dealer_units(base, sub, config, err);

    if (units < 0)
        return -1;
    return weak_time_interval((struct weak_predictor *)base, hrun_predictor_find(base, sub, config->procs[sub]), P,
                              units, time, err);
}

/* All P count as measured, because in this family runs on few processes predict runs on many. */
static int weak_measured(const struct hrun_predictor *base, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    const struct weak_predictor *p = (const struct weak_predictor *)base;
    int o = hrun_predictor_find(&p->base, sub, m);

    (void)P;
    if (o < 0)
        return -1;
    sizes[0] = p->opts[o].nmin;
    sizes[1] = p->opts[o].nmax;
    counts[0] = 1;
    counts[1] = INT_MAX;
    return 0;
}

static int weak_init(struct hrun_predictor *base, enum hrun_model_form form, struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;
    int ours = 0;

    (void)form;
    p->opts = xcalloc((size_t)base->most + 1, sizeof *p->opts);
    if (hrun_predictor_bind(base, bind_weak_option, err))
        return -1;
    for (int i = 0; i < base->oracle.nsubs; i++)
        ours |= base->models[i] != NULL;
    if (!base->noptions)
        return ours || !base->other ? fail_size(base, err) : hrun_predictor_fail_constants(base, err);
    if (hrun_app_mesh(base->app, base->N, &p->units, &p->unit, err))
        return -1;
    hrun_dealer_create(base);
    base->dealer->units = p->units;
    base->dealer->least = 1;
    base->dealer->unit = (double)p->unit;
    base->dealer->memory = base->app->law.weak.memory;
    hrun_dealer_use(base);
    base->oracle.lines_bound = weak_lines_bound;
    base->oracle.rule = weak_rule;
    base->oracle.memory = weak_memory;
    return 0;
}

static const struct hrun_predictor_kind kind = {
    .size = sizeof(struct weak_predictor), .init = weak_init, .release = weak_release, .time_in = weak_time_in,
    .measured = weak_measured, .lines = weak_lines,
};

const struct hrun_family hrun_family_weak = {
    .name = "weak", .deals_units = 1, .is_of_sizes = 1, .points = hrun_weak_points,
    .keep = hrun_weak_keep, .fit = hrun_weak_fit_rows, .predictor = &kind,
};
