/* campaign_left.c - how the runs of a campaign went, which are left, and how long they will take; see campaign.h */
#include "campaign.h"

#include "base/table.h"
#include "base/units.h"
#include "budget.h"
#include "fit/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void campaign_see_time(struct campaign *g, double time_s)
{
    double both[] = { time_s, g->step_s };

    g->step_s = hrun_times_step(both, g->timed++ ? 2 : 1);
}

double campaign_step(const struct campaign *g)
{
    enum { FEWEST = 5 };    /* as hrun_times_rounding */

    return g->timed < FEWEST ? 0 : g->step_s;
}

void campaign_note(struct campaign *g, const struct event *e)
{
    struct point *p = &g->v[e->point];

    if (e->kind == EVENT_RUN && e->ok) {
        p->wall_s = (p->wall_s * p->have + e->wall_s) / (p->have + 1);
        p->have++;
        g->good++;
        campaign_see_time(g, e->time_s);
    } else if (e->kind == EVENT_RUN) {
        snprintf(g->last_failure, sizeof g->last_failure, "%s", e->text);
        p->failed++;
        p->left_out = e->left_out;
        g->failed_points += e->left_out && !e->too_short;
        g->hosts_failed += e->host_failed;
        g->no_time += e->no_time;
        g->too_short += e->too_short;
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

static int runs_left(const struct campaign *g, const struct point *p)
{
    return p->left_out || p->have >= g->wanted ? 0 : g->wanted - p->have;
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

/* Wall time as start_s + factor N^in_n / PEs^in_pes, with a factor for each sub-cluster. */
struct growth {
    double in_n, in_pes, start_s;
};

static double load(const struct growth *w, const struct point *p)
{
    return pow((double)p->N, w->in_n) / pow(p->sub < 0 ? p->P : p->pes[p->sub], w->in_pes);
}

/* The factor of a sub-cluster is mean - start_s slope. */
struct factor {
    double mean, slope;
};

/* That of one sub-cluster, by least squares of relative deviations. One of which nothing is known has that of all
 * others. */
static struct factor find_factor(const struct campaign *g, const struct growth *w, int sub)
{
    double xx = 0, xt = 0, x1 = 0, x;

    for (int any = 0; any < 2 && xx == 0; any++)
        for (int i = 0; i < g->n; i++) {
            const struct point *p = &g->v[i];

            if (p->wall_s <= 0 || (p->sub != sub && !any))
                continue;
            x = load(w, p) / p->wall_s;
            xx += x * x;
            xt += x;
            x1 += x / p->wall_s;
        }
    return xx > 0 ? (struct factor){ xt / xx, x1 / xx } : (struct factor){ 0, 0 };
}

/* factors[nsubs + 1]: of runs on several sub-clusters (sub = -1) first. */
static void find_factors(const struct campaign *g, const struct growth *w, struct factor *factors)
{
    for (int sub = -1; sub < g->nsubs; sub++)
        factors[sub + 1] = find_factor(g, w, sub);
}

static double foretell(const struct factor *factors, const struct growth *w, const struct point *p)
{
    const struct factor *f = &factors[p->sub + 1];

    return w->start_s + fmax(f->mean - w->start_s * f->slope, 0) * load(w, p);
}

/* The best start_s of these powers, with its factors. Result: the sum of squared relative deviations. */
static double fit_start(const struct campaign *g, struct growth *w, struct factor *factors)
{
    double least = INFINITY, up = 0, down = 0, sum = 0;

    find_factors(g, w, factors);
    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];
        const struct factor *f = &factors[p->sub + 1];
        double x, y;

        if (p->wall_s <= 0)
            continue;
        x = (1 - f->slope * load(w, p)) / p->wall_s;
        y = 1 - f->mean * load(w, p) / p->wall_s;
        up += x * y;
        down += x * x;
        least = fmin(least, p->wall_s);
    }
    w->start_s = down > 0 ? fmin(fmax(up / down, 0), least) : 0;
    for (int i = 0; i < g->n; i++)
        if (g->v[i].wall_s > 0)
            sum += pow(foretell(factors, w, &g->v[i]) / g->v[i].wall_s - 1, 2);
    return sum;
}

/* How wall time has grown so far, with its factors. Result: 0; -1 while runs of one size are known and others are to be
 * made: nothing honest can be said. */
static int find_growth(const struct campaign *g, struct growth *out, struct factor *factors)
{
    /* Where powers explain the runs alike the first one counts: most codes lie between. */
    static const double in_n[] = { 2, 3, 2.5, 1.5, 1, 0.5, 0 }, in_pes[] = { 1, 0.5, 0 };
    const struct point *known = NULL;
    double best = INFINITY;
    int sizes = 0, unknown = 0;

    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];

        if (p->wall_s > 0 && !known)
            known = p;
        sizes |= known && p->wall_s > 0 && p->N != known->N;
        unknown |= known && p->wall_s <= 0 && p->N != known->N;
    }
    if (!known || (unknown && !sizes))
        return -1;
    for (size_t i = 0; i < sizeof in_n / sizeof *in_n; i++)
        for (size_t j = 0; j < sizeof in_pes / sizeof *in_pes; j++) {
            struct growth w = { in_n[i], in_pes[j], 0 };
            double sum = fit_start(g, &w, factors) + 1e-6;

            if (sum < 0.99 * best) {
                best = sum;
                *out = w;
            }
        }
    find_factors(g, out, factors);
    return 0;
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
    struct factor *factors = calloc((size_t)g->nsubs + 1, sizeof *factors);
    struct growth w;
    double total = 0;
    int known = factors && !find_growth(g, &w, factors);

    for (int i = 0; i < g->n && known; i++) {
        const struct point *p = &g->v[i];
        int runs = runs_left(g, p);

        if (!runs || (sub >= 0 && p->sub != sub))
            continue;
        total += (p->wall_s > 0 ? p->wall_s : foretell(factors, &w, p)) * runs;
    }
    free(factors);
    return total;
}

int campaign_left_is_sure(const struct campaign *g)
{
    enum { TELL = 4 };            /* runs of a sub-cluster: the speed shows beside the start-up */
    int64_t known = 0, left = 0;

    for (int i = 0; i < g->n; i++) {
        const struct point *p = &g->v[i];
        int of_sub = 0;

        if (p->wall_s > 0)
            known = p->N > known ? p->N : known;
        if (!runs_left(g, p))
            continue;
        left = p->N > left ? p->N : left;
        for (int j = 0; j < g->n; j++)
            of_sub += g->v[j].wall_s > 0 && g->v[j].sub == p->sub;
        if (p->wall_s <= 0 && of_sub < TELL)
            return 0;
    }
    return left <= known;
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

static void add_total(struct hrun_table *t, const char *name, const char *hosts, const struct campaign *g, int sub)
{
    int points = 0, left = campaign_left(g, sub);

    for (int i = 0; i < g->n; i++)
        points += sub < 0 || g->v[i].sub == sub;
    hrun_table_cell(t, "%s", name);
    hrun_table_cell(t, "%s", hosts);
    hrun_table_cell(t, "%d", points);
    hrun_table_cell(t, "%d", left);
    add_time(t, campaign_time_left(g, sub), left);
}

/* Runs and time of each sub-cluster and in all. */
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
        add_total(t, c->cluster->subs[i].name, hosts.data, g, i);
    }
    add_total(t, "all", "", g, -1);
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
