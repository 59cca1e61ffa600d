/* weak.c - the family weak: predictions; see weak.h */
#include "model/families/weak.h"

#include "app/template.h"
#include "base/alloc.h"
#include "fit/fit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = HRUN_WEAK_TERMS };

struct option {
    double k[K];
    double cov[K * K]; /* of k, with the variance of a residual */
    double s2, sigma_abs_s, sigma_rel;
    int dof;
    int64_t nmin, nmax;         /* the sizes of its records */
    int64_t most;               /* units that fit into the memory of a process; -1: it depends on P */
};

static int is_weak_record_of(const struct hrun_app *app, const struct hrun_fit_record *r, int M)
{
    for (int i = 0; i < app->nprocs_per_pe; i++)
        if (app->procs_per_pe[i] == M)
            return r->M == M && !strcmp(r->family, "weak") && r->nterms == K;
    return 0;
}

static double size_distance(int64_t a, int64_t b)
{
    return fabs((double)a - (double)b);
}

/* The two records for M that are nearest to N, at different sizes; the first one alone when it is of N. */
static void nearest_weak_records(const struct hrun_app *app, const struct hrun_models *m, int M, int64_t N,
                                 const struct hrun_fit_record **first, const struct hrun_fit_record **second)
{
    *first = *second = NULL;
    for (int i = 0; i < m->n; i++)
        if (is_weak_record_of(app, &m->v[i], M) &&
            (!*first || size_distance(m->v[i].nmin, N) < size_distance((*first)->nmin, N)))
            *first = &m->v[i];
    for (int i = 0; i < m->n && *first && (*first)->nmin != N; i++)
        if (is_weak_record_of(app, &m->v[i], M) && m->v[i].nmin != (*first)->nmin &&
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

/* 1: M of these models can be predicted at N, *out says by what; 0: it cannot. */
static int option_at(const struct hrun_app *app, const struct hrun_models *m, int M, int64_t N,
                        struct option *out)
{
    const struct hrun_fit_record *a, *b;
    double part;

    nearest_weak_records(app, m, M, N, &a, &b);
    if (!a || (a->nmin != N && !b))
        return 0;
    *out = (struct option) { .s2 = a->s2, .sigma_abs_s = a->sigma_abs_s, .sigma_rel = a->sigma_rel,
                                       .dof = a->dof, .most = INT64_MAX };
    part = b ? (double)(N - b->nmin) / (double)(a->nmin - b->nmin) : 1;
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

/* No sub-cluster has models by which N can be predicted; which sizes there are models of. */
static int fail_size(const struct hrun_predictor_source *from, struct hrun_error *err)
{
    struct hrun_buf sizes = HRUN_BUF_INIT;
    int64_t last = 0;

    for (;;) {
        int64_t next = INT64_MAX;

        for (int s = 0; s < from->nsubs; s++)
            for (int i = 0; from->models[s] && i < from->models[s]->n; i++)
                if (!strcmp(from->models[s]->v[i].family, "weak") && from->models[s]->v[i].nmin > last &&
                    from->models[s]->v[i].nmin < next)
                    next = from->models[s]->v[i].nmin;
        if (next == INT64_MAX)
            break;
        hrun_buf_addf(&sizes, "%s%lld", sizes.len ? ", " : "", (long long)next);
        last = next;
    }
    hrun_fail(err, HRUN_ENODATA, "no model of %s for N=%lld%s%s%s: hrun-calibrate -app %s -N %lld makes one",
              from->app->name, (long long)from->N, sizes.len ? "; there is one for N=" : "", sizes.data,
              sizes.len ? ", and others follow from two" : "", from->app->name, (long long)from->N);
    hrun_buf_release(&sizes);
    return -1;
}

struct weak_predictor {
    struct hrun_predictor base;
    int64_t units, unit;
    struct option *opts;
    double *memory;             /* nsubs: bytes of a PE, 0 not limited */
    struct hrun_line *parts; /* nsubs: scratch */
    int64_t *share;             /* nsubs: scratch */
    int *sub_of;                /* nsubs: scratch, of each part */
};

/* ------------------------------------------------------------------ times */

/* As a straight line in units of rows: *base_s + u *unit_s. It does not fall, whatever gamma is. */
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

/* The most units that a process of option o among P has memory for. */
static int fitting(const struct weak_predictor *p, int o, int P, int64_t *most, struct hrun_error *err)
{
    double room = p->memory[p->base.options[o].sub] / p->base.options[o].m;

    *most = hrun_app_units_fitting(p->base.app, p->base.N, P, p->units, room, err);
    return *most < 0 ? -1 : 0;
}

/* The shares of a configuration, into p->share, of its parts, whose sub-clusters are in p->sub_of. *time_s: INFINITY
 * when it cannot be used. Result: the number of parts, or -1. */
static int share_out(struct weak_predictor *p, const struct hrun_config *config, double *time_s,
                     struct hrun_error *err)
{
    int P = hrun_config_processes(config), n = 0;

    *time_s = INFINITY;
    for (int i = 0; i < p->base.oracle.nsubs; i++) {
        struct hrun_line *part = &p->parts[n];
        int o = config->pes[i] ? hrun_predictor_find(&p->base, i, config->procs[i]) : -1;

        if (!config->pes[i])
            continue;
        if (o < 0)
            return 0;
        part->n = (int64_t)config->pes[i] * config->procs[i];
        part->most = p->opts[o].most;
        line(p, o, P, &part->base_s, &part->unit_s);
        if (part->most < 0 && fitting(p, o, P, &part->most, err))
            return -1;
        p->sub_of[n++] = i;
    }
    if (n)
        *time_s = hrun_balance(p->parts, n, p->units, p->share);
    if (!(*time_s > 0))
        *time_s = INFINITY;
    return isfinite(*time_s) ? n : 0;
}

/* ------------------------------------------------------------------ the table for lib/plan */

/* Whatever the configuration, some process has at least the mean of all, and each has a unit. `most_P` processes at
 * most make that mean, `P` at least pay for messages. */
static void least_times(const struct weak_predictor *p, int P, int most_P, double *t)
{
    int64_t mean = (p->units + most_P - 1) / most_P;
    double all = INFINITY;

    for (int o = 0; o < p->base.noptions; o++)
        if (p->opts[o].most < 0 || p->opts[o].most >= mean)
            all = fmin(all, weak_time_of(p, o, P, mean));
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = P > p->units || !p->opts[o].most || !isfinite(all) ? NAN : fmax(all, weak_time_of(p, o, P, 1));
}

static int weak_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    (void)err;
    least_times(ctx, P, P, t);
    return 0;
}

/* Times grow with P but for the step from one process to several, and fall with the mean share. */
static int weak_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;
    int n = p->base.noptions;

    (void)err;
    least_times(p, lo, hi, b);
    for (int o = 0; o < n; o++)
        b[o] = isnan(b[o]) ? INFINITY : fmax(b[o], 0);
    if (lo > 1 || hi < 2)
        return 0;
    for (int o = 0; o < n; o++) {
        double many = weak_time_of(p, o, 2, 1), mean = INFINITY;

        for (int k = 0; k < n; k++)
            mean = fmin(mean, weak_time_of(p, k, 2, (p->units + hi - 1) / hi));
        b[o] = fmin(b[o], fmax(fmax(many, mean), 0));
    }
    return 0;
}

static int weak_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                      struct hrun_error *err)
{
    struct weak_predictor *p = ctx;
    int n = share_out(p, config, time_s, err), at = 0;

    (void)P;
    if (n < 0)
        return -1;
    *limiting = 0;
    for (int i = 0; i < n; i++)
        if (p->parts[i].base_s + (double)p->share[i] * p->parts[i].unit_s >
            p->parts[at].base_s + (double)p->share[at] * p->parts[at].unit_s)
            at = i;
    if (n)
        *limiting = p->sub_of[at];
    return 0;
}

static int weak_lines(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    *units = p->units;
    for (int o = 0; o < p->base.noptions; o++) {
        v[o] = (struct hrun_line) { .n = P > p->units ? 0 : p->base.options[o].m, .most = p->opts[o].most };
        line(p, o, P, &v[o].base_s, &v[o].unit_s);
        if (v[o].most < 0 && fitting(p, o, P, &v[o].most, err))
            return -1;
    }
    return 0;
}

/* Lines, too, grow with P but for the step from one process to several. */
static int weak_lines_bound(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    (void)err;
    *units = p->units;
    for (int o = 0; o < p->base.noptions; o++) {
        double base_s, unit_s;

        v[o] = (struct hrun_line) { .n = lo > p->units ? 0 : p->base.options[o].m,
                                    .most = p->opts[o].most < 0 ? p->units : p->opts[o].most };
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

/* Of a process with the least share: what more fits is for `whole`. */
static int weak_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct weak_predictor *p = ctx;

    return hrun_app_share_memory(p->base.app, p->base.N, P, (double)p->unit, bytes, err);
}

/* ------------------------------------------------------------------ the predictor */

static void weak_destroy(struct hrun_predictor *base)
{
    struct weak_predictor *p = (struct weak_predictor *)base;

    free(p->base.options);
    free(p->opts);
    free(p->memory);
    free(p->parts);
    free(p->share);
    free(p->sub_of);
    free(p);
}

/* The time of option o among P processes with so many units, and its 95 % interval. */
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

static int fail_no_weak_model(const struct weak_predictor *p, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_ENODATA, "no model of %s for this at N=%lld", p->base.app->name, (long long)p->base.N);
}

static int weak_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config,
                        struct hrun_interval *time, struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;
    double t;
    int n = share_out(p, config, &t, err), P = hrun_config_processes(config);

    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (p->sub_of[i] == sub)
            return weak_time_interval(p, hrun_predictor_find(&p->base, sub, config->procs[sub]), P, p->share[i],
                                      time, err);
    return fail_no_weak_model(p, err);
}

static int weak_time_alone(struct hrun_predictor *base, int sub, int m, int P, struct hrun_interval *time,
                           struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;
    int o = hrun_predictor_find(&p->base, sub, m);

    if (o < 0 || P < 1 || P % m || P > p->units)
        return fail_no_weak_model(p, err);
    return weak_time_interval(p, o, P, (p->units + P - 1) / P, time, err);
}

/* Of P nothing is extrapolated: that few processes tell of many is what the family is about. */
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

static int weak_options(struct hrun_predictor *base, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;
    double slowest;
    int n = share_out(p, config, &slowest, err);

    (void)share;
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = NAN;
    for (int i = 0; i < n; i++) {
        int o = hrun_predictor_find(&p->base, p->sub_of[i], config->procs[p->sub_of[i]]);

        t[o] = weak_time_of(p, o, P, p->share[i]);
    }
    return n < 0 ? -1 : 0;
}

static int weak_shares(struct hrun_predictor *base, const struct hrun_config *config, double *share,
                       struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;
    double t;
    int n = share_out(p, config, &t, err);

    if (n < 0)
        return -1;
    if (!n)
        return fail_no_weak_model(p, err);
    for (int i = 0; i < p->base.oracle.nsubs; i++)
        share[i] = 0;
    for (int i = 0; i < n; i++)
        share[p->sub_of[i]] = (double)p->share[i] * (double)p->unit;
    return 0;
}

static int weak_limit_memory(struct hrun_predictor *base, const double *bytes, struct hrun_error *err)
{
    struct weak_predictor *p = (struct weak_predictor *)base;

    for (int i = 0; i < p->base.oracle.nsubs; i++)
        p->memory[i] = bytes[i];
    for (int o = 0; o < p->base.noptions; o++) {
        struct option *opt = &p->opts[o];

        if (!p->base.app->law.weak.memory)
            opt->most = p->units;       /* it does not depend on the share: lib/plan looks after it */
        else if (hrun_expr_uses(p->base.app->law.weak.memory, 1))
            opt->most = -1;
        else if (fitting(p, o, 1, &opt->most, err))
            return -1;
    }
    return 0;
}

static const struct hrun_predictor_kind kind = {
    .destroy = weak_destroy, .time = weak_time_alone, .time_in = weak_time_in, .measured = weak_measured,
    .options = weak_options, .shares = weak_shares, .limit_memory = weak_limit_memory,
};

/* ------------------------------------------------------------------ making one */

/* *other: of models with other constants, which; NULL where some have ours. */
static void make_options(struct weak_predictor *p, const struct hrun_predictor_source *from, const char *consts,
                        const char **other)
{
    const struct hrun_app *app = from->app;
    size_t most = (size_t)from->nsubs * (size_t)app->nprocs_per_pe + 1;
    int n = 0, ours = 0;

    *other = NULL;
    p->base.options = xcalloc(most, sizeof *p->base.options);
    p->opts = xcalloc(most, sizeof *p->opts);
    for (int s = 0; s < from->nsubs; s++) {
        const struct hrun_models *m = from->models[s];

        if (!m || (m->consts && strcmp(m->consts, consts))) {
            *other = m ? m->consts : *other;
            continue;
        }
        ours = 1;
        for (int i = 0; i < app->nprocs_per_pe; i++)
            if (option_at(app, m, app->procs_per_pe[i], from->N, &p->opts[n]))
                p->base.options[n++] = (struct hrun_option) { s, app->procs_per_pe[i] };
    }
    *other = ours ? NULL : *other;
    p->base.noptions = n;
    p->base.oracle = (struct hrun_oracle) {
        .ctx = p, .nsubs = from->nsubs, .noptions = n, .options = p->base.options, .times = weak_times,
        .bounds = weak_bounds, .rule = weak_rule, .memory = weak_memory, .whole = weak_whole, .lines = weak_lines,
        .lines_bound = weak_lines_bound,
    };
}

static int init_predictor(struct weak_predictor *p, const struct hrun_predictor_source *from, const char *consts,
                          struct hrun_error *err)
{
    size_t n = (size_t)from->nsubs + 1;
    const char *other;

    p->memory = xcalloc(n, sizeof *p->memory);
    p->parts = xcalloc(n, sizeof *p->parts);
    p->share = xcalloc(n, sizeof *p->share);
    p->sub_of = xcalloc(n, sizeof *p->sub_of);
    make_options(p, from, consts, &other);
    if (p->base.noptions)
        return hrun_app_mesh(p->base.app, p->base.N, &p->units, &p->unit, err);
    if (!other)
        return fail_size(from, err);
    return hrun_fail(err, HRUN_ENODATA, "no sub-cluster has models of %s with constants '%s'; there are some with '%s'",
                     p->base.app->name, consts, other);
}

static struct hrun_predictor *weak_create(const struct hrun_predictor_source *from, struct hrun_error *err)
{
    struct weak_predictor *p = xcalloc(1, sizeof *p);
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;

    hrun_app_consts_text(from->app, &consts);
    hrun_predictor_start(&p->base, &kind, from);
    p->base.is_whole = p->base.deals = 1;
    if (!init_predictor(p, from, consts.data, err))
        return &p->base;
    weak_destroy(&p->base);
    return NULL;
}

static const char *weak_describe(enum hrun_model_form form)
{
    (void)form;
    return "weak";
}

const struct hrun_family hrun_family_weak = {
    .describe = weak_describe, .deals_units = 1, .is_of_sizes = 1, .points = hrun_weak_points,
    .keep = hrun_weak_keep, .fit = hrun_weak_fit_rows, .predict = weak_create,
};
