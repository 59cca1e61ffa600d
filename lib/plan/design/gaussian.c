/* gaussian.c - what the models miss, as a Gaussian process; see internal.h
 *
 * ln T of a configuration at a size is what the models say plus what they miss there. The misses of all runs are taken
 * for a Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, eqs. 2.23-2.24) with three
 * parts: what is alike for near P where the same sub-cluster limits with as many processes per PE (a model that is
 * off), what belongs to one P (collective operations by trees, remainders of divisions), and what is the
 * configuration's own. All are alike for near N. So one run tells of its neighbours, too, what is unlike all that was
 * run stays uncertain, and repetitions of one configuration count for what they are worth.
 */
#include "base/alloc.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths over which misses are alike, in ln N and ln P: factors of 2 and 1.2. */
static const double REACH_N = 0.7, REACH_P = 0.2;
/* Parts of the variance: of the model, of P, of the configuration. */
static const double OF_MODEL = 0.4, OF_P = 0.3, OF_CONFIG = 0.3;
/* Part of that of the model which is alike although something else limits. */
static const double OTHER_LIMIT = 0.3;
/* How far off models are before any run has told, and how many runs that counts as: first mixed runs beyond the
 * measured P were missed by 9 to 21 % in the mean (FIELD-NOTES). */
static const double ASSUMED_MISFIT = 0.1;
enum { ASSUMED_RUNS = 3 };
/* On one PE nothing is sent, and models are that much better. */
static const double ONE_PE = 0.3;

/* How many runs are disturbed, and how much longer they take at most: what the accuracy of hrun is measured with, one
 * in twenty, up to three times. */
static const double DISTURBED_PART = 0.05, DISTURBED_MOST = 3;

/* How far models are off a run that was not made yet: the prediction errors so far, none counting as more than a glitch
 * may be. */
double design_misfit(const struct hrun_design *d)
{
    double sum = ASSUMED_RUNS * ASSUMED_MISFIT * ASSUMED_MISFIT, v;

    for (int i = 0; i < d->runs.nerrors; i++) {
        v = fmin(fabs(d->runs.error[i]), 3 * ASSUMED_MISFIT);
        sum += v * v;
    }
    return fmax(sqrt(sum / (d->runs.nerrors + ASSUMED_RUNS)), d->fit.noise);
}

/* What the process sees of a configuration at a size. */
struct place {
    const struct dealt_config *config;
    int P, limiting;
    int64_t N;
};

static double misfit_at(const struct hrun_design *d, const struct place *a)
{
    return d->fit.misfit * (a->limiting >= 0 && a->config->c.procs[a->limiting] == a->P ? ONE_PE : 1);
}

static double miss_covariance(const struct hrun_design *d, const struct place *a, const struct place *b)
{
    double n = log((double)a->N / (double)b->N) / REACH_N, p = log((double)a->P / b->P) / REACH_P;
    int same_limit = a->limiting == b->limiting && a->limiting >= 0 &&
                     a->config->c.procs[a->limiting] == b->config->c.procs[b->limiting];

    return misfit_at(d, a) * misfit_at(d, b) * exp(-0.5 * n * n) *
           (OF_MODEL * exp(-0.5 * p * p) * (same_limit ? 1 : OTHER_LIMIT) + OF_P * (a->P == b->P) +
            OF_CONFIG * same_dealt_config(a->config, b->config));
}

static struct place place_of_group(const struct design_group *g)
{
    return (struct place){ &g->config, g->P, g->limiting, g->N };
}

void gaussian_release(struct gaussian *p)
{
    free(p->g);
    free(p->c);
}

/* Four sums at a time: one alone waits for each of its additions. */
static double dot(const double *a, const double *b, int n)
{
    double sum[4] = { 0 };
    int i = 0;

    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* L v' = v, where v begins with `first` zeros. */
static void solve_lower(const struct gaussian *p, int first, double *v)
{
    for (int i = first; i < p->n; i++)
        v[i] = (v[i] - dot(p->l + i * p->n + first, v + first, i - first)) / p->l[i * p->n + i];
}

/* The probability that a run which lies so far above what the others say of it, with this variance, was disturbed. */
static double disturbance(double miss, double var)
{
    double plain, disturbed = DISTURBED_PART / log(DISTURBED_MOST);

    if (!(miss > 0))
        return 0;
    plain = (1 - DISTURBED_PART) * exp(-0.5 * miss * miss / var) / sqrt(2 * M_PI * var);
    return disturbed / (plain + disturbed);
}

/* Cholesky factor of the covariance with own[n] on its diagonal, and the weights. */
static void factor_covariance(struct gaussian *p, const double *own)
{
    int n = p->n;

    for (int i = 0; i < n; i++) {
        double *row = p->l + i * n;

        for (int j = 0; j <= i; j++) {
            double sum = p->c[i * n + j] - dot(row, p->l + j * n, j);

            if (i == j)
                row[j] = sqrt(fmax(sum + own[i], 1e-12));
            else
                row[j] = sum / p->l[j * n + j];
        }
        p->w[i] = p->g[i]->log_t - p->g[i]->model;
    }
    solve_lower(p, 0, p->w);
    for (int i = n; i-- > 0; ) {
        for (int j = i + 1; j < n; j++)
            p->w[i] -= p->l[j * n + i] * p->w[j];
        p->w[i] /= p->l[i * n + i];
    }
}

/* Groups of one undisturbed run, seen from all others: without group i the process says y_i - w_i / q_i with variance
 * 1 / q_i, where q is the diagonal of the inverse covariance (Rasmussen and Williams, eq. 5.12). Their own variance is
 * so much larger as they may be disturbed. */
static void widen_single_runs(struct gaussian *p, double *own)
{
    for (int i = 0; i < p->n; i++) {
        double q, miss;

        if (p->g[i]->kept != 1)
            continue;
        memset(p->k, 0, (size_t)p->n * sizeof *p->k);
        p->k[i] = 1;
        solve_lower(p, i, p->k);
        q = dot(p->k + i, p->k + i, p->n - i);
        miss = p->w[i] / q;
        own[i] += miss * miss * disturbance(miss, 1 / q);
    }
}

void gaussian_fit(const struct hrun_design *d, int64_t N, struct gaussian *p)
{
    size_t n;
    double *own;

    memset(p, 0, sizeof *p);
    p->g = xcalloc((size_t)d->fit.ngroups + 1, sizeof *p->g);
    for (int i = 0; i < d->fit.ngroups; i++)
        if (d->fit.groups[i].kept && isfinite(d->fit.groups[i].model) &&
            fabs(log((double)d->fit.groups[i].N / (double)N)) < 2 * REACH_N)
            p->g[p->n++] = &d->fit.groups[i];
    n = (size_t)p->n;
    p->c = xcalloc(2 * n * n + 3 * n + 1, sizeof *p->c);     /* one block */
    p->l = p->c + n * n;
    p->w = p->l + n * n;
    p->k = p->w + n;
    own = p->k + n;
    for (int i = 0; i < p->n; i++) {
        struct place a = place_of_group(p->g[i]), b;

        for (int j = 0; j <= i; j++) {
            b = place_of_group(p->g[j]);
            p->c[i * p->n + j] = miss_covariance(d, &a, &b);
        }
        own[i] = p->g[i]->var;
    }
    factor_covariance(p, own);
    if (!d->fit.exact) {
        widen_single_runs(p, own);
        factor_covariance(p, own);
    }
}

void gaussian_predict(const struct hrun_design *d, struct gaussian *p, int64_t N, struct design_belief *b)
{
    struct place here = { &b->config, b->P, b->limiting, N };
    double var = miss_covariance(d, &here, &here);

    b->mean = log(b->model_s);
    for (int i = 0; i < p->n; i++) {
        struct place a = place_of_group(p->g[i]);

        p->k[i] = miss_covariance(d, &a, &here);
        b->mean += p->k[i] * p->w[i];
    }
    solve_lower(p, 0, p->k);
    for (int i = 0; i < p->n; i++)
        var -= p->k[i] * p->k[i];
    b->sd = sqrt(fmax(var, 0));
}

