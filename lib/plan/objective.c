/* objective.c - what a search minimises; see plan.h for the contracts */
#include "plan/plan.h"

#include <string.h>

static double value_time(double time_s, const int *pes, const struct hrun_plan_sub *subs, int nsubs)
{
    (void)pes;
    (void)subs;
    (void)nsubs;
    return time_s;
}

static const struct hrun_objective objectives[] = {
    { "time", "s", value_time, 1 },
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
