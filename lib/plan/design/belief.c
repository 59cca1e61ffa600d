/* belief.c - beliefs about the best configurations at each size; see internal.h
 *
 * Candidates are the best predicted configurations and all that were run.
 *
 * ln T of a configuration at a size is the prediction of the models plus a miss, their error there. The misses are a
 * Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, eqs. 2.23-2.24) with three parts:
 * one correlated over near P if the same sub-cluster limits with the same processes per PE (error of a model), one
 * common to a P (collective operations by trees, remainders of divisions), and one of the configuration alone. All are
 * correlated over near N. So a run informs about its neighbours, configurations unlike all runs stay uncertain, and
 * repetitions of one configuration have their proper weight.
 */
#include "base/alloc.h"
#include "model/corrections.h"
#include "plan/design/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of best predicted configurations at each size: half of those in paper 000 (Table VI has 404). A configuration
 * whose time the models overestimate by a fifth may be far down the list. More candidates make decisions longer. */
enum { CANDIDATES = 200 };
/* 97.5 % quantile of the normal distribution. */
static const double Z95 = 1.959964;

/* ------------------------------------------------------------------ misses of the models */

/* Correlation lengths of misses in ln N and ln P: factors of 2 and 1.2. */
static const double REACH_N = 0.7, REACH_P = 0.2;
/* Fractions of the variance: of the model, of P, of the configuration. */
static const double OF_MODEL = 0.4, OF_P = 0.3, OF_CONFIG = 0.3;
/* Correlation of the model's part between configurations that other sub-clusters limit. */
static const double OTHER_LIMIT = 0.3;
/* The assumed misfit before the first run, and its weight in runs. The mean miss of first mixed runs beyond the
 * measured P is 9 to 21 % (FIELD-NOTES). */
static const double ASSUMED_MISFIT = 0.1;
enum { ASSUMED_RUNS = 3 };
/* Factor of the misfit on one PE, where no messages are sent. */
static const double ONE_PE = 0.3;

/* As in hrun's accuracy tests: fraction of disturbed runs, and the most by which a disturbance multiplies a time. */
static const double DISTURBED_PART = 0.05, DISTURBED_MOST = 3;

/* Expected error of the models for a configuration without runs: root mean square of the prediction errors so far. Each
 * error is limited, as a disturbed run may cause a large one. */
static double predicted_misfit(const struct hrun_design *d)
{
    double sum = ASSUMED_RUNS * ASSUMED_MISFIT * ASSUMED_MISFIT, v;

    for (int i = 0; i < d->runs.nerrors; i++) {
        v = fmin(fabs(d->runs.error[i]), 3 * ASSUMED_MISFIT);
        sum += v * v;
    }
    return fmax(sqrt(sum / (d->runs.nerrors + ASSUMED_RUNS)), d->fit.noise);
}

/* The coordinates of the Gaussian process: a configuration at a size. */
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

/* The Gaussian process at one size, from the groups with a prediction and a near N. */
struct gaussian {
    const struct design_group **g;
    double *c, *l;          /* n by n, lower triangles: covariance without noise, Cholesky factor of all */
    double *w;              /* n: covariance^-1 times the misses of the groups */
    double *k;              /* n: scratch */
    int n;
};

static void gaussian_release(struct gaussian *p)
{
    free(p->g);
    free(p->c);
}

/* Dot product by four independent sums, which is quicker than one chain of additions. */
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

/* Replace v by the solution x of L x = v; the first `first` entries of v are 0. */
static void solve_lower(const struct gaussian *p, int first, double *v)
{
    for (int i = first; i < p->n; i++)
        v[i] = (v[i] - dot(p->l + i * p->n + first, v + first, i - first)) / p->l[i * p->n + i];
}

/* The probability that a run was disturbed; miss: ln of its time over the prediction by the others; var: variance of
 * this prediction. */
static double disturbance(double miss, double var)
{
    double plain, disturbed = DISTURBED_PART / log(DISTURBED_MOST);

    if (!(miss > 0))
        return 0;
    plain = (1 - DISTURBED_PART) * exp(-0.5 * miss * miss / var) / sqrt(2 * M_PI * var);
    return disturbed / (plain + disturbed);
}

/* Set p->l to the Cholesky factor of the covariance with own[n] added on its diagonal, and p->w to the weights. */
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

/* Add to own[i] of each group with one undisturbed run the variance by a possible disturbance. Without group i the
 * process predicts y_i - w_i / q_i with variance 1 / q_i, where q is the diagonal of the inverse covariance (Rasmussen
 * and Williams, eq. 5.12). */
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

static void gaussian_fit(const struct hrun_design *d, int64_t N, struct gaussian *p)
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

/* Set mean and sd of a configuration at a size from its model_s. */
static void gaussian_predict(const struct hrun_design *d, struct gaussian *p, int64_t N, struct design_belief *b)
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

/* ------------------------------------------------------------------ candidates */

void design_drop_sizes(struct hrun_design *d)
{
    for (int i = 0; d->sizes && i < d->nsizes; i++) {
        free(d->sizes[i].v);
        d->sizes[i].v = NULL;
        d->sizes[i].n = d->sizes[i].complete = 0;
        d->sizes[i].choice = -1;
    }
}

static void add_belief(struct design_size *s, const struct dealt_config *config, const struct hrun_choice *c)
{
    s->v[s->n++] = (struct design_belief){ .config = *config, .P = c->P, .limiting = c->limiting,
                                           .model_s = c->time_s };
}

/* The search for the candidates and the choice at one size. */
struct candidate_search {
    struct hrun_design *d;
    struct design_size *s;
    struct size_models m;
    double choice_s, greedy_s;    /* times that rank s->choice and s->greedy */
};

/* The index of a configuration among the candidates. A missing one is added if it is valid; else the result is -1. */
static int join_candidates(struct candidate_search *q, const struct dealt_config *config)
{
    struct hrun_choice c;

    for (int i = 0; i < q->s->n; i++)
        if (same_dealt_config(&q->s->v[i].config, config))
            return i;
    if (!design_evaluate(&q->m, config, 1, &c))
        return -1;
    add_belief(q->s, config, &c);
    return q->s->n - 1;
}

/* Find hrun's choice at this size with the corrected predictions known[n] (model/model.h). A better one replaces the
 * choice so far, or with cautious = 0 the greedy choice. */
static int search_choice(struct candidate_search *q, int dealt, int cautious, const struct hrun_known *known, int n,
                         struct hrun_error *err)
{
    const struct hrun_corrections *all = q->d->fit.corrections[dealt];
    double *best_s = cautious ? &q->choice_s : &q->greedy_s, own_s;
    struct dealt_config config;
    struct hrun_plan *plan = NULL;
    struct hrun_error why = { 0 };
    int i;

    if (hrun_plan_search_known(&q->m.problem[dealt], known, n, 1, &plan, &why))
        return why.code == HRUN_EINFEASIBLE ? 0 : hrun_fail_as(err, &why);
    config = make_dealt_config(&plan->v[0].config, dealt);
    i = hrun_corrections_find(all, &config.c);
    own_s = plan->v[0].time_s * (cautious && all ? exp(hrun_corrections_sd(all)) : 1) *
            (cautious && i >= 0 && known[i].rank_factor > 0 ? known[i].rank_factor : 1);
    hrun_plan_destroy(plan);
    if (own_s >= *best_s)
        return 0;
    *best_s = own_s;
    i = join_candidates(q, &config);
    *(cautious ? &q->s->choice : &q->s->greedy) = i;
    return 0;
}

/* Search the choice and the greedy choice with equal or unequal shares. */
static int search_choices(struct candidate_search *q, int dealt, struct hrun_error *err)
{
    const struct hrun_design *d = q->d;
    const struct hrun_corrections *all = d->fit.corrections[dealt];
    int n = hrun_corrections_count(all);
    autofree struct hrun_known *known = xcalloc((size_t)n + (size_t)d->fit.ngroups + 1, sizeof *known);

    hrun_corrections_known(all, q->s->N, known, NULL);
    for (int i = 0; i < d->fit.ngroups; i++) {
        const struct design_group *g = &d->fit.groups[i];
        int at = hrun_corrections_find(all, &g->config.c);

        if (g->N != q->s->N || !g->failed || g->n || (g->sub < 0 && g->config.dealt != dealt))
            continue;
        if (at < 0)
            known[at = n++] = (struct hrun_known){ .config = g->config.c };
        known[at].excluded = 1;
    }
    if (search_choice(q, dealt, 1, known, n, err))
        return -1;
    for (int i = 0; i < n; i++)
        known[i].rank_factor = 0;
    return search_choice(q, dealt, 0, known, n, err);
}

/* Add the best predicted configurations; with unequal shares only those on several sub-clusters. */
static int gather_best(struct candidate_search *q, int dealt, struct hrun_error *err)
{
    struct dealt_config config;
    struct hrun_plan *plan = NULL;
    struct hrun_error why = { 0 };

    if (hrun_plan_search(&q->m.problem[dealt], CANDIDATES, &plan, &why))
        return why.code == HRUN_EINFEASIBLE ? 0 : hrun_fail_as(err, &why);
    q->s->complete &= plan->n < CANDIDATES;
    for (int i = 0; i < plan->n; i++) {
        config = make_dealt_config(&plan->v[i].config, dealt);
        if (config.dealt == dealt)
            add_belief(q->s, &config, &plan->v[i]);
    }
    hrun_plan_destroy(plan);
    return 0;
}

/* Set the candidates: the best predicted configurations, and all that were run at this size. */
static int gather_candidates(struct candidate_search *q, struct hrun_error *err)
{
    const struct hrun_design *d = q->d;
    struct design_size *s = q->s;
    int measured = 0;

    for (int i = 0; i < d->fit.ngroups; i++)
        measured += d->fit.groups[i].N == s->N;
    s->v = xcalloc(2 * (size_t)CANDIDATES + (size_t)measured + 5, sizeof *s->v);
    s->complete = 1;
    for (int dealt = 0; dealt < 1 + design_deals(d); dealt++)
        if (gather_best(q, dealt, err))
            return -1;
    for (int i = 0; i < d->fit.ngroups; i++) {
        const struct design_group *g = &d->fit.groups[i];
        int at;

        if (g->N != s->N)
            continue;
        at = join_candidates(q, &g->config);
        if (at < 0)
            continue;
        s->v[at].runs = g->n;
        s->v[at].failed = g->failed;
    }
    return 0;
}

/* ------------------------------------------------------------------ the choice */

/* E max(0, x) for x normal with this mean and standard deviation. */
static double positive_mean(double mean, double sd)
{
    double z = sd > 0 ? mean / sd : 0;

    return sd > 0 ? sd * exp(-0.5 * z * z) / sqrt(2 * M_PI) + mean * 0.5 * erfc(-z * M_SQRT1_2) : fmax(mean, 0);
}

/* Expected decrease of the least ln time by one more run of b. sign = -1: b is the best; `other` is the mean of the
 * second, which may turn out to be better. sign = 1: `other` is the mean of the best, which b may beat. The standard
 * deviation is multiplied by sd_factor. All runs have the same rounding, so a repetition cannot reduce the rounding. */
static double run_gain(const struct hrun_design *d, const struct design_belief *b, int sign, double other,
                       double sd_factor)
{
    double noise = design_noise(d, exp(b->mean)), alike = b->runs ? d->fit.rounding_s / exp(b->mean) : 0;
    double open = fmax(b->sd * b->sd - alike * alike, 0);

    return positive_mean(sign * (other - b->mean), sd_factor * open / sqrt(open + noise * noise));
}

void design_gains(struct hrun_design *d, struct design_size *s)
{
    double best = INFINITY, second = INFINITY, most = 0;
    int first = -1;

    for (int i = 0; i < s->n; i++) {
        const struct design_belief *b = &s->v[i];

        if (b->failed)
            continue;
        if (b->mean < best) {
            second = best;
            best = b->mean;
            first = i;
        } else {
            second = fmin(second, b->mean);
        }
    }
    s->loss = s->half = 0;
    if (s->choice < 0 || s->v[s->choice].failed)
        s->choice = first;
    if (first < 0)
        return;
    for (int i = 0; i < s->n; i++) {
        struct design_belief *b = &s->v[i];
        int sign = i == first ? -1 : 1;

        if (b->failed)
            continue;
        b->gain = run_gain(d, b, sign, sign < 0 ? second : best, s->sd_factor);
        most = fmax(most, run_gain(d, b, sign, sign < 0 ? second : best, 1));
        if (i != s->choice)
            s->loss = fmax(s->loss, positive_mean(s->v[s->choice].mean - b->mean, hypot(b->sd, s->v[s->choice].sd)));
    }
    s->half = Z95 * s->v[s->choice].sd;
    s->settled = s->v[s->choice].runs > 0 && most < DESIGN_SETTLED;
}

/* Set sizes, settled, loss and interval of the state. */
static void sum_up_sizes(struct hrun_design *d)
{
    struct hrun_design_state *st = &d->state;

    st->sizes = st->settled = 0;
    st->loss = st->interval = 0;
    for (int i = 0; i < d->nsizes; i++) {
        struct design_size *s = &d->sizes[i];

        if (s->choice < 0)
            continue;
        st->sizes++;
        st->settled += s->settled;
        st->loss += s->loss;
        st->interval = fmax(st->interval, s->half);
    }
    if (st->sizes)
        st->loss /= st->sizes;
    else
        st->loss = st->interval = NAN;
}

static int believe_size(struct hrun_design *d, struct design_size *s, struct hrun_error *err)
{
    struct candidate_search q = { .d = d, .s = s, .choice_s = INFINITY, .greedy_s = INFINITY };
    struct gaussian misses;
    int rc;

    if (design_models_at(d, s->N, &q.m, err))
        return -1;
    if (!q.m.p[0])
        return 0;
    rc = gather_candidates(&q, err);
    s->choice = s->greedy = -1;
    for (int dealt = 0; dealt < 1 + design_deals(d) && !rc; dealt++)
        rc = search_choices(&q, dealt, err);
    size_models_release(&q.m);
    if (rc)
        return -1;
    gaussian_fit(d, s->N, &misses);
    for (int i = 0; i < s->n; i++)
        gaussian_predict(d, &misses, s->N, &s->v[i]);
    gaussian_release(&misses);
    design_gains(d, s);
    return 0;
}

int design_believe(struct hrun_design *d, struct hrun_error *err)
{
    design_drop_sizes(d);
    d->fit.misfit = predicted_misfit(d);
    for (int i = 0; i < d->nsizes; i++)
        if (believe_size(d, &d->sizes[i], err))
            return -1;
    sum_up_sizes(d);
    return 0;
}
