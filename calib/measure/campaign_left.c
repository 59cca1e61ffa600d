/* campaign_left.c - outcome of a campaign's runs, the remaining runs, and their expected time; see campaign.h */
#include "budget.h"

#include "base/units.h"
#include "fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void campaign_count(struct campaign *g, struct point *p, double time_s, double wall_s)
{
    double both[] = { time_s, g->step_s };

    g->step_s = hrun_times_step(both, g->timed++ ? 2 : 1);
    if (p) {
        p->wall_s = (p->wall_s * p->have + wall_s) / (p->have + 1);
        p->have++;
    }
}

double campaign_step(const struct campaign *g)
{
    enum { FEWEST = 5 };    /* as in hrun_times_rounding */

    return g->timed < FEWEST ? 0 : g->step_s;
}

void campaign_note(struct campaign *g, const struct event *e)
{
    struct point *p = &g->v[e->point];

    if (e->kind == EVENT_RUN && e->end == RUN_GOOD) {
        campaign_count(g, p, e->time_s, e->wall_s);
        g->good++;
    } else if (e->kind == EVENT_RUN) {
        snprintf(g->last_failure, sizeof g->last_failure, "%s", e->text);
        p->failed++;
        p->left_out = e->left_out;
        p->refused = e->end == RUN_REFUSED;
        g->failed_points += e->left_out && e->end != RUN_TOO_SHORT && e->end != RUN_TOO_SLOW;
        g->hosts_failed += e->end == RUN_HOST_FAILED;
        g->no_time += e->end == RUN_NO_TIME;
        g->too_short += e->end == RUN_TOO_SHORT;
    } else if (e->kind == EVENT_GIVEN_UP) {
        for (int i = 0; i < g->n && !g->budget; i++)
            if (g->v[i].sub == e->sub && g->v[i].have < g->wanted)
                g->v[i].left_out = 1;
    }
}

int campaign_has(const struct campaign *g, int sub)
{
    if (g->budget)
        return g->budget->lists.most[sub] > 0;
    for (int i = 0; i < g->n; i++)
        if (g->v[i].sub == sub)
            return 1;
    return 0;
}

static int point_left(const struct campaign *g, const struct point *p)
{
    return p->left_out || p->have >= g->wanted ? 0 : g->wanted - p->have;
}

int campaign_left(const struct campaign *g, int sub)
{
    int left = 0;

    for (int i = 0; i < g->n; i++)
        if (sub < 0 || g->v[i].sub == sub)
            left += point_left(g, &g->v[i]);
    return left;
}

/* Upper limit of the power of N in wall times: that of dense linear algebra. */
static const double GROWTH_MAX = 3;

/* The longest wall time that point p may take on sub-cluster `sub`, s; 0 if no run there is known. The time of each
 * known run is scaled with the cube of N and in proportion to the part Mi/P of the work on each PE, but never down. The
 * longest result counts. */
static double longest_on(const struct campaign *g, int sub, const struct point *p)
{
    double longest = 0;

    for (int j = 0; j < g->n; j++) {
        const struct point *q = &g->v[j];
        double size, part;

        if (q->wall_s <= 0 || !q->config.pes[sub])
            continue;
        size = fmax((double)p->N / (double)q->N, 1);
        part = fmax((double)p->config.procs[sub] / p->P / ((double)q->config.procs[sub] / q->P), 1);
        longest = fmax(longest, q->wall_s * pow(size, GROWTH_MAX) * part);
    }
    return longest;
}

double campaign_limit(const struct campaign *g, int i)
{
    /* Processes that share a core without yielding were up to 18 times slower (ompi#10426). A start takes a second or
     * two, or some tens of seconds if the file system or the resource manager is loaded. */
    static const double factor = 20, start_s = 60;
    const struct point *p = &g->v[i];
    double longest = 0;

    for (int sub = 0; sub < g->nsubs; sub++) {
        double here = p->config.pes[sub] ? longest_on(g, sub, p) : 0;

        if (p->config.pes[sub] && here <= 0)
            return 0;
        longest = fmax(longest, here);
    }
    return longest > 0 ? factor * longest + start_s : 0;
}

/* The power of N (in_n = 1) or P with which times have grown so far, within least .. most; `most` if not known. */
static double time_growth(const struct campaign *g, int in_n, double least, double most)
{
    double xx = 0, xt = 0;

    for (int i = 0; i < g->n; i++)
        for (int j = 0; j < i; j++) {
            const struct point *p = &g->v[i], *q = &g->v[j];
            double x = in_n ? log((double)p->N / (double)q->N) : log((double)p->P / q->P);

            if (p->wall_s <= 0 || q->wall_s <= 0 || p->sub != q->sub || (in_n ? p->P != q->P : p->N != q->N))
                continue;
            xx += x * x;
            xt += x * log(p->wall_s / q->wall_s);
        }
    return xx > 0 ? fmin(fmax(xt / xx, least), most) : most;
}

/* The expected time of a point that has not run, s, from the nearest known point (if possible on the same sub-cluster)
 * by these powers of N and P; 0 if no point is known. */
static double guess_time(const struct campaign *g, const struct point *p, double in_n, double in_p)
{
    static const double elsewhere = 100;
    double nearest = INFINITY, wall_s = 0;

    for (int i = 0; i < g->n; i++) {
        const struct point *q = &g->v[i];
        double size = log((double)p->N / (double)q->N), parts = log((double)p->P / q->P);
        double distance = fabs(size) + fabs(parts) + (q->sub == p->sub ? 0 : elsewhere);

        if (q->wall_s > 0 && distance < nearest) {
            nearest = distance;
            wall_s = q->wall_s * exp(in_n * size + in_p * parts);
        }
    }
    return wall_s;
}

double campaign_time_left(const struct campaign *g, int sub)
{
    double total = 0, in_n = time_growth(g, 1, 0, GROWTH_MAX), in_p = time_growth(g, 0, -1, 0);

    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        if (sub < 0 || p->sub == sub)
            total += (p->wall_s > 0 ? p->wall_s : guess_time(g, p, in_n, in_p)) * point_left(g, p);
    }
    return total;
}

int campaign_left_is_sure(const struct campaign *g)
{
    for (int i = 0; i < g->n; i++)
        if (g->v[i].wall_s <= 0 && point_left(g, &g->v[i]))
            return 0;
    return 1;
}

static void add_totals_row(struct hrun_table *t, const char *name, const char *hosts, const struct campaign *g, int sub)
{
    int points = 0, left = campaign_left(g, sub);
    double left_s = campaign_time_left(g, sub);

    for (int i = 0; i < g->n; i++)
        points += sub < 0 || g->v[i].sub == sub;
    hrun_table_cell(t, "%s", name);
    hrun_table_cell(t, "%s", hosts);
    hrun_table_cell(t, "%d", points);
    hrun_table_cell(t, "%d", left);
    hrun_table_cell(t, "%s", left_s > 0 ? hrun_seconds(left_s < 10 ? left_s : round(left_s)).s
                             : left ? "not known yet" : "-");
}

static void totals_table(const struct context *c, const struct campaign *g, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrrl");
    autorelease(hrun_buf_release) struct hrun_buf hosts = HRUN_BUF_INIT;

    hrun_table_row(t, "sub-cluster", "hosts", "points", "runs", "time");
    for (int i = 0; i < c->cluster->nsubs; i++) {
        int most = 0;

        for (int k = 0; k < g->n; k++)
            most = g->v[k].config.pes[i] > most ? g->v[k].config.pes[i] : most;
        if (!most)
            continue;
        hrun_buf_reset(&hosts);
        hrun_subcluster_hosts(c->cluster, &c->cluster->subs[i], 0, most, &hosts);
        add_totals_row(t, c->cluster->subs[i].name, hosts.data, g, i);
    }
    add_totals_row(t, "all", "", g, -1);
    hrun_table_render(t, 0, out);
    hrun_table_destroy(t);
}

void campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out)
{
    int deals = hrun_family_of(c->app)->deals_units;
    struct hrun_table *t = hrun_table_create(deals ? "lrrrrrrl" : "lrrrrr");

    if (deals)
        hrun_table_row(t, "sub-cluster", "N", "P", "PEs", "procs/PE", "runs", "rows/process", "");
    else
        hrun_table_row(t, "sub-cluster", "N", "P", "PEs", "procs/PE", "runs");
    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        hrun_table_cell(t, "%s", c->cluster->subs[p->sub].name);
        hrun_table_cell(t, "%lld", (long long)p->N);
        hrun_table_cell(t, "%d", p->P);
        hrun_table_cell(t, "%d", p->config.pes[p->sub]);
        hrun_table_cell(t, "%d", p->config.procs[p->sub]);
        hrun_table_cell(t, "%d", point_left(g, p));
        if (deals) {
            hrun_table_cell(t, "%.10g", p->work);
            hrun_table_cell(t, "%s", p->copies ? "each alone" : "");
        }
    }
    hrun_table_render(t, 0, out);
    hrun_table_destroy(t);
    hrun_buf_addc(out, '\n');
    totals_table(c, g, out);
    hrun_buf_addf(out, "\n%d runs to make; %d points that the rule and %d that the memory excludes\n",
                  campaign_left(g, -1), g->skipped_rule, g->skipped_memory);
}
