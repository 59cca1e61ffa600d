/* decide.c - which configuration will be run; see decide.h */
#include "decide.h"

#include "base/units.h"
#include "corrected.h"
#include "explore.h"
#include "goals.h"
#include "nearest.h"
#include "predicted.h"
#include "profiles.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Alternatives shown when --top does not say otherwise: the choice and two more. */
enum { TOP_DEFAULT = 3, TOP_MAX = 1000 };

static int find_drift(const struct corrected *k, struct decision *d, struct hrun_error *err)
{
    const struct hrun_residual *runs;
    size_t n = hrun_corrections_runs(k->all, &runs);

    return hrun_drift_find(runs, n, d->nsubs, d->drift, err);
}

/* ------------------------------------------------------------------ the ways to a configuration */

static int count_processes(const struct decision *d)
{
    int P = 0;

    for (int i = 0; i < d->nsubs; i++)
        P += d->pes[i] * d->procs[i];
    return P;
}

/* Refuse a P that the rule does not accept. */
static int check_rule(struct context *c, const struct decision *d, int P, struct hrun_error *err)
{
    int valid;

    if (!c->app || !d->N || c->set->force)
        return 0;
    valid = hrun_app_rule(c->app, d->N, P, err);
    if (valid < 0)
        return -1;
    if (!valid)
        return hrun_fail(err, HRUN_EINFEASIBLE,
                         "the rule of %s, '%s', does not accept P = %d for N = %lld (--force runs it all the same)",
                         c->app->name, hrun_expr_text(c->app->rule), P, (long long)d->N);
    return 0;
}

static int by_config(struct context *c, const struct hrun_settings *s, struct decision *d, struct hrun_error *err)
{
    const struct hrun_cluster *cl = c->cluster;

    d->by = BY_USER;
    if (hrun_config_parse(s->config, d->nsubs, d->pes, d->procs, err))
        return hrun_fail_prefix(err, "--config");
    for (int i = 0; i < d->nsubs; i++)
        if (d->pes[i] > d->subs[i].npes)
            return hrun_fail(err, HRUN_EINVAL, "--config: sub-cluster %s has %d PEs%s, not %d", cl->subs[i].name,
                             d->subs[i].npes, d->subs[i].npes < cl->subs[i].npes ? " to use" : "", d->pes[i]);
    d->has_config = 1;
    d->P = count_processes(d);
    return check_rule(c, d, d->P, err);
}

/* Largest number of processes that the PEs take: one each, or as many as the definition allows. */
static int64_t capacity(const struct context *c, const struct decision *d)
{
    int64_t pes = 0;

    for (int i = 0; i < d->nsubs; i++)
        pes += d->subs[i].npes;
    return pes * (c->app ? c->app->procs_per_pe[c->app->nprocs_per_pe - 1] : 1);
}

/* P processes on one PE each, sub-cluster by sub-cluster. 0 when there are fewer PEs. */
static int one_per_pe(struct decision *d, int P)
{
    int left = P;

    for (int i = 0; i < d->nsubs; i++) {
        d->pes[i] = left < d->subs[i].npes ? left : d->subs[i].npes;
        d->procs[i] = d->pes[i] > 0;
        left -= d->pes[i];
    }
    d->P = P;
    d->has_config = left == 0;
    return d->has_config;
}

/* P processes on all PEs, as many on each, if the definition allows that number. */
static void all_alike(const struct hrun_app *app, struct decision *d, int P)
{
    int npes = 0;

    for (int i = 0; i < d->nsubs; i++)
        npes += d->subs[i].npes;
    for (int k = 0; k < app->nprocs_per_pe && !d->has_config; k++)
        d->has_config = npes * app->procs_per_pe[k] == P;
    for (int i = 0; i < d->nsubs && d->has_config; i++) {
        d->pes[i] = d->subs[i].npes;
        d->procs[i] = d->pes[i] ? P / npes : 0;
    }
}

static int by_count(struct context *c, int P, struct decision *d, struct hrun_error *err)
{
    d->by = BY_USER;
    if (check_rule(c, d, P, err))
        return -1;
    if (!one_per_pe(d, P) && c->app)
        all_alike(c->app, d, P);
    return 0;
}

/* Is one process on each of the first P PEs valid? 1, 0, or -1. The configuration is left in d. */
static int plain_is_valid(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, int P,
                          struct hrun_error *err)
{
    double bytes;
    int valid;

    one_per_pe(d, P);
    if (!c->app || !d->N)
        return 1;
    valid = hrun_app_rule(c->app, d->N, P, err);
    if (valid <= 0)
        return valid;
    if (hrun_app_memory(c->app, d->N, P, &bytes, err))
        return -1;
    for (int i = 0; i < d->nsubs; i++)
        if (d->pes[i] && subs[i].memory_bytes > 0 && bytes > subs[i].memory_bytes)
            valid = 0;
    return valid;
}

static int by_default(struct context *c, struct decision *d, const struct hrun_plan_sub *subs, struct hrun_error *err)
{
    int npes = 0, best = 0;

    d->by = BY_DEFAULT;
    for (int i = 0; i < d->nsubs; i++)
        npes += d->subs[i].npes;
    /* All P are asked, not only down to the first that will do: a rule that breaks for some P is told at once. */
    for (int P = 1; P <= npes; P++) {
        int valid = plain_is_valid(c, d, subs, P, err);

        if (valid < 0)
            return -1;
        if (valid)
            best = P;
    }
    if (best) {
        one_per_pe(d, best);
        return 0;
    }
    hrun_fail(err, HRUN_EINFEASIBLE,
              "no number of processes up to %d is valid for %s at N = %lld with one process per PE (rule '%s'%s)", npes,
              c->app->name, (long long)d->N, hrun_expr_text(c->app->rule), c->app->memory ? ", memory" : "");
    nearest_sizes(c, subs, d->N, 0, err);
    return -1;
}

/* What predicted_fill says of a configuration. */
struct asking {
    struct decision *d;
    struct hrun_predictor *predictor;
    const struct hrun_plan_problem *problem;
    const struct corrected *known;
};

static double slowest(void *ctx, const struct hrun_choice *v)
{
    struct asking *a = ctx;

    memcpy(a->d->pes, v->pes, (size_t)a->d->nsubs * sizeof *v->pes);
    memcpy(a->d->procs, v->procs, (size_t)a->d->nsubs * sizeof *v->procs);
    a->d->P = v->P;
    predicted_fill(a->d, a->predictor, a->problem, a->known);
    return fmax(a->d->high_s, v->time_s);
}

static int by_model(struct context *c, const struct hrun_settings *s, const struct hrun_plan_problem *problem,
                    const struct corrected *k, double explore_loss, struct decision *d, struct hrun_error *err)
{
    int64_t top = TOP_DEFAULT;
    struct hrun_error why = { 0 };

    d->by = BY_MODEL;
    if (s->top && hrun_parse_count("--top", s->top, 1, TOP_MAX, &top, err))
        return -1;
    if (hrun_plan_search_known(problem, k->known, k->n, (int)top, &d->plan, &why)) {
        /* -n 3 on two PEs is no configuration: it is run as without a profile, if the rule accepts it. */
        if (why.code == HRUN_EINFEASIBLE && problem->P && !problem->limits)
            return by_count(c, problem->P, d, err);
        *err = why;
        if (why.code == HRUN_EINFEASIBLE) {
            hrun_fail_prefix(err, "%s at N = %lld", c->app->name, (long long)d->N);
            if (problem->limits)
                return -1;
            nearest_sizes(c, problem->subs, d->N, problem->P, err);
        }
        return -1;
    }
    if (s->explore && explore(problem, k, explore_loss, d, err))
        return -1;
    if (d->explores.on)
        return 0;
    memcpy(d->pes, d->plan->v[0].pes, (size_t)d->nsubs * sizeof *d->pes);
    memcpy(d->procs, d->plan->v[0].procs, (size_t)d->nsubs * sizeof *d->procs);
    d->P = d->plan->v[0].P;
    d->has_config = 1;
    return 0;
}

/* ------------------------------------------------------------------ */

static int allocate(struct decision *d, const struct hrun_cluster *cl, struct hrun_error *err)
{
    size_t n = (size_t)cl->nsubs;

    memset(d, 0, sizeof *d);
    d->nsubs = cl->nsubs;
    d->newest_s = d->network_s = -1;
    d->cost = d->energy_j = NAN;
    d->beyond_n.factor = d->beyond_p.factor = d->factor = 1;
    d->subs = calloc(n, sizeof *d->subs);
    d->pes = calloc(n, sizeof *d->pes);
    d->procs = calloc(n, sizeof *d->procs);
    d->plain_pes = calloc(n, sizeof *d->plain_pes);
    d->plain_procs = calloc(n, sizeof *d->plain_procs);
    d->sub_time_s = calloc(n, sizeof *d->sub_time_s);
    d->drift = calloc(n, sizeof *d->drift);
    if (!d->subs || !d->pes || !d->procs || !d->plain_pes || !d->plain_procs || !d->sub_time_s ||
        !d->drift)
        return hrun_fail_nomem(err);
    for (int i = 0; i < cl->nsubs; i++)
        d->subs[i].npes = cl->subs[i].npes;
    return 0;
}

int decide(struct context *c, const struct hrun_settings *s, int64_t N, struct decision *d, struct hrun_error *err)
{
    const struct hrun_cluster *cl = c->cluster;
    struct hrun_plan_sub *subs = NULL;
    struct hrun_models **models = NULL;
    struct hrun_predictor *predictor = NULL;
    struct hrun_plan_problem problem = { 0 };
    struct corrected known = { 0 };
    int *npes = calloc((size_t)cl->nsubs, sizeof *npes);
    struct goals goals = { 0 };
    struct asking asking;
    int64_t P = 0;
    int have = 0, rc = -1;
    double loss = 0;

    if (allocate(d, cl, err) || (s->explore && explore_check(s, &loss, err)))
        goto done;
    d->family = HRUN_FAMILY_NPT;
    d->method = HRUN_METHOD_NNLS;
    if ((s->family && hrun_family_parse(s->family, &d->family, err)) ||
        (c->set->fit && hrun_method_parse(c->set->fit, &d->method, err)) ||
        (npes && context_use(cl, s->use, npes, err)))
        goto done;
    if (!npes) {
        hrun_fail_nomem(err);
        goto done;
    }
    d->N = N;
    for (int i = 0; i < cl->nsubs; i++)
        d->subs[i].npes = npes[i];
    if (s->procs && hrun_parse_count("-n", s->procs, 1, INT_MAX / 2, &P, err))
        goto done;
    if (P && s->config) {
        hrun_fail(err, HRUN_EINVAL, "-n and --config contradict each other: a configuration says how many processes "
                  "there are; give one of them");
        goto done;
    }
    if (P > capacity(c, d) && !s->oversubscribe) {
        hrun_fail(err, HRUN_EINVAL,
                  "-n %lld: the cluster holds at most %lld processes (%s); give fewer, or --oversubscribe",
                  (long long)P, (long long)capacity(c, d),
                  c->app ? "PEs times the most processes per PE of the app definition"
                  : cl->subs[0].level == HRUN_LEVEL_NODE
                  ? "one per PE; a PE is a node here, and --level core makes it a core" : "one per PE");
        goto done;
    }
    subs = calloc((size_t)cl->nsubs, sizeof *subs);
    models = calloc((size_t)cl->nsubs, sizeof *models);
    if (!subs || !models) {
        hrun_fail_nomem(err);
        goto done;
    }
    if (c->app && d->N && ((have = profiles_load(c, s, d, err)) < 0 || (have && profiles_network(c, d, err))))
        goto done;
    for (int i = 0; i < cl->nsubs; i++) {
        subs[i] = (struct hrun_plan_sub){ d->subs[i].npes, (double)cl->subs[i].memory_bytes,
                                          cl->subs[i].cost_per_hour, cl->subs[i].power_w };
        models[i] = d->subs[i].models;
    }
    if (goals_read(s, cl, subs, &goals, err))
        goto done;
    if (goals.any && !have) {
        hrun_fail(err, HRUN_ENODATA, "--objective, --within and --max-... need predictions, and there are none: %s",
                  !c->app ? "no app definition (-app NAME)" : !d->N ? "no size (-N SIZE)"
                  : "no profile; hrun-calibrate makes one");
        goto done;
    }
    if (have) {
        predictor = hrun_predictor_create_net(c->app, models, cl->nsubs, d->family, d->N, c->view, NULL, err);
        d->network = predictor && hrun_predictor_has_network(predictor);
        if (!predictor || corrected_load(c, d, models, &known, err) ||
            find_drift(&known, d, err))
            goto done;
        problem.oracle = hrun_predictor_oracle(predictor);
        problem.subs = subs;
        problem.objective = goals.objective;
        problem.P = (int)P;
        problem.limits = goals.any ? &goals.limits : NULL;
        asking = (struct asking){ d, predictor, &problem, &known };
        if (goals_within(&goals, &problem, known.known, known.n, slowest, &asking, &goals.limits, err)) {
            hrun_fail_prefix(err, "%s at N = %lld", c->app->name, (long long)d->N);
            goto done;
        }
    }
    if (s->config ? by_config(c, s, d, err)
        : predictor && P <= capacity(c, d) ? by_model(c, s, &problem, &known, loss, d, err)
        : P ? by_count(c, (int)P, d, err)
        : by_default(c, d, subs, err))
        goto done;
    if (predictor && d->has_config) {
        predicted_fill(d, predictor, &problem, &known);
        if (goals_tell(&goals, &problem, known.known, known.n, s->dry_run, d, err))
            goto done;
    }
    rc = 0;
done:
    corrected_release(&known);
    hrun_predictor_destroy(predictor);
    free(models);
    free(subs);
    free(npes);
    if (rc)
        decision_release(d);
    return rc;
}

void decision_release(struct decision *d)
{
    for (int i = 0; d->subs && i < d->nsubs; i++) {
        hrun_models_destroy(d->subs[i].models);
        free(d->subs[i].why_not);
    }
    hrun_plan_destroy(d->plan);
    hrun_plan_destroy(d->pareto);
    free(d->network_note);
    free(d->subs);
    free(d->pes);
    free(d->procs);
    free(d->plain_pes);
    free(d->plain_procs);
    free(d->sub_time_s);
    free(d->share);
    free(d->drift);
    memset(d, 0, sizeof *d);
}
