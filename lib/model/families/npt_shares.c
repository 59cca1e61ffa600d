/* npt_shares.c - the family npt with unequal shares of work: their division in a configuration; see npt.h
 *
 * Terms with W, the share of a process, are proportional to W. At a given P the time of a process of an option is
 * linear in W: fixed + W P shared. `shared` is the time of the terms with W for a share of 1/P.
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
    size_t options = (size_t)p->base.noptions + 1;
    struct hrun_shares *s;
    struct hrun_dealer *d;
    int any = 0;

    for (int j = 0; j < p->nterms; j++)
        any |= p->is_shared[j];
    if (!any)
        return 0;
    hrun_dealer_create(&p->base);
    d = p->base.dealer;
    d->unit = 1;
    d->memory = p->base.app->shares.memory;
    s = p->shares = xcalloc(1, sizeof *s);
    s->whole = xcalloc((size_t)p->nterms + 1, sizeof *s->whole);
    s->fixed = xcalloc(options, sizeof *s->fixed);
    s->shared = xcalloc(options, sizeof *s->shared);
    if (hrun_app_units(p->base.app, (int64_t)p->N, &d->units, &d->least, err))
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
    for (int j = 0; j < p->nterms; j++)
        hrun_pterm_release(&s->whole[j]);
    free(s->whole);
    free(s->fixed);
    free(s->shared);
    free(s);
}

double hrun_shares_uneven(const struct hrun_formulas *p, int P)
{
    return p->shares ? hrun_units_uneven(p->base.dealer->units, P) : 1;
}

/* ------------------------------------------------------------------ lines */

/* The configuration in which network terms are evaluated; NULL: their least times are used. */
static const struct hrun_config *place_of(const struct hrun_formulas *p, const struct hrun_config *config)
{
    return p->base.has_network && p->base.same_subs ? config : NULL;
}

/* Set fixed and shared of each option at P; fixed is NAN if the option is not usable. */
static int set_times(struct hrun_formulas *p, int P, const struct hrun_config *config, struct hrun_error *err)
{
    struct hrun_shares *s = p->shares;
    int n = p->base.noptions;

    config = place_of(p, config);
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
        s->shared[p->points[i].option] = p->points[i].time_s;   /* on one PE the whole time depends on the share */
    }
    return !config && p->base.same_subs ? hrun_formulas_add_network(p, P, s->fixed, err) : 0;
}

int hrun_shares_lines(struct hrun_predictor *base, int P, const struct hrun_config *config, struct hrun_line *v,
                      struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    const struct hrun_shares *s = p->shares;

    if (set_times(p, P, config, err))
        return -1;
    for (int o = 0; o < base->noptions; o++)
        if (!isnan(s->fixed[o]))
            v[o] = (struct hrun_line){ base->options[o].m, s->fixed[o],
                                       fmax(s->shared[o], 0) * P / (double)base->dealer->units, 0 };
    return 0;
}

/* Lower bounds of the lines in lo..hi, from the least value of each term. Lines of one PE pass through 0. */
static int unit_lines_bound(void *ctx, int lo, int hi, struct hrun_line *v, int64_t *units, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    const struct hrun_shares *s = p->shares;
    const struct hrun_dealer *d = p->base.dealer;
    int64_t most = d->units / d->least;     /* largest number of processes with the least share */
    int n = p->base.noptions;

    *units = d->units - (hi < most ? hi : most) * (d->least - 1);
    if (lo > most) {
        memset(v, 0, (size_t)n * sizeof *v);
        return 0;
    }
    for (int o = 0; o < n; o++)
        v[o] = (struct hrun_line){ p->opts[o].formula && p->base.options[o].m < hi ? p->base.options[o].m : 0, 0, 0,
                                   d->units };
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
                *(p->is_shared[j] ? &v[o].unit_s : &v[o].base_s) += least / (p->is_shared[j] ? (double)d->units : 1);
        }
    }
    for (int o = 0; o < n; o++) {
        double pace = hrun_predictor_pace_of(&p->base, p->base.options[o].sub);

        v[o].unit_s = pace * fmax(v[o].unit_s, 0);     /* NaN, from infinities, becomes 0 */
        v[o].base_s = isfinite(v[o].base_s) ? pace * v[o].base_s + (double)(d->least - 1) * v[o].unit_s : 0;
    }
    for (int i = hrun_formulas_point(p, lo); i < p->npoints && p->points[i].P <= hi; i++) {
        struct hrun_line *own = &v[p->points[i].option];
        double unit_s = p->points[i].time_s * p->points[i].P / (double)d->units;

        if (p->points[i].time_s > 0 && isfinite(p->points[i].time_s))
            *own = (struct hrun_line){ p->base.options[p->points[i].option].m, own->n ? fmin(own->base_s, 0) : 0,
                                       own->n ? fmin(own->unit_s, unit_s) : unit_s, d->units };
    }
    return 0;
}

int hrun_shares_options(struct hrun_formulas *p, int P, const struct hrun_config *config, const double *share,
                        double *t, struct hrun_error *err)
{
    if (set_times(p, P, config, err))
        return -1;
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = p->base.has_network && !place_of(p, config) ? NAN
             : p->shares->fixed[o] + share[p->base.options[o].sub] * p->shares->shared[o];
    return 0;
}

/* ------------------------------------------------------------------ the table for lib/plan */

/* Memory of a process with the least share; `whole` checks larger ones. INFINITY if no option has room for a share of
 * 1/P, so that no configuration fits. */
static int unit_memory(void *ctx, int P, double *bytes, struct hrun_error *err)
{
    const struct hrun_predictor *p = ctx;
    const struct hrun_dealer *d = p->dealer;
    int64_t most = 0, mean = (d->units + P - 1) / P;

    if (hrun_app_share_memory(p->app, p->N, P, (double)d->least / (double)d->units, bytes, err))
        return -1;
    for (int o = 0; o < p->noptions && most < mean; o++) {
        most = d->most[o] < 0 ? hrun_dealer_most(p, o, P, err) : d->most[o];
        if (most < 0)
            return -1;
    }
    if (most < mean)
        *bytes = INFINITY;
    return 0;
}

void hrun_shares_deal(struct hrun_predictor *base, enum hrun_sharing how)
{
    if (!base->dealer || base->tasking.ignores)
        return;
    base->dealer->how = how;
    hrun_dealer_use(base);
    base->oracle.memory = base->app->shares.memory ? unit_memory : base->oracle.memory;
    base->oracle.lines_bound = unit_lines_bound;
}
