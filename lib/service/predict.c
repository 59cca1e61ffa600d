/* predict.c - a decision that is asked for its prediction alone; see predict.h */
#include "service/predict.h"

#include "service/document.h"

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
                     "-app %s makes one", sub, c->app->name, c->engine->name, c->mpi.id, c->app->name);
}

/* Why there are no models at all: the first reason that tells more than that. */
static int no_profiles(const struct context *c, const struct profiles *p, struct hrun_error *err)
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

int predict_make(struct context *c, const struct question *q, const struct profiles *p, const struct at_size *at,
                 int64_t N, struct decision *out, struct hrun_error *err)
{
    struct decision d;

    if (!c->app)
        return hrun_fail(err, HRUN_ENOENT, "no application is known: name its definition (app; hrun --list-apps)");
    if (!p->have)
        return no_profiles(c, p, err);
    if (decision_make(c, q, p, at, N, &d, err))
        return -1;
    if (!d.predicted) {
        not_predicted(c, p, &d, err);
        decision_release(&d);
        return -1;
    }
    *out = d;
    return 0;
}

int predict_document(struct context *c, const struct decision *d, const char *how, struct hrun_buf *out,
                     struct hrun_error *err)
{
    struct placed placed = { .pattern = NULL };
    struct hrun_layout *layout = NULL;
    struct command nothing = { .placed = &placed };
    int rc = placement_choose(c, how, d, &placed, err) || placement_layout(c, d, &placed, &layout, err);

    nothing.layout = layout;
    if (!rc)
        rc = document_plan(c, d, &nothing, out, err);
    hrun_layout_destroy(layout);
    placement_release(&placed);
    return rc ? -1 : 0;
}
