/* misses.c - models that are far off where they were measured; see model.h */
#include "model/model.h"

#include <string.h>

void hrun_models_misses(struct hrun_models *const *models, int n, struct hrun_buf *which)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; models[i] && j < models[i]->n; j++) {
            const struct hrun_fit_record *r = &models[i]->v[j];

            if (strcmp(r->family, "nt") && r->train_mean > HRUN_MODELS_MISS)
                hrun_buf_addf(which, "%s%s of %s with %d process%s per PE", which->len ? "; " : "", r->family,
                              models[i]->subcluster && models[i]->subcluster[0] ? models[i]->subcluster
                                                                                : models[i]->signature,
                              r->M, r->M == 1 ? "" : "es");
        }
}
