/* interval.c - one prediction with its interval, and how far it extrapolates; see model.h */
#include "fit/fit.h"
#include "model/formulas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Value and terms x[nterms] of a formula, summed over distinct terms in the order of hrun_formulas_times: a
 * report shows what the search saw. */
static int formula_value(struct hrun_formulas *p, int o, int P, const int *pes, const int *procs, double *x,
                         double *value, struct hrun_error *err)
{
    const struct hrun_popt *opt = &p->opts[o];
    double sum = 0;

    for (int j = 0; j < p->nterms; j++) {
        double c = p->coef[(size_t)j * (size_t)p->base.noptions + (size_t)o], v;

        if (c == 0)
            continue;
        if (hrun_formulas_value(p, j, P, pes, procs, &v, err))
            return -1;
        sum += c * v;
        for (int l = 0; l < opt->formula->nterms; l++)
            if (opt->term[l] == j)
                x[l] = v * opt->factor[l];
    }
    *value = sum;
    return 0;
}

/* ------------------------------------------------------------------ one P alone was measured */

/* Where a model of one measured P is asked for another, each term in use stands for all those that are
 * multiples of it at the measured P. These are the N by which that is seen, and the two points that
 * matter. */
enum { NMIN, NMIDDLE, NMAX, MEASURED, WANTED, NPOINTS };

static void eval_points(const struct hrun_formulas *p, const struct hrun_fit_record *r, int j, int P,
                        double *v)
{
    double middle = floor(sqrt((double)r->nmin * (double)r->nmax));
    const double N[NPOINTS] = { (double)r->nmin, middle, (double)r->nmax, p->N, p->N };
    int owned = 0;
    struct hrun_expr *e = hrun_term_find(p->base.app, HRUN_TERM_NP, r->terms[j], &owned, NULL);

    for (int i = 0; i < NPOINTS; i++)
        if (!e || hrun_term_is_network(e) ||   /* how that follows P is known */
            hrun_term_eval(e, HRUN_TERM_NP, N[i], i == WANTED ? P : r->pmin, 0, &v[i], NULL))
            v[i] = NAN;
    if (owned)
        hrun_expr_destroy(e);
}

/* Could term b, with these values, have stood for term a? */
static int stands_for(const double *a, const double *b)
{
    static const double same = 1e-9;

    for (int i = 0; i < WANTED; i++)
        if (!(fabs(b[i] * a[MEASURED] - a[i] * b[MEASURED]) <= same * fabs(a[i] * b[MEASURED])))
            return 0;   /* also NaN */
    return b[MEASURED] != 0 && isfinite(b[WANTED]);
}

/* How far the prediction at P would move down and up, were each term in use replaced by one that the measured
 * P cannot tell from it, with the same value there. */
static int spread_over_terms(const struct hrun_formulas *p, const struct hrun_fit_record *r, int P,
                             double *down, double *up, struct hrun_error *err)
{
    double *v = calloc((size_t)r->nterms * NPOINTS + 1, sizeof *v);

    if (!v)
        return hrun_fail_nomem(err);
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
    return 0;
}

/* Standard deviation of one run of t seconds, as the weights had it, or the default options. */
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

/* One prediction in a configuration; pes is NULL where no network term needs one. */
static int predict(struct hrun_formulas *p, int sub, int m, int P, const int *pes, const int *procs, double *time_s,
                   double *low, double *high, struct hrun_error *err)
{
    int o = hrun_predictor_find(&p->base, sub, m), rc = -1;
    const struct hrun_fit_record *r = record_at(p, o, P);
    double *x, t, half, down = 0, up = 0;

    if (!r)
        return hrun_fail(err, HRUN_ENODATA, "%s has no %s model for P=%d with M=%d on sub-cluster %d",
                         p->base.app->name, P == m ? "single" : hrun_family_name(p->family), P, m, sub + 1);
    x = calloc((size_t)r->nterms + 1, sizeof *x);
    if (!x)
        return hrun_fail_nomem(err);
    if (r == p->opts[o].formula ? formula_value(p, o, P, pes, procs, x, &t, err) :
        hrun_formulas_nt_value(p->base.app, r, p->N, x, &t, err))
        goto out;
    half = hrun_record_half_width(r, x, t);
    if (r == p->opts[o].formula && p->family == HRUN_FAMILY_NPT && r->pmin == r->pmax && P != r->pmin) {
        if (spread_over_terms(p, r, P, &down, &up, err))
            goto out;
        half = fmax(half, hrun_fit_t_quantile(0.975, 1e9) * expected_scatter(r, t));
    }
    if (!isfinite(t) || t <= 0 || !isfinite(half + down + up)) {
        hrun_fail(err, HRUN_ENONFINITE,
                  "the %s model of %s predicts %g s +- %g s at N=%lld, P=%d, M=%d: not a time", r->family,
                  p->base.app->name, t, half, (long long)p->base.N, P, m);
        goto out;
    }
    *time_s = t;
    *low = fmax(t - half - down, 0);
    *high = t + half + up;
    rc = 0;
out:
    free(x);
    return rc;
}

int hrun_formulas_time(struct hrun_predictor *base, int sub, int m, int P, double *time_s, double *low, double *high,
                       struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    int o = hrun_predictor_find(&p->base, sub, m), there = p->net ? p->place[sub] : -1, n;

    if (o < 0 || !p->has_network[o] || P <= m)
        return predict(p, sub, m, P, NULL, NULL, time_s, low, high, err);
    if (there < 0 || P % m || P / m > hrun_netview_npes(p->net, there))
        return hrun_fail(err, HRUN_ENODATA, "sub-cluster %d alone has no configuration with P=%d, M=%d, whose network "
                         "a term of %s asks for", sub + 1, P, m, p->base.app->name);
    n = hrun_netview_nsubs(p->net);
    memset(p->lone, 0, 2 * (size_t)n * sizeof *p->lone);
    p->lone[there] = P / m;
    p->lone[n + there] = m;
    return predict(p, sub, m, P, p->lone, p->lone + n, time_s, low, high, err);
}

int hrun_formulas_time_in(struct hrun_predictor *base, int sub, const int *pes, const int *procs, double *time_s,
                          double *low, double *high, struct hrun_error *err)
{
    struct hrun_formulas *p = (struct hrun_formulas *)base;
    int n = p->net && p->same_subs ? hrun_netview_nsubs(p->net) : p->base.oracle.nsubs, P = 0;

    for (int i = 0; i < n; i++)
        P += pes[i] * procs[i];
    if (!p->net || p->same_subs)
        return predict(p, sub, procs[sub], P, p->net ? pes : NULL, procs, time_s, low, high, err);
    return hrun_formulas_time(base, sub, procs[sub], P, time_s, low, high, err);
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
