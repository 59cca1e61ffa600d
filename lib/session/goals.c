/* goals.c - --objective and --limit; see goals.h */
#include "session/goals.h"

#include "base/alloc.h"
#include "base/opts.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first used sub-cluster without a price or power for the objective; -1: none. pes: used PEs; NULL: usable PEs. */
static int first_without_rate(const struct hrun_objective *o, const struct hrun_plan_sub *subs, const int *pes,
                              int nsubs)
{
    for (int i = 0; i < nsubs && o->rate; i++)
        if ((pes ? pes[i] : subs[i].npes) && !(o->rate(&subs[i]) > 0))
            return i;
    return -1;
}

static int need_rate(const char *option, const struct hrun_objective *o, const struct hrun_cluster *cl,
                     const struct hrun_plan_sub *subs, struct hrun_error *err)
{
    int i = first_without_rate(o, subs, NULL, cl->nsubs);

    return i < 0 ? 0 : hrun_fail(err, HRUN_EINVAL, "%s: sub-cluster %s has no `%s`: give it in the cluster file for "
                                 "each sub-cluster (hrun-cluster(5)), or leave this one out with --use", option,
                                 cl->subs[i].name, o->rate_key);
}

static int limit_within(void *question, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct question *q = question;

    (void)opt;
    if (strcmp(value, "interval"))
        return hrun_parse_percent("--limit within", value, &q->within, err);
    q->within = QUESTION_INTERVAL;
    return 0;
}

#define LIMIT(member) offsetof(struct question, member)
static const struct hrun_opt limit_rows[] = {
    { .name = "time", .arg = HRUN_OPT_TIME, .offset = LIMIT(max_time_s) },
    { .name = "cost", .arg = HRUN_OPT_NUMBER, .offset = LIMIT(max_cost) },
    { .name = "energy", .arg = HRUN_OPT_NUMBER, .offset = LIMIT(max_energy_j) },
    { .name = "pes", .arg = HRUN_OPT_COUNT, .offset = LIMIT(max_pes), .min = 1, .max = QUESTION_PES_MAX },
    { .name = "loss", .arg = HRUN_OPT_PERCENT, .offset = LIMIT(max_loss) },
    { .name = "within", .arg = HRUN_OPT_WORD, .apply = limit_within },
};
enum { NLIMITS = sizeof limit_rows / sizeof *limit_rows };

int question_limit(void *settings, const struct hrun_opt *opt, const char *value, struct hrun_error *err)
{
    struct question *q = (struct question *)(void *)((char *)settings + opt->offset);
    autofree char *list = xstrdup(value);

    for (char *rest = list, *part; (part = strsep(&rest, ",")); ) {
        char *equals = strchr(part, '='), name[32];
        int i = 0;

        if (equals)
            *equals = 0;
        while (i < NLIMITS && strcmp(part, limit_rows[i].name))
            i++;
        if (!equals || i == NLIMITS)
            return hrun_fail(err, HRUN_EINVAL, "--limit: '%s' is none of time=TIME, cost=COST, energy=JOULES, "
                             "pes=PES, loss=PERCENT and within=PERCENT, which are separated by commas", part);
        snprintf(name, sizeof name, "--limit %s", limit_rows[i].name);
        if (hrun_opt_apply(&limit_rows[i], name, q, equals + 1, err))
            return -1;
    }
    return 0;
}

int goals_read(const struct question *q, const struct hrun_cluster *cl, const struct hrun_plan_sub *subs,
               struct goals *out, struct hrun_error *err)
{
    const struct hrun_objective *cost = &hrun_objectives[HRUN_OBJECTIVE_COST];
    autofree char *option = q->objective ? hrun_strf("--objective %s", q->objective) : NULL;

    *out = (struct goals){
        .within = q->within, .limits = { .time_s = q->max_time_s, .cost = q->max_cost, .energy_j = q->max_energy_j,
                                         .pes = (int)q->max_pes },
    };
    out->objective = q->objective ? hrun_objective_find(q->objective) : q->within ? cost : hrun_objectives;
    if (q->within && !out->objective->rate)
        return hrun_fail(err, HRUN_EINVAL, "--limit within and --objective time contradict each other: what is not the "
                         "quickest is chosen for its cost (the default with it) or energy");
    out->any = out->objective->rate || q->within || q->max_time_s || q->max_cost || q->max_energy_j || q->max_pes;
    if (out->any && q->config)
        return hrun_fail(err, HRUN_EINVAL, "--config leaves nothing to choose: --objective and --limit cannot be "
                         "given with it");
    if (need_rate(option ? option : "--limit within", out->objective, cl, subs, err) ||
        (q->max_cost && need_rate("--limit cost", cost, cl, subs, err)))
        return -1;
    return q->max_energy_j ? need_rate("--limit energy", &hrun_objectives[HRUN_OBJECTIVE_ENERGY], cl, subs, err) : 0;
}

int goals_limit_time(struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k,
                     goals_slowest_fn *slowest, void *ctx, struct hrun_error *err)
{
    struct hrun_plan_problem quick = *problem;
    struct hrun_plan *p = NULL;
    double allowed;
    int rc = 0;

    if (!g->within)
        return 0;
    quick.objective = &hrun_objectives[HRUN_OBJECTIVE_TIME];
    if (hrun_plan_search_known(&quick, k->known, k->n, 1, &p, err))
        return -1;
    allowed = p->v[0].time_s * (1 + g->within);
    if (g->within == QUESTION_INTERVAL)
        rc = slowest(ctx, &p->v[0], &allowed, err);
    hrun_plan_destroy(p);
    if (rc)
        return -1;
    g->limits.time_s = g->limits.time_s > 0 ? fmin(g->limits.time_s, allowed) : allowed;
    return 0;
}

void goals_fill(const struct goals *g, const struct hrun_plan_problem *problem, const struct corrected *k, int table,
                struct decision *d)
{
    const struct hrun_objective *cost = &hrun_objectives[HRUN_OBJECTIVE_COST];
    const struct hrun_objective *energy = &hrun_objectives[HRUN_OBJECTIVE_ENERGY];
    int priced = first_without_rate(cost, problem->subs, d->config.pes, d->nsubs) < 0;
    int powered = first_without_rate(energy, problem->subs, d->config.pes, d->nsubs) < 0;
    struct hrun_plan_problem against = *problem;
    struct hrun_error why = { 0 };

    d->goal.objective = g->objective;
    d->predicted.cost = d->predicted.known && priced ? hrun_plan_cost(d->predicted.time.mid, &d->config,
                                                                      problem->subs) : NAN;
    d->predicted.energy_j = d->predicted.known && powered ? hrun_plan_energy(d->predicted.time.mid, &d->config,
                                                                             problem->subs) : NAN;
    against.objective = g->objective == energy ? energy : cost;
    if (!table || d->by != BY_MODEL || first_without_rate(against.objective, problem->subs, NULL, d->nsubs) >= 0)
        return;
    d->goal.pareto_of = against.objective;
    /* Sets nothing if there are too many configurations. */
    hrun_plan_pareto(&against, k->known, k->n, &d->goal.pareto, &why);
}
