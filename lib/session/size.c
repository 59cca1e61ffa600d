/* size.c - what is known of an application at one size; see context.h */
#include "session/context.h"

#include <stdlib.h>
#include <string.h>

int size_limit_memory(const struct context *c, struct hrun_predictor *p, struct hrun_error *err)
{
    double *bytes = calloc((size_t)c->cluster->nsubs + 1, sizeof *bytes);
    int rc;

    if (!bytes)
        return hrun_fail_nomem(err);
    for (int i = 0; i < c->cluster->nsubs; i++)
        bytes[i] = (double)c->cluster->subs[i].memory_bytes;
    rc = hrun_predictor_limit_memory(p, bytes, err);
    free(bytes);
    return rc;
}

int at_size_make(struct context *c, const struct profiles *p, int64_t N, struct at_size *out, struct hrun_error *err)
{
    struct at_size a = { .N = N, .models = calloc((size_t)p->nsubs, sizeof *a.models) };

    if (!a.models)
        return hrun_fail_nomem(err);
    for (int i = 0; i < p->nsubs; i++)
        a.models[i] = p->subs[i].models;
    a.predictor = hrun_predictor_create_net(c->app, a.models, p->nsubs, HRUN_FORM_NPT, N, c->view, NULL, err);
    if (!a.predictor || size_limit_memory(c, a.predictor, err) ||
        corrected_load(c, N, a.models, &a.known, err)) {
        at_size_release(&a);
        return -1;
    }
    *out = a;
    return 0;
}

void at_size_release(struct at_size *a)
{
    corrected_release(&a->known);
    hrun_predictor_destroy(a->predictor);
    free(a->models);
    memset(a, 0, sizeof *a);
}
