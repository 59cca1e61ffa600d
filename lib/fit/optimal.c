/* optimal.c - rank-one updates of a covariance; see optimal.h for the contract */
#include "fit/optimal.h"

#include <math.h>
#include <stdlib.h>

struct hrun_optimal {
    size_t p;
    double *sd;         /* p */
    double *c;          /* p by p: C with its coefficients divided by sd, so that it begins as the unit matrix */
    double *u;          /* p: scratch */
};

struct hrun_optimal *hrun_optimal_create(size_t p, const double *sd, struct hrun_error *err)
{
    struct hrun_optimal *o;

    if (!p) {
        hrun_fail(err, HRUN_ENODATA, "a design needs at least one coefficient");
        return NULL;
    }
    for (size_t j = 0; j < p; j++)
        if (!(sd[j] > 0) || !isfinite(sd[j])) {
            hrun_fail(err, HRUN_EINVAL, "the prior standard deviation of coefficient %zu must be finite and above 0, "
                      "not %g", j + 1, sd[j]);
            return NULL;
        }
    o = calloc(1, sizeof *o);
    if (o) {
        o->p = p;
        o->sd = malloc(p * sizeof *o->sd);
        o->c = calloc(p * p, sizeof *o->c);
        o->u = malloc(p * sizeof *o->u);
    }
    if (!o || !o->sd || !o->c || !o->u) {
        hrun_optimal_destroy(o);
        hrun_fail_nomem(err);
        return NULL;
    }
    for (size_t j = 0; j < p; j++) {
        o->sd[j] = sd[j];
        o->c[j * p + j] = 1;
    }
    return o;
}

void hrun_optimal_destroy(struct hrun_optimal *o)
{
    if (!o)
        return;
    free(o->sd);
    free(o->c);
    free(o->u);
    free(o);
}

/* a'C b */
static double product(const struct hrun_optimal *o, const double *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < o->p; i++) {
        double row = 0;

        for (size_t j = 0; j < o->p; j++)
            row += o->c[i * o->p + j] * (b[j] * o->sd[j]);
        sum += row * (a[i] * o->sd[i]);
    }
    return sum;
}

int hrun_optimal_add(struct hrun_optimal *o, const double *a, struct hrun_error *err)
{
    double scale = 1;

    for (size_t j = 0; j < o->p; j++)
        if (!isfinite(a[j] * o->sd[j]))
            return hrun_fail(err, HRUN_ENONFINITE, "entry %zu of a row is %g", j + 1, a[j]);
    for (size_t i = 0; i < o->p; i++) {
        o->u[i] = 0;
        for (size_t j = 0; j < o->p; j++)
            o->u[i] += o->c[i * o->p + j] * (a[j] * o->sd[j]);
    }
    for (size_t i = 0; i < o->p; i++)
        scale += o->u[i] * (a[i] * o->sd[i]);
    if (!isfinite(scale))
        return hrun_fail(err, HRUN_ENONFINITE, "a row is too large for its prior standard deviations");
    /* By i <= j alone, so that C stays symmetric to the last bit. */
    for (size_t i = 0; i < o->p; i++)
        for (size_t j = i; j < o->p; j++)
            o->c[i * o->p + j] = o->c[j * o->p + i] = o->c[i * o->p + j] - o->u[i] * o->u[j] / scale;
    return 0;
}

double hrun_optimal_variance(const struct hrun_optimal *o, const double *a)
{
    double v = product(o, a, a);

    return isfinite(v) ? fmax(v, 0) : NAN;
}

double hrun_optimal_gain_d(const struct hrun_optimal *o, const double *a)
{
    return log1p(hrun_optimal_variance(o, a));
}

double hrun_optimal_gain_a(const struct hrun_optimal *o, const double *a, const double *targets, size_t ntargets)
{
    double v = hrun_optimal_variance(o, a), sum = 0;

    for (size_t i = 0; i < ntargets; i++)
        sum += pow(product(o, targets + i * o->p, a), 2);
    return sum / (1 + v);
}

size_t hrun_optimal_best(const double *gain, const double *cost, size_t n)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (isfinite(gain[i]) && gain[i] > 0 && isfinite(cost[i]) && cost[i] > 0 &&
            (best == n || gain[i] / cost[i] > gain[best] / cost[best]))
            best = i;
    return best;
}
