/* objective.c - what a search minimises; see plan.h for the contracts */
#include "plan/space.h"

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
