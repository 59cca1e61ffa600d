/* campaign.c - which runs a calibration makes; see measure.h and campaign_left.c */
#include "measure.h"

#include "app/template.h"
#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 3 };  /* three tell an outlier from a trend, at the least cost */

static int add_point(struct campaign *g, const int *pes, const int *procs, const double *share, int64_t N, double work,
                     int copies)
{
    size_t n = (size_t)g->nsubs;
    struct point p = { .sub = -1, .N = N, .work = work, .copies = copies };

    for (int i = 0; i < g->n; i++)
        if (g->v[i].N == N && g->v[i].work == work && g->v[i].copies == copies && !g->v[i].share == !share &&
            !memcmp(g->v[i].pes, pes, n * sizeof *pes) &&
            !memcmp(g->v[i].procs, procs, n * sizeof *procs)) {
            if (share)
                memcpy(g->v[i].share, share, n * sizeof *share);
            return i;
        }
    hrun_grow(g->v, g->n + 1, g->cap);
    p.pes = xmalloc(2 * n * sizeof *p.pes);
    if (share) {
        p.share = xmalloc(n * sizeof *share);
        memcpy(p.share, share, n * sizeof *share);
    }
    p.procs = p.pes + n;
    memcpy(p.pes, pes, n * sizeof *pes);
    memcpy(p.procs, procs, n * sizeof *procs);
    for (int i = 0; i < g->nsubs; i++) {
        if (pes[i])
            p.sub = p.P ? -1 : i;
        p.P += pes[i] * procs[i];
    }
    g->v[g->n] = p;
    return g->n++;
}

int campaign_point(struct campaign *g, const int *pes, const int *procs, const double *share, int64_t N)
{
    return add_point(g, pes, procs, share, N, 0, 0);
}

/* Add the point of sub-cluster `sub` alone; work: 0 for equal shares. */
static void add_alone(struct campaign *g, int sub, int pes, int m, int64_t N, double work, int copies)
{
    int *config = xcalloc(2 * (size_t)g->nsubs, sizeof *config);

    config[sub] = pes;
    config[g->nsubs + sub] = m;
    add_point(g, config, config + g->nsubs, NULL, N, work, copies);
    free(config);
}

/* Count what the log already holds of each point of sub-cluster i. */
static int count_measured(struct context *c, int i, struct campaign *g, struct hrun_error *err)
{
    struct hrun_samples samples = { 0 };
    struct hrun_buf consts = HRUN_BUF_INIT;

    if (hrun_store_samples(c->store, c->app->name, c->signatures.v[i], &samples, err))
        return -1;
    hrun_samples_current(&samples);
    hrun_app_consts_text(c->app, &consts);
    for (size_t k = 0; k < samples.n; k++) {
        const struct hrun_sample *s = &samples.v[k];

        if (!s->ok || s->mixed || strcmp(s->consts ? s->consts : "", consts.data))
            continue;
        for (int j = 0; j < g->n; j++) {
            struct point *p = &g->v[j];

            if (p->sub != i || p->N != s->N || p->pes[i] != s->pes || p->procs[i] != s->M ||
                p->work != s->work || p->copies != s->copies)
                continue;
            p->wall_s = (p->wall_s * p->have + s->wall_s) / (p->have + 1);
            p->have++;
        }
        campaign_see_time(g, s->time_s);
    }
    hrun_buf_release(&consts);
    hrun_samples_release(&samples);
    return 0;
}

/* The points of one sub-cluster for one number of processes per PE. */
static int add_grid(struct context *c, const struct lists *l, int i, int m, struct campaign *g,
                    struct hrun_error *err)
{
    const struct hrun_subcluster *sub = &c->cluster->subs[i];
    int64_t own[HRUN_DESIGN_PES];
    const int64_t *pes = l->pes.n ? l->pes.v : own;
    int npes = l->pes.n ? l->pes.n : hrun_design_pes(l->most[i], own);

    for (int j = 0; j < npes; j++) {
        if (pes[j] > l->most[i])
            break;
        for (int k = 0; k < l->sizes.n; k++) {
            int64_t P = pes[j] * m, N = hrun_design_size(c->app, l->sizes.v[k], P, err);
            double bytes;

            if (N < 0)
                return -1;
            if (!N) {
                g->skipped_rule++;
                continue;
            }
            if (hrun_app_memory(c->app, N, P, &bytes, err))
                return -1;
            if (sub->memory_bytes && bytes * m > (double)sub->memory_bytes) {
                g->skipped_memory++;
                continue;
            }
            add_alone(g, i, (int)pes[j], m, N, 0, 0);
        }
    }
    return 0;
}

/* The points that the family wants of one sub-cluster and one number of processes per PE. */
static int add_wanted(struct context *c, const struct calib_settings *s, const struct lists *l, int i, int m,
                      struct campaign *g, struct hrun_error *err)
{
    const struct hrun_family_place place = { l->most[i], m, s->P, (double)c->cluster->subs[i].memory_bytes / m };
    struct hrun_family_point v[HRUN_FAMILY_POINTS];

    for (int k = 0; k < l->sizes.n; k++) {
        int n = hrun_family_of(c->app)->points(c->app, l->sizes.v[k], &place, v, err);

        if (n == -1)
            return -1;
        g->skipped_memory += n == HRUN_POINTS_MEMORY ? HRUN_FAMILY_POINTS : 0;
        g->skipped_rule += n == HRUN_POINTS_RULE ? HRUN_FAMILY_POINTS : 0;
        for (int j = 0; j < n; j++)
            add_alone(g, i, v[j].pes, m, l->sizes.v[k], v[j].work, v[j].copies);
    }
    return 0;
}

int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *out, struct hrun_error *err)
{
    struct campaign g = { .wanted = s->repetitions ? (int)s->repetitions : REPETITIONS, .nsubs = c->cluster->nsubs };
    struct lists l = { .most = NULL };

    if (lists_read(c, s, &l, err) || hrun_check_count("--repetitions", g.wanted, 1, 1000, err))
        goto fail;
    for (int i = 0; i < c->cluster->nsubs; i++) {
        if (!l.most[i])
            continue;
        for (int j = 0; j < l.procs.n; j++)
            if (hrun_family_of(c->app)->points ? add_wanted(c, s, &l, i, (int)l.procs.v[j], &g, err) :
                add_grid(c, &l, i, (int)l.procs.v[j], &g, err))
                goto fail;
        if (!s->again && !s->redo && count_measured(c, i, &g, err))
            goto fail;
    }
    if (!g.n) {
        hrun_fail(err, HRUN_EINVAL, "nothing to measure: the rule '%s' excludes %d points, memory %d; try other "
                  "--sizes", hrun_expr_text(c->app->rule), g.skipped_rule, g.skipped_memory);
        goto fail;
    }
    lists_release(&l);
    *out = g;
    return 0;
fail:
    lists_release(&l);
    campaign_release(&g);
    return -1;
}

void campaign_release(struct campaign *g)
{
    for (int i = 0; i < g->n; i++) {
        free(g->v[i].pes);
        free(g->v[i].share);
    }
    free(g->v);
    budget_destroy(g->budget);
    memset(g, 0, sizeof *g);
}
