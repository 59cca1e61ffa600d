/* report_tradeoff.c - time against cost and energy in a report; see report.h */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Cheapest within 10 %" of the quickest: what hrun --limit within=10% chooses. */
static const double WITHIN = 0.1;

static const struct kind {
    const char *what, *objective, *title, *label, *least;
} kinds[REPORT_TRADEOFFS] = {
    { "cost", "cost", "Time against cost", "cost of a run", "cheapest" },
    { "energy", "energy", "Time against energy", "energy of a run, J", "thriftiest" },
};

void report_prices_find(const struct calib_settings *s, struct report *r)
{
    const char *path = s->common.cluster_file;
    struct hrun_error err = { 0 };
    int told = 0;

    for (int i = 0; path && i < r->nsubs; i++) {
        struct report_sub *sub = &r->subs[i];
        int rc = hrun_clusterfile_price(path, sub->name, &sub->cost_per_hour, &sub->power_w, &err);

        told += rc > 0;
        if (rc < 0 && !s->common.quiet)
            fprintf(stderr, "hrun-calibrate: the report is without prices: %s\n", err.text);
        if (rc < 0)
            return;
    }
    for (int i = 0; told && told < r->nsubs && i < r->nsubs; i++)
        if (!(r->subs[i].cost_per_hour > 0 || r->subs[i].power_w > 0) && !s->common.quiet)
            fprintf(stderr, "hrun-calibrate: %s names no price and no power of sub-cluster %s: the report is without "
                    "time against cost\n", path, r->subs[i].name);
}

/* Has each sub-cluster a price (a power)? */
static int is_known(const struct report *r, const struct kind *k)
{
    for (int i = 0; i < r->nsubs; i++)
        if (!((k == &kinds[0] ? r->subs[i].cost_per_hour : r->subs[i].power_w) > 0))
            return 0;
    return r->plan != NULL;
}

int report_tradeoffs(struct report *r, struct hrun_error *err)
{
    for (int k = 0; k < REPORT_TRADEOFFS; k++) {
        const struct hrun_objective *o = hrun_objective_find(kinds[k].objective);
        struct report_tradeoff *t = &r->tradeoffs[k];
        struct hrun_error why = { 0 };

        if (!is_known(r, &kinds[k]))
            continue;
        t->what = kinds[k].what;
        t->unit = o->unit;
        if (report_search(r, r->N, 0, o, 0, 1, &t->front, &why) ||
            report_search(r, r->N, 0, o, REPORT_LANDSCAPE_MAX, 0, &t->best, &why))
            return hrun_fail_nomem(err);
    }
    return 0;
}

void report_tradeoffs_release(struct report *r)
{
    for (int k = 0; k < REPORT_TRADEOFFS; k++) {
        hrun_plan_destroy(r->tradeoffs[k].front);
        hrun_plan_destroy(r->tradeoffs[k].best);
        r->tradeoffs[k] = (struct report_tradeoff){ 0 };
    }
}

/* What a configuration takes of it. */
static double amount(const struct report *r, int which, const int *pes, double time_s)
{
    double sum = 0;

    for (int i = 0; i < r->nsubs; i++)
        sum += pes[i] * (which ? r->subs[i].power_w : r->subs[i].cost_per_hour / 3600);
    return sum * time_s;
}

static void add_dots(const struct report *r, int which, const struct hrun_plan *plan, struct plot *p, int series)
{
    for (int i = 0; plan && i < plan->n; i++)
        plot_add(p, series, amount(r, which, plan->v[i].pes, plan->v[i].time_s), plan->v[i].time_s, 0, 0);
}

/* One that a reader looks for; its configuration is told in the caption. */
static void add_marked(struct plot *p, const char *name, int mark, const struct hrun_choice *v)
{
    int series = plot_series(p, PLOT_POINTS, PLOT_FIRST_SERIES + 3 + mark, mark, name);

    plot_add(p, series, v->value, v->time_s, 0, 0);
}

/* What is drawn, and which configurations are marked: v[3] of the front. */
static void set_caption(const struct report *r, int which, struct plot *p, const struct hrun_choice *const *v)
{
    const char *least = kinds[which].least;
    int all = r->plan->counts.counted && r->plan->n >= r->plan->counts.valid;
    struct hrun_buf b[3] = { HRUN_BUF_INIT, HRUN_BUF_INIT, HRUN_BUF_INIT };

    for (int i = 0; i < 3; i++) {
        hrun_config_print(v[i]->pes, v[i]->procs, r->nsubs, &b[i]);
        p->failed |= b[i].failed;
    }
    plot_set_caption(p, "%s %d %s; nothing is both quicker and %s than the %d on the line. The quickest is %s, the %s "
                     "within %.0f %% of its time %s, the %s %s.", all ? "All" : "The",
                     r->plan->n, all ? "valid configurations as predicted"
                     : "configurations that are predicted to be quickest, and as many that take least",
                     which ? "thriftier" : "cheaper", r->tradeoffs[which].front->n, b[0].data, least, 100 * WITHIN,
                     b[1].data, least, b[2].data);
    for (int i = 0; i < 3; i++)
        hrun_buf_release(&b[i]);
}

struct plot *report_tradeoff_figure(const struct report *r, int which, int *failed)
{
    const struct report_tradeoff *t = &r->tradeoffs[which];
    const struct hrun_plan *front = t->front;
    const struct hrun_choice *marked[3];
    struct plot *p;
    char within[64];
    int dots, measured, line, near = 0;

    if (!front)
        return NULL;
    p = plot_create(PLOT_AMOUNT, kinds[which].label, PLOT_SECONDS, "time");
    if (!p) {
        *failed = 1;
        return NULL;
    }
    dots = plot_series(p, PLOT_POINTS, PLOT_MUTED, 5, "configurations");
    measured = plot_series(p, PLOT_POINTS, PLOT_FIRST_SERIES + 2, 1, "measured");
    line = plot_series(p, PLOT_LINE, PLOT_FIRST_SERIES, 0, "best in both");
    add_dots(r, which, r->plan, p, dots);
    add_dots(r, which, t->best, p, dots);
    for (int i = 0; i < r->npoints; i++)
        if (r->points[i].N == r->N)
            plot_add(p, measured, amount(r, which, r->points[i].config, r->points[i].time_s), r->points[i].time_s, 0,
                     0);
    for (int i = 0; i < front->n; i++) {
        plot_add(p, line, front->v[i].value, front->v[i].time_s, 0, 0);
        if (front->v[i].time_s <= front->v[0].time_s * (1 + WITHIN))
            near = i;
    }
    snprintf(within, sizeof within, "%s within %.0f %%", kinds[which].least, 100 * WITHIN);
    marked[0] = &front->v[0];
    marked[1] = &front->v[near];
    marked[2] = &front->v[front->n - 1];
    for (int i = 0; i < 3; i++)
        add_marked(p, i == 0 ? "quickest" : i == 1 ? within : kinds[which].least, i, marked[i]);
    plot_set_title(p, "%s at N = %lld", kinds[which].title, (long long)r->N);
    set_caption(r, which, p, marked);
    return p;
}
