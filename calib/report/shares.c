/* shares.c - what equal, proportional and the best shares of the work are predicted to take, and how waits of watched
 * runs change these; see report.h */
#include "report.h"

#include "base/units.h"
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

/* The best configuration, by the models, with the shares that p deals out; NULL: none is known. */
static struct hrun_plan *search(const struct report *r, struct hrun_predictor *p)
{
    struct hrun_plan_sub *subs = calloc((size_t)r->nsubs, sizeof *subs);
    struct hrun_plan_problem problem = { .oracle = hrun_predictor_oracle(p), .subs = subs };
    struct hrun_plan *plan;

    for (int i = 0; subs && i < r->nsubs; i++)
        subs[i].npes = r->subs[i].npes;
    if (!subs || hrun_plan_search(&problem, 1, &plan, NULL))
        plan = NULL;
    free(subs);
    return plan;
}

/* The least predicted time at N with such shares; NAN: none is known. */
static double least_s(struct report *r, int64_t N, enum hrun_sharing how)
{
    struct hrun_predictor *p = report_predictor(r, N, NULL);
    struct hrun_plan *plan = p && !hrun_predictor_deal(p, how, NULL) ? search(r, p) : NULL;
    double time_s = plan ? plan->v[0].time_s : NAN;

    if (p)
        hrun_predictor_deal(p, HRUN_SHARES_EQUAL, NULL);
    hrun_plan_destroy(plan);
    return time_s;
}

/* In the best configuration of p, which deals, by the pace of its parts. share[2 nsubs]: scratch. */
static void add_changes(const struct report *r, struct hrun_predictor *p, const double *pace, double *share,
                        struct hrun_buf *out)
{
    const char *lead = ": ";
    double *before = share + r->nsubs;
    struct hrun_plan *plan;

    hrun_predictor_pace(p, pace);
    plan = search(r, p);
    if (plan && !hrun_predictor_shares(p, plan->v[0].pes, plan->v[0].procs, share, NULL)) {
        hrun_predictor_pace(p, NULL);
        if (!hrun_predictor_shares(p, plan->v[0].pes, plan->v[0].procs, before, NULL)) {
            hrun_buf_addf(out, "At N=%lld the waits of the last run with --trace change units per process of ",
                          (long long)r->N);
            hrun_config_print(plan->v[0].pes, plan->v[0].procs, r->nsubs, out);
            for (int i = 0; i < r->nsubs; i++)
                if (plan->v[0].pes[i]) {
                    hrun_buf_addf(out, "%s%s ", lead, r->subs[i].name);
                    hrun_add_percent(out, share[i] / before[i]);
                    lead = ", ";
                }
            hrun_buf_addc(out, '\n');
        }
    }
    hrun_predictor_pace(p, NULL);
    hrun_plan_destroy(plan);
}

int report_shares_waits(struct report *r, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_predictor *p = r->c->app->shares.units ? report_predictor(r, r->N, NULL) : NULL;
    double *pace = calloc(3 * (size_t)r->nsubs + 1, sizeof *pace);
    struct hrun_joint_sub *logs = report_logs(r);
    struct hrun_corrections *dealt = NULL;
    int found = pace && logs ? 0 : hrun_fail_nomem(err);

    if (!found && p && !hrun_predictor_deal(p, HRUN_SHARES_BEST, NULL) && hrun_predictor_deals(p)) {
        found = report_corrections(r, logs, HRUN_SHARES_BEST, &dealt, err);
        hrun_predictor_correct(p, dealt);
        found = found ? found : hrun_waits_pace(r->c->app, logs, r->nsubs, p, dealt, pace, err);
        if (found > 0)
            add_changes(r, p, pace, pace + r->nsubs, out);
        hrun_predictor_correct(p, NULL);
        hrun_predictor_deal(p, HRUN_SHARES_EQUAL, NULL);
    }
    hrun_corrections_destroy(dealt);
    free(logs);
    free(pace);
    return found < 0 ? -1 : 0;
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
                     "%.2f times as long in the mean, %.2f times at most. hrun takes these; choices in the other "
                     "plots and in the tables are among equal shares.", pow(over, 1.0 / n), most);
    return p;
}
