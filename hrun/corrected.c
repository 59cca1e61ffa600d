/* corrected.c - what earlier runs of a configuration tell of its time; see corrected.h */
#include "corrected.h"

#include <stdlib.h>
#include <string.h>

int corrected_load(struct context *c, const struct decision *d, struct hrun_models *const *models,
                   struct corrected *out, struct hrun_error *err)
{
    static const struct hrun_fit_options options = HRUN_FIT_OPTIONS_DEFAULT;
    size_t nsubs = (size_t)d->nsubs;
    struct hrun_samples *logs = calloc(nsubs, sizeof *logs);
    struct hrun_joint_sub *subs = calloc(nsubs, sizeof *subs);
    int rc = -1;

    memset(out, 0, sizeof *out);
    if (!logs || !subs) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (int i = 0; i < d->nsubs; i++) {
        if (models[i] && hrun_store_recent(c->store, c->app->name, c->signatures.v[i], &logs[i], err))
            goto done;
        subs[i] = (struct hrun_joint_sub) { c->cluster->subs[i].name, c->signatures.v[i], logs[i].v, logs[i].n };
    }
    if (hrun_corrections_create(c->app, subs, d->nsubs, models, d->family, &options, &out->all, err))
        goto done;
    out->n = hrun_corrections_count(out->all);
    out->known = calloc((size_t)out->n + 1, sizeof *out->known);
    out->details = calloc((size_t)out->n + 1, sizeof *out->details);
    if (!out->known || !out->details) {
        hrun_fail_nomem(err);
        goto done;
    }
    for (int i = 0; i < out->n; i++) {
        hrun_corrections_config(out->all, i, &out->known[i].pes, &out->known[i].procs);
        hrun_correction_at(out->all, i, d->N, &out->details[i]);
        out->known[i].factor = out->details[i].factor;
    }
    rc = 0;
done:
    for (size_t i = 0; logs && i < nsubs; i++)
        hrun_samples_release(&logs[i]);
    free(logs);
    free(subs);
    if (rc)
        corrected_release(out);
    return rc;
}

void corrected_release(struct corrected *k)
{
    free(k->known);
    free(k->details);
    hrun_corrections_destroy(k->all);
    memset(k, 0, sizeof *k);
}

const struct hrun_correction *corrected_find(const struct corrected *k, int nsubs, const int *pes, const int *procs)
{
    size_t len = (size_t)nsubs * sizeof *pes;

    for (int i = 0; i < k->n; i++)
        if (!memcmp(k->known[i].pes, pes, len) && !memcmp(k->known[i].procs, procs, len))
            return &k->details[i];
    return NULL;
}
