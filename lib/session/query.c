/* query.c - a decision that is asked for its prediction alone; see decide.h */
#include "session/decide.h"


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
    struct hrun_buf config = HRUN_BUF_INIT;

    for (int i = 0; i < d->nsubs; i++)
        if (d->pes[i] && !p->subs[i].models)
            return no_profile(c, p, i, err);
    if (d->has_config)
        hrun_config_print(d->pes, d->procs, d->nsubs, &config);
    hrun_fail(err, HRUN_ENODATA, "the models of %s say nothing of %s%s with %d process%s at N = %lld", c->app->name,
              d->has_config ? "" : "PEs with different numbers of processes", config.data, d->P, d->P == 1 ? "" : "es",
              (long long)d->N);
    hrun_buf_release(&config);
    return -1;
}

/* ------------------------------------------------------------------ what is known */

int knowledge_load(struct context *c, struct knowledge *out, struct hrun_error *err)
{
    int all = c->variants_of && !c->set->variant;
    struct knowledge k = { .n = !c->app ? 0 : all ? c->variants_of->nvariants : 1 };

    k.v = calloc((size_t)k.n + 1, sizeof *k.v);
    if (!k.v)
        return hrun_fail_nomem(err);
    for (int i = 0; i < k.n; i++) {
        k.v[i].app = all ? c->variants_of->variants[i] : c->app;
        c->app = k.v[i].app;
        if (profiles_load(c, &k.v[i].known, err)) {
            knowledge_release(&k);
            return -1;
        }
    }
    *out = k;
    return 0;
}

void knowledge_release(struct knowledge *k)
{
    for (int i = 0; i < k->n; i++) {
        for (int j = 0; j < KNOWN_SIZES; j++)
            at_size_release(&k->v[i].sizes[j]);
        profiles_release(&k->v[i].known);
    }
    free(k->v);
    *k = (struct knowledge) { NULL, 0 };
}

/* What is known at size N, kept for the next question. NULL with *err. */
static const struct at_size *size_at(struct context *c, struct known_app *a, int64_t N, struct hrun_error *err)
{
    struct at_size *slot = &a->sizes[a->oldest], made;

    for (int i = 0; i < KNOWN_SIZES; i++)
        if (a->sizes[i].N == N)
            return &a->sizes[i];
    if (at_size_make(c, &a->known, N, &made, err))
        return NULL;
    at_size_release(slot);
    *slot = made;
    a->oldest = (a->oldest + 1) % KNOWN_SIZES;
    return slot;
}

/* ------------------------------------------------------------------ questions */

int known_app_ask(struct context *c, struct known_app *a, const struct question *q, int64_t N, struct decision *out,
                  struct hrun_error *err)
{
    const struct at_size *at;
    struct decision d;

    c->app = a->app;
    if (!a->known.have)
        return profiles_none(c, &a->known, err);
    at = size_at(c, a, N, err);
    if (!at || decision_make(c, q, &a->known, at, N, &d, err))
        return -1;
    if (!d.predicted) {
        not_predicted(c, &a->known, &d, err);
        decision_release(&d);
        return -1;
    }
    *out = d;
    return 0;
}

/* The application whose best configuration is the best of all. NULL with *err: of those that keep no
 * limits the nearest, else the first. */
static struct known_app *best_app(struct context *c, struct knowledge *k, const struct question *q, int64_t N,
                                  struct hrun_error *err)
{
    struct question by = *q;
    struct hrun_error nearest = { 0 };
    struct known_app *best = NULL;
    double least = INFINITY;

    if (q->within) {
        by.within = 0;
        by.objective = NULL;
    }
    for (int i = 0; i < k->n; i++) {
        struct hrun_error why = { 0 };
        struct decision d;

        if (known_app_ask(c, &k->v[i], &by, N, &d, &why)) {
            variants_nearest(&why, &nearest);
            continue;
        }
        if (decision_value(&d) < least) {
            least = decision_value(&d);
            best = &k->v[i];
        }
        decision_release(&d);
    }
    if (!best && err)
        *err = nearest;
    return best;
}

int knowledge_ask(struct context *c, struct knowledge *k, const struct question *q, int64_t N, struct decision *out,
                  struct known_app **app, struct hrun_error *err)
{
    struct known_app *a = k->v;

    if (!k->n)
        return hrun_fail(err, HRUN_ENOENT, "no application is known: name its definition (app; hrun --list-apps)");
    if (k->n > 1 && !(a = best_app(c, k, q, N, err)))
        return -1;
    if (known_app_ask(c, a, q, N, out, err))
        return -1;
    if (app)
        *app = a;
    return 0;
}

int predict_document(struct context *c, const struct known_app *a, const struct decision *d,
                     struct hrun_buf *out, struct hrun_error *err)
{
    struct hrun_layout *layout;
    int rc;

    c->app = a->app;
    if (placement_layout(c, d, &layout, err))
        return -1;
    rc = document_plan(c, d, &(struct command){ .layout = layout }, out, err);
    hrun_layout_destroy(layout);
    return rc;
}
