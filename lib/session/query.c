/* query.c - predictions without a run; see query.h */
#include "session/query.h"

#include "base/alloc.h"
#include "base/units.h"
#include "session/document.h"
#include "session/number.h"
#include "session/placement.h"
#include "session/problem.h"

#include <math.h>
#include <stdlib.h>

/* Why sub-cluster i has no model. */
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

/* Of a configuration that the models do not predict. */
static int not_predicted(const struct context *c, const struct profiles *p, const struct decision *d,
                         struct hrun_error *err)
{
    for (int i = 0; i < d->nsubs; i++)
        if (d->config.pes[i] && !p->subs[i].models)
            return no_profile(c, p, i, err);
    return hrun_fail(err, HRUN_ENODATA, "the models of %s say nothing of %s with %s at N = %lld", c->app->name,
                     d->has_config ? hrun_config_text(&d->config).s : "PEs with different numbers of processes",
                     hrun_counted(d->P, "process").s, (long long)d->N);
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

/* Decide for c->app. Only a decision that is predicted counts. */
static int ask_app(struct context *c, const struct question *ask, const struct profiles *known, int64_t N,
                   struct decision *out, struct hrun_error *err)
{
    struct decision d;

    if (!known->have)
        return profiles_none(c, known, err);
    if (decision_make(c, ask, known, N, &d, err))
        return -1;
    if (!d.predicted.known) {
        not_predicted(c, known, &d, err);
        decision_release(&d);
        return -1;
    }
    *out = d;
    return 0;
}

/* Append what is asked of a decision for c->app. */
static int add_answer(struct context *c, const struct decision *d, struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_layout *layout;

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

/* The applications that are asked: the definition's variants, unless one is named. */
struct asked_apps {
    struct hrun_app **v;
    struct profiles *known;
    int n;
};

/* Make c->app the variant whose best configuration is the best of all. Result: its index. -1 with *err: of those that
 * miss the limits the nearest, else the first. */
static int best_variant(struct context *c, const struct asked_apps *apps, const struct question *ask, int64_t N,
                        struct hrun_error *err)
{
    struct question by = *ask;
    struct hrun_error nearest = { 0 };
    double least = INFINITY;
    int best = -1;

    if (ask->within) {
        by.within = 0;
        by.objective = NULL;
    }
    for (int i = 0; i < apps->n; i++) {
        struct hrun_error why = { 0 };
        struct decision d;

        c->app = apps->v[i];
        if (ask_app(c, &by, &apps->known[i], N, &d, &why)) {
            variants_nearest(&why, &nearest);
            continue;
        }
        if (decision_value(&d) < least) {
            least = decision_value(&d);
            best = i;
        }
        decision_release(&d);
    }
    if (best < 0 && err)
        *err = nearest;
    if (best >= 0)
        c->app = apps->v[best];
    return best;
}

/* config NULL: the best one. */
static int answer_one(struct context *c, const struct query *q, const struct asked_apps *apps, const char *config,
                      struct hrun_buf *out, struct hrun_error *err)
{
    struct question ask = q->ask;
    struct decision d;
    int i = 0, rc;

    ask.config = config;
    ask.table = c->set->json;
    if (apps->n > 1 && (i = best_variant(c, apps, &ask, q->N, err)) < 0)
        return -1;
    if (ask_app(c, &ask, &apps->known[i], q->N, &d, err))
        return -1;
    rc = add_answer(c, &d, out, err);
    decision_release(&d);
    return rc;
}

static int answer_all(struct context *c, const struct query *q, const struct asked_apps *apps, struct hrun_buf *out,
                      struct hrun_error *err)
{
    size_t n = q->configs->n;
    int array = c->set->json && n > 1;

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
    int all = c->variants_of && !c->set->variant, rc = 0;
    struct asked_apps apps = { .v = all ? c->variants_of->variants : &(struct hrun_app *){ c->app },
                               .n = all ? c->variants_of->nvariants : 1 };

    if (context_choose_engine(c, 0, err))
        return -1;
    apps.known = xcalloc((size_t)apps.n, sizeof *apps.known);
    for (int i = 0; i < apps.n && !rc; i++) {
        c->app = apps.v[i];
        rc = profiles_load(c, &apps.known[i], err);
    }
    if (!rc)
        rc = answer_all(c, q, &apps, out, err);
    for (int i = 0; i < apps.n; i++)
        profiles_release(&apps.known[i]);
    free(apps.known);
    return rc;
}
