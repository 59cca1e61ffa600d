/* interval.c - one prediction with its interval, and how far it extrapolates; see model.h */
#include "fit/fit.h"
#include "model/predictor.h"

#include <math.h>
#include <stdlib.h>

static int find_option(const struct hrun_predictor *p, int sub, int m)
{
    for (int o = 0; o < p->noptions; o++)
        if (p->options[o].sub == sub && p->options[o].m == m)
            return o;
    return -1;
}

/* The record that predicts option o at P, or NULL. */
static const struct hrun_fit_record *record_at(const struct hrun_predictor *p, int o, int P)
{
    if (o < 0)
        return NULL;
    for (int i = hrun_predictor_point(p, P); i < p->npoints && p->points[i].P == P; i++)
        if (p->points[i].option == o)
            return p->points[i].record;
    return P > p->options[o].m ? p->opts[o].formula : NULL;
}

/* Value and terms x[nterms] of a formula, summed over distinct terms in the order of hrun_predictor_times: a
 * report shows what the search saw. */
static int formula_value(struct hrun_predictor *p, int o, int P, double *x, double *value,
                         struct hrun_error *err)
{
    const struct hrun_popt *opt = &p->opts[o];
    double sum = 0;

    for (int j = 0; j < p->nterms; j++) {
        double c = p->coef[(size_t)j * (size_t)p->noptions + (size_t)o], v;

        if (c == 0)
            continue;
        if (hrun_pterm_value(&p->terms[j], P, &v, err))
            return hrun_fail_prefix(err, "term '%s' of %s at N=%lld, P=%d", hrun_expr_text(p->terms[j].expr),
                                    p->app->name, (long long)p->size, P);
        sum += c * v;
        for (int l = 0; l < opt->formula->nterms; l++)
            if (opt->term[l] == j)
                x[l] = v * opt->factor[l];
    }
    *value = sum;
    return 0;
}

/* Half the width of the 95 % interval: Student's t times the root of the variance of the fitted mean plus
 * that of one run, whose weighted variance is s2. dof 0: s2 was assumed and not estimated, so the normal
 * distribution. */
static double half_width(const struct hrun_fit_record *r, const double *x, double t)
{
    double mean = 0, one = 1, dof = r->dof > 0 ? r->dof : 1e9;

    for (int i = 0; i < r->nterms; i++)
        for (int j = 0; j < r->nterms; j++)
            mean += x[i] * r->cov[i * r->nterms + j] * x[j];
    if (r->sigma_abs_s > 0 || r->sigma_rel > 0)
        one = r->sigma_abs_s * r->sigma_abs_s + r->sigma_rel * t * r->sigma_rel * t;
    return hrun_fit_t_quantile(0.975, dof) * sqrt(r->s2 * (fmax(mean, 0) + one));
}

int hrun_predictor_time(struct hrun_predictor *p, int sub, int m, int P, double *time_s, double *low,
                        double *high, struct hrun_error *err)
{
    int o = find_option(p, sub, m), rc = -1;
    const struct hrun_fit_record *r = record_at(p, o, P);
    double *x, t, half;

    if (!r)
        return hrun_fail(err, HRUN_ENODATA, "%s has no %s model for P=%d with M=%d on sub-cluster %d",
                         p->app->name, P == m ? "single" : hrun_family_name(p->family), P, m, sub + 1);
    x = calloc((size_t)r->nterms + 1, sizeof *x);
    if (!x)
        return hrun_fail_nomem(err);
    if (r == p->opts[o].formula ? formula_value(p, o, P, x, &t, err) :
        hrun_predictor_nt_value(p->app, r, p->N, x, &t, err))
        goto out;
    half = half_width(r, x, t);
    if (!isfinite(t) || t <= 0 || !isfinite(half)) {
        hrun_fail(err, HRUN_ENONFINITE,
                  "the %s model of %s predicts %g s +- %g s at N=%lld, P=%d, M=%d: not a time", r->family,
                  p->app->name, t, half, (long long)p->size, P, m);
        goto out;
    }
    *time_s = t;
    *low = fmax(t - half, 0);
    *high = t + half;
    rc = 0;
out:
    free(x);
    return rc;
}

/* How far v lies outside lo..hi, as a ratio. */
static double beyond(double v, double lo, double hi)
{
    return v < lo ? lo / v : v > hi ? v / hi : 1;
}

double hrun_predictor_extrapolation(struct hrun_predictor *p, int sub, int m, int P)
{
    const struct hrun_fit_record *r = record_at(p, find_option(p, sub, m), P);

    if (!r)
        return INFINITY;
    return fmax(beyond(p->N, (double)r->nmin, (double)r->nmax), beyond(P, r->pmin, r->pmax));
}
