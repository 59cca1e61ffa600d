/* campaign.c - the points of a calibration; see campaign.h and campaign_left.c */
#include "budget.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 3 };  /* the least number that distinguishes an outlier */

/* Add a copy of p. If the campaign already has an equal point, only copy p's shares to the equal point. Equal points
 * have the same configuration, size, work and copies, and either both have shares or neither. Result: the index. */
static int add_campaign_point(struct campaign *g, struct point p)
{
    size_t bytes = (size_t)g->nsubs * sizeof *p.share;

    for (int i = 0; i < g->n; i++) {
        struct point *q = &g->v[i];

        if (q->N != p.N || q->work != p.work || q->copies != p.copies || !q->share != !p.share ||
            !hrun_config_equal(&q->config, &p.config))
            continue;
        if (p.share)
            memcpy(q->share, p.share, bytes);
        return i;
    }
    p.sub = -1;
    p.P = hrun_config_processes(&p.config);
    for (int i = 0, used = 0; i < g->nsubs; i++)
        if (p.config.pes[i])
            p.sub = used++ ? -1 : i;
    p.share = p.share ? memcpy(xmalloc(bytes), p.share, bytes) : NULL;
    hrun_grow(g->v, g->n + 1, g->cap);
    g->v[g->n] = p;
    return g->n++;
}

int campaign_point(struct campaign *g, const struct hrun_config *config, const double *share, int64_t N)
{
    return add_campaign_point(g, (struct point){ .N = N, .config = *config, .share = (double *)share });
}

/* Count the measurements of each point of sub-cluster i in the log. */
static int count_measured(struct context *c, int i, struct campaign *g, struct hrun_error *err)
{
    autorelease(hrun_samples_release) struct hrun_samples samples = { 0 };
    autorelease(hrun_buf_release) struct hrun_buf consts = HRUN_BUF_INIT;

    if (hrun_store_samples(c->store, c->app->name, c->signatures.v[i], &samples, err))
        return -1;
    hrun_samples_current(&samples);
    hrun_app_consts_text(c->app, &consts);
    for (size_t k = 0; k < samples.n; k++) {
        const struct hrun_sample *s = &samples.v[k];
        struct point *found = NULL;

        if (!s->ok || s->mixed || strcmp(s->consts ? s->consts : "", consts.data))
            continue;
        for (int j = 0; j < g->n && !found; j++) {
            struct point *p = &g->v[j];

            if (p->sub == i && p->N == s->N && p->config.pes[i] == s->pes && p->config.procs[i] == s->M &&
                p->work == s->work && p->copies == s->copies)
                found = p;
        }
        campaign_count(g, found, s->time_s, s->wall_s);
    }
    return 0;
}

/* A sub-cluster, and a number of processes on each of its PEs. */
struct grid_place {
    const struct hrun_app *app;
    const struct lists *lists;
    int sub, m;
    double memory_bytes;            /* of a PE; 0: not known */
};

/* Add the points of a place, one for each of its numbers of PEs and each size. */
static int add_grid(const struct grid_place *at, struct campaign *g, struct hrun_error *err)
{
    const struct lists *l = at->lists;
    int64_t own[HRUN_DESIGN_PES];
    const int64_t *pes = l->pes.n ? l->pes.v : own;
    int npes = l->pes.n ? l->pes.n : hrun_design_pes(l->most[at->sub], own);

    for (int j = 0; j < npes && pes[j] <= l->most[at->sub]; j++)
        for (int k = 0; k < l->sizes.n; k++) {
            int64_t P = pes[j] * at->m, N = hrun_design_size(at->app, l->sizes.v[k], P, err);
            double bytes;

            if (N < 0 || (N && hrun_app_memory(at->app, N, P, &bytes, err)))
                return -1;
            if (!N)
                g->skipped_rule++;
            else if (at->memory_bytes > 0 && bytes * at->m > at->memory_bytes)
                g->skipped_memory++;
            else
                add_campaign_point(g, (struct point){ .N = N, .config = hrun_config_alone(g->nsubs, at->sub,
                                                                                         (int)pes[j], at->m) });
        }
    return 0;
}

/* Add the points that the family needs at a place; P: processes of the target run. */
static int add_family_points(const struct grid_place *at, int64_t P, struct campaign *g, struct hrun_error *err)
{
    const struct lists *l = at->lists;
    const struct hrun_family_place place = { l->most[at->sub], at->m, P, at->memory_bytes / at->m };
    struct hrun_family_point v[HRUN_FAMILY_POINTS];

    for (int k = 0; k < l->sizes.n; k++) {
        int n = hrun_family_of(at->app)->points(at->app, l->sizes.v[k], &place, v, err);

        if (n == -1)
            return -1;
        g->skipped_memory += n == HRUN_POINTS_MEMORY ? HRUN_FAMILY_POINTS : 0;
        g->skipped_rule += n == HRUN_POINTS_RULE ? HRUN_FAMILY_POINTS : 0;
        for (int j = 0; j < n; j++)
            add_campaign_point(g, (struct point){ .N = l->sizes.v[k], .work = v[j].work, .copies = v[j].copies,
                                                  .config = hrun_config_alone(g->nsubs, at->sub, v[j].pes, at->m) });
    }
    return 0;
}

int campaign_build(struct context *c, const struct calib_settings *s, struct campaign *g, struct hrun_error *err)
{
    autorelease(lists_release) struct lists l = { .most = NULL };

    *g = (struct campaign){ .wanted = s->repetitions ? (int)s->repetitions : REPETITIONS, .nsubs = c->cluster->nsubs };
    if (lists_read(c, s, &l, err) || hrun_check_count("--repetitions", g->wanted, 1, 1000, err))
        return -1;
    for (int i = 0; i < c->cluster->nsubs; i++) {
        for (int j = 0; j < l.procs.n && l.most[i]; j++) {
            const struct grid_place at = { c->app, &l, i, (int)l.procs.v[j],
                                           (double)c->cluster->subs[i].memory_bytes };

            if (hrun_family_of(c->app)->points ? add_family_points(&at, s->P, g, err) : add_grid(&at, g, err))
                return -1;
        }
        if (l.most[i] && !s->again && !s->redo && count_measured(c, i, g, err))
            return -1;
    }
    if (!g->n)
        return hrun_fail(err, HRUN_EINVAL, "nothing to measure: the rule '%s' excludes %d points, memory %d; try other "
                         "--sizes", hrun_expr_text(c->app->rule), g->skipped_rule, g->skipped_memory);
    return 0;
}

void campaign_release(struct campaign *g)
{
    for (int i = 0; i < g->n; i++)
        free(g->v[i].share);
    free(g->v);
    budget_destroy(g->budget);
    memset(g, 0, sizeof *g);
}
