/* remeasure.c - suspicious points are measured again; see remeasure.h */
#include "remeasure.h"

#include "calib.h"

#include "base/units.h"
#include "model/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 1,          /* two that agree against one that does not tell which is right */
    PART = 10,         /* of the runs of the grid, one in so many at most: twice the part of glitches on noisy hosts */
    NAMED = 3          /* points that are named */
};

int remeasure_runs(const struct calib_settings *s)
{
    return s->no_fit || (s->common.fit && !strcmp(s->common.fit, "ls")) ? 0
           : s->remeasure < 0 ? RUNS : (int)s->remeasure;
}

/* The point of the campaign that is suspicious and may still be measured again, or NULL. */
static struct point *find(struct campaign *g, int sub, const struct hrun_suspect *x)
{
    for (int i = 0; i < g->n; i++) {
        struct point *p = &g->v[i];

        if (p->sub == sub && p->N == x->N && p->P == x->P && p->procs[sub] == x->M)
            return p->left_out || p->extra || p->have > g->wanted ? NULL : p;
    }
    return NULL;
}

/* Suspicious points of one sub-cluster into *found. */
static int suspects(struct context *c, int sub, struct hrun_suspect **found, size_t *count, struct hrun_error *err)
{
    struct hrun_samples samples = { 0 };
    struct hrun_models *m = NULL;
    struct hrun_fit_options options;
    struct hrun_error why = { 0 };
    int rc = -1;

    *found = NULL;
    *count = 0;
    if (fit_options(c->set, &options, err) ||
        hrun_store_samples(c->store, c->app->name, c->signatures.v[sub], &samples, err))
        return -1;
    hrun_samples_current(&samples);
    options.net = c->view;
    options.own = c->view ? sub : -1;
    if (!hrun_model_fit(c->app, samples.v, samples.n, &options, &m, NULL, &why))
        rc = hrun_model_suspects(c->app, m, samples.v, samples.n, &options, found, count, &why);
    if (rc && why.code == HRUN_ENODATA)
        rc = 0;
    if (rc && err)
        *err = why;
    hrun_models_destroy(m);
    hrun_samples_release(&samples);
    return rc;
}

int remeasure_mark(struct context *c, struct campaign *g, int runs, struct hrun_buf *words, struct hrun_error *err)
{
    int marked = 0, left = g->n * g->wanted / PART;

    if (left < runs)
        left = runs;
    for (int sub = 0; sub < c->cluster->nsubs; sub++) {
        struct hrun_suspect *found;
        size_t count;

        if (suspects(c, sub, &found, &count, err))
            return -1;
        for (size_t i = 0; i < count && left >= runs; i++) {
            struct point *p = find(g, sub, &found[i]);

            if (!p)
                continue;
            p->extra = p->have - g->wanted + runs;
            left -= runs;
            if (marked++ >= NAMED)
                continue;
            hrun_buf_addf(words, "%s%s N=%lld P=%d (", marked > 1 ? ", " : "", c->cluster->subs[sub].name,
                          (long long)p->N, p->P);
            hrun_add_seconds(words, found[i].time_s);
            hrun_buf_addf(words, ", %.0f times the usual scatter)", fabs(found[i].deviation));
        }
        free(found);
    }
    if (marked > NAMED)
        hrun_buf_addf(words, " and %d more", marked - NAMED);
    return words->failed ? hrun_fail_nomem(err) : marked;
}
