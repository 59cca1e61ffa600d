/* npt_shares.c - the family npt with unequal shares of work: how a configuration deals them out; see npt.h
 *
 * Terms with W, the share of a process, are in proportion to it, so that at a given P a process of an option takes
 * fixed + W P shared: a line. `shared` is what these terms take where a process has a P-th, so that W P is 1.
 */
#include "base/alloc.h"
#include "model/families/npt.h"
#include "model/terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ create, destroy */

int hrun_shares_create(struct hrun_formulas *p, struct hrun_error *err)
{
    size_t options = (size_t)p->base.noptions + 1, subs = (size_t)p->base.oracle.nsubs + 1;
    struct hrun_shares *s;
    int any = 0;

    for (int j = 0; j < p->nterms; j++)
        any |= p->is_shared[j];
    if (!any)
        return 0;
    s = p->shares = xcalloc(1, sizeof *s);
    s->whole = xcalloc((size_t)p->nterms + 1, sizeof *s->whole);
    s->memory = xcalloc(subs, sizeof *s->memory);
    s->fixed = xcalloc(options, sizeof *s->fixed);
    s->shared = xcalloc(options, sizeof *s->shared);
    s->lines = xcalloc(options, sizeof *s->lines);
    s->most = xcalloc(options, sizeof *s->most);
    s->parts = xcalloc(subs, sizeof *s->parts);
    s->share = xcalloc(subs, sizeof *s->share);
    s->sub_of = xcalloc(subs, sizeof *s->sub_of);
    if (hrun_app_units(p->base.app, (int64_t)p->N, &s->units, &s->least, err))
        return -1;
    for (int j = 0; j < p->nterms; j++) {
        s->whole[j] = (struct hrun_pterm){ .expr = p->terms[j].expr, .kind = HRUN_TERM_WHOLE, .N = p->N };
        if (p->is_shared[j] && hrun_pterm_init(&s->whole[j], err))
            return hrun_fail_prefix(err, "term '%s' of %s", hrun_expr_text(p->terms[j].expr), p->base.app->name);
    }
    return 0;
}

void hrun_shares_destroy(struct hrun_formulas *p)
{
    struct hrun_shares *s = p->shares;

    if (!s)
        return;
    for (int j = 0; s->whole && j < p->nterms; j++)
        hrun_pterm_release(&s->whole[j]);
    free(s->whole);
    free(s->memory);
    free(s->fixed);
    free(s->shared);
    free(s->lines);
    free(s->most);
    free(s->parts);
    free(s->share);
    free(s->sub_of);
    free(s);
    p->shares = NULL;
}

double hrun_shares_uneven(const struct hrun_formulas *p, int P)
{
    return p->shares ? hrun_units_uneven(p->shares->units, P) : 1;
}

/* ------------------------------------------------------------------ lines */

/* What each option takes at P, into fixed and shared; NAN where it cannot be used. In a configuration;
 * NULL: the least of network terms counts. */
static int set_times(struct hrun_formulas *p, int P, const struct hrun_config *config, struct hrun_error *err)
{
    struct hrun_shares *s = p->shares;
    int n = p->base.noptions;

    memset(s->fixed, 0, (size_t)n * sizeof *s->fixed);
    memset(s->shared, 0, (size_t)n * sizeof *s->shared);
    for (int j = 0; j < p->nterms; j++) {
        double *sum = p->is_shared[j] ? s->shared : s->fixed, value;

        if (p->least_m[j] >= P || (p->is_network[j] && !config))
            continue;
        if (hrun_formulas_value(p, j, P, config, &value, err))
            return -1;
        value /= p->is_shared[j] ? hrun_shares_uneven(p, P) : 1;
        for (int o = 0; o < n; o++)
            sum[o] += p->coef[(size_t)j * (size_t)n + (size_t)o] * value;
    }
    for (int o = 0; o < n; o++) {
        s->fixed[o] *= hrun_predictor_pace_of(&p->base, p->base.options[o].sub);
        s->shared[o] *= hrun_predictor_pace_of(&p->base, p->base.options[o].sub);
        if (p->base.options[o].m >= P || !(s->fixed[o] + s->shared[o] > 0) || !isfinite(s->fixed[o] + s->shared[o]))
            s->fixed[o] = NAN;
    }
    for (int i = hrun_formulas_point(p, P); i < p->npoints && p->points[i].P == P; i++) {
        s->fixed[p->points[i].option] = p->points[i].time_s > 0 && isfinite(p->points[i].time_s) ? 0 : NAN;
        s->shared[p->points[i].option] = p->points[i].time_s;   /* of one PE: it waits for nobody */
    }
    return !config && p->same_subs ? hrun_formulas_add_network(p, P, s->fixed, err) : 0;
}

/* The most units that a process of option o among P has memory for. */
static int most_units_in_memory(struct hrun_formulas *p, int o, int P, int64_t *most, struct hrun_error *err)
{
    struct hrun_shares *s = p->shares;
    double room = s->memory[p->base.options[o].sub] / p->base.options[o].m;

    *most = s->units;
    if (p->base.app->shares.memory)
        *most = hrun_app_units_fitting(p->base.app, p->base.N, P, s->units, room, err);
    return *most < 0 ? -1 : 0;
}

/* From fixed and shared. Each process has the least that it may, less one, in any case, which is part of base_s. */
static int set_lines(struct hrun_formulas *p, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    struct hrun_shares *s = p->shares;

    memset(v, 0, (size_t)p->base.noptions * sizeof *v);
    *units = 0;
    if (P > s->units / s->least)
        return 0;
    *units = s->units - P * (s->least - 1);
    for (int o = 0; o < p->base.noptions; o++) {
        double unit_s = fmax(s->shared[o], 0) * P / (double)s->units;

        if (isnan(s->fixed[o]))
            continue;
        v[o] = (struct hrun_line){ p->base.options[o].m, s->fixed[o] + (double)(s->least - 1) * unit_s, unit_s,
                                   s->most[o] };
        if (v[o].most < 0 && most_units_in_memory(p, o, P, &v[o].most, err))
            return -1;
        v[o].most = v[o].most < s->least ? 0 : v[o].most - (s->least - 1);
    }
    return 0;
}

static int unit_lines(void *ctx, int P, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    return set_times(ctx, P, NULL, err) || set_lines(ctx, P, v, units, err) ? -1 : 0;
}

/* The least of each term in lo..hi. Those of one PE alone are lines through 0. */
static int unit_lines_bound(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    struct hrun_shares *s = p->shares;
    int64_t most = s->units / s->least;     /* processes that can have their least */
    int n = p->base.noptions;

    *units = s->units - (hi < most ? hi : most) * (s->least - 1);
    if (lo > most) {
        memset(v, 0, (size_t)n * sizeof *v);
        return 0;
    }
    for (int o = 0; o < n; o++)
        v[o] = (struct hrun_line){ p->opts[o].formula && p->base.options[o].m < hi ? p->base.options[o].m : 0, 0, 0,
                                   s->units };
    for (int j = 0; j < p->nterms; j++) {
        int from = p->least_m[j] < lo ? lo : p->least_m[j] + 1;
        double min, max;

        if (p->least_m[j] >= hi || p->is_network[j])
            continue;
        if (hrun_pterm_range(p->is_shared[j] ? &s->whole[j] : &p->terms[j], from, hi, &min, &max, err))
            return -1;
        for (int o = 0; o < n; o++) {
            double c = p->coef[(size_t)j * (size_t)n + (size_t)o], least = c > 0 ? c * min : c * max;

            if (c != 0 && min > max)
                v[o].n = 0;
            else if (c != 0)
                *(p->is_shared[j] ? &v[o].unit_s : &v[o].base_s) += least / (p->is_shared[j] ? (double)s->units : 1);
        }
    }
    for (int o = 0; o < n; o++) {
        double pace = hrun_predictor_pace_of(&p->base, p->base.options[o].sub);

        v[o].unit_s = pace * fmax(v[o].unit_s, 0);     /* not a number, of infinities: 0 */
        v[o].base_s = isfinite(v[o].base_s) ? pace * v[o].base_s + (double)(s->least - 1) * v[o].unit_s : 0;
    }
    for (int i = hrun_formulas_point(p, lo); i < p->npoints && p->points[i].P <= hi; i++) {
        struct hrun_line *own = &v[p->points[i].option];
        double unit_s = p->points[i].time_s * p->points[i].P / (double)s->units;

        if (p->points[i].time_s > 0 && isfinite(p->points[i].time_s))
            *own = (struct hrun_line){ p->base.options[p->points[i].option].m, own->n ? fmin(own->base_s, 0) : 0,
                                       own->n ? fmin(own->unit_s, unit_s) : unit_s, s->units };
    }
    return 0;
}

/* ------------------------------------------------------------------ a configuration */

static double unit_time_of(const struct hrun_line *v, int64_t u)
{
    return v->base_s + (double)u * v->unit_s;
}

/* Deal out the work of a configuration: units into s->share, of its parts, whose sub-clusters are in s->sub_of.
 * *time_s: INFINITY when it cannot be used. Result: the number of parts, or -1. */
static int deal_units_out(struct hrun_formulas *p, const struct hrun_config *config, double *time_s,
                          struct hrun_error *err)
{
    struct hrun_shares *s = p->shares;
    int P = hrun_config_processes(config), n = 0, placed = p->base.has_network && p->same_subs;
    int64_t units;

    *time_s = INFINITY;
    if (set_times(p, P, placed ? config : NULL, err) || set_lines(p, P, s->lines, &units, err))
        return -1;
    for (int i = 0; i < p->base.oracle.nsubs; i++) {
        int o = config->pes[i] ? hrun_predictor_find(&p->base, i, config->procs[i]) : -1;

        if (!config->pes[i])
            continue;
        if (o < 0 || !s->lines[o].n)
            return 0;
        s->parts[n] = s->lines[o];
        s->parts[n].n = (int64_t)config->pes[i] * config->procs[i];
        if (s->how == HRUN_SHARES_PROPORTIONAL)
            s->parts[n].base_s = 0;
        s->sub_of[n++] = i;
    }
    if (n && isfinite(hrun_balance(s->parts, n, units, s->share))) {
        *time_s = 0;
        for (int k = 0; k < n; k++) {
            s->parts[k] = s->lines[hrun_predictor_find(&p->base, s->sub_of[k], config->procs[s->sub_of[k]])];
            *time_s = fmax(*time_s, unit_time_of(&s->parts[k], s->share[k]));
        }
    }
    return *time_s < INFINITY ? n : 0;
}

static int no_shares(const struct hrun_formulas *p, struct hrun_error *err)
{
    return hrun_fail(err, HRUN_ENODATA, "%s has no model for this configuration at N=%lld, or no room for its shares",
                     p->base.app->name, (long long)p->base.N);
}

int hrun_shares_of(struct hrun_predictor *base, const struct hrun_config *config, double *share,
                   struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    double t;
    int n = deal_units_out(p, config, &t, err);

    if (n <= 0)
        return n < 0 ? -1 : no_shares(p, err);
    for (int i = 0; i < base->oracle.nsubs; i++)
        share[i] = 0;
    for (int k = 0; k < n; k++)
        share[p->shares->sub_of[k]] = (double)(p->shares->share[k] + p->shares->least - 1);
    return 0;
}

double hrun_shares_share(struct hrun_formulas *p, int sub, const struct hrun_config *config, struct hrun_error *err)
{
    double t;
    int n = deal_units_out(p, config, &t, err), P = hrun_config_processes(config);

    for (int k = 0; k < n; k++)
        if (p->shares->sub_of[k] == sub)
            return (double)(p->shares->share[k] + p->shares->least - 1) * P / (double)p->shares->units /
                   hrun_shares_uneven(p, P);
    return n < 0 ? -1 : no_shares(p, err);
}

int hrun_shares_options(struct hrun_formulas *p, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err)
{
    int placed = p->base.has_network && p->same_subs && config;

    if (set_times(p, P, placed ? config : NULL, err))
        return -1;
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = p->base.has_network && !placed ? NAN
             : p->shares->fixed[o] + share[p->base.options[o].sub] * p->shares->shared[o];
    return 0;
}

int hrun_shares_dealt(struct hrun_formulas *p, const struct hrun_config *config, double *t, struct hrun_error *err)
{
    double slowest;
    int n = deal_units_out(p, config, &slowest, err);

    for (int o = 0; o < p->base.noptions; o++)
        t[o] = NAN;
    for (int k = 0; k < n; k++)
        t[hrun_predictor_find(&p->base, p->shares->sub_of[k], config->procs[p->shares->sub_of[k]])] =
            unit_time_of(&p->shares->parts[k], p->shares->share[k]);
    return n < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------ the table for lib/plan */

/* Whatever the configuration, some process has at least the mean of all, and each has a unit. */
static int unit_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    struct hrun_shares *s = p->shares;
    double all = INFINITY;
    int64_t units;

    if (unit_lines(ctx, P, s->lines, &units, err))
        return -1;
    for (int o = 0; o < p->base.noptions; o++)
        if (s->lines[o].n && s->lines[o].most >= (units + P - 1) / P)
            all = fmin(all, unit_time_of(&s->lines[o], (units + P - 1) / P));
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = !s->lines[o].n || !s->lines[o].most || !isfinite(all) ? NAN : fmax(all, unit_time_of(&s->lines[o], 1));
    return 0;
}

static int unit_whole(void *ctx, const struct hrun_config *config, int P, double *time_s, int *limiting,
                      struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    struct hrun_shares *s = p->shares;
    int n = deal_units_out(p, config, time_s, err), at = 0;

    (void)P;
    for (int k = 1; k < n; k++)
        at = unit_time_of(&s->parts[k], s->share[k]) > unit_time_of(&s->parts[at], s->share[at]) ? k : at;
    *limiting = n > 0 ? s->sub_of[at] : 0;
    return n < 0 ? -1 : 0;
}

/* Of a process with the least share: what more fits is for `whole`. INFINITY where none has room for a P-th of all, so
 * that nothing deals it out. */
static int unit_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    struct hrun_shares *s = p->shares;
    int64_t most = 0;

    if (hrun_app_share_memory(p->base.app, p->base.N, P, (double)s->least / (double)s->units, bytes, err))
        return -1;
    for (int o = 0; o < p->base.noptions && most < (s->units + P - 1) / P; o++) {
        most = s->most[o];
        if (most < 0 && most_units_in_memory(p, o, P, &most, err))
            return -1;
    }
    if (most < (s->units + P - 1) / P)
        *bytes = INFINITY;
    return 0;
}

int hrun_shares_deal(struct hrun_predictor *base, enum hrun_sharing how, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    struct hrun_shares *s = p->shares;

    if (!s || base->tasking.ignores)
        return 0;
    if (!s->equal.ctx) {
        s->equal = base->oracle;
        s->is_whole = base->is_whole;
    }
    s->how = how;
    base->deals = how != HRUN_SHARES_EQUAL;
    base->is_whole = base->deals || s->is_whole;
    base->oracle = s->equal;
    if (!base->deals)
        return 0;
    base->oracle.times = unit_times;
    base->oracle.bounds = NULL;
    base->oracle.whole = unit_whole;
    base->oracle.part = NULL;
    base->oracle.memory = base->app->shares.memory ? unit_memory : base->oracle.memory;
    base->oracle.lines = unit_lines;
    base->oracle.lines_bound = unit_lines_bound;
    return hrun_shares_limit_memory(base, NULL, err);
}

int hrun_shares_limit_memory(struct hrun_predictor *base, const double *bytes, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    struct hrun_shares *s = p->shares;

    for (int i = 0; s && bytes && i < base->oracle.nsubs; i++)
        s->memory[i] = bytes[i];
    for (int o = 0; s && o < base->noptions; o++) {
        s->most[o] = -1;        /* it depends on P */
        if (!(base->app->shares.memory && hrun_expr_uses(base->app->shares.memory, 1)) &&
            most_units_in_memory(p, o, 1, &s->most[o], err))
            return -1;
    }
    return 0;
}
