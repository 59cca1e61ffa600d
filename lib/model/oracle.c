/* oracle.c - the predictor as lib/plan sees it: times and bounds of all options at once; see oracle.h,
 * formulas.h
 *
 * Both are sums over few terms for many options, and the search calls them often: flat arrays, no allocation,
 * each term evaluated once.
 */
#include "model/formulas.h"

#include <float.h>
#include <math.h>

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

/* sum[o] += c[o] value, written so that compilers use vector instructions */
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

int hrun_formulas_term(struct hrun_formulas *p, int j, int P, double *value, struct hrun_error *err)
{
    if (!hrun_pterm_value(&p->terms[j], P, value, err))
        return 0;
    return hrun_fail_prefix(err, "term '%s' of %s at N=%lld, P=%d", hrun_expr_text(p->terms[j].expr),
                            p->base.app->name, (long long)p->base.N, P);
}

int hrun_formulas_value(struct hrun_formulas *p, int j, int P, const int *pes, const int *procs, double *value,
                         struct hrun_error *err)
{
    if (!p->is_network[j])
        return hrun_formulas_term(p, j, P, value, err);
    if (!hrun_term_network(p->terms[j].expr, p->N, P, p->net, pes, procs, value, err))
        return 0;
    return hrun_fail_prefix(err, "term '%s' of %s at N=%lld, P=%d", hrun_expr_text(p->terms[j].expr),
                            p->base.app->name, (long long)p->base.N, P);
}

/* Bounds are summed in another order than times; a little less covers what that rounds. */
static const double SLACK = 1e-12;

/* Ti of all options at P from the values of the terms. */
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
            t[o] = DBL_MIN;   /* all that is known: more than 0 */
    for (int o = 0; o < n; o++)
        if (p->base.options[o].m >= P || !usable(t[o]))   /* without a formula the sum is 0, and 0 is not usable */
            t[o] = NAN;
    for (int i = hrun_formulas_point(p, P); i < p->npoints && p->points[i].P == P; i++)
        t[p->points[i].option] = usable(p->points[i].time_s) ? p->points[i].time_s : NAN;
}

/* Add to t what the network terms of each option take at least. */
static int add_network(struct hrun_formulas *p, int P, double *t, struct hrun_error *err)
{
    for (int j = 0; j < p->nterms; j++)
        for (int o = 0; p->is_network[j] && o < p->base.noptions; o++) {
            const struct hrun_option *option = &p->base.options[o];
            double k = p->coef[(size_t)j * (size_t)p->base.noptions + (size_t)o], least;

            if (!(k > 0) || option->m >= P || isnan(t[o]))
                continue;
            if (hrun_term_network_bound(p->terms[j].expr, p->N, P, p->net, option->sub, option->m, &least, err))
                return hrun_fail_prefix(err, "term '%s' of %s at N=%lld, P=%d", hrun_expr_text(p->terms[j].expr),
                                        p->base.app->name, (long long)p->base.N, P);
            t[o] = (t[o] + k * least) * (1 - SLACK);
        }
    return 0;
}

/* Where work goes to who is free, a configuration is at least as quick as all its processes on the quickest option. */
static void share_work(const struct hrun_formulas *p, double excess, double *t)
{
    double least = INFINITY;

    if (!p->base.tasking.dynamic)
        return;
    for (int o = 0; o < p->base.noptions; o++)
        least = fmin(least, t[o]);      /* NAN does not count */
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
    if (p->same_subs && add_network(p, P, t, err))
        return -1;
    share_work(p, hrun_tasking_excess(&p->base.tasking, P), t);
    return 0;
}

int hrun_formulas_options(struct hrun_predictor *base, int P, const int *pes, const int *procs, double *t,
                          struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;

    for (int j = 0; j < p->nterms; j++)
        if (p->least_m[j] < P && hrun_formulas_value(p, j, P, pes, procs, &p->value[j], err))
            return -1;
    add_terms(p, P, t);
    return 0;
}

int hrun_formulas_whole(void *ctx, const int *pes, const int *procs, int P, double *time_s, int *limiting,
                         struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    int who = -1, n = 0;
    double most = 0;

    if (hrun_formulas_options(&p->base, P, pes, procs, p->parts, err))
        return -1;
    for (int o = 0; o < p->base.noptions; o++) {
        const struct hrun_option *option = &p->base.options[o];

        if (!pes[option->sub] || procs[option->sub] != option->m)
            continue;
        if (who < 0 || p->parts[o] > most) {
            most = p->parts[o];
            who = option->sub;
        }
        p->used[n++] = (struct hrun_part_time){ p->parts[o], pes[option->sub] * option->m };
    }
    *time_s = n ? hrun_tasking_time(&p->base.tasking, p->used, n) : NAN;
    if (!usable(*time_s))   /* an overflow */
        return hrun_fail(err, HRUN_ENONFINITE, "the model of %s gives no time at N=%lld, P=%d", p->base.app->name,
                         (long long)p->base.N, P);
    *limiting = who;
    return 0;
}

int hrun_formulas_part(void *ctx, const int *pes, const int *procs, int known, int P, double *time_s,
                       struct hrun_error *err)
{
    struct hrun_formulas *p = ctx;
    double least = INFINITY;
    int n = 0, rest = P;

    for (int j = 0; j < p->nterms; j++) {
        if (p->least_m[j] >= P)
            continue;
        if (!p->is_network[j] ? hrun_formulas_term(p, j, P, &p->value[j], err)
                              : hrun_term_network_part(p->terms[j].expr, p->N, P, p->net, pes, procs, known,
                                                       &p->value[j], err))
            return -1;
    }
    add_terms(p, P, p->parts);
    for (int o = 0; o < p->base.noptions; o++) {
        const struct hrun_option *option = &p->base.options[o];

        least = option->sub >= known ? fmin(least, p->parts[o]) : least;
        if (pes[option->sub] && procs[option->sub] == option->m && !isnan(p->parts[o])) {
            p->used[n++] = (struct hrun_part_time){ p->parts[o], pes[option->sub] * option->m };
            rest -= pes[option->sub] * option->m;
        }
    }
    *time_s = hrun_tasking_least(&p->base.tasking, p->used, n, rest, least) * (1 - SLACK);
    return 0;
}

/* Add the least contribution of a term whose values lie in min..max. */
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
        /* min > max: the term has no value anywhere, so no P of the interval is usable */
        b[o] += min > max ? INFINITY : c[o] > 0 ? c[o] * min : c[o] * max;
    }
}

/* Fail as times would at the first P of lo..hi that the rule accepts and where term j has no value: then a
 * search fails at its first look, whatever it prunes. */
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
        int from = p->least_m[j] < lo ? lo : p->least_m[j] + 1;   /* formulas hold for P > m */

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
        else if (!(b[o] > 0))   /* also NaN, of infinities of both signs; usable times are above 0 */
            b[o] = 0;
    }
    for (int i = hrun_formulas_point(p, lo); i < p->npoints && p->points[i].P <= hi; i++) {
        const struct hrun_ppoint *point = &p->points[i];

        if (usable(point->time_s) && point->time_s < b[point->option])
            b[point->option] = point->time_s;
    }
    share_work(p, hrun_tasking_excess(&p->base.tasking, lo > 1 ? lo : 2), b);   /* it falls with P */
    return 0;
}
