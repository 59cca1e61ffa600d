/* correct.c - correct predictions by the runs of a configuration; see corrections.h for the contract */
#include "model/correct.h"
#include "model/internal.h"
#include "model/rows.h"

#include "base/alloc.h"
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fraction of runs that something else slows down, and the largest ln of the factor, ln 3. Nothing makes runs
 * faster. */
static const double GLITCHES = 0.05, GLITCH_MAX = 1.0986122886681098;

/* 95 % of a normal distribution lie within this many standard deviations. */
static const double NORMAL_95 = 1.959963984540054;

/* Probability that the form of a model is wrong at a size (data no longer fit into a cache, a library changes its
 * algorithm), and the largest error in this case, in ln time. */
static const double WRONG = 0.001, WRONG_MAX = 3;
/* Standard deviation of ln time between calibration and use, without the scatter of runs: root of mean squares of 33
 * cases of six real programs on a virtual machine. */
static const double DAY_SD = 0.07;
/* Standard deviation of ln time outside of the sizes that were run, for each factor e in N: predictions at 1.5 times
 * the largest size missed by 10 % (tests/trials). */
static const double BEYOND_SD = 0.25;

/* The median of the absolute value of a normal variable. */
static const double MEDIAN = 0.6744897501960817;

/* The assumed scatter counts as ASSUMED_PAIRS pairs of repetitions and has ASSUMED_DOF degrees of freedom: machines
 * were seen that scatter by 1 to 10 %. */
enum { ASSUMED_PAIRS = 5, ASSUMED_DOF = 2 };

struct hrun_corrections {
    struct hrun_correct_config *v;  /* the first n correct predictions; the others have shares of another kind, or far
                                       from the present ones */
    int n, nall;
    double var[2];          /* prior variance of r: on one sub-cluster; on several, without the common part */
    struct hrun_correct_common common;  /* common part of r on several sub-clusters */
    double sigma_abs_s;     /* scatter of a run that does not depend on its time */
    double sigma_rel;       /* scatter in proportion to the time */
    double t_abs, t_rel;    /* Student's t of 95 % for sigma_abs_s and sigma_rel */
    double rounding_s;      /* standard deviation of the rounding of times */
    double nmin, nmax;      /* ln of the sizes that were run */
    struct hrun_residual *runs;  /* in order of time */
    size_t nruns;
};

/* ------------------------------------------------------------------ residuals */

/* Ti of all options in the configuration of a run, with share[] (NULL: the present shares); NaN if the network has
 * fewer PEs. */
static int options_times(struct hrun_predictor *p, const struct hrun_netview *net, const struct hrun_recalled *run,
                         const double *share, double *t, struct hrun_error *err)
{
    int known = 1;

    for (int s = 0; p->is_whole && net && s < run->config.nsubs; s++)
        known &= run->config.pes[s] <= hrun_netview_npes(net, s);
    return hrun_predictor_options(p, run->s->P, known ? &run->config : NULL, share, t, err);
}

/* Returns r = ln(measured / predicted) by the options' times t; NaN: not predicted. Sets run->limiting. */
static double residual_of(struct hrun_predictor *p, struct hrun_recalled *run, const double *t)
{
    double most = 0;
    int n = 0;

    for (int s = 0; s < run->config.nsubs; s++) {
        int k = hrun_predictor_find(p, s, run->config.procs[s]);
        double own = k < 0 ? NAN : t[k];

        if (!run->config.pes[s])
            continue;
        if (!(own > 0 && isfinite(own)))
            return NAN;
        if (own > most)
            run->limiting = s;
        most = fmax(most, own);
        p->used[n++] = (struct hrun_part_time){ own, run->config.pes[s] * run->config.procs[s] };
    }
    return n ? log(run->s->time_s / hrun_tasking_time(&p->tasking, p->used, n)) : NAN;
}

double hrun_shares_rest(double then, double now)
{
    return fmax(then, fmin(now, 0));
}

/* Set r, now, other and limiting of a run, by the predictor of its shares; r is NaN without a prediction. */
static int find_residual(struct hrun_predictor *p, const struct hrun_netview *net, struct hrun_recalled *run,
                         struct hrun_error *err)
{
    autofree double *t = xcalloc((size_t)p->noptions + 1, sizeof *t);
    double part[HRUN_SUBS_MAX], off;

    if (run->share && !run->other) {        /* its shares may be far from the present ones */
        for (int s = 0; s < run->config.nsubs; s++)
            part[s] = run->share[s] / run->s->P;
        hrun_predictor_share_change(p, &run->config, part, &off);
        run->other = off > HRUN_SHARES_FAR;
    }
    if (options_times(p, net, run, run->other ? run->share : NULL, t, err))
        return -1;
    run->now = run->r = residual_of(p, run, t);
    if (!run->share || run->other)
        return 0;
    if (options_times(p, net, run, run->share, t, err))
        return -1;
    run->r = residual_of(p, run, t);        /* last, so that run->limiting is for its own shares */
    run->now = isfinite(run->now) ? run->now : run->r;
    return 0;
}

/* Find the residuals of runs[count], all at size source->N. */
static int find_residuals(struct hrun_predictor_source *source, struct hrun_recalled *runs, size_t count,
                          struct hrun_error *err)
{
    struct hrun_predictor *p[2] = { NULL, NULL };    /* of equal and of unequal shares */
    struct hrun_error why = { 0 };
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        runs[i].r = NAN;
    for (size_t i = 0; i < count && !rc; i++) {
        int dealt = runs[i].share != NULL;

        source->sharing = dealt ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL;
        if (!p[dealt] && !(p[dealt] = hrun_predictor_create_net(source, &why))) {
            rc = why.code == HRUN_ENODATA ? 0 : hrun_fail_as(err, &why);
            break;
        }
        rc = find_residual(p[dealt], source->net, &runs[i], err);
    }
    hrun_predictor_destroy(p[0]);
    hrun_predictor_destroy(p[1]);
    return rc;
}

/* ------------------------------------------------------------------ configurations */

static int correct_config_order(const void *a, const void *b)
{
    const struct hrun_recalled *x = a, *y = b;
    int order = x->other - y->other;

    order = order ? order : hrun_config_order(&x->config, &y->config);
    order = order ? order : (x->share != NULL) - (y->share != NULL);
    order = order ? order : (x->s->N > y->s->N) - (x->s->N < y->s->N);
    return order ? order : (x->r > y->r) - (x->r < y->r);
}

static int same_correct_config(const struct hrun_recalled *x, const struct hrun_recalled *y)
{
    return x->other == y->other && (x->share != NULL) == (y->share != NULL) &&
           hrun_config_equal(&x->config, &y->config);
}

/* Summarise runs[n] at one N, in order of r: the mean of the runs that agree with the median. Of two middle runs the
 * lower one is the median, because glitches make runs longer. */
static void summarise_point(struct hrun_correct_point *p, const struct hrun_recalled *runs, size_t n)
{
    double middle = runs[(n - 1) / 2].r, within = 3 * sqrt(2 * (p->var + p->rounding)), sum = 0, now = 0;

    for (size_t i = 0; i < n; i++) {
        if (fabs(runs[i].r - middle) > within)
            continue;
        sum += runs[i].r;
        now += runs[i].now;
        p->agree++;
    }
    p->r = sum / p->agree;
    p->now = now / p->agree;
    p->runs = (int)n;
}

/* Scatter of runs: relative for long ones, in s for short ones (absolute = 1). Runs are in order of configuration, N
 * and r; each is compared with the one half of the repetitions later. The result is the median over all pairs, which
 * glitches do not move; the assumed scatter counts as ASSUMED_PAIRS pairs. Times rounded more coarsely than they
 * scatter do not count. *t: Student's t of 95 % for the number of pairs. */
static double scatter_of_repetitions(const struct hrun_recalled *runs, size_t n,
                                     const struct hrun_fit_options *options, double rounding_s, int absolute,
                                     double *t)
{
    autofree double *room = xcalloc(n + ASSUMED_PAIRS, sizeof *room);
    size_t pairs = 0, end;

    while (pairs < ASSUMED_PAIRS)
        room[pairs++] = absolute ? options->sigma_abs_s : options->sigma_rel;
    for (size_t begin = 0; begin < n; begin = end) {
        size_t half;

        for (end = begin; end < n && same_correct_config(&runs[end], &runs[begin]) &&
                          runs[end].s->N == runs[begin].s->N;)
            end++;
        half = (end - begin) / 2;
        for (size_t i = begin; i < begin + half; i++)
            if ((options->sigma_abs_s > options->sigma_rel * runs[i].s->time_s) == absolute &&
                rounding_s <= options->sigma_rel * runs[i].s->time_s)
                room[pairs++] = (runs[i + half].r - runs[i].r) / sqrt(2) / MEDIAN *
                                (absolute ? runs[i].s->time_s : 1);
    }
    hrun_sort(room, pairs);
    *t = hrun_fit_t_quantile(0.975, (double)(pairs - ASSUMED_PAIRS + ASSUMED_DOF));
    return room[pairs / 2];
}

/* Add the points of one configuration from its runs[n], in order of N and r. */
static void add_correct_config(struct hrun_corrections *c, const struct hrun_recalled *runs, size_t n)
{
    struct hrun_correct_config *v = &c->v[c->nall++];
    size_t end;

    v->config = runs[0].config;
    v->points = xcalloc(n, sizeof *v->points);
    v->runs = (int)n;
    v->mixed = runs[0].s->mixed;
    c->n += !runs[0].other;
    for (size_t begin = 0; begin < n; begin = end) {
        struct hrun_correct_point *p = &v->points[v->npoints++];
        double scatter = hypot(c->sigma_abs_s / runs[begin].s->time_s, c->sigma_rel);

        for (end = begin; end < n && runs[end].s->N == runs[begin].s->N;)
            end++;
        p->N = runs[begin].s->N;
        p->x = log((double)p->N);
        p->var = fmax(scatter * scatter, 1e-8);
        p->rounding = pow(c->rounding_s / runs[begin].s->time_s, 2);
        summarise_point(p, runs + begin, end - begin);
    }
}

/* ------------------------------------------------------------------ glitches */

static double density(double x, double var)
{
    return exp(-x * x / (2 * var)) / sqrt(2 * 3.14159265358979323846 * var);
}

/* Set the trust of point i by Bayes' theorem. Without glitches, each run scatters about r, and r is normal about the
 * value expected from neighbouring points. If the form of the model does not hold, which two runs must show, r is
 * uniform within WRONG_MAX. Returns the expected square of r beyond its own variance. */
static double set_trust(struct hrun_correct_config *v, size_t i, double prior)
{
    struct hrun_correct_point *p = &v->points[i];
    double one = p->var / p->agree + p->rounding, mean, var, usual, slowed = 0;

    mean = hrun_correct_condition(v->points, v->npoints, prior, p->x, i, &var);
    /* Both are divided by the density of the other runs about r: thousands of them would underflow. */
    usual = (1 - GLITCHES) * ((1 - WRONG) * density(p->own - mean, var + one) +
                              (p->agree > 1 && fabs(p->own) <= WRONG_MAX ? WRONG / (2 * WRONG_MAX) : 0));
    if (p->own > 0 && p->own <= GLITCH_MAX)
        slowed = GLITCHES / GLITCH_MAX *
                 pow(GLITCHES / GLITCH_MAX / ((1 - GLITCHES) * density(0, p->var)), p->agree - 1);
    p->trust = usual > 0 ? usual / (usual + slowed) : 0;
    return p->trust * fmax(p->own * p->own - one, 0);
}

static int residual_order(const void *a, const void *b)
{
    const struct hrun_residual *x = a, *y = b;
    int order = strcmp(x->date, y->date);

    order = order ? order : (x->N > y->N) - (x->N < y->N);
    order = order ? order : (x->config > y->config) - (x->config < y->config);
    return order ? order : (x->r > y->r) - (x->r < y->r);
}

static void add_residual_of(struct hrun_corrections *c, const struct hrun_recalled *run)
{
    const struct hrun_sample *s = run->s;
    struct hrun_residual *v = &c->runs[c->nruns++];

    *v = (struct hrun_residual) { .N = s->N, .config = c->n - 1, .sub = run->limiting, .mixed = s->mixed,
                                  .real = s->origin && !strcmp(s->origin, "run"), .r = run->r,
                                  .sigma = hypot(hypot(c->sigma_abs_s, c->rounding_s) / s->time_s, c->sigma_rel) };
    snprintf(v->date, sizeof v->date, "%s", s->date ? s->date : "");
}

/* Estimate the variance of r from the prior and from the squares of points beyond the scatter of runs, weighted by
 * trust. The trust in turn depends on the variance and on the common part (EM). */
static void learn_variance(struct hrun_corrections *c)
{
    enum { ROUNDS = 5 };   /* more would change the variance by less than 1 % */

    c->var[0] = c->var[1] = HRUN_CORRECT_SD * HRUN_CORRECT_SD;
    for (int i = 0; i < c->nall; i++)
        for (size_t k = 0; k < c->v[i].npoints; k++)
            c->v[i].points[k].trust = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double sum[2], weight[2] = { HRUN_CORRECT_WEIGHT, HRUN_CORRECT_WEIGHT };

        hrun_correct_common_learn(&c->common, c->v, c->nall, c->var[1]);
        sum[0] = sum[1] = HRUN_CORRECT_WEIGHT * HRUN_CORRECT_SD * HRUN_CORRECT_SD;
        for (int i = 0; i < c->nall; i++)
            for (size_t k = 0; k < c->v[i].npoints; k++) {
                int mixed = c->v[i].mixed;

                sum[mixed] += set_trust(&c->v[i], k, c->var[mixed]);
                weight[mixed] += c->v[i].points[k].trust;
            }
        for (int m = 0; m < 2; m++)
            c->var[m] = sum[m] / weight[m];
    }
    hrun_correct_common_learn(&c->common, c->v, c->nall, c->var[1]);
}

/* ------------------------------------------------------------------ corrections */

double hrun_corrections_common(const struct hrun_corrections *c, int64_t N)
{
    double var;

    return c ? exp(hrun_correct_common_at(&c->common, N, &var)) : 1;
}

/* List the logged runs that the models predict, with their residuals, in runs[*n], in the order of
 * correct_config_order. shares: as for hrun_recall. */
static int recall_residuals(const struct hrun_correction_source *from, struct hrun_netview *net, int dealt,
                            struct hrun_recalled *runs, double *shares, size_t *n, struct hrun_error *err)
{
    struct hrun_predictor_source source = { from->app, from->models, from->nsubs, from->form, 0, .net = net };
    double memory[HRUN_SUBS_MAX];
    size_t count, end;
    int ignores = 0;

    source.memory = memory;
    hrun_recall(from->app, from->subs, from->nsubs, runs, shares, &count);
    for (int i = 0; i < from->nsubs; i++) {
        memory[i] = from->subs[i].memory_bytes;
        ignores |= from->models[i] && from->models[i]->tasking.ignores;
    }
    for (size_t i = 0; i < count; i++) {
        runs[i].share = ignores ? NULL : runs[i].share;
        runs[i].other = runs[i].s->mixed && (runs[i].share != NULL) != dealt;
    }
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin; end < count && runs[end].s->N == runs[begin].s->N;)
            end++;
        source.N = runs[begin].s->N;
        if (find_residuals(&source, runs + begin, end - begin, err))
            return -1;
    }
    *n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(runs[i].r))
            runs[(*n)++] = runs[i];
    if (*n)
        qsort(runs, *n, sizeof *runs, correct_config_order);
    return 0;
}

/* Set the scatter of runs, and the least and largest size. Only the first `near` of runs[n], with shares near the
 * present ones, count for the scatter. */
static void set_run_scatter(struct hrun_corrections *c, const struct hrun_recalled *runs, size_t n, size_t near,
                            const struct hrun_fit_options *assumed)
{
    autofree double *time_s = xcalloc(n + 1, sizeof *time_s);

    c->nmin = n ? INFINITY : 0;
    for (size_t i = 0; i < n; i++) {
        time_s[i] = runs[i].s->time_s;
        c->nmin = fmin(c->nmin, log((double)runs[i].s->N));
        c->nmax = fmax(c->nmax, log((double)runs[i].s->N));
    }
    c->rounding_s = hrun_times_rounding(time_s, n);
    c->sigma_abs_s = fmin(assumed->sigma_abs_s,
                          scatter_of_repetitions(runs, near, assumed, c->rounding_s, 1, &c->t_abs));
    c->sigma_rel = fmax(assumed->sigma_rel,
                        scatter_of_repetitions(runs, near, assumed, c->rounding_s, 0, &c->t_rel));
}

int hrun_corrections_create(const struct hrun_correction_source *from, const struct hrun_fit_options *assumed,
                            struct hrun_corrections **out, struct hrun_error *err)
{
    int dealt = from->app->shares.units && from->sharing != HRUN_SHARES_EQUAL;
    autofree struct hrun_recalled *runs = NULL;
    autofree double *shares = NULL;
    struct hrun_corrections *c;
    size_t n = 0, near = 0, end;

    for (int i = 0; i < from->nsubs; i++)
        n += from->subs[i].n;
    runs = xcalloc(n + 1, sizeof *runs);
    shares = xcalloc((n + 1) * (size_t)from->nsubs, sizeof *shares);
    if (recall_residuals(from, assumed->net, dealt, runs, shares, &n, err))
        return -1;
    c = xcalloc(1, sizeof *c);
    while (near < n && !runs[near].other)
        near++;
    set_run_scatter(c, runs, n, near, assumed);
    c->v = xcalloc(n + 1, sizeof *c->v);
    c->runs = xcalloc(n + 1, sizeof *c->runs);
    for (size_t begin = 0; begin < n; begin = end) {
        for (end = begin; end < n && same_correct_config(&runs[end], &runs[begin]);)
            end++;
        add_correct_config(c, runs + begin, end - begin);
        for (size_t i = begin; i < end && i < near; i++)
            add_residual_of(c, &runs[i]);
    }
    if (c->nruns)
        qsort(c->runs, c->nruns, sizeof *c->runs, residual_order);
    hrun_correct_common_find(&c->common, c->v, hrun_family_of(from->app)->has_common ? c->nall : 0);
    learn_variance(c);
    *out = c;
    return 0;
}

void hrun_corrections_destroy(struct hrun_corrections *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->nall; i++)
        free(c->v[i].points);
    free(c->v);
    free(c->common.points);
    free(c->runs);
    free(c);
}

int hrun_corrections_sizes(const struct hrun_corrections *c, int64_t *sizes)
{
    for (size_t i = 0; c && i < c->nruns; i++) {
        sizes[0] = i && sizes[0] < c->runs[i].N ? sizes[0] : c->runs[i].N;
        sizes[1] = i && sizes[1] > c->runs[i].N ? sizes[1] : c->runs[i].N;
    }
    return c && c->nruns;
}

size_t hrun_corrections_runs(const struct hrun_corrections *c, const struct hrun_residual **v)
{
    *v = c->runs;
    return c->nruns;
}

int hrun_corrections_count(const struct hrun_corrections *c)
{
    return c ? c->n : 0;
}

int hrun_corrections_find(const struct hrun_corrections *c, const struct hrun_config *config)
{
    for (int i = 0; i < hrun_corrections_count(c); i++)
        if (hrun_config_equal(&c->v[i].config, config))
            return i;
    return -1;
}

double hrun_corrections_sd(const struct hrun_corrections *c)
{
    return sqrt(c->var[1]);
}

static int is_on_several_subs(const struct hrun_config *config)
{
    int used = 0;

    for (int i = 0; i < config->nsubs; i++)
        used += config->pes[i] > 0;
    return used > 1;
}

void hrun_correction_at(const struct hrun_corrections *c, int i, int64_t N, struct hrun_correction *out)
{
    const struct hrun_correct_config *v = &c->v[i];
    double mean, var, any;

    *out = (struct hrun_correction){ 0 };
    mean = hrun_correct_condition(v->points, v->npoints, c->var[v->mixed], log((double)N), v->npoints, &var);
    if (!v->mixed && hrun_config_all_pes(&v->config) > 1)
        mean -= hrun_correct_common_at(&c->common, N, &any);      /* predictions contain the common part */
    for (size_t k = 0; k < v->npoints; k++)
        out->runs += v->points[k].N == N ? v->points[k].runs : 0;
    out->factor = exp(mean);
    out->sd = sqrt(var);
    out->others = v->runs - out->runs;
}

/* Standard deviation of ln(time) given the runs. Without runs it is the larger of `prior` and that of the models'
 * interval, whose half width `side` includes noise. The runs add the information that reduced `prior` to sd. */
static double sd_after_runs(double side, double noise, double prior, double sd)
{
    double own = sqrt(fmax(pow(side / NORMAL_95, 2) - noise * noise, prior * prior));

    return 1 / sqrt(1 / (own * own) + fmax(1 / (sd * sd) - 1 / (prior * prior), 0));
}

int hrun_corrections_tell(const struct hrun_corrections *c, const struct hrun_config *config, int64_t N,
                          struct hrun_interval *time, struct hrun_correction *at)
{
    struct hrun_correction own = { .factor = 1 };
    double down, up, prior, noise, t, beyond, run, abs_s, common, mean;
    int i = hrun_corrections_find(c, config), several = is_on_several_subs(config);

    if (!c)
        return 0;
    prior = own.sd = sqrt(c->var[several]);
    if (i >= 0)
        hrun_correction_at(c, i, N, &own);
    mean = hrun_correct_common_at(&c->common, N, &common);
    /* Only runs on one sub-cluster show whether the common part applies there. */
    common = several ? common : i < 0 && hrun_config_all_pes(config) > 1 ? mean * mean : 0;
    prior = hypot(prior, sqrt(common));
    own.sd = hypot(own.sd, sqrt(common));
    abs_s = hypot(c->sigma_abs_s, c->rounding_s);
    noise = hypot(c->sigma_rel, abs_s / time->mid);
    beyond = c->nruns ? fmax(fmax(log((double)N) - c->nmax, c->nmin - log((double)N)), 0) : 0;
    run = hypot(hypot(c->t_rel / NORMAL_95 * c->sigma_rel, DAY_SD), BEYOND_SD * beyond);
    down = sd_after_runs(log(time->mid / time->low), noise, prior, own.sd);
    up = sd_after_runs(log(time->high / time->mid), noise, prior, own.sd);
    t = time->mid *= own.factor;
    /* The absolute scatter of a run is added, not multiplied. */
    time->low = fmax(t - hypot(t * -expm1(-NORMAL_95 * hypot(down, run)), c->t_abs * abs_s), 0);
    time->high = t + hypot(t * expm1(NORMAL_95 * hypot(up, run)), c->t_abs * abs_s);
    if (i >= 0 && at)
        *at = own;
    return i >= 0;
}

void hrun_corrections_known(const struct hrun_corrections *c, int64_t N, struct hrun_known *known,
                            struct hrun_correction *details)
{
    for (int i = 0; i < hrun_corrections_count(c); i++) {
        struct hrun_correction at;

        hrun_correction_at(c, i, N, &at);
        known[i] = (struct hrun_known){ c->v[i].config, at.factor, hrun_correction_doubt(c, &at), 0 };
        if (details)
            details[i] = at;
    }
}

double hrun_correction_doubt(const struct hrun_corrections *c, const struct hrun_correction *at)
{
    return exp(at->sd - hrun_corrections_sd(c));
}
