/* objective.c - objectives, limits, and the evaluation of one configuration; see plan.h for the contracts */
#include "base/alloc.h"
#include "base/units.h"
#include "plan/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_time(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    (void)config;
    (void)subs;
    return time_s;
}

double hrun_plan_cost(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    double per_hour = 0;

    for (int i = 0; i < config->nsubs; i++)
        per_hour += config->pes[i] * subs[i].cost_per_hour;
    return per_hour * time_s / 3600;
}

double hrun_plan_energy(double time_s, const struct hrun_config *config, const struct hrun_plan_sub *subs)
{
    double power_w = 0;

    for (int i = 0; i < config->nsubs; i++)
        power_w += config->pes[i] * subs[i].power_w;
    return power_w * time_s;
}

int plan_keeps(const struct hrun_plan_problem *problem, double time_s, const struct hrun_config *config)
{
    const struct hrun_plan_limits *l = problem->limits;

    if (!l)
        return 1;
    return (l->time_s <= 0 || time_s <= l->time_s) && (l->pes <= 0 || hrun_config_all_pes(config) <= l->pes) &&
           (l->cost <= 0 || hrun_plan_cost(time_s, config, problem->subs) <= l->cost) &&
           (l->energy_j <= 0 || hrun_plan_energy(time_s, config, problem->subs) <= l->energy_j);
}

static double rate_cost(const struct hrun_plan_sub *sub)
{
    return sub->cost_per_hour;
}

static double rate_energy(const struct hrun_plan_sub *sub)
{
    return sub->power_w;
}

const struct hrun_objective hrun_objectives[HRUN_OBJECTIVES] = {
    [HRUN_OBJECTIVE_TIME] = { "time", "s", value_time, 1, NULL, NULL },
    [HRUN_OBJECTIVE_COST] = { "cost", "", hrun_plan_cost, 0, rate_cost, "cost_per_hour" },
    [HRUN_OBJECTIVE_ENERGY] = { "energy", "J", hrun_plan_energy, 0, rate_energy, "power_w" },
};

const struct hrun_objective *hrun_objective_find(const char *name)
{
    for (int i = 0; i < HRUN_OBJECTIVES; i++)
        if (!strcmp(hrun_objectives[i].name, name))
            return &hrun_objectives[i];
    return NULL;
}

/* ------------------------------------------------------------------ one configuration */

/* Check a configuration without calls of the oracle's functions. Sets *P to its number of processes. */
static int check_evaluated(const struct plan_space *s, const struct hrun_config *config, int *P,
                      struct hrun_error *err)
{
    autorelease(hrun_buf_release) struct hrun_buf known = HRUN_BUF_INIT;
    int sum = 0;

    for (int i = 0; i < s->nsubs; i++) {
        int o = s->first[i];
        if (config->pes[i] < 0 || config->procs[i] < 0)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %d PEs with %d processes: neither can be negative",
                             i + 1, config->pes[i], config->procs[i]);
        if (config->pes[i] > s->subs[i].npes)
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has %d PEs, not %d", i + 1, s->subs[i].npes,
                             config->pes[i]);
        if ((config->pes[i] == 0) != (config->procs[i] == 0))
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: Pi = %d with Mi = %d: either both are 0 or neither",
                             i + 1, config->pes[i], config->procs[i]);
        if (config->pes[i] == 0)
            continue;
        while (o < s->first[i + 1] && s->oracle->options[o].m != config->procs[i])
            o++;
        if (o == s->first[i + 1]) {
            for (o = s->first[i]; o < s->first[i + 1]; o++)
                hrun_buf_addf(&known, "%s%d", known.len ? ", " : "", s->oracle->options[o].m);
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d has no model for %s per PE (it has: %s)", i + 1,
                             hrun_counted(config->procs[i], "process").s, known.len ? known.data : "none");
        }
        sum += config->pes[i] * config->procs[i]; /* at most max_P */
    }
    if (sum == 0)
        return hrun_fail(err, HRUN_EINVAL, "the configuration uses no PE at all");
    *P = sum;
    return 0;
}

int hrun_plan_evaluate(const struct hrun_plan_problem *problem, const struct hrun_config *config, int check,
                       struct hrun_choice *out, struct hrun_error *err)
{
    const struct hrun_oracle *oracle = problem->oracle;
    struct hrun_choice c = { .config = *config };
    autorelease(plan_space_release) struct plan_space s;
    autofree double *t = NULL;
    double bytes = 0;
    int P = 0;

    if (plan_space_init(&s, problem, 0, err) || check_evaluated(&s, config, &P, err))
        return -1;
    if (check && problem->P && P != problem->P)
        return hrun_fail(err, HRUN_EINVAL, "the configuration has %s, not %d", hrun_counted(P, "process").s,
                         problem->P);
    if (check) {
        int rule = oracle->rule(oracle->ctx, P, err);

        if (rule < 0)
            return -1;
        if (!rule)
            return hrun_fail(err, HRUN_EINVAL, "the application's rule refuses %s", hrun_counted(P, "process").s);
    }
    if (check && oracle->memory && oracle->memory(oracle->ctx, P, &bytes, err))
        return -1;
    t = xmalloc(((size_t)s.nopt + 1) * sizeof *t);
    c.P = P;
    if (oracle->times(oracle->ctx, P, t, err))
        return -1;
    for (int o = 0; o < s.nopt; o++) {
        const struct hrun_option *option = &oracle->options[o];
        double memory = s.subs[option->sub].memory_bytes;
        if (config->pes[option->sub] == 0 || config->procs[option->sub] != option->m)
            continue;
        if (check && memory > 0 && !(option->m * bytes <= memory))
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: %s of %s each do not fit into the %s of a PE; use more "
                             "processes in all, fewer on each PE, or a smaller N", option->sub + 1,
                             hrun_counted(option->m, "process").s, hrun_bytes(bytes).s, hrun_bytes(memory).s);
        if (!(isfinite(t[o]) && t[o] > 0))
            return hrun_fail(err, HRUN_EINVAL, "sub-cluster %d: the model for Mi = %d gives no usable time at %s in "
                             "all", option->sub + 1, option->m, hrun_counted(P, "process").s);
        c.npes += config->pes[option->sub];
    }
    if (plan_choice_look(&s, t, &c, err))
        return -1;
    if (isinf(c.time_s))
        return hrun_fail(err, HRUN_EINVAL, "the work cannot be shared out over this configuration: there are more "
                         "processes than parts of the work, or the parts do not fit into their memory");
    if (!isfinite(c.value))
        return hrun_fail(err, HRUN_EINVAL, "the objective \"%s\" has no finite value for this configuration",
                         s.objective->name);
    *out = c;
    return 0;
}
