/* decide_trial.c - sometimes run another configuration than the best; see decide_trial.h */
#include "session/decide_trial.h"

#include "plan/explore.h"

#include <stdlib.h>
#include <string.h>

/* Trials choose among this many best predicted configurations. A nightly job needs two months to try each once. */
enum { LOOKED_AT = 64 };

int check_explore_options(const struct question *q, struct hrun_error *err)
{
    const struct { const char *option; int given; } against[] = {
        { "--config", q->config != NULL }, { "-n", q->procs != 0 }, { "--no-record", q->unrecorded },
    };

    for (size_t i = 0; i < sizeof against / sizeof *against; i++)
        if (against[i].given)
            return hrun_fail(err, HRUN_EINVAL, "--explore and %s contradict each other: --explore itself chooses the "
                             "configurations, and learns from their times", against[i].option);
    return 0;
}

int choose_trial(const struct hrun_plan_problem *problem, const struct corrected *k, double loss, struct decision *d,
            struct hrun_error *err)
{
    struct hrun_explore_arm arms[LOOKED_AT];
    struct hrun_plan *plan = NULL;
    const struct hrun_choice *v;
    const struct hrun_residual *earlier;
    size_t last = hrun_corrections_runs(k->all, &earlier);
    int index[LOOKED_AT], n = 0, runs = 0, pick;

    while (last && !(earlier[last - 1].real && earlier[last - 1].N == d->N))
        last--;
    if (!last || !hrun_config_equal(&k->known[earlier[last - 1].config].config, &d->plan->v[0].config)) {
        d->explores.nothing = last
            ? "the last run at this N did not have the best known configuration, so this one runs first"
            : "no run at this N is known, so the best predicted configuration runs first";
        return 0;
    }
    if (hrun_plan_search_known(problem, k->known, k->n, LOOKED_AT, &plan, err))
        return -1;
    for (int i = 0; i < k->n; i++)
        runs += k->details[i].runs;
    for (int i = 0; i < plan->n; i++) {
        const struct hrun_correction *r = corrected_find(k, &plan->v[i].config);

        if (i && corrected_tried(k, &plan->v[i].config))
            continue;
        arms[n] = (struct hrun_explore_arm){ .value = plan->v[i].value, .runs = r ? r->runs : 0,
                                             .sd = r ? r->sd : hrun_corrections_sd(k->all) };
        index[n++] = i;
    }
    pick = hrun_explore_pick(arms, n, loss, runs, 0);
    if (!pick) {
        d->explores.nothing = plan->n > 1 ? "no other configuration may be quicker at this predicted loss"
                                          : "no other configuration is valid";
    } else {
        v = &plan->v[index[pick]];
        d->config = v->config;
        d->P = v->P;
        d->has_config = 1;
        d->explores = (struct exploring) { 1, v->value / plan->v[0].value - 1,
                                           hrun_explore_open(arms, n, loss, runs), NULL };
    }
    hrun_plan_destroy(plan);
    return 0;
}
