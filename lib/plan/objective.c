/* objective.c - what a search minimises; see plan.h for the contracts */
#include "plan/internal.h"

#include <string.h>

static double value_time(double time_s, const int *pes, const struct hrun_plan_sub *subs, int nsubs)
{
    (void)pes;
    (void)subs;
    (void)nsubs;
    return time_s;
}

double hrun_plan_cost(double time_s, const int *pes, const struct hrun_plan_sub *subs, int nsubs)
{
    double per_hour = 0;

    for (int i = 0; i < nsubs; i++)
        per_hour += pes[i] * subs[i].cost_per_hour;
    return per_hour * time_s / 3600;
}

double hrun_plan_energy(double time_s, const int *pes, const struct hrun_plan_sub *subs, int nsubs)
{
    double power_w = 0;

    for (int i = 0; i < nsubs; i++)
        power_w += pes[i] * subs[i].power_w;
    return power_w * time_s;
}

int plan_keeps(const struct hrun_plan_problem *problem, double time_s, const int *pes)
{
    const struct hrun_plan_limits *l = problem->limits;
    int n = problem->oracle->nsubs, used = 0;

    if (!l)
        return 1;
    for (int i = 0; i < n; i++)
        used += pes[i];
    return (l->time_s <= 0 || time_s <= l->time_s) && (l->pes <= 0 || used <= l->pes) &&
           (l->cost <= 0 || hrun_plan_cost(time_s, pes, problem->subs, n) <= l->cost) &&
           (l->energy_j <= 0 || hrun_plan_energy(time_s, pes, problem->subs, n) <= l->energy_j);
}

static const struct hrun_objective objectives[] = {
    { "time", "s", value_time, 1 },
    { "cost", "", hrun_plan_cost, 0 },
    { "energy", "J", hrun_plan_energy, 0 },
    { NULL, NULL, NULL, 0 }
};

const struct hrun_objective *hrun_objectives(void)
{
    return objectives;
}

const struct hrun_objective *hrun_objective_find(const char *name)
{
    for (const struct hrun_objective *o = objectives; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}
