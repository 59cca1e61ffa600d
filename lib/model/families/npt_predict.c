/* npt_predict.c - predictions by formulas in N and P: the table for lib/plan, times, intervals; see npt.h */
#include "base/alloc.h"
#include "fit/fit.h"
#include "model/families/npt.h"
#include "model/terms.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the table for lib/plan */

int hrun_formulas_point(const struct hrun_formulas *p, int P)
{
    int lo = 0, hi = p->npoints;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (p->points[mid].P < P)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* sum[o] += c[o] value, in a form for which compilers use vector instructions. */
static void add_scaled(double *restrict sum, const double *restrict c, double value, int n)
{
    int o = 0;

    for (; o + 4 <= n; o += 4) {
        sum[o] += c[o] * value;
        sum[o + 1] += c[o + 1] * value;
        sum[o + 2] += c[o + 2] * value;
        sum[o + 3] += c[o + 3] * value;
    }
    for (; o < n; o++)
        sum[o] += c[o] * value;
}

static int usable(double t)
{
    return t > 0 && t < INFINITY;
}

static int fail_at_term(const struct hrun_formulas *p, int j, int P, struct hrun_error *err)
{
    return hrun_fail_prefix(err, "term '%s' of %s at N=%lld, P=%d", hrun_expr_text(p->terms[j].expr),
                            p->base.app->name, (long long)p->base.N, P);
}

int hrun_formulas_term(struct hrun_formulas *p, int j, int P, double *value, struct hrun_error *err)
{
    if (!hrun_pterm_value(&p->terms[j], P, value, err)) {
        *value *= p->is_shared[j] ? hrun_shares_uneven(p, P) : 1;
        return 0;
    }
    return fail_at_term(p, j, P, err);
}

int hrun_formulas_value(struct hrun_formulas *p, int j, int P, const struct hrun_config *config, double *value,
                         struct hrun_error *err)
{
    struct hrun_net_call call;
    double factor, t;

    if (!p->is_network[j])
        return hrun_formulas_term(p, j, P, value, err);
    if (hrun_term_network_call(p->terms[j].expr, p->N, P, &factor, &call, err) ||
        hrun_netview_time(p->base.net, call.op, call.bytes, config, &t, err))
        return fail_at_term(p, j, P, err);
    *value = factor * t;
    return 0;
}

/* Relative reduction of bounds, larger than their rounding: bounds are summed in another order than times. */
static const double SLACK = 1e-12;

/* Set t to Ti of all options at P from the values of the terms. */
static void add_terms(struct hrun_formulas *p, int P, double *t)
{
    int n = p->base.noptions;

    for (int o = 0; o < n; o++)
        t[o] = 0;
    for (int j = 0; j < p->nterms; j++)
        if (p->least_m[j] < P)
            add_scaled(t, p->coef + (size_t)j * (size_t)n, p->value[j], n);
    for (int o = 0; o < n; o++)
        if (p->has_network[o] && t[o] == 0)
            t[o] = DBL_MIN;   /* the least positive time */
    for (int o = 0; o < n; o++)
        if (p->base.options[o].m >= P || !usable(t[o]))   /* without a formula the sum is 0 and not usable */
            t[o] = NAN;
    for (int i = hrun_formulas_point(p, P); i < p->npoints && p->points[i].P == P; i++)
        t[p->points[i].option] = usable(p->points[i].time_s) ? p->points[i].time_s : NAN;
}

int hrun_formulas_add_network(struct hrun_formulas *p, int P, double *t, struct hrun_error *err)
{
    for (int j = 0; j < p->nterms; j++)
        for (int o = 0; p->is_network[j] && o < p->base.noptions; o++) {
            double k = p->coef[(size_t)j * (size_t)p->base.noptions + (size_t)o], factor, least;
            struct hrun_net_call call;

            if (!(k > 0) || p->base.options[o].m >= P || isnan(t[o]))
                continue;
            if (hrun_term_network_call(p->terms[j].expr, p->N, P, &factor, &call, err))
                return fail_at_term(p, j, P, err);
            least = hrun_netview_bound(p->base.net, &call, &p->base.options[o], P, err);
            if (isnan(least))
                return fail_at_term(p, j, P, err);
            t[o] = (t[o] + k * (factor * least)) * (1 - SLACK);
        }
    return 0;
}

/* With dynamic tasking, set t to a lower bound of all configurations: all processes on the quickest option. */
static void share_work(const struct hrun_formulas *p, double excess, double *t)
{
    double least = INFINITY;

    if (!p->base.tasking.dynamic)
        return;
    for (int o = 0; o < p->base.noptions; o++)
        least = fmin(least, t[o]);      /* ignores NAN */
    for (int o = 0; o < p->base.noptions; o++)
        t[o] = isnan(t[o]) ? NAN : least / excess * (1 - SLACK);
}

int hrun_formulas_times(void *ctx, int P, double *t, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;

    for (int j = 0; j < p->nterms; j++) {
        if (p->least_m[j] < P && hrun_formulas_term(p, j, P, &p->value[j], err))
            return -1;
        if (p->is_network[j])
            p->value[j] = 0;
    }
    add_terms(p, P, t);
    if (p->base.same_subs && hrun_formulas_add_network(p, P, t, err))
        return -1;
    share_work(p, hrun_tasking_excess(&p->base.tasking, P), t);
    return 0;
}

int hrun_formulas_options(struct hrun_predictor *base, int P, const struct hrun_config *config, const double *share,
                          double *t, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;

    if (share && p->shares)
        return hrun_shares_options(p, P, config, share, t, err);
    if (base->deals)
        return hrun_dealer_options(base, config, t, err);
    for (int j = 0; j < p->nterms; j++)
        if (p->least_m[j] < P && hrun_formulas_value(p, j, P, config, &p->value[j], err))
            return -1;
    add_terms(p, P, t);
    return 0;
}

int hrun_formulas_part(void *ctx, const struct hrun_config *config, int known, int P, double *time_s,
                       struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    double least = INFINITY;
    int n = 0, rest = P;

    for (int j = 0; j < p->nterms; j++) {
        struct hrun_net_call call;
        double factor;

        if (p->least_m[j] >= P)
            continue;
        if (!p->is_network[j]) {
            if (hrun_formulas_term(p, j, P, &p->value[j], err))
                return -1;
            continue;
        }
        if (hrun_term_network_call(p->terms[j].expr, p->N, P, &factor, &call, err))
            return -1;
        p->value[j] = factor * hrun_netview_part(p->base.net, &call, config, known, P, err);
        if (isnan(p->value[j]))
            return -1;
    }
    add_terms(p, P, p->base.parts);
    for (int o = 0; o < p->base.noptions; o++) {
        const struct hrun_option *option = &p->base.options[o];

        least = option->sub >= known ? fmin(least, p->base.parts[o]) : least;
        if (config->pes[option->sub] && config->procs[option->sub] == option->m && !isnan(p->base.parts[o])) {
            p->base.used[n++] = (struct hrun_part_time){ p->base.parts[o], config->pes[option->sub] * option->m };
            rest -= config->pes[option->sub] * option->m;
        }
    }
    *time_s = hrun_tasking_least(&p->base.tasking, p->base.used, n, rest, least) * (1 - SLACK);
    return 0;
}

/* Add to b the least contribution of term j, whose values lie in min..max. */
static void add_least(const struct hrun_formulas *p, int j, double min, double max, double *b)
{
    const double *c = p->coef + (size_t)j * (size_t)p->base.noptions;

    if (!p->has_negative[j] && isfinite(min)) {
        add_scaled(b, c, min, p->base.noptions);
        return;
    }
    for (int o = 0; o < p->base.noptions; o++) {
        if (c[o] == 0)
            continue;
        /* min > max: the term has no value in the interval, so no P of the interval is usable */
        b[o] += min > max ? INFINITY : c[o] > 0 ? c[o] * min : c[o] * max;
    }
}

/* Fail as hrun_formulas_times does if term j has no value at some P of lo..hi that the rule accepts, so that a search
 * fails whether or not it prunes this P. */
static int check_values(struct hrun_formulas *p, int j, int lo, int hi, struct hrun_error *err)
{
    int goes_on = lo <= p->checked[j] + 1, P = goes_on ? p->checked[j] + 1 : lo, missing;

    for (; P <= hi; P = missing + 1) {
        int rule;
        double value;

        if (hrun_pterm_missing(&p->terms[j], P, hi, &missing, err))
            return -1;
        if (!missing)
            break;
        rule = p->base.oracle.rule(p, missing, err);
        if (rule < 0 || (rule && hrun_formulas_term(p, j, missing, &value, err)))
            return -1;
    }
    if (goes_on && p->checked[j] < hi)
        p->checked[j] = hi;
    return 0;
}

int hrun_formulas_bounds(void *ctx, int lo, int hi, double *b, struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    int n = p->base.noptions;

    for (int o = 0; o < n; o++)
        b[o] = 0;
    for (int j = 0; j < p->nterms; j++) {
        double min, max;
        int from = p->least_m[j] < lo ? lo : p->least_m[j] + 1;   /* formulas are valid for P > m */

        if (p->least_m[j] >= hi)
            continue;
        if (check_values(p, j, from, hi, err))
            return -1;
        if (p->is_network[j])
            continue;
        if (hrun_pterm_range(&p->terms[j], from, hi, &min, &max, err))
            return -1;
        add_least(p, j, min, max, b);
    }
    for (int o = 0; o < n; o++) {
        if (!p->opts[o].formula || p->base.options[o].m >= hi)
            b[o] = INFINITY;
        else if (!(b[o] > 0))   /* also NaN, the sum of infinities of both signs; usable times are above 0 */
            b[o] = 0;
    }
    for (int i = hrun_formulas_point(p, lo); i < p->npoints && p->points[i].P <= hi; i++) {
        const struct hrun_ppoint *point = &p->points[i];

        if (usable(point->time_s) && point->time_s < b[point->option])
            b[point->option] = point->time_s;
    }
    share_work(p, hrun_tasking_excess(&p->base.tasking, lo > 1 ? lo : 2), b);   /* the excess falls with P */
    return 0;
}

/* ------------------------------------------------------------------ times and intervals */

/* The record that predicts option o at P, or NULL. */
static const struct hrun_fit_record *record_at(const struct hrun_formulas *p, int o, int P)
{
    if (o < 0)
        return NULL;
    for (int i = hrun_formulas_point(p, P); i < p->npoints && p->points[i].P == P; i++)
        if (p->points[i].option == o)
            return p->points[i].record;
    return P > p->base.options[o].m ? p->opts[o].formula : NULL;
}

/* A run to predict. */
struct npt_run {
    int P;
    const struct hrun_config *config;   /* for network terms; NULL: not needed */
    double share;                       /* share of a process, divided by an equal share */
};

/* Set *value and the terms x[nterms] of a formula. The sum has the order of hrun_formulas_times, so that a report has
 * exactly the times of the search. */
static int formula_value(struct hrun_formulas *p, int o, const struct npt_run *run, double *x, double *value,
                         struct hrun_error *err)
{
    const struct hrun_popt *opt = &p->opts[o];
    double sum = 0;

    for (int j = 0; j < p->nterms; j++) {
        double c = p->coef[(size_t)j * (size_t)p->base.noptions + (size_t)o], v;

        if (c == 0)
            continue;
        if (hrun_formulas_value(p, j, run->P, run->config, &v, err))
            return -1;
        v *= p->is_shared[j] ? run->share : 1;
        sum += c * v;
        for (int l = 0; l < opt->formula->nterms; l++)
            if (opt->term[l] == j)
                x[l] = v;
    }
    *value = sum;
    return 0;
}

/* ------------------------------------------------------------------ models of one measured P */

/* A model of one measured P cannot distinguish a term from others that are multiples of it at this P. Points of the
 * comparison: three N at the measured P, then the size to predict at the measured and at the wanted P. */
enum { NMIN, NMIDDLE, NMAX, MEASURED, WANTED, NPOINTS };

static void eval_points(const struct hrun_formulas *p, const struct hrun_fit_record *r, int j, int P,
                        double *v)
{
    double middle = floor(sqrt((double)r->nmin * (double)r->nmax));
    const double N[NPOINTS] = { (double)r->nmin, middle, (double)r->nmax, p->N, p->N };
    int owned = 0;
    struct hrun_expr *e = hrun_term_find(p->base.app, HRUN_TERM_NP, r->terms[j], &owned, NULL);

    for (int i = 0; i < NPOINTS; i++)
        if (!e || hrun_term_is_network(e) ||   /* its dependence on P is known */
            hrun_term_eval(e, HRUN_TERM_NP, N[i], i == WANTED ? P : r->pmin, 0, &v[i], NULL))
            v[i] = NAN;
    if (owned)
        hrun_expr_destroy(e);
}

/* 1 if term b with values b is a multiple of term a with values a at the measured P, else 0. */
static int stands_for(const double *a, const double *b)
{
    static const double same = 1e-9;

    for (int i = 0; i < WANTED; i++)
        if (!(fabs(b[i] * a[MEASURED] - a[i] * b[MEASURED]) <= same * fabs(a[i] * b[MEASURED])))
            return 0;   /* also NaN */
    return b[MEASURED] != 0 && isfinite(b[WANTED]);
}

/* Set *down and *up to the largest changes of the prediction at P if each term in use is replaced by one that cannot be
 * distinguished from it at the measured P, with the same value there. */
static void spread_over_terms(const struct hrun_formulas *p, const struct hrun_fit_record *r, int P,
                             double *down, double *up)
{
    double *v = xcalloc((size_t)r->nterms * NPOINTS + 1, sizeof *v);

    *down = *up = 0;
    for (int j = 0; j < r->nterms; j++)
        eval_points(p, r, j, P, v + j * NPOINTS);
    for (int j = 0; j < r->nterms; j++) {
        const double *a = v + j * NPOINTS;
        double least = 0, most = 0;

        for (int i = 0; i < r->nterms && r->k[j] != 0; i++) {
            const double *b = v + i * NPOINTS;

            if (stands_for(a, b)) {
                double change = r->k[j] * (a[MEASURED] / b[MEASURED] * b[WANTED] - a[WANTED]);
                least = fmin(least, change);
                most = fmax(most, change);
            }
        }
        *down -= least;
        *up += most;
    }
    free(v);
}

/* Standard deviation of one run of t seconds by the weights of the fit, or by the default options. */
static double expected_scatter(const struct hrun_fit_record *r, double t)
{
    static const struct hrun_fit_options o = HRUN_FIT_OPTIONS_DEFAULT;

    return r->sigma_abs_s > 0 || r->sigma_rel > 0 ? hypot(r->sigma_abs_s, r->sigma_rel * t) :
           hypot(o.sigma_abs_s, o.sigma_rel * t);
}

/* ------------------------------------------------------------------ one prediction */

double hrun_record_half_width(const struct hrun_fit_record *r, const double *x, double t)
{
    double mean = 0, one = 1, dof = r->dof > 0 ? r->dof : 1e9;

    for (int i = 0; i < r->nterms; i++)
        for (int j = 0; j < r->nterms; j++)
            mean += x[i] * r->cov[i * r->nterms + j] * x[j];
    if (r->sigma_abs_s > 0 || r->sigma_rel > 0)
        one = r->sigma_abs_s * r->sigma_abs_s + r->sigma_rel * t * r->sigma_rel * t;
    return hrun_fit_t_quantile(0.975, dof) * sqrt(r->s2 * (fmax(mean, 0) + one));
}

/* Set *time to the time of the processes of one option in a run, with its interval. */
static int predict_npt(struct hrun_formulas *p, int sub, int m, const struct npt_run *run, struct hrun_interval *time,
                       struct hrun_error *err)
{
    int o = hrun_predictor_find(&p->base, sub, m), P = run->P;
    const struct hrun_fit_record *r = record_at(p, o, P);
    autofree double *x = NULL;
    double t, half, down = 0, up = 0, scale = r && r == p->opts[o].formula ? p->base.scale : 1;

    if (!r)
        return hrun_fail(err, HRUN_ENODATA, "%s has no %s model for P=%d with M=%d on sub-cluster %d",
                         p->base.app->name, P == m ? "single" : hrun_model_form_name(p->form), P, m, sub + 1);
    x = xcalloc((size_t)r->nterms + 1, sizeof *x);
    if (r == p->opts[o].formula ? formula_value(p, o, run, x, &t, err) :
        hrun_formulas_nt_value(p->base.app, r, p->N, x, &t, err))
        return -1;
    half = scale * hrun_record_half_width(r, x, t / scale);
    if (r == p->opts[o].formula && p->form == HRUN_FORM_NPT && r->pmin == r->pmax && P != r->pmin) {
        spread_over_terms(p, r, P, &down, &up);
        half = fmax(half, hrun_fit_t_quantile(0.975, 1e9) * expected_scatter(r, t));
        down *= scale;
        up *= scale;
    }
    if (!isfinite(t) || t <= 0 || !isfinite(half + down + up))
        return hrun_fail(err, HRUN_ENONFINITE, "the %s model of %s predicts %g s +- %g s at N=%lld, P=%d, M=%d: not a "
                         "time", r->family, p->base.app->name, t, half, (long long)p->base.N, P, m);
    *time = (struct hrun_interval){ t, fmax(t - half - down, 0), t + half + up };
    return 0;
}

int hrun_formulas_time_in(struct hrun_predictor *base, int sub, const struct hrun_config *config, int P,
                          struct hrun_interval *time, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    int m = config->procs[sub], o = hrun_predictor_find(base, sub, m), there = base->place[sub];
    struct npt_run run = { P, base->same_subs ? config : NULL, 1 };
    struct hrun_config alone;
    double pace;

    if (base->deals) {
        int64_t units = hrun_dealer_units(base, sub, config, err);

        if (units < 0)
            return -1;
        run.share = (double)units * P / (double)base->dealer->units / hrun_shares_uneven(p, P);
    }
    if (o >= 0 && p->has_network[o] && P > m && !base->same_subs) {
        if (there < 0 || P % m || P / m > hrun_netview_npes(base->net, there))
            return hrun_fail(err, HRUN_ENODATA, "sub-cluster %d alone has no configuration with P=%d, M=%d, whose "
                             "network a term of %s asks for", sub + 1, P, m, base->app->name);
        alone = hrun_config_alone(hrun_netview_nsubs(base->net), there, P / m, m);
        run.config = &alone;
    }
    if (predict_npt(p, sub, m, &run, time, err))
        return -1;
    pace = hrun_predictor_pace_of(base, sub);
    *time = (struct hrun_interval){ pace * time->mid, pace * time->low, pace * time->high };
    return 0;
}

int hrun_formulas_measured(const struct hrun_predictor *base, int sub, int m, int P, int64_t *sizes, int64_t *counts)
{
    const struct hrun_formulas *p = (const struct hrun_formulas *)base;
    const struct hrun_fit_record *r = record_at(p, hrun_predictor_find(&p->base, sub, m), P);

    if (!r)
        return -1;
    sizes[0] = r->nmin;
    sizes[1] = r->nmax;
    counts[0] = r->pmin;
    counts[1] = r->pmax;
    return 0;
}
