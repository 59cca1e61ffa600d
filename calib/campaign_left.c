/* campaign_left.c - how the runs of a campaign went, which are left, and how long they will take; see campaign.h */
#include "campaign.h"

#include "base/table.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void campaign_note(struct campaign *g, const struct event *e)
{
    struct point *p = &g->v[e->point];

    if (e->kind == EVENT_RUN && e->ok) {
        p->wall_s = (p->wall_s * p->have + e->wall_s) / (p->have + 1);
        p->have++;
        g->good++;
    } else if (e->kind == EVENT_RUN) {
        snprintf(g->last_failure, sizeof g->last_failure, "%s", e->text);
        p->failed++;
        p->left_out = e->left_out;
        g->failed_points += e->left_out;
        g->hosts_failed += e->host_failed;
    } else if (e->kind == EVENT_GIVEN_UP) {
        for (int i = 0; i < g->n && !g->budget; i++)
            if (g->v[i].sub == e->sub && g->v[i].have < g->wanted + g->v[i].extra)
                g->v[i].left_out = 1;
    }
}

int campaign_has(const struct campaign *g, int sub)
{
    for (int i = 0; i < g->n; i++)
        if (g->v[i].sub == sub)
            return 1;
    return 0;
}

static int runs_left(const struct campaign *g, const struct point *p)
{
    int wanted = g->wanted + p->extra;

    return p->left_out || p->have >= wanted ? 0 : wanted - p->have;
}

int campaign_left(const struct campaign *g, int sub)
{
    int left = 0;

    for (int i = 0; i < g->n; i++)
        if (sub < 0 || g->v[i].sub == sub)
            left += runs_left(g, &g->v[i]);
    return left;
}

/* Wall time grows with at most this power of N: dense linear algebra. */
static const double GROWTH_MAX = 3;

/* How wall time has grown with N so far: the slope of log time over log N between the smallest and the largest known
 * size, kept between 0 and GROWTH_MAX. NAN while there is one size only: nothing honest can be said. */
static double growth(const struct campaign *g)
{
    const struct point *lo = NULL, *hi = NULL;
    double slope;

    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        if (p->wall_s <= 0)
            continue;
        if (!lo || p->N < lo->N)
            lo = p;
        if (!hi || p->N > hi->N)
            hi = p;
    }
    if (!lo || lo->N == hi->N)
        return NAN;
    slope = log(hi->wall_s / lo->wall_s) / log((double)hi->N / (double)lo->N);
    return fmin(fmax(slope, 0), GROWTH_MAX);
}

/* Of one run of point p; NAN or 0 while not known. */
static double expected(const struct campaign *g, const struct point *p, double slope)
{
    const struct point *best = NULL;
    double distance, least = INFINITY;

    if (p->wall_s > 0)
        return p->wall_s;
    for (int j = 0; j < g->n; j++) {
        const struct point *q = &g->v[j];

        if (q->wall_s <= 0)
            continue;
        distance = fabs(log((double)p->N / (double)q->N)) + fabs(log((double)p->P / q->P)) +
                   (p->sub != q->sub);
        if (distance < least) {
            least = distance;
            best = q;
        }
    }
    if (!best)
        return 0;
    return best->N == p->N ? best->wall_s : best->wall_s * pow((double)p->N / (double)best->N, slope);
}

/* The longest time that known runs with PEs of a sub-cluster let expect of point p, which has some, too: each PE's part
 * of the work, Mi of P, is larger on fewer PEs. 0: there is no such run. */
static double longest_on(const struct campaign *g, int sub, const struct point *p)
{
    double longest = 0;

    for (int j = 0; j < g->n; j++) {
        const struct point *q = &g->v[j];
        double size, part;

        if (q->wall_s <= 0 || !q->pes[sub])
            continue;
        size = fmax((double)p->N / (double)q->N, 1);
        part = fmax((double)p->procs[sub] / p->P / ((double)q->procs[sub] / q->P), 1);
        longest = fmax(longest, q->wall_s * pow(size, GROWTH_MAX) * part);
    }
    return longest;
}

double campaign_limit(const struct campaign *g, int i)
{
    /* Processes that share a core without yielding were up to 18 times slower than they should be (ompi#10426); a start
     * takes a second or two, and a loaded file system or a busy resource manager some tens of them. */
    static const double factor = 20, start_s = 60;
    const struct point *p = &g->v[i];
    double longest = 0;

    for (int sub = 0; sub < g->nsubs; sub++) {
        double here = p->pes[sub] ? longest_on(g, sub, p) : 0;

        if (p->pes[sub] && here <= 0)
            return 0;
        longest = fmax(longest, here);
    }
    return longest > 0 ? factor * longest + start_s : 0;
}

double campaign_time_left(const struct campaign *g, int sub)
{
    double total = 0, slope = growth(g), est;

    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];
        int runs = runs_left(g, p);

        if (!runs || (sub >= 0 && p->sub != sub))
            continue;
        est = expected(g, p, slope);
        if (isnan(est))
            return 0;
        total += est * runs;
    }
    return total;
}

double campaign_time_left_parallel(const struct campaign *g)
{
    double longest = 0;

    for (int k = 0; k < g->ngroups; k++) {
        double total = 0;

        for (int i = 0; i < g->nsubs; i++) {
            double part = g->group[i] == k ? campaign_time_left(g, i) : 0;

            if (part == 0 && g->group[i] == k && campaign_left(g, i))
                return 0;
            total += part;
        }
        longest = fmax(longest, total);
    }
    return longest;
}

static void add_time(struct hrun_table *t, double seconds, int runs)
{
    struct hrun_buf text = HRUN_BUF_INIT;

    if (seconds > 0)
        hrun_add_seconds(&text, seconds < 10 ? seconds : round(seconds));
    else
        hrun_buf_adds(&text, runs ? "not known yet" : "-");
    hrun_table_cell(t, "%s", text.data);
    hrun_buf_release(&text);
}

static void add_total(struct hrun_table *t, const char *name, const char *hosts, const struct campaign *g, int sub,
                      double seconds)
{
    int points = 0, left = campaign_left(g, sub);

    for (int i = 0; i < g->n; i++)
        points += sub < 0 || g->v[i].sub == sub;
    hrun_table_cell(t, "%s", name);
    hrun_table_cell(t, "%s", hosts);
    hrun_table_cell(t, "%d", points);
    hrun_table_cell(t, "%d", left);
    add_time(t, seconds, left);
}

/* Runs and time of each sub-cluster and in all, the way the campaign will be made. */
static int totals_table(const struct context *c, const struct campaign *g, struct hrun_buf *out)
{
    struct hrun_table *t = hrun_table_create("llrrl");
    struct hrun_buf hosts = HRUN_BUF_INIT;
    int rc;

    if (!t)
        return -1;
    hrun_table_row(t, "sub-cluster", "hosts", "points", "runs", "time");
    for (int i = 0; i < c->cluster->nsubs; i++) {
        int most = 0;

        for (int k = 0; k < g->n; k++)
            most = g->v[k].pes[i] > most ? g->v[k].pes[i] : most;
        if (!most)
            continue;
        hrun_buf_reset(&hosts);
        hrun_subcluster_hosts(c->cluster, &c->cluster->subs[i], 0, most, &hosts);
        add_total(t, c->cluster->subs[i].name, hosts.data, g, i, campaign_time_left(g, i));
    }
    add_total(t, "all, one after the other", "", g, -1, campaign_time_left(g, -1));
    if (g->ngroups > 1)
        add_total(t, "all, with --parallel", "", g, -1, campaign_time_left_parallel(g));
    rc = hrun_table_render(t, 0, out);
    hrun_table_destroy(t);
    hrun_buf_release(&hosts);
    return rc;
}

int campaign_table(const struct context *c, const struct campaign *g, struct hrun_buf *out)
{
    int weak = c->app->family == HRUN_APP_WEAK, rc;
    struct hrun_table *t = hrun_table_create(weak ? "lrrrrrrl" : "lrrrrr");

    if (!t)
        return -1;
    if (weak)
        hrun_table_row(t, "sub-cluster", "N", "P", "PEs", "procs/PE", "runs", "rows/process", "");
    else
        hrun_table_row(t, "sub-cluster", "N", "P", "PEs", "procs/PE", "runs");
    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        hrun_table_cell(t, "%s", c->cluster->subs[p->sub].name);
        hrun_table_cell(t, "%lld", (long long)p->N);
        hrun_table_cell(t, "%d", p->P);
        hrun_table_cell(t, "%d", p->pes[p->sub]);
        hrun_table_cell(t, "%d", p->procs[p->sub]);
        hrun_table_cell(t, "%d", runs_left(g, p));
        if (weak) {
            hrun_table_cell(t, "%.10g", p->work);
            hrun_table_cell(t, "%s", p->copies ? "each alone" : "");
        }
    }
    rc = hrun_table_render(t, 0, out);
    hrun_table_destroy(t);
    hrun_buf_addc(out, '\n');
    if (!rc)
        rc = totals_table(c, g, out);
    hrun_buf_addf(out, "\n%d runs to make; %d points that the rule and %d that the memory excludes\n",
                  campaign_left(g, -1), g->skipped_rule, g->skipped_memory);
    return rc;
}
