/* shares.c - what equal, proportional and the best shares of the work are predicted to take; see report.h */
#include "report.h"

#include "plot.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    const char *title;
    enum hrun_sharing how;
} ways[] = {
    { "equal", HRUN_SHARES_EQUAL }, { "in proportion to speed", HRUN_SHARES_PROPORTIONAL }, 
    { "best", HRUN_SHARES_BEST },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The least predicted time at N with such shares; NAN: none is known. */
static double least_s(struct report *r, int64_t N, enum hrun_sharing how)
{
    struct hrun_predictor *p = report_predictor(r, N, NULL);
    struct hrun_plan_sub *subs = calloc((size_t)r->nsubs, sizeof *subs);
    struct hrun_plan_problem problem = { .subs = subs };
    struct hrun_plan *plan = NULL;
    double time_s = NAN;

    for (int i = 0; subs && i < r->nsubs; i++)
        subs[i].npes = r->subs[i].npes;
    if (p && subs && !hrun_predictor_deal(p, how, NULL)) {
        problem.oracle = hrun_predictor_oracle(p);
        if (!hrun_plan_search(&problem, 1, &plan, NULL))
            time_s = plan->v[0].time_s;
        hrun_predictor_deal(p, HRUN_SHARES_EQUAL, NULL);
    }
    hrun_plan_destroy(plan);
    free(subs);
    return time_s;
}

struct plot *report_shares_figure(struct report *r, int *failed)
{
    double t[WAYS], most = 0, over = 1;
    int n = 0, series[WAYS];
    struct plot *p;

    if (!r->c->app->shares.units)
        return NULL;
    p = plot_create(PLOT_SIZES, "size N", PLOT_SECONDS, "time");
    if (!p) {
        *failed = 1;
        return NULL;
    }
    for (int k = 0; k < WAYS; k++)
        series[k] = plot_series(p, PLOT_LINE, PLOT_FIRST_SERIES + k, 0, ways[k].title);
    for (int i = 0; i < r->nsizes; i++) {
        for (int k = 0; k < WAYS; k++)
            t[k] = least_s(r, r->sizes[i].N, ways[k].how);
        if (!(t[0] > 0) || !(t[1] > 0) || !(t[2] > 0))
            continue;
        for (int k = 0; k < WAYS; k++)
            plot_add(p, series[k], (double)r->sizes[i].N, t[k], 0, 0);
        most = fmax(most, t[0] / t[2]);
        over *= t[0] / t[2];
        n++;
    }
    if (n < 2) {
        plot_destroy(p);
        return NULL;
    }
    plot_set_title(p, "Shares of the work");
    plot_set_caption(p,
                     "What the best configuration is predicted to take with equal shares, with shares in proportion to "
                     "the speeds, and with those by which the slowest process ends as early as can be: equal ones take "
                     "%.2f times as long in the mean, %.2f times at most.", pow(over, 1.0 / n), most);
    return p;
}
