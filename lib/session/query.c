/* query.c - predictions without a run; see query.h */
#include "session/query.h"

#include "base/units.h"
#include "session/document.h"
#include "session/number.h"
#include "session/placement.h"
#include "session/problem.h"

#include <math.h>
#include <stdlib.h>

/* Fail because sub-cluster i has no model. */
static int no_profile(const struct context *c, const struct profiles *p, int i, struct hrun_error *err)
{
    const struct sub_profile *s = &p->subs[i];
    const char *sub = c->cluster->subs[i].name;

    if (s->why_not)
        return hrun_fail(err, s->unreadable ? s->unreadable : HRUN_ENODATA, "the profile of %s on sub-cluster %s "
                         "cannot be used: %s", c->app->name, sub, s->why_not);
    if (s->other_engine)
        return hrun_fail(err, HRUN_ENODATA, "sub-cluster %s has a profile of %s for engine %s, and none for engine %s: "
                         "say engine %s to use it", sub, c->app->name, s->other_engine, c->engine->name,
                         s->other_engine);
    return hrun_fail(err, HRUN_ENODATA, "sub-cluster %s has no profile of %s with engine %s and MPI %s; hrun-calibrate "
                     "%s%s makes one", sub, c->app->name, c->engine->name, c->mpi.id, c->problem ? "with its words" :
                     "-app ", c->problem ? "" : c->app->name);
}

int profiles_none(const struct context *c, const struct profiles *p, struct hrun_error *err)
{
    int i = 0;

    while (i < p->nsubs - 1 && !p->subs[i].why_not && !p->subs[i].other_engine)
        i++;
    return no_profile(c, p, p->subs[i].why_not || p->subs[i].other_engine ? i : 0, err);
}

int query_find(struct context *c, struct query *q, struct hrun_error *err)
{
    struct work w = { .c = c, .programs = q->programs };

    c->set = q->set;
    if (context_app(c, q->words[0], err) || problem_find(c, q->programs.n ? NULL : q->words, q->N, err))
        return -1;
    q->N = w.N = c->app && c->app->fixed ? 1 : c->number ? c->number->N : q->N;
    w.words = (char **)number_words(c, q->words);
    if (!q->N)
        return hrun_fail(err, HRUN_EINVAL, "a prediction needs a size: give -N SIZE");
    if (!c->app)
        return hrun_fail(err, HRUN_ENOENT, "a prediction needs an app definition: name one with -app (hrun "
                         "--list-apps)");
    return q->words[0] ? work_find_program(&w, 0, err) : 0;
}

/* Append the answer for a configuration (NULL: the best one). */
static int answer_one(struct context *c, const struct query *q, struct variants *apps, const char *config,
                      struct hrun_buf *out, struct hrun_error *err)
{
    struct question ask = q->ask;
    const struct variant_view *chosen;
    const struct decision *d;
    struct hrun_layout *layout;

    ask.config = config;
    ask.table = c->set->json;
    if (variants_choose(c, &ask, q->N, apps, err))
        return -1;
    chosen = &apps->v[apps->chosen];
    d = &chosen->d;
    for (int i = 0; i < d->nsubs && !d->predicted.known; i++)
        if (d->config.pes[i] && !chosen->known.subs[i].models)
            return no_profile(c, &chosen->known, i, err);
    if (!d->predicted.known)
        return hrun_fail(err, HRUN_ENODATA, "the models of %s do not predict %s with %s at N = %lld", c->app->name,
                         d->has_config ? hrun_config_text(&d->config).s : "PEs with different numbers of processes",
                         hrun_counted(d->P, "process").s, (long long)d->N);
    if (!c->set->json) {
        hrun_buf_addf(out, "%.6g %.6g %.6g %s\n", d->predicted.time.mid, d->predicted.time.low, d->predicted.time.high,
                      hrun_config_text(&d->config).s);
        return 0;
    }
    if (placement_layout(c, d, &layout, err))
        return -1;
    document_plan(c, d, &(struct command){ .layout = layout }, out);
    hrun_layout_destroy(layout);
    return 0;
}

static int answer_all(struct context *c, const struct query *q, struct variants *apps, struct hrun_buf *out,
                      struct hrun_error *err)
{
    size_t n = q->configs->n;
    int array = c->set->json && n > 1, k = 0;

    while (k < apps->n && !apps->v[k].known.have)
        k++;
    if (k == apps->n) {
        c->app = apps->v[0].app;
        return profiles_none(c, &apps->v[0].known, err);
    }
    for (size_t i = 0; i < n; i++) {
        if (array)
            hrun_buf_adds(out, i ? "," : "[");
        if (answer_one(c, q, apps, q->configs->v[i], out, err))
            return n > 1 ? hrun_fail_prefix(err, "%s", q->configs->v[i]) : -1;
    }
    if (array)
        hrun_buf_adds(out, "]\n");
    return n ? 0 : answer_one(c, q, apps, NULL, out, err);
}

int query_answer(struct context *c, const struct query *q, struct hrun_buf *out, struct hrun_error *err)
{
    autorelease(variants_release) struct variants apps = { 0 };

    return context_choose_engine(c, 0, err) || variants_load(c, &apps, err) || answer_all(c, q, &apps, out, err)
           ? -1 : 0;
}
