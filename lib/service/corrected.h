/* corrected.h - what earlier runs of a configuration tell of its time; see model/correct.h */
#ifndef HRUN_SERVICE_CORRECTED_H
#define HRUN_SERVICE_CORRECTED_H

#include "model/correct.h"
#include "plan/plan.h"
#include "service/context.h"

/* The corrections from the logs of the sub-clusters that have models, at a size N. */
struct corrected {
    int n;
    struct hrun_known *known;             /* the configurations and their factors */
    struct hrun_correction *details;      /* the same */
    struct hrun_corrections *all;
    struct hrun_strvec failed;            /* configurations that failed at this N, as "(4,1,0,0)" */
};

/* models: one for each sub-cluster, or NULL. Without models: none. Errors: those of the store and of
 * hrun_corrections_create. */
int corrected_load(struct context *c, int64_t N, enum hrun_family family, struct hrun_models *const *models,
                   struct corrected *out, struct hrun_error *err);
void corrected_release(struct corrected *k);

/* Is it one of those that failed at this N, and did never run there? */
int corrected_failed(const struct corrected *k, int nsubs, const int *pes, const int *procs);

/* The correction of a configuration, or NULL. */
const struct hrun_correction *corrected_find(const struct corrected *k, const int *pes, const int *procs);

#endif
