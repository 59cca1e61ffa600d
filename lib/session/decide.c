/* decide.c - choose the configuration to run; see decide.h */
#include "session/decide.h"

#include "base/alloc.h"
#include "base/units.h"
#include "session/decide_by_runs.h"
#include "session/decide_trial.h"
#include "session/decide_unmodelled.h"
#include "session/goals.h"
#include "session/nearest.h"
#include "session/prediction.h"
#include "session/preparation.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Default of --top: the choice and two alternatives. */
enum { TOP_DEFAULT = 3 };

/* Arguments of the steps of one decision. */
struct deciding {
    struct context *c;
    const struct question *q;
    const struct at_size *at;           /* models and corrections at this size; NULL: no models */
    const struct corrected *known;      /* corrections in `at` for d->shares.how */
    struct hrun_plan_sub *subs;
    struct goals goals;
    struct hrun_plan_problem problem;   /* set if there are models */
    struct decision *d;
};

static int slowest_of_choice(void *ctx, const struct hrun_choice *v, double *high_s, struct hrun_error *err)
{
    struct deciding *w = ctx;

    w->d->config = v->config;
    w->d->P = v->P;
    (void)err;
    predicted_fill(w->d, w->at, &w->problem);
    *high_s = w->d->predicted.known ? fmax(w->d->predicted.time.high, v->time_s) : v->time_s;
    return 0;
}

/* Set d->failed to the configurations that are excluded because they failed. */
static void copy_failed_configs(const struct corrected *k, struct decision *d)
{
    struct hrun_buf list = HRUN_BUF_INIT;

    if (!k->failed.n)
        return;
    for (size_t i = 0; i < k->failed.n; i++)
        hrun_buf_addf(&list, "%s%s", i ? " " : "", k->failed.v[i]);
    d->failed.n = (int)k->failed.n;
    d->failed.configs = hrun_buf_detach(&list);
    d->failed.why = xstrdup(k->why);
}

static int decide_by_model(struct deciding *w, struct hrun_error *err)
{
    const struct hrun_plan_problem *problem = &w->problem;
    const struct corrected *k = w->known;
    const struct question *q = w->q;
    struct context *c = w->c;
    struct decision *d = w->d;
    int top = q->top ? (int)q->top : TOP_DEFAULT;
    struct hrun_error why = { 0 };
    int quickest;

    d->by = BY_MODEL;
    copy_failed_configs(k, d);
    if (hrun_plan_search_known(problem, k->known, k->n, top, &d->plan, &why)) {
        /* No configuration describes -n 3 on two PEs. If the rule accepts 3, decide as without a profile. */
        if (why.code == HRUN_EINFEASIBLE && problem->P && !problem->limits)
            return decide_by_count(c, problem->P, d, err);
        if (why.code == HRUN_EINFEASIBLE && c->app->fixed && !problem->P && !problem->limits &&
            (quickest = learn_quickest(c, d, err)) <= 0)
            return quickest;
        if (err)
            *err = why;
        if (why.code == HRUN_EINFEASIBLE) {
            if (q->max_loss)
                hrun_fail_prefix(err, "of %s, the fewest that keep --limit loss",
                                 hrun_counted(problem->P, "process").s);
            hrun_fail_prefix(err, "%s at N = %lld", c->app->name, (long long)d->N);
            if (problem->limits)
                return -1;
            nearest_sizes(c, problem, d->N, err);
        }
        return -1;
    }
    if (q->explore > 0 && choose_trial(problem, k, q->explore, d, err))
        return -1;
    if (d->explores.on)
        return 0;
    d->config = d->plan->v[0].config;
    d->P = d->plan->v[0].P;
    d->has_config = 1;
    return 0;
}

/* ------------------------------------------------------------------ */

static void allocate_decision(struct decision *d, const struct hrun_cluster *cl)
{
    size_t n = (size_t)cl->nsubs;

    memset(d, 0, sizeof *d);
    d->nsubs = cl->nsubs;
    d->basis.newest_s = d->basis.network_age_s = -1;
    d->predicted.cost = d->predicted.energy_j = NAN;
    d->basis.beyond_n.factor = d->basis.beyond_p.factor = d->basis.factor = 1;
    d->subs = xcalloc(n, sizeof *d->subs);
    d->config.nsubs = d->plain.config.nsubs = cl->nsubs;
    d->predicted.sub_time_s = xcalloc(n, sizeof *d->predicted.sub_time_s);
    d->basis.drift = xcalloc(n, sizeof *d->basis.drift);
    for (int i = 0; i < cl->nsubs; i++)
        d->subs[i].npes = cl->subs[i].npes;
}

/* Copy models, reasons and ages from the profiles to d. Fails if a profile that the decision needs cannot be read. */
static int copy_profiles(const struct context *c, const struct question *q, const struct profiles *p,
                         struct decision *d, struct hrun_error *err)
{
    int needed = !q->config && !q->procs && !q->mapped && !c->set->force;

    for (int i = 0; i < p->nsubs; i++) {
        const struct sub_profile *s = &p->subs[i];

        if (needed && s->unreadable)
            return hrun_fail(err, s->unreadable,
                             "the profile of %s on %s cannot be read: %s; to run as without a profile: --force",
                             c->app->name, c->cluster->subs[i].name, s->why_not);
        d->subs[i].models = s->models;
        d->subs[i].why_not = s->why_not;
        d->subs[i].needs_network = s->needs_network;
        d->subs[i].other_engine = s->other_engine;
    }
    if (!p->nsubs)
        return 0;
    d->basis.method = p->method;
    d->basis.formula = hrun_family_of(c->app)->by_formula;
    d->basis.nsamples = p->nsamples;
    d->basis.newest_s = p->newest_s;
    d->basis.network_age_s = p->network_s;
    d->basis.network_note = p->network_note;
    d->basis.measured_with = p->measured_with;
    return 0;
}

/* Check that the PEs have room for the processes of -n. */
static int check_procs(const struct context *c, const struct question *q, const struct decision *d,
                       struct hrun_error *err)
{
    if (!q->procs || q->mapped)
        return 0;
    if (q->config)
        return hrun_fail(err, HRUN_EINVAL, "-n and --config contradict each other: a configuration says how many "
                         "processes there are; give one of them");
    if (q->procs <= decide_capacity(c, d) || q->oversubscribe)
        return 0;
    return hrun_fail(err, HRUN_EINVAL, "-n %lld: %s holds at most %s (%s); give fewer, or --oversubscribe "
                     "(HRUN_OVERSUBSCRIBE=1: always)", (long long)q->procs,
                     c->cluster->allocation ? c->cluster->allocation : "the cluster",
                     hrun_counted(decide_capacity(c, d), "process").s,
                     c->app && c->app->suits_pes ? "one per core"
                     : c->app ? "PEs times the most processes per PE of the app definition"
                     : c->cluster->subs[0].level == HRUN_LEVEL_NODE
                     ? "one per PE; a PE is a node here, and --level core makes it a core" : "one per PE");
}

/* Read the goals. Limits, and goals other than the shortest time, need predictions. */
static int read_goals(struct deciding *w, struct hrun_error *err)
{
    if (goals_read(w->q, w->c->cluster, w->subs, &w->goals, err))
        return -1;
    if ((!w->goals.any && !w->q->max_loss) || w->at)
        return 0;
    return hrun_fail(err, HRUN_ENODATA, "--objective and --limit need predictions, and there are none: %s",
                     !w->c->app ? "no app definition (-app NAME)" : !w->d->N ? "no size (-N SIZE)"
                     : "no profile; hrun-calibrate makes one");
}

/* For --limit loss: set the number of processes of the problem. */
static int fewest_within_loss(struct deciding *w, struct hrun_error *err)
{
    const struct question *q = w->q;
    struct decision *d = w->d;
    struct hrun_predictor *p = w->at->predictors[d->shares.how];
    struct hrun_fewest fewest;
    int npes[HRUN_SUBS_MAX];

    if (!hrun_predictor_has_balance(p))
        return hrun_fail(err, HRUN_EINVAL, "--limit loss is for applications of family ring (hrun-app(5)), whose times "
                         "tell what imbalance loses");
    if (q->procs || q->config)
        return hrun_fail(err, HRUN_EINVAL, "--limit loss and %s contradict each other: it says how many processes "
                         "are; give one of them", q->procs ? "-n" : "--config");
    d->goal.max_loss = q->max_loss;
    for (int i = 0; i < d->nsubs; i++)
        npes[i] = d->subs[i].npes;
    if (hrun_predictor_fewest(p, npes, d->goal.max_loss, &fewest, err))
        return -1;
    w->problem.P = fewest.q;
    return 0;
}

/* Choose the configuration: the user's, else the model's, else as without a profile. */
static int choose_config(struct deciding *w, struct hrun_error *err)
{
    const struct question *q = w->q;

    if (q->mapped)
        return decide_by_layout(w->c, q, w->d, err);
    if (q->config)
        return decide_by_config(w->c, q, w->d, err);
    if (w->at && w->problem.P <= decide_capacity(w->c, w->d))
        return decide_by_model(w, err);
    return q->procs ? decide_by_count(w->c, (int)q->procs, w->d, err) : decide_by_default(w->c, w->d, w->subs, err);
}

/* Decide with models and with shares as in d->shares.how. */
static int decide_shared(struct deciding *w, struct hrun_error *err)
{
    struct decision *d = w->d;
    struct hrun_predictor *p = w->at->predictors[d->shares.how];
    const struct hrun_residual *runs;
    size_t nruns;

    w->known = predicted_corrections(d, w->at);
    w->problem = (struct hrun_plan_problem){
        .oracle = hrun_predictor_oracle(p), .subs = w->subs, .objective = w->goals.objective,
        .P = (int)w->q->procs, .limits = w->goals.any ? &w->goals.limits : NULL,
    };
    d->basis.network = hrun_predictor_has_network(p);
    nruns = hrun_corrections_runs(w->known->all, &runs);
    hrun_drift_find(runs, nruns, d->nsubs, d->basis.drift);
    if ((w->q->max_loss && fewest_within_loss(w, err)) ||
        goals_limit_time(&w->goals, &w->problem, w->known, slowest_of_choice, w, err))
        return hrun_fail_prefix(err, "%s at N = %lld", w->c->app->name, (long long)d->N);
    if (choose_config(w, err))
        return -1;
    if (!d->has_config)
        return 0;
    w->problem.P = (int)w->q->procs;    /* --limit loss does not restrict mpirun's start */
    predicted_fill(d, w->at, &w->problem);
    goals_fill(&w->goals, &w->problem, w->known, w->q->table, d);
    return 0;
}

/* Set d->shares.equal to the best configuration with equal shares. Result: 1 if its value, raised by its uncertainty,
 * is below that of d->plan's best, raised in the same way, else 0; -1 with *err. */
static int find_equal(const struct deciding *w, struct hrun_error *err)
{
    const struct at_size *at = w->at;
    struct hrun_plan_problem problem = w->problem;
    struct decision *d = w->d;
    struct hrun_error why = { 0 };
    struct hrun_plan *plan = NULL;
    int better = 0;

    problem.oracle = hrun_predictor_oracle(at->predictors[HRUN_SHARES_EQUAL]);
    if (!hrun_plan_search_known(&problem, at->known.known, at->known.n, 1, &plan, &why)) {
        const struct hrun_choice *v = &plan->v[0], *own = &d->plan->v[0];

        d->shares.equal = *v;
        better = v->value * predicted_doubt(&at->known, &v->config) <
                 own->value * predicted_doubt(&at->dealt, &own->config);
        hrun_plan_destroy(plan);
    } else if (why.code != HRUN_EINFEASIBLE) {
        if (err)
            *err = why;
        return -1;
    }
    return better;
}

static void forget_choice(struct decision *d)
{
    hrun_plan_destroy(d->plan);
    hrun_plan_destroy(d->goal.pareto);
    free(d->failed.configs);
    free(d->failed.why);
    d->plan = d->goal.pareto = NULL;
    d->failed.configs = d->failed.why = NULL;
    d->failed.n = 0;
    d->explores = (struct exploring){ 0 };
    d->basis.factor = 1;
    d->basis.runs_here = d->basis.runs_elsewhere = 0;
}

/* Choose the configuration last prepared in the working folder if preparing the best takes longer than it saves. */
static void prefer_prepared(struct deciding *w)
{
    struct hrun_plan_problem problem = { .subs = w->subs };
    const struct at_size *at = w->at;
    struct context *c = w->c;
    struct decision *d = w->d;
    double share[HRUN_SUBS_MAX] = { 0 }, part[HRUN_SUBS_MAX], took_s, old_s;
    int dealt = 0, same;
    struct hrun_config last;
    const struct hrun_correction *r;
    enum hrun_sharing sharing;
    struct hrun_predictor *p;
    struct hrun_choice valid;
    int64_t units = 1, least;

    if (!preparation_last(c, d->N, &last, share, &took_s) ||
        (c->app->shares.units && hrun_app_units(c->app, d->N, &units, &least, NULL)))
        return;
    same = hrun_config_equal(&last, &d->config);
    for (int i = 0; i < d->nsubs; i++) {
        dealt |= share[i] > 0;
        same &= share[i] == (d->shares.each ? d->shares.each[i] : 0);
        part[i] = share[i] / (double)units;
    }
    sharing = dealt ? HRUN_SHARES_BEST : HRUN_SHARES_EQUAL;
    if (same || (dealt && !d->shares.could_deal))
        return;
    p = at->predictors[sharing];
    problem.oracle = hrun_predictor_oracle(p);
    if (hrun_plan_evaluate(&problem, &last, 1, &valid, NULL) ||
        hrun_predictor_time_shared(p, &last, dealt ? part : NULL, &old_s, NULL))
        return;
    r = corrected_find(dealt ? &at->dealt : &at->known, &last);
    old_s *= r ? r->factor : 1;
    d->kept.prepare_s = took_s;
    if (old_s > d->predicted.time.mid + took_s)
        return;
    d->kept.on = 1;
    d->kept.best_s = d->predicted.time.mid;
    d->shares.how = sharing;
    d->P = valid.P;
    d->config = last;
    predicted_fill(d, at, &problem);
    for (int i = 0; i < d->nsubs && d->shares.each && dealt; i++) {
        d->shares.each[i] = share[i];
        d->predicted.sub_time_s[i] *= old_s / d->predicted.time.mid;
    }
    d->predicted.time.low *= old_s / d->predicted.time.mid;
    d->predicted.time.high *= old_s / d->predicted.time.mid;
    d->predicted.time.mid = old_s;
}

/* Decide with models: with unequal shares if the models can predict these and they are better, else with equal ones. */
static int decide_dealt(struct deciding *w, struct hrun_error *err)
{
    const struct question *q = w->q;
    struct decision *d = w->d;
    int rc, used = 0;

    d->shares.could_deal = w->at->predictors[HRUN_SHARES_BEST] != NULL;
    if (d->shares.could_deal)
        d->shares.how = !q->shares || !strcmp(q->shares, "best") ? HRUN_SHARES_BEST
                   : !strcmp(q->shares, "equal") ? HRUN_SHARES_EQUAL : HRUN_SHARES_PROPORTIONAL;
    if (decide_shared(w, err))
        return -1;
    if (d->shares.how == HRUN_SHARES_EQUAL || d->by != BY_MODEL || !d->plan)
        return 0;
    for (int i = 0; i < d->nsubs; i++)
        used += d->config.pes[i] > 0;
    if (used > 1) {             /* on one sub-cluster all shares are equal */
        rc = find_equal(w, err);
        if (rc <= 0 || q->shares)
            return rc < 0 ? -1 : 0;
        d->shares.unequal_s = d->predicted.time.mid;
    }
    d->shares.how = HRUN_SHARES_EQUAL;
    forget_choice(d);
    return decide_shared(w, err);
}

static int decide_by_profile(struct deciding *w, struct hrun_error *err)
{
    const struct question *q = w->q;

    if (decide_dealt(w, err))
        return -1;
    if (!w->c->app->run.nprepare || q->anew || w->d->by != BY_MODEL || !w->d->predicted.known || w->d->explores.on ||
        w->goals.any || q->procs || q->shares || w->c->set->force)
        return 0;
    prefer_prepared(w);
    return 0;
}

/* Check that the definition and the models allow the unequal shares of --shares. */
static int check_shares_wish(const struct context *c, const struct question *q, const struct at_size *at,
                             struct hrun_error *err)
{
    const char *name = c->app ? c->app->name : "the program";

    if (!q->shares || !strcmp(q->shares, "equal"))
        return 0;
    if (!c->app || !c->app->shares.units)
        return hrun_fail(err, HRUN_EINVAL, "--shares %s does nothing: %s has no definition with `shares` (hrun-app(5))",
                         q->shares, name);
    return at ? 0 : hrun_fail(err, HRUN_ENODATA, "--shares %s needs a profile of %s and its size: without, shares are "
                              "equal", q->shares, name);
}

static int decide_at_size(struct deciding *w, const struct profiles *p, struct hrun_error *err)
{
    const struct hrun_subcluster *subs = w->c->cluster->subs;
    const struct question *q = w->q;
    struct decision *d = w->d;

    if ((q->explore > 0 && check_explore_options(q, err)) || check_shares_wish(w->c, q, w->at, err) ||
        check_procs(w->c, q, d, err) || copy_profiles(w->c, q, p, d, err))
        return -1;
    for (int i = 0; i < d->nsubs; i++)
        w->subs[i] = (struct hrun_plan_sub){ d->subs[i].npes, (double)subs[i].memory_bytes, subs[i].cost_per_hour,
                                             subs[i].power_w };
    if (read_goals(w, err))
        return -1;
    if (!q->mapped && !q->config && !q->procs && decide_check_units(w->c, d, 1, "; choose a larger size", err))
        return -1;
    if (w->at ? decide_by_profile(w, err) : choose_config(w, err))
        return -1;
    return q->config && !q->mapped ? decide_check_memory(w->c, d, err) : 0;
}

/* Subtract the PEs that other runs use from npes[nsubs]. */
static int exclude_busy_pes(const struct context *c, int *npes, struct hrun_error *err)
{
    int left = 0;

    for (int i = 0; i < c->cluster->nsubs; i++) {
        int nfree = 0;

        for (int p = 0; p < c->cluster->subs[i].npes; p++)
            nfree += !c->busy || !c->busy[i][p];
        npes[i] = nfree < npes[i] ? nfree : npes[i];
        left += npes[i];
    }
    return left ? 0 : hrun_fail(err, HRUN_EBUSY, "all PEs are in use");
}

/* Decide for size N. If p has models and the caller did not set w->at, make w->at. */
static int decide_with(struct deciding *w, const struct profiles *p, int64_t N, struct hrun_error *err)
{
    struct hrun_plan_sub subs[HRUN_SUBS_MAX];
    autorelease(at_size_release) struct at_size own = { 0 };
    struct context *c = w->c;
    struct decision *d = w->d;
    int rc, npes[HRUN_SUBS_MAX];

    w->subs = subs;
    allocate_decision(d, c->cluster);
    d->N = N;
    d->basis.method = HRUN_METHOD_NNLS;
    rc = context_use(c->cluster, w->q->use, npes, err) || exclude_busy_pes(c, npes, err) ? -1 : 0;
    for (int i = 0; i < d->nsubs; i++) {
        const struct hrun_subcluster *sub = &c->cluster->subs[i];

        d->subs[i].npes = npes[i];
        d->subs[i].each = c->app && c->app->suits_pes && sub->npes && sub->pes[0].ncores > 1 ? sub->pes[0].ncores : 1;
    }
    if (!rc && p->have && !w->at) {
        rc = at_size_make(c, p, N, &own, err);
        w->at = &own;
    }
    if (!rc && (rc = decide_at_size(w, p, err)) && err && err->code == HRUN_EINFEASIBLE && c->app &&
        c->app->most_procs)
        hrun_fail_prefix(err, "with at most %s, as %s grants (-n starts more)",
                         hrun_counted(c->app->most_procs, "process").s, c->cluster->allocation);
    if (rc)
        decision_release(d);
    return rc;
}

int decision_make(struct context *c, const struct question *q, const struct profiles *p, int64_t N,
                  struct decision *out, struct hrun_error *err)
{
    struct deciding w = { .c = c, .q = q, .d = out };

    return decide_with(&w, p, N, err);
}

int decision_make_at(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                     struct decision *out, struct hrun_error *err)
{
    struct deciding w = { .c = c, .q = q, .at = at, .d = out };

    return decide_with(&w, p, at->N, err);
}

int decision_is_trial(const struct decision *d)
{
    return d->explores.on || (d->learning.on && d->learning.why == HRUN_LEARN_TRIES);
}

int decision_is_outside(const struct decision *d)
{
    return d->predicted.known && d->basis.sizes[0] && (d->N < d->basis.sizes[0] || d->N > d->basis.sizes[1]);
}

void decision_doubts(const struct decision *d, struct hrun_buf *out)
{
    static const double FAR = 1.5;  /* up to this factor models are off by some percent (tests/trials, "beyond") */

    if (!d->predicted.known || d->basis.formula || d->basis.runs_here > 1)
        return;
    hrun_buf_adds(out, d->basis.runs_here ? "1 run" : d->basis.runs_elsewhere ? "not run at this size" : "never run");
    if (d->basis.beyond_n.factor > FAR)
        hrun_buf_addf(out, ", N %.1f x beyond what was measured", d->basis.beyond_n.factor);
    if (d->basis.beyond_p.factor > FAR)
        hrun_buf_addf(out, ", P %.1f x beyond what was measured", d->basis.beyond_p.factor);
}

double decision_value(const struct decision *d)
{
    return d->goal.objective == &hrun_objectives[HRUN_OBJECTIVE_COST] ? d->predicted.cost
           : d->goal.objective == &hrun_objectives[HRUN_OBJECTIVE_ENERGY] ? d->predicted.energy_j
               : d->predicted.time.mid;
}

void decision_release(struct decision *d)
{
    forget_choice(d);
    free(d->subs);
    free(d->predicted.sub_time_s);
    free(d->shares.each);
    free(d->shares.unwatched);
    free(d->basis.drift);
    free(d->learning.best);
    memset(d, 0, sizeof *d);
}
