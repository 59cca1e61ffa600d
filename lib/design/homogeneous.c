/* homogeneous.c - runs of one sub-cluster: A-optimal ones, doubtful ones again; see internal.h */
#include "design/internal.h"

#include "fit/optimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The best predicted configurations at each size on whose times a decision rests. */
enum { TARGETS = 8 };
/* A stage is a handful of runs, so that what they tell is heard soon; one where runs are long. */
enum { BATCH = 6 };
/* A homogeneous run must lower the variances of the decisions' times by this part of what the models miss anyway. */
static const double WORTH = 0.01;
/* Of single runs this far from the fit, in standard deviations of one run, one in 15,000 is undisturbed. */
static const double DOUBTFUL = 4;
/* Made again so often at most, while no two runs agree: of 20 runs one is disturbed, of 8,000 three in a row. */
enum { REPEATS = 3 };

/* A run that nothing would contradict is made twice when it takes at most this part of the budget: one in twenty is
 * disturbed, and what a model is led astray by at a small size it never recovers from. */
static const double CHEAP = 5e-4;
/* Of two runs one is disturbed in a tenth of cases, and what is left is one that nothing confirms: so much rarer, a
 * third may take so much longer. */
static const double TORN = 10;

/* ------------------------------------------------------------------ doubtful runs */

/* Is it of a model that has no more points than terms? Then it may follow each of them, also a disturbed one. */
static int uncontradicted(const struct hrun_design *d, const struct design_group *g)
{
    int several = g->config[g->sub] > 1, M = g->config[d->nsubs + g->sub], points = 0;

    for (int i = 0; i < d->ngroups; i++) {
        const struct design_group *h = &d->groups[i];

        points += h->sub == g->sub && h->kept && h->config[d->nsubs + h->sub] == M &&
                  (h->config[h->sub] > 1) == several;
    }
    return points <= (several ? d->app->np.n : d->app->nt.n);
}

/* May it be made again because nothing, or none of its other runs, confirms it? */
static int unconfirmed(const struct hrun_design *d, const struct design_group *g)
{
    double most = CHEAP * d->set.budget_s, cost = design_cost(d, g->config, g->P, g->N, g->least);

    return d->set.budget_s > 0 && ((g->n > 1 && cost <= TORN * most) || (cost <= most && uncontradicted(d, g)));
}

int design_repeats(struct hrun_design *d, struct hrun_error *err)
{
    int known = 0;              /* whether times scatter: some configuration was run twice */

    for (int i = 0; i < d->ngroups; i++)
        known |= d->groups[i].n > 1;
    /* As long as it is not known one run is made again alone, which may save the others. */
    for (int i = 0; i < d->ngroups && !d->exact && (known || d->next == d->nqueue); i++) {
        const struct design_group *g = &d->groups[i];
        double sd;

        if (g->sub < 0 || g->kept != 1 || g->n > REPEATS || g->failed || !isfinite(g->model))
            continue;
        sd = hypot(design_noise(d, g->least), d->training);
        if ((fabs(g->log_t - g->model) > DOUBTFUL * sd || unconfirmed(d, g)) &&
            design_queue(d, g->config, g->N, HRUN_DESIGN_REPEAT, 0,
                         design_cost(d, g->config, g->P, g->N, g->least), err))
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------ A-optimal runs */

/* What is known of one model: `single` (several = 0) or npt of a sub-cluster and M. */
struct study {
    int sub, m, several;
    const struct hrun_terms *terms;
    struct hrun_optimal *known;
    double *targets;            /* ntargets by terms->n, relative to the time of the configuration */
    size_t ntargets;
};

static int values(const struct study *s, int64_t N, int P, double factor, double *x)
{
    double v[2] = { (double)N, P };

    for (int j = 0; j < s->terms->n; j++) {
        if (hrun_expr_eval(s->terms->v[j].expr, v, &x[j], NULL))
            return -1;
        x[j] *= factor;
        if (!isfinite(x[j]))
            return -1;
    }
    return 0;
}

/* Does a configuration at P belong to this model? */
static int concerns(const struct hrun_design *d, const struct study *s, const int *config, int P)
{
    return config[s->sub] && config[d->nsubs + s->sub] == s->m && (P > s->m) == s->several;
}

static double row_weight(const struct hrun_design *d, double t)
{
    return 1 / (t * design_noise(d, t));
}

/* Coefficients are not negative, so none explains more than the whole of any measured time: the least of T over the
 * term's value bounds it, and serves as its standard deviation before any measurement. */
static int prior(const struct hrun_design *d, const struct study *s, double *sd, double *x)
{
    int rows = 0;

    for (int j = 0; j < s->terms->n; j++)
        sd[j] = INFINITY;
    for (int i = 0; i < d->ngroups; i++) {
        const struct design_group *g = &d->groups[i];

        if (!g->kept || g->limiting != s->sub || !g->config[s->sub] || g->config[d->nsubs + s->sub] != s->m ||
            values(s, g->N, g->P, 1, x))
            continue;
        rows++;
        for (int j = 0; j < s->terms->n; j++)
            if (x[j] > 0)
                sd[j] = fmin(sd[j], exp(g->log_t) / x[j]);
    }
    for (int j = 0; j < s->terms->n; j++)
        if (!isfinite(sd[j]) || sd[j] <= 0)
            sd[j] = 1e-300;     /* a term that is never positive is of no use to non-negative coefficients */
    return rows;
}

static int add_targets(const struct hrun_design *d, struct study *s, struct hrun_error *err)
{
    size_t p = (size_t)s->terms->n;

    s->targets = calloc((size_t)d->nsizes * TARGETS * p + 1, sizeof *s->targets);
    if (!s->targets)
        return hrun_fail_nomem(err);
    for (int i = 0; i < d->nsizes; i++) {
        const struct design_size *z = &d->sizes[i];

        for (int j = 0; j < z->n && j < TARGETS; j++)
            if (concerns(d, s, z->v[j].config, z->v[j].P) &&
                !values(s, z->N, z->v[j].P, 1 / z->v[j].model_s, s->targets + s->ntargets * p))
                s->ntargets++;
    }
    return 0;
}

/* Everything known of one model. s->known stays NULL when nothing was measured or nothing depends on it. */
static int study(const struct hrun_design *d, struct study *s, struct hrun_error *err)
{
    size_t p = (size_t)s->terms->n;
    double *sd = calloc(2 * p + 1, sizeof *sd), *x = sd + p;
    int rc = sd ? 0 : hrun_fail_nomem(err);

    rc = rc || !p ? rc : add_targets(d, s, err);
    if (rc || !s->ntargets || !prior(d, s, sd, x))
        goto done;
    s->known = hrun_optimal_create(p, sd, err);
    rc = s->known ? 0 : -1;
    for (int i = 0; i < d->ngroups && !rc; i++) {
        const struct design_group *g = &d->groups[i];
        double t = exp(g->log_t);

        if (g->kept && g->limiting == s->sub && concerns(d, s, g->config, g->P) &&
            !values(s, g->N, g->P, row_weight(d, t) * sqrt(g->kept), x))
            rc = hrun_optimal_add(s->known, x, err);
    }
done:
    free(sd);
    return rc;
}

/* A point that may be run, and the model that it tells of. */
struct offer {
    const struct design_point *point;
    struct study *study;
    double model_s, cost, gain;
    double *x;
};

/* The models at the N of the last point of a size: most of its points have one N, if the rule moves none. */
struct at_size {
    int64_t N;
    struct hrun_predictor *models;
};

/* The predicted time of a point into *out, 0 when there is no model. */
static int predict(const struct hrun_design *d, const struct design_point *p, struct at_size *sizes, double *out,
                   struct hrun_error *err)
{
    struct at_size *s = &sizes[p->size];
    double t, low, high;

    if (s->N != p->N) {
        hrun_predictor_destroy(s->models);
        s->models = design_predictor(d, p->N, err);
        s->N = p->N;
        if (!s->models && err->code)
            return -1;
    }
    *out = s->models && !hrun_predictor_time(s->models, p->sub, p->m, p->P, &t, &low, &high, NULL) ? t : 0;
    return 0;
}

static int make_offers(struct hrun_design *d, struct study *studies, int nstudies, struct offer *offers, int *noffers,
                       struct hrun_error *err)
{
    int *config = calloc(2 * (size_t)d->nsubs, sizeof *config), failed;
    struct at_size *sizes = calloc((size_t)d->nsizes, sizeof *sizes);
    int rc = config && sizes ? 0 : hrun_fail_nomem(err);

    *noffers = 0;
    for (int i = 0; i < d->npoints && !rc; i++) {
        const struct design_point *p = &d->points[i];
        struct offer o = { .point = p };

        for (int k = 0; k < nstudies; k++)
            if (studies[k].sub == p->sub && studies[k].m == p->m && studies[k].several == (p->pes > 1))
                o.study = &studies[k];
        if (!o.study || !o.study->known)
            continue;
        design_point_config(d, p, config);
        if (design_count(d, config, p->N, &failed) || failed)
            continue;
        rc = predict(d, p, sizes, &o.model_s, err);
        if (rc || o.model_s <= 0)
            continue;
        o.cost = design_cost(d, config, p->P, p->N, o.model_s);
        o.x = calloc((size_t)o.study->terms->n, sizeof *o.x);
        if (!o.x) {
            rc = hrun_fail_nomem(err);
        } else if (values(o.study, p->N, p->P, row_weight(d, o.model_s), o.x)) {
            free(o.x);
        } else {
            offers[(*noffers)++] = o;
        }
    }
    for (int i = 0; sizes && i < d->nsizes; i++)
        hrun_predictor_destroy(sizes[i].models);
    free(sizes);
    free(config);
    return rc;
}

/* Take the best offers per second until the stage is full. */
static int take_offers(struct hrun_design *d, struct offer *offers, int n, size_t ntargets, double limit_s,
                       struct hrun_error *err)
{
    double *gain = calloc(2 * (size_t)n + 1, sizeof *gain), *cost = gain + n, spent = 0;
    double least = WORTH * d->misfit * d->misfit * (double)ntargets;
    int *config = calloc(2 * (size_t)d->nsubs, sizeof *config);
    int rc = gain && config ? 0 : hrun_fail_nomem(err);

    for (int taken = 0; taken < BATCH && !rc; taken++) {
        size_t best;

        for (int i = 0; i < n; i++) {
            struct offer *o = &offers[i];

            gain[i] = o->point && (!taken || spent + o->cost <= limit_s)
                ? hrun_optimal_gain_a(o->study->known, o->x, o->study->targets, o->study->ntargets) : 0;
            gain[i] = gain[i] < least ? 0 : gain[i];
            cost[i] = fmax(o->cost, 1e-9);
        }
        best = hrun_optimal_best(gain, cost, (size_t)n);
        if (best == (size_t)n)
            break;
        design_point_config(d, offers[best].point, config);
        rc = hrun_optimal_add(offers[best].study->known, offers[best].x, err);
        if (!rc)
            rc = design_queue(d, config, offers[best].point->N, HRUN_DESIGN_MODEL, 0, offers[best].cost, err);
        spent += offers[best].cost;
        offers[best].point = NULL;
    }
    free(config);
    free(gain);
    return rc;
}

int design_model_runs(struct hrun_design *d, double limit_s, struct hrun_error *err)
{
    int nstudies = 0, noffers = 0, rc = -1;
    struct study *studies = calloc(2 * (size_t)d->nsubs * (size_t)d->nprocs, sizeof *studies);
    struct offer *offers = calloc((size_t)d->npoints, sizeof *offers);
    size_t ntargets = 0;

    if (!studies || !offers) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (int i = 0; i < 2 * d->nsubs * d->nprocs; i++) {
        struct study *s = &studies[nstudies++];

        *s = (struct study){ .sub = i / 2 / d->nprocs, .m = d->procs[i / 2 % d->nprocs], .several = i % 2 };
        s->terms = s->several ? &d->app->np : &d->app->nt;
        if (study(d, s, err))
            goto done;
        ntargets += s->ntargets;
    }
    if (make_offers(d, studies, nstudies, offers, &noffers, err))
        goto done;
    rc = take_offers(d, offers, noffers, ntargets, limit_s, err);
done:
    for (int i = 0; i < noffers; i++)
        free(offers[i].x);
    for (int i = 0; i < nstudies; i++) {
        hrun_optimal_destroy(studies[i].known);
        free(studies[i].targets);
    }
    free(offers);
    free(studies);
    return rc;
}
