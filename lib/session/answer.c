/* answer.c - what an answer of hrun.h holds; see decide.h */
#include "session/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One choice, as if its configuration had been asked for. */
static int take_choice(struct context *c, struct known_app *app, const struct question *q, int64_t N, const int *pes,
                       const int *procs, struct answer_choice *out, struct hrun_error *err)
{
    struct question one = { .use = q->use };
    struct hrun_buf config = HRUN_BUF_INIT;
    int rc = -1;

    hrun_config_print(pes, procs, c->cluster->nsubs, &config);
    one.config = config.data;
    if (config.failed)
        hrun_fail_nomem(err);
    else
        rc = known_app_ask(c, app, &one, N, &out->d, err);
    if (!rc && !(out->config = hrun_buf_detach(&config))) {
        decision_release(&out->d);
        rc = hrun_fail_nomem(err);
    }
    hrun_buf_release(&config);
    return rc;
}

/* The choices of a decision that is there. */
static int take_choices(struct hrun_answer *a, struct context *c, struct known_app *app, const struct question *q,
                        struct hrun_error *err)
{
    int count = a->d.plan && !a->d.kept ? a->d.plan->n : 1;

    a->app = app;
    a->variant = app->app->variant ? strdup(app->app->variant) : NULL;
    a->v = calloc((size_t)count, sizeof *a->v);
    if (!a->v || (app->app->variant && !a->variant))
        return hrun_fail_nomem(err);
    for (; a->n < count; a->n++) {
        const int *pes = a->n ? a->d.plan->v[a->n].pes : a->d.pes;
        const int *procs = a->n ? a->d.plan->v[a->n].procs : a->d.procs;

        if (take_choice(c, app, q, a->d.N, pes, procs, &a->v[a->n], err))
            return -1;
    }
    return 0;
}

struct hrun_answer *answer_make(struct context *c, struct knowledge *k, const struct question *q, int64_t N,
                                struct hrun_error *err)
{
    struct hrun_answer *a = calloc(1, sizeof *a);
    struct known_app *app;

    if (!a) {
        hrun_fail_nomem(err);
        return NULL;
    }
    if (knowledge_ask(c, k, q, N, &a->d, &app, err)) {
        free(a);
        return NULL;
    }
    if (take_choices(a, c, app, q, err)) {
        hrun_answer_destroy(a);
        return NULL;
    }
    return a;
}

void hrun_answer_destroy(struct hrun_answer *a)
{
    if (!a)
        return;
    for (int k = 0; k < a->n; k++) {
        decision_release(&a->v[k].d);
        free(a->v[k].config);
    }
    free(a->v);
    free(a->variant);
    free(a->json);
    decision_release(&a->d);
    free(a);
}

/* Choice k, or NULL. */
static const struct decision *choice(const struct hrun_answer *a, int k)
{
    return a && k >= 0 && k < a->n ? &a->v[k].d : NULL;
}

int64_t hrun_answer_size(const struct hrun_answer *a)
{
    return a ? a->d.N : 0;
}

const char *hrun_answer_variant(const struct hrun_answer *a)
{
    return a ? a->variant : NULL;
}

int hrun_answer_count(const struct hrun_answer *a)
{
    return a ? a->n : 0;
}

const char *hrun_answer_config(const struct hrun_answer *a, int k)
{
    return choice(a, k) ? a->v[k].config : NULL;
}

int hrun_answer_processes(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->P : 0;
}

int hrun_answer_pes(const struct hrun_answer *a, int k, int sub)
{
    const struct decision *d = choice(a, k);

    return d && sub >= 0 && sub < d->nsubs ? d->pes[sub] : 0;
}

int hrun_answer_procs_per_pe(const struct hrun_answer *a, int k, int sub)
{
    const struct decision *d = choice(a, k);

    return d && sub >= 0 && sub < d->nsubs ? d->procs[sub] : 0;
}

double hrun_answer_time_s(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->time_s : NAN;
}

double hrun_answer_low_s(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->low_s : NAN;
}

double hrun_answer_high_s(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->high_s : NAN;
}

double hrun_answer_cost(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->cost : NAN;
}

double hrun_answer_energy_j(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->energy_j : NAN;
}

int hrun_answer_limiting(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->limiting : 0;
}

int hrun_answer_runs(const struct hrun_answer *a, int k)
{
    const struct decision *d = choice(a, k);

    return d ? d->runs_here : 0;
}
